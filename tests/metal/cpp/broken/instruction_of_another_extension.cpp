// KernelCompileError: instruction requires
#include "dataflow_api.h"

void kernel_main() {
    asm volatile("fadd.s f0, f1, f2");  // bug
}
