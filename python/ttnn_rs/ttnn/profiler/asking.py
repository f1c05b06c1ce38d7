"""Questions about a call: its error, or its results, memory and plans.

The operator's own Python decides, on a twin of the device: a mesh of equal chips whose allocator counts buffers, and on
which no step runs and nothing is transferred. The caller's device is neither read nor written.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np

from ttnn.base.enums import BufferType, DataType, Layout
from ttnn.base.exceptions import ArgumentError, DeviceError, TtnnError, UnsupportedError
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, MemoryConfig
from ttnn.base.observers import Run, making_program
from ttnn.base.tensor_spec import TensorSpec
from ttnn.device.mesh_device import MeshDevice
from ttnn.operation.operands import device_of, inputs_and_outputs, tensors_in
from ttnn.profiler.describe import EngineCall, describe
from ttnn.profiler.missing import Missing
from ttnn.profiler.plan import Plan
from ttnn.profiler.planner import Planner
from ttnn.runtime.events import exchanged
from ttnn.tensor import transfer
from ttnn.tensor.host_buffer import Raw
from ttnn.tensor.storage import TensorStorage
from ttnn.tensor.tensor import Tensor

_DRAM: Final = (BufferType.DRAM, BufferType.TRACE)
_WITHOUT_TENSORS: Final = "FullDeviceOperation"
"""A device operation that no capture connects with its operands."""


@dataclass(frozen=True)
class AllocationRecord:
    """A buffer that exists while a call runs.

    Attributes:
        buffer_type: Its region.
        address: Its address, the same in all banks.
        size_per_bank: Bytes in the fullest bank.
        operand: Number of the device tensor among the call's arguments that it holds, from 0; None for another one's.
    """

    buffer_type: BufferType
    address: int
    size_per_bank: int
    operand: int | None = None


class Asked(NamedTuple):
    """Facts about a call that has not run.

    Attributes:
        error: Why it is refused, None if it is not.
        plans: Its device operations.
        peaks: Most bytes of a core: of circular buffers, of L1 buffers, of both together.
        outputs: Specifications of its results.
        l1_output: Bytes of a core that its results have in L1.
        records: The buffers of its results.
    """

    error: str | None
    plans: tuple[Plan | Missing, ...] = ()
    peaks: tuple[int, int, int] = (0, 0, 0)
    outputs: tuple[TensorSpec, ...] = ()
    l1_output: int = 0
    records: tuple[AllocationRecord, ...] = ()


@dataclass(slots=True)
class _Running:
    """An operator that is running.

    Attributes:
        shown: Whether a capture shows it as a function.
        waiting: Created buffers that its device operation has not taken yet: number, bytes of a core.
        calls: Its steps outside of functions of tensors.
    """

    shown: bool
    waiting: list[tuple[int, int]] = field(default_factory=list)
    calls: list[EngineCall] = field(default_factory=list)


class Asking(Planner):
    """Plans a call, and counts the L1 of its captured graph.

    Buffers and circular buffers count at the events at which `reports.capture` writes their nodes.

    Attributes:
        peaks: Most bytes of a core so far: of circular buffers, of L1 buffers, of both together.

    Args:
        device: The twin.
        pages: Pages of tensors that are read, by the number of their buffers; others are zeros.
    """

    makes_program: ClassVar[bool] = True
    allocates: ClassVar[bool] = True
    blocks = True

    def __init__(self, device: MeshDevice, pages: dict[int, Raw]) -> None:
        super().__init__()
        self._engine = device.engine
        columns, rows = device.chip["grid"]
        self._cores = columns * rows
        self._functions = 0
        self._open: list[_Running] = []
        self._living = {listed["unique_id"]: self._of_listed(listed) for listed in self._engine.buffers()}
        self._circular = self._buffers = 0
        self.peaks = (0, 0, 0)
        self._pages = pages

    def elements(self, buffer: Any) -> Any:
        """Return the pages of a tensor whose elements are known."""
        return self._pages.get(buffer.unique_id)

    def call(self, operation: Any, args: tuple[Any, ...], kwargs: dict[str, Any], run: Run) -> Any:
        """Run an operator without hooks, comparison and traces."""

        def plainly(operation: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            return operation.function(*args, **kwargs)

        return super().call(operation, args, kwargs, plainly)

    def operation_start(self, operation: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """An operator is called."""
        self._notice()
        self._open.append(_Running(not self._open and bool(operation.is_cpp_operation)))
        super().operation_start(operation, args, kwargs)

    def operation_end(self, result: Any) -> None:
        """Plan the innermost operator, and count its program."""
        self._notice()
        call, running = self._running[-1], self._open.pop()
        super().operation_end(result)
        self._count(call, running, result)
        if running.shown:
            self._take(result)

    def operation_failed(self, error: BaseException) -> None:
        """The innermost operator raises."""
        self._open.pop()
        super().operation_failed(error)

    def function_start(self, name: str, arguments: tuple[Any, ...]) -> None:
        """A function of a tensor is called."""
        self._notice()
        self._functions += 1
        self._take(arguments)

    def function_end(self, result: Any) -> None:
        """The innermost function returns."""
        self._notice()
        self._functions -= 1
        self._take(result)

    def function_failed(self, error: BaseException) -> None:
        """The innermost function raises."""
        self._functions -= 1

    def step(self, function: str, settings: dict[str, Any]) -> None:
        """Keep a step of the innermost operator."""
        super().step(function, settings)
        if self._open and not self._functions:
            self._open[-1].calls.append((function, settings))

    def created(self, tensor: Any) -> None:
        """Observe a tensor's memory, at once or with the device operation."""
        number, size = tensor.buffer.unique_id, self.bytes_of_core(tensor)
        self._notice(but=number)
        if self._open and not self._functions:
            self._open[-1].waiting.append((number, size))
        else:
            self._allocated(number, size)

    def bytes_of_core(self, tensor: TensorStorage) -> int:
        """Return the bytes of L1 that a tensor takes of one core."""
        buffer, config = tensor.buffer, tensor.spec.memory_config
        assert buffer is not None
        shards = config.shard_spec or config.nd_shard_spec
        cores = 0 if shards is None else shards.grid.num_cores()
        return self._size(config.buffer_type, buffer.size, buffer.page_bytes, cores)

    def _of_listed(self, listed: dict[str, int]) -> int:
        return self._size(BufferType(listed["buffer_type"]), listed["size"], listed["page_bytes"], 0)

    def _size(self, buffer_type: BufferType, size: int, page: int, cores: int) -> int:
        if buffer_type in _DRAM or not page:
            return 0
        return math.ceil(math.ceil(size / page) / (cores or self._cores)) * page

    def _notice(self, but: int | None = None) -> None:
        """Count buffers that came and went since the last event.

        Args:
            but: A buffer that is counted by the caller.
        """
        now = {listed["unique_id"]: listed for listed in self._engine.buffers()}
        if now.keys() == self._living.keys():
            return
        for number in [number for number in self._living if number not in now]:
            self._buffers -= self._living.pop(number)
        waiting = {number for running in self._open for number, _ in running.waiting}
        for number, listed in now.items():
            if number not in self._living and number != but and number not in waiting:
                self._allocated(number, self._of_listed(listed))

    def _allocated(self, number: int, size: int) -> None:
        self._living[number] = size
        self._buffers += size
        self._peak()

    def _peak(self) -> None:
        now = (self._circular, self._buffers, self._circular + self._buffers)
        circular, buffers, both = map(max, zip(self.peaks, now, strict=True))
        self.peaks = (circular, buffers, both)

    def _take(self, tensors: Any) -> None:
        """Know the shards of the tensors that a function takes or returns."""
        for tensor in tensors_in(tensors):
            if tensor.device() is not None and tensor.buffer is not None and tensor.is_allocated():
                self._living[tensor.buffer.unique_id] = self.bytes_of_core(tensor)

    def _count(self, call: Any, running: _Running, result: Any) -> None:
        """Count the circular buffers of an operator's device operations."""
        device = device_of(call.args, call.kwargs, result)
        found: Sequence[Plan | Missing] = ()
        if running.calls and device is not None:
            inputs, outputs = inputs_and_outputs(call.args, call.kwargs, result)
            found = self.last
            if len(running.calls) != len(call.calls):
                found = describe(call.operator, running.calls, call.programs, inputs, outputs, device)
        for index, plan in enumerate(found):
            first, last = index == 0, index == len(found) - 1
            if first and plan.name != _WITHOUT_TENSORS:
                self._take(inputs)
            if last:
                for number, size in running.waiting:
                    self._allocated(number, size)
            self._circular = 0
            for cb in plan.cbs if isinstance(plan, Plan) else ():
                self._circular += 0 if cb.borrowed else cb.bytes
            self._peak()
            if last:
                self._take(result)
        if not found:
            for number, size in running.waiting:
                self._allocated(number, size)


def ask(
    operation: Callable[..., Any],
    device: MeshDevice,
    args: Sequence[Any],
    kwargs: dict[str, Any],
    initial_state: Sequence[AllocationRecord] = (),
) -> Asked:
    """Return what a call would do. Nothing runs.

    Args:
        operation: An operator, or a function that calls operators.
        device: The device that it is asked for.
        args: Its arguments; a specification stands for a device tensor.
        kwargs: Its arguments by name.
        initial_state: Buffers that exist; operands that are not among them are allocated afterwards.

    Raises:
        ArgumentError: a tensor or a device is another one's, or the records cannot exist together.
        DeviceError: the device is closed.
        UnsupportedError: the device is divided into sub-devices.
    """
    if not device.is_open:
        raise DeviceError("query_op_constraints: the device is closed")
    if device._sub_devices._active is not None:
        raise UnsupportedError(
            "query_op_constraints: the device is divided into sub-devices; clear the sub-device manager first",
            "unimplemented",
        )
    twin, known = device.twin(), _with_elements(operation, args, kwargs)
    with twin._running:
        try:
            return _ask(operation, device, twin, args, kwargs, initial_state, known)
        finally:
            if twin.engine.buffers():
                # Something holds tensors of the question: a next one gets an empty twin.
                twin._release()


def _ask(
    operation: Callable[..., Any],
    device: MeshDevice,
    twin: MeshDevice,
    args: Sequence[Any],
    kwargs: dict[str, Any],
    initial_state: Sequence[AllocationRecord],
    known: Collection[int],
) -> Asked:
    # Everything that is held here goes before the twin is looked at again.
    held: list[Any] = []
    try:
        placed = _place(twin, initial_state, list(_specs_in((args, dict(kwargs)), device, known)), held)
        pages: dict[int, Raw] = {}
        of = _on_twin(device, twin, placed, known, pages)
        args, kwargs = exchanged((tuple(args), dict(kwargs)), of)
    except ArgumentError:
        raise
    except TtnnError as error:
        return Asked(str(error))
    asking = Asking(twin, pages)
    try:
        with making_program(asking):
            result = operation(*args, **kwargs)
    except TtnnError as error:
        # The frames of the error hold tensors.
        return Asked(str(error))
    results = [tensor for tensor in tensors_in(result) if tensor.buffer is not None and tensor.is_allocated()]
    return Asked(
        None,
        tuple(asking.plans),
        asking.peaks,
        tuple(tensor.spec for tensor in tensors_in(result)),
        sum(map(asking.bytes_of_core, results)),
        tuple(map(_record_of, results)),
    )


def _record_of(tensor: Tensor) -> AllocationRecord:
    (buffer,) = tensor.buffers
    return AllocationRecord(BufferType(buffer.buffer_type), buffer.address, buffer.bytes_per_bank)


def _with_elements(operation: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> set[int]:
    """Return the identities of the host tensors whose elements decide the time.

    Raises:
        UnsupportedError: such a tensor has no elements to be read.
    """
    entry = getattr(operation, "entry", None)
    if entry is None or not entry.timed_by:
        return set()
    given = dict(zip((param.name for param in entry.signatures[0].positional), args, strict=False)) | kwargs
    found = set()
    for name in entry.timed_by:
        value = given.get(name)
        if type(value) is TensorSpec or (isinstance(value, Tensor) and value.buffer is not None):
            raise UnsupportedError(
                f"query_op_constraints: the elements of {name} decide what {operation.__name__} does, and a question "
                "does not read the device; pass a host tensor with them",
                "unsupported",
            )
        found |= {id(value)} if isinstance(value, Tensor) else set()
    return found


def _specs_in(value: Any, device: MeshDevice, known: Collection[int]) -> Iterator[TensorSpec]:
    """Yield the specifications of the device tensors among arguments, each tensor once."""
    seen: set[int] = set()
    found: list[Any] = []
    exchanged(value, found.append)
    for part in found:
        if type(part) is TensorSpec:
            yield part
        elif id(part) in known:
            yield part.spec
        elif isinstance(part, Tensor) and part.buffer is not None:
            if part._device is not device:
                raise ArgumentError("query_op_constraints: a tensor is on another device than the one asked for")
            if part.buffer.unique_id not in seen:
                seen.add(part.buffer.unique_id)
                yield part.spec


def _on_twin(
    device: MeshDevice, twin: MeshDevice, placed: Iterable[Tensor], elements: Collection[int], pages: dict[int, Raw]
) -> Callable[[Any], Any]:
    """Return the function from arguments to those on the twin, in order.

    Args:
        device: The device that is asked for.
        twin: Its twin.
        placed: The operands on the twin.
        elements: Identities of the host tensors that become operands with elements.
        pages: Gets those, by the number of their buffers.
    """
    following = iter(placed)
    known: dict[int, Tensor] = {}

    def of(value: Any) -> Any:
        if type(value) is TensorSpec:
            return next(following)
        if id(value) in elements:
            tensor = next(following)
            pages[tensor.buffers[0].unique_id] = value._require_host("query_op_constraints")
            return tensor
        if isinstance(value, MeshDevice):
            if value is not device:
                raise ArgumentError("query_op_constraints: an argument is another device than the one asked for")
            return twin
        if not isinstance(value, Tensor) or value.buffer is None:
            return value
        number = value.buffer.unique_id
        if number in known:
            return known[number]._view(value.spec)
        known[number] = tensor = next(following)
        if hasattr(value, "_topology"):
            tensor._topology = value._topology
        return tensor

    return of


def _place(
    twin: MeshDevice, records: Sequence[AllocationRecord], specs: Sequence[TensorSpec], held: list[Any]
) -> list[Tensor]:
    """Return the operands, allocated after the buffers of the initial state.

    Buffers grow from one end of a bank: those that lie before the next one in that order are filled up, and the
    fillings freed at the end.
    """
    operands: dict[int, Tensor] = {}
    fillings: list[Any] = []
    for region in dict.fromkeys(record.buffer_type for record in records):
        down = region not in _DRAM
        view = twin.engine.memory_view(region.value)
        start, banks = view["base_address"], view["num_banks"]
        end = start + view["total_bytes_per_bank"]
        for record in sorted(
            (record for record in records if record.buffer_type is region),
            key=lambda record: record.address,
            reverse=down,
        ):
            gap = end - record.address - record.size_per_bank if down else record.address - start
            if gap < 0:
                raise ArgumentError(f"query_op_constraints: {record} overlaps another one, or is outside of L1")
            if gap:
                fillings.append(twin.engine.allocate_interleaved(region.value, gap, banks, 1))
            if record.operand is None:
                held.append(buffer := twin.engine.allocate_interleaved(region.value, record.size_per_bank, banks, 1))
            else:
                if not 0 <= record.operand < len(specs):
                    raise ArgumentError(
                        f"query_op_constraints: {record} is operand {record.operand}; the call has {len(specs)}"
                    )
                operands[record.operand] = tensor = _tensor(twin, specs[record.operand])
                (buffer,) = tensor.buffers
            if (buffer.address, buffer.bytes_per_bank) != (record.address, record.size_per_bank):
                raise ArgumentError(
                    f"query_op_constraints: {record} cannot be allocated; got {buffer.bytes_per_bank} B at "
                    f"{buffer.address}, expected an aligned address and the bytes of the operand"
                )
            start, end = buffer.address + buffer.bytes_per_bank, buffer.address
    for buffer in fillings:
        buffer.deallocate()
    return [operands[index] if index in operands else _tensor(twin, spec) for index, spec in enumerate(specs)]


def _tensor(twin: MeshDevice, spec: TensorSpec) -> Tensor:
    return Tensor._on_device(spec, twin, *transfer.allocate(spec, twin))


class Walk:
    """Calls on a twin, one after the other.

    Tensors live as long as they are used.

    Attributes:
        twin: The twin.
    """

    def __init__(self, twin: MeshDevice) -> None:
        self.twin = twin
        self._pages: dict[int, Raw] = {}

    def tensor(
        self, shape: Sequence[int], dtype: DataType, layout: Layout, memory_config: MemoryConfig | None
    ) -> Tensor:
        """Return a tensor on the twin.

        Without a memory configuration, zeros on the host.
        """
        spec = TensorSpec.of(tuple(shape), dtype, layout, memory_config or DRAM_MEMORY_CONFIG)
        if memory_config is None:
            return Tensor._on_host(spec, np.zeros(spec.raw_bytes, np.uint8))
        return _tensor(self.twin, spec)

    def call(
        self, operation: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]
    ) -> tuple[Any, list[Plan | Missing]]:
        """Return the result of a call, and its device operations."""
        asking = Asking(self.twin, self._pages)
        with making_program(asking):
            result = operation(*args, **kwargs)
        return result, asking.plans


@contextmanager
def on_twin(device: MeshDevice) -> Iterator[Walk]:
    """Open the twin of a device for several calls."""
    twin = device.twin()
    with twin._running:
        try:
            yield Walk(twin)
        finally:
            if twin.engine.buffers():
                # An error holds tensors.
                twin._release()
