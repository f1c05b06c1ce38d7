// Semaphores: words of L1 that kernels wait for and add to.
#pragma once

#include "ttnn_rs/transfers.h"

enum class ProgrammableCoreType { TENSIX = 0, ACTIVE_ETH = 1, IDLE_ETH = 2 };

template <ProgrammableCoreType type = ProgrammableCoreType::TENSIX>
FORCE_INLINE std::uintptr_t get_semaphore(std::uint32_t semaphore_id) {
    static_assert(type == ProgrammableCoreType::TENSIX, "get_semaphore: there are no Ethernet cores here");
    return tt_call_get_semaphore(semaphore_id);
}

namespace ttnn_rs {
FORCE_INLINE std::uint32_t address_of(const volatile void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }
}  // namespace ttnn_rs

FORCE_INLINE void noc_semaphore_set(volatile tt_l1_ptr std::uint32_t* sem_addr, std::uint32_t val) {
    tt_call_noc_semaphore_set(ttnn_rs::address_of(sem_addr), val);
}
FORCE_INLINE void noc_semaphore_wait(volatile tt_l1_ptr std::uint32_t* sem_addr, std::uint32_t val) {
    tt_call_noc_semaphore_wait(ttnn_rs::address_of(sem_addr), val, false);
}
FORCE_INLINE void noc_semaphore_wait_min(volatile tt_l1_ptr std::uint32_t* sem_addr, std::uint32_t val) {
    tt_call_noc_semaphore_wait(ttnn_rs::address_of(sem_addr), val, true);
}

template <bool posted = false>
FORCE_INLINE void noc_semaphore_inc(
    std::uint64_t addr, std::uint32_t incr, std::uint8_t noc_id = noc_index,
    [[maybe_unused]] std::uint8_t vc = NOC_UNICAST_WRITE_VC) {
    tt_call_noc_semaphore_inc(ttnn_rs::low(addr), ttnn_rs::high(addr), incr, noc_id);
}
FORCE_INLINE void noc_semaphore_set_remote(
    std::uint32_t src_local_l1_addr, std::uint64_t dst_noc_addr, std::uint8_t noc = noc_index) {
    tt_call_noc_semaphore_set_remote(
        src_local_l1_addr, ttnn_rs::low(dst_noc_addr), ttnn_rs::high(dst_noc_addr), noc);
}
FORCE_INLINE void noc_semaphore_set_multicast(
    std::uint32_t src_local_l1_addr, std::uint64_t dst_noc_addr_multicast, std::uint32_t num_dests,
    bool linked = false, std::uint8_t noc = noc_index, [[maybe_unused]] std::uint8_t vc = NOC_MULTICAST_WRITE_VC) {
    tt_call_noc_semaphore_set_multicast(
        src_local_l1_addr, ttnn_rs::low(dst_noc_addr_multicast), ttnn_rs::high(dst_noc_addr_multicast), num_dests,
        false, linked, noc);
}
FORCE_INLINE void noc_semaphore_set_multicast_loopback_src(
    std::uint32_t src_local_l1_addr, std::uint64_t dst_noc_addr_multicast, std::uint32_t num_dests,
    bool linked = false, std::uint8_t noc = noc_index) {
    tt_call_noc_semaphore_set_multicast(
        src_local_l1_addr, ttnn_rs::low(dst_noc_addr_multicast), ttnn_rs::high(dst_noc_addr_multicast), num_dests,
        true, linked, noc);
}

namespace ttnn_rs {

// Calls a function with the address of the same place on each core of a rectangle but this one.
template <typename Each>
FORCE_INLINE void for_each_receiver(const char* call, std::uint64_t addr, std::uint32_t num_dests, Each each) {
    const std::uint32_t xy = low(addr >> 36);
    const std::uint32_t x1 = xy & 63, y1 = xy >> 6 & 63, x0 = xy >> 12 & 63, y0 = xy >> 18 & 63;
    std::uint32_t found = 0;
    for (std::uint32_t y = std::min(y0, y1); y <= std::max(y0, y1); ++y) {
        for (std::uint32_t x = std::min(x0, x1); x <= std::max(x0, x1); ++x) {
            if (x != my_x[0] || y != my_y[0]) {
                each(NOC_XY_ADDR(x, y, low(addr)));
                ++found;
            }
        }
    }
    if (found != num_dests) {
        tt_call_invalid(call, "the rectangle has another number of receivers than num_dests says");
    }
}

}  // namespace ttnn_rs

template <bool posted = false>
FORCE_INLINE void noc_semaphore_inc_multicast(
    std::uint64_t addr, std::uint32_t incr, std::uint32_t num_dests, std::uint8_t noc_id = noc_index,
    [[maybe_unused]] std::uint8_t vc = NOC_MULTICAST_WRITE_VC) {
    ttnn_rs::for_each_receiver("noc_semaphore_inc_multicast", addr, num_dests, [=](std::uint64_t target) {
        noc_semaphore_inc(target, incr, noc_id);
    });
}

template <InlineWriteDst dst_type = InlineWriteDst::DEFAULT, bool posted = false, bool flush = true>
FORCE_INLINE void noc_inline_mcast_dw_write(
    std::uint64_t addr, std::uint32_t val, std::uint8_t be = 0xF, std::uint8_t noc = noc_index,
    [[maybe_unused]] std::uint8_t vc = NOC_MULTICAST_WRITE_VC, [[maybe_unused]] std::uint32_t customized_src_addr = 0,
    std::uint32_t num_dest = 1) {
    ttnn_rs::for_each_receiver("noc_inline_mcast_dw_write", addr, num_dest, [=](std::uint64_t target) {
        noc_inline_dw_write(target, val, be, noc);
    });
}
