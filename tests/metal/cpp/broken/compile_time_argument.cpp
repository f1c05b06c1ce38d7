// KernelCompileError: the host gave fewer arguments
#include "dataflow_api.h"

void kernel_main() {
    constexpr uint32_t pages = get_compile_time_arg_val(7);  // bug
    cb_reserve_back(0, pages);
}
