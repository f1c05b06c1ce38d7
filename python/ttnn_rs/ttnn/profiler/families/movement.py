"""Data movement: resharding, slices, copies and moves.

Between interleaved and sharded tensors, and between shards.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate, pairwise
from typing import Final

from ttnn.profiler.device_operation import DeviceOperation
from ttnn.profiler.families.common import (
    buffer,
    page_stream,
    per_unit,
    plan_of,
    split,
    tile_bytes_of,
    working_cores,
    writing,
)
from ttnn.profiler.operand import TILE, Operand
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

_PACKET: Final = 16384
"""Bytes of the largest packet, in which L1 is copied."""
STICK_INSTRUCTIONS: Final = 95
"""RISC cycles to find a slice's next row.

Its index in each dimension, and its address.
"""


def sharded_pages(op: DeviceOperation, operand: Operand) -> tuple[int, int]:
    """Return an operand's shard cores, and the fullest one's pages."""
    cores = op.cores or operand.shard_cores or working_cores(op, operand.pages)
    if operand.shard is not None:
        return min(cores, -(-operand.pages // operand.shard_pages)), operand.shard_pages
    return cores, -(-operand.pages // cores)


def in_step(op: DeviceOperation, pages: int) -> int:
    """Return DRAM's slowdown, in hundredths, from equal starting banks.

    All cores begin at the same bank.
    """
    return 133 if pages % op.card.banks == 0 else 100


def interleaved_to_sharded(op: DeviceOperation) -> Plan:
    """Return the plan of reading each shard's pages to its core."""
    source, output = op.inputs[0], op.outputs[0]
    cores, pages = sharded_pages(op, output)
    if not source.tiled:
        # Rows that are not aligned go through a scratch buffer, one at a time.
        reader: Steps = (reserve(0, pages), read(source.place, pages, output.page_bytes, 1), push(0, pages))
    else:
        step = read(source.place, pages, source.page_bytes, pages, in_step(op, pages))
        reader = (reserve(0, pages), step, push(0, pages))
    compute: Steps = ()
    if source.dtype != output.dtype:
        convert = (tiles(("copy", source.page_bytes)), tiles(("pack", output.page_bytes, False)))
        compute = (loop(pages, await_(0), reserve(1), *convert, push(1), pop(0)),)
    last = 1 if compute else 0
    group = CoreGroup(cores, reader, compute, (await_(last, pages),))
    cbs = [buffer("input", source, pages, borrowed=not compute)]
    if compute:
        cbs.append(buffer("output", output, pages, borrowed=True))
    return plan_of(op, [group], cbs)


def sharded_to_interleaved(op: DeviceOperation) -> Plan:
    """Return the plan of writing each shard's pages from its core."""
    source, output = op.inputs[0], op.outputs[0]
    cores, pages = sharded_pages(op, source)
    pages = min(pages, -(-source.pages // cores)) if source.shard is None else pages
    compute: Steps = ()
    last = 0
    if source.dtype != output.dtype:
        convert = (tiles(("copy", source.page_bytes)), tiles(("pack", output.page_bytes, False)))
        compute, last = (loop(pages, await_(0), reserve(1), *convert, push(1), pop(0)),), 1
    size = output.page_bytes if source.tiled else source.page_bytes
    writer = (await_(last, pages), write(output.place, pages, size), BARRIER)
    group = CoreGroup(cores, (reserve(0, pages), push(0, pages)), compute, writer)
    cbs = [buffer("input", source, pages, borrowed=True)]
    if compute:
        cbs.append(buffer("output", output, pages))
    return plan_of(op, [group], cbs)


def move(op: DeviceOperation) -> Plan:
    """Return a move's plan.

    Shards are copied inside each core's L1, other tensors page by page.
    """
    source, output = op.inputs[0], op.outputs[0]
    if not source.local:
        return page_stream(_of_inputs(op, 1))
    cores, pages = sharded_pages(op, output)
    size = pages * (output.page_bytes if output.shard or output.tiled else output.width * output.element_bytes)
    whole, rest = divmod(size, _PACKET)
    steps: list[Step] = []
    if whole:
        steps.append(read("local", whole, _PACKET))
    if rest:
        steps.append(read("local", 1, rest))
    return plan_of(op, [CoreGroup(cores, (*steps, BARRIER), (), ())], [])


def reshard(op: DeviceOperation) -> Plan:
    """Return a reshard's plan.

    Each core reads the parts of its new shard from the cores that hold them.
    """
    source, output = op.inputs[0], op.outputs[0]
    cores, pages = sharded_pages(op, output)
    wide = output.shard[1] if output.shard else output.width
    held = source.shard[1] if source.shard else source.width
    # A run of pages that lie next to each other in both shards is one read.
    run = min(wide, held) if wide != held else wide * (TILE if output.tiled else 1)
    total = pages * output.page_bytes
    per_row = max(1, run // TILE if output.tiled and wide != held else 1)
    runs = max(1, min(4, total // _PACKET + 1)) if wide == held else max(1, pages // per_row)
    size = -(-total // runs)
    if size > _PACKET:
        runs = -(-total // _PACKET)
        size = -(-total // runs)
    return plan_of(op, [CoreGroup(cores, (read("l1", runs, size, runs),), (), ())], [])


def slice_(op: DeviceOperation) -> Plan:
    """Return the plan of a slice, of tiles or of rows."""
    source, output = op.inputs[0], op.outputs[0]
    if source.tiled:
        units, cores = output.tiles, working_cores(op, output.tiles)
        return per_unit(
            op,
            units,
            cores,
            lambda count: (loop(count, reserve(0), read(source.place, 1, source.page_bytes, 1), push(0)),),
            lambda count: (),
            lambda count: writing(output, 0, count),
            [buffer("tiles", source)],
        )
    units, cores = output.rows, working_cores(op, output.rows)
    size = output.width * output.element_bytes

    def reader(count: int) -> Steps:
        batch = min(count, 8)
        body = (reserve(0, batch), loop(batch, ("instructions", STICK_INSTRUCTIONS), read(source.place, 1, size)))
        return (loop(-(-count // batch), *body, BARRIER, push(0, batch)),)

    def writer(count: int) -> Steps:
        batch = min(count, 8)
        body = (await_(0, batch), write(output.place, batch, size), BARRIER, pop(0, batch))
        return (loop(-(-count // batch), *body),)

    return per_unit(op, units, cores, reader, lambda count: (), writer, [buffer("rows", output, 16)])


def padded_slice(op: DeviceOperation) -> Plan:
    """Return a slice-to-shards plan: rows copied, tiles untilized."""
    source, output = op.inputs[0], op.outputs[0]
    cores, rows = sharded_pages(op, output)
    size = output.page_bytes
    if not source.tiled:
        aligned = size % 64 == 0 and (source.width * source.element_bytes) % 64 == 0
        stick = (("instructions", STICK_INSTRUCTIONS), read(source.place, 1, size, 0 if aligned else 1))
        return plan_of(op, [CoreGroup(cores, (loop(rows, *stick), BARRIER), (), ())], [])
    wide = -(-(output.shard[1] if output.shard else output.width) // TILE)
    wide = min(wide, source.tile_columns)
    blocks = -(-rows // TILE) + 1
    reader = (loop(blocks, reserve(0, wide), read(source.place, wide, source.page_bytes, wide), push(0, wide)),)
    pack = tiles(("pack_untilize", wide, output.element_bytes))
    kernel = (
        loop(
            blocks,
            await_(0, wide),
            reserve(1, wide),
            tiles(("copy", source.page_bytes), wide),
            pack,
            push(1, wide),
            pop(0, wide),
        ),
    )
    copies = (await_(1, wide), loop(TILE, ("instructions", 15), write("local", 1, size)), BARRIER, pop(1, wide))
    cbs = [buffer("tiles", source, 2 * wide), buffer("rows", source, 2 * wide)]
    return plan_of(op, [CoreGroup(cores, reader, kernel, (loop(blocks, *copies),))], cbs)


def slice_write(op: DeviceOperation) -> Plan:
    """Return the plan of writing shards into an interleaved tensor part."""
    source, output = op.inputs[0], op.outputs[0]
    cores, pages = sharded_pages(op, source)
    if source.tiled:
        writer: Steps = (await_(0, pages), write(output.place, pages, output.page_bytes, 1))
    else:
        size = output.width * output.element_bytes
        writer = (
            await_(0, pages),
            loop(pages, ("instructions", STICK_INSTRUCTIONS), write(output.place, 1, size)),
            BARRIER,
        )
    group = CoreGroup(cores, (reserve(0, pages), push(0, pages)), (), writer)
    return plan_of(op, [group], [buffer("shard", source, pages, borrowed=True)])


def copy(op: DeviceOperation) -> Plan:
    """Return a paged copy's plan; type changes use the compute kernel."""
    source, output = op.inputs[0], op.outputs[0]
    convert: Steps = ()
    if source.dtype != output.dtype:
        convert = (tiles(("copy", tile_bytes_of(source))), tiles(("pack", tile_bytes_of(output), False)))
    return page_stream(_of_inputs(op, 1), convert)


def rows_by_index(op: DeviceOperation) -> Plan:
    """Return the plan of row moves to looked-up places.

    They are moved one by one.
    """
    source, output = op.inputs[0], op.outputs[0]
    units = output.rows if not output.tiled else output.tile_rows
    cores = working_cores(op, units)
    size = output.width * output.element_bytes
    per = TILE if output.tiled else 1

    def reader(count: int) -> Steps:
        stick = (("instructions", STICK_INSTRUCTIONS), read(source.place, 1, size, 1))
        return (loop(count, reserve(0), loop(per, *stick), push(0)),)

    def writer(count: int) -> Steps:
        return (loop(count, await_(0), write(output.place, per, size), BARRIER, pop(0)),)

    return per_unit(op, units, cores, reader, lambda count: (), writer, [buffer("rows", output, 2)])


def _of_inputs(op: DeviceOperation, count: int) -> DeviceOperation:
    """Return an operation without inputs that are its results.

    Profiles list these last.
    """
    return replace(op, inputs=op.inputs[:count])


def concat(op: DeviceOperation) -> Plan:
    """Return a concatenation's plan, reading each page's operand.

    They are pages of the result.
    """
    output = op.outputs[0]
    cores = working_cores(op, output.pages)
    if output.local:
        if output.tiled and len(op.inputs) == 2 and all(operand.local for operand in op.inputs):
            return _joined_shards(op)
        pages = sharded_pages(op, output)[1]
        steps: Steps = (loop(pages, read("local", 1, output.page_bytes)), BARRIER)
        return plan_of(op, [CoreGroup(cores, steps, (), ())], [])
    # A recorded row has three operands at most; the rest of the result comes from others like the last one.
    known = [operand.pages for operand in op.inputs]
    known[-1] += max(0, output.pages - sum(known)) if output.tiled else 0
    ends = list(accumulate(known))
    groups = []
    for number, count in split(output.pages, cores):
        # A core has pages of each operand in proportion; one that has few pages has some of the largest ones only.
        bounds = [0, *(round(count * end / ends[-1]) for end in ends)]
        reader = tuple(
            loop(end - start, reserve(0), read(operand.place, 1, operand.page_bytes, 1), push(0))
            for operand, (start, end) in zip(op.inputs, pairwise(bounds), strict=True)
            if end > start
        )
        groups.append(CoreGroup(number, reader, (), writing(output, 0, count)))
    return plan_of(op, groups, [buffer("pages", output)])


def _joined_shards(op: DeviceOperation) -> Plan:
    """Return a row-wise shard concatenation's plan.

    Tiles are transposed, copied side by side, transposed back.

    Source: tt-metal `concat/device/concat_s2s_tiled_program_factory.cpp`.
    """
    output = op.outputs[0]
    cores, pages = sharded_pages(op, output)
    wide = [max(1, (operand.shard[1] if operand.shard else operand.width) // TILE) for operand in op.inputs]
    both = sum(wide)
    lines = max(1, pages // both)
    groups = int(op.attributes.get("groups", "1"))
    size, kept = output.page_bytes, tile_bytes_of(replace(output, tiled=False))
    first, second, turned, other, joined, back, result = range(7)

    def transposed(source: int, target: int, count: int, taken: int, put: int) -> Steps:
        work = (tiles(("transpose", taken), count), tiles(("pack", put, False), count))
        return (await_(source, count), reserve(target, count), *work, push(target, count), pop(source, count))

    def side(source: int, count: int) -> Steps:
        return (await_(source, count), read("local", groups, count * kept // groups), BARRIER, pop(source, count))

    whole = tuple(step for cb, count in zip((first, second), wide, strict=True) for step in (push(cb, lines * count),))
    line = (reserve(joined, both), *side(turned, wide[0]), *side(other, wide[1]), push(joined, both))
    switch = tiles(("reconfigure",), 1 if size != kept else 0)
    kernel = (
        switch,
        *transposed(first, turned, wide[0], size, kept),
        *transposed(second, other, wide[1], size, kept),
        switch,
        *transposed(joined, back, both, kept, size),
    )
    taken = (
        reserve(result, both),
        await_(back, both),
        read("local", 1, both * size, 1),
        pop(back, both),
        push(result, both),
    )
    group = CoreGroup(
        cores, (*whole, loop(lines, *line)), (tiles(("initialise",)), loop(lines, *kernel)), (loop(lines, *taken),)
    )
    cbs = [
        buffer("first", op.inputs[0], lines * wide[0], borrowed=True),
        buffer("second", op.inputs[1], lines * wide[1], borrowed=True),
        PlanCb("first transposed", wide[0], kept, output.dtype),
        PlanCb("second transposed", wide[1], kept, output.dtype),
        PlanCb("side by side", both, kept, output.dtype),
        PlanCb("transposed back", both, size, output.dtype),
        buffer("output", output, pages, borrowed=True),
    ]
    return plan_of(op, [group], cbs)


def update_cache(op: DeviceOperation) -> Plan:
    """Return a cache update's plan, one row per user.

    A token's row replaces one in every user's tiles.

    The tiles come from the cache, are untilized, get the row, are tilized and go back; all others stay where they are.
    """
    cache, source = op.inputs[0], op.inputs[1]
    users = source.logical[1] if op.kind.startswith("Paged") else cache.logical[0]
    heads, wide, size = cache.logical[1], cache.tile_columns, cache.page_bytes
    row = source.logical[-1] * source.element_bytes
    cores = min(users, working_cores(op, users))

    def reader(count: int) -> Steps:
        brought: Steps = () if source.local else (read(source.place, wide, source.page_bytes, wide),)
        body = (reserve(0, wide), *brought, read(cache.place, wide, size, wide), push(0, wide))
        return (loop(count * heads, *body),)

    def kernel(count: int) -> Steps:
        apart = (tiles(("copy", size), wide), tiles(("pack_untilize", wide, cache.element_bytes)))
        together = (tiles(("tilize", 1024 * cache.element_bytes, wide), wide), tiles(("pack", size, False), wide))
        first = (await_(0, wide), reserve(1, wide), *apart, push(1, wide), pop(0, wide))
        second = (await_(2, wide), reserve(3, wide), *together, push(3, wide), pop(2, wide))
        return (tiles(("initialise",)), loop(count * heads, *first, *second))

    def writer(count: int) -> Steps:
        replaced = (await_(1, wide), reserve(2, wide), read("local", 1, row, 1), push(2, wide), pop(1, wide))
        back = (await_(3, wide), write(cache.place, wide, size), BARRIER, pop(3, wide))
        return (loop(count * heads, *replaced, *back),)

    cbs = [PlanCb(name, 2 * wide, size, cache.dtype) for name in ("cache", "rows", "replaced", "result")]
    return per_unit(op, users, cores, reader, kernel, writer, cbs)
