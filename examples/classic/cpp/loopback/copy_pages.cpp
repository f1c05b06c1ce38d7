// Data movement: every page of one buffer through L1 into another.
#include <cstdint>

void kernel_main() {
    const uint32_t l1 = get_arg_val<uint32_t>(0);
    const uint32_t source = get_arg_val<uint32_t>(1);
    const uint32_t target = get_arg_val<uint32_t>(2);
    const uint32_t pages = get_arg_val<uint32_t>(3);
    const uint32_t page = get_arg_val<uint32_t>(4);
    const InterleavedAddrGen<true> read_from = {.bank_base_address = source, .page_size = page};
    const InterleavedAddrGen<true> write_to = {.bank_base_address = target, .page_size = page};

    for (uint32_t index = 0; index < pages; ++index) {
        noc_async_read(get_noc_addr(index, read_from), l1, page);
        noc_async_read_barrier();
        noc_async_write(l1, get_noc_addr(index, write_to), page);
        noc_async_write_barrier();
    }
}
