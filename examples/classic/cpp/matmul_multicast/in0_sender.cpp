// Left operand, first column of cores. Arguments: address, first row, ready and arrived semaphore, receivers.
#include "exchange.hpp"

void kernel_main() {
    const uint32_t first_row = get_arg_val<uint32_t>(1);
    const uint32_t ready = get_semaphore(get_arg_val<uint32_t>(2));
    const uint32_t arrived = get_semaphore(get_arg_val<uint32_t>(3));
    const Receivers receivers = receivers_from(4);
    const auto a = tiles_of(get_arg_val<uint32_t>(0), cb_in0);

    noc_semaphore_set(word(arrived), VALID);
    for (uint32_t k = 0; k < kt; k += in0_block_w) {
        cb_reserve_back(cb_in0, in0_tiles);
        const uint32_t start = get_write_ptr(cb_in0);
        uint32_t l1 = start;
        for (uint32_t row = first_row; row < first_row + per_core_m; ++row) {
            for (uint32_t column = k; column < k + in0_block_w; ++column) {
                noc_async_read_tile(row * kt + column, a, l1);
                l1 += get_tile_size(cb_in0);
            }
        }
        noc_async_read_barrier();
        send_block(start, l1 - start, receivers, ready, arrived);
        cb_push_back(cb_in0, in0_tiles);
    }
    noc_async_write_barrier();
}
