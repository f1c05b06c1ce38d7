// Printing from kernels: `DPRINT << value`, and with a format.
#pragma once

#include "api/debug/device_print.h"
#include "api/debug/dprint_tile.h"
#include "api/debug/waypoint.h"

inline ttnn_rs::Stream DPRINT;

#define TTNN_RS_MANIPULATOR(name, kind)                 \
    struct name {                                       \
        void print() const { ttnn_rs::emit(ttnn_rs::kind); } \
    };
TTNN_RS_MANIPULATOR(ENDL, END_OF_LINE)
TTNN_RS_MANIPULATOR(FIXED, FIXED_POINT)
TTNN_RS_MANIPULATOR(DEFAULTFLOAT, DEFAULT_FLOAT)
TTNN_RS_MANIPULATOR(HEX, HEXADECIMAL)
TTNN_RS_MANIPULATOR(OCT, OCTAL)
TTNN_RS_MANIPULATOR(DEC, DECIMAL)
#undef TTNN_RS_MANIPULATOR

struct SETW {
    std::uint32_t width;
    SETW(char width) : width(width) {}
    void print() const { ttnn_rs::emit(ttnn_rs::WIDTH, width); }
};
struct SETPRECISION {
    std::uint32_t digits;
    SETPRECISION(char digits) : digits(digits) {}
    void print() const { ttnn_rs::emit(ttnn_rs::PRECISION, digits); }
};
struct BF16 {
    std::uint16_t bits;
    BF16(std::uint16_t bits) : bits(bits) {}
    void print() const { ttnn_rs::emit(ttnn_rs::BF16_VALUE, bits); }
};
struct F32 {
    float value;
    F32(float value) : value(value) {}
    void print() const { ttnn_rs::print_value(value); }
};
struct U32 {
    std::uint32_t value;
    U32(std::uint32_t value) : value(value) {}
    void print() const { ttnn_rs::print_value(value); }
};
struct U32_ARRAY {
    const std::uint32_t* values;
    std::uint32_t count;
    U32_ARRAY(const std::uint32_t* values, std::uint32_t count) : values(values), count(count) {}
    void print() const {
        for (std::uint32_t i = 0; i < count; ++i) {
            ttnn_rs::print_value(values[i]);
            ttnn_rs::print_value(' ');
        }
    }
};

template <typename T>
FORCE_INLINE const ttnn_rs::Stream& operator<<(const ttnn_rs::Stream& stream, const T& value) {
    ttnn_rs::print_value(value);
    return stream;
}

// Beside the object of the same name.
#define DPRINT(...) DEVICE_PRINT(__VA_ARGS__)
#define DPRINT_UNPACK(...) DEVICE_PRINT_UNPACK(__VA_ARGS__)
#define DPRINT_MATH(...) DEVICE_PRINT_MATH(__VA_ARGS__)
#define DPRINT_PACK(...) DEVICE_PRINT_PACK(__VA_ARGS__)
#define DPRINT_DATA0(...) DEVICE_PRINT_DATA0(__VA_ARGS__)
#define DPRINT_DATA1(...) DEVICE_PRINT_DATA1(__VA_ARGS__)
