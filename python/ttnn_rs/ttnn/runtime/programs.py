"""Programs of operators: resolved once, launched at every call.

Resolving a call runs the Python of its operator on slots: tensors with specifications and without memory. Requests to
the engine become the steps of a program (`ttnn._engine.Program`), allocations become further slots. `Program.launch`
runs these steps on the buffers of a call. Observers read what happens inside of it from its events.

A call that depends on elements or on the state of the device has no program: it runs step by step each time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Final

from ttnn import _engine
from ttnn._engine import Buffer, Unresolved
from ttnn.base.exceptions import DeviceError, MemoryConfigError, OutOfMemoryError
from ttnn.base.observers import OBSERVERS, Observer, making_program, observing
from ttnn.runtime.calls import COMPOSITES, Call
from ttnn.runtime.events import Event, Recording, SlotTensor, exchanged, slot_tensor, tell
from ttnn.tensor.tensor import LIMIT, Tensor

_CAPACITY: Final = 4096
"""Programs that a device keeps."""

MISSED: Final = object()
"""Returned in place of a result when a program cannot be launched."""

_NEW, _OPERAND, _VIEW, _AGAIN, _NONE = range(5)

Part = tuple[int, int, Any, Any]
"""A part of a result: kind, number, specification, topology.

What it is (a new buffer, an operand, a view of an operand or of an earlier part, None), the number of that, its
specification, and how it lies on a mesh, None for the usual way.
"""
Build = Callable[[Iterator[Any]], Any]
"""Makes a result of its parts."""


class _NoRoom(Exception):
    """L1 holds other buffers than a program is made for."""


class Program:
    """The program of a call.

    Its slots are the operands, then what it allocates.

    Attributes:
        events: What happens inside of it, for observers.
    """

    __slots__ = ("_build", "_only", "_operands", "_parts", "_run", "events")

    def __init__(
        self,
        run: _engine.Program,
        operands: Sequence[SlotTensor],
        parts: Sequence[Part],
        build: Build | None,
        events: Sequence[Event],
    ) -> None:
        self._run, self._operands, self._parts, self._build, self.events = run, operands, parts, build, events
        # Of a program with one new tensor, its specification.
        self._only = parts[0][2].spec if build is None and parts[0][0] == _NEW and parts[0][3] is None else None

    @property
    def steps(self) -> list[tuple[str, list[int], dict[str, Any] | None]]:
        """Return the functions of the engine that it runs: names, slots, settings."""
        return self._run.steps

    def launch(self, name: str, call: Call, *, observed: bool = True) -> Any:
        """Run the program on a call's operands; return its result.

        `MISSED` if that cannot be: an operand has no memory or is on another device, or L1 holds other buffers than
        the program is made for.

        Args:
            name: The operator, for errors.
            call: The call.
            observed: Tell the observers.

        Raises:
            OutOfMemoryError: there is no room for the result.
        """
        if OBSERVERS and observed:
            return self._observed(name, call)
        try:
            made = self._run(*call.operands)
        except (MemoryConfigError, OutOfMemoryError) as error:
            error.say_who(name)
            raise
        if made is None:
            return MISSED
        if self._only is not None:
            return Tensor._make(self._only, None, made, call.device)
        return self._result(call, made)

    def _result(
        self, call: Call, made: Sequence[Buffer], tensor_of: Callable[[SlotTensor], Tensor] | None = None
    ) -> Any:
        """Return the result for the operands of a call.

        Args:
            call: The call.
            made: The buffers of the result that the program has allocated.
            tensor_of: Returns the tensors of the result, if observers know them already.
        """
        results: list[Any] = []
        for kind, number, tensor, topology in self._parts:
            if tensor is not None and tensor_of is not None:
                results.append(tensor_of(tensor))
            elif kind == _NEW:
                results.append(Tensor._make(tensor.spec, None, (made[number],), call.device))
            elif kind == _OPERAND:
                results.append(call.tensors[number])
            elif kind == _VIEW:
                results.append(call.tensors[number]._view(tensor.spec))
            else:
                results.append(None if kind == _NONE else results[number]._view(tensor.spec))
            if topology is not None:
                results[-1]._topology = topology
        return results[0] if self._build is None else self._build(iter(results))

    def _observed(self, name: str, call: Call) -> Any:
        """Run the program, and tell the observers."""
        observers = observing()
        inside = [observer for observer in observers if observer.in_full]
        result = self._walk(name, call, inside) if inside else self.launch(name, call, observed=False)
        if result is not MISSED:
            for observer in observers:
                if not observer.in_full:
                    observer.launched(self, call)
        return result

    def _walk(self, name: str, call: Call, observers: Sequence[Observer]) -> Any:
        """Run the program event by event, observed with its tensors.

        Observers are told what happens with them.
        """
        walk = self._run.walk(*call.operands)
        if walk is None:
            return MISSED
        tensors = self._tensors(call, lambda slot: (walk.buffer(slot),))

        def advance(position: int) -> None:
            if not walk.advance(position):
                raise _NoRoom

        try:
            tell(self.events, observers, tensors, advance)
            advance(len(self._run))
        except _NoRoom:
            return MISSED
        except (MemoryConfigError, OutOfMemoryError) as error:
            error.say_who(name)
            raise
        return self._result(call, (), tensors)

    def tell(self, observer: Observer, call: Call) -> None:
        """Report a call's inner events to an observer.

        Tensors that the program allocates have no memory.
        """
        tell(self.events, [observer], self._tensors(call, lambda slot: ()))

    def _tensors(self, call: Call, buffers: Callable[[int], tuple[Buffer, ...]]) -> Callable[[SlotTensor], Tensor]:
        """Return the function of a call's slot tensors.

        There is one for each number.

        Args:
            call: The call.
            buffers: Returns the buffers of a slot that the program allocates.
        """
        known = {operand.number: tensor for operand, tensor in zip(self._operands, call.tensors, strict=True)}
        first = {operand.slot: tensor for operand, tensor in zip(self._operands, call.tensors, strict=True)}

        def tensor_of(tensor: SlotTensor) -> Tensor:
            number, slot, spec = tensor
            found = known.get(number)
            if found is None:
                if slot in first:
                    found = first[slot]._view(spec)
                else:
                    found = first[slot] = Tensor._make(spec, None, buffers(slot), call.device)
                known[number] = found
            return found

        return tensor_of


def resolve_and_launch(name: str, call: Call | None, run: Callable[[Sequence[Any]], Any], values: Sequence[Any]) -> Any:
    """Resolve a call and launch its program, or run it.

    The device keeps the program; without one the call runs as it is.

    Args:
        name: The operator, for errors.
        call: The call, None if it has no key.
        run: What the operator does with bound arguments.
        values: Those.
    """
    if call is None:
        found: list[Any] = []
        _structure(values, found)
        return _on_common_chips(name, [part for part in found if type(part) is Tensor], partial(run, values))
    if call.device._several:
        _require_one_mesh(name, call)
        return _on_common_chips(name, call.tensors, partial(_launch, name, call, run, values))
    return _launch(name, call, run, values)


def _launch(name: str, call: Call, run: Callable[[Sequence[Any]], Any], values: Sequence[Any]) -> Any:
    if not call.device._cache_enabled:
        return _run(call, run, values)
    if any(type(operand) is not Buffer for operand in call.operands):
        # What a capture without dispatch has left has no memory.
        return _run(call, run, values)
    programs = call.device._resolved
    if type(programs.get(call.key)) is str:
        return _run(call, run, values)
    resolving = _engine.begin_program(call.device.engine, call.operands)
    try:
        program = _resolve(call, resolving, run, values)
    finally:
        # An error keeps this frame, and what it holds, as long as somebody holds the error.
        resolving.abandon()
        del resolving
    if len(programs) >= _CAPACITY:
        programs.clear()
    programs[call.key] = program
    result = MISSED if isinstance(program, str) else program.launch(name, call)
    return _run(call, run, values) if result is MISSED else result


def _require_one_mesh(name: str, call: Call) -> None:
    """Check that the tensors of a call are on one mesh.

    Raises:
        DeviceError: they are not.
    """
    for tensor in call.tensors:
        if tensor._device is not None and tensor._device is not call.device:
            raise DeviceError(
                f"ttnn.{name}: the tensors are on different meshes, {call.device!r} with devices "
                f"{call.device.get_device_ids()} and {tensor._device!r} with {tensor._device.get_device_ids()}."
            )


def _run(call: Call, run: Callable[[Sequence[Any]], Any], values: Sequence[Any]) -> Any:
    """Run a call step by step.

    Results lie on the mesh as its first operand.
    """
    result = run(values)
    topology = getattr(call.tensors[0], "_topology", None) if call.tensors else None
    if topology is not None:
        found: list[Any] = []
        _structure(result, found)
        for part in found:
            if type(part) is Tensor and not hasattr(part, "_topology"):
                part._topology = topology
    return result


def _on_common_chips(name: str, tensors: Sequence[Tensor], run: Callable[[], Any]) -> Any:
    """Run a call with new tensors on the operands' common chips.

    Raises:
        DeviceError: they have none.
    """
    buffers = [tensor.buffers[0] for tensor in tensors if tensor._device is not None and tensor._device._several]
    places = None
    if not all(buffer.is_on_all_chips for buffer in buffers):
        places = sorted(set.intersection(*(set(buffer.places) for buffer in buffers)))
        if not places:
            raise DeviceError(f"{name}: no chip of the mesh has all tensors")
    before = LIMIT.places
    if places == before:
        return run()
    LIMIT.places = places
    try:
        return run()
    finally:
        LIMIT.places = before


def _resolve(
    call: Call, resolving: _engine.Resolving, run: Callable[[Sequence[Any]], Any], values: Sequence[Any]
) -> Program | str:
    """Return a call's program, or why there is none.

    It depends on more than specifications and options.
    """
    by_buffer = dict(zip(call.operands, resolving.slots, strict=True))
    operands = {
        id(tensor): Tensor._on_device(tensor.spec, tensor._device or call.device, by_buffer[tensor.buffers[0]])
        for tensor in call.tensors
    }
    for tensor in call.tensors:
        if hasattr(tensor, "_topology"):
            operands[id(tensor)]._topology = tensor._topology
    recording = Recording(resolving)
    try:
        with making_program(recording):
            result = run(exchanged(values, lambda value: operands.get(id(value), value)))
    except Unresolved as error:
        return str(error)
    except BaseException:
        why = resolving.abandon()
        if why is None:
            raise
        return why
    if recording.failed:
        return "an operator inside of the call raises"
    found: list[Any] = []
    build = _structure(result, found)
    new: dict[Buffer, int] = {}
    of = [operands[id(tensor)] for tensor in call.tensors]
    topology = getattr(call.tensors[0], "_topology", None) if call.tensors else None
    parts = [_part(part, index, of, new, topology) for index, part in enumerate(found)]
    made = resolving.end(list(new))
    if isinstance(made, str):
        return made
    known = [part for part in parts if part is not None]
    if len(known) != len(parts):
        return "the result is not made of tensors alone"
    return Program(made, list(map(slot_tensor, of)), known, None if build is next else build, recording.events)


def _structure(result: Any, found: list[Any]) -> Build:
    """Return a result's composition; parts are added to `found`."""
    kind = type(result)
    if kind in (list, tuple):
        builds = [_structure(part, found) for part in result]
        return lambda parts: kind([build(parts) for build in builds])
    if kind in COMPOSITES:
        tensors_of, make = COMPOSITES[kind]
        builds = [_structure(part, found) for part in tensors_of(result)]
        return lambda parts: make(tuple(build(parts) for build in builds))
    found.append(result)
    return next


def _part(result: Any, index: int, operands: Sequence[Tensor], new: dict[Buffer, int], topology: Any) -> Part | None:
    """Return a result part's kind; None if foreign.

    It is no tensor with a buffer of its own or of an operand.

    Args:
        result: What the operator returned for slots.
        index: Its number among the parts.
        operands: The slots of the call's tensors.
        new: Buffers of results that are no operands, with their parts; that of `result` is added.
        topology: How results lie on a mesh that have no topology of their own.
    """
    if result is None:
        return _NONE, 0, None, None
    if type(result) is not Tensor or not result.buffers:
        return None
    for number, operand in enumerate(operands):
        if operand is result:
            return _OPERAND, number, None, getattr(result, "_topology", None)
    topology = getattr(result, "_topology", topology)
    (buffer,) = result.buffers
    for number, operand in enumerate(operands):
        if operand.buffers[0] is buffer:
            return _VIEW, number, slot_tensor(result), topology
    if buffer in new:
        return _AGAIN, new[buffer], slot_tensor(result), topology
    new[buffer] = index
    return _NEW, len(new) - 1, slot_tensor(result), topology
