"""A profile as a Chrome trace for Perfetto.

A track for the operations, one for each kernel.

Source: the trace event format of Perfetto's documentation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ttnn.profiler.rows import Row
from ttnn.profiler.sheet import starts
from ttnn.profiler.table import dram_share, flop_share

_KERNELS = ("reader", "unpack", "math", "pack", "writer")


def chrome_trace(rows: Sequence[Row]) -> dict[str, Any]:
    """Return the trace, in microseconds on the chip.

    Kernels are those of the core that ends last.
    """
    events: list[dict[str, Any]] = []
    for device in sorted({row.record.device for row in rows}):
        events.append({"ph": "M", "pid": device, "name": "process_name", "args": {"name": f"device {device}"}})
        for track, name in enumerate(("operations", *_KERNELS)):
            label = {"name": name}
            events.append({"ph": "M", "pid": device, "tid": track, "name": "thread_name", "args": label})
            order = {"sort_index": track}
            events.append({"ph": "M", "pid": device, "tid": track, "name": "thread_sort_index", "args": order})
    for row, start in zip(rows, starts(rows), strict=True):
        plan, at = row.plan, start / 1000
        facts = {
            "operator": row.record.operator,
            "operands": " ".join(map(str, plan.inputs)),
            "result": " ".join(map(str, plan.outputs)),
            "cores": plan.cores,
            "bound": plan.timing.bound,
            "share of FLOP/s": round(flop_share(plan), 4),
            "share of DRAM": round(dram_share(plan), 4),
        }
        span = {"ph": "X", "pid": row.record.device, "tid": 0, "ts": at, "dur": row.nanoseconds / 1000}
        events.append({**span, "name": plan.name, "args": facts})
        last = max(plan.timing.groups, key=lambda group: max(group.ends))
        for track, (end, busy) in enumerate(zip(last.ends, last.busy, strict=True)):
            if busy:
                share = {"busy cycles": busy, "share of the operation": round(busy / max(1, plan.timing.cycles), 4)}
                scale = row.nanoseconds / 1000 / max(1, plan.timing.cycles)
                duration = min(end, plan.timing.cycles) * scale
                part = {"ph": "X", "pid": row.record.device, "tid": track + 1, "ts": at, "dur": duration}
                events.append({**part, "name": f"{plan.name} {_KERNELS[track]}", "args": share})
        used = {"GB/s": round((plan.timing.dram_read_bytes + plan.timing.dram_write_bytes) / row.nanoseconds, 3)}
        counter = {"ph": "C", "pid": row.record.device, "name": "DRAM"}
        events += [
            {**counter, "ts": at, "args": used},
            {**counter, "ts": at + row.nanoseconds / 1000, "args": {"GB/s": 0}},
        ]
    return {"traceEvents": events, "displayTimeUnit": "ns"}
