// Writer: a core's result, subblock by subblock, as it comes. Arguments: address, first row, first column, Nt.
#include "subblocks.hpp"

void kernel_main() {
    write_subblocks(
        get_arg_val<uint32_t>(0), get_arg_val<uint32_t>(1), get_arg_val<uint32_t>(2), get_arg_val<uint32_t>(3));
}
