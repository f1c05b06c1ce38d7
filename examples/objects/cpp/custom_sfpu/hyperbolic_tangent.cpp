// Compute: Dst 0 = tanh(buffer 0) by a function of our own, packed to buffer 16.
#include "api/compute/compute_kernel_hw_startup.h"
#include "api/compute/eltwise_unary/eltwise_unary.h"
#include "api/compute/pack.h"
#include "api/compute/tile_move_copy.h"
#include "api/dataflow/dataflow_buffer.h"

#include "../../../classic/cpp/custom_sfpu/tanh_face.hpp"

void kernel_main() {
    constexpr uint32_t tiles = get_compile_time_arg_val(0);
    DataflowBuffer in(0), out(16);

    compute_kernel_hw_startup(in.get_id(), out.get_id());
    copy_init(in.get_id());
    for (uint32_t tile = 0; tile < tiles; ++tile) {
        in.wait_front(1);
        tile_regs_acquire();
        copy_tile(in.get_id(), 0, 0);
        my_tanh_tile(0);
        tile_regs_commit();
        in.pop_front(1);
        out.reserve_back(1);
        tile_regs_wait();
        pack_tile(0, out.get_id());
        tile_regs_release();
        out.push_back(1);
    }
}
