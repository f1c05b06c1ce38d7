// What kernels take of the core itself: its clock, barriers of the compiler, division by constants.
#pragma once

#include "ttnn_rs/base.h"

// L1 has no data cache on this chip.
FORCE_INLINE void invalidate_l1_cache() { asm volatile("" ::: "memory"); }

namespace ckernel {
FORCE_INLINE void clobber_all_memory() { asm volatile("" ::: "memory"); }
}  // namespace ckernel

constexpr std::uint32_t RISCV_DEBUG_REG_WALL_CLOCK_L = 0xFFB121F0;
constexpr std::uint32_t RISCV_DEBUG_REG_WALL_CLOCK_H = 0xFFB121F8;

FORCE_INLINE std::uint64_t get_timestamp() { return tt_call_wall_clock(); }
FORCE_INLINE std::uint32_t get_timestamp_32b() { return static_cast<std::uint32_t>(tt_call_wall_clock()); }
FORCE_INLINE void riscv_wait(std::uint32_t cycles) {
    const std::uint64_t start = tt_call_wall_clock();
    while (tt_call_wall_clock() - start < cycles) {
    }
}
FORCE_INLINE void RISC_POST_HEARTBEAT([[maybe_unused]] std::uint32_t& heartbeat) {}

FORCE_INLINE void wait_for_sync_register_value(std::uintptr_t, std::int32_t) {
    ttnn_rs::unsupported("wait_for_sync_register_value", "a debugger's view of the registers is not modelled");
}
