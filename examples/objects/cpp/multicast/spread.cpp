// Reader of the first core: waits until the others are ready, reads the shared tile, multicasts it.
// Arguments: address, corners of the rectangle, number of the others, ready and sent semaphore.
#include "api/dataflow/dataflow_buffer.h"
#include "api/dataflow/endpoints.h"
#include "api/dataflow/noc.h"
#include "api/dataflow/noc_semaphore.h"
#include "api/tensor/noc_traits.h"

void kernel_main() {
    const uint32_t x0 = get_arg_val<uint32_t>(1), y0 = get_arg_val<uint32_t>(2);
    const uint32_t x1 = get_arg_val<uint32_t>(3), y1 = get_arg_val<uint32_t>(4);
    const uint32_t others = get_arg_val<uint32_t>(5);
    Noc noc;
    DataflowBuffer shared(0);
    Semaphore<> ready(get_arg_val<uint32_t>(6)), sent(get_arg_val<uint32_t>(7));
    const auto source = TensorAccessor(TensorAccessorArgs<0>(), get_arg_val<uint32_t>(0));

    shared.reserve_back(1);
    noc.async_read(source, shared, shared.get_entry_size(), {.page_id = 0}, {});
    noc.async_read_barrier();
    ready.down(others);
    noc.async_write_multicast(
        CoreLocalMem<uint32_t>(shared.get_write_ptr()), MulticastEndpoint{}, shared.get_entry_size(), others, {},
        {.noc_x_start = x0, .noc_y_start = y0, .noc_x_end = x1, .noc_y_end = y1, .addr = shared.get_write_ptr()}, true);
    sent.set(1);
    sent.set_multicast(noc, x0, y0, x1, y1, others);
    noc.async_write_barrier();
    shared.push_back(1);
}
