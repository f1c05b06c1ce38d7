// A circular buffer in the words of newer kernels: its pages are entries.
#pragma once

#include "api/core_local_mem.h"
#include "api/dataflow/dfb_binding_token.h"
#include "api/debug/assert.h"
#include "api/debug/waypoint.h"
#include "ttnn_rs/cb.h"

template <bool IsWrite, typename ReleaseFunc>
class DfbScopedLock {
public:
    FORCE_INLINE DfbScopedLock(std::uint32_t pointer, ReleaseFunc release) : pointer(pointer), release(release) {}
    FORCE_INLINE ~DfbScopedLock() { release(); }
    DfbScopedLock(const DfbScopedLock&) = delete;
    DfbScopedLock(DfbScopedLock&&) = delete;
    DfbScopedLock& operator=(const DfbScopedLock&) = delete;
    DfbScopedLock& operator=(DfbScopedLock&&) = delete;

    template <typename T = std::uint32_t>
    [[nodiscard]] FORCE_INLINE CoreLocalMem<std::conditional_t<IsWrite, T, const T>> get_ptr() const {
        return CoreLocalMem<std::conditional_t<IsWrite, T, const T>>(pointer);
    }

private:
    std::uint32_t pointer;
    ReleaseFunc release;
};

namespace ttnn_rs {
template <bool IsWrite, typename ReleaseFunc>
auto dfb_lock(std::uint32_t pointer, ReleaseFunc release) {
    return DfbScopedLock<IsWrite, ReleaseFunc>(pointer, release);
}
}  // namespace ttnn_rs

class DataflowBuffer {
public:
    using DFBInterface = LocalCBInterface;

    template <dfb::AccessPattern Pap, dfb::AccessPattern Cap>
    DataflowBuffer(DFBBindingToken<Pap, Cap> token) : id(static_cast<std::uint32_t>(token)) {}
    DataflowBuffer(RelayDFBBindingToken token) : id(static_cast<std::uint32_t>(token)) {}
    DataflowBuffer(std::uint16_t logical_dfb_id) : id(logical_dfb_id) {}

    std::uint16_t get_id() const { return id; }
    FORCE_INLINE std::uint32_t get_entry_size() const { return get_local_cb_interface(id).fifo_page_size << cb_addr_shift; }
    FORCE_INLINE std::uint32_t get_stride_size() const { return get_entry_size(); }
    FORCE_INLINE std::uint32_t get_total_num_entries() const { return get_local_cb_interface(id).fifo_num_pages; }
    FORCE_INLINE std::uint32_t get_total_size_bytes() const { return get_local_cb_interface(id).fifo_size << cb_addr_shift; }
    FORCE_INLINE std::uint32_t get_local_num_entries() const { return get_total_num_entries(); }
    FORCE_INLINE std::uint32_t get_local_size_bytes() const { return get_total_size_bytes(); }
    FORCE_INLINE std::uint32_t get_ring_span_bytes() const { return get_total_size_bytes(); }
    FORCE_INLINE std::uint32_t get_ring_span_num_entries() const { return get_total_num_entries(); }
    std::uint16_t get_producer_share() const { return 1; }
    std::uint16_t get_consumer_share() const { return 1; }
    std::uint16_t get_producer_stride_tiles() const { return 1; }
    std::uint16_t get_consumer_stride_tiles() const { return 1; }

    FORCE_INLINE void reserve_back(std::uint16_t num_entries) { cb_reserve_back(id, num_entries); }
    FORCE_INLINE void push_back(std::uint16_t num_entries) { cb_push_back(id, num_entries); }
    FORCE_INLINE void wait_front(std::uint16_t num_entries) { cb_wait_front(id, num_entries); }
    FORCE_INLINE void pop_front(std::uint16_t num_entries) { cb_pop_front(id, num_entries); }
    FORCE_INLINE bool pages_reservable_at_back(std::int32_t num_pages) const { return cb_pages_reservable_at_back(id, num_pages); }
    FORCE_INLINE bool pages_available_at_front(std::int32_t num_pages) const { return cb_pages_available_at_front(id, num_pages); }

    constexpr std::uint32_t get_tile_size() const { return ::get_tile_size(id); }
    constexpr std::uint32_t get_tile_r_dim() const { return unpack_tile_r_dim[id]; }
    constexpr std::uint32_t get_tile_c_dim() const { return unpack_tile_c_dim[id]; }
    constexpr std::uint32_t get_tile_hw() const { return ::get_tile_hw(id); }
    constexpr std::uint32_t get_tile_num_faces() const { return unpack_tile_num_faces[id]; }
    constexpr std::uint32_t get_face_r_dim() const { return unpack_tile_face_r_dim[id]; }
    constexpr std::uint32_t get_partial_face() const { return unpack_partial_face[id]; }
    constexpr std::uint32_t get_narrow_tile() const { return unpack_narrow_tile[id]; }
    constexpr std::uint32_t get_num_faces_r_dim() const { return unpack_num_faces_r_dim[id]; }
    constexpr std::uint32_t get_num_faces_c_dim() const { return unpack_num_faces_c_dim[id]; }
    constexpr DataFormat get_dataformat() const { return ::get_dataformat(id); }
    constexpr DataFormat get_unpack_dst_format() const { return static_cast<DataFormat>(unpack_dst_format[id]); }
#ifdef COMPILE_FOR_TRISC
    constexpr DataFormat get_pack_src_format() const { return static_cast<DataFormat>(pack_src_format[id]); }
    constexpr DataFormat get_pack_dst_format() const { return static_cast<DataFormat>(pack_dst_format[id]); }
    std::uint32_t get_tile_address(std::uint32_t tile_index) {
        return ::get_read_ptr(id) + tile_index * ::get_tile_size(id);
    }
    // Values shorter than a word are parts of one.
    template <typename T = std::uint32_t>
    T read_tile_value(std::uint32_t tile_index, std::uint32_t element_offset) {
        static_assert(sizeof(T) <= 4, "DataflowBuffer::read_tile_value: values have at most 4 bytes");
        constexpr std::uint32_t per_word = 4 / sizeof(T);
        const std::uint32_t word = tt_call_read_tile_value(id, tile_index, element_offset / per_word);
        std::array<T, per_word> parts;
        std::memcpy(parts.data(), &word, 4);
        return parts[element_offset % per_word];
    }
#else
    FORCE_INLINE void write_barrier(const Noc& noc) const { noc.async_write_barrier(); }
#endif
    FORCE_INLINE void finish() {}
    FORCE_INLINE std::uint32_t get_write_ptr() const { return ::get_write_ptr(id); }
    FORCE_INLINE std::uint32_t get_read_ptr() const { return ::get_read_ptr(id); }
    FORCE_INLINE void evil_set_write_ptr(std::uint32_t addr) { get_local_cb_interface(id).fifo_wr_ptr = addr >> cb_addr_shift; }
    FORCE_INLINE void evil_set_read_ptr(std::uint32_t addr) { get_local_cb_interface(id).fifo_rd_ptr = addr >> cb_addr_shift; }

    // The locks of a card only note who touches locked entries; the watcher here sees every access anyway.
    [[nodiscard]] auto scoped_write_lock([[maybe_unused]] std::uint16_t num_entries = 1) {
        return ttnn_rs::dfb_lock<true>(get_write_ptr(), [] {});
    }
    [[nodiscard]] auto scoped_read_lock([[maybe_unused]] std::uint16_t num_entries = 1) {
        return ttnn_rs::dfb_lock<false>(get_read_ptr(), [] {});
    }

private:
    std::uint16_t id;
};

using DataflowBufferAnyPattern = DataflowBuffer;

template <typename T>
inline constexpr bool is_dataflow_buffer_v = false;
template <>
inline constexpr bool is_dataflow_buffer_v<DataflowBuffer> = true;

#ifndef COMPILE_FOR_TRISC
template <>
struct noc_traits_t<DataflowBuffer> : ttnn_rs::LocalTraits<DataflowBuffer, noc_traits_t<DataflowBuffer>> {
    static std::uint32_t reads(const DataflowBuffer& buffer) { return buffer.get_read_ptr(); }
    static std::uint32_t writes(const DataflowBuffer& buffer) { return buffer.get_write_ptr(); }
};
template <>
inline constexpr bool noc_zero_l1_endpoint_v<DataflowBuffer> = true;
#endif
