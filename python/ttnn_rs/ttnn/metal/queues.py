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
from ttnn.metal.program import Program
from ttnn.metal.report import Report
from ttnn.metal.scheduler import execute

__all__ = [
    "CommandQueue",
    "EnqueueProgram",
    "EnqueueReadBuffer",
    "EnqueueWriteBuffer",
    "Event",
    "Finish",
    "command_queue",
    "enqueue_program",
    "enqueue_read_buffer",
    "enqueue_write_buffer",
    "finish",
    "run_program",
]


class Event:
    """A point in a command queue."""

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


def enqueue_program(cq: CommandQueue, program: Program, blocking: bool = False) -> Report:
    """Run a program and return its report.

    Raises:
        KernelError: a kernel failed; the device refuses work until it is reset.
        DeadlockError: likewise.
    """
    report = run_program(_device(cq), program)
    if isinstance(cq, CommandQueue):
        cq.last_report = report
    return report


def run_program(device: MeshDevice, program: Program, *, trace: bool = False) -> Report:
    """Run a program and return its report, see `enqueue_program`."""
    device._require_open("enqueue_program")
    with _guard:
        lock = _running.setdefault(device, threading.RLock())
    if not lock.acquire(timeout=600):
        raise DeviceError("enqueue_program: another thread has been running a program on this device for 10 minutes")
    try:
        return execute(device, program, trace=trace)
    except KernelError as error:
        device._engine.stop(str(error))
        raise
    finally:
        lock.release()


def finish(cq: CommandQueue) -> None:
    """Wait until everything on a queue is done: it is."""
    _device(cq)._require_open("finish")


EnqueueWriteBuffer = enqueue_write_buffer
EnqueueReadBuffer = enqueue_read_buffer
EnqueueProgram = enqueue_program
Finish = finish
