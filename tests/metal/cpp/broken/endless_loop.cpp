// KernelError: more than 2000000 instructions, an endless loop?
#include "dataflow_api.h"

void kernel_main() {
    for (volatile uint32_t count = 0;; count = count + 1) {
    }
}
