// Transposes of tiles, on their way to Dst and inside it.
#pragma once

#include "api/compute/common.h"

namespace ckernel {

template <bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
ALWI void transpose_init(std::uint32_t icb, std::uint32_t = 0) {
    tt_call_copy_init(icb, true);
}
ALWI void transpose_wh_init(std::uint32_t icb, std::uint32_t ocb, std::uint32_t = 0) {
    tt_call_hw_startup(icb, icb, ocb);
    tt_call_copy_init(icb, true);
}
ALWI void transpose_wh_init_short(std::uint32_t icb, std::uint32_t = 0) { tt_call_copy_init(icb, true); }
template <bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
ALWI void transpose_tile(std::uint32_t icb, std::uint32_t itile, std::uint32_t idst) {
    tt_call_transpose_tile(icb, itile, idst);
}
ALWI void transpose_wh_tile(std::uint32_t icb, std::uint32_t itile, std::uint32_t idst) {
    tt_call_transpose_tile(icb, itile, idst);
}
template <bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
ALWI void transpose_block(
    std::uint32_t icb, std::uint32_t start_itile, std::uint32_t start_idst, std::uint32_t ntiles) {
    for (std::uint32_t tile = 0; tile < ntiles; ++tile) {
        tt_call_transpose_tile(icb, start_itile + tile, start_idst + tile);
    }
}

template <bool is_32bit = false, bool transpose_of_faces = true>
ALWI void transpose_dest_init([[maybe_unused]] std::uint32_t operand = 0) {
    static_assert(transpose_of_faces, "transpose_dest_init: only whole tiles are transposed");
    tt_call_transpose_dst_init();
}
template <bool is_32bit = false, bool transpose_of_faces = true>
ALWI void transpose_dest(std::uint32_t idst) {
    static_assert(transpose_of_faces, "transpose_dest: only whole tiles are transposed");
    tt_call_transpose_dst(idst);
}
template <bool is_32bit = false>
ALWI void transpose_wh_dest_init_short() {
    tt_call_transpose_dst_init();
}
template <bool is_32bit = false>
ALWI void transpose_wh_dest(std::uint32_t idst) {
    tt_call_transpose_dst(idst);
}

}  // namespace ckernel
