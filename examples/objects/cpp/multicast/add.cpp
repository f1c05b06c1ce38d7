// Compute: the shared tile plus each of this core's.
#include "api/compute/compute_kernel_hw_startup.h"
#include "api/compute/eltwise_binary.h"
#include "api/compute/pack.h"
#include "api/dataflow/dataflow_buffer.h"

void kernel_main() {
    constexpr uint32_t tiles = get_named_compile_time_arg_val("tiles");
    DataflowBuffer shared(0), own(1), out(16);

    compute_kernel_hw_startup(shared.get_id(), own.get_id(), out.get_id());
    add_init(shared.get_id(), own.get_id());
    shared.wait_front(1);
    for (uint32_t tile = 0; tile < tiles; ++tile) {
        own.wait_front(1);
        out.reserve_back(1);
        tile_regs_acquire();
        add_tiles(shared.get_id(), own.get_id(), 0, 0, 0);
        tile_regs_commit();
        tile_regs_wait();
        pack_tile(0, out.get_id());
        tile_regs_release();
        out.push_back(1);
        own.pop_front(1);
    }
    shared.pop_front(1);
}
