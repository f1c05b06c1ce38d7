// Printing from kernels: a format with {} for each value.
#pragma once

#include "ttnn_rs/base.h"

struct bf16_t {
    std::uint16_t val;
    bf16_t(std::uint16_t val) : val(val) {}
};

namespace ttnn_rs {

enum Print : std::uint32_t {
    STRING, CHARACTER, U32_VALUE, I32_VALUE, U64_VALUE, I64_VALUE, F32_VALUE, BF16_VALUE, BOOL_VALUE, POINTER,
    WIDTH, PRECISION, FIXED_POINT, DEFAULT_FLOAT, HEXADECIMAL, DECIMAL, OCTAL, END_OF_LINE, F64_VALUE, FORMAT, FORMAT_END,
};

FORCE_INLINE void emit(Print kind, std::uint64_t value = 0) { tt_call_dprint(kind, low(value), high(value)); }

// Sends one value.
template <typename T>
FORCE_INLINE void print_value(const T& value) {
    using Value = std::decay_t<T>;
    if constexpr (std::is_same_v<Value, const char*> || std::is_same_v<Value, char*>) {
        emit(STRING, reinterpret_cast<std::uintptr_t>(static_cast<const char*>(value)));
    } else if constexpr (std::is_same_v<Value, char>) {
        emit(CHARACTER, static_cast<std::uint8_t>(value));
    } else if constexpr (std::is_same_v<Value, bool>) {
        emit(BOOL_VALUE, value);
    } else if constexpr (std::is_same_v<Value, bf16_t>) {
        emit(BF16_VALUE, value.val);
    } else if constexpr (std::is_same_v<Value, float>) {
        emit(F32_VALUE, std::bit_cast<std::uint32_t>(value));
    } else if constexpr (std::is_same_v<Value, double>) {
        emit(F64_VALUE, std::bit_cast<std::uint64_t>(value));
    } else if constexpr (std::is_enum_v<Value>) {
        print_value(static_cast<std::underlying_type_t<Value>>(value));
    } else if constexpr (std::is_pointer_v<Value>) {
        emit(POINTER, reinterpret_cast<std::uintptr_t>(value));
    } else if constexpr (std::is_integral_v<Value> && sizeof(Value) == 8) {
        emit(std::is_signed_v<Value> ? I64_VALUE : U64_VALUE, static_cast<std::uint64_t>(value));
    } else if constexpr (std::is_integral_v<Value>) {
        emit(std::is_signed_v<Value> ? I32_VALUE : U32_VALUE,
             static_cast<std::uint32_t>(static_cast<std::conditional_t<
                 std::is_signed_v<Value>, std::int32_t, std::uint32_t>>(value)));
    } else if constexpr (requires { value.print(); }) {
        value.print();
    } else if constexpr (requires { static_cast<std::uint32_t>(value); }) {
        emit(U32_VALUE, static_cast<std::uint32_t>(value));
    } else {
        static_assert(sizeof(Value) == 0, "DPRINT: values of this type cannot be printed");
    }
}

// What `DPRINT <<` writes to.
struct Stream {};

template <typename... Values>
FORCE_INLINE void print_format(const char* format, const Values&... values) {
    emit(FORMAT, reinterpret_cast<std::uintptr_t>(format));
    (print_value(values), ...);
    emit(FORMAT_END);
}
// `DPRINT_MATH(DPRINT << x)`: the argument has been printed when it gets here.
FORCE_INLINE void print_format(const Stream&) {}

}  // namespace ttnn_rs

#define DEVICE_PRINT(...) ttnn_rs::print_format(__VA_ARGS__)

// A compute kernel runs its three threads as one: each of these prints once.
#ifdef COMPILE_FOR_TRISC
#define DEVICE_PRINT_UNPACK(...) DEVICE_PRINT(__VA_ARGS__)
#define DEVICE_PRINT_MATH(...) DEVICE_PRINT(__VA_ARGS__)
#define DEVICE_PRINT_PACK(...) DEVICE_PRINT(__VA_ARGS__)
#define DEVICE_PRINT_DATA0(...)
#define DEVICE_PRINT_DATA1(...)
#else
#define DEVICE_PRINT_UNPACK(...)
#define DEVICE_PRINT_MATH(...)
#define DEVICE_PRINT_PACK(...)
#define DEVICE_PRINT_DATA0(...)         \
    do {                                \
        if constexpr (noc_index == 0) { \
            DEVICE_PRINT(__VA_ARGS__);  \
        }                               \
    } while (false)
#define DEVICE_PRINT_DATA1(...)         \
    do {                                \
        if constexpr (noc_index == 1) { \
            DEVICE_PRINT(__VA_ARGS__);  \
        }                               \
    } while (false)
#endif
