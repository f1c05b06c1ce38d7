// Circular buffers that the host bound to names.
#pragma once

#include "internal/llk_metadata.h"

namespace dfb {
enum AccessPattern : std::uint8_t { STRIDED, ALL, BLOCKED, UNKNOWN };
}  // namespace dfb

template <dfb::AccessPattern Pap = dfb::AccessPattern::UNKNOWN, dfb::AccessPattern Cap = dfb::AccessPattern::UNKNOWN>
struct DFBBindingToken {
    explicit constexpr DFBBindingToken(std::uint16_t id) noexcept : id(id) {}
    constexpr DFBBindingToken(std::uint16_t id, binding_details::LLKMetadata metadata) noexcept :
        id(id), metadata(metadata) {}
    constexpr operator std::uint32_t() const noexcept { return id; }

private:
    std::uint16_t id;
    binding_details::LLKMetadata metadata{};
};

struct RelayDFBBindingToken {
    static constexpr std::uint8_t NO_PREFETCHER_PIPE = 0xFF;
    explicit constexpr RelayDFBBindingToken(
        std::uint16_t id, std::uint8_t prefetcher_pipe_id = NO_PREFETCHER_PIPE) noexcept :
        id(id), pipe(prefetcher_pipe_id) {}
    constexpr operator std::uint32_t() const noexcept { return id; }
    constexpr std::uint8_t prefetcher_pipe_id() const noexcept { return pipe; }

private:
    std::uint16_t id;
    std::uint8_t pipe;
};
