"""Matmuls of operators other than `ttnn.matmul`, with own rules.

The rules are those of their programs.
"""

from __future__ import annotations

from ttnn.base.exceptions import TtnnError
from ttnn.profiler.device_operation import DeviceOperation
from ttnn.profiler.families.common import buffer, per_unit, tile_bytes_of, working_cores, writing
from ttnn.profiler.families.matmul import matmul
from ttnn.profiler.plan import BARRIER, Plan, Steps, await_, loop, pop, push, read, reserve, tiles


def product(op: DeviceOperation) -> Plan:
    """Return a matmul's plan, as `ttnn.matmul` or tile by tile.

    That of `ttnn.matmul` if it supports the operands.

    Source: tt-metal `moreh/moreh_matmul/device/kernels`: for each tile along K, both operands are read.
    """
    try:
        return matmul(op)
    except TtnnError:
        return _tile_by_tile(op)


def _tile_by_tile(op: DeviceOperation) -> Plan:
    left, right, output = op.inputs[0], op.inputs[1], op.outputs[0]
    inner = left.tile_rows if op.attributes.get("transpose_a") == "true" else left.tile_columns
    units = max(1, output.tiles)
    cores = working_cores(op, units)
    sizes = (tile_bytes_of(left), tile_bytes_of(right))

    def reader(count: int) -> Steps:
        both = (read(left.place, 1, sizes[0]), read(right.place, 1, sizes[1]), BARRIER)
        return (loop(count * inner, reserve(0), reserve(1), *both, push(0), push(1)),)

    def kernel(count: int) -> Steps:
        step = (await_(0), await_(1), tiles(("matmul", 1, 1, 1, *sizes, op.phases)), pop(0), pop(1))
        pack = (reserve(2), tiles(("pack", tile_bytes_of(output), False)), push(2))
        return (tiles(("initialise",)), loop(count, loop(inner, *step), *pack))

    def writer(count: int) -> Steps:
        if output.local:
            return (loop(count, await_(2), pop(2)),)
        return writing(output, 2, count)

    cbs = [buffer("left", left), buffer("right", right), buffer("result", output)]
    return per_unit(op, units, cores, reader, kernel, writer, cbs)
