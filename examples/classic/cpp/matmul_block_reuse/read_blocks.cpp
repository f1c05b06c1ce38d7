// Reader: blocks of both operands. Arguments: addresses, first row, first column, Nt.
#include "../matmul_parts/subblocks.hpp"

void kernel_main() {
    const uint32_t first_row = get_arg_val<uint32_t>(2);
    const uint32_t first_column = get_arg_val<uint32_t>(3);
    const uint32_t nt = get_arg_val<uint32_t>(4);
    const auto a = tiles_of(get_arg_val<uint32_t>(0), cb_in0);
    const auto b = tiles_of(get_arg_val<uint32_t>(1), cb_in1);

    for (uint32_t k = 0; k < kt; k += in0_block_w) {
        cb_reserve_back(cb_in0, in0_tiles);
        cb_reserve_back(cb_in1, in1_tiles);
        uint32_t l1 = get_write_ptr(cb_in0);
        for (uint32_t row = first_row; row < first_row + per_core_m; ++row) {
            for (uint32_t column = k; column < k + in0_block_w; ++column) {
                noc_async_read_tile(row * kt + column, a, l1);
                l1 += get_tile_size(cb_in0);
            }
        }
        l1 = get_write_ptr(cb_in1);
        for (uint32_t row = k; row < k + in0_block_w; ++row) {
            for (uint32_t column = first_column; column < first_column + per_core_n; ++column) {
                noc_async_read_tile(row * nt + column, b, l1);
                l1 += get_tile_size(cb_in1);
            }
        }
        noc_async_read_barrier();
        cb_push_back(cb_in0, in0_tiles);
        cb_push_back(cb_in1, in1_tiles);
    }
}
