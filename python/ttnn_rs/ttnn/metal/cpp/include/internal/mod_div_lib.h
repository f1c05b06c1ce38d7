// Division by constants. The compiler multiplies; the names are those that kernels call.
#pragma once

#include "ttnn_rs/base.h"

FORCE_INLINE unsigned int mulsi3(unsigned int a, unsigned int b) { return a * b; }

#define TTNN_RS_DIVISION(divisor) \
    FORCE_INLINE std::uint32_t fast_udiv_##divisor(std::uint32_t n) { return n / divisor; }
TTNN_RS_DIVISION(7)
TTNN_RS_DIVISION(12)
TTNN_RS_DIVISION(20)
TTNN_RS_DIVISION(28)
TTNN_RS_DIVISION(48)
TTNN_RS_DIVISION(56)
TTNN_RS_DIVISION(63)
TTNN_RS_DIVISION(70)
TTNN_RS_DIVISION(72)
TTNN_RS_DIVISION(80)
TTNN_RS_DIVISION(94)
TTNN_RS_DIVISION(108)
TTNN_RS_DIVISION(110)
TTNN_RS_DIVISION(117)
TTNN_RS_DIVISION(120)
TTNN_RS_DIVISION(124)
TTNN_RS_DIVISION(126)
TTNN_RS_DIVISION(130)
TTNN_RS_DIVISION(140)
#undef TTNN_RS_DIVISION

template <std::uint32_t d>
FORCE_INLINE std::uint32_t udivsi3_const_divisor(std::uint32_t n) {
    return n / d;
}
template <std::uint32_t d>
FORCE_INLINE std::uint32_t umodsi3_const_divisor(std::uint32_t n) {
    return n % d;
}
