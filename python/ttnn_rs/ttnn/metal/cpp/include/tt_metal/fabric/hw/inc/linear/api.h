// Packets along a line or ring: to the chip at a distance, to a range of chips, or to those of a mask.
#pragma once

#include "tt_metal/fabric/hw/inc/api_common.h"

using namespace tt::tt_fabric::common::experimental;

namespace tt::tt_fabric::linear::experimental {

namespace fabric_detail = tt::tt_fabric::common::experimental::fabric_detail;

// In two dimensions the connection knows the chip to which it leads; in one the hops are the route.
FORCE_INLINE void fabric_set_unicast_route(
    [[maybe_unused]] RoutingPlaneConnectionManager& connection_manager,
    [[maybe_unused]] volatile PACKET_HEADER_TYPE* packet_header, [[maybe_unused]] std::uint8_t i) {
#ifdef FABRIC_2D
    const auto& slot = connection_manager.get(i);
    tt::tt_fabric::fabric_set_unicast_route(packet_header, slot.dst_dev_id, slot.dst_mesh_id);
#endif
}
FORCE_INLINE void fabric_set_mcast_route(
    [[maybe_unused]] RoutingPlaneConnectionManager& connection_manager,
    [[maybe_unused]] volatile PACKET_HEADER_TYPE* packet_header, [[maybe_unused]] std::uint8_t* range,
    [[maybe_unused]] std::uint8_t i) {
#ifdef FABRIC_2D
    const auto& slot = connection_manager.get(i);
    if (range[i] == 0) {
        return;
    }
    if (slot.tag > SOUTH) {
        tt_call_invalid("fabric_set_mcast_route", "the tag of the connection is no direction");
    }
    const auto hops = [&](eth_chan_directions side) { return slot.tag == side ? range[i] : 0; };
    tt::tt_fabric::fabric_set_mcast_route(
        packet_header, slot.dst_dev_id, slot.dst_mesh_id, hops(EAST), hops(WEST), hops(NORTH), hops(SOUTH));
#endif
}

// HOPS: the parameters of a route. EACH: arrays of them, one element for each connection. SET: how they get into a
// header. MANAGED: the route of a connection; AT: the elements of the arrays for connection i.
#define TTNN_RS_LINEAR(NAME, KIND, HOPS, EACH, SET, MANAGED, AT)                                                       \
    template <typename FabricSenderType>                                                                               \
    FORCE_INLINE void NAME(                                                                                            \
        tt_l1_ptr FabricSenderType* client_interface, volatile PACKET_HEADER_TYPE* packet_header,                      \
        std::uint32_t src_addr, std::uint32_t size, fabric_detail::KIND::Command command_header, HOPS) {               \
        SET;                                                                                                           \
        fabric_detail::KIND::set(packet_header, command_header, size);                                                 \
        fabric_detail::send(client_interface, packet_header, src_addr, size);                                          \
    }                                                                                                                  \
    FORCE_INLINE void NAME(                                                                                            \
        RoutingPlaneConnectionManager& connection_manager, std::uint8_t route_id, std::uint32_t src_addr,              \
        std::uint32_t size, fabric_detail::KIND::Command command_header, EACH) {                                       \
        fabric_detail::each(connection_manager, route_id, [&](auto& slot, auto packet_header, std::uint8_t i) {        \
            MANAGED;                                                                                                   \
            NAME(&slot.sender, packet_header, src_addr, size, command_header, AT);                                     \
        });                                                                                                            \
    }                                                                                                                  \
    TTNN_RS_FABRIC_WITH_STATE(NAME, KIND)                                                                              \
    template <fabric_detail::KIND::Mask UpdateMask, typename CommandHeaderT = std::nullptr_t>                          \
    FORCE_INLINE void NAME##_set_state(                                                                                \
        volatile PACKET_HEADER_TYPE* packet_header, HOPS, CommandHeaderT command_header = nullptr,                     \
        std::uint16_t packet_size_bytes = 0) {                                                                         \
        SET;                                                                                                           \
        packet_header->noc_send_type = fabric_detail::KIND::type;                                                      \
        fabric_detail::KIND::change<UpdateMask>(packet_header, command_header, packet_size_bytes);                     \
    }                                                                                                                  \
    template <fabric_detail::KIND::Mask UpdateMask, typename CommandHeaderT = std::nullptr_t>                          \
    FORCE_INLINE void NAME##_set_state(                                                                                \
        RoutingPlaneConnectionManager& connection_manager, std::uint8_t route_id, EACH,                                \
        CommandHeaderT command_header = nullptr, std::uint16_t packet_size_bytes = 0) {                                \
        fabric_detail::each(connection_manager, route_id, [&](auto&, auto packet_header, std::uint8_t i) {             \
            MANAGED;                                                                                                   \
            NAME##_set_state<UpdateMask>(packet_header, AT, command_header, packet_size_bytes);                        \
        });                                                                                                            \
    }
#define TTNN_RS_LINEAR_WORD(NAME, KIND, HOPS, EACH, SET, MANAGED, AT)                                                  \
    template <typename FabricSenderType>                                                                               \
    FORCE_INLINE void NAME(                                                                                            \
        tt_l1_ptr FabricSenderType* client_interface, volatile PACKET_HEADER_TYPE* packet_header,                      \
        fabric_detail::KIND::Command command_header, HOPS) {                                                           \
        SET;                                                                                                           \
        fabric_detail::KIND::set(packet_header, command_header);                                                       \
        fabric_detail::send(client_interface, packet_header);                                                          \
    }                                                                                                                  \
    FORCE_INLINE void NAME(                                                                                            \
        RoutingPlaneConnectionManager& connection_manager, std::uint8_t route_id,                                      \
        fabric_detail::KIND::Command command_header, EACH) {                                                           \
        fabric_detail::each(connection_manager, route_id, [&](auto& slot, auto packet_header, std::uint8_t i) {        \
            MANAGED;                                                                                                   \
            NAME(&slot.sender, packet_header, command_header, AT);                                                     \
        });                                                                                                            \
    }                                                                                                                  \
    TTNN_RS_FABRIC_WORD_WITH_STATE(NAME, KIND)                                                                         \
    template <                                                                                                         \
        fabric_detail::KIND::Mask UpdateMask = fabric_detail::KIND::Mask::None,                                        \
        typename CommandHeaderT = std::nullptr_t>                                                                      \
    FORCE_INLINE void NAME##_set_state(                                                                                \
        volatile PACKET_HEADER_TYPE* packet_header, HOPS, CommandHeaderT command_header = nullptr) {                   \
        SET;                                                                                                           \
        packet_header->noc_send_type = fabric_detail::KIND::type;                                                      \
        packet_header->payload_size_bytes = 0;                                                                         \
        fabric_detail::KIND::change<UpdateMask>(packet_header, command_header);                                        \
    }                                                                                                                  \
    template <                                                                                                         \
        fabric_detail::KIND::Mask UpdateMask = fabric_detail::KIND::Mask::None,                                        \
        typename CommandHeaderT = std::nullptr_t>                                                                      \
    FORCE_INLINE void NAME##_set_state(                                                                                \
        RoutingPlaneConnectionManager& connection_manager, std::uint8_t route_id, EACH,                                \
        CommandHeaderT command_header = nullptr) {                                                                     \
        fabric_detail::each(connection_manager, route_id, [&](auto&, auto packet_header, std::uint8_t i) {             \
            MANAGED;                                                                                                   \
            NAME##_set_state<UpdateMask>(packet_header, AT, command_header);                                           \
        });                                                                                                            \
    }

#define TTNN_RS_COMMA ,
#define TTNN_RS_UNICAST(MACRO, NAME, KIND)                                                                             \
    MACRO(                                                                                                             \
        fabric_unicast_noc_##NAME, KIND, std::uint8_t num_hops, std::uint8_t* num_hops,                                \
        packet_header->to_chip_unicast(num_hops), fabric_set_unicast_route(connection_manager, packet_header, i),      \
        num_hops[i])
#define TTNN_RS_MULTICAST(MACRO, NAME, KIND)                                                                           \
    MACRO(                                                                                                             \
        fabric_multicast_noc_##NAME, KIND, std::uint8_t start_distance TTNN_RS_COMMA std::uint8_t range,               \
        std::uint8_t* start_distance TTNN_RS_COMMA std::uint8_t* range,                                                \
        packet_header->to_chip_multicast(MulticastRoutingCommandHeader{start_distance TTNN_RS_COMMA range}),           \
        fabric_set_mcast_route(connection_manager, packet_header, range, i),                                           \
        start_distance[i] TTNN_RS_COMMA range[i])

TTNN_RS_UNICAST(TTNN_RS_LINEAR, unicast_write, Write)
TTNN_RS_UNICAST(TTNN_RS_LINEAR, scatter_write, Scatter)
TTNN_RS_UNICAST(TTNN_RS_LINEAR, fused_unicast_with_atomic_inc, FusedWrite)
TTNN_RS_UNICAST(TTNN_RS_LINEAR, fused_scatter_write_atomic_inc, FusedScatter)
TTNN_RS_UNICAST(TTNN_RS_LINEAR_WORD, unicast_atomic_inc, Increment)
TTNN_RS_UNICAST(TTNN_RS_LINEAR_WORD, unicast_inline_write, InlineWrite)
TTNN_RS_MULTICAST(TTNN_RS_LINEAR, unicast_write, Write)
TTNN_RS_MULTICAST(TTNN_RS_LINEAR, scatter_write, Scatter)
TTNN_RS_MULTICAST(TTNN_RS_LINEAR, fused_unicast_with_atomic_inc, FusedWrite)
TTNN_RS_MULTICAST(TTNN_RS_LINEAR, fused_scatter_write_atomic_inc, FusedScatter)
TTNN_RS_MULTICAST(TTNN_RS_LINEAR_WORD, unicast_atomic_inc, Increment)
TTNN_RS_MULTICAST(TTNN_RS_LINEAR_WORD, unicast_inline_write, InlineWrite)

#undef TTNN_RS_MULTICAST
#undef TTNN_RS_UNICAST
#undef TTNN_RS_COMMA
#undef TTNN_RS_LINEAR_WORD
#undef TTNN_RS_LINEAR

template <typename FabricSenderType>
FORCE_INLINE void fabric_sparse_multicast_noc_unicast_write(
    tt_l1_ptr FabricSenderType* client_interface, volatile PACKET_HEADER_TYPE* packet_header, std::uint32_t src_addr,
    std::uint32_t size, NocUnicastCommandHeader noc_unicast_command_header, std::uint16_t hops) {
    packet_header->to_chip_sparse_multicast(SparseMulticastRoutingCommandHeader<PACKET_HEADER_TYPE>{hops});
    packet_header->to_noc_unicast_write(noc_unicast_command_header, size);
    fabric_detail::send(client_interface, packet_header, src_addr, size);
}
FORCE_INLINE void fabric_sparse_multicast_noc_unicast_write(
    RoutingPlaneConnectionManager& connection_manager, std::uint8_t route_id, std::uint32_t src_addr,
    std::uint32_t size, NocUnicastCommandHeader noc_unicast_command_header, std::uint16_t* hops) {
    fabric_detail::each(connection_manager, route_id, [&](auto& slot, auto packet_header, std::uint8_t i) {
        fabric_sparse_multicast_noc_unicast_write(
            &slot.sender, packet_header, src_addr, size, noc_unicast_command_header, hops[i]);
    });
}
template <typename FabricSenderType>
FORCE_INLINE void fabric_sparse_multicast_noc_scatter_write(
    tt_l1_ptr FabricSenderType* client_interface, volatile PACKET_HEADER_TYPE* packet_header, std::uint32_t src_addr,
    std::uint32_t size, NocSparseMulticastWriteCommandHeader sparse_mcast_command_header, std::uint16_t hops) {
    packet_header->to_chip_sparse_multicast(SparseMulticastRoutingCommandHeader<PACKET_HEADER_TYPE>{hops});
    packet_header->to_noc_sparse_mcast_write(sparse_mcast_command_header, size);
    fabric_detail::send(client_interface, packet_header, src_addr, size);
}

}  // namespace tt::tt_fabric::linear::experimental
