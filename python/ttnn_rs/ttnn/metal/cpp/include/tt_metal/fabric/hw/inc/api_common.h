// What the functions for lines and for meshes have in common: commands, masks of their fields, sends.
#pragma once

#include "tt_metal/fabric/hw/inc/edm_fabric/routing_plane_connection_manager.hpp"
#include "tt_metal/fabric/hw/inc/packet_header_pool.h"
#include "tt_metal/fabric/hw/inc/tt_fabric_api.h"
#include "tt_metal/fabric/hw/inc/tt_fabric_mux_interface.hpp"

namespace tt::tt_fabric {

template <bool EAGER_STAGING, std::uint8_t NUM_BUFFERS>
class FabricMuxV2Sender;

namespace common::experimental {

// Fields of a command that a call changes.
enum class UnicastWriteUpdateMask : std::uint32_t { None = 0, DstAddr = 1, PayloadSize = 2, All = 3 };
enum class UnicastInlineWriteUpdateMask : std::uint32_t { None = 0, DstAddr = 1, Value = 2, All = 3 };
enum class UnicastAtomicIncUpdateMask : std::uint32_t { None = 0, DstAddr = 1, Val = 2, Flush = 4, All = 7 };
enum class UnicastScatterWriteUpdateMask : std::uint32_t {
    None = 0,
    DstAddrs = 1,
    ChunkSizes = 2,
    PayloadSize = 4,
    All = 7
};
enum class UnicastFusedAtomicIncUpdateMask : std::uint32_t {
    None = 0,
    WriteDstAddr = 1,
    SemaphoreAddr = 2,
    Val = 4,
    Flush = 8,
    PayloadSize = 16,
    All = 31
};
enum class UnicastFusedScatterWriteAtomicIncUpdateMask : std::uint32_t {
    None = 0,
    WriteDstAddrs = 1,
    SemaphoreDstAddr = 2,
    WriteChunkSizes = 4,
    Val = 8,
    Flush = 16,
    PayloadSize = 32,
    All = 63
};

template <typename Mask>
concept UpdateMask = std::is_same_v<Mask, UnicastWriteUpdateMask> ||
    std::is_same_v<Mask, UnicastInlineWriteUpdateMask> || std::is_same_v<Mask, UnicastAtomicIncUpdateMask> ||
    std::is_same_v<Mask, UnicastScatterWriteUpdateMask> || std::is_same_v<Mask, UnicastFusedAtomicIncUpdateMask> ||
    std::is_same_v<Mask, UnicastFusedScatterWriteAtomicIncUpdateMask>;

template <UpdateMask Mask>
constexpr Mask operator|(Mask a, Mask b) {
    return static_cast<Mask>(static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b));
}
template <UpdateMask Mask>
constexpr Mask operator&(Mask a, Mask b) {
    return static_cast<Mask>(static_cast<std::uint32_t>(a) & static_cast<std::uint32_t>(b));
}
template <UpdateMask Mask>
constexpr bool has_flag(Mask mask, Mask bit) {
    return (mask & bit) != Mask::None;
}

template <typename T>
struct is_mux_sender : std::false_type {};
template <std::uint8_t N>
struct is_mux_sender<WorkerToFabricMuxSender<N>> : std::true_type {};
template <typename T>
constexpr bool is_mux_sender_v = is_mux_sender<T>::value;

template <typename T>
struct is_edm_sender : std::is_same<T, WorkerToFabricEdmSender> {};
template <typename T>
constexpr bool is_edm_sender_v = is_edm_sender<T>::value;

template <typename T>
struct is_fabric_mux_v2_sender : std::false_type {};
template <bool E, std::uint8_t N>
struct is_fabric_mux_v2_sender<FabricMuxV2Sender<E, N>> : std::true_type {};
template <typename T>
constexpr bool is_fabric_mux_v2_sender_v = is_fabric_mux_v2_sender<T>::value;

template <typename FabricSenderType>
struct CheckFabricSenderType {
    static_assert(
        is_edm_sender_v<FabricSenderType> || is_mux_sender_v<FabricSenderType> ||
            is_fabric_mux_v2_sender_v<FabricSenderType>,
        "a sender is a WorkerToFabricEdmSender, a WorkerToFabricMuxSender or a FabricMuxV2Sender");
};

namespace fabric_detail {

// Whether a call changes a field: then it has to bring a command.
template <auto Mask, decltype(Mask) Bit, typename CommandHeaderT>
constexpr bool changes() {
    static_assert(
        !has_flag(Mask, Bit) || !std::is_same_v<CommandHeaderT, std::nullptr_t>,
        "the mask names fields of a command that is not given");
    return has_flag(Mask, Bit);
}

}  // namespace fabric_detail

template <UnicastWriteUpdateMask Mask, typename CommandHeaderT>
FORCE_INLINE void populate_unicast_write_fields(
    volatile PACKET_HEADER_TYPE* packet_header, std::uint16_t packet_size_bytes, const CommandHeaderT& command_header) {
    using enum UnicastWriteUpdateMask;
    if constexpr (fabric_detail::changes<Mask, DstAddr, CommandHeaderT>()) {
        packet_header->command_fields.unicast_write.noc_address = command_header.noc_address;
    }
    if constexpr (has_flag(Mask, PayloadSize)) {
        packet_header->payload_size_bytes = packet_size_bytes;
    }
}

template <UnicastInlineWriteUpdateMask Mask, typename CommandHeaderT>
FORCE_INLINE void populate_unicast_inline_fields(
    volatile PACKET_HEADER_TYPE* packet_header, const CommandHeaderT& command_header) {
    using enum UnicastInlineWriteUpdateMask;
    volatile auto& fields = packet_header->command_fields.unicast_inline_write;
    if constexpr (fabric_detail::changes<Mask, DstAddr, CommandHeaderT>()) {
        fields.noc_address = command_header.noc_address;
    }
    if constexpr (fabric_detail::changes<Mask, Value, CommandHeaderT>()) {
        fields.value = command_header.value;
    }
}

template <UnicastAtomicIncUpdateMask Mask, typename CommandHeaderT>
FORCE_INLINE void populate_unicast_atomic_inc_fields(
    volatile PACKET_HEADER_TYPE* packet_header, const CommandHeaderT& command_header) {
    using enum UnicastAtomicIncUpdateMask;
    volatile auto& fields = packet_header->command_fields.unicast_seminc;
    if constexpr (fabric_detail::changes<Mask, DstAddr, CommandHeaderT>()) {
        fields.noc_address = command_header.noc_address;
    }
    if constexpr (fabric_detail::changes<Mask, Val, CommandHeaderT>()) {
        fields.val = command_header.val;
    }
    if constexpr (fabric_detail::changes<Mask, Flush, CommandHeaderT>()) {
        fields.flush = command_header.flush;
    }
}

template <UnicastScatterWriteUpdateMask Mask, typename CommandHeaderT>
FORCE_INLINE void populate_unicast_scatter_write_fields(
    volatile PACKET_HEADER_TYPE* packet_header, std::uint16_t packet_size_bytes, const CommandHeaderT& command_header) {
    using enum UnicastScatterWriteUpdateMask;
    volatile auto& fields = packet_header->command_fields.unicast_scatter_write;
    if constexpr (fabric_detail::changes<Mask, DstAddrs, CommandHeaderT>()) {
        for (std::uint32_t i = 0; i < NOC_SCATTER_WRITE_MAX_CHUNKS; ++i) {
            fields.noc_address[i] = i < command_header.chunk_count ? command_header.noc_address[i] : 0;
        }
        fields.chunk_count = command_header.chunk_count;
    }
    if constexpr (fabric_detail::changes<Mask, ChunkSizes, CommandHeaderT>()) {
        for (std::uint32_t i = 0; i < NOC_SCATTER_WRITE_MAX_CHUNKS - 1; ++i) {
            fields.chunk_size[i] = i + 1 < command_header.chunk_count ? command_header.chunk_size[i] : 0;
        }
        fields.chunk_count = command_header.chunk_count;
    }
    if constexpr (has_flag(Mask, PayloadSize)) {
        packet_header->payload_size_bytes = packet_size_bytes;
    }
    fields.chunk_encoding = expand_encoding_to_all_chunks(CHUNK_ENCODING_UNICAST_WRITE);
}

template <UnicastFusedAtomicIncUpdateMask Mask, typename CommandHeaderT>
FORCE_INLINE void populate_unicast_fused_atomic_inc_fields(
    volatile PACKET_HEADER_TYPE* packet_header, std::uint16_t packet_size_bytes, const CommandHeaderT& command_header) {
    using enum UnicastFusedAtomicIncUpdateMask;
    volatile auto& fields = packet_header->command_fields.unicast_seminc_fused;
    if constexpr (fabric_detail::changes<Mask, WriteDstAddr, CommandHeaderT>()) {
        fields.noc_address = command_header.noc_address;
    }
    if constexpr (fabric_detail::changes<Mask, SemaphoreAddr, CommandHeaderT>()) {
        fields.semaphore_noc_address = command_header.semaphore_noc_address;
    }
    if constexpr (fabric_detail::changes<Mask, Val, CommandHeaderT>()) {
        fields.val = command_header.val;
    }
    if constexpr (fabric_detail::changes<Mask, Flush, CommandHeaderT>()) {
        fields.flush = command_header.flush;
    }
    if constexpr (has_flag(Mask, PayloadSize)) {
        packet_header->payload_size_bytes = packet_size_bytes;
    }
}

template <UnicastFusedScatterWriteAtomicIncUpdateMask Mask, typename CommandHeaderT>
FORCE_INLINE void populate_unicast_fused_scatter_write_atomic_inc_fields(
    volatile PACKET_HEADER_TYPE* packet_header, std::uint16_t packet_size_bytes, const CommandHeaderT& command_header) {
    using enum UnicastFusedScatterWriteAtomicIncUpdateMask;
    volatile auto& fields = packet_header->command_fields.unicast_scatter_write;
    constexpr std::uint32_t writes = NOC_SCATTER_WRITE_ATOMIC_INC_FUSED_WRITE_CHUNKS;
    fields.chunk_count = writes + 1;
    if constexpr (fabric_detail::changes<Mask, WriteDstAddrs, CommandHeaderT>()) {
        fields.noc_address[0] = command_header.noc_address[0];
        fields.noc_address[1] = command_header.noc_address[1];
    }
    if constexpr (fabric_detail::changes<Mask, SemaphoreDstAddr, CommandHeaderT>()) {
        fields.noc_address[writes] = command_header.semaphore_noc_address;
    }
    if constexpr (fabric_detail::changes<Mask, WriteChunkSizes, CommandHeaderT>()) {
        fields.chunk_size[0] = command_header.chunk_size[0];
        fields.chunk_size[1] = packet_size_bytes - command_header.chunk_size[0];
    }
    if constexpr (fabric_detail::changes<Mask, Val, CommandHeaderT>()) {
        fields.chunk_size[writes] = command_header.val;
    }
    if constexpr (fabric_detail::changes<Mask, Flush, CommandHeaderT>()) {
        const auto increment = command_header.flush ? CHUNK_ENCODING_SEMINC_FLUSH : CHUNK_ENCODING_SEMINC_NO_FLUSH;
        fields.chunk_encoding = CHUNK_ENCODING_UNICAST_WRITE * 5 | increment << 4;
    }
    if constexpr (has_flag(Mask, PayloadSize)) {
        packet_header->payload_size_bytes = packet_size_bytes;
    }
}

namespace fabric_detail {

// The commands: send type, mask, how a header gets all fields of one or those of a mask.
struct Write {
    using Mask = UnicastWriteUpdateMask;
    using Command = NocUnicastCommandHeader;
    static constexpr NocSendType type = NOC_UNICAST_WRITE;
    FORCE_INLINE static void set(volatile PACKET_HEADER_TYPE* header, const Command& command, std::uint32_t size) {
        header->to_noc_unicast_write(command, size);
    }
    template <Mask mask, typename C>
    FORCE_INLINE static void change(volatile PACKET_HEADER_TYPE* header, const C& command, std::uint16_t size) {
        populate_unicast_write_fields<mask>(header, size, command);
    }
};
struct Scatter {
    using Mask = UnicastScatterWriteUpdateMask;
    using Command = NocUnicastScatterCommandHeader;
    static constexpr NocSendType type = NOC_UNICAST_SCATTER_WRITE;
    FORCE_INLINE static void set(volatile PACKET_HEADER_TYPE* header, const Command& command, std::uint32_t size) {
        header->to_noc_unicast_scatter_write(command, size);
    }
    template <Mask mask, typename C>
    FORCE_INLINE static void change(volatile PACKET_HEADER_TYPE* header, const C& command, std::uint16_t size) {
        populate_unicast_scatter_write_fields<mask>(header, size, command);
    }
};
struct FusedWrite {
    using Mask = UnicastFusedAtomicIncUpdateMask;
    using Command = NocUnicastAtomicIncFusedCommandHeader;
    static constexpr NocSendType type = NOC_FUSED_UNICAST_ATOMIC_INC;
    FORCE_INLINE static void set(volatile PACKET_HEADER_TYPE* header, const Command& command, std::uint32_t size) {
        header->to_noc_fused_unicast_write_atomic_inc(command, size);
    }
    template <Mask mask, typename C>
    FORCE_INLINE static void change(volatile PACKET_HEADER_TYPE* header, const C& command, std::uint16_t size) {
        populate_unicast_fused_atomic_inc_fields<mask>(header, size, command);
    }
};
struct FusedScatter {
    using Mask = UnicastFusedScatterWriteAtomicIncUpdateMask;
    using Command = NocUnicastScatterAtomicIncFusedCommandHeader;
    static constexpr NocSendType type = NOC_UNICAST_SCATTER_WRITE;
    FORCE_INLINE static void set(volatile PACKET_HEADER_TYPE* header, const Command& command, std::uint32_t size) {
        header->to_noc_fused_unicast_scatter_write_atomic_inc(command, size);
    }
    template <Mask mask, typename C>
    FORCE_INLINE static void change(volatile PACKET_HEADER_TYPE* header, const C& command, std::uint16_t size) {
        populate_unicast_fused_scatter_write_atomic_inc_fields<mask>(header, size, command);
    }
};
struct Increment {
    using Mask = UnicastAtomicIncUpdateMask;
    using Command = NocUnicastAtomicIncCommandHeader;
    static constexpr NocSendType type = NOC_UNICAST_ATOMIC_INC;
    FORCE_INLINE static void set(volatile PACKET_HEADER_TYPE* header, const Command& command) {
        header->to_noc_unicast_atomic_inc(command);
    }
    template <Mask mask, typename C>
    FORCE_INLINE static void change(volatile PACKET_HEADER_TYPE* header, const C& command) {
        populate_unicast_atomic_inc_fields<mask>(header, command);
    }
};
struct InlineWrite {
    using Mask = UnicastInlineWriteUpdateMask;
    using Command = NocUnicastInlineWriteCommandHeader;
    static constexpr NocSendType type = NOC_UNICAST_INLINE_WRITE;
    FORCE_INLINE static void set(volatile PACKET_HEADER_TYPE* header, const Command& command) {
        header->to_noc_unicast_inline_write(command);
    }
    template <Mask mask, typename C>
    FORCE_INLINE static void change(volatile PACKET_HEADER_TYPE* header, const C& command) {
        populate_unicast_inline_fields<mask>(header, command);
    }
};

// One packet: a payload and a header, or a header alone.
template <typename FabricSenderType>
FORCE_INLINE void send(
    FabricSenderType* client, volatile PACKET_HEADER_TYPE* header, std::uint32_t source, std::uint32_t size) {
    [[maybe_unused]] CheckFabricSenderType<FabricSenderType> check;
    client->wait_for_empty_write_slot();
    client->send_payload_without_header_non_blocking_from_address(source, size);
    client->send_payload_flush_non_blocking_from_address(ttnn_rs::address_of(header), sizeof(PACKET_HEADER_TYPE));
}
template <typename FabricSenderType>
FORCE_INLINE void send(FabricSenderType* client, volatile PACKET_HEADER_TYPE* header) {
    [[maybe_unused]] CheckFabricSenderType<FabricSenderType> check;
    client->wait_for_empty_write_slot();
    client->send_payload_flush_non_blocking_from_address(ttnn_rs::address_of(header), sizeof(PACKET_HEADER_TYPE));
}

// Calls a function with the connection and the header of each direction of a route.
template <typename Function>
FORCE_INLINE void each(RoutingPlaneConnectionManager& manager, std::uint8_t route_id, Function function) {
    PacketHeaderPool::for_each_header(route_id, [&](volatile PACKET_HEADER_TYPE* header, std::uint8_t i) {
        function(manager.get(i), header, i);
    });
}

}  // namespace fabric_detail

template <std::uint8_t WORKER_HANDSHAKE_NOC = get_fabric_worker_noc(), bool sem_args_are_l1_addresses = false>
FORCE_INLINE void open_connections(
    RoutingPlaneConnectionManager& connection_manager, std::uint32_t num_connections_to_build,
    std::size_t& rt_arg_idx) {
    connection_manager = RoutingPlaneConnectionManager::build_from_args<
        RoutingPlaneConnectionManager::BUILD_AND_OPEN_CONNECTION, WORKER_HANDSHAKE_NOC, sem_args_are_l1_addresses>(
        rt_arg_idx, num_connections_to_build);
}
template <std::uint8_t WORKER_HANDSHAKE_NOC = get_fabric_worker_noc()>
FORCE_INLINE void close_connections(RoutingPlaneConnectionManager& connection_manager) {
    connection_manager.close<WORKER_HANDSHAKE_NOC>();
}

}  // namespace common::experimental
}  // namespace tt::tt_fabric

// Sends of a header whose fields are set: all, or those of a mask, come from a command. NAME is that of the official
// function, KIND a command of `fabric_detail`. The functions are the same for lines and meshes.
#define TTNN_RS_FABRIC_WITH_STATE(NAME, KIND)                                                                          \
    template <                                                                                                         \
        fabric_detail::KIND::Mask UpdateMask = fabric_detail::KIND::Mask::None, typename FabricSenderType,             \
        typename CommandHeaderT = std::nullptr_t>                                                                      \
    FORCE_INLINE void NAME##_with_state(                                                                               \
        tt_l1_ptr FabricSenderType* client_interface, volatile PACKET_HEADER_TYPE* packet_header,                      \
        std::uint32_t src_addr, CommandHeaderT command_header = nullptr, std::uint16_t packet_size_bytes = 0) {        \
        fabric_detail::KIND::change<UpdateMask>(packet_header, command_header, packet_size_bytes);                     \
        fabric_detail::send(client_interface, packet_header, src_addr, packet_header->payload_size_bytes);             \
    }                                                                                                                  \
    template <                                                                                                         \
        fabric_detail::KIND::Mask UpdateMask = fabric_detail::KIND::Mask::None,                                        \
        typename CommandHeaderT = std::nullptr_t>                                                                      \
    FORCE_INLINE void NAME##_with_state(                                                                               \
        RoutingPlaneConnectionManager& connection_manager, std::uint8_t route_id, std::uint32_t src_addr,              \
        CommandHeaderT command_header = nullptr, std::uint16_t packet_size_bytes = 0) {                                \
        fabric_detail::each(connection_manager, route_id, [&](auto& slot, auto packet_header, std::uint8_t) {          \
            NAME##_with_state<UpdateMask>(&slot.sender, packet_header, src_addr, command_header, packet_size_bytes);   \
        });                                                                                                            \
    }
// Commands without a payload.
#define TTNN_RS_FABRIC_WORD_WITH_STATE(NAME, KIND)                                                                     \
    template <                                                                                                         \
        fabric_detail::KIND::Mask UpdateMask = fabric_detail::KIND::Mask::None, typename FabricSenderType,             \
        typename CommandHeaderT = std::nullptr_t>                                                                      \
    FORCE_INLINE void NAME##_with_state(                                                                               \
        tt_l1_ptr FabricSenderType* client_interface, volatile PACKET_HEADER_TYPE* packet_header,                      \
        CommandHeaderT command_header = nullptr) {                                                                     \
        fabric_detail::KIND::change<UpdateMask>(packet_header, command_header);                                        \
        fabric_detail::send(client_interface, packet_header);                                                          \
    }                                                                                                                  \
    template <                                                                                                         \
        fabric_detail::KIND::Mask UpdateMask = fabric_detail::KIND::Mask::None,                                        \
        typename CommandHeaderT = std::nullptr_t>                                                                      \
    FORCE_INLINE void NAME##_with_state(                                                                               \
        RoutingPlaneConnectionManager& connection_manager, std::uint8_t route_id,                                      \
        CommandHeaderT command_header = nullptr) {                                                                     \
        fabric_detail::each(connection_manager, route_id, [&](auto& slot, auto packet_header, std::uint8_t) {          \
            NAME##_with_state<UpdateMask>(&slot.sender, packet_header, command_header);                                \
        });                                                                                                            \
    }
