// Writes the subblocks of CB 16 to their places in a tensor that is `nt` tiles wide.
#pragma once

#include "blocking.hpp"
#include "dataflow_api.h"

FORCE_INLINE InterleavedAddrGenFast<true> tiles_of(uint32_t address, uint32_t cb) {
    return {
        .bank_base_address = address,
        .page_size = static_cast<uint32_t>(get_tile_size(cb)),
        .data_format = get_dataformat(cb)};
}

inline void write_subblocks(uint32_t target, uint32_t first_row, uint32_t first_column, uint32_t nt) {
    const auto pages = tiles_of(target, cb_out);
    for (uint32_t row = first_row; row < first_row + per_core_m; row += subblock_h) {
        for (uint32_t column = first_column; column < first_column + per_core_n; column += subblock_w) {
            cb_wait_front(cb_out, subblock_tiles);
            uint32_t l1 = get_read_ptr(cb_out);
            for (uint32_t y = 0; y < subblock_h; ++y) {
                for (uint32_t x = 0; x < subblock_w; ++x) {
                    noc_async_write_tile((row + y) * nt + column + x, pages, l1);
                    l1 += get_tile_size(cb_out);
                }
            }
            noc_async_write_barrier();
            cb_pop_front(cb_out, subblock_tiles);
        }
    }
}
