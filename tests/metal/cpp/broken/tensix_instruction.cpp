// UnsupportedError: TTI_SFPNOP: Tensix instructions of one's own are not modelled
// compute
#include "compute_kernel_api.h"

void kernel_main() {
    TTI_SFPNOP;  // bug
}
