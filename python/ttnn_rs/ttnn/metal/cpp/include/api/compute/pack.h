// The packer: from Dst to the back of circular buffers.
#pragma once

#include "api/compute/common.h"

namespace ckernel {

template <bool out_of_order_output = false, bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
ALWI void pack_tile(std::uint32_t ifrom_dst, std::uint32_t icb, std::uint32_t output_tile_index = 0) {
    tt_call_pack_tile(ifrom_dst, icb, out_of_order_output ? static_cast<std::int32_t>(output_tile_index) : -1);
}
ALWI void matmul_pack_tile(std::uint32_t ifrom_dst, std::uint32_t icb, std::uint32_t ntiles) {
    for (std::uint32_t tile = 0; tile < ntiles; ++tile) {
        tt_call_pack_tile(ifrom_dst + tile, icb, -1);
    }
}
ALWI void pack_tile_block(std::uint32_t ifrom_dst, std::uint32_t icb, std::uint32_t ntiles) {
    matmul_pack_tile(ifrom_dst, icb, ntiles);
}
template <bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
ALWI void pack_block(std::uint32_t ifrom_dst, std::uint32_t icb, std::uint32_t ntiles) {
    matmul_pack_tile(ifrom_dst, icb, ntiles);
}
ALWI void pack_init(std::uint32_t ocb, std::uint32_t = 0) {
    tt_call_pack_untilize_mode(0, 0);
    tt_call_pack_reconfig_data_format(ocb, -1);
}
template <bool is_tile_dim_reconfig_en = false>
ALWI void pack_reconfig_data_format(const std::uint32_t new_cb_id) {
    tt_call_pack_reconfig_data_format(new_cb_id, -1);
}
template <bool is_tile_dim_reconfig_en = false>
ALWI void pack_reconfig_data_format(const std::uint32_t old_cb_id, const std::uint32_t new_cb_id) {
    tt_call_pack_reconfig_data_format(new_cb_id, old_cb_id);
}
ALWI void pack_reconfig_l1_acc(const std::uint32_t l1_acc_en) { tt_call_pack_reconfig_l1_acc(l1_acc_en != 0); }
ALWI void pack_relu_config(const ReluConfig& config) {
    tt_call_pack_relu_config(static_cast<std::uint32_t>(config.get_mode()), config.get_threshold() & 0xFFFF);
}
ALWI void pack_relu_config(const std::uint32_t packed) { pack_relu_config(ReluConfig::from_packed(packed)); }

}  // namespace ckernel
