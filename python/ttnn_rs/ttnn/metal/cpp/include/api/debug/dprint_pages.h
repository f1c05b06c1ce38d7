// Printing pages of L1.
#pragma once

#include "api/debug/dprint.h"

FORCE_INLINE void print_cb_details(std::uint32_t cb_id) {
    const LocalCBInterface& cb = get_local_cb_interface(cb_id);
    DPRINT << "cb_id " << cb_id << ": { size: " << cb.fifo_size << ", limit: " << cb.fifo_limit
           << ", page_size: " << cb.fifo_page_size << ", num_pages: " << cb.fifo_num_pages
           << ", rd_ptr: " << cb.fifo_rd_ptr << ", wr_ptr: " << cb.fifo_wr_ptr << " }" << ENDL();
}

namespace ttnn_rs {
template <typename T, typename Show>
FORCE_INLINE void print_pages(std::uint32_t address, std::uint32_t each, std::uint32_t pages, std::uint32_t start, Show show) {
    const volatile T* values = reinterpret_cast<const volatile T*>(address) + start * each;
    for (std::uint32_t page = 0; page < pages; ++page) {
        DPRINT << start + page << ": ";
        for (std::uint32_t i = 0; i < each; ++i) {
            show(*values++);
            DPRINT << ' ';
        }
        DPRINT << ENDL();
    }
}
}  // namespace ttnn_rs

namespace tt::data_movement::common {
FORCE_INLINE void print_bf16_pages(
    std::uint32_t l1_addr, std::uint32_t elts_per_page, std::uint32_t npages, std::uint32_t start = 0) {
    ttnn_rs::print_pages<std::uint16_t>(
        l1_addr, elts_per_page, npages, start, [](std::uint16_t bits) { DPRINT << BF16(bits); });
}
FORCE_INLINE void print_f32_pages(
    std::uint32_t l1_addr, std::uint32_t elts_per_page, std::uint32_t npages, std::uint32_t start = 0) {
    ttnn_rs::print_pages<std::uint32_t>(l1_addr, elts_per_page, npages, start, [](std::uint32_t bits) {
        ttnn_rs::emit(ttnn_rs::F32_VALUE, bits);
    });
}
FORCE_INLINE void print_u8_pages(
    std::uint32_t l1_addr, std::uint32_t bytes_per_page, std::uint32_t npages, std::uint32_t start = 0) {
    ttnn_rs::print_pages<std::uint8_t>(
        l1_addr, bytes_per_page, npages, start, [](std::uint32_t value) { DPRINT << value; });
}
FORCE_INLINE void print_u16_pages(
    std::uint32_t l1_addr, std::uint32_t elts_per_page, std::uint32_t npages, std::uint32_t start = 0) {
    ttnn_rs::print_pages<std::uint16_t>(
        l1_addr, elts_per_page, npages, start, [](std::uint32_t value) { DPRINT << value; });
}
FORCE_INLINE void print_u32_pages(
    std::uint32_t l1_addr, std::uint32_t elts_per_page, std::uint32_t npages, std::uint32_t start = 0) {
    ttnn_rs::print_pages<std::uint32_t>(
        l1_addr, elts_per_page, npages, start, [](std::uint32_t value) { DPRINT << value; });
}
}  // namespace tt::data_movement::common

namespace tt::compute::common {
FORCE_INLINE void print_tile_rows(
    std::uint32_t cb_idx, std::uint32_t tile_idx, bool untilize = false, std::uint16_t start_row = 0,
    std::uint16_t end_row = 32, std::uint8_t start_col = 0, std::uint8_t end_col = 32) {
    const std::uint32_t address = get_read_ptr(cb_idx) + tile_idx * get_tile_size(cb_idx);
    for (std::uint32_t row = start_row; row < end_row; ++row) {
        DPRINT << row << ": ";
        for (std::uint32_t column = start_col; column < end_col; ++column) {
            ttnn_rs::print_datum(address, get_dataformat(cb_idx), ttnn_rs::datum_index(row, column, untilize));
            DPRINT << ' ';
        }
        DPRINT << ENDL();
    }
}
FORCE_INLINE void print_full_tile(std::uint32_t cb_id, std::uint32_t tile_id = 0, bool untilize = false) {
    print_tile_rows(cb_id, tile_id, untilize);
}
}  // namespace tt::compute::common
