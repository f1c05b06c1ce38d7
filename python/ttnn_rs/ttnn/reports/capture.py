"""A graph capture: an observer that writes a list of nodes.

Functions are nested: `capture_start`, the operators that the program calls, the device operations that these run, and
the functions that allocate tensors. A tensor or buffer has one node, however often it is used. Buffers that are
released are noticed at the next event, because Python objects end silently.

Source: tt-metal `ttnn/core/graph/graph_processor.cpp` (order and connections of the nodes).
"""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ttnn.base.observers import Observer
from ttnn.base.tensor_spec import TensorSpec
from ttnn.base.vendor_enum import VendorEnum
from ttnn.device.mesh_device import MeshDevice, open_devices
from ttnn.operation.observation import ProgramRan
from ttnn.operation.operands import tensors_in
from ttnn.profiler.describe import EngineCall
from ttnn.profiler.programs import NAME as PROGRAM
from ttnn.profiler.programs import circular_buffers as program_cbs
from ttnn.reports.buffers import BufferInfo, learn
from ttnn.reports.device_operations import circular_buffers, describe_call
from ttnn.reports.nodes import BufferFacts, Node, new_node, tensor_params
from ttnn.reports.texts import enum_text, memory_config_text, text_of
from ttnn.tensor.phantom import PhantomBuffer
from ttnn.tensor.tensor import Tensor


class RunMode(VendorEnum):
    """Execution of operators during a capture: real or not."""

    NORMAL = 0
    NO_DISPATCH = 1


@dataclass(frozen=True)
class _Created:
    """Observe a created tensor without keeping it.

    Its memory is freed as without a capture.
    """

    tensor_id: int
    spec: TensorSpec
    device: MeshDevice
    buffer: BufferFacts
    params: dict[str, str]
    """Parameters of its node."""


@dataclass
class _Call:
    """An operator that is running."""

    operation: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    shown: bool
    """True for calls with own nodes.

    Operators that the program itself calls, not written in Python.
    """
    waiting: list[_Created] = field(default_factory=list)
    """Tensors created while it ran, of its device operation."""
    calls: list[EngineCall] = field(default_factory=list)
    """Engine calls of the operator itself."""
    programs: list[Any] = field(default_factory=list)
    """Programs of the operator."""


class GraphCapture(Observer):
    """One capture. It gets the events of the thread that began it.

    Args:
        mode: Whether the operators run.
    """

    blocks: bool

    _programs: ClassVar[int] = 0

    def __init__(self, mode: RunMode) -> None:
        self.mode = mode
        self.blocks = mode is RunMode.NO_DISPATCH
        self.nodes: list[Node] = []
        self.devices: dict[int, MeshDevice] = {}
        self._thread = threading.get_ident()
        self._open = [0]
        self._calls: list[_Call] = []
        self._finished: int | None = None
        self._tensors: dict[int, int] = {}
        self._buffers: dict[int, int] = {}
        self._living: dict[int, BufferFacts] = {}
        self._phantoms: weakref.WeakValueDictionary[int, PhantomBuffer] = weakref.WeakValueDictionary()
        self._started: dict[int, int] = {0: time.perf_counter_ns()}
        self.buffers: dict[int, list[BufferInfo]] = {}
        self.started_ns = time.time_ns()
        self._cached = {device.id(): set(device._programs) for device in _open_devices()}
        self._add("capture_start", level=0)
        for device in _open_devices():
            for facts in device.engine.buffers():
                self._living[facts["unique_id"]] = BufferFacts.of_listed(facts, device.id())

    def end(self) -> list[Node]:
        """End the capture; return the nodes."""
        self._notice_released()
        if self.blocks:
            # Programs that were not dispatched are not cached.
            for device in _open_devices():
                device._programs.intersection_update(self._cached.get(device.id(), ()))
        end = self._add("capture_end", level=0)
        start = 0 if self._finished is None else self._finished
        self.nodes[start]["connections"].append(end)
        self.nodes[end]["duration_ns"] = time.perf_counter_ns() - self._started[0]
        return self.nodes

    # Events.

    def operation_start(self, operation: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """An operator is called."""
        if self._elsewhere():
            return
        self._notice_released()
        shown = not self._calls and bool(operation.is_cpp_operation)
        if shown:
            self._start_function(operation.__name__, len(args) + len(kwargs))
        self._calls.append(_Call(operation, args, kwargs, shown))

    def operation_end(self, result: Any) -> None:
        """The innermost operator returns."""
        if self._elsewhere() or not self._calls:
            return
        self._notice_released()
        call = self._calls.pop()
        self._device_operation(call, result)
        if call.shown:
            self._end_function(result)

    def operation_failed(self, error: BaseException) -> None:
        """Record the innermost operator's error on its functions' end nodes."""
        if self._elsewhere() or not self._calls:
            return
        call = self._calls.pop()
        if call.shown or call.calls:
            self._add_error(call, error)
        if call.shown:
            self._end_function(None, aborted=True)

    def function_start(self, name: str, arguments: tuple[Any, ...]) -> None:
        """A function of a tensor is called."""
        if self._elsewhere():
            return
        self._notice_released()
        counter = self._start_function(name, len(arguments))
        self.nodes[counter]["arguments"] = [text_of(argument) for argument in arguments]
        self._take(counter, arguments)

    def function_end(self, result: Any) -> None:
        """The innermost function returns."""
        if self._elsewhere():
            return
        self._notice_released()
        self._end_function(result)

    def function_failed(self, error: BaseException) -> None:
        """The innermost function raises."""
        if not self._elsewhere():
            self._end_function(None, aborted=True)

    def created(self, tensor: Tensor) -> None:
        """Observe a tensor's memory, at once or at program start.

        The latter is when the operator that is running has started its program.
        """
        if self._elsewhere():
            return
        self._notice_released(but=tensor)
        if self._calls and len(self._open) == self._depth():
            self._calls[-1].waiting.append(self._created(tensor))
        else:
            self._create(self._created(tensor))

    def noted(self, program: Any) -> None:
        """The innermost operator has decided on a program."""
        if not self._elsewhere() and self._calls:
            self._calls[-1].programs.append(program)

    def program_ran(self, ran: ProgramRan) -> None:
        """A program of `ttnn.metal` has run, or would have run."""
        if self._elsewhere():
            return
        self._notice_released()
        device = ran.device
        self.devices[device.id()] = device
        counter = self._start_function(PROGRAM, len(ran.tensors))
        self.nodes[counter]["params"]["device_id"] = str(device.id())
        self.nodes[counter]["arguments"] = [text_of(tensor) for tensor in ran.tensors]
        self._take(counter, ran.tensors)
        cbs = program_cbs(ran.layout)
        self._program(counter, device, circular_buffers(cbs, 0, device.chip, device.id(), blocked=self.blocks))
        self._end_function(ran.tensors[-1:])

    # Device operations.

    def _depth(self) -> int:
        """Return the open node count without inner functions.

        If no function runs inside of the innermost operator.
        """
        return 1 + sum(call.shown for call in self._calls)

    def step(self, function: str, settings: dict[str, Any]) -> None:
        """Observe an engine function, before it runs for the innermost operator."""
        if not self._elsewhere() and self._calls and len(self._open) == self._depth():
            self._calls[-1].calls.append((function, settings))

    def _device_operation(self, call: _Call, result: Any) -> None:
        """Add an operator's device operation, and its created tensors.

        It has asked the engine for something.
        """
        described = describe_call(call.operation, call.args, call.kwargs, result, call.calls, call.programs)
        if not described:
            for tensor in call.waiting:
                self._create(tensor)
        for operation in described:
            last = operation is described[-1]
            device = operation.device
            self.devices[device.id()] = device
            counter = self._start_function(operation.name, 2)
            self.nodes[counter]["params"]["device_id"] = str(device.id())
            self.nodes[counter]["arguments"] = operation.arguments
            self._take(counter, operation.taken)
            for tensor in call.waiting if last else ():
                self._create(tensor)
            self._program(counter, device, operation.circular_buffers(blocked=self.blocks))
            self._end_function(result if last else None)

    def _program(self, counter: int, device: MeshDevice, cbs: Iterable[dict[str, str]]) -> None:
        """Add the device operation's circular buffers, and its program's run.

        It began at `counter`.
        """
        released = self._add("circular_buffer_deallocate_all", {"device_id": str(device.id())})
        self.nodes[released]["connections"].append(counter)
        self._connect(released)
        for params in cbs:
            self._connect(self._add("circular_buffer_allocate", params))
        if not self.blocks:
            GraphCapture._programs += 1
            params = {
                "device_id": str(device.id()),
                "physical_device_id": str(device.id()),
                "sub_device_manager_id": "0",
                "sub_device_id": "0",
                "command_queue_id": "0",
                "runtime_id": str(GraphCapture._programs),
            }
            self._connect(self._add("program_execution", params))

    # Tensors and buffers.

    def _created(self, tensor: Tensor) -> _Created:
        device = tensor.device()
        assert device is not None
        facts = BufferFacts.of_tensor(tensor)
        if isinstance(tensor.buffer, PhantomBuffer):
            self._phantoms[facts.unique_id] = tensor.buffer
        learn(tensor)
        return _Created(tensor.tensor_id, tensor.spec, device, facts, tensor_params(tensor))

    def _create(self, tensor: _Created) -> None:
        """Add the function that allocates a tensor, with its buffer."""
        spec, device = tensor.spec, tensor.device
        self.devices[device.id()] = device
        counter = self._start_function("tt::tt_metal::create_device_tensor", 5)
        self.nodes[counter]["arguments"] = [
            str(spec.shape),
            enum_text(spec.dtype),
            enum_text(spec.layout),
            str(device),
            memory_config_text(spec.memory_config),
        ]
        self._allocated(tensor.buffer)
        self._end_function(tensor)

    def _allocated(self, facts: BufferFacts) -> None:
        self._living[facts.unique_id] = facts
        buffer = self._buffer_node(facts)
        event = self._add("buffer_allocate", facts.params(event=True))
        self.nodes[event]["connections"].append(buffer)
        self._connect(event)

    def _released(self, facts: BufferFacts) -> None:
        del self._living[facts.unique_id]
        buffer = self._buffer_node(facts)
        event = self._add("buffer_deallocate", facts.params(event=True))
        self.nodes[event]["connections"].append(buffer)
        self._connect(event)

    def _notice_released(self, but: Tensor | None = None) -> None:
        """Add events of newly allocated or freed buffers.

        Since the last event.

        Args:
            but: A tensor whose buffer has just been allocated, and gets nodes of its own.
        """
        own = None if but is None or but.buffer is None else but.buffer.unique_id
        own_waiting = {tensor.buffer.unique_id for call in self._calls for tensor in call.waiting}
        now: dict[int, BufferFacts] = {}
        for device in _open_devices():
            for listed in device.engine.buffers():
                now[listed["unique_id"]] = BufferFacts.of_listed(listed, device.id())
        for number, phantom in tuple(self._phantoms.items()):
            if phantom.is_allocated and number in self._living:
                now[number] = self._living[number]
        for number, facts in tuple(self._living.items()):
            if number not in now:
                self._released(facts)
        for number, facts in now.items():
            if number not in self._living and number != own and number not in own_waiting:
                self._allocated(facts)

    def _buffer_node(self, facts: BufferFacts) -> int:
        found = self._buffers.get(facts.unique_id)
        if found is None:
            found = self._buffers[facts.unique_id] = self._add("buffer", facts.params(event=False))
            self._connect(found)
        return found

    def _tensor_node(self, tensor: Tensor) -> int:
        facts = None
        if tensor.device() is not None and tensor.is_allocated():
            learn(tensor)
            facts = BufferFacts.of_tensor(tensor)
        return self._node_of(tensor.tensor_id, lambda: tensor_params(tensor), facts)

    def _node_of(self, tensor_id: int, params: Callable[[], Mapping[str, str]], facts: BufferFacts | None) -> int:
        found = self._tensors.get(tensor_id)
        if found is None:
            found = self._tensors[tensor_id] = self._add("tensor", params())
        if facts is not None:
            self._living[facts.unique_id] = facts
            connections = self.nodes[self._buffer_node(facts)]["connections"]
            if found not in connections:
                connections.append(found)
        return found

    def _take(self, counter: int, arguments: Any) -> None:
        """Connect the tensors among the arguments of a function with its start."""
        for tensor in tensors_in(arguments):
            found = self._tensor_node(tensor)
            self.nodes[found]["connections"].append(counter)
            self.nodes[counter]["input_tensors"].append(found)

    # Nodes.

    def _elsewhere(self) -> bool:
        return threading.get_ident() != self._thread

    def _add(self, kind: str, params: Mapping[str, str] | None = None, *, level: int | None = None) -> int:
        counter = len(self.nodes)
        self.nodes.append(new_node(counter, kind, len(self._open) - 1 if level is None else level, params))
        return counter

    def _connect(self, counter: int) -> None:
        """Connect the innermost open function with a node."""
        self.nodes[self._open[-1]]["connections"].append(counter)

    def _start_function(self, name: str, inputs: int) -> int:
        params = {"inputs": str(inputs), "name": name}
        counter = self._add("function_start", params, level=len(self._open))
        if self._finished is not None:
            self.nodes[self._finished]["connections"].append(counter)
            self._finished = None
        self._connect(counter)
        self._open.append(counter)
        self._started[counter] = time.perf_counter_ns()
        return counter

    def _end_function(self, result: Any, *, aborted: bool = False) -> None:
        start = self._open[-1]
        params = {"name": self.nodes[start]["params"]["name"]}
        if aborted:
            params["aborted"] = "true"
        counter = self._add("function_end", params, level=self.nodes[start]["stacking_level"])
        self.nodes[counter]["duration_ns"] = time.perf_counter_ns() - self._started.pop(start)
        self._connect(counter)
        self._finished = counter
        if isinstance(result, _Created):
            node = self._node_of(result.tensor_id, lambda: result.params, result.buffer)
            self.nodes[counter]["connections"].append(node)
        for tensor in tensors_in(result):
            self.nodes[counter]["connections"].append(self._tensor_node(tensor))
        self._open.pop()
        if len(self._open) == 1:
            self.buffers[start] = self.living()

    def living(self) -> list[BufferInfo]:
        """Return the existing buffers, by device, kind and address."""
        living = (
            BufferInfo(f.device_id, f.address, f.max_size_per_bank, f.buffer_type, f.layout)
            for f in self._living.values()
        )
        return sorted(living, key=lambda info: (info.device_id, info.buffer_type.value, info.address))

    def _add_error(self, call: _Call, error: BaseException) -> None:
        params = {
            "error_type": type(error).__name__,
            "error_message": str(error),
            "error_operation": call.operation.__name__,
        }
        self._connect(self._add("error", params))


def _open_devices() -> list[MeshDevice]:
    return [device for device in open_devices.values() if device.is_open]
