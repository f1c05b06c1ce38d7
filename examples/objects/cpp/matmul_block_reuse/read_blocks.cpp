// Reader: blocks of both operands. Arguments: addresses, first row, first column, Nt.
#include "../matmul_parts/blocks.hpp"

void kernel_main() {
    const uint32_t first_row = get_arg_val<uint32_t>(2);
    const uint32_t first_column = get_arg_val<uint32_t>(3);
    const uint32_t nt = get_arg_val<uint32_t>(4);
    Noc noc;
    DataflowBuffer in0(cb_in0), in1(cb_in1);
    constexpr auto a_args = TensorAccessorArgs<blocking_args>();
    const auto a = TensorAccessor(a_args, get_arg_val<uint32_t>(0));
    const auto b =
        TensorAccessor(TensorAccessorArgs<a_args.next_compile_time_args_offset()>(), get_arg_val<uint32_t>(1));

    for (uint32_t k = 0; k < kt; k += in0_block_w) {
        in0.reserve_back(in0_tiles);
        in1.reserve_back(in1_tiles);
        read_block(noc, a, in0, first_row, k, per_core_m, in0_block_w, kt);
        read_block(noc, b, in1, k, first_column, in0_block_w, per_core_n, nt);
        noc.async_read_barrier();
        in0.push_back(in0_tiles);
        in1.push_back(in1_tiles);
    }
}
