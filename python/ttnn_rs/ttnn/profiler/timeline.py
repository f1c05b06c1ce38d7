"""A profile as a Chrome trace for Perfetto.

A track for the operations, one for each kernel and each direction of links.

Source: the trace event format of Perfetto's documentation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ttnn.profiler.links import LinkPlan
from ttnn.profiler.rows import Row
from ttnn.profiler.sheet import starts
from ttnn.profiler.table import dram_share, flop_share

_KERNELS = ("reader", "unpack", "math", "pack", "writer")


def chrome_trace(rows: Sequence[Row]) -> dict[str, Any]:
    """Return the trace, in microseconds on the chip.

    Each chip is a process. Kernels are those of the core that ends last; links between chips have a track for each
    direction.
    """
    links = _link_tracks(rows)
    events: list[dict[str, Any]] = []
    for chip in sorted({chip for row in rows for chip in row.record.chips}):
        events.append({"ph": "M", "pid": chip, "name": "process_name", "args": {"name": f"device {chip}"}})
        for track, name in enumerate(("operations", *_KERNELS, *links)):
            label = {"name": name}
            events.append({"ph": "M", "pid": chip, "tid": track, "name": "thread_name", "args": label})
            order = {"sort_index": track}
            events.append({"ph": "M", "pid": chip, "tid": track, "name": "thread_sort_index", "args": order})
    for row, start in zip(rows, starts(rows), strict=True):
        spans = list(_spans(row, start / 1000, links))
        events += ({**event, "pid": chip} for chip in row.record.chips for event in spans)
    return {"traceEvents": events, "displayTimeUnit": "ns"}


def _link_tracks(rows: Sequence[Row]) -> list[str]:
    """Return the directions of links that operations use, in order."""
    return sorted({track for row in rows if isinstance(row.plan, LinkPlan) for track in row.plan.directions})


def _spans(row: Row, at: float, links: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield the events of an operation on a chip."""
    plan = row.plan
    facts = {
        "operator": row.record.operator,
        "operands": " ".join(map(str, plan.inputs)),
        "result": " ".join(map(str, plan.outputs)),
        "cores": plan.cores,
        "bound": plan.timing.bound,
        "share of FLOP/s": round(flop_share(plan), 4),
        "share of DRAM": round(dram_share(plan), 4),
    }
    duration = row.nanoseconds / 1000
    yield {"ph": "X", "tid": 0, "ts": at, "dur": duration, "name": plan.name, "args": facts}
    last = max(plan.timing.groups, key=lambda group: max(group.ends))
    for track, (end, busy) in enumerate(zip(last.ends, last.busy, strict=True)):
        if busy:
            share = {"busy cycles": busy, "share of the operation": round(busy / max(1, plan.timing.cycles), 4)}
            part = min(end, plan.timing.cycles) * duration / max(1, plan.timing.cycles)
            name = f"{plan.name} {_KERNELS[track]}"
            yield {"ph": "X", "tid": track + 1, "ts": at, "dur": part, "name": name, "args": share}
    if isinstance(plan, LinkPlan):
        carried = {"GB/s of a link": round(plan.gigabytes_per_second, 3)}
        for direction in plan.directions:
            track = 1 + len(_KERNELS) + links.index(direction)
            yield {"ph": "X", "tid": track, "ts": at, "dur": duration, "name": plan.name, "args": carried}
    used = {"GB/s": round((plan.timing.dram_read_bytes + plan.timing.dram_write_bytes) / row.nanoseconds, 3)}
    yield {"ph": "C", "name": "DRAM", "ts": at, "args": used}
    yield {"ph": "C", "name": "DRAM", "ts": at + duration, "args": {"GB/s": 0}}
