// KernelCompileError: arguments are 4 bytes
#include "dataflow_api.h"

void kernel_main() {
    cb_reserve_back(0, get_arg_val<uint64_t>(0));  // bug
}
