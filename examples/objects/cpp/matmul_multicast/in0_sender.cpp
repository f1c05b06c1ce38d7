// Left operand, first column of cores. Arguments: address, first row, ready and arrived semaphore, receivers.
#include "exchange.hpp"

void kernel_main() {
    const uint32_t first_row = get_arg_val<uint32_t>(1);
    Noc noc;
    DataflowBuffer in0(cb_in0);
    Semaphore<> ready(get_arg_val<uint32_t>(2)), arrived(get_arg_val<uint32_t>(3));
    const Receivers receivers = receivers_from(4);
    const auto a = TensorAccessor(TensorAccessorArgs<blocking_args>(), get_arg_val<uint32_t>(0));

    arrived.set(VALID);
    for (uint32_t k = 0; k < kt; k += in0_block_w) {
        in0.reserve_back(in0_tiles);
        read_block(noc, a, in0, first_row, k, per_core_m, in0_block_w, kt);
        noc.async_read_barrier();
        send_block(noc, in0, in0_tiles, receivers, ready, arrived);
        in0.push_back(in0_tiles);
    }
    noc.async_write_barrier();
}
