// Limits of 32-bit integers.
#pragma once

#include "ttnn_rs/base.h"

inline constexpr std::int32_t NEG_INF_INT32 = static_cast<std::int32_t>(0x80000000);
inline constexpr std::int32_t POS_INF_INT32 = 0x7FFFFFFF;
inline constexpr std::uint32_t INT32_SIGN_MASK = 0x80000000;

FORCE_INLINE bool int32_greater(std::int32_t int32_a, std::int32_t int32_b) { return int32_a > int32_b; }
