// Circular buffers between cores: a sender fills the pages of its receivers. Both ends find each other through the
// configuration in their L1, whose words ttnn/metal/global_circular_buffer.py describes.
#pragma once

#include "ttnn_rs/cb.h"
#include "ttnn_rs/semaphores.h"

#ifndef TTNN_RS_REMOTES
#define TTNN_RS_REMOTES
#endif

namespace ttnn_rs {

// Bytes that the counters count; also the distance of a receiver's two counters.
constexpr std::uint32_t REMOTE_UNIT = 16;

struct RemoteEnd {
    std::uint32_t cb, config, page_bytes;
};
inline constexpr std::array<RemoteEnd, 33> remote_list = {{TTNN_RS_REMOTES}};

FORCE_INLINE volatile tt_l1_ptr std::uint32_t* remote_words(std::uint32_t address) {
    return reinterpret_cast<volatile tt_l1_ptr std::uint32_t*>(static_cast<std::uintptr_t>(address));
}

// Both kinds of ends begin alike: configuration, start, end, page, pointer.
inline RemoteSenderCBInterface& remote_end(const char* call, std::uint32_t cb_id) {
    const RemoteEnd* found = nullptr;
    for (const RemoteEnd& end : remote_list) {
        if (end.config != 0 && end.cb == cb_id) {
            found = &end;
        }
    }
    if (found == nullptr) {
        tt_call_invalid(call, "this remote CB is not configured on this core");
    }
    CBInterface& entry = remote_interface[cb_id];
    RemoteSenderCBInterface& sender = entry.remote_sender_cb_interface;
    if (sender.config_ptr == 0) {
        const auto words = remote_words(found->config);
        sender = {found->config, words[3], words[3] + words[4], found->page_bytes, words[5], 0, 0, 0};
        if (words[0] != 0) {
            sender.receiver_noc_xy_ptr = words[2];
            sender.aligned_pages_sent_ptr = words[6];
            sender.num_receivers = words[1];
        } else {
            RemoteReceiverCBInterface& receiver = entry.remote_receiver_cb_interface;
            receiver.sender_noc_x = words[1];
            receiver.sender_noc_y = words[2];
            receiver.aligned_pages_acked_ptr = words[6] + REMOTE_UNIT;
        }
    }
    return sender;
}

FORCE_INLINE bool remote_sends(const RemoteSenderCBInterface& end) { return remote_words(end.config_ptr)[0] != 0; }
FORCE_INLINE std::uint32_t remote_size(const RemoteSenderCBInterface& end) {
    return end.fifo_limit_page_aligned - end.fifo_start_addr;
}

inline RemoteSenderCBInterface& remote_sender(const char* call, std::uint32_t cb_id) {
    RemoteSenderCBInterface& end = remote_end(call, cb_id);
    if (!remote_sends(end)) {
        tt_call_invalid(call, "this core receives through this remote CB");
    }
    return end;
}
inline RemoteReceiverCBInterface& remote_receiver(const char* call, std::uint32_t cb_id) {
    if (remote_sends(remote_end(call, cb_id))) {
        tt_call_invalid(call, "this core sends through this remote CB");
    }
    return remote_interface[cb_id].remote_receiver_cb_interface;
}

// A number of pages in units, after checking that they can be there at all.
inline std::uint32_t remote_units(const char* call, const RemoteSenderCBInterface& end, std::uint32_t pages) {
    const std::uint32_t size = pages * end.fifo_page_size;
    if (pages == 0 || size > remote_size(end)) {
        tt_call_invalid(call, "the remote CB has fewer pages than are asked for, or none are asked for");
    }
    return size / REMOTE_UNIT;
}

FORCE_INLINE std::uint32_t remote_behind(const RemoteSenderCBInterface& end, std::uint32_t address, std::uint32_t bytes) {
    return end.fifo_start_addr + (address - end.fifo_start_addr + bytes) % remote_size(end);
}
FORCE_INLINE std::uint32_t remote_counter(const RemoteSenderCBInterface& end, std::uint32_t receiver, bool taken) {
    return end.aligned_pages_sent_ptr + (2 * receiver + taken) * REMOTE_UNIT;
}

// Units that a sender has counted, the same for every receiver.
FORCE_INLINE std::uint32_t remote_sent(const RemoteSenderCBInterface& end) {
    return *remote_words(remote_counter(end, 0, false));
}

inline void remote_resize(const char* call, RemoteSenderCBInterface& end, std::uint32_t page_size) {
    if (page_size == 0 || page_size % REMOTE_UNIT != 0 || remote_size(end) % page_size != 0 ||
        (end.fifo_wr_ptr - end.fifo_start_addr) % page_size != 0) {
        unsupported(call, "size and place of the remote CB must be multiples of the new page");
    }
    end.fifo_page_size = page_size;
}

}  // namespace ttnn_rs

namespace experimental {

inline void remote_cb_reserve_back(std::uint32_t cb_id, std::uint32_t num_pages) {
    const auto& end = ttnn_rs::remote_sender("remote_cb_reserve_back", cb_id);
    const std::uint32_t needed =
        ttnn_rs::remote_sent(end) + ttnn_rs::remote_units("remote_cb_reserve_back", end, num_pages);
    const std::uint32_t room = ttnn_rs::remote_size(end) / ttnn_rs::REMOTE_UNIT;
    for (std::uint32_t receiver = 0; needed > room && receiver < end.num_receivers; ++receiver) {
        noc_semaphore_wait_min(ttnn_rs::remote_words(ttnn_rs::remote_counter(end, receiver, true)), needed - room);
    }
}

// The bytes at `local_cb_addr` are rows. A row has a part for each receiver, of pieces of one size.
template <bool skip_ptr_update = true>
inline void remote_cb_push_back_and_write_pages(
    std::uint32_t cb_id, std::uint32_t local_cb_addr, std::uint32_t num_pages, std::uint32_t num_rows,
    std::uint32_t coalesced_num_pages_per_row, std::uint32_t coalesced_page_size, std::uint8_t noc = noc_index) {
    const char* call = "remote_cb_push_back_and_write_pages";
    auto& end = ttnn_rs::remote_sender(call, cb_id);
    const std::uint32_t units = ttnn_rs::remote_units(call, end, num_pages);
    const std::uint32_t part = coalesced_num_pages_per_row * coalesced_page_size;
    if (part * num_rows != units * ttnn_rs::REMOTE_UNIT) {
        tt_call_invalid(call, "the pieces are not the pages");
    }
    const std::uint32_t sent = ttnn_rs::remote_sent(end) + units;
    const auto places = ttnn_rs::remote_words(end.receiver_noc_xy_ptr);
    for (std::uint32_t receiver = 0; receiver < end.num_receivers; ++receiver) {
        const std::uint32_t x = places[2 * receiver], y = places[2 * receiver + 1];
        std::uint32_t target = end.fifo_wr_ptr;
        for (std::uint32_t row = 0; row < num_rows; ++row) {
            std::uint32_t source = local_cb_addr + (row * end.num_receivers + receiver) * part;
            for (std::uint32_t piece = 0; piece < coalesced_num_pages_per_row; ++piece) {
                ttnn_rs::write(source, get_noc_addr(x, y, target, noc), coalesced_page_size, noc);
                source += coalesced_page_size;
                target = ttnn_rs::remote_behind(end, target, coalesced_page_size);
            }
        }
        const std::uint32_t counter = ttnn_rs::remote_counter(end, receiver, false);
        *ttnn_rs::remote_words(counter) = sent;
        noc_semaphore_inc(get_noc_addr(x, y, counter, noc), units, noc);
    }
    end.fifo_wr_ptr = ttnn_rs::remote_behind(end, end.fifo_wr_ptr, units * ttnn_rs::REMOTE_UNIT);
}

inline void remote_cb_sender_barrier(std::uint32_t cb_id) {
    const auto& end = ttnn_rs::remote_sender("remote_cb_sender_barrier", cb_id);
    for (std::uint32_t receiver = 0; receiver < end.num_receivers; ++receiver) {
        noc_semaphore_wait_min(
            ttnn_rs::remote_words(ttnn_rs::remote_counter(end, receiver, true)), ttnn_rs::remote_sent(end));
    }
}

inline void remote_cb_wait_front(std::uint32_t cb_id, std::uint32_t num_pages) {
    const auto& end = ttnn_rs::remote_receiver("remote_cb_wait_front", cb_id);
    const auto& common = ttnn_rs::remote_interface[cb_id].remote_sender_cb_interface;
    const std::uint32_t units = ttnn_rs::remote_units("remote_cb_wait_front", common, num_pages);
    const std::uint32_t taken = *ttnn_rs::remote_words(end.aligned_pages_acked_ptr);
    noc_semaphore_wait_min(
        ttnn_rs::remote_words(end.aligned_pages_acked_ptr - ttnn_rs::REMOTE_UNIT), taken + units);
}

inline void remote_cb_pop_front(std::uint32_t cb_id, std::uint32_t num_pages, std::uint8_t noc = noc_index) {
    auto& end = ttnn_rs::remote_receiver("remote_cb_pop_front", cb_id);
    const auto& common = ttnn_rs::remote_interface[cb_id].remote_sender_cb_interface;
    const std::uint32_t units = ttnn_rs::remote_units("remote_cb_pop_front", common, num_pages);
    const auto taken = ttnn_rs::remote_words(end.aligned_pages_acked_ptr);
    *taken = *taken + units;
    noc_semaphore_inc(
        get_noc_addr(end.sender_noc_x, end.sender_noc_y, end.aligned_pages_acked_ptr, noc), units, noc);
    end.fifo_rd_ptr = ttnn_rs::remote_behind(common, end.fifo_rd_ptr, units * ttnn_rs::REMOTE_UNIT);
}

// Local CBs always start at their first page, so that they are aligned or cannot be.
template <std::uint32_t num_local_cbs>
inline void align_local_cbs_to_remote_cb(
    std::uint32_t remote_cb_index, const std::uint32_t (&local_cb_indices)[num_local_cbs]) {
    const auto& end = ttnn_rs::remote_end("align_local_cbs_to_remote_cb", remote_cb_index);
    for (const std::uint32_t cb : local_cb_indices) {
        if (end.fifo_wr_ptr != get_read_ptr(cb) && end.fifo_wr_ptr != get_write_ptr(cb)) {
            ttnn_rs::unsupported(
                "align_local_cbs_to_remote_cb", "the remote CB does not stand where the local one starts");
        }
    }
}

template <bool update_remote_over_noc = false>
inline void resize_remote_sender_cb_interface(
    std::uint32_t cb_id, std::uint32_t page_size, [[maybe_unused]] std::uint8_t noc = noc_index,
    [[maybe_unused]] std::uint8_t nm = 0, [[maybe_unused]] bool posted = true, [[maybe_unused]] std::uint8_t cmd_buf = 0) {
    const char* call = "resize_remote_sender_cb_interface";
    ttnn_rs::remote_resize(call, ttnn_rs::remote_sender(call, cb_id), page_size);
}
template <bool update_remote_over_noc = false>
inline void resize_remote_receiver_cb_interface(
    std::uint32_t cb_id, std::uint32_t page_size, [[maybe_unused]] std::uint8_t noc = noc_index,
    [[maybe_unused]] std::uint8_t nm = 0, [[maybe_unused]] bool posted = true, [[maybe_unused]] std::uint8_t cmd_buf = 0) {
    const char* call = "resize_remote_receiver_cb_interface";
    ttnn_rs::remote_receiver(call, cb_id);
    ttnn_rs::remote_resize(call, ttnn_rs::remote_interface[cb_id].remote_sender_cb_interface, page_size);
}

// The next program continues from here.
inline void update_remote_cb_config_in_l1(std::uint32_t remote_cb_index) {
    const auto& end = ttnn_rs::remote_end("update_remote_cb_config_in_l1", remote_cb_index);
    ttnn_rs::remote_words(end.config_ptr)[5] = end.fifo_wr_ptr;
}

}  // namespace experimental
