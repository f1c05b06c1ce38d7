// Right operand, other rows of cores, then the result.
// Arguments: ready and arrived semaphore, the sender's coordinates, the result's address, first row, first column, Nt.
#include "exchange.hpp"

void kernel_main() {
    Noc noc;
    DataflowBuffer in1(cb_in1);
    Semaphore<> ready(get_arg_val<uint32_t>(0)), arrived(get_arg_val<uint32_t>(1));
    constexpr auto b_args = TensorAccessorArgs<blocking_args>();
    const auto out =
        TensorAccessor(TensorAccessorArgs<b_args.next_compile_time_args_offset()>(), get_arg_val<uint32_t>(4));

    for (uint32_t k = 0; k < kt; k += in0_block_w) {
        in1.reserve_back(in1_tiles);
        receive_block(noc, get_arg_val<uint32_t>(2), get_arg_val<uint32_t>(3), ready, arrived);
        in1.push_back(in1_tiles);
    }
    noc.async_atomic_barrier();
    write_subblocks(noc, out, get_arg_val<uint32_t>(5), get_arg_val<uint32_t>(6), get_arg_val<uint32_t>(7));
}
