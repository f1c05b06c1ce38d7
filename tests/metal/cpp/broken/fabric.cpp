// UnsupportedError: this part of the fabric is not modelled
#include "tt_metal/fabric/hw/inc/udm/tt_fabric_udm.hpp"  // bug

void kernel_main() {}
