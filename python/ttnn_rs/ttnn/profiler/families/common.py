"""Shared plan family code: core groups, reading, computing, writing kernels.

They work on pages.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ttnn.profiler.device_operation import DeviceOperation
from ttnn.profiler.operand import Operand
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
    write,
)


def split(units: int, cores: int) -> list[tuple[int, int]]:
    """Return core groups as (cores, units of each).

    The first cores get the rest of an uneven split.
    """
    if units <= 0:
        return [(1, 0)]
    cores = min(cores, units)
    most = -(-units // cores)
    full = units - (most - 1) * cores
    return [(full, most)] + ([(cores - full, most - 1)] if full < cores and most > 1 else [])


def working_cores(op: DeviceOperation, units: int) -> int:
    """Return the cores among which units of work are split."""
    if op.cores:
        return op.cores
    for operand in (*op.outputs, *op.inputs):
        if operand.local and operand.shard_cores:
            return operand.shard_cores
    grid = op.grid or op.card.grid
    return max(1, min(units, grid[0] * grid[1]))


def plan_of(op: DeviceOperation, groups: Sequence[CoreGroup], cbs: Sequence[PlanCb]) -> Plan:
    """Return a device operation's plan with groups and circular buffers."""
    return Plan(
        op.name,
        op.card,
        op.fidelity if any(group.compute for group in groups) else "",
        tuple(groups),
        tuple(cbs),
        op.inputs,
        op.outputs,
        tuple(op.attributes.items()),
    )


def buffer(name: str, operand: Operand, pages: int = 2, *, borrowed: bool = False) -> PlanCb:
    """Return a circular buffer for the pages of an operand."""
    return PlanCb(name, pages, operand.page_bytes, operand.dtype, borrowed)


def tile_bytes_of(operand: Operand) -> int:
    """Return the bytes of 32x32 elements, in tiles or not."""
    return operand.page_bytes if operand.tiled else 1024 * operand.element_bytes


def per_unit(
    op: DeviceOperation,
    units: int,
    cores: int,
    reader: Callable[[int], Steps],
    compute: Callable[[int], Steps],
    writer: Callable[[int], Steps],
    cbs: Sequence[PlanCb],
) -> Plan:
    """Return a plan with kernels by unit count of a core."""
    groups = [CoreGroup(n, reader(count), compute(count), writer(count)) for n, count in split(units, cores) if count]
    return plan_of(op, groups, cbs)


def writing(operand: Operand, cb: int, times: int) -> Steps:
    """Return a writer's loop over the pages of a result."""
    return (loop(times, await_(cb), write(operand.place, 1, operand.page_bytes), pop(cb)), BARRIER)


def page_stream(op: DeviceOperation, compute: Steps = ()) -> Plan:
    """Return the plan of a paged read, compute and write.

    Args:
        op: The device operation.
        compute: Operations on the tiles of one output page; none if pages only move.
    """
    output = op.outputs[0]
    units = max(output.pages, 1)
    cores = working_cores(op, units)
    brought = tuple(operand for operand in op.inputs if operand.pages)
    cbs = [buffer("pages", brought[0] if brought else output), buffer("output", output)]
    out = 1 if compute else 0

    def reader(count: int) -> Steps:
        body: list[Step] = [reserve(0)]
        for operand in brought:
            # What is smaller than the result is read again.
            pages = max(1, round(operand.pages / units))
            body.append(read("local" if operand.local else operand.place, pages, operand.page_bytes, pages))
        return (loop(count, *body, push(0)),)

    def kernel(count: int) -> Steps:
        return (loop(count, await_(0), reserve(out), *compute, push(out), pop(0)),) if compute else ()

    def writer(count: int) -> Steps:
        if output.local:
            return (loop(count, await_(out), pop(out)),)
        return writing(output, out, count)

    return per_unit(op, units, cores, reader, kernel, writer, cbs)
