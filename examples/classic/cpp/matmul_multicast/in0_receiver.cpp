// Left operand, other columns of cores. Arguments: ready and arrived semaphore, the sender's coordinates.
#include "exchange.hpp"

void kernel_main() {
    const uint32_t ready = get_semaphore(get_arg_val<uint32_t>(0));
    const uint32_t arrived = get_semaphore(get_arg_val<uint32_t>(1));

    for (uint32_t k = 0; k < kt; k += in0_block_w) {
        cb_reserve_back(cb_in0, in0_tiles);
        receive_block(get_arg_val<uint32_t>(2), get_arg_val<uint32_t>(3), ready, arrived);
        cb_push_back(cb_in0, in0_tiles);
    }
    noc_async_atomic_barrier();
}
