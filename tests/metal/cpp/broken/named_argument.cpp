// KernelCompileError: the_host_gave_no_argument_of_this_name
#include "dataflow_api.h"

void kernel_main() {
    constexpr uint32_t pages = get_named_compile_time_arg_val("pages");  // bug
    cb_reserve_back(0, pages);
}
