// Types that kernels share with the host's side of the fabric.
#pragma once

#include "ttnn_rs/base.h"

namespace tt::tt_fabric {

enum class Topology { NeighborExchange = 0, Linear = 1, Ring = 2, Mesh = 3, Torus = 4 };

constexpr bool is_2D_topology(Topology topology) { return topology == Topology::Mesh || topology == Topology::Torus; }
constexpr bool is_ring_or_torus(Topology topology) { return topology == Topology::Ring || topology == Topology::Torus; }

struct WorkerXY {
    std::uint16_t x;
    std::uint16_t y;

    constexpr WorkerXY() : x(0), y(0) {}
    constexpr WorkerXY(std::uint16_t x, std::uint16_t y) : x(x), y(y) {}

    constexpr std::uint32_t to_uint32() const { return static_cast<std::uint32_t>(y) << 16 | x; }
    static constexpr WorkerXY from_uint32(std::uint32_t v) { return WorkerXY(v & 0xFFFF, v >> 16); }
    constexpr bool operator==(const WorkerXY&) const = default;
};

struct coord_t {
    constexpr coord_t(std::uint32_t x, std::uint32_t y) : x(x), y(y) {}
    std::uint32_t x;
    std::uint32_t y;
};

}  // namespace tt::tt_fabric
