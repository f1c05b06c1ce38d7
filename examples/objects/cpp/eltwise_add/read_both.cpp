// Reader: one tile of each operand at a time. Arguments: addresses, number of tiles.
#include "api/dataflow/dataflow_buffer.h"
#include "api/dataflow/noc.h"
#include "api/tensor/noc_traits.h"

void kernel_main() {
    const uint32_t tiles = get_arg_val<uint32_t>(2);
    Noc noc;
    DataflowBuffer dfb_a(0), dfb_b(1);
    constexpr auto a_args = TensorAccessorArgs<0>();
    constexpr auto b_args = TensorAccessorArgs<a_args.next_compile_time_args_offset()>();
    const auto a = TensorAccessor(a_args, get_arg_val<uint32_t>(0));
    const auto b = TensorAccessor(b_args, get_arg_val<uint32_t>(1));

    for (uint32_t tile = 0; tile < tiles; ++tile) {
        dfb_a.reserve_back(1);
        dfb_b.reserve_back(1);
        noc.async_read(a, dfb_a, dfb_a.get_entry_size(), {.page_id = tile}, {.offset_bytes = 0});
        noc.async_read(b, dfb_b, dfb_b.get_entry_size(), {.page_id = tile}, {.offset_bytes = 0});
        noc.async_read_barrier();
        dfb_a.push_back(1);
        dfb_b.push_back(1);
    }
}
