// KernelCompileError: expected ';'
#include "dataflow_api.h"

void kernel_main() {
    const uint32_t pages = 1  // bug
    cb_reserve_back(0, pages);
}
