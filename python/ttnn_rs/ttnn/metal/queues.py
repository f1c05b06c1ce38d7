"""Command queues: what is enqueued on one is done in its order.

The device here has done its work when a call returns, so blocking and non-blocking calls differ in nothing but the
moment at which errors appear: always at the call that caused them. Two queues run what they are given in the order of
the calls, which is one of the orders that a card may choose; an event makes it the only one.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ttnn.base.config import CONFIG
from ttnn.base.exceptions import ArgumentError, DeviceError, KernelError, RankError
from ttnn.base.observers import blocked
from ttnn.device.chip import Chip
from ttnn.device.coordinates import MeshCoordinate, MeshCoordinateRange, SubDeviceId
from ttnn.device.mesh_device import CommandQueue, MeshDevice, MeshEvent, require_event
from ttnn.metal.buffers import Buffer
from ttnn.metal.fabric_mail import connect_chips
from ttnn.metal.layout import Layout, lay_out
from ttnn.metal.program import Program
from ttnn.metal.report import IdleReport, MeshReport, Report
from ttnn.metal.scheduler import ChipProgram, Connect, execute, execute_together
from ttnn.metal.semaphores import SemaphoreWatch
from ttnn.operation.observation import ProgramRan, program_ran

__all__ = [
    "CommandQueue",
    "EnqueueProgram",
    "EnqueueReadBuffer",
    "EnqueueRecordEvent",
    "EnqueueWaitForEvent",
    "EnqueueWriteBuffer",
    "Event",
    "EventQuery",
    "EventSynchronize",
    "Finish",
    "MeshCommandQueue",
    "MeshEvent",
    "Synchronize",
    "command_queue",
    "enqueue_program",
    "enqueue_read_buffer",
    "enqueue_record_event",
    "enqueue_wait_for_event",
    "enqueue_write_buffer",
    "event_query",
    "event_synchronize",
    "finish",
    "run_program",
    "synchronize",
]


MeshCommandQueue = CommandQueue
Event = MeshEvent


def command_queue(device: MeshDevice, id: int = 0) -> CommandQueue:
    """Return a command queue of a device.

    Raises:
        DeviceError: the device was opened with fewer queues, or is closed.
    """
    if not isinstance(device, MeshDevice):
        raise ArgumentError(f"command_queue: expected a ttnn.MeshDevice, got {device!r}")
    return device.mesh_command_queue(id)


def _device(call: str, queue: CommandQueue | MeshDevice) -> MeshDevice:
    device = queue.device if isinstance(queue, CommandQueue) else queue
    if not isinstance(device, MeshDevice):
        raise ArgumentError(f"{call}: expected a command queue or a device, got {queue!r}")
    device._require_open(call)
    return device


def _check_buffer(call: str, queue: CommandQueue | MeshDevice, buffer: Buffer) -> None:
    """Check that a buffer is on the queue's device.

    No trace may be being captured.
    """
    device = _device(call, queue)
    if not isinstance(buffer, Buffer):
        raise ArgumentError(f"{call}: expected a Buffer, got {buffer!r}")
    if buffer.device is not device:
        raise DeviceError(f"{call}: {buffer!r} is on device {buffer.device.id()}, the queue of device {device.id()}")
    if device._traces.steps is not None:
        raise DeviceError(f"{call}: reads and writes cannot become part of a trace; end the capture first")


def enqueue_write_buffer(cq: CommandQueue | MeshDevice, buffer: Buffer, src: Any, blocking: bool = False) -> None:
    """Fill a buffer with bytes of the host, on all chips.

    Raises:
        ArgumentError: other bytes than the buffer has.
        DeviceError: the buffer of another device, a closed device, or a trace is being captured.
    """
    write_from("enqueue_write_buffer", cq, buffer, src)


def enqueue_read_buffer(
    cq: CommandQueue | MeshDevice, buffer: Buffer, dst: npt.NDArray[Any] | None = None, blocking: bool = True
) -> npt.NDArray[Any]:
    """Return a buffer's 32-bit words, or write them into `dst`.

    Raises:
        ArgumentError: `dst` has another size.
        DeviceError: the buffer of another device, a closed device, a trace is being captured, or several chips have
            contents of their own (`read_shard` reads those of one).
    """
    return read_into("enqueue_read_buffer", cq, buffer, dst)


def read_into(
    call: str,
    cq: CommandQueue | MeshDevice,
    buffer: Buffer,
    dst: npt.NDArray[Any] | None,
    coord: MeshCoordinate | None = None,
) -> npt.NDArray[Any]:
    """Do what `enqueue_read_buffer` does, for a chip if one is named."""
    _check_buffer(call, cq, buffer)
    size = buffer.size() if coord is None else buffer.memory.size
    if dst is None:
        return buffer.read(np.uint32 if size % 4 == 0 else np.uint8, coord)
    if not isinstance(dst, np.ndarray) or dst.nbytes != size or not dst.flags.c_contiguous:
        raise ArgumentError(f"{call}: dst must be a contiguous array of {size} B")
    dst.reshape(-1).view(np.uint8)[:] = buffer.read(np.uint8, coord)
    return dst


def write_from(
    call: str, cq: CommandQueue | MeshDevice, buffer: Buffer, src: Any, coord: MeshCoordinate | None = None
) -> None:
    """Do what `enqueue_write_buffer` does, for a chip if one is named."""
    _check_buffer(call, cq, buffer)
    buffer.write(src, coord)


def enqueue_program(
    cq: CommandQueue | MeshDevice, program: Program, blocking: bool = False, *, trace: bool = True
) -> Report | None:
    """Run a program on all chips and return its report.

    None while a trace is captured, which it becomes part of, and while a graph is captured without dispatch. In a mesh
    of several chips it runs on one after the other, row by row, and the report is a `MeshReport`.

    Arguments and addresses are those of this moment; a program may be changed and enqueued again. Every run starts with
    empty circular buffers and with semaphores at their initial values.

    Args:
        cq: The queue.
        program: The program.
        blocking: Wait for its end, which always happens.
        trace: Record calls and transfers, for `Report.save` and `Report.plot`.

    Raises:
        KernelError: a kernel failed; the device refuses work until it is reset.
        DeadlockError: likewise.
        DeviceError, MemoryConfigError, KernelArgumentError: the device cannot run it.
    """
    device = _device("enqueue_program", cq)
    return enqueue_for(Caller("ttnn.metal.enqueue_program"), cq, [(device.chips, program)], trace=trace)


def run_program(device: MeshDevice, program: Program, *, trace: bool = True) -> Report:
    """Run a program and return its report, see `enqueue_program`.

    Raises:
        DeviceError: a trace is being captured, or as for `enqueue_program`.
        KernelError: a kernel failed; the device refuses work until it is reset.
    """
    device = _device("run_program", device)
    if device._traces.steps is not None:
        raise DeviceError("run_program: a trace is being captured; enqueue the program, or end the capture first")
    if blocked():
        raise DeviceError(
            "run_program: a graph is captured without dispatch, and no report is made; enqueue the program"
        )
    work = _ready("run_program", device, [(device.chips, program)])
    return _run(Caller("ttnn.metal.run_program"), device, work, trace=trace)


class Caller(NamedTuple):
    """A program's caller: full function name and tensors, result last."""

    name: str
    tensors: tuple[Any, ...] = ()


Work = list[tuple[Chip, Layout]]
"""Programs of chips, in the order of the chips' coordinates."""


def enqueue_for(
    caller: Caller,
    cq: CommandQueue | MeshDevice,
    programs: Sequence[tuple[Sequence[Chip], Program]],
    *,
    trace: bool = True,
) -> Report | None:
    """Do what `enqueue_program` does for a function that runs programs.

    Args:
        caller: The function.
        cq: The queue.
        programs: Each with its chips, which have no other one.
        trace: Record calls and transfers.
    """
    device = _device("enqueue_program", cq)
    work = _ready("enqueue_program", device, programs)
    if device._traces.steps is not None:
        device._traces.steps.append(ProgramRun(caller, work))
        return None
    if blocked():
        program_ran(ProgramRan(caller.name, device, caller.tensors, work[0][1], None, time.perf_counter_ns()))
        return None
    report = _run(caller, device, work, trace=trace)
    if isinstance(cq, CommandQueue):
        cq._note(report)
    return report


def _ready(call: str, device: MeshDevice, programs: Sequence[tuple[Sequence[Chip], Program]]) -> Work:
    """Return programs as their chips run them.

    Of one that was made from a specification, check that it has arguments.
    """
    work: Work = []
    for chips, program in programs:
        layout = lay_out(device, program)
        if program.specified is not None:
            program.specified.check_run(call)
        work += [(chip, layout) for chip in chips]
    if len(programs) > 1:
        order = {chip: index for index, chip in enumerate(device.chips)}
        work.sort(key=lambda entry: order[entry[0]])
    return work


def _run(caller: Caller, device: MeshDevice, work: Work, *, trace: bool = True) -> Report:
    """Run programs as they were laid out for the device."""
    started = time.perf_counter_ns()
    if device.ranks is not None:
        own = device.own_places
        work = [(chip, layout) for chip, layout in work if chip.place in own]
    if not device._running.acquire(timeout=600):
        raise DeviceError("enqueue_program: another thread has been running a program on this device for 10 minutes")
    try:
        connect = connect_chips(device)
        if not work:
            # Packets of other processes' kernels may go to chips of this one.
            if connect is not None:
                execute_together([], connect, trace=trace)
            return IdleReport(device.chips[0])
        if device._several or connect is not None:
            report, layout = _run_on_chips(device, work, connect, trace=trace)
        else:
            ((chip, layout),) = work
            report = execute(chip, layout, trace=trace)
    except (KernelError, RankError) as error:
        device.engine.stop(f"the device stopped when a program failed; call device.reset(). The failure: {error}")
        raise
    except KeyboardInterrupt as error:
        device.engine.stop(f"the device stopped when a program was interrupted; call device.reset(). In {error}")
        raise
    finally:
        device._running.release()
    program_ran(ProgramRan(caller.name, device, caller.tensors, layout, report, started))
    return report


def _run_on_chips(device: MeshDevice, work: Work, connect: Connect | None, *, trace: bool) -> tuple[Report, Layout]:
    """Run programs on several chips; return report and slowest program.

    Chips that the fabric connects run together, others one after the other.
    """
    coordinates = dict(zip(device.chips, device.coordinates(), strict=True))
    watch = None
    programs = [ChipProgram(chip, layout, coordinates[chip]) for chip, layout in work]
    if connect is not None:
        if device.ranks is None and CONFIG.watcher:
            watch = SemaphoreWatch(device)
        done = execute_together(programs, connect, trace=trace)
    else:
        done = [execute_together([program], trace=trace)[0] for program in programs]
    report = MeshReport({coordinates[chip]: part for (chip, _), part in zip(work, done, strict=True)})
    if watch is not None:
        report.notes = [*report.notes, *watch.notes()]
    slowest = next(program for program in programs if program.coord == report.chip)
    return report, slowest.layout


class ProgramRun:
    """A trace's programs, in their layout at capture."""

    def __init__(self, caller: Caller, work: Work) -> None:
        # A trace keeps no tensor alive.
        self.caller, self.work = Caller(caller.name), work

    def replay(self, queue: CommandQueue, replaced: dict[int, Any], *, trace: bool) -> Report:
        """Run the programs again; return the report."""
        report = _run(self.caller, queue.device, self.work, trace=trace)
        queue._note(report)
        return report


def finish(cq: CommandQueue | MeshDevice, sub_device_ids: Sequence[SubDeviceId] = ()) -> None:
    """Wait until everything on a queue is done: it is.

    Raises:
        DeviceError: the device is closed, or there is no such sub-device.
    """
    _device("finish", cq)._sub_devices.check_ids("finish", sub_device_ids)


def synchronize(device: MeshDevice, cq_id: int | None = None, sub_device_ids: Sequence[SubDeviceId] = ()) -> None:
    """Wait until everything on a queue is done: it is.

    By default on all queues.

    Raises:
        DeviceError: the device is closed, or has no such queue or sub-device.
    """
    if cq_id is not None:
        command_queue(device, cq_id)
    finish(device, sub_device_ids)


def enqueue_record_event(
    cq: CommandQueue,
    sub_device_ids: Sequence[SubDeviceId] = (),
    device_range: MeshCoordinateRange | None = None,
) -> MeshEvent:
    """Return an event after everything enqueued so far.

    Raises:
        DeviceError: the device is closed, or there is no such sub-device.
    """
    return require_queue("enqueue_record_event", cq).enqueue_record_event(sub_device_ids, device_range)


def enqueue_wait_for_event(cq: CommandQueue, event: MeshEvent) -> None:
    """Make this queue wait for an event, which is always complete.

    Raises:
        ArgumentError: not an event.
        DeviceError: the event of another device.
    """
    require_queue("enqueue_wait_for_event", cq).enqueue_wait_for_event(event)


def event_synchronize(event: MeshEvent) -> None:
    """Wait for an event: it has passed.

    Raises:
        DeviceError: its device is closed.
    """
    require_event("event_synchronize", event).queue.device._require_open("event_synchronize")


def event_query(event: MeshEvent) -> bool:
    """Return whether an event has passed: yes.

    Raises:
        DeviceError: its device is closed.
    """
    require_event("event_query", event).queue.device._require_open("event_query")
    return True


def require_queue(call: str, queue: CommandQueue) -> CommandQueue:
    if not isinstance(queue, CommandQueue):
        raise ArgumentError(f"{call}: expected a command queue, got {queue!r}")
    return queue


EnqueueRecordEvent = enqueue_record_event
EnqueueWaitForEvent = enqueue_wait_for_event
EventSynchronize = event_synchronize
EventQuery = event_query
EnqueueWriteBuffer = enqueue_write_buffer
EnqueueReadBuffer = enqueue_read_buffer
EnqueueProgram = enqueue_program
Finish = finish
Synchronize = synchronize
