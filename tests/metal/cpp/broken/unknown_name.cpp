// KernelCompileError: use of undeclared identifier 'cb_reserve_front'
#include "dataflow_api.h"

void kernel_main() {
    cb_reserve_front(0, 1);  // bug
}
