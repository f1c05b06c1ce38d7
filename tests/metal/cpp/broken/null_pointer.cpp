// AddressError: an L1 store: 4 B at address 0 
#include "dataflow_api.h"

void kernel_main() {
    volatile uint32_t* pointer = reinterpret_cast<volatile uint32_t*>(get_common_arg_val<uint32_t>(0));
    *pointer = 1;  // bug
}
