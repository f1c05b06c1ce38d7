// UnsupportedError: address 0xffb20000 is one of registers of NoC 0
#include "dataflow_api.h"

void kernel_main() {
    volatile uint32_t* pointer = reinterpret_cast<volatile uint32_t*>(0xFFB20000);
    *pointer = 1;  // bug
}
