"""The minimal matmul: row and column readers pass blocks on.

Blocks of both operands are read by one row and one column of cores.
"""

from __future__ import annotations

import re
from typing import Final

from ttnn.profiler.device_operation import DeviceOperation
from ttnn.profiler.families.common import buffer, plan_of
from ttnn.profiler.plan import CoreGroup, Plan, PlanCb, Steps, await_, loop, pop, push, read, reserve, tiles, write

_IN0, _IN1, _OUT = range(3)
_DEFAULT: Final = {"M_block_size": 8, "K_block_size": 8, "N_block_size": 8, "subblock_h": 2, "subblock_w": 2}


def minimal_matmul(op: DeviceOperation) -> Plan:
    """Return the plan of a minimal matrix product."""
    a, b, output = op.inputs[0], op.inputs[1], op.outputs[0]
    config = {
        **_DEFAULT,
        **{name: int(value) for name, value in re.findall(r"(\w+)=(\d+)", op.attributes.get("config", ""))},
    }
    grid = re.search(r"\(x=(\d+)[;,] ?y=(\d+)\)", op.attributes.get("config", ""))
    across, down = (int(grid[1]), int(grid[2])) if grid else (op.grid or op.card.grid)
    m, n, k = -(-output.tile_rows // down), -(-output.tile_columns // across), a.tile_columns
    rows, columns, inner = min(config["M_block_size"], m), config["N_block_size"], min(config["K_block_size"], k)
    outputs, steps = -(-m // rows) * -(-n // columns), -(-k // inner)
    height, width = min(config["subblock_h"], rows), config["subblock_w"]
    parts = max(1, rows // height) * max(1, columns // width)
    count = height * width
    product = tiles(("matmul", height, width, inner, a.page_bytes, b.page_bytes, op.phases))
    partial = tiles(("pack", 4096 if op.wide else 2048, True), count)
    finish = (tiles(("copy", 4096 if op.wide else 2048), count), tiles(("pack", output.page_bytes, False), count))
    waits, pops = (
        (await_(_IN0, rows * inner), await_(_IN1, inner * columns)),
        (pop(_IN0, rows * inner), pop(_IN1, inner * columns)),
    )
    block = (loop(steps, *waits, loop(parts, product, partial), *pops),)
    kernel = (
        tiles(("initialise",)),
        loop(outputs, *block, loop(parts, reserve(_OUT, count), *finish, push(_OUT, count))),
    )
    # Of a block only the tiles that the operand has are written; those of the rest stay in L1.
    written = max(1, min(parts, -(-(min(m, rows) * min(n, columns)) // count)))
    put = (
        loop(parts, await_(_OUT, count), pop(_OUT, count)),
        write(output.place, written * count, output.page_bytes, count),
    )

    def bring(cb: int, pages: int, size: int, place: str, *, reads: bool) -> Steps:
        if reads:
            return (reserve(cb, pages), read(place, pages, size, pages), push(cb, pages))
        # A neighbour passes the block on.
        return (reserve(cb, pages), read("local", 1, pages * size, 1), push(cb, pages))

    other = "dram other" if b.buffer == "DRAM" else "l1"
    groups = []
    for cores, reads_a, reads_b in ((1, True, True), (across - 1, False, True), (down - 1, True, False)):
        first = bring(_IN0, rows * inner, a.page_bytes, a.place, reads=reads_a)
        second = bring(_IN1, inner * columns, b.page_bytes, other, reads=reads_b)
        writer = (loop(outputs, loop(steps, *second), *put),)
        if cores:
            groups.append(CoreGroup(cores, (loop(outputs * steps, *first),), kernel, writer))
    rest = max(0, across * down - across - down + 1)
    if rest:
        first = bring(_IN0, rows * inner, a.page_bytes, a.place, reads=False)
        second = bring(_IN1, inner * columns, b.page_bytes, other, reads=False)
        groups.append(
            CoreGroup(rest, (loop(outputs * steps, *first),), kernel, (loop(outputs, loop(steps, *second), *put),))
        )
    cbs = [
        buffer("in0", a, 2 * rows * inner),
        buffer("in1", b, 2 * inner * columns),
        PlanCb("out", 2 * rows * columns, output.page_bytes, output.dtype),
    ]
    return plan_of(op, groups, cbs)
