// Results of fabric tests in L1.
#pragma once

#include "ttnn_rs/base.h"

constexpr std::uint32_t TT_FABRIC_STATUS_MASK = 0xabc00000;
constexpr std::uint32_t TT_FABRIC_STATUS_STARTED = TT_FABRIC_STATUS_MASK;
constexpr std::uint32_t TT_FABRIC_STATUS_PASS = TT_FABRIC_STATUS_MASK | 0x1;
constexpr std::uint32_t TT_FABRIC_STATUS_DATA_MISMATCH = TT_FABRIC_STATUS_MASK | 0x3;
constexpr std::uint32_t TT_FABRIC_STATUS_TIMEOUT = TT_FABRIC_STATUS_MASK | 0xdead0;
constexpr std::uint32_t TT_FABRIC_STATUS_BAD_HEADER = TT_FABRIC_STATUS_MASK | 0xdead1;

constexpr std::uint32_t TT_FABRIC_STATUS_INDEX = 0;
constexpr std::uint32_t TT_FABRIC_WORD_CNT_INDEX = 2;
constexpr std::uint32_t TT_FABRIC_CYCLES_INDEX = 4;
constexpr std::uint32_t TT_FABRIC_ITER_INDEX = 6;
constexpr std::uint32_t TT_FABRIC_MISC_INDEX = 16;
