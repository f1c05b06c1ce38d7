"""Reshapes: rows of another length are cut and joined by the data movement kernels.

Source: tt-metal `data_movement/reshape_view/device`, `rm_reshape_interleaved.cpp` and its program factory.
"""

from __future__ import annotations

import math
from typing import Final

from ttnn.profiler.device_operation import DeviceOperation
from ttnn.profiler.families.common import buffer, per_unit, working_cores
from ttnn.profiler.families.lines import gathered_rows
from ttnn.profiler.families.movement import STICK_INSTRUCTIONS
from ttnn.profiler.operand import TILE
from ttnn.profiler.plan import BARRIER, Plan, Steps, await_, loop, pop, push, read, reserve, write

_ALIGNED: Final = 16
"""Bytes: rows of multiples of it are written from where they were read."""
_FACE: Final = 16
COPIED_BYTE: Final = 7.6
"""Cycles of a RISC for each byte of a copy that is not aligned: load, store, two additions, branch. Fitted on one row
of `op_profiles.csv`, pieces of 318 bytes of a row of 50,562; rows of 12 bytes test it."""


def reshape(op: DeviceOperation) -> Plan:
    """Return the plan of a reshape."""
    source, output = op.inputs[0], op.outputs[0]
    if source.tiled and output.tiled and not output.sharded:
        return _of_tiles(op)
    if source.tiled or output.tiled or source.sharded or output.sharded:
        return gathered_rows(op)
    sizes = (source.width * source.element_bytes, output.width * output.element_bytes)
    whole = math.lcm(*sizes)
    # Cores begin where a row of the operand and one of the result begin.
    units = max(1, source.rows * sizes[0] // whole)
    cores = working_cores(op, units)
    both = units >= 2 * cores
    copied = () if all(size % _ALIGNED == 0 for size in sizes) else (("instructions", round(COPIED_BYTE * sizes[0])),)

    def kernel(count: int) -> Steps:
        if count == 0:
            return ()
        taken = loop(whole // sizes[0], read(source.place, 1, sizes[0], 1), *copied)
        put = loop(whole // sizes[1], write(output.place, 1, sizes[1]), BARRIER)
        return (loop(count, taken, put),)

    def first(count: int) -> Steps:
        return kernel(-(-count // 2) if both else count)

    def second(count: int) -> Steps:
        return kernel(count // 2 if both else 0)

    return per_unit(op, units, cores, first, lambda count: (), second, [buffer("rows", source), buffer("row", output)])


def _of_tiles(op: DeviceOperation) -> Plan:
    """Return the plan of a reshape of tiles: the rows of faces of each result are copied out of the operand's tiles."""
    source, output = op.inputs[0], op.outputs[0]
    units = max(1, output.tiles)
    cores = working_cores(op, units)
    wide = min(_FACE, source.logical[-1], output.logical[-1])
    across = -(-min(output.logical[-1], TILE) // _FACE)
    rows = -(-math.prod(output.logical[:-1]) * output.tile_columns // units)
    size = wide * output.element_bytes
    # An aligned piece is copied over the network interface, which is waited for; a shorter one by the RISC.
    short = ("instructions", STICK_INSTRUCTIONS + round(COPIED_BYTE * size))
    piece = short if size % _ALIGNED else read("local", 1, size, 1)

    def reader(count: int) -> Steps:
        return (loop(count, reserve(0), read(source.place, 1, source.page_bytes, 1), push(0)),)

    def writer(count: int) -> Steps:
        taken = loop(min(rows, TILE) * across, piece)
        return (loop(count, await_(0), taken, write(output.place, 1, output.page_bytes), BARRIER, pop(0)),)

    return per_unit(op, units, cores, reader, lambda count: (), writer, [buffer("tiles", source)])
