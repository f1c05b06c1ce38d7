// KernelCompileError: the kernel has two entries
#include "dataflow_api.h"

extern "C" void kernel_main() {}
void kernel_main(int) {}

namespace other {
extern "C" void joined() {}
}  // namespace other

void real() __asm__("_Z11kernel_mainv");
void real() {}
