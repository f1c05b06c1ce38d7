"""Recording of device operations while a profiler is open.

The first call with given arguments is planned (`planner`), from its program if it has one. Later ones are recognised by
the key that repeated calls have, and cost a look-up.
"""

from __future__ import annotations

import enum
import sys
import threading
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, ClassVar, Final, NamedTuple

from ttnn import _engine
from ttnn.base.config import CONFIG
from ttnn.base.exceptions import TtnnError
from ttnn.base.labels import LABEL
from ttnn.base.memory_config import MemoryConfig
from ttnn.base.observers import OBSERVERS, Observer, Run
from ttnn.base.shape import Shape
from ttnn.base.tensor_spec import TensorSpec
from ttnn.device.device_info import DeviceInfo, cluster_descriptor, get_device_info, mesh_descriptor
from ttnn.device.mesh_device import MeshDevice, open_devices
from ttnn.device.traces import Traces
from ttnn.operation.observation import Operator, ProgramRan
from ttnn.operation.operands import device_of, inputs_and_outputs, tensors_in
from ttnn.profiler.missing import Missing
from ttnn.profiler.plan import Plan
from ttnn.profiler.planner import Planner
from ttnn.profiler.programs import plan_of
from ttnn.runtime.calls import Call, identify
from ttnn.runtime.programs import MISSED, Program
from ttnn.tensor.tensor import Tensor


@dataclass(slots=True)
class Record:
    """One device operation of a call.

    Attributes:
        plan: What it does, or why that is not known.
        operator: Full name of the operator that the caller called.
        device: The device's number.
        chips: Numbers of the chips that ran it; that of the device if it is one.
        started: Host time in nanoseconds at which the call began.
        trace: The trace that it was part of, None outside of traces.
        label: Name in a framework of what it is part of; empty outside of compiled programs.
    """

    plan: Plan | Missing
    operator: str
    device: int
    chips: tuple[int, ...]
    started: int
    trace: int | None = None
    label: str = ""


class SeenTensor(NamedTuple):
    """A tensor of a call, which may be gone by now.

    Attributes:
        number: That of its buffer; on the host, that of the tensor, negative.
        spec: What it is.
    """

    number: int
    spec: TensorSpec


@dataclass(slots=True)
class Known:
    """The device operations of a call with these arguments.

    Attributes:
        operator: Full name.
        device: Where.
        plans: Its device operations.
        arguments: Its arguments by name or place; tensors are `SeenTensor`s.
        inputs: The tensors that it reads.
        outputs: Those that it writes.
    """

    operator: str
    device: MeshDevice | None
    plans: tuple[Plan | Missing, ...]
    arguments: dict[str, Any]
    inputs: tuple[SeenTensor, ...]
    outputs: tuple[SeenTensor, ...]


class BufferChange(NamedTuple):
    """A buffer that was allocated or freed.

    Attributes:
        number: Its number.
        device: The engine's number of its device.
        allocated: Allocated, otherwise freed.
        buffer_type: Its region.
        address: Its address in its banks.
        bytes_per_bank: Bytes in the fullest bank.
    """

    number: int
    device: int
    allocated: bool
    buffer_type: int
    address: int
    bytes_per_bank: int


class SeenDevice(NamedTuple):
    """A possibly closed device: id, chip and report description."""

    id: int
    chip: Mapping[str, Any]
    info: DeviceInfo
    cluster: str
    mesh: str


class Failure(NamedTuple):
    """A failed call: error class, message, stack."""

    kind: str
    message: str
    stack: str


Place = tuple[CodeType, int] | None
"""A program's code and line, None for our commands.

They are the package's own.
"""


class Event(NamedTuple):
    """A call of the program.

    Attributes:
        known: What it runs. Its tensors are those of the first such call.
        started: Host time in nanoseconds at which it began.
        ended: When it returned.
        trace: The trace that it was part of, None outside of traces.
        inputs: Numbers of the tensors that it reads.
        outputs: Numbers of those that it writes.
        changes: Buffers that had been allocated and freed when it returned, since the profile began.
        place: The program's code and line that called.
        chips: Numbers of the chips that ran it.
        failure: How it failed, None if it returned.
        label: Name in a framework of what it is part of.
    """

    known: Known
    started: int
    ended: int
    trace: int | None
    inputs: Sequence[int]
    outputs: Sequence[int]
    changes: int
    place: Place
    chips: tuple[int, ...]
    failure: Failure | None = None
    label: str = ""


class _Thread(threading.local):
    """State of one thread.

    Attributes:
        planner: Plans the outermost operator that runs.
        passing: Whether what it runs is known, so that the calls inside of it pass.
    """

    def __init__(self) -> None:
        self.planner = Planner()
        self.passing = False


class Recorder(Observer):
    """Collects the device operations of all calls of this process.

    Attributes:
        epoch: Time of day, in nanoseconds since 1970, at which the clock of the host times was 0.
        devices: Devices that calls ran on, by the engine's number.
        before: The buffers of open devices when it began.
        changes: Buffers that were allocated and freed since, when it has stopped.
    """

    active: ClassVar[Recorder | None] = None
    in_full = False
    replays = True

    def __init__(self) -> None:
        self.epoch = time.time_ns() - time.perf_counter_ns()
        self._calls: list[tuple[Any, ...]] = []
        self._now = _Thread()
        self._known: dict[Any, Known] = {}
        self.devices: dict[int, SeenDevice] = {}
        self.before: list[BufferChange] = []
        self.changes: list[BufferChange] = []

    @property
    def events(self) -> Iterator[Event]:
        """The calls of the program in their order."""
        return (Event(*call) for call in self._calls)

    @property
    def count(self) -> int:
        """Return the number of calls of the program."""
        return len(self._calls)

    @property
    def records(self) -> list[Record]:
        """The device operations in the order of execution."""
        return [
            Record(
                plan,
                event.known.operator,
                _number_of(event.known.device),
                event.chips,
                event.started,
                event.trace,
                event.label,
            )
            for event in self.events
            for plan in event.known.plans
        ]

    def start(self) -> None:
        """Begin to record."""
        _engine.take_buffer_changes()
        _engine.keep_buffer_changes(True)
        for device in tuple(open_devices.values()):
            self._see(device)
            self.before += [
                BufferChange(
                    b["unique_id"], device.engine.number, True, b["buffer_type"], b["address"], b["bytes_per_bank"]
                )
                for b in device.engine.buffers()
            ]
        Recorder.active = self
        OBSERVERS.append(self)

    def stop(self) -> None:
        """End it."""
        _engine.keep_buffer_changes(False)
        self.changes = [BufferChange(*change) for change in _engine.take_buffer_changes()]
        Recorder.active = None
        OBSERVERS.remove(self)

    def _see(self, device: MeshDevice | None) -> None:
        """Keep a device's report description.

        It may be closed when reports are written.
        """
        if device is not None and device.is_open and device.engine.number not in self.devices:
            self.devices[device.engine.number] = SeenDevice(
                device.id(),
                device.chip,
                get_device_info(device),
                cluster_descriptor([device]),
                mesh_descriptor([device]),
            )

    def operation_start(self, operation: Operator, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """An operator is called whose device operations are not known."""
        self._now.planner.operation_start(operation, args, kwargs)

    def operation_end(self, result: Any) -> None:
        """Plan it."""
        self._now.planner.operation_end(result)

    def operation_failed(self, error: BaseException) -> None:
        """It raises."""
        self._now.planner.operation_failed(error)

    def step(self, function: str, settings: dict[str, Any]) -> None:
        """Keep a step of the operator that runs now."""
        self._now.planner.step(function, settings)

    def noted(self, program: Any) -> None:
        """Keep what the operator that runs now has decided on."""
        self._now.planner.noted(program)

    def launched(self, program: Program, call: Call) -> None:
        """Plan the running operator's program, unless its device operations are known."""
        if not self._now.planner.is_idle:
            self._now.planner.launched(program, call)

    def program_ran(self, ran: ProgramRan) -> None:
        """Record a `ttnn.metal` program, within any running operator."""
        if ran.report is None:
            return
        plan = plan_of(ran)
        if not self._now.planner.is_idle:
            self._now.planner.plans.append(plan)
            return
        self._see(ran.device)
        seen = tuple(map(_seen, ran.tensors))
        read, written = seen[:-1], seen[-1:]
        known = Known(ran.operator, ran.device, (plan,), {"kernels": dict(plan.attributes)["kernels"]}, read, written)
        inputs, outputs = (tuple(tensor.number for tensor in tensors) for tensors in (read, written))
        self._record(known, ran.started, inputs, outputs, _chips_of(ran.device, ran.tensors[-1:]))

    def call(self, operation: Operator, args: tuple[Any, ...], kwargs: dict[str, Any], run: Run) -> Any:
        """Run an operator and record its device operations."""
        thread = self._now
        if thread.passing or Traces.capturing:
            # What a call with these arguments runs is known, or it runs when the trace is replayed.
            return run(operation, args, kwargs)
        if not thread.planner.is_idle:
            return super().call(operation, args, kwargs, run)
        started = time.perf_counter_ns()
        name = operation.__name__
        call = identify(name, args, kwargs)
        entry = operation.entry
        timed = entry is not None and entry.timed_by
        key = None if call is None else _timed(call.key, operation, args, kwargs) if timed else call.key
        known = None if key is None else self._known.get(key)
        if call is None or known is None or known.device is not call.device:
            return self._first(operation, args, kwargs, run, key, started)
        numbers = [operand.unique_id for operand in call.operands]
        program = call.device._resolved.get(call.key)
        plain = CONFIG.enable_fast_runtime_mode and not CONFIG.enable_comparison_mode
        if type(program) is Program and plain and not CONFIG.enable_logging and len(OBSERVERS) == 1:
            # The shortest way, as that of a call without observers.
            output = program.launch(name, call, observed=False)
            if output is not MISSED:
                outputs = known.outputs
                if len(outputs) == 1 and type(output) is Tensor and output.spec is outputs[0].spec:
                    chips = _chips_of(call.device, (output,))
                    self._record(known, started, numbers, (output.buffers[0].unique_id,), chips)
                else:
                    self._repeated(known, args, kwargs, output, started, numbers)
                return output
        thread.planner, thread.passing = Planner(), True
        try:
            result = run(operation, args, kwargs)
        except BaseException as error:
            self._failed(operation, args, kwargs, started, error)
            raise
        finally:
            thread.passing = False
        self._repeated(known, args, kwargs, result, started, numbers)
        return result

    def _record(
        self, known: Known, started: int, read: Sequence[int], written: Sequence[int], chips: tuple[int, ...]
    ) -> None:
        now, changes = time.perf_counter_ns(), _engine.buffer_changes()
        place, trace = _place(), Traces.replaying
        self._calls.append((known, started, now, trace, read, written, changes, place, chips, None, LABEL.text))

    def _repeated(
        self,
        known: Known,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        result: Any,
        started: int,
        read: Sequence[int],
    ) -> None:
        """Record a call that is like an earlier one."""
        if type(result) is Tensor and len(known.outputs) == 1 and result.spec == known.outputs[0].spec:
            buffer = result.buffer
            number = -result.tensor_id if buffer is None else buffer.unique_id
            self._record(known, started, read, (number,), _chips_of(known.device, (result,)))
            return
        inputs, outputs = inputs_and_outputs(args, kwargs, result)
        seen, made = tuple(map(_seen, inputs)), tuple(map(_seen, outputs))
        if [tensor.spec for tensor in made] != [tensor.spec for tensor in known.outputs]:
            # What comes out depends on values.
            known = replace(known, inputs=seen, outputs=made)
        chips = _chips_of(known.device, outputs or inputs)
        self._record(known, started, [t.number for t in seen], [t.number for t in made], chips)

    def _first(
        self,
        operation: Operator,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        run: Run,
        key: Any,
        started: int,
    ) -> Any:
        """Run an operator, and plan what it does."""
        planner = self._now.planner = Planner()
        try:
            result = super().call(operation, args, kwargs, run)
        except BaseException as error:
            self._failed(operation, args, kwargs, started, error)
            raise
        inputs, outputs = inputs_and_outputs(args, kwargs, result)
        read, written = tuple(map(_seen, inputs)), tuple(map(_seen, outputs))
        device = device_of(args, kwargs, result)
        self._see(device)
        arguments = _lasting_arguments(args, kwargs)
        known = Known(operation.__name__, device, tuple(planner.plans), arguments, read, written)
        if key is not None:
            self._known[key] = known
        chips = _chips_of(device, outputs or inputs)
        self._record(known, started, [tensor.number for tensor in read], [tensor.number for tensor in written], chips)
        return result

    def _failed(
        self, operation: Operator, args: tuple[Any, ...], kwargs: dict[str, Any], started: int, error: BaseException
    ) -> None:
        """Record a call that raised. What it had run by then counts."""
        tensors = list(tensors_in((args, kwargs)))
        read, device = tuple(map(_seen, tensors)), device_of(args, kwargs, None)
        arguments = _lasting_arguments(args, kwargs)
        known = Known(operation.__name__, device, tuple(self._now.planner.plans), arguments, read, ())
        failure = Failure(type(error).__name__, str(error), "".join(traceback.format_exception(error)))
        numbers = tuple(tensor.number for tensor in read)
        now = time.perf_counter_ns()
        changes = _engine.buffer_changes()
        chips = _chips_of(device, tensors)
        self._calls.append((known, started, now, Traces.replaying, numbers, (), changes, _place(), chips, failure))


_PACKAGE: Final = str(Path(__file__).parent.parent)


def _place() -> Place:
    """Return the program's innermost frame outside this package."""
    frame: FrameType | None = sys._getframe(3)
    while frame is not None:
        code = frame.f_code
        if not code.co_filename.startswith(_PACKAGE):
            return code, frame.f_lineno
        frame = frame.f_back
    return None


def _timed(
    key: tuple[Any, ...], operation: Operator, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, ...] | None:
    """Return a call's key with time-relevant elements.

    None if they cannot be read: the operator refuses the call.
    """
    assert operation.entry is not None
    (signature,) = operation.entry.signatures
    given = dict(zip((param.name for param in signature.positional), args, strict=False)) | kwargs
    tensors = (given.get(name) for name in operation.entry.timed_by)
    try:
        return (*key, *(tensor.to_numpy().tobytes() for tensor in tensors if type(tensor) is Tensor))
    except TtnnError:
        return None


def _number_of(device: MeshDevice | None) -> int:
    return 0 if device is None else device.id()


def _chips_of(device: MeshDevice | None, tensors: Sequence[Tensor]) -> tuple[int, ...]:
    """Return the numbers of the chips that have some tensors."""
    if device is None or not device._several:
        return (_number_of(device),)
    places = {place for tensor in tensors if tensor.buffers for place in tensor.buffers[0].places}
    return tuple(chip.id for chip in device.chips if chip.place in places or not places)


def _seen(tensor: Tensor) -> SeenTensor:
    buffer = tensor.buffer
    return SeenTensor(-tensor.tensor_id if buffer is None else buffer.unique_id, tensor.spec)


_LASTING: Final = (str, bool, int, float, type(None), enum.Enum, MemoryConfig, TensorSpec, Shape)


def _lasting_arguments(args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    named = {**{str(index): value for index, value in enumerate(args)}, **kwargs}
    return {name: _lasting(value) for name, value in named.items()}


def _lasting(value: Any) -> Any:
    """Return an argument without its memory.

    A profile keeps no tensor alive.
    """
    if isinstance(value, _LASTING):
        return value
    if isinstance(value, Tensor):
        return _seen(value)
    if isinstance(value, MeshDevice):
        return str(value)
    if isinstance(value, list | tuple):
        return [_lasting(part) for part in value]
    if isinstance(value, Mapping):
        return {key: _lasting(part) for key, part in value.items()}
    shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
    if shape is not None and dtype is not None:
        return f"{type(value).__module__.partition('.')[0]}.{type(value).__name__}(shape={list(shape)}, dtype={dtype})"
    return str(value)
