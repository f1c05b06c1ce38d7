"""Group norms: passes over tiles, and exchanged sums.

The tiles are those of each group; the cores of a group exchange sums.

Source: tt-metal `normalization/groupnorm/device/kernels`, `groupnorm_sharded_v2.cpp` (passes) and
`reader_mcast_sender_unary_sharded_gn_v2.cpp` (exchange).
"""

from __future__ import annotations

from typing import Final

from ttnn.profiler.device_operation import DeviceOperation
from ttnn.profiler.families.common import plan_of, tile_bytes_of, working_cores
from ttnn.profiler.families.eltwise import sfpu
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

_PARTIAL, _EXTERNAL, _GLOBAL, _MASK = range(4)
WORD_READ: Final = {"wormhole_b0": 240, "blackhole": 300}
"""Cycles of a 16-byte read from a known core, with barrier.

The mean of the same row, the same column and others (`docs/chip/noc.md` section 3: 170, 154, 270 and 217, 177, 329), an
issue and a barrier.
"""
UNPACK_UNTILIZE: Final = {"wormhole_b0": 393, "blackhole": 512}
"""Cycles of a tile that the unpacker untilizes (`tensix_kernel_cycles.csv`)."""


def _group_passes(op: DeviceOperation, visits: int, size: int, *, exchanges: bool) -> Steps:
    """Return the passes over the tiles of one group."""
    multiply = tiles(("eltwise", "mul", size, size, op.phases))
    pack = tiles(("pack", size, False))
    ready = tiles(("switch",))

    def total() -> Steps:
        """The sum of a core, and that of all cores."""
        reduced = (ready, tiles(("reduce", "scalar", size, op.phases)), pack)
        own: Steps = (pack, *reduced)
        if not exchanges:
            return own
        around = (await_(_EXTERNAL), *reduced, pop(_EXTERNAL), push(_GLOBAL))
        return (*own, reserve(_PARTIAL), push(_PARTIAL), *around)

    subtract = tiles(("eltwise", "sub", size, size, 1))
    placed = tiles(("eltwise", "add", size, size, 1))
    return (
        *(ready, loop(visits, multiply, pack)),
        *(ready, loop(visits, multiply), *total()),
        *(ready, loop(visits, subtract, pack)),
        *(ready, loop(visits, multiply, pack)),
        *(ready, loop(visits, multiply), *total()),
        *(ready, placed, sfpu("rsqrt", False, op.wide), pack),
        *(ready, loop(visits, multiply, pack)),
        *(ready, loop(visits, ready, placed, pack)),
    )


def group_norm(op: DeviceOperation) -> Plan:
    """Return the plan of a group normalisation."""
    source, output = op.inputs[0], op.outputs[0]
    size = tile_bytes_of(source)
    cores = working_cores(op, source.tiles if source.local else source.tile_rows)
    groups = op.program or int(op.attributes["num_groups"])
    wide = source.shard[1] if source.shard else source.width
    columns = max(1, -(-wide // TILE))
    tall = max(1, -(-(source.shard[0] if source.shard else -(-source.rows // cores)) // TILE))
    # With shards of some columns, a core has the groups of its columns, and shares them with the cores below it.
    across = max(1, source.width // max(1, wide))
    own, sharing = max(1, groups // across), max(1, cores // across)
    visits = tall * max(1, -(-(source.width // groups) // TILE))
    held = tall * columns
    passes = loop(own, await_(_MASK), *_group_passes(op, visits, size, exchanges=sharing > 1), pop(_MASK))
    weights = max(0, len(op.inputs) - 1)
    scale = (tiles(("eltwise", "mul", size, size, op.phases)), tiles(("pack", size, False)))
    kernel: list[Step] = [tiles(("initialise",)), passes, *([loop(held, *scale)] * weights)]
    reader: list[Step] = []
    if not source.local:
        # Tiles are brought for the mean, for the variance, and for the result.
        reader.append(loop(3 * held, read(source.place, 1, source.page_bytes, 1)))
    elif not source.tiled:
        kernel.insert(1, loop(held, tiles(("tilize", size, columns)), tiles(("pack", size, False))))
    if source.local and not output.tiled:
        kernel.append(loop(held, ("instructions", UNPACK_UNTILIZE[op.card.arch]), tiles(("pack", size, False))))
    if sharing > 1:
        gathered = loop(sharing - 1, ("instructions", WORD_READ[op.card.arch]))
        told = (await_(_GLOBAL), ("multicast", 16, sharing), BARRIER, pop(_GLOBAL))
        around = (await_(_PARTIAL), read("local", 1, size, 1), gathered, push(_EXTERNAL), pop(_PARTIAL), *told)
        reader.append(loop(2 * own, *around))
    writer: list[Step] = [loop(own, reserve(_MASK), read("dram", 1, size, 1), push(_MASK))]
    if not output.local:
        writer += [loop(held, write(output.place, 1, output.page_bytes)), BARRIER]
    cbs = [PlanCb(name, 1, size, source.dtype) for name in ("partial", "external", "global", "mask")]
    return plan_of(op, [CoreGroup(cores, tuple(reader), tuple(kernel), tuple(writer))], cbs)
