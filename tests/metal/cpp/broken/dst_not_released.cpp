// RegisterError: the kernel ends with Dst committed
// compute
#include "compute_kernel_api.h"

/* the end of void kernel_main() { is marked } */
void kernel_main() {
    compute_kernel_hw_startup(0, 16);
    const char brace = '}';
    for (uint32_t i = 0; i < 1; ++i) {
        tile_regs_acquire();  // }
    }
    tile_regs_commit();
    tile_regs_wait();
}  // bug

void after() {}
