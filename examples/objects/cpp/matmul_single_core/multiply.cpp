// Compute: each tile of the result is a sum over K in Dst. Arguments: number of tiles, Kt.
#include "api/compute/compute_kernel_hw_startup.h"
#include "api/compute/matmul.h"
#include "api/compute/pack.h"
#include "api/dataflow/dataflow_buffer.h"

void kernel_main() {
    const uint32_t tiles = get_arg_val<uint32_t>(0);
    const uint32_t kt = get_arg_val<uint32_t>(1);
    DataflowBuffer a(0), b(1), out(16);

    compute_kernel_hw_startup<SrcOrder::Reverse>(a.get_id(), b.get_id(), out.get_id());
    matmul_init(a.get_id(), b.get_id());
    for (uint32_t tile = 0; tile < tiles; ++tile) {
        tile_regs_acquire();
        for (uint32_t k = 0; k < kt; ++k) {
            a.wait_front(1);
            b.wait_front(1);
            matmul_tiles(a.get_id(), b.get_id(), 0, 0, 0);
            a.pop_front(1);
            b.pop_front(1);
        }
        tile_regs_commit();
        out.reserve_back(1);
        tile_regs_wait();
        pack_tile(0, out.get_id());
        tile_regs_release();
        out.push_back(1);
    }
}
