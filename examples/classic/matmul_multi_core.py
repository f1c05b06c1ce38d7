"""Matmul on many cores, each reading its tiles from DRAM.

The tiles of the result are divided over the cores.
"""

from __future__ import annotations

import ttnn
from examples.classic.matmul_parts import Blocking, by_operator, compute_config, operands
from examples.classic.matmul_single_core import multiply, read_operands
from examples.common import Outcome, accessors, add_cb, empty, kernel, main, same_bits, write_tiles
from ttnn import metal


def run(device: ttnn.MeshDevice, m: int = 160, k: int = 128, n: int = 224) -> Outcome:
    """Multiply m x k by k x n."""
    a, b = operands(device, m, k, n)
    out = empty((m, n), device)
    mt, kt, nt = m // 32, k // 32, n // 32
    grid = device.compute_with_storage_grid_size()
    count, cores, group_1, group_2, tiles_1, tiles_2 = metal.split_work_to_cores(grid, mt * nt)

    program = metal.create_program()
    for index in (0, 1, 16):
        add_cb(program, cores, index, 2)
    reading = metal.ReaderDataMovementConfig(compile_args=accessors(a, b))
    writing = metal.WriterDataMovementConfig(compile_args=accessors(out))
    reader = metal.create_kernel(program, kernel(read_operands), cores, reading)
    writer = metal.create_kernel(program, kernel(write_tiles), cores, writing)
    compute = metal.create_kernel(program, kernel(multiply), cores, compute_config())
    first = 0
    for group, tiles in ((group_1, tiles_1), (group_2, tiles_2)):
        for core in group.cores():
            metal.set_runtime_args(
                program, reader, core, [a.buffer_address(), b.buffer_address(), first, tiles, kt, nt]
            )
            metal.set_runtime_args(program, writer, core, [out.buffer_address(), first, tiles])
            metal.set_runtime_args(program, compute, core, [tiles, kt])
            first += tiles

    report = metal.enqueue_program(metal.command_queue(device), program)
    expected = by_operator(a, b, Blocking(mt, nt, kt, kt, 1, 1), (1, 1))
    did = f"{m} x {k} by {k} x {n}: {mt * nt} tiles of the result on {count} cores, {tiles_1} each"
    return Outcome(report, did, {"same bits as ttnn.matmul": same_bits(out, expected)})


if __name__ == "__main__":
    main(run, "Matmul on many cores")
