// Writer: reads this core's tiles, and writes the sums. Arguments: addresses, first tile, number of tiles.
#include "api/dataflow/dataflow_buffer.h"
#include "api/dataflow/noc.h"
#include "api/tensor/noc_traits.h"

void kernel_main() {
    const uint32_t first = get_arg_val<uint32_t>(2);
    const uint32_t tiles = get_arg_val<uint32_t>(3);
    Noc noc;
    DataflowBuffer own(1), out(16);
    constexpr auto args = TensorAccessorArgs<0>();
    const auto source = TensorAccessor(args, get_arg_val<uint32_t>(0));
    const auto target =
        TensorAccessor(TensorAccessorArgs<args.next_compile_time_args_offset()>(), get_arg_val<uint32_t>(1));

    for (uint32_t tile = first; tile < first + tiles; ++tile) {
        own.reserve_back(1);
        noc.async_read(source, own, own.get_entry_size(), {.page_id = tile}, {});
        noc.async_read_barrier();
        own.push_back(1);
        out.wait_front(1);
        noc.async_write(out, target, out.get_entry_size(), {}, {.page_id = tile});
        noc.async_write_barrier();
        out.pop_front(1);
    }
}
