// Compute: each tile of the result is a sum over K in Dst. Arguments: number of tiles, Kt.
#include "compute_kernel_api/matmul.h"
#include "compute_kernel_api/tile_move_copy.h"

namespace NAMESPACE {
void MAIN {
    const uint32_t tiles = get_arg_val<uint32_t>(0);
    const uint32_t kt = get_arg_val<uint32_t>(1);
    constexpr auto a = tt::CBIndex::c_0;
    constexpr auto b = tt::CBIndex::c_1;
    constexpr auto out = tt::CBIndex::c_16;

    mm_init(a, b, out);
    for (uint32_t tile = 0; tile < tiles; ++tile) {
        tile_regs_acquire();
        for (uint32_t k = 0; k < kt; ++k) {
            cb_wait_front(a, 1);
            cb_wait_front(b, 1);
            matmul_tiles(a, b, 0, 0, 0, false);
            cb_pop_front(a, 1);
            cb_pop_front(b, 1);
        }
        tile_regs_commit();
        cb_reserve_back(out, 1);
        tile_regs_wait();
        pack_tile(0, out);
        tile_regs_release();
        cb_push_back(out, 1);
    }
}
}  // namespace NAMESPACE
