// KernelAssertError: pages == 2
#include "debug/assert.h"
#include "dataflow_api.h"

void kernel_main() {
    const uint32_t pages = get_arg_val<uint32_t>(1);
    ASSERT(pages == 2);  // bug
}
