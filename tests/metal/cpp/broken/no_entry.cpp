// KernelCompileError: the kernel has no entry; define `void kernel_main()`
#include "dataflow_api.h"

void main_of_the_kernel() { noc_async_read_barrier(); }
