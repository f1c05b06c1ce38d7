// Values that host and kernels share.
#pragma once

#include "ttnn_rs/base.h"

constexpr static std::uint32_t INVALID = 0;
constexpr static std::uint32_t VALID = 1;
