// AddressError: 4 B at 0x200000, where this core has no memory
#include "dataflow_api.h"

void kernel_main() {
    volatile uint32_t* pointer = reinterpret_cast<volatile uint32_t*>(0x00200000);
    *pointer = 1;  // bug
}
