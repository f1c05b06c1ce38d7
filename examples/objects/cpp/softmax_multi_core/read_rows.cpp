// Reader: the ones, then rows of tiles. Arguments: address, first row, number of rows; Wt when compiled.
#include "../../../classic/cpp/softmax_multi_core/buffers.hpp"
#include "api/core_local_mem.h"
#include "api/dataflow/dataflow_buffer.h"
#include "api/dataflow/noc.h"
#include "api/tensor/noc_traits.h"

// A tile with ones in row 0 of each face, the factors of a reduction.
template <typename T>
void fill_ones(uint32_t id, T one) {
    DataflowBuffer buffer(id);
    buffer.reserve_back(1);
    const CoreLocalMem<T> tile(buffer.get_write_ptr());
    for (uint32_t face = 0; face < 4; ++face) {
        for (uint32_t column = 0; column < 16; ++column) {
            tile[256 * face + column] = one;
        }
    }
    buffer.push_back(1);
}

void kernel_main() {
    const uint32_t first = get_arg_val<uint32_t>(1);
    const uint32_t rows = get_arg_val<uint32_t>(2);
    constexpr uint32_t wt = get_compile_time_arg_val(0);
    Noc noc;
    DataflowBuffer x(X);
    const auto source = TensorAccessor(TensorAccessorArgs<1>(), get_arg_val<uint32_t>(0));
    const uint32_t size = x.get_entry_size();

    fill_ones<uint16_t>(MAX_SCALER, 0x3F80);
    fill_ones<uint32_t>(SUM_SCALER, 0x3F800000);
    for (uint32_t row = first; row < first + rows; ++row) {
        x.reserve_back(wt);
        for (uint32_t tile = 0; tile < wt; ++tile) {
            noc.async_read(source, x, size, {.page_id = row * wt + tile}, {.offset_bytes = tile * size});
        }
        noc.async_read_barrier();
        x.push_back(wt);
    }
}
