"""Rows to tiles and back in a compute kernel.

What enters row-major leaves tiled, and the other way round.
"""

from __future__ import annotations

import numpy as np

import ttnn
from examples.common import BF16_TILE, Outcome, add_cb, main, random_bf16
from ttnn import metal
from ttnn.kernel_api import *

CORE = metal.CoreCoord(0, 0)
ROWS, TILES, ROWS_AGAIN = 0, 16, 17


def read_rows() -> None:
    """Reader: blocks of 32 rows, bytes of Wt tiles.

    Arguments: address, blocks, bytes of a row, Wt.
    """
    source, blocks, row_bytes, wt = (get_arg_val(i) for i in range(4))
    pages = InterleavedAddrGen[True](bank_base_address=source, page_size=row_bytes)
    for block in range(blocks):
        cb_reserve_back(ROWS, wt)
        l1 = get_write_ptr(ROWS)
        for row in range(32):
            noc_async_read(get_noc_addr(32 * block + row, pages), l1 + row * row_bytes, row_bytes)
        noc_async_read_barrier()
        cb_push_back(ROWS, wt)


def there_and_back() -> None:
    """Compute: rows to tiles, and each row of tiles to rows."""
    blocks, wt = get_compile_time_arg_val(0), get_compile_time_arg_val(1)
    unary_op_init_common(ROWS, TILES)
    for _ in range(blocks):
        cb_wait_front(ROWS, wt)
        cb_reserve_back(TILES, wt)
        tilize_init(ROWS, wt, TILES)
        tilize_block(ROWS, wt, TILES)
        tilize_uninit(ROWS, TILES)
        cb_push_back(TILES, wt)
        cb_pop_front(ROWS, wt)
        cb_wait_front(TILES, wt)
        cb_reserve_back(ROWS_AGAIN, wt)
        untilize_init(TILES)
        untilize_block(TILES, wt, ROWS_AGAIN)
        untilize_uninit(TILES)
        cb_push_back(ROWS_AGAIN, wt)


def write_both() -> None:
    """Writer: the resulting tiles and rows.

    Arguments: both addresses, blocks, bytes of a row, Wt.
    """
    tiled, rows, blocks, row_bytes, wt = (get_arg_val(i) for i in range(5))
    tiles = InterleavedAddrGenFast[True](tiled, get_tile_size(TILES), get_dataformat(TILES))
    pages = InterleavedAddrGen[True](bank_base_address=rows, page_size=row_bytes)
    for block in range(blocks):
        cb_wait_front(TILES, wt)
        cb_wait_front(ROWS_AGAIN, wt)
        for tile in range(wt):
            noc_async_write_tile(block * wt + tile, tiles, get_read_ptr(TILES) + tile * get_tile_size(TILES))
        for row in range(32):
            noc_async_write(
                get_read_ptr(ROWS_AGAIN) + row * row_bytes, get_noc_addr(32 * block + row, pages), row_bytes
            )
        noc_async_write_barrier()
        cb_pop_front(TILES, wt)
        cb_pop_front(ROWS_AGAIN, wt)


def run(device: ttnn.MeshDevice, height: int = 64, width: int = 96) -> Outcome:
    """Tilize height x width bfloat16 and untilize the result."""
    values = random_bf16((height, width), 10)
    wt, row_bytes = width // 32, 2 * width
    x = ttnn.from_torch(values, dtype=ttnn.bfloat16, device=device)
    tiled = ttnn.empty([height, width], ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
    again = ttnn.empty([height, width], ttnn.bfloat16, ttnn.ROW_MAJOR_LAYOUT, device)
    blocks = height // 32

    program = metal.create_program()
    for index in (ROWS, TILES, ROWS_AGAIN):
        add_cb(program, CORE, index, wt, page_size=BF16_TILE)
    reader = metal.create_kernel(program, read_rows, CORE, metal.ReaderDataMovementConfig())
    writer = metal.create_kernel(program, write_both, CORE, metal.WriterDataMovementConfig())
    metal.create_kernel(program, there_and_back, CORE, metal.ComputeConfig(compile_args=[blocks, wt]))
    metal.set_runtime_args(program, reader, CORE, [x.buffer_address(), blocks, row_bytes, wt])
    addresses = [tiled.buffer_address(), again.buffer_address()]
    metal.set_runtime_args(program, writer, CORE, [*addresses, blocks, row_bytes, wt])

    report = metal.enqueue_program(metal.command_queue(device), program)
    checks = {
        "tiles as ttnn.to_layout makes them": np.array_equal(ttnn.to_numpy(tiled), ttnn.to_numpy(x)),
        "rows as before": np.array_equal(ttnn.to_numpy(again), ttnn.to_numpy(x)),
    }
    return Outcome(report, f"{blocks} blocks of 32 rows and {wt} tiles on core 0-0", checks)


if __name__ == "__main__":
    main(run, "Rows to tiles and back")
