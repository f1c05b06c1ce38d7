"""Reshapes: rows cut and joined by data movement kernels.

Source: tt-metal `data_movement/reshape_view/device`, `rm_reshape_interleaved.cpp` and its program factory.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from typing import Final

from ttnn.profiler.device_operation import DeviceOperation
from ttnn.profiler.families.common import buffer, per_unit, working_cores
from ttnn.profiler.families.lines import gathered_rows
from ttnn.profiler.families.tile_map import ENTRY_BYTES, TilePieces, map_entries, spread, tile_pieces
from ttnn.profiler.plan import BARRIER, Plan, PlanCb, Steps, await_, loop, pop, push, read, reserve, write

_ALIGNED: Final = 16
"""Alignment in bytes of rows written from their read position.

Rows of multiples of it are.
"""
_SAMPLED: Final = 16
"""Tiles of the result whose pieces are looked at."""
_ENTRY: Final = 14
"""RISC cycles per skipped map entry.

A load from L1 (8 cycles) that a branch waits for, and the end of the loop.
"""
_PIECE: Final = 50
"""RISC cycles per further piece.

The tile's number, another load that a branch waits for (8); two offsets and the length, three loads (10), made bytes
and added to addresses (8); the last bits compared (4); the command (20).
"""
COPIED_BYTE: Final = 7.6
"""RISC cycles per byte of an unaligned copy.

Load, store, two additions, branch. Fitted on one row of `op_profiles.csv`, pieces of 318 bytes of a row of 50,562; rows
of 12 bytes test it.
"""


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
    """Return a tile reshape's plan, with a map of pieces.

    It lists the pieces of each tile of the result.
    """
    source, output = op.inputs[0], op.outputs[0]
    units = max(1, output.tiles)
    cores = working_cores(op, units)
    kinds = Counter(tile_pieces(source, output, page) for page in spread(units, _SAMPLED))
    entries = map_entries(list(kinds))
    scan = ("instructions", _ENTRY * entries)

    def reader(tile: TilePieces) -> Steps:
        mapped = (reserve(0), read("dram", 1, entries * ENTRY_BYTES, 1), push(0), scan)
        return (*mapped, loop(tile.tiles, reserve(1), read(source.place, 1, source.page_bytes, 1), push(1)))

    def writer(tile: TilePieces) -> Steps:
        size = -(-tile.elements * output.element_bytes // tile.pieces)
        aligned = round(tile.aligned / tile.tiles)
        copied = round(tile.pieces / tile.tiles) - aligned
        moved = loop(aligned, ("instructions", _PIECE), write("local", 1, size))
        shifted = loop(copied, ("instructions", _PIECE + round(COPIED_BYTE * size)))
        taken = loop(tile.tiles, await_(1), moved, shifted, BARRIER, pop(1))
        return (await_(0), scan, taken, write(output.place, 1, output.page_bytes), BARRIER, pop(0))

    def kernel(steps: Callable[[TilePieces], Steps], count: int) -> Steps:
        return tuple(loop(times, *steps(tile)) for tile, times in _shares(kinds, count) if times)

    cbs = [
        PlanCb("map", 1, entries * ENTRY_BYTES, "UINT32"),
        buffer("tiles", source, 1),
        buffer("output", output, 1),
    ]
    return per_unit(
        op,
        units,
        cores,
        lambda count: kernel(reader, count),
        lambda count: (),
        lambda count: kernel(writer, count),
        cbs,
    )


def _shares(kinds: Counter[TilePieces], count: int) -> list[tuple[TilePieces, int]]:
    """Return a core's tile counts by kind.

    In proportion to how often a kind was found.
    """
    total, seen, done = kinds.total(), 0, 0
    shares = []
    for kind, found in kinds.items():
        seen += found
        until = round(count * seen / total)
        shares.append((kind, until - done))
        done = until
    return shares
