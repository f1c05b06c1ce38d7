// AddressError: are a local variable or constant of the kernel
#include "dataflow_api.h"

void kernel_main() {
    alignas(16) volatile uint32_t words[4] = {1, 2, 3, 4};
    const uint32_t address = reinterpret_cast<uintptr_t>(words);
    noc_async_write(address, get_noc_addr(get_semaphore(0)), 16);  // bug
    noc_async_write_barrier();
}
