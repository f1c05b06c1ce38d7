// Functions on circular buffers that all kernels have.
#pragma once

#include "internal/circular_buffer_interface.h"

#ifdef COMPILE_FOR_TRISC
namespace ckernel {
#endif

FORCE_INLINE void cb_reserve_back(std::int32_t operand, std::int32_t num_pages) {
    tt_call_cb_reserve_back(operand, num_pages);
}
FORCE_INLINE void cb_push_back(std::int32_t operand, std::int32_t num_pages) {
    tt_call_cb_push_back(operand, num_pages);
}
FORCE_INLINE void cb_wait_front(std::int32_t operand, std::int32_t num_pages) {
    tt_call_cb_wait_front(operand, num_pages);
}
FORCE_INLINE void cb_pop_front(std::int32_t operand, std::int32_t num_pages) {
    tt_call_cb_pop_front(operand, num_pages);
}

#ifdef COMPILE_FOR_TRISC
}  // namespace ckernel
using namespace ckernel;
#endif

FORCE_INLINE bool cb_pages_reservable_at_back(std::int32_t operand, std::int32_t num_pages) {
    return tt_call_cb_pages_reservable_at_back(operand, num_pages) != 0;
}
FORCE_INLINE bool cb_pages_available_at_front(std::int32_t operand, std::int32_t num_pages) {
    return tt_call_cb_pages_available_at_front(operand, num_pages) != 0;
}
FORCE_INLINE std::uint32_t get_write_ptr(std::uint32_t operand) { return tt_call_get_write_ptr(operand); }
FORCE_INLINE std::uint32_t get_read_ptr(std::uint32_t operand) { return tt_call_get_read_ptr(operand); }

// The unpack side of the tables is what data movement sees.
constexpr inline std::int32_t get_tile_size(const std::int32_t operand) { return unpack_tile_size[operand]; }
constexpr inline std::uint32_t get_tile_hw(const std::int32_t operand) {
    return static_cast<std::uint32_t>(unpack_tile_r_dim[operand]) * unpack_tile_c_dim[operand];
}
constexpr inline std::uint32_t get_tile_num_faces(const std::int32_t operand) {
    return unpack_tile_num_faces[operand];
}
constexpr inline DataFormat get_dataformat(const std::int32_t operand) {
    return static_cast<DataFormat>(unpack_src_format[operand]);
}
