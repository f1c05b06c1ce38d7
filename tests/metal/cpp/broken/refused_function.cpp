// UnsupportedError: rand_tile_init: the chip's pseudo-random numbers depend on time and are not known
// compute
#include "compute_kernel_api/eltwise_unary/rand.h"

void kernel_main() {
    rand_tile_init(3);  // bug
}
