// Reader: a row of the left operand and a column of the right one for each of the result's tiles.
// Arguments: addresses, first tile, number of tiles, Kt, Nt.
#include "api/dataflow/dataflow_buffer.h"
#include "api/dataflow/noc.h"
#include "api/tensor/noc_traits.h"

void kernel_main() {
    const uint32_t first = get_arg_val<uint32_t>(2);
    const uint32_t tiles = get_arg_val<uint32_t>(3);
    const uint32_t kt = get_arg_val<uint32_t>(4);
    const uint32_t nt = get_arg_val<uint32_t>(5);
    Noc noc;
    DataflowBuffer left(0), right(1);
    constexpr auto a_args = TensorAccessorArgs<0>();
    const auto a = TensorAccessor(a_args, get_arg_val<uint32_t>(0));
    const auto b =
        TensorAccessor(TensorAccessorArgs<a_args.next_compile_time_args_offset()>(), get_arg_val<uint32_t>(1));

    for (uint32_t tile = first; tile < first + tiles; ++tile) {
        const uint32_t row = tile / nt;
        const uint32_t column = tile % nt;
        for (uint32_t k = 0; k < kt; ++k) {
            left.reserve_back(1);
            right.reserve_back(1);
            noc.async_read(a, left, left.get_entry_size(), {.page_id = row * kt + k}, {});
            noc.async_read(b, right, right.get_entry_size(), {.page_id = k * nt + column}, {});
            noc.async_read_barrier();
            left.push_back(1);
            right.push_back(1);
        }
    }
}
