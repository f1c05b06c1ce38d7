// RaceError: noc_async_read_barrier() is missing
#include "dataflow_api.h"

void kernel_main() {
    const InterleavedAddrGen<true> pages = {.bank_base_address = get_arg_val<uint32_t>(0), .page_size = 2048};
    cb_reserve_back(0, 1);
    const uint32_t l1 = get_write_ptr(0);
    noc_async_read_page(0, pages, l1);
    const uint32_t first = *reinterpret_cast<volatile uint32_t*>(l1);  // bug
    noc_semaphore_set(reinterpret_cast<volatile uint32_t*>(get_semaphore(0)), first);
    noc_async_read_barrier();
}
