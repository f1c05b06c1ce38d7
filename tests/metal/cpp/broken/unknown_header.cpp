// KernelCompileError: 'my_helpers.h' file not found
#include "my_helpers.h"  // bug

void kernel_main() {}
