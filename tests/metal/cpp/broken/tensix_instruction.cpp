// UnsupportedError: TTI_SFPABS: Tensix instructions of one's own are not modelled
// compute
#include "compute_kernel_api.h"

void kernel_main() {
    TTI_SFPABS(0, 1, 2, 0);  // bug
}
