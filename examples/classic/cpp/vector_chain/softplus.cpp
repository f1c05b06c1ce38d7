// Compute: Dst 0 = log(exp(CB 0) + 1), three vector functions one after the other on a tile that stays in Dst.
#include "compute_kernel_api.h"
#include "compute_kernel_api/eltwise_binary_sfpu.h"
#include "compute_kernel_api/eltwise_unary/eltwise_unary.h"
#include "compute_kernel_api/eltwise_unary/exp.h"
#include "compute_kernel_api/eltwise_unary/fill.h"
#include "compute_kernel_api/tile_move_copy.h"

namespace NAMESPACE {
void MAIN {
    constexpr uint32_t tiles = get_compile_time_arg_val(0);
    constexpr auto in = tt::CBIndex::c_0;
    constexpr auto out = tt::CBIndex::c_16;

    init_sfpu(in, out);
    for (uint32_t tile = 0; tile < tiles; ++tile) {
        cb_wait_front(in, 1);
        tile_regs_acquire();
        copy_tile(in, 0, 0);
        fill_tile_init();
        fill_tile(1, 1.0f);
        exp_tile_init();
        exp_tile(0);
        add_binary_tile_init();
        add_binary_tile(0, 1, 0);
        log_tile_init();
        log_tile(0);
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
