// Right operand, first row of cores, then the result.
// Arguments: address, first column, ready and arrived semaphore, receivers, Nt, the result's address, first row.
#include "exchange.hpp"

void kernel_main() {
    const uint32_t first_column = get_arg_val<uint32_t>(1);
    Noc noc;
    DataflowBuffer in1(cb_in1);
    Semaphore<> ready(get_arg_val<uint32_t>(2)), arrived(get_arg_val<uint32_t>(3));
    const Receivers receivers = receivers_from(4);
    const uint32_t nt = get_arg_val<uint32_t>(9);
    constexpr auto b_args = TensorAccessorArgs<blocking_args>();
    const auto b = TensorAccessor(b_args, get_arg_val<uint32_t>(0));
    const auto out =
        TensorAccessor(TensorAccessorArgs<b_args.next_compile_time_args_offset()>(), get_arg_val<uint32_t>(10));

    arrived.set(VALID);
    for (uint32_t k = 0; k < kt; k += in0_block_w) {
        in1.reserve_back(in1_tiles);
        read_block(noc, b, in1, k, first_column, in0_block_w, per_core_n, nt);
        noc.async_read_barrier();
        send_block(noc, in1, in1_tiles, receivers, ready, arrived);
        in1.push_back(in1_tiles);
    }
    write_subblocks(noc, out, get_arg_val<uint32_t>(11), first_column, nt);
}
