// Sends of chunks, and the network on which workers talk to the fabric.
#pragma once

#include "api/dataflow/dataflow_api.h"
#include "tt-metalium/experimental/fabric/fabric_edm_types.hpp"

namespace tt::tt_fabric {

constexpr std::uint8_t edm_to_local_chip_noc = 1;
constexpr std::uint8_t worker_handshake_noc = noc_index;

FORCE_INLINE constexpr std::uint8_t get_fabric_worker_noc() { return noc_index; }

enum EDM_IO_BLOCKING_MODE { FLUSH_BLOCKING, BLOCKING, NON_BLOCKING };

}  // namespace tt::tt_fabric

namespace ttnn_rs {

template <tt::tt_fabric::EDM_IO_BLOCKING_MODE mode>
FORCE_INLINE void wait_as(std::uint8_t noc) {
    if constexpr (mode == tt::tt_fabric::FLUSH_BLOCKING) {
        noc_async_writes_flushed(noc);
    } else if constexpr (mode == tt::tt_fabric::BLOCKING) {
        noc_async_write_barrier(noc);
    }
}

}  // namespace ttnn_rs

namespace tt::tt_fabric {

template <EDM_IO_BLOCKING_MODE blocking_mode = BLOCKING, bool posted = false>
FORCE_INLINE void send_chunk_from_address(
    const std::uint32_t& local_l1_address, const std::uint32_t& num_pages, const std::uint32_t& page_size,
    std::uint64_t remote_l1_write_addr, std::uint8_t noc = get_fabric_worker_noc()) {
    noc_async_write(local_l1_address, remote_l1_write_addr, page_size * num_pages, noc);
    ttnn_rs::wait_as<blocking_mode>(noc);
}

template <EDM_IO_BLOCKING_MODE blocking_mode = BLOCKING, bool posted = false>
FORCE_INLINE void send_chunk(
    const std::uint32_t& cb_id, const std::uint32_t& num_pages, const std::uint32_t& page_size,
    std::uint64_t remote_l1_write_addr, std::uint8_t noc = get_fabric_worker_noc()) {
    cb_wait_front(cb_id, num_pages);
    send_chunk_from_address<blocking_mode>(get_read_ptr(cb_id), num_pages, page_size, remote_l1_write_addr, noc);
    if constexpr (blocking_mode != NON_BLOCKING) {
        cb_pop_front(cb_id, num_pages);
    }
}

}  // namespace tt::tt_fabric
