// Blocks of tiles between tensors and buffers. A tensor is as many tiles wide as its caller specifies.
#pragma once

#include "../../../classic/cpp/matmul_parts/blocking.hpp"
#include "api/dataflow/dataflow_buffer.h"
#include "api/dataflow/noc.h"
#include "api/tensor/noc_traits.h"

// Reads height x width tiles, row by row, into a buffer that has room for them.
template <typename Accessor>
inline void read_block(
    const Noc& noc, const Accessor& tensor, const DataflowBuffer& to, uint32_t row, uint32_t column, uint32_t height,
    uint32_t width, uint32_t tensor_width) {
    const uint32_t size = to.get_entry_size();
    uint32_t offset = 0;
    for (uint32_t y = row; y < row + height; ++y) {
        for (uint32_t x = column; x < column + width; ++x) {
            noc.async_read(tensor, to, size, {.page_id = y * tensor_width + x}, {.offset_bytes = offset});
            offset += size;
        }
    }
}

// Writes the subblocks of buffer 16 to their places.
template <typename Accessor>
inline void write_subblocks(
    const Noc& noc, const Accessor& tensor, uint32_t first_row, uint32_t first_column, uint32_t tensor_width) {
    DataflowBuffer out(cb_out);
    const uint32_t size = out.get_entry_size();
    for (uint32_t row = first_row; row < first_row + per_core_m; row += subblock_h) {
        for (uint32_t column = first_column; column < first_column + per_core_n; column += subblock_w) {
            out.wait_front(subblock_tiles);
            uint32_t offset = 0;
            for (uint32_t y = row; y < row + subblock_h; ++y) {
                for (uint32_t x = column; x < column + subblock_w; ++x) {
                    noc.async_write(out, tensor, size, {.offset_bytes = offset}, {.page_id = y * tensor_width + x});
                    offset += size;
                }
            }
            noc.async_write_barrier();
            out.pop_front(subblock_tiles);
        }
    }
}
