// Reader: one tile of each operand at a time.
#include "api/dataflow/dataflow_api.h"
#include "api/dataflow/dataflow_buffer.h"
#include "api/dataflow/noc.h"
#include "api/tensor/noc_traits.h"
#include "experimental/kernel_args.h"

void kernel_main() {
    const uint32_t first = get_arg(args::first);
    const uint32_t tiles = get_arg(args::tiles);
    Noc noc;
    DataflowBuffer a_out(dfb::a);
    DataflowBuffer b_out(dfb::b);
    const auto a = TensorAccessor(tensor::a);
    const auto b = TensorAccessor(tensor::b);

    for (uint32_t tile = first; tile < first + tiles; ++tile) {
        a_out.reserve_back(1);
        b_out.reserve_back(1);
        noc.async_read(a, a_out, a_out.get_entry_size(), {.page_id = tile}, {.offset_bytes = 0});
        noc.async_read(b, b_out, b_out.get_entry_size(), {.page_id = tile}, {.offset_bytes = 0});
        noc.async_read_barrier();
        a_out.push_back(1);
        b_out.push_back(1);
    }
}
