"""Integral images: sums over matrices, tile rows, and rows above.

Source: tt-metal `experimental/reduction/integral_image/device`, program factory and kernels.
"""

from __future__ import annotations

from typing import Final

from ttnn.profiler.device_operation import DeviceOperation
from ttnn.profiler.families.common import buffer, per_unit, tile_bytes_of, working_cores
from ttnn.profiler.families.eltwise import sfpu
from ttnn.profiler.operand import TILE
from ttnn.profiler.plan import BARRIER, Plan, Step, Steps, await_, loop, pop, push, read, reserve, tiles, write

_BLOCK: Final = 48
"""Matrices added before the total so far is added."""
_ZEROS: Final = 512
"""Bytes of zeros in L1, copied to the starting tile of sums."""


def integral_image(op: DeviceOperation) -> Plan:
    """Return an integral image's plan, a tile column per core.

    Each core sums its tile rows.

    A tile of the result is written and waited for. All but the first row of tiles read those above, one by one.
    """
    source, output = op.inputs[0], op.outputs[0]
    _, depth, height, _ = source.logical
    lines = max(1, -(-height // TILE))
    size = tile_bytes_of(source)
    blocks = [min(_BLOCK, depth - start) for start in range(0, depth, _BLOCK)]
    start, given, running, stage, summed, above, total, last = range(8)
    pack = tiles(("pack", size, False))

    def add(a: int, b: int) -> Steps:
        return (await_(a), await_(b), tiles(("eltwise", "add", size, size, 1)))

    def one(cb: int) -> Steps:
        return (reserve(cb), pack, push(cb))

    def compute(line: int, number: int, count: int) -> Steps:
        steps: list[Step] = [await_(start)]
        # A sum is packed, and brought again for the next stage.
        copied = (await_(running), tiles(("copy", size)), reserve(stage), pack, push(stage))
        steps.append(
            loop(
                count,
                await_(given),
                tiles(("eltwise", "add", size, size, 1)),
                pop(given),
                *one(running),
                *copied,
                pop(running),
            )
        )
        steps.append(pop(start))
        at = stage
        if number:
            steps += [await_(last), loop(count, *add(stage, last), *one(summed), pop(stage)), pop(last)]
            at = summed
        if number + 1 < len(blocks):
            steps += one(last)
        scanned = (await_(at), tiles(("copy", size)), sfpu("cumsum", False, op.wide), pop(at))
        target = summed if at == stage else stage
        if not line:
            return (*steps, loop(count, *scanned, *one(total)))
        steps.append(loop(count, *scanned, *one(target)))
        steps.append(loop(count, *add(target, above), *one(total), pop(target), pop(above)))
        return tuple(steps)

    def reader(count: int) -> Steps:
        zeros = (reserve(start), read("local", max(1, size // _ZEROS), _ZEROS), BARRIER, push(start))
        block = [(*zeros, loop(tall, reserve(given), read(source.place, 1, size, 1), push(given))) for tall in blocks]
        return (loop(count * lines, *(step for steps in block for step in steps)),)

    def kernel(count: int) -> Steps:
        def line(number: int) -> Steps:
            return tuple(step for i, tall in enumerate(blocks) for step in compute(number, i, tall))

        return (tiles(("initialise",)), loop(count, *line(0), loop(lines - 1, *line(1))))

    def writer(count: int) -> Steps:
        def line(number: int) -> Steps:
            steps: list[Step] = []
            for tall in blocks:
                if number:
                    steps.append(loop(tall, reserve(above), read(output.place, 1, output.page_bytes, 1), push(above)))
                steps.append(loop(tall, await_(total), write(output.place, 1, output.page_bytes), BARRIER, pop(total)))
            return tuple(steps)

        return (loop(count, *line(0), loop(lines - 1, *line(1))),)

    units = max(1, source.tile_columns)
    cores = working_cores(op, units)
    names = ("zeros", "tiles", "running", "matrices", "rows", "above", "output", "total")
    pages = (1, _BLOCK, 1, _BLOCK, _BLOCK, _BLOCK, _BLOCK, 1)
    cbs = [buffer(name, source, count) for name, count in zip(names, pages, strict=True)]
    return per_unit(op, units, cores, reader, kernel, writer, cbs)
