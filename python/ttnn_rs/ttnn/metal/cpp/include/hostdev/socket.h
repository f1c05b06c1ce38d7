// The configurations of sockets in L1, and what a kernel remembers of an end.
#pragma once

#include "ttnn_rs/base.h"

struct d2h_sender_socket_md {
    std::uint32_t bytes_sent_addr_hi;
    std::uint32_t data_addr_hi;
    std::uint32_t pcie_xy_enc;
};
struct d2d_sender_socket_md {
    std::uint32_t downstream_mesh_id;
    std::uint32_t downstream_chip_id;
    std::uint32_t downstream_noc_y;
    std::uint32_t downstream_noc_x;
};
union sender_downstream_encoding {
    d2h_sender_socket_md d2h;
    d2d_sender_socket_md d2d;
};

// A sender's configuration. After it, each 16-byte aligned: acknowledged bytes of each receiver, then their places.
struct sender_socket_md {
    std::uint32_t bytes_sent = 0;
    std::uint32_t num_downstreams = 0;
    std::uint32_t write_ptr = 0;
    std::uint32_t downstream_bytes_sent_addr = 0;
    std::uint32_t downstream_fifo_addr = 0;
    std::uint32_t downstream_fifo_total_size = 0;
    std::uint32_t is_d2h = 0;
};

struct h2d_socket_md {
    std::uint32_t bytes_acked_addr_lo;
    std::uint32_t bytes_acked_addr_hi;
    std::uint32_t data_addr_lo;
    std::uint32_t data_addr_hi;
    std::uint32_t pcie_xy_enc;
};
struct d2d_recv_socket_md {
    std::uint32_t upstream_mesh_id;
    std::uint32_t upstream_chip_id;
    std::uint32_t upstream_noc_y;
    std::uint32_t upstream_noc_x;
    std::uint32_t upstream_bytes_acked_addr;
};

// A receiver's configuration.
struct receiver_socket_md {
    std::uint32_t bytes_sent;
    std::uint32_t read_ptr;
    std::uint32_t fifo_addr;
    std::uint32_t fifo_total_size;
    std::uint32_t bytes_acked;
    std::uint32_t is_h2d;
    union {
        h2d_socket_md h2d;
        d2d_recv_socket_md d2d;
    };
};

using H2DSocketInterface = h2d_socket_md;
using D2DSocketRecvInterface = d2d_recv_socket_md;
using D2HSocketInterface = d2h_sender_socket_md;
struct D2DSocketSendInterface {
    std::uint32_t downstream_enc_base_addr;
};

struct SocketSenderInterface {
    std::uint32_t config_addr;
    std::uint32_t write_ptr;
    std::uint32_t bytes_sent;
    std::uint32_t bytes_acked_base_addr;
    std::uint32_t page_size;
    std::uint32_t num_downstreams;
    std::uint32_t downstream_fifo_total_size;
    std::uint32_t downstream_fifo_curr_size;
    std::uint32_t downstream_fifo_addr;
    std::uint32_t downstream_bytes_sent_addr;
    std::uint32_t is_d2h;
    union {
        D2HSocketInterface d2h;
        D2DSocketSendInterface d2d;
    };
};
struct SocketReceiverInterface {
    std::uint32_t config_addr;
    std::uint32_t read_ptr;
    std::uint32_t bytes_acked;
    std::uint32_t bytes_sent_addr;
    std::uint32_t page_size;
    std::uint32_t fifo_addr;
    std::uint32_t fifo_total_size;
    std::uint32_t fifo_curr_size;
    std::uint32_t is_h2d;
    union {
        H2DSocketInterface h2d;
        D2DSocketRecvInterface d2d;
    };
};
