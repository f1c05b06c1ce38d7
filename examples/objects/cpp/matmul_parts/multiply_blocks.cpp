// Compute: sum over K in blocks; between blocks the partial sums of each subblock wait in L1.
#include "../../../classic/cpp/matmul_parts/blocking.hpp"
#include "api/compute/compute_kernel_hw_startup.h"
#include "api/compute/matmul.h"
#include "api/compute/pack.h"
#include "api/compute/tile_move_copy.h"
#include "api/dataflow/dataflow_buffer.h"

static void reload(DataflowBuffer partials) {
    copy_init(partials.get_id());
    partials.wait_front(subblock_tiles);
    for (uint32_t tile = 0; tile < subblock_tiles; ++tile) {
        copy_tile(partials.get_id(), tile, tile);
    }
    partials.pop_front(subblock_tiles);
    matmul_block_init(cb_in0, cb_in1, 0, subblock_w, subblock_h, in0_block_w);
}

static void multiply_subblock(uint32_t row, uint32_t column) {
    for (uint32_t k = 0; k < in0_block_w; ++k) {
        matmul_block(
            cb_in0, cb_in1, row * in0_block_w + k, column + k * per_core_n, 0, 0, subblock_w, subblock_h, in0_block_w);
    }
}

static void pack_subblock(DataflowBuffer target) {
    tile_regs_commit();
    target.reserve_back(subblock_tiles);
    tile_regs_wait();
    for (uint32_t tile = 0; tile < subblock_tiles; ++tile) {
        pack_tile(tile, target.get_id());
    }
    tile_regs_release();
    target.push_back(subblock_tiles);
}

void kernel_main() {
    constexpr uint32_t blocks = kt / in0_block_w;
    DataflowBuffer in0(cb_in0), in1(cb_in1), out(cb_out), partials(cb_partials);

    compute_kernel_hw_startup<SrcOrder::Reverse>(in0.get_id(), in1.get_id(), out.get_id());
    matmul_block_init(cb_in0, cb_in1, 0, subblock_w, subblock_h, in0_block_w);
    for (uint32_t block = 0; block < blocks; ++block) {
        in0.wait_front(in0_tiles);
        in1.wait_front(in1_tiles);
        for (uint32_t row = 0; row < per_core_m; row += subblock_h) {
            for (uint32_t column = 0; column < per_core_n; column += subblock_w) {
                tile_regs_acquire();
                if (block > 0) {
                    reload(partials);
                }
                multiply_subblock(row, column);
                pack_subblock(block == blocks - 1 ? out : partials);
            }
        }
        in0.pop_front(in0_tiles);
        in1.pop_front(in1_tiles);
    }
}
