// A circular buffer as an object.
#pragma once

#include "api/lock.h"
#include "ttnn_rs/cb.h"
#ifndef COMPILE_FOR_TRISC
#include "ttnn_rs/local_traits.h"
#endif

class CircularBuffer {
public:
    enum class AddrSelector { WRITE_PTR, READ_PTR };
    using AddrSel = AddrSelector;  // its name in 2025

    explicit CircularBuffer(std::uint32_t cb_id) : id(cb_id) {}
    FORCE_INLINE std::uint32_t get_cb_id() const { return id; }
    FORCE_INLINE void reserve_back(std::int32_t num_pages) { cb_reserve_back(id, num_pages); }
    FORCE_INLINE void push_back(std::int32_t num_pages) { cb_push_back(id, num_pages); }
    FORCE_INLINE void wait_front(std::int32_t num_pages) { cb_wait_front(id, num_pages); }
    FORCE_INLINE void pop_front(std::int32_t num_pages) { cb_pop_front(id, num_pages); }
    FORCE_INLINE std::uint32_t get_write_ptr() const { return ::get_write_ptr(id); }
    FORCE_INLINE std::uint32_t get_read_ptr() const { return ::get_read_ptr(id); }
    FORCE_INLINE std::uint32_t get_tile_size() const { return ::get_tile_size(id); }
    FORCE_INLINE std::uint32_t get_tile_hw() const { return ::get_tile_hw(id); }
    DataFormat get_dataformat() const { return ::get_dataformat(id); }
    FORCE_INLINE bool pages_reservable_at_back(std::int32_t num_pages) const { return cb_pages_reservable_at_back(id, num_pages); }
    FORCE_INLINE bool pages_available_at_front(std::int32_t num_pages) const { return cb_pages_available_at_front(id, num_pages); }
    [[nodiscard]] auto scoped_lock() {
        return Lock([] {});
    }
#ifdef COMPILE_FOR_TRISC
    std::uint32_t get_tile_address(std::uint32_t tile_index) {
        return ::get_read_ptr(id) + tile_index * ::get_tile_size(id);
    }
    std::uint32_t read_tile_value(std::uint32_t tile_index, std::uint32_t element_offset) {
        return tt_call_read_tile_value(id, tile_index, element_offset);
    }
#endif

private:
    std::uint32_t id;
};

#ifndef COMPILE_FOR_TRISC
template <CircularBuffer::AddrSelector AddrSel>
struct CircularBufferView {
    const CircularBuffer& cb;
    explicit constexpr CircularBufferView(const CircularBuffer& c) : cb(c) {}
};
template <CircularBuffer::AddrSelector AddrSel>
constexpr auto use(const CircularBuffer& cb) {
    return CircularBufferView<AddrSel>(cb);
}

template <>
struct noc_traits_t<CircularBuffer> : ttnn_rs::LocalTraits<CircularBuffer, noc_traits_t<CircularBuffer>> {
    static std::uint32_t reads(const CircularBuffer& cb) { return cb.get_read_ptr(); }
    static std::uint32_t writes(const CircularBuffer& cb) { return cb.get_write_ptr(); }
};
template <CircularBuffer::AddrSelector AddrSel>
struct noc_traits_t<CircularBufferView<AddrSel>>
    : ttnn_rs::LocalTraits<CircularBufferView<AddrSel>, noc_traits_t<CircularBufferView<AddrSel>>> {
    static std::uint32_t reads(const CircularBufferView<AddrSel>& view) {
        return AddrSel == CircularBuffer::AddrSelector::READ_PTR ? view.cb.get_read_ptr() : view.cb.get_write_ptr();
    }
    static std::uint32_t writes(const CircularBufferView<AddrSel>& view) { return reads(view); }
};
template <>
inline constexpr bool noc_zero_l1_endpoint_v<CircularBuffer> = true;
template <CircularBuffer::AddrSelector AddrSel>
inline constexpr bool noc_zero_l1_endpoint_v<CircularBufferView<AddrSel>> = true;
#endif
