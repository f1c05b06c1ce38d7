"""Command queues: what is enqueued on one is done in its order.

The device here has done its work when a call returns, so blocking and non-blocking calls differ in nothing but the
moment at which errors appear: always at the call that caused them.
"""

from __future__ import annotations

import threading
import weakref
from typing import Any

import numpy as np
import numpy.typing as npt

from ttnn.exceptions import ArgumentError, DeviceError, KernelError
from ttnn.mesh_device import MeshDevice
from ttnn.metal.buffers import Buffer
from ttnn.metal.layout import Layout, lay_out
from ttnn.metal.program import Program
from ttnn.metal.report import Report
from ttnn.metal.scheduler import execute

__all__ = [
    "BeginTraceCapture",
    "CommandQueue",
    "EndTraceCapture",
    "EnqueueProgram",
    "EnqueueReadBuffer",
    "EnqueueRecordEvent",
    "EnqueueWaitForEvent",
    "EnqueueWriteBuffer",
    "Event",
    "EventQuery",
    "EventSynchronize",
    "Finish",
    "ReleaseTrace",
    "ReplayTrace",
    "begin_trace_capture",
    "command_queue",
    "end_trace_capture",
    "enqueue_program",
    "enqueue_read_buffer",
    "enqueue_record_event",
    "enqueue_wait_for_event",
    "enqueue_write_buffer",
    "event_query",
    "event_synchronize",
    "finish",
    "release_trace",
    "replay_trace",
    "run_program",
]


class Event:
    """A point in a command queue. Everything before it is done."""

    def __init__(self, queue: CommandQueue) -> None:
        self.queue = queue


class CommandQueue:
    """A queue of one device."""

    def __init__(self, device: MeshDevice, number: int) -> None:
        self.device = device
        self.id = number
        self.last_report: Report | None = None

    def __repr__(self) -> str:
        return f"CommandQueue({self.id} of {self.device!r})"


_queues: weakref.WeakKeyDictionary[MeshDevice, dict[int, CommandQueue]] = weakref.WeakKeyDictionary()
_running: weakref.WeakKeyDictionary[MeshDevice, threading.RLock] = weakref.WeakKeyDictionary()
_guard = threading.Lock()


def command_queue(device: MeshDevice, id: int = 0) -> CommandQueue:
    """Return a command queue of a device.

    Raises:
        DeviceError: the device was opened with fewer queues, or is closed.
    """
    device._require_open("command_queue")
    if not 0 <= id < device._queues:
        raise DeviceError(f"command_queue: queue {id} does not exist, the device was opened with {device._queues}")
    with _guard:
        queues = _queues.setdefault(device, {})
        return queues.setdefault(id, CommandQueue(device, id))


def _device(queue: CommandQueue | MeshDevice) -> MeshDevice:
    device = queue.device if isinstance(queue, CommandQueue) else queue
    if not isinstance(device, MeshDevice):
        raise ArgumentError(f"expected a command queue or a device, got {queue!r}")
    return device


def enqueue_write_buffer(cq: CommandQueue, buffer: Buffer, src: Any, blocking: bool = False) -> None:
    """Fill a buffer with bytes of the host.

    Raises:
        ArgumentError: other bytes than the buffer has.
    """
    _device(cq)._require_open("enqueue_write_buffer")
    buffer.write(src)


def enqueue_read_buffer(
    cq: CommandQueue, buffer: Buffer, dst: npt.NDArray[Any] | None = None, blocking: bool = True
) -> npt.NDArray[Any]:
    """Return the bytes of a buffer as 32-bit words, or fill `dst` with them and return it.

    Raises:
        ArgumentError: `dst` has another size.
    """
    _device(cq)._require_open("enqueue_read_buffer")
    if dst is None:
        return buffer.read(np.uint32)
    if not isinstance(dst, np.ndarray) or dst.nbytes != buffer.size() or not dst.flags.c_contiguous:
        raise ArgumentError(f"enqueue_read_buffer: dst must be a contiguous array of {buffer.size()} B")
    dst.reshape(-1).view(np.uint8)[:] = buffer.read(np.uint8)
    return dst


def enqueue_program(cq: CommandQueue, program: Program, blocking: bool = False, *, trace: bool = True) -> Report | None:
    """Run a program and return its report; None while a trace is captured, which it becomes part of.

    `trace=False` does not record calls and transfers for `Report.save` and `Report.plot`.

    Raises:
        KernelError: a kernel failed; the device refuses work until it is reset.
        DeadlockError: likewise.
    """
    device = _device(cq)
    device._require_open("enqueue_program")
    layout = lay_out(device, program)
    capture = _captures.get(device)
    if capture is not None:
        capture.layouts.append(layout)
        return None
    report = run_layout(device, layout, trace=trace)
    if isinstance(cq, CommandQueue):
        cq.last_report = report
    return report


def run_program(device: MeshDevice, program: Program, *, trace: bool = True) -> Report:
    """Run a program and return its report, see `enqueue_program`.

    Args:
        device: Where to run it.
        program: The program.
        trace: Record calls and transfers, for `Report.save` and `Report.plot`.
    """
    device._require_open("enqueue_program")
    return run_layout(device, lay_out(device, program), trace=trace)


def run_layout(device: MeshDevice, layout: Layout, *, trace: bool = True) -> Report:
    """Run a program as it was laid out for the device."""
    with _guard:
        lock = _running.setdefault(device, threading.RLock())
    if not lock.acquire(timeout=600):
        raise DeviceError("enqueue_program: another thread has been running a program on this device for 10 minutes")
    try:
        return execute(device, layout, trace=trace)
    except KernelError as error:
        device._engine.stop(str(error))
        raise
    finally:
        lock.release()


def finish(cq: CommandQueue) -> None:
    """Wait until everything on a queue is done: it is."""
    _device(cq)._require_open("finish")


def enqueue_record_event(cq: CommandQueue) -> Event:
    """Return a point behind everything enqueued so far."""
    _device(cq)._require_open("enqueue_record_event")
    return Event(cq)


def enqueue_wait_for_event(cq: CommandQueue, event: Event) -> None:
    """Let what follows on this queue wait for an event: it has passed.

    Raises:
        ArgumentError: not an event.
    """
    _device(cq)._require_open("enqueue_wait_for_event")
    _require_event(event)


def event_synchronize(event: Event) -> None:
    """Wait for an event: it has passed."""
    _require_event(event).queue.device._require_open("event_synchronize")


def event_query(event: Event) -> bool:
    """Return whether an event has passed: yes."""
    _require_event(event).queue.device._require_open("event_query")
    return True


def _require_event(event: object) -> Event:
    if not isinstance(event, Event):
        raise ArgumentError(f"expected an Event, got {event!r}")
    return event


class _Trace:
    """Programs of a trace, as they were when they were enqueued."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.layouts: list[Layout] = []


_captures: weakref.WeakKeyDictionary[MeshDevice, _Trace] = weakref.WeakKeyDictionary()
_traces: weakref.WeakKeyDictionary[MeshDevice, dict[int, _Trace]] = weakref.WeakKeyDictionary()


def begin_trace_capture(device: MeshDevice, cq_id: int = 0) -> int:
    """Let programs that are enqueued from now on become a trace instead of running; return its id.

    Raises:
        DeviceError: a trace is being captured already.
    """
    command_queue(device, cq_id)
    if device in _captures:
        raise DeviceError("begin_trace_capture: a trace is being captured already")
    known = _traces.setdefault(device, {})
    trace = _Trace(max(known, default=-1) + 1)
    _captures[device] = trace
    return trace.number


def end_trace_capture(device: MeshDevice, cq_id: int, trace_id: int) -> None:
    """End the capture of a trace.

    Raises:
        DeviceError: this trace is not being captured.
    """
    trace = _captures.get(device)
    if trace is None or trace.number != trace_id:
        raise DeviceError(f"end_trace_capture: trace {trace_id} is not being captured")
    del _captures[device]
    _traces[device][trace_id] = trace


def replay_trace(device: MeshDevice, cq_id: int, trace_id: int, blocking: bool = True) -> list[Report]:
    """Run the programs of a trace with the arguments they were captured with; return their reports.

    Raises:
        DeviceError: there is no such trace.
    """
    command_queue(device, cq_id)
    return [run_layout(device, layout) for layout in _trace("replay_trace", device, trace_id).layouts]


def release_trace(device: MeshDevice, trace_id: int) -> None:
    """Forget a trace.

    Raises:
        DeviceError: there is no such trace.
    """
    _trace("release_trace", device, trace_id)
    del _traces[device][trace_id]


def _trace(function: str, device: MeshDevice, trace_id: int) -> _Trace:
    trace = _traces.get(device, {}).get(trace_id)
    if trace is None:
        raise DeviceError(f"{function}: the device has no trace {trace_id}")
    return trace


BeginTraceCapture = begin_trace_capture
EndTraceCapture = end_trace_capture
ReplayTrace = replay_trace
ReleaseTrace = release_trace
EnqueueRecordEvent = enqueue_record_event
EnqueueWaitForEvent = enqueue_wait_for_event
EventSynchronize = event_synchronize
EventQuery = event_query
EnqueueWriteBuffer = enqueue_write_buffer
EnqueueReadBuffer = enqueue_read_buffer
EnqueueProgram = enqueue_program
Finish = finish
