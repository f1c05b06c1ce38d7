// Writer: CB 16 to consecutive tiles of a buffer. Arguments: address, first tile, number of tiles.
#include "dataflow_api.h"

void kernel_main() {
    const uint32_t target = get_arg_val<uint32_t>(0);
    const uint32_t first = get_arg_val<uint32_t>(1);
    const uint32_t tiles = get_arg_val<uint32_t>(2);
    constexpr uint32_t cb = tt::CBIndex::c_16;
    const InterleavedAddrGenFast<true> pages = {
        .bank_base_address = target, .page_size = get_tile_size(cb), .data_format = get_dataformat(cb)};

    for (uint32_t tile = first; tile < first + tiles; ++tile) {
        cb_wait_front(cb, 1);
        noc_async_write_tile(tile, pages, get_read_ptr(cb));
        noc_async_write_barrier();
        cb_pop_front(cb, 1);
    }
}
