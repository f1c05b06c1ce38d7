"""L1 buffers of a program, whether they fit, and which blocks would.

The official program is laid out from the first free L1 address upwards. Building it fails if a buffer overlaps a tensor
or the end of L1. Values of a result depend on whether a buffer exists, not on its size.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from ttnn.base.enums import DataType, TensorMemoryLayout
from ttnn.base.exceptions import OutOfMemoryError, TtnnError
from ttnn.device.mesh_device import MeshDevice

from .block_sizes import divisors, largest_divisor
from .config_checks import check_config
from .configs import Kind, ProgramConfig
from .problem import Problem
from .program import L1Buffer, MatmulProgram, has_in0_shards, own_bytes, partials_format
from .program_cores import kernel_batch
from .specs import Shard, tile_bytes, up


def l1_buffers(problem: Problem, config: ProgramConfig) -> tuple[L1Buffer, ...]:
    """Return the L1 of the program in creation order."""
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
        # The shards of all other cores, and two words that count the arrived ones.
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


def _divisors(value: int, limit: int) -> list[int]:
    return [d for d in divisors(value) if d <= limit]


def _smaller(problem: Problem, config: ProgramConfig) -> Iterator[ProgramConfig]:
    """Yield configurations with smaller blocks.

    The output block is kept as large as it can be, then the K block.
    """
    inner = _divisors(problem.kt, config.in0_block_w)
    if config.kind in (Kind.MCAST_1D, Kind.MCAST_2D):
        # More tiles in a row or column than L1 holds need not be tried.
        most = problem.chip.l1_bytes // tile_bytes(DataType.BFLOAT4_B)
        heights = _divisors(config.per_core_m, min(config.out_block_h, most))
        widths = _divisors(config.per_core_n, min(config.out_block_w, most))
        for h, w in sorted(((h, w) for h in heights for w in widths), key=math.prod, reverse=True):
            # Rows of subblocks of a sharded output are whole rows of the block, or the block is one row.
            flat = problem.out.sharded and w != config.per_core_n
            subblock_h = 1 if flat else largest_divisor(h, config.out_subblock_h)
            subblock_w = largest_divisor(w, config.out_subblock_w)
            block = replace(config, out_block_h=h, out_block_w=w, out_subblock_h=subblock_h, out_subblock_w=subblock_w)
            yield from (replace(block, in0_block_w=k) for k in inner)
    elif config.kind is Kind.REUSE:
        # Other rows per core would be other shards of a sharded output.
        for m in range(config.per_core_m, config.per_core_m - 1 if problem.out.sharded else 0, -1):
            subblock_h = largest_divisor(math.gcd(m, problem.mt), config.out_subblock_h)
            block = replace(config, per_core_m=m, out_subblock_h=subblock_h)
            yield from (replace(block, in0_block_w=k) for k in inner)
    else:
        yield from (replace(config, in0_block_w=k) for k in inner)


def _is_valid(problem: Problem, config: ProgramConfig) -> bool:
    try:
        check_config(problem, config)
    except TtnnError:
        return False
    return True


def _largest_that_fits(problem: Problem, config: ProgramConfig, room: int) -> str:
    """Return the program's largest blocks that fit L1 and each other.

    `room` is the number of bytes of L1.
    """
    if config.kind is Kind.MULTI_CORE:
        return "The program has no smaller blocks."
    multicast = config.kind in (Kind.MCAST_1D, Kind.MCAST_2D)
    for smaller in _smaller(problem, config):
        if own_bytes(l1_buffers(problem, smaller)) > room or not _is_valid(problem, smaller):
            continue
        before = config.fields()
        always = {"in0_block_w"} | ({"out_block_h", "out_block_w"} if multicast else set())
        fields = {name: value for name, value in smaller.fields().items() if name in always or before[name] != value}
        parts = [f"{name}={value}" for name, value in fields.items() if name != "in0_block_w"]
        return (
            f"{', '.join(parts)}{' and ' if parts else ''}in0_block_w={smaller.in0_block_w} is the largest that fits."
        )
    if config.kind is Kind.REUSE:
        return "No per_core_M and in0_block_w fit, as per_core_N has to be N: a multicast program config can cut N."
    return "No block size fits."


def check_room(program: MatmulProgram, device: MeshDevice) -> None:
    """Check that program buffers end below the tensors and L1's end.

    The tensors include the output.

    Raises:
        OutOfMemoryError: they do not.
    """
    chip = program.problem.chip
    end = chip.l1_first_free + program.own_bytes
    if end > chip.l1_bytes or not device.engine.has_l1_room(end):
        check_room_below(program, device.engine.lowest_l1_address())


def check_room_below(program: MatmulProgram, l1_lowest_tensor: int | None) -> None:
    """Check that the program's own buffers end below an address.

    Args:
        program: The program.
        l1_lowest_tensor: Lowest L1 address of a tensor, the output included; None if L1 holds none.

    Raises:
        OutOfMemoryError: they do not.
    """
    chip = program.problem.chip
    end = chip.l1_first_free + program.own_bytes
    limit = chip.l1_bytes if l1_lowest_tensor is None else min(chip.l1_bytes, l1_lowest_tensor)
    if end <= limit:
        return
    cores = program.cores[0]
    sizes = ", ".join(f"{buffer.name} {buffer.bytes}" for buffer in program.buffers if not buffer.borrowed)
    room = limit - chip.l1_first_free
    need = f"ttnn.matmul: the buffers of the program need {end - chip.l1_first_free} B of L1 per core ({sizes})"
    tensors = f"tensors leave {room} B. Free or move tensors, or take smaller blocks: "
    fits = _largest_that_fits(program.problem, program.config, room)
    if end > chip.l1_bytes:
        there = f"there are {chip.l1_bytes - chip.l1_first_free} B"
        raise OutOfMemoryError(
            f"{need}, {there}. {fits}" if limit == chip.l1_bytes else f"{need}, {there}, {tensors}{fits}",
            vendor=f"Statically allocated dataflow buffers on core range {cores} grow to {end} B which is beyond max "
            f"L1 "
            f"size of {chip.l1_bytes} B",
        )
    raise OutOfMemoryError(
        f"{need}, {tensors}{fits}",
        vendor=f"Statically allocated dataflow buffers clash with L1 buffers on core range {cores}. L1 buffer "
        f"allocated at "
        f"{l1_lowest_tensor} and static dataflow buffer region ends at {end}",
    )
