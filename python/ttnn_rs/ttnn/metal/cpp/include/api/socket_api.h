// Sockets: a queue of bytes in the memory of a receiver, filled by a core of another chip. Both ends count bytes, and
// tell each other how many were sent and taken.
#pragma once

#include "api/alignment.h"
#include "api/debug/assert.h"
#include "hostdev/socket.h"
#include "internal/circular_buffer_interface.h"

#ifndef COMPILE_FOR_TRISC
#include "tt_metal/fabric/hw/inc/edm_fabric/fabric_connection_manager.hpp"
#include "tt_metal/fabric/hw/inc/tt_fabric_api.h"
#endif

constexpr std::uint32_t sender_socket_md_size_bytes = align(sizeof(sender_socket_md), L1_ALIGNMENT);
constexpr std::uint32_t bytes_acked_size_bytes = align(sizeof(std::uint32_t), L1_ALIGNMENT);
constexpr std::uint32_t downstream_encoding_size_bytes = align(sizeof(sender_downstream_encoding), L1_ALIGNMENT);

namespace ttnn_rs {

template <typename T>
FORCE_INLINE volatile tt_l1_ptr T* at(std::uint32_t address) {
    return reinterpret_cast<volatile tt_l1_ptr T*>(static_cast<std::uintptr_t>(address));
}

inline void check_socket(const char* call, bool right) {
    if (!right) {
        tt_call_invalid(call, "the pages are not as the queue of the socket can have them");
    }
}
inline void refuse_host_socket(const char* call, std::uint32_t host) {
    if (host != 0) {
        unsupported(call, "sockets to and from the host are not modelled");
    }
}

// Waits until a counter in L1 is at least so many bytes ahead of another one.
FORCE_INLINE void wait_for_bytes(std::uint32_t address, std::uint32_t counted, std::uint32_t bytes) {
    const auto counter = at<std::uint32_t>(address);
    while (*counter - counted < bytes) {
    }
}

}  // namespace ttnn_rs

// Senders.

inline SocketSenderInterface create_sender_socket_interface(std::uint32_t config_addr) {
    const auto config = ttnn_rs::at<sender_socket_md>(config_addr);
    SocketSenderInterface socket{};
    socket.config_addr = config_addr;
    socket.write_ptr = config->write_ptr;
    socket.bytes_sent = config->bytes_sent;
    socket.bytes_acked_base_addr = config_addr + sender_socket_md_size_bytes;
    socket.num_downstreams = config->num_downstreams;
    socket.downstream_fifo_total_size = config->downstream_fifo_total_size;
    socket.downstream_fifo_addr = config->downstream_fifo_addr;
    socket.downstream_bytes_sent_addr = config->downstream_bytes_sent_addr;
    socket.is_d2h = config->is_d2h;
    ttnn_rs::refuse_host_socket("create_sender_socket_interface", socket.is_d2h);
    socket.d2d.downstream_enc_base_addr =
        socket.bytes_acked_base_addr + socket.num_downstreams * bytes_acked_size_bytes;
    return socket;
}

inline sender_downstream_encoding get_downstream_encoding(
    const SocketSenderInterface& socket, std::uint32_t downstream_id) {
    const auto place = ttnn_rs::at<d2d_sender_socket_md>(
        socket.d2d.downstream_enc_base_addr + downstream_id * downstream_encoding_size_bytes);
    return {
        .d2d = {
            .downstream_mesh_id = place->downstream_mesh_id,
            .downstream_chip_id = place->downstream_chip_id,
            .downstream_noc_y = place->downstream_noc_y,
            .downstream_noc_x = place->downstream_noc_x,
        }};
}

// The queue's last bytes are left out if no page fits there; both ends count them.
inline void set_sender_socket_page_size(SocketSenderInterface& socket, std::uint32_t page_size) {
    const std::uint32_t total = socket.downstream_fifo_total_size;
    ttnn_rs::check_socket(
        "set_sender_socket_page_size", page_size != 0 && page_size % L1_ALIGNMENT == 0 && page_size <= total);
    socket.page_size = page_size;
    socket.downstream_fifo_curr_size = total - total % page_size;
    socket.write_ptr = (socket.write_ptr + page_size - 1) / page_size * page_size;
    if (socket.write_ptr >= socket.downstream_fifo_curr_size) {
        socket.bytes_sent += total - socket.write_ptr;
        socket.write_ptr = 0;
    }
}

inline void socket_reserve_pages(const SocketSenderInterface& socket, std::uint32_t num_pages) {
    const std::uint32_t bytes = num_pages * socket.page_size;
    ttnn_rs::check_socket("socket_reserve_pages", bytes <= socket.downstream_fifo_curr_size);
    for (std::uint32_t i = 0; i < socket.num_downstreams; ++i) {
        ttnn_rs::wait_for_bytes(
            socket.bytes_acked_base_addr + i * bytes_acked_size_bytes,
            socket.bytes_sent - socket.downstream_fifo_total_size, bytes);
    }
}

inline void socket_push_pages(SocketSenderInterface& socket, std::uint32_t num_pages) {
    const std::uint32_t bytes = num_pages * socket.page_size;
    ttnn_rs::check_socket("socket_push_pages", bytes <= socket.downstream_fifo_curr_size);
    socket.write_ptr += bytes;
    socket.bytes_sent += bytes;
    if (socket.write_ptr >= socket.downstream_fifo_curr_size) {
        socket.write_ptr -= socket.downstream_fifo_curr_size;
        socket.bytes_sent += socket.downstream_fifo_total_size - socket.downstream_fifo_curr_size;
    }
}

inline void socket_barrier(const SocketSenderInterface& socket) {
    for (std::uint32_t i = 0; i < socket.num_downstreams; ++i) {
        const auto acked = ttnn_rs::at<std::uint32_t>(socket.bytes_acked_base_addr + i * bytes_acked_size_bytes);
        while (*acked != socket.bytes_sent) {
        }
    }
}

inline void update_socket_config(const SocketSenderInterface& socket) {
    const auto config = ttnn_rs::at<sender_socket_md>(socket.config_addr);
    config->bytes_sent = socket.bytes_sent;
    config->write_ptr = socket.write_ptr;
}

// Receivers.

inline SocketReceiverInterface create_receiver_socket_interface(std::uint32_t config_addr) {
    const auto config = ttnn_rs::at<receiver_socket_md>(config_addr);
    SocketReceiverInterface socket{};
    socket.config_addr = config_addr;
    socket.read_ptr = config->read_ptr;
    socket.bytes_acked = config->bytes_acked;
    socket.bytes_sent_addr = config_addr + offsetof(receiver_socket_md, bytes_sent);
    socket.fifo_addr = config->fifo_addr;
    socket.fifo_total_size = config->fifo_total_size;
    socket.is_h2d = config->is_h2d;
    ttnn_rs::refuse_host_socket("create_receiver_socket_interface", socket.is_h2d);
    socket.d2d = {
        config->d2d.upstream_mesh_id, config->d2d.upstream_chip_id, config->d2d.upstream_noc_y,
        config->d2d.upstream_noc_x, config->d2d.upstream_bytes_acked_addr};
    return socket;
}

inline void set_receiver_socket_page_size(SocketReceiverInterface& socket, std::uint32_t page_size) {
    const std::uint32_t total = socket.fifo_total_size;
    ttnn_rs::check_socket("set_receiver_socket_page_size", page_size != 0 && page_size <= total);
    socket.page_size = page_size;
    socket.fifo_curr_size = total - total % page_size;
    std::uint32_t offset = (socket.read_ptr - socket.fifo_addr + page_size - 1) / page_size * page_size;
    if (offset >= socket.fifo_curr_size) {
        // The sender counts the bytes that it leaves out.
        ttnn_rs::wait_for_bytes(socket.bytes_sent_addr, socket.bytes_acked, total - offset);
        socket.bytes_acked += total - offset;
        offset = 0;
    }
    socket.read_ptr = socket.fifo_addr + offset;
}

inline bool socket_wait_for_pages(
    const SocketReceiverInterface& socket, std::uint32_t num_pages, std::uint32_t early_exit_iter_count = 0) {
    std::uint32_t bytes = num_pages * socket.page_size;
    ttnn_rs::check_socket("socket_wait_for_pages", bytes <= socket.fifo_curr_size);
    if (socket.read_ptr - socket.fifo_addr + bytes >= socket.fifo_curr_size) {
        bytes += socket.fifo_total_size - socket.fifo_curr_size;
    }
    if (early_exit_iter_count == 0) {
        ttnn_rs::wait_for_bytes(socket.bytes_sent_addr, socket.bytes_acked, bytes);
        return true;
    }
    const auto sent = ttnn_rs::at<std::uint32_t>(socket.bytes_sent_addr);
    for (std::uint32_t i = 0; i < early_exit_iter_count; ++i) {
        if (*sent - socket.bytes_acked >= bytes) {
            return true;
        }
    }
    return false;
}

inline void socket_pop_pages(SocketReceiverInterface& socket, std::uint32_t num_pages) {
    const std::uint32_t bytes = num_pages * socket.page_size;
    ttnn_rs::check_socket("socket_pop_pages", bytes <= socket.fifo_curr_size);
    socket.read_ptr += bytes;
    socket.bytes_acked += bytes;
    if (socket.read_ptr - socket.fifo_addr >= socket.fifo_curr_size) {
        socket.read_ptr -= socket.fifo_curr_size;
        socket.bytes_acked += socket.fifo_total_size - socket.fifo_curr_size;
    }
}

inline void update_socket_config(const SocketReceiverInterface& socket) {
    const auto config = ttnn_rs::at<receiver_socket_md>(socket.config_addr);
    config->bytes_acked = socket.bytes_acked;
    config->read_ptr = socket.read_ptr;
}

inline void assign_local_cb_to_socket(
    [[maybe_unused]] const SocketReceiverInterface& socket, [[maybe_unused]] std::uint32_t cb_id) {
    ttnn_rs::unsupported("assign_local_cb_to_socket", "a circular buffer keeps its memory; read the queue at read_ptr");
}

#ifndef COMPILE_FOR_TRISC

template <typename SocketT>
void fabric_set_unicast_route(volatile tt_l1_ptr PACKET_HEADER_TYPE* fabric_header_addr, const SocketT& socket) {
    std::uint32_t mesh, chip;
    if constexpr (std::is_same_v<SocketT, sender_downstream_encoding>) {
        mesh = socket.d2d.downstream_mesh_id;
        chip = socket.d2d.downstream_chip_id;
    } else {
        static_assert(std::is_same_v<SocketT, SocketReceiverInterface>, "fabric_set_unicast_route: no end of a socket");
        mesh = socket.d2d.upstream_mesh_id;
        chip = socket.d2d.upstream_chip_id;
    }
    // In one dimension the host writes the number of hops in the chip's place.
    if constexpr (std::is_same_v<PACKET_HEADER_TYPE, tt::tt_fabric::HybridMeshPacketHeader>) {
        tt::tt_fabric::fabric_set_unicast_route(
            reinterpret_cast<volatile tt::tt_fabric::HybridMeshPacketHeader*>(fabric_header_addr), chip, mesh);
    } else {
        tt::tt_fabric::fabric_set_unicast_route<false>(
            reinterpret_cast<volatile tt::tt_fabric::LowLatencyPacketHeader*>(fabric_header_addr), chip);
    }
}

namespace ttnn_rs {

// Writes a counter into the memory of the other end.
inline void tell(
    tt::tt_fabric::WorkerToFabricEdmSender& connection, volatile tt_l1_ptr PACKET_HEADER_TYPE* header,
    std::uint64_t address, std::uint32_t counter) {
    header->to_noc_unicast_inline_write(tt::tt_fabric::NocUnicastInlineWriteCommandHeader{address, counter});
    connection.wait_for_empty_write_slot();
    connection.send_payload_flush_blocking_from_address(address_of(header), sizeof(PACKET_HEADER_TYPE));
}
FORCE_INLINE std::uint64_t counter_of(
    const SocketSenderInterface& socket, const sender_downstream_encoding& place, std::uint8_t noc = noc_index) {
    return get_noc_addr(
        place.d2d.downstream_noc_x, place.d2d.downstream_noc_y, socket.downstream_bytes_sent_addr, noc);
}
FORCE_INLINE std::uint64_t counter_of(const SocketReceiverInterface& socket, std::uint8_t noc = noc_index) {
    return get_noc_addr(
        socket.d2d.upstream_noc_x, socket.d2d.upstream_noc_y, socket.d2d.upstream_bytes_acked_addr, noc);
}

}  // namespace ttnn_rs

inline void fabric_socket_notify_receiver(
    const SocketSenderInterface& socket, tt::tt_fabric::WorkerToFabricEdmSender& fabric_connection,
    volatile tt_l1_ptr PACKET_HEADER_TYPE* fabric_header_addr) {
    for (std::uint32_t i = 0; i < socket.num_downstreams; ++i) {
        const sender_downstream_encoding place = get_downstream_encoding(socket, i);
        fabric_set_unicast_route(fabric_header_addr, place);
        ttnn_rs::tell(fabric_connection, fabric_header_addr, ttnn_rs::counter_of(socket, place), socket.bytes_sent);
    }
}
inline void fabric_socket_notify_sender(
    const SocketReceiverInterface& socket, tt::tt_fabric::WorkerToFabricEdmSender& fabric_connection,
    volatile tt_l1_ptr PACKET_HEADER_TYPE* fabric_header_addr) {
    fabric_set_unicast_route(fabric_header_addr, socket);
    ttnn_rs::tell(fabric_connection, fabric_header_addr, ttnn_rs::counter_of(socket), socket.bytes_acked);
}
FORCE_INLINE void fabric_socket_notify_sender_stateful(
    const SocketReceiverInterface& socket, tt::tt_fabric::WorkerToFabricEdmSender& fabric_connection,
    volatile tt_l1_ptr PACKET_HEADER_TYPE* fabric_header_addr, std::uint64_t upstream_bytes_acked_noc_addr) {
    ttnn_rs::tell(fabric_connection, fabric_header_addr, upstream_bytes_acked_noc_addr, socket.bytes_acked);
}

// For an other end on this chip.
inline void socket_notify_receiver(const SocketSenderInterface& socket, std::uint8_t noc = noc_index) {
    for (std::uint32_t i = 0; i < socket.num_downstreams; ++i) {
        const sender_downstream_encoding place = get_downstream_encoding(socket, i);
        noc_inline_dw_write(ttnn_rs::counter_of(socket, place, noc), socket.bytes_sent, 0xF, noc);
    }
}
inline void socket_notify_sender(const SocketReceiverInterface& socket, std::uint8_t noc = noc_index) {
    noc_inline_dw_write(ttnn_rs::counter_of(socket, noc), socket.bytes_acked, 0xF, noc);
}

#endif
