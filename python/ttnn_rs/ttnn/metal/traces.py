"""Traces: programs that are recorded once and then run again and again, with the arguments of the recording.

A trace holds programs: those of `metal.enqueue_program` and `ttnn.generic_op`. TT-NN operators are not programs in this
package; while a trace is captured they are refused, because they could not become part of it.
"""

from __future__ import annotations

import weakref

from ttnn.exceptions import ArgumentError, DeviceError
from ttnn.mesh import MeshTraceId
from ttnn.mesh_device import MeshDevice
from ttnn.metal.layout import Layout
from ttnn.metal.queues import captures, command_queue, run_layout
from ttnn.metal.report import Report

__all__ = [
    "BeginTraceCapture",
    "EndTraceCapture",
    "ReleaseTrace",
    "ReplayTrace",
    "begin_trace_capture",
    "end_trace_capture",
    "is_trace_capture_active",
    "release_trace",
    "replay_trace",
]

_CAPTURING = (
    "a trace is being captured, and only programs (metal.enqueue_program, ttnn.generic_op) can become part of it; "
    "call operators, and move data, before or after"
)


class _Traces:
    """What a device has recorded."""

    def __init__(self) -> None:
        self.finished: dict[int, list[Layout]] = {}
        self.open: int | None = None
        self.following = 0


_traces: weakref.WeakKeyDictionary[MeshDevice, _Traces] = weakref.WeakKeyDictionary()


def begin_trace_capture(device: MeshDevice, cq_id: int = 0) -> MeshTraceId:
    """Let programs that are enqueued from now on become a trace instead of running; return its id.

    Raises:
        DeviceError: a trace is being captured already, a program has failed on the device, or there is no such queue.
    """
    command_queue(device, cq_id)
    if device in captures:
        raise DeviceError("begin_trace_capture: a trace is being captured already")
    if device._engine.failure is not None:
        raise DeviceError(f"begin_trace_capture: {device._engine.failure}")
    known = _traces.setdefault(device, _Traces())
    known.open = known.following
    known.following += 1
    captures[device] = []
    device._engine.stop(_CAPTURING, "UnsupportedError")
    return MeshTraceId(known.open)


def end_trace_capture(device: MeshDevice, cq_id: int, trace_id: MeshTraceId | int) -> None:
    """End the capture of a trace.

    Raises:
        DeviceError: this trace is not being captured.
    """
    command_queue(device, cq_id)
    known, number = _traces.get(device), _number("end_trace_capture", trace_id)
    if known is None or device not in captures or known.open != number:
        raise DeviceError(f"end_trace_capture: trace {number} is not being captured")
    known.finished[number] = captures.pop(device)
    known.open = None
    device._engine.reset()


def is_trace_capture_active(device: MeshDevice) -> bool:
    """Return whether a trace is being captured."""
    return device in captures


def replay_trace(
    device: MeshDevice, cq_id: int, trace_id: MeshTraceId | int, blocking: bool = True, *, trace: bool = True
) -> list[Report]:
    """Run the programs of a trace with the arguments they were captured with; return their reports.

    `trace=False` does not record calls and transfers for `Report.save` and `Report.plot`.

    Raises:
        DeviceError: there is no such trace, or one is being captured.
        KernelError: a kernel failed; the device refuses work until it is reset.
    """
    queue = command_queue(device, cq_id)
    layouts = _find("replay_trace", device, trace_id)
    if device in captures:
        raise DeviceError("replay_trace: a trace is being captured; end the capture first")
    reports = []
    for layout in layouts:
        reports.append(run_layout(device, layout, trace=trace))
        queue._note(reports[-1])
    return reports


def release_trace(device: MeshDevice, trace_id: MeshTraceId | int) -> None:
    """Forget a trace.

    Raises:
        DeviceError: there is no such trace.
    """
    _find("release_trace", device, trace_id)
    del _traces[device].finished[_number("release_trace", trace_id)]


def _number(call: str, trace_id: MeshTraceId | int) -> int:
    if isinstance(trace_id, bool) or not hasattr(trace_id, "__index__"):
        raise ArgumentError(f"{call}: expected the id of a trace, got {trace_id!r}")
    return int(trace_id)


def _find(call: str, device: MeshDevice, trace_id: MeshTraceId | int) -> list[Layout]:
    if not isinstance(device, MeshDevice):
        raise ArgumentError(f"{call}: expected a ttnn.MeshDevice, got {device!r}")
    device._require_open(call)
    number = _number(call, trace_id)
    known = _traces.get(device)
    if known is None or number not in known.finished:
        raise DeviceError(f"{call}: the device has no trace {number}")
    return known.finished[number]


BeginTraceCapture = begin_trace_capture
EndTraceCapture = end_trace_capture
ReplayTrace = replay_trace
ReleaseTrace = release_trace
