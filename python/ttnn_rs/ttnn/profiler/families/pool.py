"""Pools, interpolation and upsampling, by window row reads.

Rows are read for each row of the result.

Source: tt-metal `pool/generic`, `pool/grid_sample` and `pool/upsample`, `device/kernels/dataflow`.
"""

from __future__ import annotations

import math
from typing import Final

from ttnn.profiler.device_operation import DeviceOperation
from ttnn.profiler.families.common import buffer, per_unit, working_cores
from ttnn.profiler.families.lines import gathered_rows
from ttnn.profiler.operand import TILE
from ttnn.profiler.plan import BARRIER, Plan, Steps, await_, loop, pop, push, read, reserve, tiles, write

_CORNERS: Final = 4
_NUMBERS_OF_A_POINT: Final = {True: 6, False: 2}
"""Values of a grid point.

Row, column and four weights if precomputed, else two coordinates.
"""


def _row_kernel(op: DeviceOperation, rows: int) -> Steps:
    """Return the compute kernel's work on one window's rows.

    They fill no more of a tile than they are.
    """
    source = op.inputs[0]
    wide = max(1, -(-source.width // TILE))
    tile = min(rows, TILE) * TILE * source.element_bytes
    work = (tiles(("tilize", tile, wide), wide), tiles(("reduce", "column", tile, op.phases), wide))
    return (await_(0), reserve(1), *work, tiles(("pack", 64 * wide, False)), push(1), pop(0))


def _windows(op: DeviceOperation, points: int, rows: int, taken: Steps) -> Plan:
    """Return the plan of a reduction over windows.

    Args:
        op: The device operation.
        points: Windows of each row of the result.
        rows: Rows of a window.
        taken: How the reader brings the rows of one window.
    """
    source, output = op.inputs[0], op.outputs[0]
    units = max(1, output.rows)
    cores = working_cores(op, units)
    if output.local and output.shard is not None:
        # Shards are full from the first core on.
        cores = min(cores, -(-units // output.shard[0]))
        units = cores * output.shard[0]
    window = _row_kernel(op, rows)

    def reader(count: int) -> Steps:
        return (loop(count * points, reserve(0), *taken, push(0)),)

    def kernel(count: int) -> Steps:
        return (tiles(("initialise",)), loop(count * points, *window))

    def writer(count: int) -> Steps:
        if output.local:
            return (loop(count * points, await_(1), pop(1)),)
        row = (loop(points - 1, await_(1), pop(1)), await_(1), write(output.place, 1, output.page_bytes), pop(1))
        return (loop(count, *row), BARRIER)

    return per_unit(op, units, cores, reader, kernel, writer, [buffer("window", source), buffer("row", output)])


def pool(op: DeviceOperation) -> Plan:
    """Return a pooling's plan, merging reads of adjacent pixels.

    Each row of a kernel window is one read then.
    """
    source = op.inputs[0]
    text = op.attributes.get("sliding_window_config_", "")
    found = [int(part) for part in text.partition("window_hw=(")[2].partition(")")[0].split(";") if part]
    if op.program:
        # Only the number of pixels is known.
        side = math.isqrt(op.program)
        found = [side, side] if side * side == op.program else [op.program, 1]
    rows, columns = found or (1, 1)
    size = source.width * source.element_bytes
    place = "local" if source.local else source.place
    return _windows(op, 1, rows * columns, (read(place, rows, columns * size), BARRIER))


def grid_sample(op: DeviceOperation) -> Plan:
    """Return an interpolation's plan: four corner reads per point."""
    source = op.inputs[0]
    size = source.width * source.element_bytes
    place = "local" if source.local else source.place
    points = 1
    if len(op.inputs) > 1 and op.attributes.get("batch_output_channels") == "true":
        points = max(1, op.inputs[1].width // _NUMBERS_OF_A_POINT[op.attributes.get("use_precomputed_grid") == "true"])
    return _windows(op, points, _CORNERS, (read(place, _CORNERS, size), BARRIER))


def upsample(op: DeviceOperation) -> Plan:
    """Return an upsampling's plan: rows read once, written everywhere needed.

    By fractions, each row of the result is read for itself.
    """
    source, output = op.inputs[0], op.outputs[0]
    fractions = output.rows % max(1, source.rows) != 0
    if source.tiled or output.tiled or fractions or op.attributes.get("mode", "nearest") != "nearest":
        return gathered_rows(op)
    size = source.width * source.element_bytes
    times = max(1, output.rows // max(1, source.rows))
    cores = working_cores(op, source.rows)

    def reader(count: int) -> Steps:
        return (loop(count, reserve(0), read("local" if source.local else source.place, 1, size, 1), push(0)),)

    def writer(count: int) -> Steps:
        place = "local" if output.local else output.place
        return (loop(count, await_(0), write(place, times, size), BARRIER, pop(0)),)

    return per_unit(op, source.rows, cores, reader, lambda count: (), writer, [buffer("rows", source)])
