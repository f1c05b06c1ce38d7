// Writer: a core's result, subblock by subblock, as it comes. Arguments: address, first row, first column, Nt.
#include "blocks.hpp"

void kernel_main() {
    const auto out = TensorAccessor(TensorAccessorArgs<blocking_args>(), get_arg_val<uint32_t>(0));
    write_subblocks(Noc(), out, get_arg_val<uint32_t>(1), get_arg_val<uint32_t>(2), get_arg_val<uint32_t>(3));
}
