// KernelArgumentError: noc_async_read_one_packet: more bytes than fit into one packet
#include "dataflow_api.h"

void kernel_main() {
    noc_async_read_one_packet(get_noc_addr(0, 1, 0), get_write_ptr(0), 1 << get_arg_val<uint32_t>(2));  // bug
}
