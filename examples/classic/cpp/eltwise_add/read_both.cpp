// Reader: one tile of each operand at a time. Arguments: addresses, number of tiles.
#include "dataflow_api.h"

void kernel_main() {
    const uint32_t tiles = get_arg_val<uint32_t>(2);
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

    for (uint32_t tile = 0; tile < tiles; ++tile) {
        cb_reserve_back(cb_a, 1);
        cb_reserve_back(cb_b, 1);
        noc_async_read_tile(tile, a, get_write_ptr(cb_a));
        noc_async_read_tile(tile, b, get_write_ptr(cb_b));
        noc_async_read_barrier();
        cb_push_back(cb_a, 1);
        cb_push_back(cb_b, 1);
    }
}
