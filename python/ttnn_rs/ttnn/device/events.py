"""Events, traces and points of command queues, as in `ttnn`.

An event is a point in a command queue that others can wait for.

A call here ends when its work is done, so an event has passed when it is recorded; what is checked is that the device
is open and has the queue.

Source: signatures of ttnn 0.81.1.
"""

from __future__ import annotations

from collections.abc import Sequence

from ttnn.base.call import checked, shown
from ttnn.base.exceptions import ArgumentError
from ttnn.device.coordinates import MeshCoordinateRange, MeshTraceId, QueueId, SubDeviceId
from ttnn.device.lifecycle import synchronize_device
from ttnn.device.mesh_device import MeshDevice, MeshEvent, require_event
from ttnn.device.queues import current_queue, pop_queue, push_queue

__all__ = [
    "MeshEvent",
    "begin_trace_capture",
    "end_trace_capture",
    "event_synchronize",
    "execute_trace",
    "get_current_command_queue_id_for_thread",
    "is_trace_capture_active",
    "record_event",
    "release_trace",
    "wait_for_event",
]


@checked
def record_event(
    mesh_device: MeshDevice,
    cq_id: QueueId | int | None = None,
    sub_device_ids: Sequence[SubDeviceId] = (),
    device_range: MeshCoordinateRange | None = None,
) -> MeshEvent:
    """Return an event after all commands enqueued so far.

    Args:
        mesh_device: The device.
        cq_id: The queue; by default the one that operators of this thread use.
        sub_device_ids: Sub-devices whose work it follows; default: all.
        device_range: Chips of the mesh; default: all.

    Raises:
        DeviceError: the device is closed, or has no such queue, sub-device or chip.
    """
    queue = current_queue() if cq_id is None else cq_id
    synchronize_device(mesh_device, queue, sub_device_ids)
    return mesh_device.mesh_command_queue(int(queue)).enqueue_record_event((), device_range)


@checked
def wait_for_event(cq_id: QueueId | int | None, mesh_event: MeshEvent) -> None:
    """Make a command queue wait for an event, which is always complete.

    Raises:
        DeviceError: the device of the event is closed, or has no such queue.
    """
    device = require_event("wait_for_event", mesh_event).queue.device
    synchronize_device(device, current_queue() if cq_id is None else cq_id)


@checked
def event_synchronize(mesh_event: MeshEvent) -> None:
    """Wait for an event: it has passed.

    Raises:
        DeviceError: its device is closed.
    """
    synchronize_device(require_event("event_synchronize", mesh_event).queue.device)


def get_current_command_queue_id_for_thread() -> QueueId:
    """Return the command queue that operators of this thread use."""
    return QueueId(current_queue())


def push_current_command_queue_id_for_thread(cq_id: QueueId | int, /) -> None:
    """Select the command queue of this thread's operators until it is popped."""
    push_queue("push_current_command_queue_id_for_thread", cq_id)


def pop_current_command_queue_id_for_thread() -> QueueId:
    """Return the command queue of this thread, and restore the previous one.

    Raises:
        ArgumentError: none was pushed.
    """
    return QueueId(pop_queue("pop_current_command_queue_id_for_thread"))


@checked
def begin_trace_capture(mesh_device: MeshDevice, *, cq_id: QueueId | int | None = None) -> MeshTraceId:
    """Start recording a trace; return its id.

    It records operators, `ttnn.generic_op` and `ttnn.metal` programs.

    Operators run during the capture as well. Transfers and new tensors raise `UnsupportedError` until it ends.

    Raises:
        DeviceError: a trace is being captured already, a program has failed, or there is no such queue.
    """
    return _device("command_queue", mesh_device).begin_mesh_trace(_queue(cq_id))


@checked
def end_trace_capture(mesh_device: MeshDevice, trace_id: MeshTraceId, *, cq_id: QueueId | int | None = None) -> None:
    """End the capture of a trace.

    Raises:
        DeviceError: this trace is not being captured.
    """
    _device("command_queue", mesh_device).end_mesh_trace(_queue(cq_id), trace_id)


@checked
def execute_trace(
    mesh_device: MeshDevice, trace_id: MeshTraceId, *, cq_id: QueueId | int | None = None, blocking: bool = True
) -> None:
    """Replay a trace, with the arguments of the capture.

    Results are written to the tensors of the capture.

    Tensors that the trace reads keep their memory: write new values into them with `ttnn.copy_host_to_device_tensor`.

    Raises:
        DeviceError: there is no such trace, or one is being captured.
        KernelError: a program failed.
    """
    _device("command_queue", mesh_device).replay_mesh_trace(_queue(cq_id), trace_id, blocking)


@checked
def release_trace(mesh_device: MeshDevice, trace_id: MeshTraceId) -> None:
    """Release a trace.

    Raises:
        DeviceError: there is no such trace.
    """
    _device("release_trace", mesh_device).release_mesh_trace(trace_id)


def is_trace_capture_active(device: MeshDevice) -> bool:
    """Return whether a trace is being captured.

    Raises:
        ArgumentError: `device` is no device.
    """
    return _device("is_trace_capture_active", device)._traces.steps is not None


def _device(call: str, device: object) -> MeshDevice:
    if not isinstance(device, MeshDevice):
        raise ArgumentError(f"{call}: expected a ttnn.MeshDevice, got {shown(device)}")
    return device


def _queue(cq_id: QueueId | int | None) -> int:
    try:
        return current_queue() if cq_id is None else int(cq_id)
    except (TypeError, ValueError, OverflowError):
        raise ArgumentError(f"a trace: cq_id must be the index of a command queue, got {shown(cq_id)}") from None
