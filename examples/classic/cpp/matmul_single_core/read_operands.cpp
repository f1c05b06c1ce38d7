// Reader: a row of the left operand and a column of the right one for each of the result's tiles.
// Arguments: addresses, first tile, number of tiles, Kt, Nt.
#include "dataflow_api.h"

void kernel_main() {
    const uint32_t first = get_arg_val<uint32_t>(2);
    const uint32_t tiles = get_arg_val<uint32_t>(3);
    const uint32_t kt = get_arg_val<uint32_t>(4);
    const uint32_t nt = get_arg_val<uint32_t>(5);
    constexpr uint32_t cb_a = tt::CBIndex::c_0;
    constexpr uint32_t cb_b = tt::CBIndex::c_1;
    const InterleavedAddrGenFast<true> a = {
        .bank_base_address = get_arg_val<uint32_t>(0),
        .page_size = get_tile_size(cb_a),
        .data_format = get_dataformat(cb_a)};
    const InterleavedAddrGenFast<true> b = {
        .bank_base_address = get_arg_val<uint32_t>(1),
        .page_size = get_tile_size(cb_b),
        .data_format = get_dataformat(cb_b)};

    for (uint32_t tile = first; tile < first + tiles; ++tile) {
        const uint32_t row = tile / nt;
        const uint32_t column = tile % nt;
        for (uint32_t k = 0; k < kt; ++k) {
            cb_reserve_back(cb_a, 1);
            cb_reserve_back(cb_b, 1);
            noc_async_read_tile(row * kt + k, a, get_write_ptr(cb_a));
            noc_async_read_tile(k * nt + column, b, get_write_ptr(cb_b));
            noc_async_read_barrier();
            cb_push_back(cb_a, 1);
            cb_push_back(cb_b, 1);
        }
    }
}
