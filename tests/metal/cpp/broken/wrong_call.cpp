// KernelCompileError: no matching function for call to 'cb_push_back'
#include "dataflow_api.h"

void kernel_main() {
    cb_push_back(0);  // bug
}
