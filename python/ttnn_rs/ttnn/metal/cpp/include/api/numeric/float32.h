// float32 by its bits.
#pragma once

#include "api/numeric/bfloat16.h"

inline constexpr std::uint32_t NEG_INF_FLOAT32 = 0xFF800000;
inline constexpr std::uint32_t POS_INF_FLOAT32 = 0x7F800000;
inline constexpr std::uint32_t NAN_FLOAT32 = 0x7FFFFFFF;
inline constexpr std::uint32_t FLOAT32_SIGN_MASK = 0x80000000;
inline constexpr std::uint32_t FLOAT32_EXPONENT_MASK = 0x7F800000;
inline constexpr std::uint32_t FLOAT32_MANTISSA_MASK = 0x007FFFFF;
inline constexpr std::uint32_t FLOAT32_MAGNITUDE_MASK = 0x7FFFFFFF;

FORCE_INLINE bool float32_greater(std::uint32_t f32_a, std::uint32_t f32_b) {
    const auto is_nan = [](std::uint32_t bits) { return (bits & FLOAT32_MAGNITUDE_MASK) > POS_INF_FLOAT32; };
    return !is_nan(f32_a) && !is_nan(f32_b) && ttnn_rs::greater_bits<std::uint32_t>(f32_a, f32_b, FLOAT32_SIGN_MASK);
}
