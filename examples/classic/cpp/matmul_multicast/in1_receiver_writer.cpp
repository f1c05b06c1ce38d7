// Right operand, other rows of cores, then the result.
// Arguments: ready and arrived semaphore, the sender's coordinates, the result's address, first row, first column, Nt.
#include "exchange.hpp"

void kernel_main() {
    const uint32_t ready = get_semaphore(get_arg_val<uint32_t>(0));
    const uint32_t arrived = get_semaphore(get_arg_val<uint32_t>(1));

    for (uint32_t k = 0; k < kt; k += in0_block_w) {
        cb_reserve_back(cb_in1, in1_tiles);
        receive_block(get_arg_val<uint32_t>(2), get_arg_val<uint32_t>(3), ready, arrived);
        cb_push_back(cb_in1, in1_tiles);
    }
    noc_async_atomic_barrier();
    write_subblocks(
        get_arg_val<uint32_t>(4), get_arg_val<uint32_t>(5), get_arg_val<uint32_t>(6), get_arg_val<uint32_t>(7));
}
