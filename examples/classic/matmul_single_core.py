"""Matmul on one core, tile by tile.

For each tile of the result, K tiles of each operand pass through L1.
"""

from __future__ import annotations

import ttnn
from examples.classic.matmul_parts import Blocking, by_operator, compute_config, operands
from examples.common import Outcome, accessors, add_cb, empty, kernel, main, same_bits, write_tiles
from ttnn import metal
from ttnn.kernel_api import *

CORE = metal.CoreCoord(0, 0)


def read_operands() -> None:
    """Reader: operand row and column for each result tile."""
    left, right, first, tiles, kt, nt = (get_arg_val(i) for i in range(6))
    a = InterleavedAddrGenFast[True](left, get_tile_size(0), get_dataformat(0))
    b = InterleavedAddrGenFast[True](right, get_tile_size(1), get_dataformat(1))
    for tile in range(first, first + tiles):
        row, column = divmod(tile, nt)
        for k in range(kt):
            cb_reserve_back(0, 1)
            cb_reserve_back(1, 1)
            noc_async_read_tile(row * kt + k, a, get_write_ptr(0))
            noc_async_read_tile(k * nt + column, b, get_write_ptr(1))
            noc_async_read_barrier()
            cb_push_back(0, 1)
            cb_push_back(1, 1)


def multiply() -> None:
    """Compute: result tiles as sums over K in Dst.

    Arguments: number of tiles, Kt.
    """
    tiles, kt = get_arg_val(0), get_arg_val(1)
    mm_init(0, 1, 16)
    for _ in range(tiles):
        tile_regs_acquire()
        for _ in range(kt):
            cb_wait_front(0, 1)
            cb_wait_front(1, 1)
            matmul_tiles(0, 1, 0, 0, 0)
            cb_pop_front(0, 1)
            cb_pop_front(1, 1)
        tile_regs_commit()
        cb_reserve_back(16, 1)
        tile_regs_wait()
        pack_tile(0, 16)
        tile_regs_release()
        cb_push_back(16, 1)


def run(device: ttnn.MeshDevice, m: int = 128, k: int = 128, n: int = 128) -> Outcome:
    """Multiply m x k by k x n."""
    a, b = operands(device, m, k, n)
    out = empty((m, n), device)
    mt, kt, nt = m // 32, k // 32, n // 32

    program = metal.create_program()
    for index in (0, 1, 16):
        add_cb(program, CORE, index, 2)
    reading = metal.ReaderDataMovementConfig(compile_args=accessors(a, b))
    writing = metal.WriterDataMovementConfig(compile_args=accessors(out))
    reader = metal.create_kernel(program, kernel(read_operands), CORE, reading)
    writer = metal.create_kernel(program, kernel(write_tiles), CORE, writing)
    compute = metal.create_kernel(program, kernel(multiply), CORE, compute_config())
    metal.set_runtime_args(program, reader, CORE, [a.buffer_address(), b.buffer_address(), 0, mt * nt, kt, nt])
    metal.set_runtime_args(program, writer, CORE, [out.buffer_address(), 0, mt * nt])
    metal.set_runtime_args(program, compute, CORE, [mt * nt, kt])

    report = metal.enqueue_program(metal.command_queue(device), program)
    expected = by_operator(a, b, Blocking(mt, nt, kt, kt, 1, 1), (1, 1))
    return Outcome(
        report, f"{m} x {k} by {k} x {n} on core 0-0", {"same bits as ttnn.matmul": same_bits(out, expected)}
    )


if __name__ == "__main__":
    main(run, "Matmul on one core")
