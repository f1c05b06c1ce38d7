// Data movement: every page of one buffer through L1 into another.
// Arguments: address in L1, addresses of source and target, number of pages, bytes of a page.
#include "api/core_local_mem.h"
#include "api/dataflow/noc.h"
#include "api/tensor/noc_traits.h"

void kernel_main() {
    const CoreLocalMem<uint8_t> l1(get_arg_val<uint32_t>(0));
    const uint32_t pages = get_arg_val<uint32_t>(3);
    const uint32_t page = get_arg_val<uint32_t>(4);
    Noc noc;
    constexpr auto args = TensorAccessorArgs<0>();
    const auto source = TensorAccessor(args, get_arg_val<uint32_t>(1));
    const auto target =
        TensorAccessor(TensorAccessorArgs<args.next_compile_time_args_offset()>(), get_arg_val<uint32_t>(2));

    for (uint32_t index = 0; index < pages; ++index) {
        noc.async_read(source, l1, page, {.page_id = index}, {});
        noc.async_read_barrier();
        noc.async_write(l1, target, page, {}, {.page_id = index});
        noc.async_write_barrier();
    }
}
