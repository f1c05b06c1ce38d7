// KernelArgumentError: index 9 is out of range
#include "dataflow_api.h"

void kernel_main() {
    cb_reserve_back(0, get_arg_val<uint32_t>(9));  // bug
}
