"""Device operations of a convolution: shards, halo, matmul.

Its input is divided over cores, completed to what windows reach, multiplied.

Source: tt-metal `ttnn/cpp/ttnn/operations/conv/conv2d/conv2d.cpp`, for shards of rows.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ttnn.profiler.device_operation import DeviceOperation
from ttnn.profiler.families.windows import Window, reach, window_of
from ttnn.profiler.operand import TILE, Operand


def operations(op: DeviceOperation) -> tuple[DeviceOperation, ...]:
    """Return a convolution's device operations, in execution order.

    A program runs them.

    Args:
        op: The product, with the operands of the call. `op.program` is the `ConvProgram`.
    """
    program: Any = op.program
    window = window_of(op.attributes["sliding_window_config"])
    if window is None or program.window.spread != (1, 1):
        # What a transposed convolution reaches is not described.
        return (op,)
    cores = program.cores(op.card.cores)
    source, weights, *_ = op.inputs
    # Prepared weights may be returned too.
    result, *_ = op.outputs
    columns = min(cores, op.card.grid[0])
    grid = (columns, -(-cores // columns))

    def shards(rows: int, width: int, like: Operand, *, tiled: bool, pixels: int) -> Operand:
        whole = (1, 1, rows * cores, width)
        return Operand(
            whole, (1, 1, pixels, width), tiled, like.dtype, "L1", "HEIGHT_SHARDED", (rows, width), grid, cores
        )

    pixels = window.batch * window.size[0] * window.size[1]
    held = -(-pixels // cores)
    if source.tiled:
        held = -(-held // TILE) * TILE
    width = -(-source.width // (TILE if source.tiled else 8)) * (TILE if source.tiled else 8)
    placed = shards(held, width, source, tiled=source.tiled, pixels=pixels)
    steps: list[DeviceOperation] = []
    bare = replace(op, attributes={}, program=None, chain=(), pipelines=(), fidelity="", cores=cores)
    same = source.local and source.memory == placed.memory and source.shard == placed.shard
    if not same:
        name = "ReshardDeviceOperation" if source.local else "InterleavedToShardedDeviceOperation"
        steps.append(replace(bare, name=name, inputs=(source,), outputs=(placed,)))
    gathered = placed
    if _reaches(window):
        most = reach(window)
        like = replace(source, dtype="BFLOAT16" if source.dtype == "BFLOAT8_B" else source.dtype)
        gathered = shards(most, width, like, tiled=False, pixels=most * cores)
        attributes = {
            "config": op.attributes["sliding_window_config"],
            "in_nsticks_per_core": str(held),
            "is_out_tiled": "true",
            "max_out_nsticks_per_core": str(most),
        }
        halo = replace(bare, name="HaloDeviceOperation", inputs=(placed,), outputs=(gathered,), attributes=attributes)
        steps.append(replace(halo, fidelity=op.fidelity if source.tiled else ""))
    rows = program.rows(cores) * TILE
    made = shards(rows, program.columns * TILE, result, tiled=True, pixels=program.window.rows)
    steps.append(replace(op, inputs=(gathered, weights), outputs=(made,), cores=cores))
    if not result.local:
        steps.append(replace(bare, name="ShardedToInterleavedDeviceOperation", inputs=(made,), outputs=(result,)))
    return tuple(steps)


def _reaches(window: Window) -> bool:
    """Return True if windows exceed a core's pixels, or skip some."""
    return window.window != (1, 1) or window.stride != (1, 1) or any(window.padding)
