// Compute: maximum, exponentials, reciprocal sum and products of each row. Argument: number of rows.
#include "../../../classic/cpp/softmax_multi_core/buffers.hpp"
#include "api/compute/bcast.h"
#include "api/compute/compute_kernel_hw_startup.h"
#include "api/compute/eltwise_binary.h"
#include "api/compute/eltwise_unary/exp.h"
#include "api/compute/eltwise_unary/recip.h"
#include "api/compute/pack.h"
#include "api/compute/reconfig_data_format.h"
#include "api/compute/reduce.h"
#include "api/dataflow/dataflow_buffer.h"

constexpr uint32_t wt = get_compile_time_arg_val(0);

// Hands Dst 0 to the packer and pushes it to a buffer.
static void pack_one(uint32_t id) {
    DataflowBuffer target(id);
    tile_regs_commit();
    target.reserve_back(1);
    tile_regs_wait();
    pack_tile(0, id);
    tile_regs_release();
    target.push_back(1);
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
    DataflowBuffer max(MAX);
    max.wait_front(1);
    reconfig_data_format(X, MAX);
    pack_reconfig_data_format(EXPS);
    sub_bcast_cols_init(X, MAX);
    exp_tile_init<true>();
    for (uint32_t tile = 0; tile < wt; ++tile) {
        tile_regs_acquire();
        sub_tiles_bcast_cols(X, MAX, tile, 0, 0);
        exp_tile<true>(0);
        pack_one(EXPS);
    }
    max.pop_front(1);
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
    DataflowBuffer recip(RECIP);
    recip.wait_front(1);
    reconfig_data_format(EXPS, RECIP);
    pack_reconfig_data_format(OUT);
    mul_bcast_cols_init(EXPS, RECIP);
    for (uint32_t tile = 0; tile < wt; ++tile) {
        tile_regs_acquire();
        mul_tiles_bcast_cols(EXPS, RECIP, tile, 0, 0);
        pack_one(OUT);
    }
    recip.pop_front(1);
}

void kernel_main() {
    const uint32_t rows = get_arg_val<uint32_t>(0);
    DataflowBuffer x(X), exps(EXPS), max_scaler(MAX_SCALER), sum_scaler(SUM_SCALER);

    compute_kernel_hw_startup(X, MAX_SCALER, OUT);
    max_scaler.wait_front(1);
    sum_scaler.wait_front(1);
    for (uint32_t row = 0; row < rows; ++row) {
        x.wait_front(wt);
        row_maximum();
        row_exponentials();
        x.pop_front(wt);
        exps.wait_front(wt);
        row_reciprocal();
        row_products();
        exps.pop_front(wt);
    }
}
