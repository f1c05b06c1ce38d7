// Right operand, first row of cores, then the result.
// Arguments: address, first column, ready and arrived semaphore, receivers, Nt, the result's address, first row.
#include "exchange.hpp"

void kernel_main() {
    const uint32_t first_column = get_arg_val<uint32_t>(1);
    const uint32_t ready = get_semaphore(get_arg_val<uint32_t>(2));
    const uint32_t arrived = get_semaphore(get_arg_val<uint32_t>(3));
    const Receivers receivers = receivers_from(4);
    const uint32_t nt = get_arg_val<uint32_t>(9);
    const auto b = tiles_of(get_arg_val<uint32_t>(0), cb_in1);

    noc_semaphore_set(word(arrived), VALID);
    for (uint32_t k = 0; k < kt; k += in0_block_w) {
        cb_reserve_back(cb_in1, in1_tiles);
        const uint32_t start = get_write_ptr(cb_in1);
        uint32_t l1 = start;
        for (uint32_t row = k; row < k + in0_block_w; ++row) {
            for (uint32_t column = first_column; column < first_column + per_core_n; ++column) {
                noc_async_read_tile(row * nt + column, b, l1);
                l1 += get_tile_size(cb_in1);
            }
        }
        noc_async_read_barrier();
        send_block(start, l1 - start, receivers, ready, arrived);
        cb_push_back(cb_in1, in1_tiles);
    }
    write_subblocks(get_arg_val<uint32_t>(10), get_arg_val<uint32_t>(11), first_column, nt);
}
