// Data movement: the sums of two buffers' words, taken by the RISC-V itself. Arguments: addresses in DRAM, in L1, bytes.
#include "dataflow_api.h"

void kernel_main() {
    const uint32_t size = get_arg_val<uint32_t>(6);
    const InterleavedAddrGen<true> first = {.bank_base_address = get_arg_val<uint32_t>(0), .page_size = size};
    const InterleavedAddrGen<true> second = {.bank_base_address = get_arg_val<uint32_t>(1), .page_size = size};
    const InterleavedAddrGen<true> target = {.bank_base_address = get_arg_val<uint32_t>(2), .page_size = size};
    const uint32_t a_address = get_arg_val<uint32_t>(3);
    const uint32_t b_address = get_arg_val<uint32_t>(4);
    const uint32_t sum_address = get_arg_val<uint32_t>(5);

    noc_async_read(get_noc_addr(0, first), a_address, size);
    noc_async_read(get_noc_addr(0, second), b_address, size);
    noc_async_read_barrier();
    volatile tt_l1_ptr uint32_t* a = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(a_address);
    volatile tt_l1_ptr uint32_t* b = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(b_address);
    volatile tt_l1_ptr uint32_t* sum = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(sum_address);
    for (uint32_t word = 0; word < size / sizeof(uint32_t); ++word) {
        sum[word] = a[word] + b[word];
    }
    noc_async_write(sum_address, get_noc_addr(0, target), size);
    noc_async_write_barrier();
}
