// Reads, writes, multicast, barriers.
#pragma once

#include "ttnn_rs/addresses.h"

enum class InlineWriteDst { DEFAULT, L1, REG };

namespace ttnn_rs {

enum Barrier : std::uint32_t { READS, FLUSHED, WRITES, ATOMICS, FULL };

FORCE_INLINE void check_packet(const char* call, std::uint32_t size) {
    if (size > NOC_MAX_BURST_SIZE) {
        tt_call_invalid(call, "more bytes than fit into one packet");
    }
}
FORCE_INLINE void read(std::uint64_t source, std::uint32_t target, std::uint32_t size, std::uint8_t noc) {
    tt_call_noc_async_read(low(source), high(source), target, size, noc);
}
FORCE_INLINE void write(std::uint32_t source, std::uint64_t target, std::uint32_t size, std::uint8_t noc) {
    tt_call_noc_async_write(source, low(target), high(target), size, noc);
}
FORCE_INLINE void multicast(
    std::uint32_t source, std::uint64_t target, std::uint32_t size, std::uint32_t destinations, bool loopback,
    bool linked, std::uint8_t noc) {
    tt_call_noc_async_write_multicast(source, low(target), high(target), size, destinations, loopback, linked, noc);
}
FORCE_INLINE void barrier(Barrier kind, std::uint8_t noc, std::int32_t trid = -1) {
    tt_call_noc_barrier(kind, noc, trid);
}

}  // namespace ttnn_rs

template <bool enable_noc_tracing = true>
FORCE_INLINE void noc_async_read_one_packet(
    std::uint64_t src_noc_addr, std::uint32_t dst_local_l1_addr, std::uint32_t size, std::uint8_t noc = noc_index,
    [[maybe_unused]] std::uint32_t read_req_vc = NOC_UNICAST_WRITE_VC) {
    ttnn_rs::check_packet("noc_async_read_one_packet", size);
    ttnn_rs::read(src_noc_addr, dst_local_l1_addr, size, noc);
}

template <std::uint32_t max_page_size = NOC_MAX_BURST_SIZE + 1, bool enable_noc_tracing = true>
FORCE_INLINE void noc_async_read(
    std::uint64_t src_noc_addr, std::uint32_t dst_local_l1_addr, std::uint32_t size, std::uint8_t noc = noc_index,
    [[maybe_unused]] std::uint32_t read_req_vc = NOC_UNICAST_WRITE_VC) {
    ttnn_rs::read(src_noc_addr, dst_local_l1_addr, size, noc);
}

template <bool enable_noc_tracing = true, bool posted = false>
FORCE_INLINE void noc_async_write_one_packet(
    std::uint32_t src_local_l1_addr, std::uint64_t dst_noc_addr, std::uint32_t size, std::uint8_t noc = noc_index,
    [[maybe_unused]] std::uint32_t vc = NOC_UNICAST_WRITE_VC) {
    ttnn_rs::check_packet("noc_async_write_one_packet", size);
    ttnn_rs::write(src_local_l1_addr, dst_noc_addr, size, noc);
}

template <std::uint32_t max_page_size = NOC_MAX_BURST_SIZE + 1, bool enable_noc_tracing = true, bool posted = false>
FORCE_INLINE void noc_async_write(
    std::uint32_t src_local_l1_addr, std::uint64_t dst_noc_addr, std::uint32_t size, std::uint8_t noc = noc_index,
    [[maybe_unused]] std::uint32_t vc = NOC_UNICAST_WRITE_VC) {
    ttnn_rs::write(src_local_l1_addr, dst_noc_addr, size, noc);
}

template <bool enable_noc_tracing = true>
FORCE_INLINE void noc_async_write_multicast_one_packet(
    std::uint32_t src_local_l1_addr, std::uint64_t dst_noc_addr_multicast, std::uint32_t size,
    std::uint32_t num_dests, bool linked = false, std::uint8_t noc = noc_index) {
    ttnn_rs::check_packet("noc_async_write_multicast_one_packet", size);
    ttnn_rs::multicast(src_local_l1_addr, dst_noc_addr_multicast, size, num_dests, false, linked, noc);
}

template <std::uint32_t max_page_size = NOC_MAX_BURST_SIZE + 1>
FORCE_INLINE void noc_async_write_multicast(
    std::uint32_t src_local_l1_addr, std::uint64_t dst_noc_addr_multicast, std::uint32_t size,
    std::uint32_t num_dests, bool linked = false, std::uint8_t noc = noc_index,
    [[maybe_unused]] std::uint8_t vc = NOC_MULTICAST_WRITE_VC) {
    ttnn_rs::multicast(src_local_l1_addr, dst_noc_addr_multicast, size, num_dests, false, linked, noc);
}

FORCE_INLINE void noc_async_write_multicast_loopback_src(
    std::uint32_t src_local_l1_addr, std::uint64_t dst_noc_addr_multicast, std::uint32_t size,
    std::uint32_t num_dests, bool linked = false, std::uint8_t noc = noc_index) {
    ttnn_rs::multicast(src_local_l1_addr, dst_noc_addr_multicast, size, num_dests, true, linked, noc);
}

// Pages.

template <typename AddrGen, bool enable_noc_tracing = true>
FORCE_INLINE void noc_async_read_page(
    const std::uint32_t id, const AddrGen& addrgen, std::uint32_t dst_local_l1_addr, std::uint32_t offset = 0,
    std::uint8_t noc = noc_index) {
    const std::uint32_t size = ttnn_rs::page_bytes(addrgen);
    if constexpr (ttnn_rs::FoundByEngine<AddrGen>) {
        const ttnn_rs::Interleaved pages = addrgen.interleaved();
        tt_call_noc_async_read_page(
            pages.dram, pages.base, 0, pages.bytes, id, 0, offset, dst_local_l1_addr, size, noc);
    } else {
        ttnn_rs::read(addrgen.get_noc_addr(id, offset, noc), dst_local_l1_addr, size, noc);
    }
}

template <typename AddrGen>
FORCE_INLINE void noc_async_read_tile(
    const std::uint32_t id, const AddrGen& addrgen, std::uint32_t dst_local_l1_addr, std::uint32_t offset = 0,
    std::uint8_t noc = noc_index) {
    if constexpr (ttnn_rs::FoundByEngine<AddrGen>) {
        const ttnn_rs::Interleaved pages = addrgen.interleaved();
        tt_call_noc_async_read_tile(
            pages.dram, pages.base, 0, pages.bytes, id, 0, offset, dst_local_l1_addr, pages.bytes, noc);
    } else {
        noc_async_read_page(id, addrgen, dst_local_l1_addr, offset, noc);
    }
}

template <typename AddrGen, bool enable_noc_tracing = true, bool posted = false>
FORCE_INLINE void noc_async_write_page(
    const std::uint32_t id, const AddrGen& addrgen, std::uint32_t src_local_l1_addr, std::uint32_t size = 0,
    std::uint32_t offset = 0, std::uint8_t noc = noc_index) {
    const std::uint32_t bytes = size != 0 ? size : ttnn_rs::page_bytes(addrgen);
    if constexpr (ttnn_rs::FoundByEngine<AddrGen>) {
        const ttnn_rs::Interleaved pages = addrgen.interleaved();
        tt_call_noc_async_write_page(
            pages.dram, pages.base, 0, pages.bytes, id, 0, offset, src_local_l1_addr, bytes, noc);
    } else {
        ttnn_rs::write(src_local_l1_addr, addrgen.get_noc_addr(id, offset, noc), bytes, noc);
    }
}

template <typename AddrGen>
FORCE_INLINE void noc_async_write_tile(
    const std::uint32_t id, const AddrGen& addrgen, std::uint32_t src_local_l1_addr, std::uint8_t noc = noc_index) {
    if constexpr (ttnn_rs::FoundByEngine<AddrGen>) {
        const ttnn_rs::Interleaved pages = addrgen.interleaved();
        tt_call_noc_async_write_tile(
            pages.dram, pages.base, 0, pages.bytes, id, 0, 0, src_local_l1_addr, pages.bytes, noc);
    } else {
        noc_async_write_page(id, addrgen, src_local_l1_addr, 0, 0, noc);
    }
}

// Words.

template <InlineWriteDst dst_type = InlineWriteDst::DEFAULT, bool posted = false, bool flush = true>
FORCE_INLINE void noc_inline_dw_write(
    std::uint64_t addr, std::uint32_t val, std::uint8_t be = 0xF, std::uint8_t noc = noc_index,
    [[maybe_unused]] std::uint8_t vc = NOC_UNICAST_WRITE_VC, [[maybe_unused]] std::uint32_t customized_src_addr = 0) {
    tt_call_noc_inline_dw_write(ttnn_rs::low(addr), ttnn_rs::high(addr), val, noc, be);
}

// Barriers.

FORCE_INLINE void noc_async_read_barrier(std::uint8_t noc = noc_index) { ttnn_rs::barrier(ttnn_rs::READS, noc); }
FORCE_INLINE void noc_async_writes_flushed(std::uint8_t noc = noc_index) { ttnn_rs::barrier(ttnn_rs::FLUSHED, noc); }
FORCE_INLINE void noc_async_posted_writes_flushed(std::uint8_t noc = noc_index) {
    ttnn_rs::barrier(ttnn_rs::FLUSHED, noc);
}
FORCE_INLINE void noc_async_write_barrier(std::uint8_t noc = noc_index) { ttnn_rs::barrier(ttnn_rs::WRITES, noc); }
FORCE_INLINE void noc_async_atomic_barrier(std::uint8_t noc_idx = noc_index) {
    ttnn_rs::barrier(ttnn_rs::ATOMICS, noc_idx);
}
FORCE_INLINE void noc_async_full_barrier(std::uint8_t noc_idx = noc_index) { ttnn_rs::barrier(ttnn_rs::FULL, noc_idx); }

// Transaction ids.

FORCE_INLINE void noc_async_read_set_trid(std::uint32_t trid = 0, std::uint8_t noc = noc_index) {
    tt_call_set_trid(false, trid, noc);
}
FORCE_INLINE void noc_async_write_set_trid(std::uint32_t trid = 0, std::uint8_t noc = noc_index) {
    tt_call_set_trid(true, trid, noc);
}
FORCE_INLINE void noc_async_read_barrier_with_trid(std::uint32_t trid, std::uint8_t noc = noc_index) {
    ttnn_rs::barrier(ttnn_rs::READS, noc, trid);
}
FORCE_INLINE void noc_async_write_flushed_with_trid(std::uint32_t trid, std::uint8_t noc = noc_index) {
    ttnn_rs::barrier(ttnn_rs::FLUSHED, noc, trid);
}
FORCE_INLINE void noc_async_write_barrier_with_trid(std::uint32_t trid, std::uint8_t noc = noc_index) {
    ttnn_rs::barrier(ttnn_rs::WRITES, noc, trid);
}
FORCE_INLINE void reset_noc_trid_barrier_counter(
    std::uint32_t id_mask = NOC_CLEAR_OUTSTANDING_REQ_MASK, std::uint32_t noc = noc_index) {
    tt_call_reset_trids(id_mask, noc);
}
