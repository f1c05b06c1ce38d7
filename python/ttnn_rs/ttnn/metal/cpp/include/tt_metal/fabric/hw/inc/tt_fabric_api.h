// Routes: hops along a line, or a chip of a mesh.
#pragma once

#include "tt_metal/fabric/hw/inc/edm_fabric/edm_fabric_worker_adapters.hpp"

using namespace tt::tt_fabric;

namespace ttnn_rs {

// Kernels turn the pointer to any header into one to a header of two dimensions.
FORCE_INLINE void check_mesh_header(const char* call) {
    if constexpr (sizeof(PACKET_HEADER_TYPE) < sizeof(tt::tt_fabric::HybridMeshPacketHeader)) {
        tt_call_invalid(call, "routes to a chip need a fabric of two dimensions");
    }
}

}  // namespace ttnn_rs

namespace tt::tt_fabric {

inline eth_chan_directions get_next_hop_router_direction(std::uint32_t dst_mesh_id, std::uint32_t dst_dev_id) {
    return static_cast<eth_chan_directions>(tt_call_fabric_direction(dst_mesh_id, dst_dev_id));
}

inline bool fabric_set_unicast_route(
    volatile tt_l1_ptr HybridMeshPacketHeader* packet_header, std::uint16_t dst_dev_id, std::uint16_t dst_mesh_id) {
    ttnn_rs::check_mesh_header("fabric_set_unicast_route");
    packet_header->set_route(ttnn_rs::DEVICE, dst_dev_id, dst_mesh_id, {});
    return true;
}
inline void fabric_set_single_hop_unicast_route_from_direction(
    volatile tt_l1_ptr HybridMeshPacketHeader* packet_header, [[maybe_unused]] eth_chan_directions next_hop_direction,
    std::uint16_t dst_dev_id, std::uint16_t dst_mesh_id) {
    fabric_set_unicast_route(packet_header, dst_dev_id, dst_mesh_id);
}
inline void fabric_set_single_hop_unicast_route(
    volatile tt_l1_ptr HybridMeshPacketHeader* packet_header, std::uint16_t dst_dev_id, std::uint16_t dst_mesh_id) {
    fabric_set_unicast_route(packet_header, dst_dev_id, dst_mesh_id);
}
inline void fabric_set_mcast_route(
    volatile tt_l1_ptr HybridMeshPacketHeader* packet_header, std::uint16_t dst_dev_id, std::uint16_t dst_mesh_id,
    std::uint16_t e_num_hops, std::uint16_t w_num_hops, std::uint16_t n_num_hops, std::uint16_t s_num_hops) {
    ttnn_rs::check_mesh_header("fabric_set_mcast_route");
    if ((e_num_hops | w_num_hops | n_num_hops | s_num_hops) > 255) {
        tt_call_invalid("fabric_set_mcast_route", "a packet goes at most 255 hops in a direction");
    }
    const auto hop = [](std::uint16_t hops) { return static_cast<std::uint8_t>(hops); };
    packet_header->set_route(
        ttnn_rs::DEVICE_RANGE, dst_dev_id, dst_mesh_id,
        {hop(e_num_hops), hop(w_num_hops), hop(n_num_hops), hop(s_num_hops)});
}

template <bool target_as_dev = true, bool compressed = true>
bool fabric_set_unicast_route(volatile tt_l1_ptr LowLatencyPacketHeader* packet_header, std::uint16_t target_num) {
    if constexpr (target_as_dev) {
        ttnn_rs::unsupported(
            "fabric_set_unicast_route", "on a line the target is a number of hops: fabric_set_unicast_route<false>");
    }
    packet_header->to_chip_unicast_impl(static_cast<std::uint8_t>(target_num));
    return true;
}

template <typename HopMaskType>
void fabric_set_sparse_multicast_route(
    volatile tt_l1_ptr LowLatencyPacketHeader* packet_header, HopMaskType hop_mask) {
    packet_header->set_hop_mask(hop_mask);
}

inline std::uint8_t get_router_direction([[maybe_unused]] std::uint32_t eth_channel) {
    ttnn_rs::unsupported("get_router_direction", "connections have no Ethernet channels here");
}

}  // namespace tt::tt_fabric
