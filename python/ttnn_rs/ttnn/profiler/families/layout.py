"""Tilize and untilize, with and without padding."""

from __future__ import annotations

from ttnn.profiler.device_operation import DeviceOperation
from ttnn.profiler.families.common import buffer, per_unit, plan_of, tile_bytes_of, working_cores
from ttnn.profiler.families.movement import sharded_pages
from ttnn.profiler.operand import TILE
from ttnn.profiler.plan import (
    BARRIER,
    CoreGroup,
    Plan,
    PlanCb,
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


def tilize(op: DeviceOperation) -> Plan:
    """Return a tilize's plan: 32 rows in, one tile row out."""
    source, output = op.inputs[0], op.outputs[0]
    wide, size = output.tile_columns, tile_bytes_of(output)
    taken = 1024 * source.element_bytes
    convert = (tiles(("tilize", taken, wide), wide), tiles(("pack", size, False), wide))
    if source.local and output.local:
        cores, pages = sharded_pages(op, output)
        wide = -(-(output.shard[1] if output.shard else output.width) // TILE)
        blocks = max(1, pages // wide)
        convert = (tiles(("tilize", taken, wide), wide), tiles(("pack", size, False), wide))
        whole: Steps = (reserve(0, blocks), push(0, blocks))
        kernel = (tiles(("initialise",)), loop(blocks, await_(0), reserve(1, wide), *convert, push(1, wide), pop(0)))
        group = CoreGroup(cores, whole, kernel, (await_(1, blocks * wide),))
        cbs = [PlanCb("rows", blocks, wide * taken, source.dtype, True), buffer("tiles", output, pages, borrowed=True)]
        return plan_of(op, [group], cbs)
    padded = op.kind != "Tilize"
    stick = source.logical[-1] * source.element_bytes
    rows = source.logical[-2] if padded else TILE
    blocks = output.tile_rows
    cores = working_cores(op, blocks)
    # A row of tiles is split over cores if there are more cores than rows of tiles.
    columns = max(1, min(wide, cores // blocks)) if padded and cores > blocks else 1
    part = -(-wide // columns)
    units = blocks * columns
    missing = (TILE - rows % TILE) % TILE if rows < TILE or padded else 0
    filled = min(TILE, rows) if rows < TILE else TILE
    bytes_part = -(-stick // columns)
    fill = part * TILE * source.element_bytes // 4

    def reader(count: int) -> Steps:
        # With padding a row is waited for before the rest of it is filled.
        body: Steps = (reserve(0, part), read(source.place, filled, bytes_part, 1 if padded else filled))
        if padded and missing and filled < TILE:
            words = (TILE - filled) * fill
            body += (("stores", words), ("instructions", 3 * words))
        return (loop(count, *body, push(0, part)),)

    def kernel_of(count: int) -> Steps:
        change = (tiles(("tilize", taken, part), part), tiles(("pack", size, False), part))
        body = (await_(0, part), reserve(1, part), *change, push(1, part), pop(0, part))
        return (tiles(("initialise",)), loop(count, *body))

    def writer(count: int) -> Steps:
        return (loop(count * part, await_(1), write(output.place, 1, output.page_bytes), pop(1)), BARRIER)

    cbs = [PlanCb("rows", 2 * part, taken, source.dtype), buffer("tiles", output, 2 * part)]
    return per_unit(op, units, cores, reader, kernel_of, writer, cbs)


def untilize(op: DeviceOperation) -> Plan:
    """Return an untilize's plan: one tile row in, rows out.

    The packer untilizes it.
    """
    source, output = op.inputs[0], op.outputs[0]
    wide = source.tile_columns
    cores = working_cores(op, source.tile_rows)
    if source.local:
        cores, pages = sharded_pages(op, source)
        wide = -(-(source.shard[1] if source.shard else source.width) // TILE)
        blocks = max(1, pages // wide)
    else:
        blocks = -(-source.tile_rows // cores)
    pack = tiles(("pack_untilize", wide, output.element_bytes))
    size = output.logical[-1] * output.element_bytes

    def reader(count: int) -> Steps:
        if source.local:
            return (reserve(0, count * wide), push(0, count * wide))
        return (loop(count * wide, reserve(0), read(source.place, 1, source.page_bytes, 1), push(0)),)

    def kernel(count: int) -> Steps:
        body = (
            await_(0, wide),
            reserve(1, wide),
            tiles(("copy", source.page_bytes), wide),
            pack,
            push(1, wide),
            pop(0, wide),
        )
        return (tiles(("initialise",)), loop(count, *body))

    def writer(count: int) -> Steps:
        if output.local:
            return (await_(1, count * wide),)
        # With padding each row is waited for.
        taken = min(TILE, output.logical[-2])
        sent: Steps = (write(output.place, TILE, size), BARRIER)
        if op.kind != "Untilize":
            sent = (write(output.place, taken, size, 1),)
        return (loop(count, await_(1, wide), *sent, pop(1, wide)),)

    cbs = [
        buffer("tiles", source, blocks * wide if source.local else 2 * wide, borrowed=source.local),
        PlanCb(
            "rows", blocks * wide if output.local else 2 * wide, 1024 * output.element_bytes, output.dtype, output.local
        ),
    ]
    if source.local:
        return plan_of(op, [CoreGroup(cores, reader(blocks), kernel(blocks), writer(blocks))], cbs)
    return per_unit(op, source.tile_rows, cores, reader, kernel, writer, cbs)
