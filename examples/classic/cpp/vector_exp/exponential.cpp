// Compute: Dst 0 = exp(CB 0), packed to CB 16.
#include "compute_kernel_api.h"
#include "compute_kernel_api/eltwise_unary/eltwise_unary.h"
#include "compute_kernel_api/eltwise_unary/exp.h"
#include "compute_kernel_api/tile_move_copy.h"

namespace NAMESPACE {
void MAIN {
    constexpr uint32_t tiles = get_compile_time_arg_val(0);
    constexpr auto in = tt::CBIndex::c_0;
    constexpr auto out = tt::CBIndex::c_16;

    init_sfpu(in, out);
    exp_tile_init();
    for (uint32_t tile = 0; tile < tiles; ++tile) {
        cb_wait_front(in, 1);
        tile_regs_acquire();
        copy_tile(in, 0, 0);
        exp_tile(0);
        tile_regs_commit();
        cb_pop_front(in, 1);
        cb_reserve_back(out, 1);
        tile_regs_wait();
        pack_tile(0, out);
        tile_regs_release();
        cb_push_back(out, 1);
    }
}
}  // namespace NAMESPACE
