// Reader: consecutive tiles of a buffer to CB 0. Arguments: address, first tile, number of tiles.
#include "dataflow_api.h"

void kernel_main() {
    const uint32_t source = get_arg_val<uint32_t>(0);
    const uint32_t first = get_arg_val<uint32_t>(1);
    const uint32_t tiles = get_arg_val<uint32_t>(2);
    constexpr uint32_t cb = tt::CBIndex::c_0;
    const InterleavedAddrGenFast<true> pages = {
        .bank_base_address = source, .page_size = get_tile_size(cb), .data_format = get_dataformat(cb)};

    for (uint32_t tile = first; tile < first + tiles; ++tile) {
        cb_reserve_back(cb, 1);
        noc_async_read_tile(tile, pages, get_write_ptr(cb));
        noc_async_read_barrier();
        cb_push_back(cb, 1);
    }
}
