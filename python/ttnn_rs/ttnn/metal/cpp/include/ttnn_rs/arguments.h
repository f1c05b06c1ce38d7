// Runtime arguments, and the place of the core.
#pragma once

#include "api/compile_time_args.h"
#include "ttnn_rs/base.h"

extern "C" {
extern std::uint8_t my_x[2];
extern std::uint8_t my_y[2];
extern std::uint8_t my_logical_x_;
extern std::uint8_t my_logical_y_;
extern std::uint8_t my_relative_x_;
extern std::uint8_t my_relative_y_;
}

constexpr std::uint8_t noc_index = NOC_INDEX;
constexpr std::uint8_t noc_mode = NOC_MODE;

static FORCE_INLINE std::uintptr_t get_arg_addr(int arg_idx) { return tt_call_argument_address(arg_idx); }
static FORCE_INLINE std::uintptr_t get_common_arg_addr(int arg_idx) { return tt_call_common_argument_address(arg_idx); }

template <typename T>
FORCE_INLINE T get_arg_val(int arg_idx) {
    static_assert(sizeof(T) == 4, "get_arg_val: arguments are 4 bytes");
    return std::bit_cast<T>(tt_call_argument(arg_idx));
}

template <typename T>
FORCE_INLINE T get_common_arg_val(int arg_idx) {
    static_assert(sizeof(T) == 4, "get_common_arg_val: arguments are 4 bytes");
    return std::bit_cast<T>(tt_call_common_argument(arg_idx));
}

FORCE_INLINE std::uint8_t get_absolute_logical_x() { return my_logical_x_; }
FORCE_INLINE std::uint8_t get_absolute_logical_y() { return my_logical_y_; }
FORCE_INLINE std::uint8_t get_relative_logical_x() { return my_relative_x_; }
FORCE_INLINE std::uint8_t get_relative_logical_y() { return my_relative_y_; }
