// KernelSetupError: exp_tile_init
// compute
#include "compute_kernel_api.h"
#include "compute_kernel_api/eltwise_unary/exp.h"

void kernel_main() {
    init_sfpu(0, 16);
    tile_regs_acquire();
    exp_tile(0);  // bug
    tile_regs_commit();
}
