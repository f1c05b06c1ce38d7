"""Traces: programs and operators that are recorded once and then run again and again, with the same arguments.

Programs of `metal.enqueue_program` and `ttnn.generic_op` are only noted during the capture; TT-NN operators run too,
see `ttnn.metal.operator_traces`. Transfers between host and device are refused, as on a card.
"""

from __future__ import annotations

import weakref
from typing import Any

from ttnn.base.exceptions import ArgumentError, DeviceError
from ttnn.device.coordinates import MeshTraceId
from ttnn.device.mesh_device import MeshDevice
from ttnn.metal.layout import Layout
from ttnn.metal.operator_traces import record
from ttnn.metal.queues import CAPTURING, captures, command_queue, run_layout
from ttnn.metal.report import Report
from ttnn.operation import registry
from ttnn.tensor.tensor import Tensor

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


class _Traces:
    """What a device has recorded."""

    def __init__(self) -> None:
        self.finished: dict[int, list[Any]] = {}
        self.open: int | None = None
        self.following = 0


_traces: weakref.WeakKeyDictionary[MeshDevice, _Traces] = weakref.WeakKeyDictionary()


def begin_trace_capture(device: MeshDevice, cq_id: int = 0) -> MeshTraceId:
    """Let programs that are enqueued, and operators that are called, from now on become a trace; return its id.

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
    registry.recorder = record
    device._engine.stop(CAPTURING, "UnsupportedError")
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
    known.finished[number] = captures[device]
    give_up_capture(device)
    device._engine.reset()


def give_up_capture(device: MeshDevice) -> None:
    """Stop capturing, if a trace is being captured."""
    if captures.pop(device, None) is not None:
        _traces[device].open = None
    if not captures:
        registry.recorder = None


def is_trace_capture_active(device: MeshDevice) -> bool:
    """Return whether a trace is being captured.

    Raises:
        ArgumentError: `device` is no device.
    """
    if not isinstance(device, MeshDevice):
        raise ArgumentError(f"is_trace_capture_active: expected a ttnn.MeshDevice, got {device!r}")
    return device in captures


def replay_trace(
    device: MeshDevice, cq_id: int, trace_id: MeshTraceId | int, blocking: bool = True, *, trace: bool = True
) -> list[Report]:
    """Run a trace with the arguments it was captured with; return the reports of its programs.

    `trace=False` does not record calls and transfers for `Report.save` and `Report.plot`.

    Raises:
        DeviceError: there is no such trace, or one is being captured.
        KernelError: a kernel failed; the device refuses work until it is reset.
    """
    queue = command_queue(device, cq_id)
    steps = _find("replay_trace", device, trace_id)
    if device in captures:
        raise DeviceError("replay_trace: a trace is being captured; end the capture first")
    reports = []
    passed_on: dict[int, Tensor] = {}
    for step in steps:
        if isinstance(step, Layout):
            reports.append(run_layout(device, step, trace=trace))
            queue._note(reports[-1])
        else:
            step.again(passed_on)
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


def _find(call: str, device: MeshDevice, trace_id: MeshTraceId | int) -> list[Any]:
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
