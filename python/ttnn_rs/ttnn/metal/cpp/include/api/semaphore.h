// A semaphore of the program as an object.
#pragma once

#include "ttnn_rs/arguments.h"

enum class SemScope : std::uint8_t { LOCAL_NONATOMIC = 0, DM_LOCAL_CACHED = 1, EXTERNAL = 2, COMPUTE_ATOMIC = 3 };

struct SemaphoreBindingToken {
    std::uint32_t id;
    SemScope scope = SemScope::LOCAL_NONATOMIC;
};

#ifndef COMPILE_FOR_TRISC

#include "api/dataflow/noc.h"

template <ProgrammableCoreType core_type = ProgrammableCoreType::TENSIX>
class Semaphore {
    template <ProgrammableCoreType>
    friend class Semaphore;

public:
    explicit FORCE_INLINE Semaphore(SemaphoreBindingToken token) : Semaphore(token.id) {}
    explicit FORCE_INLINE Semaphore(std::uint32_t semaphore_id) : address(get_semaphore<core_type>(semaphore_id)) {}

    FORCE_INLINE void up(std::uint32_t value) { set(this->value() + value); }
    FORCE_INLINE void down(std::uint32_t value) {
        wait_min(value);
        set(this->value() - value);
    }
    FORCE_INLINE void wait(std::uint32_t value) const { noc_semaphore_wait(pointer(), value); }
    FORCE_INLINE void wait_min(std::uint32_t value) const { noc_semaphore_wait_min(pointer(), value); }
    FORCE_INLINE void set(std::uint32_t value) { noc_semaphore_set(pointer(), value); }
    FORCE_INLINE std::uint32_t value() const { return *pointer(); }

    FORCE_INLINE void up(
        const Noc& noc, std::uint32_t noc_x, std::uint32_t noc_y, std::uint32_t value,
        std::uint8_t vc = NOC_UNICAST_WRITE_VC) {
        noc_semaphore_inc(get_noc_addr(noc_x, noc_y, address), value, noc.get_noc_id(), vc);
    }
    template <ProgrammableCoreType dst_core_type = core_type>
    FORCE_INLINE void relay_unicast(
        const Noc& noc, const Semaphore<dst_core_type>& dst_sem, std::uint32_t noc_x, std::uint32_t noc_y) {
        noc_semaphore_set_remote(address, get_noc_addr(noc_x, noc_y, dst_sem.address), noc.get_noc_id());
    }
    template <NocOptions opts = NocOptions::DEFAULT>
    FORCE_INLINE void set_multicast(
        const Noc& noc, std::uint32_t noc_x_start, std::uint32_t noc_y_start, std::uint32_t noc_x_end,
        std::uint32_t noc_y_end, std::uint32_t num_dests, bool linked = false) {
        relay_multicast<opts>(noc, *this, noc_x_start, noc_y_start, noc_x_end, noc_y_end, num_dests, linked);
    }
    template <NocOptions opts = NocOptions::DEFAULT, ProgrammableCoreType dst_core_type = core_type>
    FORCE_INLINE void relay_multicast(
        const Noc& noc, const Semaphore<dst_core_type>& dst_sem, std::uint32_t noc_x_start, std::uint32_t noc_y_start,
        std::uint32_t noc_x_end, std::uint32_t noc_y_end, std::uint32_t num_dests, bool linked = false) {
        const std::uint64_t target =
            get_noc_multicast_addr(noc_x_start, noc_y_start, noc_x_end, noc_y_end, dst_sem.address);
        ttnn_rs::multicast(
            address, target, 4, num_dests, has_flag(opts, NocOptions::MCAST_INCL_SRC), linked, noc.get_noc_id());
    }
    FORCE_INLINE void inc_multicast(
        const Noc& noc, std::uint32_t noc_x_start, std::uint32_t noc_y_start, std::uint32_t noc_x_end,
        std::uint32_t noc_y_end, std::uint32_t value, std::uint32_t num_dests) {
        const std::uint64_t target = get_noc_multicast_addr(noc_x_start, noc_y_start, noc_x_end, noc_y_end, address);
        noc_semaphore_inc_multicast(target, value, num_dests, noc.get_noc_id());
    }

private:
    FORCE_INLINE volatile std::uint32_t* pointer() const {
        return reinterpret_cast<volatile std::uint32_t*>(address);
    }

    std::uintptr_t address;
};

#endif
