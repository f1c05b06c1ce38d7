// Workers that send through a mux core. It forwards at once and runs no kernel, so it is always ready.
#pragma once

#include "tt_metal/fabric/hw/inc/tt_fabric_mux.hpp"

namespace tt::tt_fabric {

using FabricEndpointStatus = EDMStatus;

template <std::uint8_t FABRIC_MUX_CHANNEL_NUM_BUFFERS = 0>
WorkerToFabricMuxSender<FABRIC_MUX_CHANNEL_NUM_BUFFERS> build_connection_to_fabric_endpoint(
    std::uint8_t fabric_mux_x, std::uint8_t fabric_mux_y, std::uint8_t fabric_mux_channel_id,
    [[maybe_unused]] std::uint8_t fabric_mux_num_buffers_per_channel,
    [[maybe_unused]] std::size_t fabric_mux_channel_buffer_size_bytes,
    [[maybe_unused]] std::size_t fabric_mux_channel_base_address,
    [[maybe_unused]] std::size_t fabric_mux_connection_info_address,
    [[maybe_unused]] std::size_t fabric_mux_connection_handshake_address,
    [[maybe_unused]] std::size_t fabric_mux_flow_control_address,
    [[maybe_unused]] std::size_t fabric_mux_buffer_index_address,
    [[maybe_unused]] std::uint32_t local_flow_control_address, [[maybe_unused]] std::uint32_t local_teardown_address,
    [[maybe_unused]] std::uint32_t local_buffer_index_address, [[maybe_unused]] std::uint32_t direction = 0) {
    WorkerToFabricMuxSender<FABRIC_MUX_CHANNEL_NUM_BUFFERS> sender;
    sender.channel = ttnn_rs::mux_channel(fabric_mux_x, fabric_mux_y, fabric_mux_channel_id);
    return sender;
}

FORCE_INLINE void wait_for_fabric_endpoint_ready(
    [[maybe_unused]] std::uint8_t fabric_ep_x, [[maybe_unused]] std::uint8_t fabric_ep_y,
    [[maybe_unused]] std::size_t fabric_ep_status_address,
    [[maybe_unused]] std::uint32_t local_fabric_ep_status_address) {}

template <std::uint8_t FABRIC_MUX_CHANNEL_NUM_BUFFERS = 0>
FORCE_INLINE void fabric_client_connect(WorkerToFabricMuxSender<FABRIC_MUX_CHANNEL_NUM_BUFFERS>& connection_handle) {
    connection_handle.template open<true>();
}
template <std::uint8_t FABRIC_MUX_CHANNEL_NUM_BUFFERS = 0>
FORCE_INLINE void fabric_client_connect_start(
    WorkerToFabricMuxSender<FABRIC_MUX_CHANNEL_NUM_BUFFERS>& connection_handle) {
    connection_handle.open_start();
}
template <std::uint8_t FABRIC_MUX_CHANNEL_NUM_BUFFERS = 0>
FORCE_INLINE void fabric_client_connect_finish(
    WorkerToFabricMuxSender<FABRIC_MUX_CHANNEL_NUM_BUFFERS>& connection_handle) {
    connection_handle.open_finish();
}
template <std::uint8_t FABRIC_MUX_CHANNEL_NUM_BUFFERS = 0>
FORCE_INLINE void fabric_client_disconnect(WorkerToFabricMuxSender<FABRIC_MUX_CHANNEL_NUM_BUFFERS>& connection_handle) {
    connection_handle.close();
}

FORCE_INLINE void fabric_endpoint_terminate(
    [[maybe_unused]] std::uint8_t fabric_ep_x, [[maybe_unused]] std::uint8_t fabric_ep_y,
    [[maybe_unused]] std::size_t fabric_ep_termination_signal_address,
    [[maybe_unused]] bool graceful_termination = true) {
    noc_async_write_barrier();
}

template <std::uint8_t FABRIC_MUX_CHANNEL_NUM_BUFFERS = 0>
FORCE_INLINE void fabric_async_write(
    WorkerToFabricMuxSender<FABRIC_MUX_CHANNEL_NUM_BUFFERS>& connection_handle,
    volatile tt_l1_ptr PACKET_HEADER_TYPE* packet_header, std::uint32_t source_payload_address,
    std::uint32_t packet_payload_size_bytes) {
    connection_handle.wait_for_empty_write_slot();
    connection_handle.send_payload_without_header_non_blocking_from_address(
        source_payload_address, packet_payload_size_bytes);
    connection_handle.send_payload_flush_blocking_from_address(
        ttnn_rs::address_of(packet_header), sizeof(PACKET_HEADER_TYPE));
}
template <std::uint8_t FABRIC_MUX_CHANNEL_NUM_BUFFERS = 0>
FORCE_INLINE void fabric_atomic_inc(
    WorkerToFabricMuxSender<FABRIC_MUX_CHANNEL_NUM_BUFFERS>& connection_handle,
    volatile tt_l1_ptr PACKET_HEADER_TYPE* packet_header) {
    connection_handle.wait_for_empty_write_slot();
    connection_handle.send_payload_flush_non_blocking_from_address(
        ttnn_rs::address_of(packet_header), sizeof(PACKET_HEADER_TYPE));
}

}  // namespace tt::tt_fabric
