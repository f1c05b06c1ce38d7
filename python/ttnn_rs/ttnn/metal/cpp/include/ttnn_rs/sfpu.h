// How functions of the SFPU are called; the generated header lists them.
#pragma once

#include "api/compute/common.h"
#include "internal/tensix_types.h"

namespace ttnn_rs {

// Added to a mode: the function runs on the packer's thread.
constexpr std::uint32_t ON_PACK = 4;

FORCE_INLINE std::uint32_t face_mode(const char* call, Faces faces) {
    switch (faces.mode) {
        case 0:
        case 4: return 0;
        case 1:
        case 2: return faces.mode;
        default: tt_call_invalid(call, "vector_mode: use VectorMode::RC, R or C");
    }
}

FORCE_INLINE void set_up(const Function& init, std::uint32_t mode = 0) { tt_call_sfpu_init(&init, mode, 0, nullptr); }

// Sets a function up that keeps its arguments in lane registers.
template <typename... Words>
FORCE_INLINE void set_up_keeping(const Function& init, Words... words) {
    const std::uint32_t kept[] = {static_cast<std::uint32_t>(words)..., 0};
    tt_call_sfpu_init(&init, 0, sizeof...(words), kept);
}

template <typename... Words>
FORCE_INLINE void on_tiles(
    const Function& function, std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t out, std::uint32_t mode,
    Words... words) {
    if constexpr (sizeof...(words) == 0) {
        tt_call_sfpu(&function, a, b, c, out, mode, 0, nullptr);
    } else {
        const std::uint32_t parameters[] = {static_cast<std::uint32_t>(words)...};
        tt_call_sfpu(&function, a, b, c, out, mode, sizeof...(words), parameters);
    }
}
template <typename... Words>
FORCE_INLINE void on_one(
    const Function& function, std::uint32_t idst, Faces faces, std::uint32_t thread, Words... words) {
    on_tiles(function, idst, idst, idst, idst, face_mode(function.name, faces) + thread, words...);
}

// For functions that take their tiles in a list.
template <std::size_t Count, typename... Words>
FORCE_INLINE void on_list(const Function& function, const std::uint32_t (&tiles)[Count], Words... words) {
    const std::uint32_t parameters[] = {static_cast<std::uint32_t>(words)..., 0};
    tt_call_sfpu_tiles(&function, Count, tiles, sizeof...(words), parameters);
}

constexpr std::uint32_t float_bits(float value) { return std::bit_cast<std::uint32_t>(value); }
constexpr std::uint32_t product_bits(std::uint32_t a, std::uint32_t b) {
    return float_bits(std::bit_cast<float>(a) * std::bit_cast<float>(b));
}

}  // namespace ttnn_rs

#define TTNN_RS_FUNCTION(symbol, ...) \
    __attribute__((section(".tt_strings." #symbol))) inline constexpr Function symbol = {__VA_ARGS__};
