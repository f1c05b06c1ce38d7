// Writer: the sum to its tensor.
#include "api/dataflow/dataflow_api.h"
#include "api/dataflow/dataflow_buffer.h"
#include "api/dataflow/noc.h"
#include "api/tensor/noc_traits.h"
#include "experimental/kernel_args.h"

void kernel_main() {
    const uint32_t first = get_arg(args::first);
    const uint32_t tiles = get_arg(args::tiles);
    Noc noc;
    DataflowBuffer out(dfb::out);
    const auto target = TensorAccessor(tensor::out);

    for (uint32_t tile = first; tile < first + tiles; ++tile) {
        out.wait_front(1);
        noc.async_write(out, target, out.get_entry_size(), {.offset_bytes = 0}, {.page_id = tile});
        noc.async_write_barrier();
        out.pop_front(1);
    }
}
