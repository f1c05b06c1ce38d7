// Reductions of tiles on the FPU.
#pragma once

#include "api/compute/common.h"

namespace ttnn_rs {

// Older kernels have operation and dimension in defines.
#ifdef REDUCE_OP
constexpr ckernel::PoolType default_pool = REDUCE_OP;
#else
constexpr ckernel::PoolType default_pool = ckernel::PoolType::SUM;
#endif
#ifdef REDUCE_DIM
constexpr ckernel::ReduceDim default_dimension = REDUCE_DIM;
#else
constexpr ckernel::ReduceDim default_dimension = ckernel::ReduceDim::REDUCE_SCALAR;
#endif

}  // namespace ttnn_rs

namespace ckernel {

template <PoolType reduce_type = ttnn_rs::default_pool, ReduceDim reduce_dim = ttnn_rs::default_dimension, bool enforce_fp32 = false>
ALWI void reduce_init(
    std::uint32_t icb, std::uint32_t icb_scaler, [[maybe_unused]] std::uint32_t ocb, std::uint32_t = 0) {
    tt_call_reduce_init(ttnn_rs::pool<reduce_type>(), ttnn_rs::dimension(reduce_dim), icb, icb_scaler);
}
template <bool enforce_fp32_accumulation = false>
ALWI void reduce_uninit([[maybe_unused]] std::uint32_t icb = 0) {
    tt_call_reduce_uninit();
}
template <PoolType reduce_type = ttnn_rs::default_pool, ReduceDim reduce_dim = ttnn_rs::default_dimension, bool enforce_fp32 = false>
ALWI void reduce_tile(
    std::uint32_t icb, std::uint32_t icb_scaler, std::uint32_t itile, std::uint32_t itile_scaler,
    std::uint32_t idst) {
    tt_call_reduce_tile(
        ttnn_rs::pool<reduce_type>(), ttnn_rs::dimension(reduce_dim), icb, icb_scaler, itile, itile_scaler, idst);
}
template <PoolType reduce_type, ReduceDim reduce_dim, bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
ALWI void reduce_block(
    std::uint32_t icb, std::uint32_t icb_scaler, std::uint32_t start_itile, std::uint32_t itile_scaler,
    std::uint32_t start_idst, std::uint32_t ntiles) {
    for (std::uint32_t tile = 0; tile < ntiles; ++tile) {
        reduce_tile<reduce_type, reduce_dim>(icb, icb_scaler, start_itile + tile, itile_scaler, start_idst + tile);
    }
}

}  // namespace ckernel
