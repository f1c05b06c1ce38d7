// Writer: buffer 16 to consecutive tiles of a buffer. Arguments: address, first tile, number of tiles.
#include "api/dataflow/dataflow_buffer.h"
#include "api/dataflow/noc.h"
#include "api/tensor/noc_traits.h"

void kernel_main() {
    const uint32_t first = get_arg_val<uint32_t>(1);
    const uint32_t tiles = get_arg_val<uint32_t>(2);
    Noc noc;
    DataflowBuffer dfb(16);
    const auto target = TensorAccessor(TensorAccessorArgs<0>(), get_arg_val<uint32_t>(0));

    for (uint32_t tile = first; tile < first + tiles; ++tile) {
        dfb.wait_front(1);
        noc.async_write(dfb, target, dfb.get_entry_size(), {}, {.page_id = tile});
        noc.async_write_barrier();
        dfb.pop_front(1);
    }
}
