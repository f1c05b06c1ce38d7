// Formats of datums, with the codes of the chip.
#pragma once

#include "ttnn_rs/base.h"

enum class DataFormat : std::uint8_t {
    Float32 = 0,
    Float16 = 1,
    Bfp8 = 2,
    Bfp4 = 3,
    Tf32 = 4,
    Float16_b = 5,
    Bfp8_b = 6,
    Bfp4_b = 7,
    Int32 = 8,
    UInt16 = 9,
    Lf8 = 10,
    Bfp2 = 11,
    Int8 = 14,
    Bfp2_b = 15,
    UInt32 = 24,
    Fp8_e4m3 = 26,
    UInt8 = 30,
    Invalid = 0xFF,
};

namespace ttnn_rs {

// Bytes of a tile: block formats keep one exponent byte for 16 datums, in whole 16 bytes.
constexpr std::uint32_t tile_bytes(DataFormat format, std::uint32_t datums = 1024) {
    const std::uint32_t exponents = datums / 16 < 16 ? 16 : datums / 16;
    switch (format) {
        case DataFormat::Float32:
        case DataFormat::Tf32:
        case DataFormat::Int32:
        case DataFormat::UInt32: return datums * 4;
        case DataFormat::Float16:
        case DataFormat::Float16_b:
        case DataFormat::UInt16: return datums * 2;
        case DataFormat::Bfp8:
        case DataFormat::Bfp8_b: return datums + exponents;
        case DataFormat::Bfp4:
        case DataFormat::Bfp4_b: return datums / 2 + exponents;
        case DataFormat::Bfp2:
        case DataFormat::Bfp2_b: return datums / 4 + exponents;
        default: return datums;
    }
}

}  // namespace ttnn_rs

constexpr std::uint32_t datum_size(std::uint32_t format) {
    return ttnn_rs::tile_bytes(static_cast<DataFormat>(format)) / 1024;
}
