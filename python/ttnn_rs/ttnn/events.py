"""Events: points in a command queue that others can wait for.

A call here ends when its work is done, so an event has passed when it is recorded; what is checked is that the device
is open and has the queue.

Source: signatures of ttnn 0.81.1.
"""

from __future__ import annotations

from collections.abc import Sequence

from ttnn.calls import checked
from ttnn.device import MeshDevice, synchronize_device
from ttnn.exceptions import ArgumentError, DeviceError
from ttnn.mesh import MeshCoordinateRange, QueueId, SubDeviceId
from ttnn.ops.registry import current_queue

__all__ = [
    "MeshEvent",
    "event_synchronize",
    "get_current_command_queue_id_for_thread",
    "record_event",
    "wait_for_event",
]


class MeshEvent:
    """A point in a command queue of a device. Made by `record_event`."""

    __slots__ = ("_device", "_queue")

    _device: MeshDevice
    _queue: int

    def __init__(self) -> None:
        raise ArgumentError("MeshEvent(): events are made with ttnn.record_event(device, cq_id)")

    def __repr__(self) -> str:
        return f"MeshEvent(device {self._device.id()}, command queue {self._queue})"


@checked
def record_event(
    mesh_device: MeshDevice,
    cq_id: QueueId | int | None = None,
    sub_device_ids: Sequence[SubDeviceId] = (),
    device_range: MeshCoordinateRange | None = None,
) -> MeshEvent:
    """Return the point behind everything that a command queue was given so far.

    Args:
        mesh_device: The device.
        cq_id: The queue; by default the one that operators of this thread use.
        sub_device_ids: None; the grid is not divided.
        device_range: Chips of the mesh: all, or the only one.

    Raises:
        DeviceError: the device is closed, or has no such queue or chip.
        UnsupportedError: sub-devices are named.
    """
    queue = current_queue() if cq_id is None else cq_id
    synchronize_device(mesh_device, queue, sub_device_ids)
    if device_range is not None and device_range != MeshCoordinateRange(mesh_device.shape):
        raise DeviceError(f"record_event: {device_range!r} is outside the mesh {mesh_device.shape}")
    event = MeshEvent.__new__(MeshEvent)
    event._device, event._queue = mesh_device, int(queue)
    return event


@checked
def wait_for_event(cq_id: QueueId | int | None, mesh_event: MeshEvent) -> None:
    """Let what follows on a command queue wait for an event: it has passed.

    Raises:
        DeviceError: the device of the event is closed, or has no such queue.
    """
    device = _require_event("wait_for_event", mesh_event)._device
    synchronize_device(device, current_queue() if cq_id is None else cq_id)


@checked
def event_synchronize(mesh_event: MeshEvent) -> None:
    """Wait for an event: it has passed.

    Raises:
        DeviceError: its device is closed.
    """
    synchronize_device(_require_event("event_synchronize", mesh_event)._device)


def get_current_command_queue_id_for_thread() -> QueueId:
    """Return the command queue that operators of this thread use."""
    return QueueId(current_queue())


def _require_event(operator: str, event: object) -> MeshEvent:
    if not isinstance(event, MeshEvent):
        raise ArgumentError(f"{operator}: expected a MeshEvent, got {type(event).__name__}")
    return event
