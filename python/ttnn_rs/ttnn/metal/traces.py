"""Traces: programs and operators recorded once and run again.

With the same arguments.

Programs of `metal.enqueue_program` and `ttnn.generic_op` are only noted during the capture; TT-NN operators run too,
see `ttnn.operation.traces`. Transfers between host and device are refused, as on a card.
"""

from __future__ import annotations

from ttnn.base.exceptions import ArgumentError
from ttnn.device.coordinates import MeshTraceId
from ttnn.device.events import is_trace_capture_active
from ttnn.device.mesh_device import MeshDevice
from ttnn.metal.queues import command_queue
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


def begin_trace_capture(device: MeshDevice, cq_id: int = 0) -> MeshTraceId:
    """Start recording enqueued programs and operators as a trace; return its id.

    Raises:
        DeviceError: a trace is being captured already, a program has failed on the device, or there is no such queue.
    """
    return command_queue(device, cq_id).device.begin_mesh_trace(cq_id)


def end_trace_capture(device: MeshDevice, cq_id: int, trace_id: MeshTraceId | int) -> None:
    """End the capture of a trace.

    Raises:
        DeviceError: this trace is not being captured.
    """
    command_queue(device, cq_id).device.end_mesh_trace(cq_id, trace_id)


def replay_trace(
    device: MeshDevice, cq_id: int, trace_id: MeshTraceId | int, blocking: bool = True, *, trace: bool = True
) -> list[Report]:
    """Replay a trace with captured arguments; return its programs' reports.

    `trace=False` does not record calls and transfers for `Report.save` and `Report.plot`.

    Raises:
        DeviceError: there is no such trace, or one is being captured.
        KernelError: a kernel failed; the device refuses work until it is reset.
    """
    return command_queue(device, cq_id).device._replay(cq_id, trace_id, trace=trace)


def release_trace(device: MeshDevice, trace_id: MeshTraceId | int) -> None:
    """Release a trace.

    Raises:
        DeviceError: there is no such trace.
    """
    if not isinstance(device, MeshDevice):
        raise ArgumentError(f"release_trace: expected a ttnn.MeshDevice, got {device!r}")
    device.release_mesh_trace(trace_id)


BeginTraceCapture = begin_trace_capture
EndTraceCapture = end_trace_capture
ReplayTrace = replay_trace
ReleaseTrace = release_trace
