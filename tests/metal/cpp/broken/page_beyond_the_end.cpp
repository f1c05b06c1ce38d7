// AddressError: page 9
#include "dataflow_api.h"

void kernel_main() {
    const InterleavedAddrGen<true> pages = {.bank_base_address = get_arg_val<uint32_t>(0), .page_size = 2048};
    cb_reserve_back(0, 1);
    noc_async_read_page(9, pages, get_write_ptr(0));  // bug
    noc_async_read_barrier();
}
