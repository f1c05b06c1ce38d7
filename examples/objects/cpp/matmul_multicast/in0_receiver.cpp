// Left operand, other columns of cores. Arguments: ready and arrived semaphore, the sender's coordinates.
#include "exchange.hpp"

void kernel_main() {
    Noc noc;
    DataflowBuffer in0(cb_in0);
    Semaphore<> ready(get_arg_val<uint32_t>(0)), arrived(get_arg_val<uint32_t>(1));

    for (uint32_t k = 0; k < kt; k += in0_block_w) {
        in0.reserve_back(in0_tiles);
        receive_block(noc, get_arg_val<uint32_t>(2), get_arg_val<uint32_t>(3), ready, arrived);
        in0.push_back(in0_tiles);
    }
    noc.async_atomic_barrier();
}
