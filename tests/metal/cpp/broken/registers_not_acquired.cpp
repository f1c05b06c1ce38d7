// RegisterError: tile_regs_commit() without tile_regs_acquire()
// compute
#include "compute_kernel_api.h"

void kernel_main() {
    init_sfpu(0, 16);
    tile_regs_commit();  // bug
}
