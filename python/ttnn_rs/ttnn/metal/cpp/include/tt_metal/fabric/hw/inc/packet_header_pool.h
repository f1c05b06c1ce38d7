// The headers of a core: room for 64 in L1, half for each of its data movement processors.
#pragma once

#include "hostdev/fabric_edm_packet_header.hpp"

class PacketHeaderPool {
    static constexpr std::uint32_t HEADERS = 32;
    static constexpr std::uint32_t HEADER_SIZE = 96;

    inline static std::uint32_t allocated = 0;
    inline static std::uint8_t routes = 0;

public:
    // Headers of each route: the first, and how many.
    inline static std::pair<volatile tt_l1_ptr PACKET_HEADER_TYPE*, std::uint8_t> header_table[HEADERS];

    FORCE_INLINE static void reset() {
        allocated = 0;
        routes = 0;
    }

    static volatile tt_l1_ptr PACKET_HEADER_TYPE* allocate_header(std::uint8_t num_headers = 1) {
#ifdef TTNN_RS_PACKET_HEADER_POOL
        constexpr std::uintptr_t base = TTNN_RS_PACKET_HEADER_POOL + PROCESSOR_INDEX * HEADERS * HEADER_SIZE;
#else
        constexpr std::uintptr_t base = 0;
        tt_call_invalid(
            "PacketHeaderPool::allocate_header", "there is no fabric: call set_fabric_config before opening the mesh");
#endif
        if (allocated + num_headers > HEADERS || routes == HEADERS) {
            tt_call_invalid("PacketHeaderPool::allocate_header", "a processor has room for 32 headers");
        }
        const auto header =
            reinterpret_cast<volatile tt_l1_ptr PACKET_HEADER_TYPE*>(base + allocated * HEADER_SIZE);
        allocated += num_headers;
        header_table[routes++] = {header, num_headers};
        return header;
    }
    FORCE_INLINE static std::uint8_t allocate_header_n(std::uint8_t num_headers) {
        allocate_header(num_headers);
        return routes - 1;
    }

    template <typename Func>
    FORCE_INLINE static void for_each_header(std::uint8_t route_id, Func&& func) {
        if (route_id >= routes) {
            tt_call_invalid("PacketHeaderPool::for_each_header", "no headers were allocated for this route");
        }
        const auto [headers, count] = header_table[route_id];
        for (std::uint8_t i = 0; i < count; ++i) {
            func(headers + i, i);
        }
    }
    FORCE_INLINE static std::uint8_t get_num_headers(std::uint8_t route_id) {
        return route_id < routes ? header_table[route_id].second : 0;
    }
};
