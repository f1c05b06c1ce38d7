// UnsupportedError: sockets and the fabric between chips are not modelled
#include "tt_metal/fabric/hw/inc/tt_fabric_api.h"  // bug

void kernel_main() {}
