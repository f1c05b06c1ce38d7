// Compute: maximum, exponentials, reciprocal sum and products of each row. Argument: number of rows.
#include "buffers.hpp"
#include "compute_kernel_api.h"
#include "compute_kernel_api/bcast.h"
#include "compute_kernel_api/eltwise_binary.h"
#include "compute_kernel_api/eltwise_unary/exp.h"
#include "compute_kernel_api/eltwise_unary/recip.h"
#include "compute_kernel_api/reduce.h"

constexpr uint32_t wt = get_compile_time_arg_val(0);

// Hands Dst 0 to the packer and pushes it to a buffer.
static void pack_one(uint32_t cb) {
    tile_regs_commit();
    cb_reserve_back(cb, 1);
    tile_regs_wait();
    pack_tile(0, cb);
    tile_regs_release();
    cb_push_back(cb, 1);
}

static void row_maximum() {
    reconfig_data_format(X, MAX_SCALER);
    pack_reconfig_data_format(MAX);
    reduce_init<PoolType::MAX, ReduceDim::REDUCE_ROW>(X, MAX_SCALER, MAX);
    tile_regs_acquire();
    for (uint32_t tile = 0; tile < wt; ++tile) {
        reduce_tile<PoolType::MAX, ReduceDim::REDUCE_ROW>(X, MAX_SCALER, tile, 0, 0);
    }
    pack_one(MAX);
    reduce_uninit();
}

static void row_exponentials() {
    cb_wait_front(MAX, 1);
    reconfig_data_format(X, MAX);
    pack_reconfig_data_format(EXPS);
    sub_bcast_cols_init_short(X, MAX);
    exp_tile_init<true>();
    for (uint32_t tile = 0; tile < wt; ++tile) {
        tile_regs_acquire();
        sub_tiles_bcast_cols(X, MAX, tile, 0, 0);
        exp_tile<true>(0);
        pack_one(EXPS);
    }
    cb_pop_front(MAX, 1);
}

static void row_reciprocal() {
    pack_reconfig_data_format(RECIP);
    reconfig_data_format(EXPS, SUM_SCALER);
    reduce_init<PoolType::SUM, ReduceDim::REDUCE_ROW>(EXPS, SUM_SCALER, RECIP);
    tile_regs_acquire();
    for (uint32_t tile = 0; tile < wt; ++tile) {
        reduce_tile<PoolType::SUM, ReduceDim::REDUCE_ROW>(EXPS, SUM_SCALER, tile, 0, 0);
    }
    recip_tile_init();
    recip_tile(0);
    pack_one(RECIP);
    reduce_uninit();
}

static void row_products() {
    cb_wait_front(RECIP, 1);
    reconfig_data_format(EXPS, RECIP);
    pack_reconfig_data_format(OUT);
    mul_bcast_cols_init_short(EXPS, RECIP);
    for (uint32_t tile = 0; tile < wt; ++tile) {
        tile_regs_acquire();
        mul_tiles_bcast_cols(EXPS, RECIP, tile, 0, 0);
        pack_one(OUT);
    }
    cb_pop_front(RECIP, 1);
}

namespace NAMESPACE {
void MAIN {
    const uint32_t rows = get_arg_val<uint32_t>(0);
    binary_op_init_common(X, MAX_SCALER, OUT);
    cb_wait_front(MAX_SCALER, 1);
    cb_wait_front(SUM_SCALER, 1);
    for (uint32_t row = 0; row < rows; ++row) {
        cb_wait_front(X, wt);
        row_maximum();
        row_exponentials();
        cb_pop_front(X, wt);
        cb_wait_front(EXPS, wt);
        row_reciprocal();
        row_products();
        cb_pop_front(EXPS, wt);
    }
}
}  // namespace NAMESPACE
