"""Matmul with reuse: each core reads every operand tile once.

A core holds a block of the result and reads each tile of its operands once for all of it.
"""

from __future__ import annotations

import ttnn
from examples.classic.matmul_parts import (
    PARTIALS,
    Blocking,
    by_operator,
    compute_config,
    multiply_blocks,
    operands,
    write_block,
)
from examples.common import Outcome, accessors, add_cb, empty, kernel, main, same_bits
from ttnn import metal
from ttnn.kernel_api import *

BLOCKING = Blocking(per_core_m=4, per_core_n=2, kt=8, in0_block_w=2, subblock_h=2, subblock_w=2)


def read_blocks() -> None:
    """Reader: blocks of both operands. Arguments: addresses, first row, first column, Nt."""
    left, right, first_row, first_column, nt = (get_arg_val(i) for i in range(5))
    blocking = Blocking(*(get_compile_time_arg_val(i) for i in range(6)))
    a = InterleavedAddrGenFast[True](left, get_tile_size(0), get_dataformat(0))
    b = InterleavedAddrGenFast[True](right, get_tile_size(1), get_dataformat(1))
    for k in range(0, blocking.kt, blocking.in0_block_w):
        cb_reserve_back(0, blocking.in0_tiles)
        cb_reserve_back(1, blocking.in1_tiles)
        l1 = get_write_ptr(0)
        for row in range(first_row, first_row + blocking.per_core_m):
            for column in range(k, k + blocking.in0_block_w):
                noc_async_read_tile(row * blocking.kt + column, a, l1)
                l1 += get_tile_size(0)
        l1 = get_write_ptr(1)
        for row in range(k, k + blocking.in0_block_w):
            for column in range(first_column, first_column + blocking.per_core_n):
                noc_async_read_tile(row * nt + column, b, l1)
                l1 += get_tile_size(1)
        noc_async_read_barrier()
        cb_push_back(0, blocking.in0_tiles)
        cb_push_back(1, blocking.in1_tiles)


def run(
    device: ttnn.MeshDevice,
    grid: tuple[int, int] = (3, 2),
    blocking: Blocking = BLOCKING,
) -> Outcome:
    """Multiply on grid[0] x grid[1] cores with the block sizes of `blocking`.

    Each core has them.
    """
    m, k, n = grid[1] * blocking.per_core_m * 32, blocking.kt * 32, grid[0] * blocking.per_core_n * 32
    nt = n // 32
    a, b = operands(device, m, k, n)
    out = empty((m, n), device)
    cores = metal.CoreRange(metal.CoreCoord(0, 0), metal.CoreCoord(grid[0] - 1, grid[1] - 1))

    program = metal.create_program()
    add_cb(program, cores, 0, 2 * blocking.in0_tiles)
    add_cb(program, cores, 1, 2 * blocking.in1_tiles)
    add_cb(program, cores, 16, blocking.out_tiles)
    add_cb(program, cores, PARTIALS, blocking.out_tiles)
    reading = metal.ReaderDataMovementConfig(compile_args=[*blocking, *accessors(a, b)])
    writing = metal.WriterDataMovementConfig(compile_args=[*blocking, *accessors(out)])
    reader = metal.create_kernel(program, kernel(read_blocks), cores, reading)
    writer = metal.create_kernel(program, kernel(write_block), cores, writing)
    metal.create_kernel(program, kernel(multiply_blocks), cores, compute_config(blocking))
    for y in range(grid[1]):
        for x in range(grid[0]):
            core, row, column = metal.CoreCoord(x, y), y * blocking.per_core_m, x * blocking.per_core_n
            metal.set_runtime_args(program, reader, core, [a.buffer_address(), b.buffer_address(), row, column, nt])
            metal.set_runtime_args(program, writer, core, [out.buffer_address(), row, column, nt])

    report = metal.enqueue_program(metal.command_queue(device), program)
    expected = by_operator(a, b, blocking, grid)
    did = f"{m} x {k} by {k} x {n} on {grid[0]} x {grid[1]} cores; {sum(report.noc_bytes):,} B over the NoC"
    return Outcome(report, did, {"same bits as ttnn.matmul with this blocking": same_bits(out, expected)})


if __name__ == "__main__":
    main(run, "Matmul with block reuse")
