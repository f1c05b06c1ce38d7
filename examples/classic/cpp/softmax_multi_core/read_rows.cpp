// Reader: the ones, then rows of tiles. Arguments: address, first row, number of rows; Wt when compiled.
#include "buffers.hpp"
#include "dataflow_api.h"

// A tile with ones in row 0 of each face, the factors of a reduction.
template <typename T>
void fill_ones(uint32_t cb, T one) {
    cb_reserve_back(cb, 1);
    volatile tt_l1_ptr T* tile = reinterpret_cast<volatile tt_l1_ptr T*>(get_write_ptr(cb));
    for (uint32_t face = 0; face < 4; ++face) {
        for (uint32_t column = 0; column < 16; ++column) {
            tile[256 * face + column] = one;
        }
    }
    cb_push_back(cb, 1);
}

void kernel_main() {
    const uint32_t first = get_arg_val<uint32_t>(1);
    const uint32_t rows = get_arg_val<uint32_t>(2);
    constexpr uint32_t wt = get_compile_time_arg_val(0);
    const InterleavedAddrGenFast<true> pages = {
        .bank_base_address = get_arg_val<uint32_t>(0), .page_size = get_tile_size(X), .data_format = get_dataformat(X)};

    fill_ones<uint16_t>(MAX_SCALER, 0x3F80);
    fill_ones<uint32_t>(SUM_SCALER, 0x3F800000);
    for (uint32_t row = first; row < first + rows; ++row) {
        cb_reserve_back(X, wt);
        const uint32_t l1 = get_write_ptr(X);
        for (uint32_t tile = 0; tile < wt; ++tile) {
            noc_async_read_tile(row * wt + tile, pages, l1 + tile * get_tile_size(X));
        }
        noc_async_read_barrier();
        cb_push_back(X, wt);
    }
}
