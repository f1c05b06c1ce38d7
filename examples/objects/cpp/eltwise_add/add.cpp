// Compute: Dst 0 = a + b, packed to CB 16.
#include "api/compute/compute_kernel_hw_startup.h"
#include "api/compute/eltwise_binary.h"
#include "api/compute/pack.h"
#include "api/dataflow/dataflow_buffer.h"

void kernel_main() {
    constexpr uint32_t tiles = get_named_compile_time_arg_val("tiles");
    DataflowBuffer a(0), b(1), out(16);

    compute_kernel_hw_startup(a.get_id(), b.get_id(), out.get_id());
    add_init(a.get_id(), b.get_id());
    for (uint32_t tile = 0; tile < tiles; ++tile) {
        a.wait_front(1);
        b.wait_front(1);
        tile_regs_acquire();
        add_tiles(a.get_id(), b.get_id(), 0, 0, 0);
        tile_regs_commit();
        a.pop_front(1);
        b.pop_front(1);
        out.reserve_back(1);
        tile_regs_wait();
        pack_tile(0, out.get_id());
        tile_regs_release();
        out.push_back(1);
    }
}
