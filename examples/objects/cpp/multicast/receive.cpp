// Reader of the other cores: says that it is ready, and waits for the tile.
// Arguments: the sender's coordinates, ready and sent semaphore.
#include "api/dataflow/dataflow_buffer.h"
#include "api/dataflow/noc.h"
#include "api/dataflow/noc_semaphore.h"

void kernel_main() {
    Noc noc;
    DataflowBuffer shared(0);
    Semaphore<> ready(get_arg_val<uint32_t>(2)), sent(get_arg_val<uint32_t>(3));

    shared.reserve_back(1);
    ready.up(noc, get_arg_val<uint32_t>(0), get_arg_val<uint32_t>(1), 1);
    noc.async_atomic_barrier();
    sent.wait(1);
    shared.push_back(1);
}
