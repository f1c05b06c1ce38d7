// Circular buffers: input, ones for maximum and sum, result, exponentials, a row's maximum, its reciprocal sum.
#pragma once

#include <cstdint>

constexpr uint32_t X = 0, MAX_SCALER = 1, SUM_SCALER = 2, OUT = 16, EXPS = 24, MAX = 25, RECIP = 26;
