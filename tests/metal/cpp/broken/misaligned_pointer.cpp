// AddressError: 4 B at address
#include "dataflow_api.h"

void kernel_main() {
    cb_reserve_back(0, 1);
    volatile uint32_t* pointer = reinterpret_cast<volatile uint32_t*>(get_write_ptr(0) + 2);
    *pointer = 1;  // bug
}
