// Rounding to alignments.
#pragma once

#include "ttnn_rs/base.h"

FORCE_INLINE constexpr std::uint32_t align(std::uint32_t address, std::uint32_t alignment) {
    return (address + alignment - 1) & ~(alignment - 1);
}
FORCE_INLINE constexpr std::uint32_t align_power_of_2(std::uint32_t address, std::uint32_t alignment) {
    return (address + alignment - 1) & ~(alignment - 1);
}
template <std::uint32_t Alignment>
FORCE_INLINE constexpr std::uint32_t align_power_of_2(std::uint32_t address) {
    return align_power_of_2(address, Alignment);
}
