// Reader: consecutive tiles of a buffer to buffer 0. Arguments: address, first tile, number of tiles.
#include "api/dataflow/dataflow_buffer.h"
#include "api/dataflow/noc.h"
#include "api/tensor/noc_traits.h"

void kernel_main() {
    const uint32_t first = get_arg_val<uint32_t>(1);
    const uint32_t tiles = get_arg_val<uint32_t>(2);
    Noc noc;
    DataflowBuffer dfb(0);
    const auto source = TensorAccessor(TensorAccessorArgs<0>(), get_arg_val<uint32_t>(0));

    for (uint32_t tile = first; tile < first + tiles; ++tile) {
        dfb.reserve_back(1);
        noc.async_read(source, dfb, dfb.get_entry_size(), {.page_id = tile}, {});
        noc.async_read_barrier();
        dfb.push_back(1);
    }
}
