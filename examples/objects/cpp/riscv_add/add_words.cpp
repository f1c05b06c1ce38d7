// Data movement: the sums of two buffers' words, taken by the RISC-V itself. Arguments: addresses in DRAM, in L1, bytes.
#include "api/core_local_mem.h"
#include "api/dataflow/noc.h"
#include "api/tensor/noc_traits.h"

void kernel_main() {
    const CoreLocalMem<uint32_t> a(get_arg_val<uint32_t>(3)), b(get_arg_val<uint32_t>(4)), sum(get_arg_val<uint32_t>(5));
    const uint32_t size = get_arg_val<uint32_t>(6);
    Noc noc;
    constexpr auto first_args = TensorAccessorArgs<0>();
    constexpr auto second_args = TensorAccessorArgs<first_args.next_compile_time_args_offset()>();
    constexpr auto target_args = TensorAccessorArgs<second_args.next_compile_time_args_offset()>();
    const auto first = TensorAccessor(first_args, get_arg_val<uint32_t>(0));
    const auto second = TensorAccessor(second_args, get_arg_val<uint32_t>(1));
    const auto target = TensorAccessor(target_args, get_arg_val<uint32_t>(2));

    noc.async_read(first, a, size, {.page_id = 0}, {});
    noc.async_read(second, b, size, {.page_id = 0}, {});
    noc.async_read_barrier();
    for (uint32_t word = 0; word < size / sizeof(uint32_t); ++word) {
        sum[word] = a[word] + b[word];
    }
    noc.async_write(sum, target, size, {}, {.page_id = 0});
    noc.async_write_barrier();
}
