// Transfers in parts: core or bank, and for packets the size, are stored once for many transfers.
#pragma once

#include "ttnn_rs/semaphores.h"

namespace ttnn_rs {

struct State {
    std::uint64_t place;
    std::uint32_t size;
    bool set;
};
inline State read_state[2], write_state[2], word_state[2];

constexpr std::uint64_t LOCAL = (1ULL << 36) - 1;

FORCE_INLINE void store(State& state, std::uint64_t place, std::uint32_t size) { state = {place & ~LOCAL, size, true}; }
FORCE_INLINE const State& stored(const char* call, const State& state) {
    if (!state.set) {
        tt_call_invalid(call, "the state of this network was not set");
    }
    return state;
}

}  // namespace ttnn_rs

FORCE_INLINE void noc_async_read_set_state(std::uint64_t src_noc_addr, std::uint8_t noc = noc_index) {
    ttnn_rs::store(ttnn_rs::read_state[noc], src_noc_addr, 0);
}
template <bool inc_num_issued = true, bool skip_cmdbuf_chk = false>
FORCE_INLINE void noc_async_read_with_state(
    std::uint32_t src_local_l1_addr, std::uint32_t dst_local_l1_addr, std::uint32_t size,
    std::uint8_t noc = noc_index) {
    const auto& state = ttnn_rs::stored("noc_async_read_with_state", ttnn_rs::read_state[noc]);
    ttnn_rs::read(state.place | src_local_l1_addr, dst_local_l1_addr, size, noc);
}
template <bool use_vc = false>
FORCE_INLINE void noc_async_read_one_packet_set_state(
    std::uint64_t src_noc_addr, std::uint32_t size, [[maybe_unused]] const std::uint32_t vc = 0,
    std::uint8_t noc = noc_index) {
    ttnn_rs::check_packet("noc_async_read_one_packet_set_state", size);
    ttnn_rs::store(ttnn_rs::read_state[noc], src_noc_addr, size);
}
template <bool inc_num_issued = true, bool use_vc = false>
FORCE_INLINE void noc_async_read_one_packet_with_state(
    std::uint32_t src_local_l1_addr, std::uint32_t dst_local_l1_addr, [[maybe_unused]] const std::uint32_t vc = 0,
    std::uint8_t noc = noc_index) {
    const auto& state = ttnn_rs::stored("noc_async_read_one_packet_with_state", ttnn_rs::read_state[noc]);
    ttnn_rs::read(state.place | src_local_l1_addr, dst_local_l1_addr, state.size, noc);
}
template <bool skip_ptr_update = false, bool skip_cmdbuf_chk = false>
FORCE_INLINE void noc_async_read_one_packet_with_state_with_trid(
    std::uint32_t src_base_addr, std::uint32_t src_addr, std::uint32_t dest_addr, std::uint32_t trid = 0,
    std::uint8_t noc = noc_index) {
    noc_async_read_set_trid(trid, noc);
    noc_async_read_one_packet_with_state(src_base_addr + src_addr, dest_addr, 0, noc);
}

template <bool posted = false>
FORCE_INLINE void noc_async_write_set_state(
    std::uint64_t dst_noc_addr, std::uint8_t noc = noc_index,
    [[maybe_unused]] std::uint8_t vc = NOC_UNICAST_WRITE_VC) {
    ttnn_rs::store(ttnn_rs::write_state[noc], dst_noc_addr, 0);
}
template <bool posted = false, bool update_counter = true, bool skip_cmdbuf_chk = false>
FORCE_INLINE void noc_async_write_with_state(
    std::uint32_t src_local_l1_addr, std::uint32_t dst_local_l1_addr, std::uint32_t size,
    std::uint8_t noc = noc_index) {
    const auto& state = ttnn_rs::stored("noc_async_write_with_state", ttnn_rs::write_state[noc]);
    ttnn_rs::write(src_local_l1_addr, state.place | dst_local_l1_addr, size, noc);
}
template <bool posted = false>
FORCE_INLINE void noc_async_write_one_packet_set_state(
    std::uint64_t dst_noc_addr, std::uint32_t size, std::uint8_t noc = noc_index,
    [[maybe_unused]] std::uint8_t vc = NOC_UNICAST_WRITE_VC) {
    ttnn_rs::check_packet("noc_async_write_one_packet_set_state", size);
    ttnn_rs::store(ttnn_rs::write_state[noc], dst_noc_addr, size);
}
template <bool posted = false>
FORCE_INLINE void noc_async_write_one_packet_with_state(
    std::uint32_t src_local_l1_addr, std::uint32_t dst_local_l1_addr, std::uint8_t noc = noc_index) {
    const auto& state = ttnn_rs::stored("noc_async_write_one_packet_with_state", ttnn_rs::write_state[noc]);
    ttnn_rs::write(src_local_l1_addr, state.place | dst_local_l1_addr, state.size, noc);
}

// Transaction ids.

template <bool update_counter = true, bool posted = false>
FORCE_INLINE void noc_async_write_one_packet_with_trid(
    std::uint32_t src_local_l1_addr, std::uint64_t dst_noc_addr, std::uint32_t size, std::uint32_t trid,
    [[maybe_unused]] std::uint8_t cmd_buf = write_cmd_buf, std::uint8_t noc = noc_index,
    [[maybe_unused]] std::uint8_t vc = NOC_UNICAST_WRITE_VC) {
    ttnn_rs::check_packet("noc_async_write_one_packet_with_trid", size);
    noc_async_write_set_trid(trid, noc);
    ttnn_rs::write(src_local_l1_addr, dst_noc_addr, size, noc);
}
template <bool posted = false>
FORCE_INLINE void noc_async_write_one_packet_with_trid_set_state(
    std::uint64_t dst_noc_addr, [[maybe_unused]] std::uint8_t cmd_buf = write_cmd_buf, std::uint8_t noc = noc_index,
    [[maybe_unused]] std::uint8_t vc = NOC_UNICAST_WRITE_VC) {
    ttnn_rs::store(ttnn_rs::write_state[noc], dst_noc_addr, 0);
}
template <bool update_counter = true, bool posted = false>
FORCE_INLINE void noc_async_write_one_packet_with_trid_with_state(
    std::uint32_t src_local_l1_addr, std::uint32_t dst_local_l1_addr, std::uint32_t size, std::uint32_t trid,
    [[maybe_unused]] std::uint8_t cmd_buf = write_cmd_buf, std::uint8_t noc = noc_index) {
    ttnn_rs::check_packet("noc_async_write_one_packet_with_trid_with_state", size);
    noc_async_write_set_trid(trid, noc);
    noc_async_write_with_state(src_local_l1_addr, dst_local_l1_addr, size, noc);
}

// Words.

template <bool posted = false, bool set_val = false>
FORCE_INLINE void noc_inline_dw_write_set_state(
    std::uint64_t addr, [[maybe_unused]] std::uint32_t val = 0, std::uint8_t be = 0xF,
    [[maybe_unused]] std::uint8_t cmd_buf = write_at_cmd_buf, std::uint8_t noc = noc_index,
    [[maybe_unused]] std::uint8_t vc = NOC_UNICAST_WRITE_VC) {
    ttnn_rs::word_state[noc] = {addr, be, true};
}
template <
    bool update_addr_lo = false, bool update_counter = true, bool posted = false, bool update_addr_hi = false,
    bool update_val = false, InlineWriteDst dst_type = InlineWriteDst::DEFAULT>
FORCE_INLINE void noc_inline_dw_write_with_state(
    std::uint32_t val, std::uint32_t addr = 0, [[maybe_unused]] std::uint8_t cmd_buf = write_at_cmd_buf,
    std::uint8_t noc = noc_index) {
    static_assert(!update_addr_hi, "noc_inline_dw_write_with_state: set the state again for another core");
    const auto& state = ttnn_rs::stored("noc_inline_dw_write_with_state", ttnn_rs::word_state[noc]);
    const std::uint64_t target = update_addr_lo ? (state.place & ~ttnn_rs::LOCAL) | addr : state.place;
    noc_inline_dw_write(target, val, static_cast<std::uint8_t>(state.size), noc);
}

FORCE_INLINE void noc_async_write_zeros(std::uint64_t dst_noc_addr, std::uint32_t size, std::uint8_t noc = noc_index) {
    if (size % 4 != 0) {
        tt_call_invalid("noc_async_write_zeros", "the size is not whole words");
    }
    for (std::uint32_t offset = 0; offset < size; offset += 4) {
        noc_inline_dw_write(dst_noc_addr + offset, 0, 0xF, noc);
    }
}
