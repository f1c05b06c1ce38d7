// Copies of tiles to Dst.
#pragma once

#include "api/compute/common.h"

namespace ckernel {

template <bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
ALWI void copy_init(
    std::uint32_t cbid, std::uint32_t transpose = 0, [[maybe_unused]] std::uint32_t transpose_within_16x16_face = false,
    std::uint32_t = 0) {
    tt_call_copy_init(cbid, transpose != 0);
}
template <bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
ALWI void copy_tile_init(std::uint32_t cbid, std::uint32_t = 0) {
    tt_call_copy_init(cbid, false);
}
template <bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
ALWI void copy_tile_to_dst_init_short(
    std::uint32_t cbid, std::uint32_t transpose = 0, [[maybe_unused]] std::uint32_t transpose_within_16x16_face = false,
    std::uint32_t = 0) {
    tt_call_copy_init(cbid, transpose != 0);
}
template <bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
ALWI void copy_tile_to_dst_init_short_with_dt(
    std::uint32_t old_cbid, std::uint32_t new_cbid, std::uint32_t transpose = 0) {
    tt_call_reconfig_data_format(new_cbid, -1, old_cbid, -1);
    tt_call_copy_init(new_cbid, transpose != 0);
}
template <bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
ALWI void copy_tile(std::uint32_t in_cb_id, std::uint32_t in_tile_index, std::uint32_t dst_tile_index) {
    tt_call_copy_tile(in_cb_id, in_tile_index, dst_tile_index);
}
template <bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
ALWI void copy_block(
    std::uint32_t in_cb_id, std::uint32_t start_in_tile_index, std::uint32_t start_dst_tile_index,
    std::uint32_t ntiles) {
    for (std::uint32_t tile = 0; tile < ntiles; ++tile) {
        tt_call_copy_tile(in_cb_id, start_in_tile_index + tile, start_dst_tile_index + tile);
    }
}
ALWI void copy_block_matmul_partials(
    std::uint32_t in_cb_id, std::uint32_t start_in_tile_index, std::uint32_t start_dst_tile_index,
    std::uint32_t ntiles) {
    copy_block(in_cb_id, start_in_tile_index, start_dst_tile_index, ntiles);
}

}  // namespace ckernel
