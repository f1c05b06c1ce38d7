// Printing parts of the tiles of a circular buffer.
#pragma once

#include "api/debug/device_print.h"
#include "ttnn_rs/cb.h"

#define CB_RD_PTR(id) (get_local_cb_interface(id).fifo_rd_ptr << cb_addr_shift)
#define CB_RD_SZ(id) (get_local_cb_interface(id).fifo_size << cb_addr_shift)
#define CB_WR_PTR(id) (get_local_cb_interface(id).fifo_wr_ptr << cb_addr_shift)
#define CB_PAGE_COUNT(id) (get_local_cb_interface(id).fifo_num_pages)
#define CB_PAGE_SIZE(id) (get_local_cb_interface(id).fifo_page_size << cb_addr_shift)

using dprint_tslice_ptr_t = bool;
#define TSLICE_RD_PTR true
#define TSLICE_WR_PTR false
using dprint_tslice_cb_t = bool;
#define TSLICE_INPUT_CB true
#define TSLICE_OUTPUT_CB false

struct SliceRange {
    std::uint8_t h0 = 0, h1 = 32, hs = 1;
    std::uint8_t w0 = 0, w1 = 32, ws = 1;

    static constexpr SliceRange h0_w0_32() { return {0, 1, 1, 0, 32, 1}; }
    static constexpr SliceRange h0_32_w0() { return {0, 32, 1, 0, 1, 1}; }
    static constexpr SliceRange h0_32_w0_32() { return {0, 32, 1, 0, 32, 1}; }
    static constexpr SliceRange hw0_32_8() { return {0, 32, 8, 0, 32, 8}; }
    static constexpr SliceRange hw0_32_16() { return {0, 32, 16, 0, 32, 16}; }
    static constexpr SliceRange hw041() { return {0, 4, 1, 0, 4, 1}; }
};

namespace ttnn_rs {

// A datum of bfloat16 or of 32 bits, where tiles lie untilized (four faces) or as a row of datums.
FORCE_INLINE void print_datum(std::uint32_t address, DataFormat format, std::uint32_t index) {
    switch (format) {
        case DataFormat::Float16_b:
            emit(BF16_VALUE, reinterpret_cast<const volatile std::uint16_t*>(address)[index]);
            return;
        case DataFormat::Float32:
            emit(F32_VALUE, reinterpret_cast<const volatile std::uint32_t*>(address)[index]);
            return;
        case DataFormat::UInt16:
            emit(U32_VALUE, reinterpret_cast<const volatile std::uint16_t*>(address)[index]);
            return;
        case DataFormat::Int32:
            emit(I32_VALUE, reinterpret_cast<const volatile std::uint32_t*>(address)[index]);
            return;
        case DataFormat::UInt32:
            emit(U32_VALUE, reinterpret_cast<const volatile std::uint32_t*>(address)[index]);
            return;
        case DataFormat::UInt8:
            emit(U32_VALUE, reinterpret_cast<const volatile std::uint8_t*>(address)[index]);
            return;
        default: unsupported("TileSlice", "block floats are not printed");
    }
}

FORCE_INLINE std::uint32_t datum_index(std::uint32_t row, std::uint32_t column, bool tiled) {
    if (!tiled) {
        return row * 32 + column;
    }
    const std::uint32_t face = row / 16 * 2 + column / 16;
    return face * 256 + row % 16 * 16 + column % 16;
}

}  // namespace ttnn_rs

template <int MAX_BYTES = 64>
struct TileSlice {
#ifdef COMPILE_FOR_TRISC
    TileSlice(
        std::uint8_t cb, int tile_idx, const SliceRange& slice_range, bool endl_rows = true,
        bool print_untilized = true) :
        TileSlice(get_read_ptr(cb), cb, tile_idx, slice_range, endl_rows, print_untilized) {}
#elif defined(COMPILE_FOR_NCRISC)
    TileSlice(
        std::uint8_t cb, int tile_idx, const SliceRange& slice_range, dprint_tslice_cb_t,
        dprint_tslice_ptr_t ptr_type = TSLICE_WR_PTR, bool endl_rows = true, bool print_untilized = true) :
        TileSlice(pointer(cb, ptr_type), cb, tile_idx, slice_range, endl_rows, print_untilized) {}
#else
    TileSlice(
        std::uint8_t cb, int tile_idx, const SliceRange& slice_range, dprint_tslice_cb_t,
        dprint_tslice_ptr_t ptr_type = TSLICE_RD_PTR, bool endl_rows = true, bool print_untilized = true) :
        TileSlice(pointer(cb, ptr_type), cb, tile_idx, slice_range, endl_rows, print_untilized) {}
#endif

    void print() const {
        for (std::uint32_t row = range.h0; row < range.h1; row += range.hs) {
            for (std::uint32_t column = range.w0; column < range.w1; column += range.ws) {
                ttnn_rs::print_datum(address, format, ttnn_rs::datum_index(row, column, tiled));
                ttnn_rs::print_value(' ');
            }
            if (rows) {
                ttnn_rs::emit(ttnn_rs::END_OF_LINE);
            }
        }
    }

private:
    TileSlice(
        std::uint32_t start, std::uint8_t cb, int tile, const SliceRange& range, bool rows, bool untilized) :
        address(start + tile * get_tile_size(cb)), format(get_dataformat(cb)), range(range), rows(rows),
        tiled(untilized) {}
    static std::uint32_t pointer(std::uint8_t cb, bool read) { return read ? get_read_ptr(cb) : get_write_ptr(cb); }

    std::uint32_t address;
    DataFormat format;
    SliceRange range;
    bool rows;
    bool tiled;
};
using TSLICE = TileSlice<64>;
