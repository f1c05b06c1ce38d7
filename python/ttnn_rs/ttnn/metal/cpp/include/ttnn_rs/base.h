// What every kernel may name without an include: attributes, standard types, constants of the chip.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <limits>
#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "ttnn_rs/calls.h"

// Kernels that do not include <cmath> may have a constant of this name.
#undef M_PI

#define FORCE_INLINE inline __attribute__((always_inline))
#define ALWI inline __attribute__((always_inline))
#define tt_l1_ptr
#define tt_reg_ptr
#define tt_dump_ptr
#define TT_ALWAYS_INLINE inline __attribute__((always_inline))

using uint = unsigned int;
using std::int16_t;
using std::int32_t;
using std::int64_t;
using std::int8_t;
using std::size_t;
using std::uint16_t;
using std::uint32_t;
using std::uint64_t;
using std::uint8_t;
using std::uintptr_t;

namespace ttnn_rs {

FORCE_INLINE constexpr std::uint32_t low(std::uint64_t value) { return static_cast<std::uint32_t>(value); }
FORCE_INLINE constexpr std::uint32_t high(std::uint64_t value) { return static_cast<std::uint32_t>(value >> 32); }

// Refuses what no kernel of this device can do. Declared functions may be named; calling them raises UnsupportedError.
[[noreturn]] FORCE_INLINE void unsupported(const char* name, const char* reason) {
    tt_call_unsupported(name, reason);
}

}  // namespace ttnn_rs

namespace ckernel {

enum ThreadId { BriscThreadId = 0, UnpackThreadId = 1, MathThreadId = 2, PackThreadId = 3 };

inline void mailbox_write([[maybe_unused]] std::uint8_t thread, [[maybe_unused]] std::uint32_t data) {
    ttnn_rs::unsupported("mailbox_write", "the three threads of a compute kernel run as one, so they have no mailboxes");
}
inline std::uint32_t mailbox_read([[maybe_unused]] std::uint8_t thread) {
    ttnn_rs::unsupported("mailbox_read", "the three threads of a compute kernel run as one, so they have no mailboxes");
}

}  // namespace ckernel
