// Circular buffers as kernels see them: the structure of pointers and sizes that the engine keeps up to date.
#pragma once

#include "internal/tensix_types.h"
#include "ttnn_rs/arguments.h"

#ifdef COMPILE_FOR_TRISC
// Compute threads count in units of 16 bytes.
constexpr std::uint32_t cb_addr_shift = 4;
#else
constexpr std::uint32_t cb_addr_shift = 0;
#endif
constexpr std::uint32_t CIRCULAR_BUFFER_COMPUTE_ADDR_SHIFT = 4;

struct RemoteSenderCBInterface {
    std::uint32_t config_ptr;
    std::uint32_t fifo_start_addr;
    std::uint32_t fifo_limit_page_aligned;
    std::uint32_t fifo_page_size;
    std::uint32_t fifo_wr_ptr;
    std::uint32_t receiver_noc_xy_ptr;
    std::uint32_t aligned_pages_sent_ptr;
    std::uint32_t num_receivers;
};

struct RemoteReceiverCBInterface {
    std::uint32_t config_ptr;
    std::uint32_t fifo_start_addr;
    std::uint32_t fifo_limit_page_aligned;
    std::uint32_t fifo_page_size;
    std::uint32_t fifo_rd_ptr;
    std::uint32_t sender_noc_x;
    std::uint32_t sender_noc_y;
    std::uint32_t aligned_pages_acked_ptr;
};

struct LocalCBInterface {
    std::uint32_t fifo_size;
    std::uint32_t fifo_limit;
    std::uint32_t fifo_page_size;
    std::uint32_t fifo_num_pages;
    std::uint32_t fifo_rd_ptr;
    std::uint32_t fifo_wr_ptr;
    union {
        std::uint32_t tiles_acked_received_init;
        struct {
            std::uint16_t tiles_acked;
            std::uint16_t tiles_received;
        };
    };
    std::uint32_t fifo_wr_tile_ptr;
};

struct CBInterface {
    union {
        LocalCBInterface local_cb_interface;
        RemoteSenderCBInterface remote_sender_cb_interface;
        RemoteReceiverCBInterface remote_receiver_cb_interface;
    };
};
static_assert(sizeof(CBInterface) == 32);

extern "C" CBInterface cb_interface[32];

FORCE_INLINE LocalCBInterface& get_local_cb_interface(std::uint32_t cb_id) {
    return cb_interface[cb_id].local_cb_interface;
}

namespace ttnn_rs {

// Ends of remote CBs: the kernel's own, while the engine watches the other array. Filled in by the first use.
inline CBInterface remote_interface[32];
RemoteSenderCBInterface& remote_end(const char* call, std::uint32_t cb_id);

}  // namespace ttnn_rs

FORCE_INLINE RemoteSenderCBInterface& get_remote_sender_cb_interface(std::uint32_t cb_id) {
    return ttnn_rs::remote_end("get_remote_sender_cb_interface", cb_id);
}
FORCE_INLINE RemoteReceiverCBInterface& get_remote_receiver_cb_interface(std::uint32_t cb_id) {
    ttnn_rs::remote_end("get_remote_receiver_cb_interface", cb_id);
    return ttnn_rs::remote_interface[cb_id].remote_receiver_cb_interface;
}
