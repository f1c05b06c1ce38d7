// Compute: Dst 0 = a + b.
#include "api/compute/compute_kernel_hw_startup.h"
#include "api/compute/eltwise_binary.h"
#include "api/dataflow/dataflow_buffer.h"
#include "experimental/kernel_args.h"

void kernel_main() {
    const uint32_t tiles = get_arg(args::tiles);
    DataflowBuffer a(dfb::a);
    DataflowBuffer b(dfb::b);
    DataflowBuffer out(dfb::out);

    compute_kernel_hw_startup(dfb::a, dfb::b, dfb::out);
    add_init(dfb::a, dfb::b);
    for (uint32_t tile = 0; tile < tiles; ++tile) {
        a.wait_front(1);
        b.wait_front(1);
        tile_regs_acquire();
        add_tiles(dfb::a, dfb::b, 0, 0, 0);
        tile_regs_commit();
        a.pop_front(1);
        b.pop_front(1);
        out.reserve_back(1);
        tile_regs_wait();
        pack_tile(0, dfb::out);
        tile_regs_release();
        out.push_back(1);
    }
}
