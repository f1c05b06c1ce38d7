// bfloat16 for code that fills tiles by hand.
#pragma once

#include "ttnn_rs/base.h"

inline constexpr std::uint16_t NEG_INF_BFLOAT16 = 0xFF80;
inline constexpr std::uint16_t POS_INF_BFLOAT16 = 0x7F80;
inline constexpr std::uint16_t NAN_BFLOAT16 = 0x7FFF;
inline constexpr std::uint16_t BFLOAT16_SIGN_MASK = 0x8000;
inline constexpr std::uint16_t BFLOAT16_EXPONENT_MASK = 0x7F80;
inline constexpr std::uint16_t BFLOAT16_MANTISSA_MASK = 0x007F;
inline constexpr std::uint16_t BFLOAT16_MAGNITUDE_MASK = 0x7FFF;

FORCE_INLINE float bf16_to_fp32(std::uint16_t bf16) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bf16) << 16);
}
FORCE_INLINE std::uint16_t fp32_to_bf16_truncate(float x) { return std::bit_cast<std::uint32_t>(x) >> 16; }
// The nearest one, ties to even.
FORCE_INLINE std::uint16_t fp32_to_bf16(float x) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
    return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
}

struct FloatBits {
    std::uint16_t high16;
    std::uint16_t low16;
    explicit FloatBits(float value) :
        high16(std::bit_cast<std::uint32_t>(value) >> 16), low16(std::bit_cast<std::uint32_t>(value) & 0xFFFF) {}
};

namespace ttnn_rs {
// Orders the bits of floats as numbers: negative ones backwards.
template <typename Bits>
constexpr bool greater_bits(Bits a, Bits b, Bits sign) {
    const bool negative_a = (a & sign) != 0, negative_b = (b & sign) != 0;
    if (((a | b) & static_cast<Bits>(~sign)) == 0) {
        return false;
    }
    if (negative_a != negative_b) {
        return negative_b;
    }
    return negative_a ? a < b : a > b;
}
}  // namespace ttnn_rs

FORCE_INLINE bool bfloat16_greater(std::uint16_t bf16_a, std::uint16_t bf16_b) {
    const auto is_nan = [](std::uint16_t bits) { return (bits & BFLOAT16_MAGNITUDE_MASK) > POS_INF_BFLOAT16; };
    return !is_nan(bf16_a) && !is_nan(bf16_b) &&
           ttnn_rs::greater_bits<std::uint16_t>(bf16_a, bf16_b, BFLOAT16_SIGN_MASK);
}
