// Maxima of rows over blocks of tiles.
#pragma once

#include "api/compute/reduce.h"

namespace ttnn_rs {
// The scaler and the input of the init are those of the call; the engine sets the reduction up at its first tile.
FORCE_INLINE bool block_max_is_set_up = false;
}  // namespace ttnn_rs

namespace ckernel {

template <std::uint32_t block_ct_dim, bool respect_trigger = false, std::uint32_t num_faces = 4>
ALWI void reduce_block_max_row_init([[maybe_unused]] std::uint32_t ocb = 0) {
    ttnn_rs::block_max_is_set_up = false;
}
template <std::uint32_t block_ct_dim, bool respect_trigger = false, std::uint32_t num_faces = 4>
ALWI void reduce_block_max_row(
    std::uint32_t icb, std::uint32_t icb_scaler, std::uint32_t row_start_index, std::uint32_t idst) {
    constexpr std::uint32_t max = ttnn_rs::pool<PoolType::MAX>();
    constexpr std::uint32_t row = ttnn_rs::dimension(ReduceDim::REDUCE_ROW);
    if (!ttnn_rs::block_max_is_set_up) {
        tt_call_reduce_init(max, row, icb, icb_scaler);
        ttnn_rs::block_max_is_set_up = true;
    }
    for (std::uint32_t tile = 0; tile < block_ct_dim; ++tile) {
        tt_call_reduce_tile(max, row, icb, icb_scaler, row_start_index + tile, 0, idst);
    }
}
template <bool clear_fp32_accumulation = false, bool respect_trigger = false>
ALWI void reduce_block_max_row_uninit([[maybe_unused]] std::uint32_t icb) {
    ttnn_rs::block_max_is_set_up = false;
    tt_call_reduce_uninit();
}

}  // namespace ckernel
