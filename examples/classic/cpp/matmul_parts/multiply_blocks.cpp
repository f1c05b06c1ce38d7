// Compute: sum over K in blocks; between blocks the partial sums of each subblock wait in L1.
#include "blocking.hpp"
#include "compute_kernel_api/matmul.h"
#include "compute_kernel_api/tile_move_copy.h"

namespace NAMESPACE {

static void reload_partials() {
    copy_tile_to_dst_init_short(cb_partials);
    cb_wait_front(cb_partials, subblock_tiles);
    for (uint32_t tile = 0; tile < subblock_tiles; ++tile) {
        copy_tile(cb_partials, tile, tile);
    }
    cb_pop_front(cb_partials, subblock_tiles);
    mm_block_init_short(cb_in0, cb_in1, 0, subblock_w, subblock_h, in0_block_w);
}

static void multiply_subblock(uint32_t row, uint32_t column, bool reload, uint32_t target) {
    tile_regs_acquire();
    if (reload) {
        reload_partials();
    }
    for (uint32_t k = 0; k < in0_block_w; ++k) {
        matmul_block(
            cb_in0, cb_in1, row * in0_block_w + k, column + k * per_core_n, 0, 0, subblock_w, subblock_h, in0_block_w);
    }
    tile_regs_commit();
    cb_reserve_back(target, subblock_tiles);
    tile_regs_wait();
    for (uint32_t tile = 0; tile < subblock_tiles; ++tile) {
        pack_tile(tile, target);
    }
    tile_regs_release();
    cb_push_back(target, subblock_tiles);
}

void MAIN {
    constexpr uint32_t blocks = kt / in0_block_w;
    mm_block_init(cb_in0, cb_in1, cb_out, 0, subblock_w, subblock_h, in0_block_w);
    for (uint32_t block = 0; block < blocks; ++block) {
        cb_wait_front(cb_in0, in0_tiles);
        cb_wait_front(cb_in1, in1_tiles);
        for (uint32_t row = 0; row < per_core_m; row += subblock_h) {
            for (uint32_t column = 0; column < per_core_n; column += subblock_w) {
                multiply_subblock(row, column, block > 0, block == blocks - 1 ? cb_out : cb_partials);
            }
        }
        cb_pop_front(cb_in0, in0_tiles);
        cb_pop_front(cb_in1, in1_tiles);
    }
}

}  // namespace NAMESPACE
