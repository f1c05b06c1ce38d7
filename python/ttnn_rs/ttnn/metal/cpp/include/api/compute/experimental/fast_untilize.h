// Untilize by the packer in one call per row of tiles; on this chip it is pack_untilize.
#pragma once

#include "api/compute/tilize.h"

namespace ckernel {

template <std::uint32_t full_ct_dim, bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
ALWI void fast_untilize_init(std::uint32_t icb, std::uint32_t ocb, std::uint32_t = 0) {
    pack_untilize_init<full_ct_dim, full_ct_dim>(icb, ocb);
}
template <std::uint32_t full_ct_dim, bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
ALWI void fast_untilize_init_skip_remap(std::uint32_t icb, std::uint32_t ocb, std::uint32_t = 0) {
    pack_untilize_init<full_ct_dim, full_ct_dim>(icb, ocb);
}
template <std::uint32_t full_ct_dim, bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
ALWI void fast_untilize_block(std::uint32_t icb, std::uint32_t ocb, std::uint32_t = 0, std::uint32_t = 0) {
    pack_untilize_block<full_ct_dim, full_ct_dim>(icb, 1, ocb, 0);
}
template <std::uint32_t full_ct_dim, bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
ALWI void fast_untilize_uninit(std::uint32_t ocb) {
    pack_untilize_uninit(ocb);
}

}  // namespace ckernel
