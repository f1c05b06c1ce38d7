// Connections of a worker to the fabric. A connection is a number; what is sent through it is an engine call.
#pragma once

#include "hostdev/fabric_edm_packet_header.hpp"

namespace ttnn_rs {

// Channels of a mux core: the host finds the core's connection.
constexpr std::uint32_t mux_channel(std::uint32_t x, std::uint32_t y, std::uint32_t channel) {
    return 0x40000000 | x << 16 | y << 8 | channel;
}

// What the senders to routers and to mux cores have in common. An engine call copies what it sends.
struct FabricConnection {
    static constexpr std::uint32_t NONE = 0xFFFFFFFF;
    std::uint32_t channel = NONE;

    FORCE_INLINE std::uint32_t get_num_free_write_slots() const { return tt_call_fabric_slots(channel); }
    FORCE_INLINE void wait_for_empty_write_slot() const {
        while (get_num_free_write_slots() == 0) {
        }
    }
    template <bool posted = false>
    FORCE_INLINE void send_payload_without_header_non_blocking_from_address(
        std::uint32_t source_address, std::size_t size_bytes, [[maybe_unused]] std::uint8_t noc = noc_index) {
        tt_call_fabric_payload(channel, source_address, size_bytes);
    }
    template <bool posted = false>
    FORCE_INLINE void send_payload_flush_non_blocking_from_address(
        std::uint32_t source_address, std::size_t size_bytes, [[maybe_unused]] std::uint8_t noc = noc_index) {
        tt_call_fabric_send(channel, source_address, size_bytes);
    }

    // Sends through stored state of the NoC: there is nothing to store.
    template <bool posted = false>
    FORCE_INLINE void setup_stateful_send_cmd_bufs([[maybe_unused]] std::uint8_t noc = noc_index) const {}
    FORCE_INLINE std::uint8_t get_stateful_send_data_noc_cmd_buf() const { return write_reg_cmd_buf; }
    template <bool posted = false>
    FORCE_INLINE void send_current_slot_stateful_non_blocking(
        std::uint32_t payload_source_l1_addr, std::uint32_t payload_size_bytes, std::uint32_t header_source_l1_addr,
        [[maybe_unused]] std::uint8_t noc = noc_index) {
        tt_call_fabric_payload(channel, payload_source_l1_addr, payload_size_bytes);
        tt_call_fabric_send(channel, header_source_l1_addr, sizeof(PACKET_HEADER_TYPE));
    }
    template <bool posted = false>
    FORCE_INLINE void send_current_slot_stateful_non_blocking_from_address(
        std::uint32_t packet_source_l1_addr, std::uint32_t packet_size_bytes,
        [[maybe_unused]] std::uint8_t noc = noc_index) {
        tt_call_fabric_send(channel, packet_source_l1_addr, packet_size_bytes);
    }
};

}  // namespace ttnn_rs

namespace tt::tt_fabric {

namespace connection_interface {
constexpr std::uint8_t edm_fabric_write_noc_index = 0;
}  // namespace connection_interface

struct StreamId {
    std::uint32_t value;
    constexpr explicit StreamId(std::uint32_t value) : value(value) {}
    constexpr std::uint32_t get() const { return value; }
};

template <bool I_USE_STREAM_REG_FOR_CREDIT_RECEIVE, std::uint8_t EDM_NUM_BUFFER_SLOTS = 0, std::uint8_t VC_ID = 0>
struct WorkerToFabricEdmSenderBase : ttnn_rs::FabricConnection {
    static_assert(VC_ID == 0 || VC_ID == 2, "only VC_ID 0 and 2 exist");
    static constexpr bool USER_DEFINED_NUM_BUFFER_SLOTS = EDM_NUM_BUFFER_SLOTS != 0;
    static constexpr bool IS_WORKER = !I_USE_STREAM_REG_FOR_CREDIT_RECEIVE;

    WorkerToFabricEdmSenderBase() = default;
    // A connection to a channel of a mux core. The stream has the channel's number.
    WorkerToFabricEdmSenderBase(
        bool, std::uint8_t edm_worker_x, std::uint8_t edm_worker_y, std::size_t, std::uint8_t, std::size_t, std::size_t,
        std::uint16_t, std::size_t, volatile std::uint32_t* const, volatile std::uint32_t* const, std::uint32_t,
        std::uint32_t sender_channel_credits_stream_id, StreamId, std::uint8_t = write_reg_cmd_buf,
        std::uint8_t = write_at_cmd_buf) :
        FabricConnection{ttnn_rs::mux_channel(edm_worker_x, edm_worker_y, sender_channel_credits_stream_id)} {}

    // Three words: the connection, and two semaphores that the official protocol needs.
    template <ProgrammableCoreType my_core_type, bool sem_args_are_l1_addresses = false>
    static WorkerToFabricEdmSenderBase build_from_args(std::size_t& arg_idx) {
        static_assert(my_core_type == ProgrammableCoreType::TENSIX, "there are no Ethernet cores here");
        if constexpr (VC_ID != 0) {
            ttnn_rs::unsupported("WorkerToFabricEdmSenderVC2", "the fabric has no third virtual channel here");
        }
        WorkerToFabricEdmSenderBase sender;
        sender.channel = get_arg_val<std::uint32_t>(arg_idx);
        arg_idx += 3;
        return sender;
    }

    template <std::size_t num_slots = 1>
    FORCE_INLINE bool edm_has_space_for_packet() const {
        return get_num_free_write_slots() >= num_slots;
    }

    FORCE_INLINE void send_payload_blocking(std::uint32_t cb_id, std::uint32_t num_pages, std::uint32_t page_size) {
        cb_wait_front(cb_id, num_pages);
        send_payload_blocking_from_address(get_read_ptr(cb_id), num_pages * page_size);
        cb_pop_front(cb_id, num_pages);
    }
    template <bool posted = false>
    FORCE_INLINE void send_payload_flush_blocking_from_address(
        std::uint32_t source_address, std::size_t size_bytes, std::uint8_t noc = get_fabric_worker_noc()) {
        tt_call_fabric_send(channel, source_address, size_bytes);
        ttnn_rs::wait_as<FLUSH_BLOCKING>(noc);
    }
    template <bool posted = false>
    FORCE_INLINE void send_payload_blocking_from_address(
        std::uint32_t source_address, std::size_t size_bytes, std::uint8_t noc = get_fabric_worker_noc()) {
        tt_call_fabric_send(channel, source_address, size_bytes);
        ttnn_rs::wait_as<BLOCKING>(noc);
    }
    template <bool posted = false>
    FORCE_INLINE void send_payload_non_blocking_from_address(
        std::uint32_t source_address, std::size_t size_bytes,
        [[maybe_unused]] std::uint8_t noc = get_fabric_worker_noc()) {
        tt_call_fabric_send(channel, source_address, size_bytes);
    }
    template <bool posted = false>
    FORCE_INLINE void send_current_slot_non_blocking(
        std::uint32_t payload_source_l1_addr, std::size_t payload_size_bytes, std::uint32_t header_source_l1_addr,
        [[maybe_unused]] std::uint8_t noc = get_fabric_worker_noc()) {
        tt_call_fabric_payload(channel, payload_source_l1_addr, payload_size_bytes);
        tt_call_fabric_send(channel, header_source_l1_addr, sizeof(PACKET_HEADER_TYPE));
    }
    template <bool posted = false>
    FORCE_INLINE void send_current_slot_stateful_non_blocking_from_address_with_trid(
        std::uint32_t packet_source_l1_addr, std::uint32_t packet_size_bytes, [[maybe_unused]] std::uint32_t trid,
        [[maybe_unused]] std::uint8_t noc = get_fabric_worker_noc()) {
        tt_call_fabric_send(channel, packet_source_l1_addr, packet_size_bytes);
    }

    template <
        bool SEND_CREDIT_ADDR = false, bool posted = false, std::uint8_t WORKER_HANDSHAKE_NOC = get_fabric_worker_noc()>
    void open_start() {
        tt_call_fabric_open(channel);
    }
    template <bool posted = false, std::uint8_t WORKER_HANDSHAKE_NOC = get_fabric_worker_noc()>
    void open_finish() {}
    template <
        bool SEND_CREDIT_ADDR = false, bool posted = false, std::uint8_t WORKER_HANDSHAKE_NOC = get_fabric_worker_noc()>
    void open() {
        open_start<SEND_CREDIT_ADDR, posted, WORKER_HANDSHAKE_NOC>();
        open_finish<posted, WORKER_HANDSHAKE_NOC>();
    }
    template <bool posted = false, std::uint8_t WORKER_HANDSHAKE_NOC = get_fabric_worker_noc()>
    void close_start() {
        tt_call_fabric_close(channel);
    }
    template <bool posted = false, std::uint8_t WORKER_HANDSHAKE_NOC = get_fabric_worker_noc()>
    void close_finish() {
        noc_async_write_barrier(WORKER_HANDSHAKE_NOC);
    }
    template <bool posted = false, std::uint8_t WORKER_HANDSHAKE_NOC = get_fabric_worker_noc()>
    void close() {
        close_start<posted, WORKER_HANDSHAKE_NOC>();
        close_finish<posted, WORKER_HANDSHAKE_NOC>();
    }
};

template <bool I_USE_STREAM_REG_FOR_CREDIT_RECEIVE, std::uint8_t EDM_NUM_BUFFER_SLOTS = 0>
using WorkerToFabricEdmSenderImpl =
    WorkerToFabricEdmSenderBase<I_USE_STREAM_REG_FOR_CREDIT_RECEIVE, EDM_NUM_BUFFER_SLOTS>;
template <bool I_USE_STREAM_REG_FOR_CREDIT_RECEIVE, std::uint8_t EDM_NUM_BUFFER_SLOTS = 0>
using WorkerToFabricEdmSenderVC2Impl =
    WorkerToFabricEdmSenderBase<I_USE_STREAM_REG_FOR_CREDIT_RECEIVE, EDM_NUM_BUFFER_SLOTS, 2>;
using WorkerToFabricEdmSender = WorkerToFabricEdmSenderImpl<false, 0>;
using WorkerToFabricEdmSenderVC2 = WorkerToFabricEdmSenderVC2Impl<false, 0>;

}  // namespace tt::tt_fabric
