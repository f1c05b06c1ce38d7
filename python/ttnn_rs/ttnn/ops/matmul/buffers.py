"""Cores and L1 buffers of a program.

The values of a result do not depend on buffers, but whether there is one does.
"""

from __future__ import annotations

from ttnn.base.core_range import CoreRangeSet
from ttnn.base.enums import TensorMemoryLayout

from .config_data import core_boxes, core_range_set
from .data import CoreBox, Cores, Kind, ProgramConfig, Shard, first_cores, tile_bytes, up
from .problem import Problem
from .program import L1Buffer, has_in0_shards, partials_format


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
    """Return the order in which the Reuse program deals blocks: that of the shards, columns first without any."""
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


def l1_buffers(problem: Problem, config: ProgramConfig) -> tuple[L1Buffer, ...]:
    """Return the L1 of the program in the order in which it is created."""
    a_bytes, b_bytes, out_bytes = problem.a.tile_bytes, problem.b.tile_bytes, _result_bytes(problem)
    if config.kind is Kind.MULTI_CORE:
        return (L1Buffer("in0", 2 * a_bytes), L1Buffer("in1", 2 * b_bytes), L1Buffer("out", 2 * out_bytes))
    if config.kind is Kind.REUSE:
        return _reuse_buffers(problem, config)
    if config.kind is Kind.DRAM_SHARDED:
        return _dram_sharded_buffers(problem, config)
    if config.kind is Kind.BATCHED_DRAM_SHARDED:
        return _batched_dram_sharded_buffers(problem, config)
    if config.gather_in0:
        return _ring_buffers(problem, config)
    kb = config.in0_block_w
    double = 2 if kernel_batch(problem, config) * (problem.kt // kb) > 1 else 1
    keeps_in0 = config.kind is Kind.MCAST_1D and problem.batch_b > 1 and problem.batch_a == 1
    same_in1 = config.kind is Kind.MCAST_1D and problem.batch_b == 1 and problem.kt == kb
    in0 = config.out_block_h * (problem.kt if keeps_in0 else kb * double) * a_bytes
    in1 = config.out_block_w * kb * (1 if same_in1 else double) * b_bytes
    result: list[L1Buffer] = []
    a, b = problem.a.placement, problem.b.placement
    if a.layout is TensorMemoryLayout.HEIGHT_SHARDED and a.shard is not None:
        in0 = _shard_bytes(a.shard, a_bytes)
        result.append(L1Buffer("in0", in0, borrowed=True))
    else:
        result.append(L1Buffer("in0", in0))
    if b.shard is not None and not b.in_dram:
        result.append(L1Buffer("in1", _shard_bytes(b.shard, b_bytes), borrowed=True))
    else:
        result.append(L1Buffer("in1", in1))
    if has_in0_shards(problem, config) and a.shard is not None:
        result.append(L1Buffer("in0_sharded", _shard_bytes(a.shard, a_bytes), borrowed=True))
    block_tiles = config.out_block_h * config.out_block_w
    if problem.out.sharded:
        result.append(L1Buffer("out", config.per_core_m * config.per_core_n * out_bytes, borrowed=True))
    else:
        result.append(L1Buffer("out", block_tiles * out_bytes))
    if not _partials_share_output(problem, config):
        result.append(L1Buffer("intermed0", block_tiles * _partial_bytes(problem, config)))
    if problem.bias is not None:
        result.append(L1Buffer("bias", config.out_block_w * problem.bias.tile_bytes))
    if problem.transpose_a:
        result.append(L1Buffer("in0_transposed", in0))
    return tuple(result)


def _result_bytes(problem: Problem) -> int:
    return tile_bytes(problem.out_dtype, problem.product_tile)


def _partial_bytes(problem: Problem, config: ProgramConfig) -> int:
    return tile_bytes(partials_format(problem, config), problem.product_tile)


def _partials_share_output(problem: Problem, config: ProgramConfig) -> bool:
    if partials_format(problem, config) is not problem.out_dtype:
        return False
    if config.untilize_out and config.out_block_w > config.out_subblock_w:
        return False
    return not problem.out.sharded or config.kind is Kind.REUSE or config.out_block_h == config.per_core_m


def _shard_bytes(shard: Shard, one_tile: int) -> int:
    return shard.height_t * shard.width_t * one_tile


def _reuse_buffers(problem: Problem, config: ProgramConfig) -> tuple[L1Buffer, ...]:
    kb = config.in0_block_w
    in0_h = min(config.per_core_m, problem.mt)
    a, b = problem.a, problem.b
    in0 = in0_h * kb * 2
    result = [L1Buffer("in0", in0 * a.tile_bytes)]
    if a.placement.shard is not None:
        result = [L1Buffer("in0", config.per_core_m * problem.kt * a.tile_bytes, borrowed=True)]
    if b.placement.shard is not None:
        result.append(L1Buffer("in1", config.per_core_n * problem.kt * b.tile_bytes, borrowed=True))
    else:
        result.append(L1Buffer("in1", config.per_core_n * kb * 2 * b.tile_bytes))
    block_tiles = config.per_core_m * config.per_core_n
    result.append(L1Buffer("out", block_tiles * _result_bytes(problem), borrowed=problem.out.sharded))
    if not _partials_share_output(problem, config):
        result.append(L1Buffer("intermed0", block_tiles * _partial_bytes(problem, config)))
    if problem.bias is not None:
        result.append(L1Buffer("bias", in0_h * config.per_core_n * problem.bias.tile_bytes))
    if problem.transpose_a:
        result.append(L1Buffer("in0_transposed", result[0].bytes))
    return tuple(result)


def _ring_buffers(problem: Problem, config: ProgramConfig) -> tuple[L1Buffer, ...]:
    a, b = problem.a.placement.shard, problem.b.placement.shard
    if a is None or b is None:
        return ()
    in0 = _shard_bytes(a, problem.a.tile_bytes)
    block_tiles = config.per_core_m * config.per_core_n
    result = [
        L1Buffer("in0", in0, borrowed=True),
        L1Buffer("in1", _shard_bytes(b, problem.b.tile_bytes), borrowed=True),
        # The shards of all other cores, and two words that say how many have come.
        L1Buffer("in2", (a.num_cores - 1) * in0),
        L1Buffer("signal", 16),
        L1Buffer("sync", 16),
        L1Buffer("out", block_tiles * _result_bytes(problem), borrowed=True),
    ]
    if partials_format(problem, config) is not problem.out_dtype:
        result.append(L1Buffer("intermed0", block_tiles * _partial_bytes(problem, config)))
    return tuple(result)


def _dram_sharded_buffers(problem: Problem, config: ProgramConfig) -> tuple[L1Buffer, ...]:
    kb, step = config.in0_block_w, up(problem.nt, problem.chip.dram_banks)
    result = [
        L1Buffer("in0", 2 * kb * problem.a.tile_bytes),
        L1Buffer("in1", 3 * kb * step * problem.b.tile_bytes),
        L1Buffer("out", step * _result_bytes(problem)),
    ]
    if partials_format(problem, config) is not problem.out_dtype:
        result.append(L1Buffer("intermed0", step * _partial_bytes(problem, config)))
    if problem.bias is not None:
        result.append(L1Buffer("bias", step * problem.bias.tile_bytes))
    return tuple(result)


def _batched_dram_sharded_buffers(problem: Problem, config: ProgramConfig) -> tuple[L1Buffer, ...]:
    kb, block_tiles = config.in0_block_w, config.per_core_m * config.per_core_n
    result = [
        L1Buffer("in0", config.per_core_m * problem.kt * problem.a.tile_bytes, borrowed=True),
        L1Buffer("in1", 3 * kb * config.per_core_n * problem.b.tile_bytes),
        L1Buffer("out", block_tiles * _result_bytes(problem), borrowed=True),
    ]
    if partials_format(problem, config) is not problem.out_dtype:
        result.append(L1Buffer("intermed0", block_tiles * _partial_bytes(problem, config)))
    return tuple(result)


def output_shard(problem: Problem, config: ProgramConfig) -> tuple[TensorMemoryLayout, Shard | None]:
    """Return the layout and the shards that the program gives a sharded output."""
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
