"""Row programs without known passes: normalizations, softmax, reductions, others.

There is no known list of passes.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Final

from ttnn.profiler.device_operation import DeviceOperation
from ttnn.profiler.families.common import buffer, page_stream, per_unit, plan_of, split, tile_bytes_of, working_cores
from ttnn.profiler.families.eltwise import sfpu
from ttnn.profiler.families.movement import STICK_INSTRUCTIONS
from ttnn.profiler.operand import TILE
from ttnn.profiler.plan import (
    BARRIER,
    CoreGroup,
    Plan,
    PlanCb,
    Step,
    Steps,
    await_,
    loop,
    pop,
    push,
    read,
    reserve,
    tiles,
    write,
)


def _line_passes(op: DeviceOperation, passes: Steps, results: Steps) -> Plan:
    """Return a plan that works on tile rows.

    It reads a row of tiles, works on its tiles, and writes the row.

    Args:
        op: The device operation.
        passes: Operations on each tile of the row.
        results: Operations on the row's single value.
    """
    source, output = op.inputs[0], op.outputs[0]
    wide = max(1, source.tile_columns)
    lines = max(1, source.tile_rows)
    cores = working_cores(op, lines)
    others = [operand for operand in op.inputs[1:] if not operand.sharded]
    size = tile_bytes_of(source)
    local, kept = source.local, output.local
    groups = []
    for number, count in split(lines, cores):
        line: Step = loop(1) if local else read(source.place, wide, size, min(8, wide))
        more = [
            read(operand.place, -(-operand.bytes // operand.page_bytes), operand.page_bytes, 8) for operand in others
        ]
        reader = (*more, loop(count, reserve(0, wide), line, push(0, wide)))
        body = (await_(0, wide), reserve(1, wide), loop(wide, *passes), *results, push(1, wide), pop(0, wide))
        kernel = (tiles(("initialise",)), loop(count, *body))
        put: Steps = () if kept else (write(output.place, wide, tile_bytes_of(output)), BARRIER)
        writer = (loop(count, await_(1, wide), *put, pop(1, wide)),)
        groups.append(CoreGroup(number, reader, kernel, writer))
    return plan_of(op, groups, [buffer("row", source, 2 * wide, borrowed=local), buffer("result", output, 2 * wide)])


def layer_norm(op: DeviceOperation) -> Plan:
    """Return a layer norm's plan.

    Mean, distance, square, variance, scale, weights if there are any.
    """
    size = tile_bytes_of(op.inputs[0])
    weights = max(0, len(op.inputs) - 1)
    multiply = tiles(("eltwise", "mul", size, size, op.phases))
    pack = tiles(("pack", size, False))
    steps = [tiles(("reduce", "row", size, op.phases))]
    steps += [tiles(("eltwise", "sub", size, size, 1)), pack, multiply, pack, tiles(("reduce", "row", size, op.phases))]
    steps += [multiply, pack] * (1 + weights)
    return _line_passes(op, tuple(steps), (tiles(("copy", size)), sfpu("rsqrt", False, op.wide), pack))


def softmax(op: DeviceOperation) -> Plan:
    """Return a softmax's plan.

    Maximum, exponential of the distance, sum, product with its reciprocal.
    """
    size = tile_bytes_of(op.inputs[0])
    pack = tiles(("pack", size, False))
    steps: list[Step] = []
    if op.attributes.get("numeric_stable", "true") == "true":
        steps += [tiles(("reduce", "row", size, 1)), tiles(("eltwise", "sub", size, size, 1)), pack]
    steps += [tiles(("copy", size)), sfpu("exp", False, op.wide), pack, tiles(("reduce", "row", size, op.phases))]
    steps += [tiles(("eltwise", "mul", size, size, op.phases)), pack]
    plan = _line_passes(op, tuple(steps), (tiles(("copy", size)), sfpu("recip", False, op.wide), pack))
    padded = -op.inputs[0].logical[-1] % TILE
    return _masked(plan, padded) if padded else plan


_FILL_INSTRUCTIONS: Final = 12
"""RISC instructions per padded element.

Its place in its face, and the ends of two loops (tt-metal `kernel_helper_functions/pad_tile.hpp`).
"""


def _masked(plan: Plan, padded: int) -> Plan:
    """Return a plan whose writer first creates the padding mask.

    It is that of padded columns, made element by element, for the compute kernel.
    """
    mask = len(plan.cbs)
    stores = ("stores", TILE * TILE + TILE * padded)
    made: Steps = (reserve(mask), stores, ("instructions", _FILL_INSTRUCTIONS * TILE * padded), push(mask))
    groups = tuple(
        replace(group, compute=(await_(mask), *group.compute), writer=(*made, *group.writer)) for group in plan.groups
    )
    return replace(plan, groups=groups, cbs=(*plan.cbs, PlanCb("mask", 1, 2 * TILE * TILE, "BFLOAT16")))


def transpose(op: DeviceOperation) -> Plan:
    """Return a transposition's plan, by tile or copied row."""
    source, output = op.inputs[0], op.outputs[0]
    turned = op.attributes.get("dim", "").endswith("WH") or op.fidelity
    if source.tiled and turned:
        size = tile_bytes_of(output)
        return page_stream(op, (tiles(("transpose", tile_bytes_of(source))), tiles(("pack", size, False))))
    return gathered_rows(op)


def permute(op: DeviceOperation) -> Plan:
    """Return a permutation's plan, with 32x32 transposes where needed.

    Of rows that change their length, blocks are transposed.
    """
    source, output = op.inputs[0], op.outputs[0]
    wide, tall = source.logical[-1], output.logical[-1]
    if source.tiled or output.tiled or wide == tall:
        return gathered_rows(op)
    size = source.element_bytes
    rows, columns = min(TILE, tall), min(TILE, wide)
    blocks = -(-wide // TILE) * -(-tall // TILE) * max(1, math.prod(source.logical) // (wide * tall))
    cores = working_cores(op, blocks)
    tile = TILE * TILE * size

    def reader(count: int) -> Steps:
        return (loop(count, reserve(0), read(source.place, rows, columns * size), BARRIER, push(0)),)

    def kernel(count: int) -> Steps:
        work = (tiles(("tilize", tile, 1)), tiles(("transpose", tile)), tiles(("pack_untilize", 1, size)))
        return (tiles(("initialise",)), loop(count, await_(0), reserve(1), *work, push(1), pop(0)))

    def writer(count: int) -> Steps:
        return (loop(count, await_(1), write(output.place, columns, rows * size), BARRIER, pop(1)),)

    cbs = [PlanCb(name, 2, tile, source.dtype) for name in ("block", "transposed")]
    return per_unit(op, blocks, cores, reader, kernel, writer, cbs)


def gathered_rows(op: DeviceOperation) -> Plan:
    """Return a gather's plan, by row or tile row.

    Rows of the result, one by one.
    """
    source, output = op.inputs[0], op.outputs[0]
    size = max(1, min(source.logical[-1], output.logical[-1])) * output.element_bytes
    if output.tiled:
        size = min(size, TILE * output.element_bytes)
        units, per = output.tiles, TILE
    else:
        units, per = output.rows, max(1, output.logical[-1] // max(1, min(source.logical[-1], output.logical[-1])))
    cores = working_cores(op, units)

    def reader(count: int) -> Steps:
        stick = (("instructions", STICK_INSTRUCTIONS), read(source.place, 1, size))
        return (loop(count, reserve(0), loop(per, *stick), BARRIER, push(0)),)

    def writer(count: int) -> Steps:
        return (loop(count, await_(0), write(output.place, 1, output.page_bytes), BARRIER, pop(0)),)

    return per_unit(op, units, cores, reader, lambda count: (), writer, [buffer("rows", output)])


def reduce(op: DeviceOperation) -> Plan:
    """Return a reduction's plan: operand tiles read once, added in Dst."""
    source, output = op.inputs[0], op.outputs[0]
    units = max(1, output.pages)
    per = max(1, source.tiles // units)
    cores = working_cores(op, units)
    size = tile_bytes_of(source)

    def reader(count: int) -> Steps:
        place = "local" if source.local else source.place
        return (loop(count * per, reserve(0), read(place, 1, size, 1), push(0)),)

    def kernel(count: int) -> Steps:
        add = (await_(0), tiles(("reduce", "row", size, op.phases)), pop(0))
        pack = (reserve(1), tiles(("pack", tile_bytes_of(output), False)), push(1))
        return (tiles(("initialise",)), loop(count, loop(per, *add), *pack))

    def writer(count: int) -> Steps:
        if output.local:
            return (loop(count, await_(1), pop(1)),)
        return (loop(count, await_(1), write(output.place, 1, output.page_bytes), pop(1)), BARRIER)

    return per_unit(op, units, cores, reader, kernel, writer, [buffer("tiles", source), buffer("result", output)])


def rotary(op: DeviceOperation) -> Plan:
    """Return a rotary embedding's plan.

    Each tile times the rotation, the cosine, the sine, and a sum.
    """
    size = tile_bytes_of(op.inputs[0])
    multiply, pack = tiles(("eltwise", "mul", size, size, op.phases)), tiles(("pack", size, False))
    rotate = tiles(("matmul", 1, 1, 1, size, size, op.phases))
    first = replace(op, inputs=op.inputs[:3])
    return page_stream(
        first, (rotate, pack, multiply, pack, multiply, pack, tiles(("eltwise", "add", size, size, 1)), pack)
    )


def attention_decode(op: DeviceOperation) -> Plan:
    """Return the plan of decode attention, over visible keys and values.

    A token of every user; they are read in chunks.

    Its program is how many keys every user sees, and the tiles of its chunks.
    """
    query, keys, output = op.inputs[0], op.inputs[1], op.outputs[0]
    counts, chunks = op.program
    rows = [-(-max(count, 0) // (TILE * chunk)) * chunk for count, chunk in zip(counts, chunks, strict=True)]
    users, groups, wide, size = len(counts), keys.logical[1], keys.tile_columns, keys.page_bytes
    cores = min(users * groups, (op.grid or op.card.grid)[0] * (op.grid or op.card.grid)[1])
    each = -(-sum(rows) // users)
    phases, pack = op.phases, tiles(("pack", 2 * TILE * TILE, False))
    scores = tiles(("matmul", 1, 1, wide, tile_bytes_of(query), size, phases))
    weighted = tiles(("matmul", 1, wide, 1, 2 * TILE * TILE, size, phases))

    def reader(count: int) -> Steps:
        part = (reserve(0, 2 * wide), read(keys.place, 2 * wide, size, 2 * wide), push(0, 2 * wide))
        return (loop(count * each, *part),)

    def kernel(count: int) -> Steps:
        work = (scores, pack, tiles(("copy", 2 * TILE * TILE)), sfpu("exp", False, op.wide), pack, weighted)
        part = (await_(0, 2 * wide), *work, pop(0, 2 * wide))
        end = (reserve(1, wide), tiles(("pack", tile_bytes_of(output), False), wide), push(1, wide))
        return (tiles(("initialise",)), loop(count, loop(each, *part), *end))

    def writer(count: int) -> Steps:
        put: Steps = () if output.local else (write(output.place, 1, output.page_bytes), BARRIER)
        return (loop(count, await_(1, wide), *put, pop(1, wide)),)

    cbs = [buffer("keys and values", keys, 4 * wide), buffer("result", output, 2 * wide)]
    return per_unit(op, users * groups, cores, reader, kernel, writer, cbs)
