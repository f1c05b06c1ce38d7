// KernelCompileError: undefined symbol: helper()
#include "dataflow_api.h"

void helper();

void kernel_main() { helper(); }
