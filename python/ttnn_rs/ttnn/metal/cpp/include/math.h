// The standard header, with the constant that ttnn_rs/base.h takes away from kernels that do not include this.
#include_next <math.h>
#ifndef M_PI
#define M_PI 3.14159265358979323846
#endif
