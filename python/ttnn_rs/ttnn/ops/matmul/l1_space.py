"""Whether the L1 buffers of a program fit, and which blocks would.

The official program is laid out from the first free L1 address upwards; what grows into a tensor or past the end of L1
fails when the program is built.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from ttnn.base.enums import DataType
from ttnn.base.exceptions import OutOfMemoryError, TtnnError

from .blocks import divisors, largest_divisor
from .buffers import l1_buffers
from .data import Kind, ProgramConfig, tile_bytes
from .problem import Problem
from .program import MatmulProgram, own_bytes
from .validate import check_config


def _divisors(value: int, limit: int) -> list[int]:
    return [d for d in divisors(value) if d <= limit]


def _smaller(problem: Problem, config: ProgramConfig) -> Iterator[ProgramConfig]:
    """Yield configurations with smaller blocks: the output block is kept as large as it can be, then the K block."""
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
    """Return which blocks of the program are the largest that fit `room` bytes of L1 and each other."""
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


def check_room(program: MatmulProgram, l1_lowest_tensor: int | None) -> None:
    """Check that the program's own buffers end below the tensors and the end of L1.

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
