// AddressError: the stack needs
#include "dataflow_api.h"

__attribute__((noinline)) uint32_t deeper(uint32_t depth, volatile uint32_t* last) {
    volatile uint32_t words[256];
    words[depth % 256] = *last + depth;
    return deeper(depth + 1, words) + words[0];
}

void kernel_main() {
    volatile uint32_t start = 0;
    cb_reserve_back(0, deeper(0, &start));
}
