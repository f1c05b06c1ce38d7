"""Cores of a program, and the shards of its output."""

from __future__ import annotations

from ttnn.base.core_range import CoreRangeSet
from ttnn.base.enums import TensorMemoryLayout

from .configs import Kind, ProgramConfig
from .problem import Problem
from .specs import CoreBox, Cores, Shard, core_boxes, core_range_set, first_cores, up


def program_cores(problem: Problem, config: ProgramConfig) -> Cores:
    """Return the cores that work."""
    rows_t = problem.mt * (problem.batch_a if config.fuse_batch else 1)
    if config.kind is Kind.MULTI_CORE:
        tiles = problem.batch_a * problem.mt * problem.nt
        columns, rows = problem.chip.grid
        cores = first_cores(min(tiles, columns * rows), problem.chip.grid, row_major=False)
        # Two groups of cores, merged: the same cores as rows.
        return core_boxes(core_range_set(cores).merge(CoreRangeSet()))
    if config.kind is Kind.BATCHED_DRAM_SHARDED and problem.a.placement.shard is not None:
        return problem.a.placement.shard.cores
    if config.kind is Kind.DRAM_SHARDED:
        columns, rows = problem.chip.grid
        return (CoreBox(0, 0, columns - 1, rows - 1),)
    if config.kind is Kind.MCAST_2D:
        blocks_y, blocks_x = up(rows_t, config.per_core_m), up(problem.nt, config.per_core_n)
        if config.transpose_mcast:
            blocks_x, blocks_y = blocks_y, blocks_x
        return (CoreBox(0, 0, blocks_x - 1, blocks_y - 1),)
    shard = problem.a.placement.shard
    if config.gather_in0 and shard is not None:
        return shard.cores
    if config.kind is Kind.MCAST_1D:
        blocks = up(rows_t, config.per_core_m) * up(problem.nt, config.per_core_n)
        return first_cores(blocks, config.grid, row_major=True)
    blocks = reuse_blocks(problem, config)
    columns, rows = config.grid
    return first_cores(min(blocks, columns * rows), config.grid, row_major=_reuse_row_major(problem))


def reuse_blocks(problem: Problem, config: ProgramConfig) -> int:
    """Return the output blocks that the Reuse program deals to its cores."""
    return problem.batch_a * problem.mt // config.per_core_m * up(problem.nt, config.per_core_n)


def _reuse_row_major(problem: Problem) -> bool:
    """Return the block order of the Reuse program.

    It is that of the shards, columns first without any.
    """
    for placement in (problem.a.placement, problem.b.placement, problem.out):
        if placement.shard is not None:
            return not placement.shard.col_major
    return False


def kernel_batch(problem: Problem, config: ProgramConfig) -> int:
    """Return the matrices that the compute kernel loops over."""
    if config.kind in (Kind.MCAST_1D, Kind.MCAST_2D):
        return 1 if config.fuse_batch else max(problem.batch_a, problem.batch_b)
    if config.kind is Kind.REUSE:
        columns, rows = config.grid
        per_core = up(reuse_blocks(problem, config), columns * rows)
        return per_core * max(1, config.per_core_m // problem.mt)
    if config.kind is Kind.BATCHED_DRAM_SHARDED and problem.a.placement.shard is not None:
        return up(problem.batch_a, problem.a.placement.shard.num_cores)
    return 1


def output_shard(problem: Problem, config: ProgramConfig) -> tuple[TensorMemoryLayout, Shard | None]:
    """Return the layout and the shards of a sharded output."""
    out = problem.out
    height, width = config.per_core_m * problem.product_tile[0], config.per_core_n * problem.product_tile[1]
    if config.gather_in0:
        return out.layout, out.shard
    if config.kind is Kind.MCAST_2D:
        cores = program_cores(problem, config)
        return out.layout, Shard(height, width, cores, config.transpose_mcast)
    if config.kind is Kind.MCAST_1D:
        layout = out.layout
        if problem.out_line:
            layout = TensorMemoryLayout.WIDTH_SHARDED if config.mcast_in0 else TensorMemoryLayout.HEIGHT_SHARDED
        return layout, Shard(height, width, program_cores(problem, config))
    if config.kind is Kind.REUSE:
        col_major = not _reuse_row_major(problem)
        blocks = reuse_blocks(problem, config)
        return out.layout, Shard(height, width, first_cores(blocks, config.grid, row_major=not col_major), col_major)
    if config.kind is Kind.DRAM_SHARDED:
        blocks = up(problem.mt, config.per_core_m) * up(problem.nt, config.per_core_n)
        return out.layout, Shard(height, width, first_cores(blocks, problem.chip.grid, row_major=True))
    return out.layout, out.shard
