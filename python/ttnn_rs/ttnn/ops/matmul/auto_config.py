"""The program that is chosen when no program configuration is given.

The rules reproduce the configurations that the official package was seen to choose, on Wormhole and on Blackhole; the
recorded calls are in the golden vectors (`matmul_programs`). The device grid is part of the rules: the same call has
other K blocks, hence other bits, on another chip.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from ttnn.base.enums import TensorMemoryLayout
from ttnn.base.exceptions import MemoryConfigError, ProgramConfigError, ShapeError

from .block_sizes import largest_divisor, shrink, subblock_height_first, subblock_width_first
from .configs import Activation, Kind, ProgramConfig
from .problem import Problem
from .specs import TILE, Shard, up

Grid = tuple[int, int]

_HEIGHT = TensorMemoryLayout.HEIGHT_SHARDED
_WIDTH = TensorMemoryLayout.WIDTH_SHARDED
_BLOCK = TensorMemoryLayout.BLOCK_SHARDED


def choose(problem: Problem, core_grid: Grid | None, activation: Activation | None) -> ProgramConfig:
    """Return the program configuration for a call without one.

    Args:
        problem: The multiplication.
        core_grid: (columns, rows) that the caller asked for; the device's grid is used if it does not fit.
        activation: Activation to fuse; fused only where a core grid was given.

    Raises:
        ShapeError: the inner dimensions differ.
        MemoryConfigError: shardings that no program supports.
        ProgramConfigError: a core grid without cores.
    """
    a = problem.a.placement
    if core_grid is not None:
        columns, rows = problem.chip.grid
        if min(core_grid) < 1:
            raise ProgramConfigError(
                f"ttnn.matmul: core_grid=(x={core_grid[0]}, y={core_grid[1]}) has no cores. The device has "
                f"{columns} columns and {rows} rows; both must be at least 1."
            )
        grid = core_grid if core_grid[0] <= columns and core_grid[1] <= rows else problem.chip.grid
        return _for_core_grid(problem, grid, activation)
    if a.shard is None:
        return _simple(problem, problem.chip.grid)
    config = _batched_shards(problem, a.shard) if problem.batch_b > 1 else _shards(problem, a.shard)
    return config or _for_core_grid(problem, problem.chip.grid, None)


def _mcast(
    problem: Problem,
    kind: Kind,
    grid: Grid,
    per_core: tuple[int, int],
    in0_block_w: int,
    *,
    adjust_k: bool = False,
    **more: Any,
) -> ProgramConfig:
    """Return a configuration without subblocks, its blocks shrunk to fit L1.

    These are the output block, and the K block if requested.
    """
    block_h, block_w, block_k = shrink(problem, *per_core, in0_block_w, adjust_k=adjust_k)
    return ProgramConfig(
        kind,
        grid,
        block_k if adjust_k else in0_block_w,
        out_block_h=block_h,
        out_block_w=block_w,
        per_core_m=per_core[0],
        per_core_n=per_core[1],
        **more,
    )


def _tall_subblocks(problem: Problem, config: ProgramConfig, *, whole_rows: bool = False) -> ProgramConfig:
    h, w = subblock_height_first(
        config.out_block_h, config.out_block_w, problem.compute.dst_tiles, whole_rows=whole_rows
    )
    return replace(config, out_subblock_h=h, out_subblock_w=w)


def _wide_subblocks(problem: Problem, config: ProgramConfig) -> ProgramConfig:
    h, w = subblock_width_first(config.out_block_h, config.out_block_w, problem.compute.dst_tiles)
    return replace(config, out_subblock_h=h, out_subblock_w=w)


# ---- nothing given, A not sharded -----------------------------------------------------------------------------------


def _simple(problem: Problem, grid: Grid) -> ProgramConfig:
    batched = problem.batch_b > 1
    everything = problem.in_dram and problem.interleaved
    if batched and problem.batch_a == 1 and problem.interleaved:
        # A stays in L1 and meets every matrix of B.
        return _simple_1d(problem, grid, mcast_in0=False)
    line = problem.out_line
    factor = next((f for f in (16, 8, 4, 2) if problem.fits_l1(f, f, 2)), 1)
    rows, columns = up(problem.mt, factor), up(problem.nt, factor)
    in0_block_w = 1 if problem.kt % 2 and (problem.out.sharded or rows > 1 or columns > 1) else 2
    fits_grid = rows * columns <= grid[0] * grid[1] and problem.kt % in0_block_w == 0
    if not everything and not fits_grid:
        return ProgramConfig(Kind.MULTI_CORE)
    if line and batched:
        raise MemoryConfigError(
            f"ttnn.matmul: a block sharded result on one {line} of cores needs an unbatched input_tensor_b, got "
            f"{problem.b.shape}.",
            vendor="BLOCK_SHARDED output on a 1D grid (single row or column of cores) is not supported when both input "
            "tensors "
            "are batched. Either use HEIGHT_SHARDED/WIDTH_SHARDED explicitly, use a 2D core grid for BLOCK_SHARDED, or "
            "ensure the second input tensor (B) has batch size 1. See GitHub issue #32306 for details.",
        )
    if (columns, rows) == (1, 1) or columns > grid[0] or rows > grid[1]:
        columns, rows = 0, 0
    narrow = _is_narrow(problem)
    wide = problem.interleaved and narrow and problem.n > problem.m
    tall = problem.interleaved and narrow and not wide
    out = problem.out.layout
    if (rows == 1 and not everything) or wide or (rows == 0 and (out is _WIDTH or line == "row")):
        return _simple_1d(problem, grid, mcast_in0=True)
    if (columns == 1 and not everything) or tall or (rows == 0 and (out is _HEIGHT or line == "column")):
        return _simple_1d(problem, grid, mcast_in0=False)
    if everything:
        return _simple_2d_dram(problem, grid)
    if rows > 0 or (out is _BLOCK and not line):
        return _simple_2d(problem, grid, factor, in0_block_w)
    return ProgramConfig(Kind.MULTI_CORE)


def _is_narrow(problem: Problem) -> bool:
    height, width = problem.m, problem.n
    if max(height, width) // min(height, width) > 8:
        return True
    return problem.in_dram and (height <= TILE or width <= TILE)


def _simple_1d(problem: Problem, grid: Grid, *, mcast_in0: bool) -> ProgramConfig:
    in0_block_w = 1 if problem.kt % 2 else 2
    shard = problem.out.shard
    if shard is not None and problem.out_line == ("row" if mcast_in0 else "column"):
        per_core, fuse_batch = (shard.height_t, shard.width_t), True
        grid = (shard.box.columns, shard.box.rows)
    else:
        cores, fuse_batch = grid[0] * grid[1], False
        if mcast_in0:
            per_core = (problem.mt, up(up(problem.n, cores), problem.b.tile[1]))
        else:
            per_core = (up(up(problem.m, cores), problem.a.tile[0]), problem.nt)
    config = _mcast(problem, Kind.MCAST_1D, grid, per_core, in0_block_w, mcast_in0=mcast_in0, fuse_batch=fuse_batch)
    return _tall_subblocks(problem, config)


def _simple_2d_dram(problem: Problem, grid: Grid) -> ProgramConfig:
    in0_block_w = problem.kt // grid[0] if problem.kt % grid[0] == 0 else 1
    per_core = (up(problem.mt, grid[1]), up(problem.nt, grid[0]))
    config = _mcast(problem, Kind.MCAST_2D, grid, per_core, in0_block_w, adjust_k=True)
    return _tall_subblocks(problem, config)


def _simple_2d(problem: Problem, grid: Grid, factor: int, in0_block_w: int) -> ProgramConfig:
    per_core_m = per_core_n = factor
    if problem.out.sharded:
        per_core_m, per_core_n = min(factor, problem.mt), min(factor, problem.nt)
    return ProgramConfig(
        Kind.MCAST_2D,
        grid,
        in0_block_w,
        out_subblock_h=1,
        out_subblock_w=largest_divisor(per_core_n, problem.compute.dst_tiles),
        out_block_h=per_core_m,
        out_block_w=per_core_n,
        per_core_m=per_core_m,
        per_core_n=per_core_n,
    )


# ---- nothing given, A sharded ---------------------------------------------------------------------------------------


def _shards(problem: Problem, shard: Shard) -> ProgramConfig | None:
    """Return the configuration of A's shards.

    None for grids that do not spread work.
    """
    a, b, out = problem.a.placement, problem.b.placement, problem.out
    if b.sharded:
        raise MemoryConfigError(
            f"ttnn.matmul: with a sharded input_tensor_a ({a}) and no program config, input_tensor_b has to be "
            f"interleaved, got {b}.",
            vendor=f"Input tensor B must have INTERLEAVED memory layout, got: {b.layout.cpp_name}",
        )
    if out.sharded:
        if out.buffer is not a.buffer:
            raise MemoryConfigError(
                f"ttnn.matmul: a sharded result must be in the memory of input_tensor_a ({a}), got {out}.",
                vendor=f"Input A and output buffer types must match, got input: {a.buffer.cpp_name} vs output: "
                f"{out.buffer.cpp_name}",
            )
        if out.layout is not a.layout:
            raise MemoryConfigError(
                f"ttnn.matmul: a sharded result must be sharded like input_tensor_a ({a}), got {out}.",
                vendor=f"Input A and output memory layouts must match, got input: {a.layout.cpp_name} vs output: "
                f"{out.layout.cpp_name}",
            )
    box = shard.box
    grid = (box.columns, box.rows)
    rows_t = problem.batch_a * problem.mt
    if a.layout is _WIDTH and box.cores > 1:
        per_core = (rows_t, up(problem.nt, box.cores))
        in0_block_w = math.gcd(shard.width_t, problem.kt)
        config = _mcast(problem, Kind.MCAST_1D, grid, per_core, in0_block_w, mcast_in0=True, fuse_batch=True)
    elif a.layout is _HEIGHT and box.cores > 1:
        per_core = (shard.height_t, problem.nt)
        config = _mcast(problem, Kind.MCAST_1D, grid, per_core, problem.kt, mcast_in0=False, fuse_batch=True)
    elif a.layout is _BLOCK and box.columns > 1 and box.rows > 1:
        virtual = (grid[1], grid[0]) if shard.col_major else grid
        per_core = (up(rows_t, virtual[1]), up(problem.nt, virtual[0]))
        in0_block_w = math.gcd(shard.width_t, problem.kt) if virtual[0] == problem.kt // shard.width_t else 1
        options = {"transpose_mcast": shard.col_major, "fuse_batch": True}
        config = _mcast(problem, Kind.MCAST_2D, grid, per_core, in0_block_w, **options)
    else:
        return None
    return _tall_subblocks(problem, config, whole_rows=out.sharded)


def _batched_shards(problem: Problem, shard: Shard) -> ProgramConfig:
    a, b = problem.a.placement, problem.b.placement
    if a.layout is _WIDTH:
        raise MemoryConfigError(
            f"ttnn.matmul: a width sharded input_tensor_a cannot meet a batched input_tensor_b {problem.b.shape}.",
            vendor=f"Input A memory layout must not be WIDTH_SHARDED, got: {a.layout.cpp_name}",
        )
    if b.shard is not None and (b.buffer, b.layout, b.shard.cores, b.shard.col_major) != (
        a.buffer,
        a.layout,
        shard.cores,
        shard.col_major,
    ):
        raise MemoryConfigError(
            "ttnn.matmul: a batched sharded input_tensor_b needs the buffer type, memory layout, grid and "
            "orientation of "
            f"input_tensor_a ({a}), got {b}."
        )
    h, w = subblock_height_first(shard.height_t, problem.nt, problem.compute.dst_tiles, whole_rows=problem.out.sharded)
    return ProgramConfig(
        Kind.REUSE,
        (shard.box.columns, shard.box.rows),
        shard.width_t,
        h,
        w,
        per_core_m=shard.height_t,
        per_core_n=problem.nt,
    )


# ---- a core grid is given -------------------------------------------------------------------------------------------


def _for_core_grid(problem: Problem, grid: Grid, activation: Activation | None) -> ProgramConfig:
    a = problem.a.placement
    if problem.a.shape[-1] != problem.b.shape[-2]:
        raise ShapeError(
            f"ttnn.matmul: inner dimensions differ: input_tensor_a is {problem.a.shape} (K={problem.a.shape[-1]}), "
            f"input_tensor_b is {problem.b.shape} (K={problem.b.shape[-2]}), after the requested transposes.",
            vendor="The k dimension does not match between tensors",
        )
    if problem.batch_b > 1:
        if activation is not None:
            raise ShapeError(
                f"ttnn.matmul: activation={activation.op.name} together with a core grid needs an unbatched "
                f"input_tensor_b, got {problem.b.shape}.",
                vendor="Cannot use activation with batched input b",
            )
        return _batched_core_grid(problem, grid)
    rows = problem.batch_a * problem.m
    narrow = max(rows, problem.n) // min(rows, problem.n) > 8
    small = min(problem.m, problem.a.padded[-1], problem.n) <= TILE
    if a.layout is not _BLOCK and (narrow or small or a.sharded):
        return _core_grid_1d(problem, grid, activation)
    return _core_grid_2d(problem, grid, activation)


def _batched_core_grid(problem: Problem, grid: Grid) -> ProgramConfig:
    a, b = problem.a.placement.shard, problem.b.placement.shard
    in0_block_w = 1
    per_core = (problem.mt, problem.nt)
    if a is not None:
        grid = (a.box.columns, a.box.rows)
        per_core, in0_block_w = (a.height_t, problem.nt), a.width_t
    elif b is not None:
        per_core = (problem.mt, b.width_t)
    elif not problem.fits_l1(*per_core, in0_block_w):
        return _simple(problem, grid)
    h, w = subblock_width_first(*per_core, problem.compute.dst_tiles)
    return ProgramConfig(Kind.REUSE, grid, in0_block_w, h, w, per_core_m=per_core[0], per_core_n=per_core[1])


def _core_grid_1d(problem: Problem, grid: Grid, activation: Activation | None) -> ProgramConfig:
    a = problem.a.placement
    rows_t = problem.batch_a * problem.mt
    tall = rows_t > problem.nt
    if a.shard is not None:
        grid = (a.shard.box.columns, a.shard.box.rows)
        tall = a.layout is _HEIGHT
    cores = grid[0] * grid[1]
    per_core = (up(rows_t, cores), problem.nt) if tall else (rows_t, up(problem.nt, cores))
    if a.shard is not None:
        in0_block_w = math.gcd(a.shard.width_t, problem.kt)
    else:
        in0_block_w = largest_divisor(problem.kt, up(problem.kt, cores))
    options: dict[str, Any] = {"mcast_in0": not tall, "fuse_batch": True, "fused_activation": activation}
    return _wide_subblocks(problem, _mcast(problem, Kind.MCAST_1D, grid, per_core, in0_block_w, **options))


def _core_grid_2d(problem: Problem, grid: Grid, activation: Activation | None) -> ProgramConfig:
    shard = problem.a.placement.shard
    if shard is None:
        per_core = (up(problem.batch_a * problem.mt, grid[1]), max(1, up(problem.nt, grid[0])))
        in0_block_w = largest_divisor(problem.kt, 4)
        transpose_mcast = False
    else:
        per_core = (shard.height_t, max(1, problem.nt * shard.width_t // problem.kt))
        in0_block_w = math.gcd(shard.width_t, problem.kt)
        transpose_mcast = shard.col_major
    options: dict[str, Any] = {"transpose_mcast": transpose_mcast, "fuse_batch": True, "fused_activation": activation}
    config = _wide_subblocks(problem, _mcast(problem, Kind.MCAST_2D, grid, per_core, in0_block_w, **options))
    if config.out_subblock_w != per_core[1] or problem.out.sharded:
        config = replace(config, out_subblock_h=1)
    return config
