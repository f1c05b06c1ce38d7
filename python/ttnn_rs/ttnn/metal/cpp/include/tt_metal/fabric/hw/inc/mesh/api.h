// Packets across a mesh: to a chip, or to the chips around one. The target of a write may be a page.
#pragma once

#include "tt_metal/fabric/hw/inc/api_common.h"
#include "tt_metal/fabric/hw/inc/mesh/addrgen_api.h"

using namespace tt::tt_fabric::common::experimental;

namespace tt::tt_fabric::mesh::experimental {

namespace fabric_detail = tt::tt_fabric::common::experimental::fabric_detail;

template <typename T, typename = void>
struct is_addrgen : std::false_type {};
template <typename T>
struct is_addrgen<T, std::void_t<decltype(std::declval<const T&>().get_noc_addr(0))>> : std::true_type {};

// Hops to each side of a chip.
struct MeshMcastRange {
    std::uint8_t e;
    std::uint8_t w;
    std::uint8_t n;
    std::uint8_t s;
};

namespace mesh_detail {

FORCE_INLINE void set_route(
    volatile PACKET_HEADER_TYPE* header, std::uint16_t device, std::uint16_t mesh, const MeshMcastRange& ranges) {
    fabric_set_mcast_route(
        reinterpret_cast<volatile HybridMeshPacketHeader*>(header), device, mesh, ranges.e, ranges.w, ranges.n,
        ranges.s);
}
FORCE_INLINE void set_route(volatile PACKET_HEADER_TYPE* header, std::uint16_t device, std::uint16_t mesh) {
    fabric_set_unicast_route(reinterpret_cast<volatile HybridMeshPacketHeader*>(header), device, mesh);
}

// Where a connection leads, which only managers in two dimensions know.
template <typename Slot>
FORCE_INLINE std::pair<std::uint16_t, std::uint16_t> end_of(const Slot& slot) {
    if constexpr (requires { slot.dst_dev_id; }) {
        return {slot.dst_dev_id, slot.dst_mesh_id};
    } else {
        ttnn_rs::check_mesh_header("RoutingPlaneConnectionManager");
        return {};
    }
}

// Calls a function with address, place and size of each packet of a page: the last one separately.
template <typename AddrGenType, typename Each, typename Last>
FORCE_INLINE void for_each_packet(
    const AddrGenType& addrgen, std::uint32_t page_id, std::uint32_t offset, std::uint32_t source, Each each,
    Last last) {
    std::uint32_t rest = addrgen_detail::get_page_size(addrgen);
    const auto send = [&](auto function, std::uint32_t size) {
        // The header may still be on its way.
        noc_async_writes_flushed();
        function(addrgen_detail::get_noc_address(addrgen, page_id, offset), source, size);
        source += size;
        offset += size;
        rest -= size;
    };
    while (rest > FABRIC_MAX_PACKET_SIZE) {
        send(each, FABRIC_MAX_PACKET_SIZE);
    }
    send(last, rest);
}
template <typename AddrGenType>
FORCE_INLINE std::uint32_t first_packet(const AddrGenType& addrgen) {
    return std::min(addrgen_detail::get_page_size(addrgen), FABRIC_MAX_PACKET_SIZE);
}
template <typename AddrGenType>
FORCE_INLINE NocUnicastScatterCommandHeader two_pages(
    const AddrGenType& addrgen, std::uint32_t page_id0, std::uint32_t page_id1, std::uint32_t offset0,
    std::uint32_t offset1) {
    return NocUnicastScatterCommandHeader(
        {addrgen_detail::get_noc_address(addrgen, page_id0, offset0),
         addrgen_detail::get_noc_address(addrgen, page_id1, offset1)},
        {static_cast<std::uint16_t>(addrgen_detail::get_page_size(addrgen))});
}

}  // namespace mesh_detail

// RANGES: a parameter for the ranges of a multicast, or none; EACH: an array of them for the connections. TO: the
// arguments of a route; AT: the ranges of connection i. FLAG, KEEP: whether a function of managers may keep the route
// that the header has.
#define TTNN_RS_MESH(NAME, KIND, RANGES, EACH, TO, AT, FLAG, KEEP)                                                     \
    template <typename FabricSenderType, bool SetRoute = true>                                                         \
    FORCE_INLINE void NAME(                                                                                            \
        tt_l1_ptr FabricSenderType* client_interface, volatile PACKET_HEADER_TYPE* packet_header,                      \
        std::uint8_t dst_dev_id, std::uint16_t dst_mesh_id RANGES, std::uint32_t src_addr, std::uint32_t size,         \
        fabric_detail::KIND::Command command_header) {                                                                 \
        if constexpr (SetRoute) {                                                                                      \
            mesh_detail::set_route(packet_header, dst_dev_id, dst_mesh_id TO);                                         \
        }                                                                                                              \
        fabric_detail::KIND::set(packet_header, command_header, size);                                                 \
        fabric_detail::send(client_interface, packet_header, src_addr, size);                                          \
    }                                                                                                                  \
    FLAG FORCE_INLINE void NAME(                                                                                       \
        RoutingPlaneConnectionManager& connection_manager, std::uint8_t route_id EACH, std::uint32_t src_addr,         \
        std::uint32_t size, fabric_detail::KIND::Command command_header) {                                             \
        fabric_detail::each(connection_manager, route_id, [&](auto& slot, auto packet_header, std::uint8_t i) {        \
            const auto [device, mesh] = mesh_detail::end_of(slot);                                                     \
            NAME<RoutingPlaneConnectionManager::Sender, KEEP>(                                                         \
                &slot.sender, packet_header, device, mesh AT, src_addr, size, command_header);                         \
        });                                                                                                            \
    }                                                                                                                  \
    TTNN_RS_FABRIC_WITH_STATE(NAME, KIND)                                                                              \
    template <fabric_detail::KIND::Mask UpdateMask, typename CommandHeaderT = std::nullptr_t>                          \
    FORCE_INLINE void NAME##_set_state(                                                                                \
        volatile PACKET_HEADER_TYPE* packet_header, std::uint8_t dst_dev_id, std::uint16_t dst_mesh_id RANGES,         \
        CommandHeaderT command_header = nullptr, std::uint16_t packet_size_bytes = 0) {                                \
        mesh_detail::set_route(packet_header, dst_dev_id, dst_mesh_id TO);                                             \
        packet_header->noc_send_type = fabric_detail::KIND::type;                                                      \
        fabric_detail::KIND::change<UpdateMask>(packet_header, command_header, packet_size_bytes);                     \
    }                                                                                                                  \
    template <fabric_detail::KIND::Mask UpdateMask, typename CommandHeaderT = std::nullptr_t>                          \
    FORCE_INLINE void NAME##_set_state(                                                                                \
        RoutingPlaneConnectionManager& connection_manager, std::uint8_t route_id EACH,                                 \
        CommandHeaderT command_header = nullptr, std::uint16_t packet_size_bytes = 0) {                                \
        fabric_detail::each(connection_manager, route_id, [&](auto& slot, auto packet_header, std::uint8_t i) {        \
            const auto [device, mesh] = mesh_detail::end_of(slot);                                                     \
            NAME##_set_state<UpdateMask>(packet_header, device, mesh AT, command_header, packet_size_bytes);           \
        });                                                                                                            \
    }
#define TTNN_RS_MESH_WORD(NAME, KIND, RANGES, EACH, TO, AT, FLAG, KEEP)                                                \
    template <typename FabricSenderType>                                                                               \
    FORCE_INLINE void NAME(                                                                                            \
        tt_l1_ptr FabricSenderType* client_interface, volatile PACKET_HEADER_TYPE* packet_header,                      \
        std::uint8_t dst_dev_id, std::uint16_t dst_mesh_id RANGES, fabric_detail::KIND::Command command_header) {      \
        mesh_detail::set_route(packet_header, dst_dev_id, dst_mesh_id TO);                                             \
        fabric_detail::KIND::set(packet_header, command_header);                                                       \
        fabric_detail::send(client_interface, packet_header);                                                          \
    }                                                                                                                  \
    FORCE_INLINE void NAME(                                                                                            \
        RoutingPlaneConnectionManager& connection_manager, std::uint8_t route_id EACH,                                 \
        fabric_detail::KIND::Command command_header) {                                                                 \
        fabric_detail::each(connection_manager, route_id, [&](auto& slot, auto packet_header, std::uint8_t i) {        \
            const auto [device, mesh] = mesh_detail::end_of(slot);                                                     \
            NAME(&slot.sender, packet_header, device, mesh AT, command_header);                                        \
        });                                                                                                            \
    }                                                                                                                  \
    TTNN_RS_FABRIC_WORD_WITH_STATE(NAME, KIND)                                                                         \
    template <                                                                                                         \
        fabric_detail::KIND::Mask UpdateMask = fabric_detail::KIND::Mask::None,                                        \
        typename CommandHeaderT = std::nullptr_t>                                                                      \
    FORCE_INLINE void NAME##_set_state(                                                                                \
        volatile PACKET_HEADER_TYPE* packet_header, std::uint8_t dst_dev_id, std::uint16_t dst_mesh_id RANGES,         \
        CommandHeaderT command_header = nullptr) {                                                                     \
        mesh_detail::set_route(packet_header, dst_dev_id, dst_mesh_id TO);                                             \
        packet_header->noc_send_type = fabric_detail::KIND::type;                                                      \
        packet_header->payload_size_bytes = 0;                                                                         \
        fabric_detail::KIND::change<UpdateMask>(packet_header, command_header);                                        \
    }                                                                                                                  \
    template <                                                                                                         \
        fabric_detail::KIND::Mask UpdateMask = fabric_detail::KIND::Mask::None,                                        \
        typename CommandHeaderT = std::nullptr_t>                                                                      \
    FORCE_INLINE void NAME##_set_state(                                                                                \
        RoutingPlaneConnectionManager& connection_manager, std::uint8_t route_id EACH,                                 \
        CommandHeaderT command_header = nullptr) {                                                                     \
        fabric_detail::each(connection_manager, route_id, [&](auto& slot, auto packet_header, std::uint8_t i) {        \
            const auto [device, mesh] = mesh_detail::end_of(slot);                                                     \
            NAME##_set_state<UpdateMask>(packet_header, device, mesh AT, command_header);                              \
        });                                                                                                            \
    }

#define TTNN_RS_COMMA ,
#define TTNN_RS_UNICAST(MACRO, NAME, KIND)                                                                             \
    MACRO(fabric_unicast_noc_##NAME, KIND, , , , , template <bool SetRoute = true>, SetRoute)
#define TTNN_RS_MULTICAST(MACRO, NAME, KIND)                                                                           \
    MACRO(                                                                                                             \
        fabric_multicast_noc_##NAME, KIND, TTNN_RS_COMMA const MeshMcastRange& ranges,                                 \
        TTNN_RS_COMMA const MeshMcastRange* ranges, TTNN_RS_COMMA ranges, TTNN_RS_COMMA ranges[i], , true)

TTNN_RS_UNICAST(TTNN_RS_MESH, unicast_write, Write)
TTNN_RS_UNICAST(TTNN_RS_MESH, scatter_write, Scatter)
TTNN_RS_UNICAST(TTNN_RS_MESH, fused_unicast_with_atomic_inc, FusedWrite)
TTNN_RS_UNICAST(TTNN_RS_MESH, fused_scatter_write_atomic_inc, FusedScatter)
TTNN_RS_UNICAST(TTNN_RS_MESH_WORD, unicast_atomic_inc, Increment)
TTNN_RS_UNICAST(TTNN_RS_MESH_WORD, unicast_inline_write, InlineWrite)
TTNN_RS_MULTICAST(TTNN_RS_MESH, unicast_write, Write)
TTNN_RS_MULTICAST(TTNN_RS_MESH, scatter_write, Scatter)
TTNN_RS_MULTICAST(TTNN_RS_MESH, fused_unicast_with_atomic_inc, FusedWrite)
TTNN_RS_MULTICAST(TTNN_RS_MESH, fused_scatter_write_atomic_inc, FusedScatter)
TTNN_RS_MULTICAST(TTNN_RS_MESH_WORD, unicast_atomic_inc, Increment)
TTNN_RS_MULTICAST(TTNN_RS_MESH_WORD, unicast_inline_write, InlineWrite)

#undef TTNN_RS_MULTICAST
#undef TTNN_RS_UNICAST
#undef TTNN_RS_MESH_WORD
#undef TTNN_RS_MESH

// The same for pages, in as many packets as a page needs; an increment comes with its last packet.

#define TTNN_RS_MESH_PAGES(TARGET, RANGES, TO, STATE_ROUTE, WITH_STATE, SET_STATE)                                     \
    template <typename FabricSenderType, typename AddrGenType>                                                         \
    FORCE_INLINE void fabric_##TARGET##_noc_unicast_write(                                                             \
        tt_l1_ptr FabricSenderType* client_interface, volatile PACKET_HEADER_TYPE* packet_header,                      \
        std::uint8_t dst_dev_id, std::uint16_t dst_mesh_id RANGES, std::uint32_t src_addr,                             \
        const AddrGenType& addrgen, std::uint32_t page_id, std::uint32_t offset = 0) {                                 \
        mesh_detail::set_route(packet_header, dst_dev_id, dst_mesh_id TO);                                             \
        const auto send = [&](std::uint64_t address, std::uint32_t source, std::uint32_t size) {                       \
            fabric_##TARGET##_noc_unicast_write<FabricSenderType, false>(                                              \
                client_interface, packet_header, dst_dev_id, dst_mesh_id TO, source, size,                             \
                NocUnicastCommandHeader{address});                                                                     \
        };                                                                                                             \
        mesh_detail::for_each_packet(addrgen, page_id, offset, src_addr, send, send);                                  \
    }                                                                                                                  \
    template <                                                                                                         \
        UnicastWriteUpdateMask UpdateMask = UnicastWriteUpdateMask::All, typename FabricSenderType,                    \
        typename AddrGenType, typename = std::enable_if_t<is_addrgen<AddrGenType>::value>>                             \
    FORCE_INLINE void fabric_##TARGET##_noc_unicast_write_with_state(                                                  \
        tt_l1_ptr FabricSenderType* client_interface, volatile PACKET_HEADER_TYPE* packet_header,                      \
        [[maybe_unused]] std::uint8_t dst_dev_id, [[maybe_unused]] std::uint16_t dst_mesh_id RANGES,                   \
        std::uint32_t src_addr, const AddrGenType& addrgen, std::uint32_t page_id, std::uint32_t offset = 0) {         \
        const auto send = [&](std::uint64_t address, std::uint32_t source, std::uint32_t size) {                       \
            fabric_##TARGET##_noc_unicast_write_with_state<UpdateMask>(                                                \
                client_interface, packet_header, source, NocUnicastCommandHeader{address}, size);                      \
        };                                                                                                             \
        mesh_detail::for_each_packet(addrgen, page_id, offset, src_addr, send, send);                                  \
    }                                                                                                                  \
    template <                                                                                                         \
        UnicastWriteUpdateMask UpdateMask = UnicastWriteUpdateMask::All, typename AddrGenType,                         \
        typename = std::enable_if_t<is_addrgen<AddrGenType>::value>>                                                   \
    FORCE_INLINE void fabric_##TARGET##_noc_unicast_write_set_state(                                                   \
        volatile PACKET_HEADER_TYPE* packet_header, std::uint8_t dst_dev_id, std::uint16_t dst_mesh_id RANGES,         \
        const AddrGenType& addrgen, std::uint32_t page_id, std::uint32_t offset = 0) {                                 \
        fabric_##TARGET##_noc_unicast_write_set_state<UpdateMask>(                                                     \
            packet_header, dst_dev_id, dst_mesh_id TO,                                                                 \
            NocUnicastCommandHeader{addrgen_detail::get_noc_address(addrgen, page_id, offset)},                        \
            mesh_detail::first_packet(addrgen));                                                                       \
    }                                                                                                                  \
    template <typename FabricSenderType, typename AddrGenType>                                                         \
    FORCE_INLINE void fabric_##TARGET##_noc_fused_unicast_with_atomic_inc(                                             \
        tt_l1_ptr FabricSenderType* client_interface, volatile PACKET_HEADER_TYPE* packet_header,                      \
        std::uint8_t dst_dev_id, std::uint16_t dst_mesh_id RANGES, std::uint32_t src_addr,                             \
        const AddrGenType& addrgen, std::uint32_t page_id, std::uint64_t semaphore_noc_address, std::uint16_t val,     \
        std::uint32_t offset = 0, bool flush = true) {                                                                 \
        mesh_detail::set_route(packet_header, dst_dev_id, dst_mesh_id TO);                                             \
        mesh_detail::for_each_packet(                                                                                  \
            addrgen, page_id, offset, src_addr,                                                                        \
            [&](std::uint64_t address, std::uint32_t source, std::uint32_t size) {                                     \
                fabric_##TARGET##_noc_unicast_write<FabricSenderType, false>(                                          \
                    client_interface, packet_header, dst_dev_id, dst_mesh_id TO, source, size,                         \
                    NocUnicastCommandHeader{address});                                                                 \
            },                                                                                                         \
            [&](std::uint64_t address, std::uint32_t source, std::uint32_t size) {                                     \
                fabric_##TARGET##_noc_fused_unicast_with_atomic_inc<FabricSenderType, false>(                          \
                    client_interface, packet_header, dst_dev_id, dst_mesh_id TO, source, size,                         \
                    NocUnicastAtomicIncFusedCommandHeader{address, semaphore_noc_address, val, flush});                \
            });                                                                                                        \
    }                                                                                                                  \
    template <                                                                                                         \
        UnicastFusedAtomicIncUpdateMask UpdateMask = WITH_STATE,                                                       \
        typename FabricSenderType, typename AddrGenType,                                                               \
        typename = std::enable_if_t<is_addrgen<AddrGenType>::value>>                                                   \
    FORCE_INLINE void fabric_##TARGET##_noc_fused_unicast_with_atomic_inc_with_state(                                  \
        tt_l1_ptr FabricSenderType* client_interface,                                                                  \
        volatile PACKET_HEADER_TYPE* packet_header STATE_ROUTE, std::uint32_t src_addr,                                \
        const AddrGenType& addrgen, std::uint32_t page_id, std::uint64_t semaphore_noc_address, std::uint16_t val,     \
        std::uint32_t offset = 0, bool flush = true) {                                                                 \
        mesh_detail::for_each_packet(                                                                                  \
            addrgen, page_id, offset, src_addr,                                                                        \
            [&](std::uint64_t address, std::uint32_t source, std::uint32_t size) {                                     \
                packet_header->noc_send_type = NOC_UNICAST_WRITE;                                                      \
                fabric_##TARGET##_noc_unicast_write_with_state<UnicastWriteUpdateMask::All>(                           \
                    client_interface, packet_header, source, NocUnicastCommandHeader{address}, size);                  \
            },                                                                                                         \
            [&](std::uint64_t address, std::uint32_t source, std::uint32_t size) {                                     \
                packet_header->noc_send_type = NOC_FUSED_UNICAST_ATOMIC_INC;                                           \
                fabric_##TARGET##_noc_fused_unicast_with_atomic_inc_with_state<UpdateMask>(                            \
                    client_interface, packet_header, source,                                                           \
                    NocUnicastAtomicIncFusedCommandHeader{address, semaphore_noc_address, val, flush}, size);          \
            });                                                                                                        \
    }                                                                                                                  \
    template <                                                                                                         \
        UnicastFusedAtomicIncUpdateMask UpdateMask = SET_STATE, typename AddrGenType,                                  \
        typename = std::enable_if_t<is_addrgen<AddrGenType>::value>>                                                   \
    FORCE_INLINE void fabric_##TARGET##_noc_fused_unicast_with_atomic_inc_set_state(                                   \
        volatile PACKET_HEADER_TYPE* packet_header, std::uint8_t dst_dev_id, std::uint16_t dst_mesh_id RANGES,         \
        const AddrGenType& addrgen, std::uint32_t page_id, std::uint64_t semaphore_noc_address, std::uint16_t val,     \
        std::uint32_t offset = 0, bool flush = true) {                                                                 \
        fabric_##TARGET##_noc_fused_unicast_with_atomic_inc_set_state<UpdateMask>(                                     \
            packet_header, dst_dev_id, dst_mesh_id TO,                                                                 \
            NocUnicastAtomicIncFusedCommandHeader{                                                                     \
                addrgen_detail::get_noc_address(addrgen, page_id, offset), semaphore_noc_address, val, flush},         \
            mesh_detail::first_packet(addrgen));                                                                       \
    }                                                                                                                  \
    template <typename FabricSenderType, typename AddrGenType>                                                         \
    FORCE_INLINE void fabric_##TARGET##_noc_scatter_write(                                                             \
        tt_l1_ptr FabricSenderType* client_interface, volatile PACKET_HEADER_TYPE* packet_header,                      \
        std::uint8_t dst_dev_id, std::uint16_t dst_mesh_id RANGES, std::uint32_t src_addr,                             \
        const AddrGenType& addrgen, std::uint32_t page_id0, std::uint32_t page_id1, std::uint32_t offset0 = 0,         \
        std::uint32_t offset1 = 0) {                                                                                   \
        fabric_##TARGET##_noc_scatter_write(                                                                           \
            client_interface, packet_header, dst_dev_id, dst_mesh_id TO, src_addr,                                     \
            2 * addrgen_detail::get_page_size(addrgen),                                                                \
            mesh_detail::two_pages(addrgen, page_id0, page_id1, offset0, offset1));                                    \
    }                                                                                                                  \
    template <                                                                                                         \
        UnicastScatterWriteUpdateMask UpdateMask = UnicastScatterWriteUpdateMask::All, typename FabricSenderType,      \
        typename AddrGenType, typename = std::enable_if_t<is_addrgen<AddrGenType>::value>>                             \
    FORCE_INLINE void fabric_##TARGET##_noc_scatter_write_with_state(                                                  \
        tt_l1_ptr FabricSenderType* client_interface, volatile PACKET_HEADER_TYPE* packet_header,                      \
        [[maybe_unused]] std::uint8_t dst_dev_id, [[maybe_unused]] std::uint16_t dst_mesh_id RANGES,                   \
        std::uint32_t src_addr, const AddrGenType& addrgen, std::uint32_t page_id0, std::uint32_t page_id1,            \
        std::uint32_t offset0 = 0, std::uint32_t offset1 = 0) {                                                        \
        fabric_##TARGET##_noc_scatter_write_with_state<UpdateMask>(                                                    \
            client_interface, packet_header, src_addr,                                                                 \
            mesh_detail::two_pages(addrgen, page_id0, page_id1, offset0, offset1),                                     \
            2 * addrgen_detail::get_page_size(addrgen));                                                               \
    }                                                                                                                  \
    template <                                                                                                         \
        UnicastScatterWriteUpdateMask UpdateMask = UnicastScatterWriteUpdateMask::All, typename AddrGenType,           \
        typename = std::enable_if_t<is_addrgen<AddrGenType>::value>>                                                   \
    FORCE_INLINE void fabric_##TARGET##_noc_scatter_write_set_state(                                                   \
        volatile PACKET_HEADER_TYPE* packet_header, std::uint8_t dst_dev_id, std::uint16_t dst_mesh_id RANGES,         \
        const AddrGenType& addrgen, std::uint32_t page_id0, std::uint32_t page_id1, std::uint32_t offset0 = 0,         \
        std::uint32_t offset1 = 0) {                                                                                   \
        fabric_##TARGET##_noc_scatter_write_set_state<UpdateMask>(                                                     \
            packet_header, dst_dev_id, dst_mesh_id TO,                                                                 \
            mesh_detail::two_pages(addrgen, page_id0, page_id1, offset0, offset1),                                     \
            2 * addrgen_detail::get_page_size(addrgen));                                                               \
    }

TTNN_RS_MESH_PAGES(
    unicast, , , TTNN_RS_COMMA std::uint8_t TTNN_RS_COMMA std::uint16_t,
    (UnicastFusedAtomicIncUpdateMask::WriteDstAddr | UnicastFusedAtomicIncUpdateMask::PayloadSize),
    UnicastFusedAtomicIncUpdateMask::All)
TTNN_RS_MESH_PAGES(
    multicast, TTNN_RS_COMMA const MeshMcastRange& ranges, TTNN_RS_COMMA ranges, ,
    (UnicastFusedAtomicIncUpdateMask::WriteDstAddr | UnicastFusedAtomicIncUpdateMask::SemaphoreAddr |
     UnicastFusedAtomicIncUpdateMask::PayloadSize),
    UnicastFusedAtomicIncUpdateMask::None)

#undef TTNN_RS_MESH_PAGES
#undef TTNN_RS_COMMA

#ifdef FABRIC_2D

namespace mesh_detail {

// Sends one branch of a multicast around this chip through the connection in whose direction it starts.
template <typename Set, typename Send>
FORCE_INLINE void inject(
    RoutingPlaneConnectionManager& manager, std::uint8_t route_id, const MeshMcastRange& branch, Set set, Send send) {
    const bool column = branch.n != 0 || branch.s != 0;
    if (column ? branch.n != 0 && branch.s != 0 : (branch.e != 0) == (branch.w != 0)) {
        tt_call_invalid("fabric_multicast_source_inject", "a branch starts in one direction");
    }
    const auto direction = branch.n != 0 ? NORTH : branch.s != 0 ? SOUTH : branch.e != 0 ? EAST : WEST;
    const auto header = PacketHeaderPool::header_table[route_id].first;
    set_route(header, manager.my_chip_id, manager.my_mesh_id, branch);
    set(header);
    for (std::uint32_t i = 0; i < manager.active_count(); ++i) {
        if (manager.get_tag(i) == direction) {
            send(&manager.get(i).sender, header);
            return;
        }
    }
    tt_call_invalid("fabric_multicast_source_inject", "there is no connection in the direction of the branch");
}

}  // namespace mesh_detail

#define TTNN_RS_INJECT(NAME, KIND)                                                                                     \
    FORCE_INLINE void fabric_multicast_source_inject_noc_##NAME(                                                       \
        RoutingPlaneConnectionManager& connection_manager, std::uint8_t route_id, const MeshMcastRange& branch,        \
        std::uint32_t src_addr, std::uint32_t size, fabric_detail::KIND::Command command_header) {                     \
        mesh_detail::inject(                                                                                           \
            connection_manager, route_id, branch,                                                                      \
            [&](auto header) { fabric_detail::KIND::set(header, command_header, size); },                              \
            [&](auto sender, auto header) { fabric_detail::send(sender, header, src_addr, size); });                   \
    }
TTNN_RS_INJECT(unicast_write, Write)
TTNN_RS_INJECT(fused_unicast_with_atomic_inc, FusedWrite)
TTNN_RS_INJECT(fused_scatter_write_atomic_inc, FusedScatter)
#undef TTNN_RS_INJECT

FORCE_INLINE void fabric_multicast_source_inject_noc_unicast_atomic_inc(
    RoutingPlaneConnectionManager& connection_manager, std::uint8_t route_id, const MeshMcastRange& branch,
    NocUnicastAtomicIncCommandHeader noc_unicast_atomic_inc_command_header) {
    mesh_detail::inject(
        connection_manager, route_id, branch,
        [&](auto header) { header->to_noc_unicast_atomic_inc(noc_unicast_atomic_inc_command_header); },
        [&](auto sender, auto header) { fabric_detail::send(sender, header); });
}

#endif

}  // namespace tt::tt_fabric::mesh::experimental
