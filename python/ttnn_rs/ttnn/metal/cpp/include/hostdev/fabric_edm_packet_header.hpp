// Packet headers. A header is bytes in L1: the command at 0, payload size and send type at 40, the route from 44.
// Byte 44 is the kind of route; what follows it is this project's own, behind the official methods.
#pragma once

#include <initializer_list>

#include "hostdevcommon/fabric_common.h"
#include "tt_metal/fabric/hw/inc/edm_fabric/edm_fabric_utils.hpp"
#include "tt_metal/fabric/hw/inc/fabric_routing_mode.h"
#include "tt_metal/fabric/hw/inc/noc_addr.h"

#ifndef TTNN_RS_FABRIC_HEADER_BYTES
#ifdef FABRIC_2D
#define TTNN_RS_FABRIC_HEADER_BYTES 96
#else
#define TTNN_RS_FABRIC_HEADER_BYTES 48
#endif
#endif

namespace ttnn_rs {

// Kinds of routes, byte 44 of a header.
enum Route : std::uint32_t { HOPS = 0, HOP_RANGE = 1, DEVICE = 2, DEVICE_RANGE = 3, HOP_MASK = 4 };

}  // namespace ttnn_rs

namespace tt::tt_fabric {

template <class>
inline constexpr bool always_false_v = false;

enum TerminationSignal : std::uint32_t { KEEP_RUNNING = 0, GRACEFULLY_TERMINATE = 1, IMMEDIATELY_TERMINATE = 2 };

enum EDMStatus : std::uint32_t {
    STARTED = 0xA0B0C0D0,
    REMOTE_HANDSHAKE_COMPLETE = 0xA1B1C1D1,
    LOCAL_HANDSHAKE_COMPLETE = 0xA2B2C2D2,
    READY_FOR_TRAFFIC = 0xA3B3C3D3,
    TERMINATED = 0xA4B4C4D4,
};

enum NocSendType : std::uint8_t {
    NOC_UNICAST_WRITE = 0,
    NOC_UNICAST_INLINE_WRITE = 1,
    NOC_UNICAST_ATOMIC_INC = 2,
    NOC_FUSED_UNICAST_ATOMIC_INC = 3,
    NOC_UNICAST_SCATTER_WRITE = 4,
    NOC_MULTICAST_WRITE = 5,
    NOC_MULTICAST_ATOMIC_INC = 6,
    NOC_UNICAST_READ = 7,
    NOC_SPARSE_MCAST_WRITE = 8,
    NOC_SEND_TYPE_LAST = NOC_SPARSE_MCAST_WRITE
};
enum ChipSendType : std::uint8_t { CHIP_UNICAST = 0, CHIP_MULTICAST = 1, CHIP_SEND_TYPE_LAST = CHIP_MULTICAST };

struct MulticastRoutingCommandHeader {
    std::uint8_t start_distance_in_hops;
    std::uint8_t range_hops;
};

template <typename Header>
struct get_max_num_hops;

// Bit i of the mask: the chip i + 1 hops away gets the packet.
template <typename Header>
struct SparseMulticastRoutingCommandHeader {
    static constexpr std::uint32_t max_num_hops = get_max_num_hops<Header>::value;
    using HopMaskType = std::conditional_t<max_num_hops <= 16, std::uint16_t, std::uint32_t>;
    HopMaskType hop_mask;
};

struct NocUnicastCommandHeader {
    std::uint64_t noc_address;
};

enum NocScatterWriteChunkEncoding : std::uint8_t {
    CHUNK_ENCODING_NOP = 0,
    CHUNK_ENCODING_UNICAST_WRITE = 1,
    CHUNK_ENCODING_SEMINC_NO_FLUSH = 2,
    CHUNK_ENCODING_SEMINC_FLUSH = 3,
    CHUNK_ENCODING_LAST = CHUNK_ENCODING_SEMINC_FLUSH
};
constexpr std::uint8_t expand_encoding_to_all_chunks(NocScatterWriteChunkEncoding encoding) {
    return static_cast<std::uint8_t>(encoding * 0x55);
}
inline void set_chunk_encoding(
    std::uint8_t& chunk_encoding, NocScatterWriteChunkEncoding encoding, std::uint32_t chunk_index) {
    chunk_encoding |= encoding << 2 * chunk_index;
}

#define NOC_SCATTER_WRITE_MAX_CHUNKS 4
constexpr std::uint8_t NOC_SCATTER_WRITE_MIN_CHUNKS = 2;

struct NocUnicastScatterCommandHeader {
    std::uint64_t noc_address[NOC_SCATTER_WRITE_MAX_CHUNKS];
    // The last chunk has what is left of the payload.
    std::uint16_t chunk_size[NOC_SCATTER_WRITE_MAX_CHUNKS - 1];
    std::uint8_t chunk_count;
    std::uint8_t chunk_encoding;

    NocUnicastScatterCommandHeader() = delete;
    NocUnicastScatterCommandHeader(
        std::initializer_list<std::uint64_t> addresses, std::initializer_list<std::uint16_t> chunk_sizes = {}) :
        NocUnicastScatterCommandHeader(addresses.begin(), chunk_sizes.begin(), addresses.size(), chunk_sizes.size()) {}
    NocUnicastScatterCommandHeader(
        const std::uint64_t* addresses, const std::uint16_t* chunk_sizes, const std::uint8_t num_addresses) :
        NocUnicastScatterCommandHeader(addresses, chunk_sizes, num_addresses, num_addresses ? num_addresses - 1u : 0u) {}

private:
    NocUnicastScatterCommandHeader(
        const std::uint64_t* addresses, const std::uint16_t* sizes, std::uint32_t count, std::uint32_t size_count) :
        noc_address{}, chunk_size{}, chunk_count(count), chunk_encoding(0) {
        // None at first is legal: kernels fill a command in later.
        if (count > NOC_SCATTER_WRITE_MAX_CHUNKS || (count > 0 && size_count >= NOC_SCATTER_WRITE_MAX_CHUNKS)) {
            tt_call_invalid("NocUnicastScatterCommandHeader", "a scatter write has at most 4 addresses");
        }
        std::copy_n(addresses, count, noc_address);
        std::copy_n(sizes, size_count, chunk_size);
    }
};

#define NOC_SCATTER_WRITE_ATOMIC_INC_FUSED_WRITE_CHUNKS 2
struct NocUnicastScatterAtomicIncFusedCommandHeader {
    std::uint64_t noc_address[NOC_SCATTER_WRITE_ATOMIC_INC_FUSED_WRITE_CHUNKS];
    std::uint64_t semaphore_noc_address;
    std::uint16_t chunk_size[NOC_SCATTER_WRITE_ATOMIC_INC_FUSED_WRITE_CHUNKS - 1];
    std::uint16_t val;
    bool flush;

    NocUnicastScatterAtomicIncFusedCommandHeader(
        std::initializer_list<std::uint64_t> noc_addresses, std::uint64_t semaphore_noc_address,
        std::initializer_list<std::uint16_t> chunk_sizes, std::uint16_t val, bool flush = true) :
        noc_address{}, semaphore_noc_address(semaphore_noc_address), chunk_size{}, val(val), flush(flush) {
        if (noc_addresses.size() != NOC_SCATTER_WRITE_ATOMIC_INC_FUSED_WRITE_CHUNKS || chunk_sizes.size() != 1) {
            tt_call_invalid("NocUnicastScatterAtomicIncFusedCommandHeader", "it has two addresses and one size");
        }
        std::copy(noc_addresses.begin(), noc_addresses.end(), noc_address);
        chunk_size[0] = *chunk_sizes.begin();
    }
};

struct NocUnicastInlineWriteCommandHeader {
    std::uint64_t noc_address;
    std::uint32_t value;
};
struct NocUnicastAtomicIncCommandHeader {
    NocUnicastAtomicIncCommandHeader(std::uint64_t noc_address, std::uint32_t val, bool flush = true) :
        noc_address(noc_address), val(val), flush(flush) {}

    std::uint64_t noc_address;
    std::uint32_t val;
    bool flush;
};
struct NocUnicastAtomicIncFusedCommandHeader {
    NocUnicastAtomicIncFusedCommandHeader(
        std::uint64_t noc_address, std::uint64_t semaphore_noc_address, std::uint32_t val, bool flush = true) :
        noc_address(noc_address), semaphore_noc_address(semaphore_noc_address), val(val), flush(flush) {}

    std::uint64_t noc_address;
    std::uint64_t semaphore_noc_address;
    std::uint32_t val;
    bool flush;
};
struct NocMulticastCommandHeader {
    std::uint32_t address;
    std::uint8_t noc_x_start;
    std::uint8_t noc_y_start;
    std::uint8_t mcast_rect_size_x;
    std::uint8_t mcast_rect_size_y;
};
struct NocMulticastAtomicIncCommandHeader {
    std::uint32_t address;
    std::uint32_t val;
    std::uint8_t noc_x_start;
    std::uint8_t noc_y_start;
    std::uint8_t size_x;
    std::uint8_t size_y;
};

#define NOC_SPARSE_MCAST_WRITE_MAX_DESTS 4
// Addresses in the order of their chips; counts[i] of them belong to the i-th chip that gets the packet.
struct NocSparseMulticastWriteCommandHeader {
    std::uint64_t noc_address[NOC_SPARSE_MCAST_WRITE_MAX_DESTS];
    std::uint8_t counts[NOC_SPARSE_MCAST_WRITE_MAX_DESTS];
    std::uint8_t num_dests;
    std::uint8_t num_chips;
    std::uint8_t write_idx;
    std::uint8_t chip_idx;
};

union NocCommandFields {
    NocUnicastCommandHeader unicast_write;
    NocUnicastCommandHeader unicast_read;
    NocUnicastInlineWriteCommandHeader unicast_inline_write;
    NocMulticastCommandHeader mcast_write;
    NocUnicastAtomicIncCommandHeader unicast_seminc;
    NocUnicastAtomicIncFusedCommandHeader unicast_seminc_fused;
    NocMulticastAtomicIncCommandHeader mcast_seminc;
    NocUnicastScatterCommandHeader unicast_scatter_write;
    NocSparseMulticastWriteCommandHeader sparse_mcast_write;
};
static_assert(sizeof(NocCommandFields) == 40);

template <typename Derived>
struct PacketHeaderBase {
private:
    PacketHeaderBase() = default;
    friend Derived;

    volatile Derived* self() volatile { return static_cast<volatile Derived*>(this); }
    Derived& itself() { return *static_cast<Derived*>(this); }
    volatile Derived* kind(NocSendType type, std::size_t bytes) volatile {
        noc_send_type = type;
        payload_size_bytes = static_cast<std::uint16_t>(bytes);
        return self();
    }
    static void check_chunk(bool right) {
        if (!right) {
            tt_call_invalid("to_noc_unicast_scatter_write", "chunks are not empty and leave a rest of the payload");
        }
    }
    [[noreturn]] static void refuse(const char* name) {
        ttnn_rs::unsupported(name, "packets that multicast or read on the receiving chip's NoC are not modelled");
    }

public:
    NocCommandFields command_fields;
    std::uint16_t payload_size_bytes;
    NocSendType noc_send_type;
    std::uint8_t src_ch_id;

    std::size_t get_payload_size_excluding_header() const volatile { return payload_size_bytes; }
    std::size_t get_payload_size_including_header() const volatile { return payload_size_bytes + sizeof(Derived); }
    const volatile NocCommandFields& get_command_fields() const volatile { return command_fields; }
    NocSendType get_noc_send_type() const volatile { return noc_send_type; }
    void set_noc_send_type(NocSendType& type) { noc_send_type = type; }
    void set_command_fields(NocCommandFields& fields) { command_fields = fields; }
    void set_payload_size_bytes(std::uint16_t bytes) volatile { payload_size_bytes = bytes; }
    void set_src_ch_id(std::uint8_t ch_id) volatile { src_ch_id = ch_id; }
    void set_fused_unicast_write_atomic_inc_write_noc_address(std::uint64_t noc_address) volatile {
        command_fields.unicast_seminc_fused.noc_address = noc_address;
    }
    void set_fused_unicast_write_atomic_inc_value(std::uint32_t val) volatile {
        command_fields.unicast_seminc_fused.val = val;
    }

    volatile Derived* to_chip_unicast(std::uint8_t distance_in_hops) volatile {
        self()->to_chip_unicast_impl(distance_in_hops);
        return self();
    }
    volatile Derived* to_chip_multicast(const MulticastRoutingCommandHeader& command) volatile {
        self()->to_chip_multicast_impl(command);
        return self();
    }
    volatile Derived* to_chip_sparse_multicast(const SparseMulticastRoutingCommandHeader<Derived>& command) volatile {
        self()->to_chip_sparse_multicast_impl(command);
        return self();
    }
    volatile Derived* to_noc_unicast_write(
        const NocUnicastCommandHeader& command, std::size_t payload_size_bytes) volatile {
        command_fields.unicast_write.noc_address = command.noc_address;
        return kind(NOC_UNICAST_WRITE, payload_size_bytes);
    }
    volatile Derived* to_noc_unicast_inline_write(const NocUnicastInlineWriteCommandHeader& command) volatile {
        command_fields.unicast_inline_write.noc_address = command.noc_address;
        command_fields.unicast_inline_write.value = command.value;
        return kind(NOC_UNICAST_INLINE_WRITE, 0);
    }
    volatile Derived* to_noc_unicast_atomic_inc(const NocUnicastAtomicIncCommandHeader& command) volatile {
        command_fields.unicast_seminc.noc_address = command.noc_address;
        command_fields.unicast_seminc.val = command.val;
        command_fields.unicast_seminc.flush = command.flush;
        return kind(NOC_UNICAST_ATOMIC_INC, 0);
    }
    volatile Derived* to_noc_fused_unicast_write_atomic_inc(
        const NocUnicastAtomicIncFusedCommandHeader& command, std::size_t payload_size_bytes) volatile {
        command_fields.unicast_seminc_fused.noc_address = command.noc_address;
        command_fields.unicast_seminc_fused.semaphore_noc_address = command.semaphore_noc_address;
        command_fields.unicast_seminc_fused.val = command.val;
        command_fields.unicast_seminc_fused.flush = command.flush;
        return kind(NOC_FUSED_UNICAST_ATOMIC_INC, payload_size_bytes);
    }
    volatile Derived* to_noc_unicast_scatter_write(
        const NocUnicastScatterCommandHeader& command, std::size_t payload_size_bytes) volatile {
        volatile auto& fields = command_fields.unicast_scatter_write;
        const std::uint32_t count = command.chunk_count;
        check_chunk(count >= NOC_SCATTER_WRITE_MIN_CHUNKS && count <= NOC_SCATTER_WRITE_MAX_CHUNKS);
        std::size_t sum = 0;
        for (std::uint32_t i = 0; i < NOC_SCATTER_WRITE_MAX_CHUNKS; ++i) {
            fields.noc_address[i] = i < count ? command.noc_address[i] : 0;
        }
        for (std::uint32_t i = 0; i < NOC_SCATTER_WRITE_MAX_CHUNKS - 1; ++i) {
            const std::uint16_t size = i + 1 < count ? command.chunk_size[i] : 0;
            check_chunk(size != 0 || i + 1 >= count);
            fields.chunk_size[i] = size;
            sum += size;
        }
        check_chunk(sum < payload_size_bytes);
        fields.chunk_count = count;
        fields.chunk_encoding = expand_encoding_to_all_chunks(CHUNK_ENCODING_UNICAST_WRITE);
        return kind(NOC_UNICAST_SCATTER_WRITE, payload_size_bytes);
    }
    // A scatter write of two chunks with the increment as a third one: its value is in the third chunk's size.
    volatile Derived* to_noc_fused_unicast_scatter_write_atomic_inc(
        const NocUnicastScatterAtomicIncFusedCommandHeader& command, std::size_t payload_size_bytes) volatile {
        volatile auto& fields = command_fields.unicast_scatter_write;
        const std::uint16_t first = command.chunk_size[0];
        check_chunk(first != 0 && first < payload_size_bytes);
        fields.noc_address[0] = command.noc_address[0];
        fields.noc_address[1] = command.noc_address[1];
        fields.noc_address[2] = command.semaphore_noc_address;
        fields.noc_address[3] = 0;
        fields.chunk_size[0] = first;
        fields.chunk_size[1] = payload_size_bytes - first;
        fields.chunk_size[2] = command.val;
        fields.chunk_count = NOC_SCATTER_WRITE_ATOMIC_INC_FUSED_WRITE_CHUNKS + 1;
        const auto increment = command.flush ? CHUNK_ENCODING_SEMINC_FLUSH : CHUNK_ENCODING_SEMINC_NO_FLUSH;
        fields.chunk_encoding = CHUNK_ENCODING_UNICAST_WRITE * 5 | increment << 4;
        return kind(NOC_UNICAST_SCATTER_WRITE, payload_size_bytes);
    }
    volatile Derived* to_noc_sparse_mcast_write(
        const NocSparseMulticastWriteCommandHeader& command, std::size_t payload_size_bytes) volatile {
        volatile auto& fields = command_fields.sparse_mcast_write;
        if (command.num_chips == 0 || command.num_chips > command.num_dests ||
            command.num_dests > NOC_SPARSE_MCAST_WRITE_MAX_DESTS) {
            tt_call_invalid("to_noc_sparse_mcast_write", "it has 1 to 4 addresses, at least one for each chip");
        }
        for (std::uint32_t i = 0; i < NOC_SPARSE_MCAST_WRITE_MAX_DESTS; ++i) {
            fields.noc_address[i] = i < command.num_dests ? command.noc_address[i] : 0;
            fields.counts[i] = i < command.num_chips ? command.counts[i] : 0;
        }
        fields.num_dests = command.num_dests;
        fields.num_chips = command.num_chips;
        fields.write_idx = 0;
        fields.chip_idx = 0;
        return kind(NOC_SPARSE_MCAST_WRITE, payload_size_bytes);
    }
    volatile Derived* to_noc_multicast(const NocMulticastCommandHeader&, std::size_t) volatile {
        refuse("to_noc_multicast");
    }
    volatile Derived* to_noc_multicast_atomic_inc(const NocMulticastAtomicIncCommandHeader&, std::size_t) volatile {
        refuse("to_noc_multicast_atomic_inc");
    }
    volatile Derived* to_noc_unicast_read(const NocUnicastCommandHeader&, std::size_t) volatile {
        refuse("to_noc_unicast_read");
    }

    // The same for a header that is no volatile one.
    Derived& to_chip_unicast(std::uint8_t distance_in_hops) {
        const_cast<volatile PacketHeaderBase*>(this)->to_chip_unicast(distance_in_hops);
        return itself();
    }
    Derived& to_chip_multicast(const MulticastRoutingCommandHeader& command) {
        const_cast<volatile PacketHeaderBase*>(this)->to_chip_multicast(command);
        return itself();
    }
    Derived& to_chip_sparse_multicast(const SparseMulticastRoutingCommandHeader<Derived>& command) {
        const_cast<volatile PacketHeaderBase*>(this)->to_chip_sparse_multicast(command);
        return itself();
    }
    Derived& to_noc_unicast_write(const NocUnicastCommandHeader& command, std::size_t payload_size_bytes) {
        const_cast<volatile PacketHeaderBase*>(this)->to_noc_unicast_write(command, payload_size_bytes);
        return itself();
    }
    Derived& to_noc_unicast_inline_write(const NocUnicastInlineWriteCommandHeader& command) {
        const_cast<volatile PacketHeaderBase*>(this)->to_noc_unicast_inline_write(command);
        return itself();
    }
    Derived& to_noc_unicast_atomic_inc(const NocUnicastAtomicIncCommandHeader& command) {
        const_cast<volatile PacketHeaderBase*>(this)->to_noc_unicast_atomic_inc(command);
        return itself();
    }
    Derived& to_noc_multicast(const NocMulticastCommandHeader&, std::size_t) { refuse("to_noc_multicast"); }
    Derived& to_noc_multicast_atomic_inc(const NocMulticastAtomicIncCommandHeader&, std::size_t) {
        refuse("to_noc_multicast_atomic_inc");
    }
    Derived& to_noc_unicast_read(const NocUnicastCommandHeader&, std::size_t) { refuse("to_noc_unicast_read"); }
};

// Byte 0: the kind of route. Byte 1: hops, or the first hop of a range; byte 2: chips of the range; bytes 2 and 3: a
// mask of 16 hops. A mask of 32 hops is in the first extension word.
template <std::uint32_t ExtensionWords = 1>
struct LowLatencyRoutingFieldsT {
    static constexpr std::uint32_t MAX_NUM_ENCODINGS = 16 * (1 + ExtensionWords);
    std::uint32_t value;
    std::uint32_t route_buffer[ExtensionWords];
};
template <>
struct LowLatencyRoutingFieldsT<0> {
    static constexpr std::uint32_t MAX_NUM_ENCODINGS = 16;
    std::uint32_t value;
};

template <std::uint32_t ExtensionWords = 0>
struct LowLatencyPacketHeaderT : PacketHeaderBase<LowLatencyPacketHeaderT<ExtensionWords>> {
    using SPARSE_MCAST_ROUTING_CMD_HDR_TYPE =
        SparseMulticastRoutingCommandHeader<LowLatencyPacketHeaderT<ExtensionWords>>;

    LowLatencyRoutingFieldsT<ExtensionWords> routing_fields;
    std::uint8_t padding0[(ExtensionWords == 0 ? 48 : 64) - 48 - 4 * ExtensionWords];

    void set_routing_fields(LowLatencyRoutingFieldsT<ExtensionWords>& fields) { routing_fields = fields; }
    void to_chip_unicast_impl(std::uint8_t distance_in_hops) volatile {
        routing_fields.value = ttnn_rs::HOPS | distance_in_hops << 8;
    }
    void to_chip_multicast_impl(const MulticastRoutingCommandHeader& command) volatile {
        routing_fields.value =
            ttnn_rs::HOP_RANGE | command.start_distance_in_hops << 8 | command.range_hops << 16;
    }
    void to_chip_sparse_multicast_impl(const SPARSE_MCAST_ROUTING_CMD_HDR_TYPE& command) volatile {
        set_hop_mask(command.hop_mask);
    }
    void set_hop_mask(std::uint32_t mask) volatile {
        if constexpr (ExtensionWords == 0) {
            routing_fields.value = ttnn_rs::HOP_MASK | mask << 16;
        } else {
            routing_fields.value = ttnn_rs::HOP_MASK;
            routing_fields.route_buffer[0] = mask;
        }
    }
};
static_assert(sizeof(LowLatencyPacketHeaderT<0>) == 48 && sizeof(LowLatencyPacketHeaderT<1>) == 64);

template <std::uint32_t ExtensionWords>
struct get_max_num_hops<LowLatencyPacketHeaderT<ExtensionWords>> {
    static constexpr std::uint32_t value = LowLatencyRoutingFieldsT<ExtensionWords>::MAX_NUM_ENCODINGS;
};

using LowLatencyPacketHeader = LowLatencyPacketHeaderT<TTNN_RS_FABRIC_HEADER_BYTES == 64>;
using LowLatencyRoutingFields = LowLatencyRoutingFieldsT<TTNN_RS_FABRIC_HEADER_BYTES == 64>;

struct LowLatencyMeshRoutingFields {
    std::uint32_t value;
};

template <int RouteBufferSize = 40>
struct HybridMeshPacketHeaderT : PacketHeaderBase<HybridMeshPacketHeaderT<RouteBufferSize>> {
    using SPARSE_MCAST_ROUTING_CMD_HDR_TYPE =
        SparseMulticastRoutingCommandHeader<HybridMeshPacketHeaderT<RouteBufferSize>>;

    LowLatencyMeshRoutingFields routing_fields;
    union {
        struct {
            std::uint16_t dst_start_chip_id;
            std::uint16_t dst_start_mesh_id;
        };
        std::uint32_t dst_start_node_id;
    };
    // Hops to the east, west, north and south of that chip.
    std::uint8_t mcast_params[4];
    std::uint8_t route_buffer[RouteBufferSize];

    // The route is a chip, and hops do not matter.
    void to_chip_unicast_impl(std::uint8_t) volatile {}
    void to_chip_multicast_impl(const MulticastRoutingCommandHeader&) volatile {}
    void to_chip_sparse_multicast_impl(const SPARSE_MCAST_ROUTING_CMD_HDR_TYPE&) volatile {
        ttnn_rs::unsupported("to_chip_sparse_multicast", "it needs a fabric of one dimension");
    }
    void set_route(
        ttnn_rs::Route kind, std::uint16_t device, std::uint16_t mesh, std::array<std::uint8_t, 4> hops) volatile {
        routing_fields.value = kind;
        dst_start_node_id = static_cast<std::uint32_t>(mesh) << 16 | device;
        for (std::uint32_t i = 0; i < 4; ++i) {
            mcast_params[i] = hops[i];
        }
    }
};

template <int RouteBufferSize>
struct get_max_num_hops<HybridMeshPacketHeaderT<RouteBufferSize>> {
    static constexpr std::uint32_t value = 32;
};

using HybridMeshPacketHeader = HybridMeshPacketHeaderT<>;
static_assert(sizeof(HybridMeshPacketHeader) == 96);

// Declared, so that kernels can ask whether it is their header; it never is.
struct UDMHybridMeshPacketHeader : HybridMeshPacketHeader {
    std::uint8_t udm_control[16];
};

}  // namespace tt::tt_fabric

#if TTNN_RS_FABRIC_HEADER_BYTES == 96
#define PACKET_HEADER_TYPE tt::tt_fabric::HybridMeshPacketHeader
#define ROUTING_FIELDS_TYPE tt::tt_fabric::LowLatencyMeshRoutingFields
#else
#define PACKET_HEADER_TYPE tt::tt_fabric::LowLatencyPacketHeader
#define ROUTING_FIELDS_TYPE tt::tt_fabric::LowLatencyRoutingFields
#endif
static_assert(sizeof(PACKET_HEADER_TYPE) == TTNN_RS_FABRIC_HEADER_BYTES, "headers have 48, 64 or 96 bytes");
