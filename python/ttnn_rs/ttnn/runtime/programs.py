"""Programs of operators: a call is resolved once, and launched as often as it is made.

Resolving a call runs the Python of its operator on slots: tensors with specifications and without memory. Requests to
the engine become the steps of a program (`ttnn._engine.Program`), allocations become further slots. `Program.launch`
runs these steps on the buffers of a call.

A call that depends on elements or on the state of the device has no program: it runs step by step each time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from ttnn import _engine
from ttnn._engine import Buffer, Unresolved
from ttnn.base.exceptions import MemoryConfigError, OutOfMemoryError
from ttnn.runtime.calls import COMPOSITES, Call
from ttnn.tensor.tensor import Tensor

_CAPACITY: Final = 4096
"""Programs that a device keeps."""

MISSED: Final = object()
"""Returned in place of a result when a program cannot be launched."""

_NEW, _OPERAND, _VIEW, _AGAIN, _NONE = range(5)

Part = tuple[int, int, Any]
"""A part of a result: what it is (a new buffer, an operand, a view of an operand or of an earlier part, None), the
number of that, and its specification."""
Build = Callable[[Iterator[Any]], Any]
"""Makes a result of its parts."""


class Program:
    """The program of a call.

    Its slots are the operands, then what it allocates.
    """

    __slots__ = ("_build", "_only", "_parts", "_run")

    def __init__(self, run: _engine.Program, parts: Sequence[Part], build: Build | None) -> None:
        self._run, self._parts, self._build = run, parts, build
        # Of a program with one new tensor, its specification.
        self._only = parts[0][2] if build is None and parts[0][0] == _NEW else None

    @property
    def steps(self) -> list[tuple[str, list[int], dict[str, Any] | None]]:
        """Return the functions of the engine that it runs: names, slots, settings."""
        return self._run.steps

    def launch(self, name: str, call: Call) -> Any:
        """Run the program on the operands of a call and return its result.

        `MISSED` if that cannot be: an operand has no memory or lies on another device, or L1 holds other buffers than
        the program is made for.

        Raises:
            OutOfMemoryError: there is no room for the result.
        """
        try:
            made = self._run(*call.operands)
        except (MemoryConfigError, OutOfMemoryError) as error:
            error.say_who(name)
            raise
        if made is None:
            return MISSED
        if self._only is not None:
            return Tensor._make(self._only, None, made, call.device)
        results: list[Any] = []
        for kind, number, spec in self._parts:
            if kind == _NEW:
                results.append(Tensor._make(spec, None, (made[number],), call.device))
            elif kind == _OPERAND:
                results.append(call.tensors[number])
            elif kind == _VIEW:
                results.append(call.tensors[number]._view(spec))
            else:
                results.append(None if kind == _NONE else results[number]._view(spec))
        return results[0] if self._build is None else self._build(iter(results))


def resolve_and_launch(name: str, call: Call | None, run: Callable[[Sequence[Any]], Any], values: Sequence[Any]) -> Any:
    """Resolve a call and launch its program, which the device keeps; or run the call as it is.

    Args:
        name: The operator, for errors.
        call: The call, None if it has no key.
        run: What the operator does with bound arguments.
        values: Those.
    """
    if call is None or not call.device._cache_enabled:
        return run(values)
    if any(type(operand) is not Buffer for operand in call.operands):
        # What a capture without dispatch has left has no memory.
        return run(values)
    programs = call.device._resolved
    if type(programs.get(call.key)) is str:
        return run(values)
    resolving = _engine.begin_program(call.device.engine, call.operands)
    if resolving is None:
        # A part of an operator that is being resolved.
        return run(values)
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
    return run(values) if result is MISSED else result


def _resolve(
    call: Call, resolving: _engine.Resolving, run: Callable[[Sequence[Any]], Any], values: Sequence[Any]
) -> Program | str:
    """Return the program of a call, or why there is none: it depends on more than specifications and options."""
    by_buffer = dict(zip(call.operands, resolving.slots, strict=True))
    operands = {
        id(tensor): Tensor._on_device(tensor.spec, tensor._device or call.device, by_buffer[tensor.buffers[0]])
        for tensor in call.tensors
    }
    try:
        result = run(_exchanged(values, operands))
    except Unresolved as error:
        return str(error)
    except BaseException:
        why = resolving.abandon()
        if why is None:
            raise
        return why
    found: list[Any] = []
    build = _structure(result, found)
    new: dict[Buffer, int] = {}
    of = [operands[id(tensor)] for tensor in call.tensors]
    parts = [_part(part, index, of, new) for index, part in enumerate(found)]
    made = resolving.end(list(new))
    if isinstance(made, str):
        return made
    known = [part for part in parts if part is not None]
    if len(known) != len(parts):
        return "the result is not made of tensors alone"
    return Program(made, known, None if build is next else build)


def _exchanged(value: Any, operands: dict[int, Tensor]) -> Any:
    """Return arguments with the slots of operands in place of these."""
    if type(value) is Tensor:
        return operands.get(id(value), value)
    if type(value) in (list, tuple):
        return type(value)([_exchanged(part, operands) for part in value])
    if type(value) in COMPOSITES:
        return type(value)(*[_exchanged(part, operands) for part in COMPOSITES[type(value)](value)])
    return value


def _structure(result: Any, found: list[Any]) -> Build:
    """Return how a result is made of its parts; these are added to `found`."""
    kind = type(result)
    if kind in (list, tuple):
        builds = [_structure(part, found) for part in result]
        return lambda parts: kind([build(parts) for build in builds])
    if kind in COMPOSITES:
        builds = [_structure(part, found) for part in COMPOSITES[kind](result)]
        return lambda parts: kind(*[build(parts) for build in builds])
    found.append(result)
    return next


def _part(result: Any, index: int, operands: Sequence[Tensor], new: dict[Buffer, int]) -> Part | None:
    """Return what a part of a result is; None if it is no tensor with a buffer of its own or of an operand.

    Args:
        result: What the operator returned for slots.
        index: Its number among the parts.
        operands: The slots of the call's tensors.
        new: Buffers of results that are no operands, with their parts; that of `result` is added.
    """
    if result is None:
        return _NONE, 0, None
    if type(result) is not Tensor or not result.buffers:
        return None
    for number, operand in enumerate(operands):
        if operand is result:
            return _OPERAND, number, None
    (buffer,) = result.buffers
    for number, operand in enumerate(operands):
        if operand.buffers[0] is buffer:
            return _VIEW, number, result.spec
    if buffer in new:
        return _AGAIN, new[buffer], result.spec
    new[buffer] = index
    return _NEW, len(new) - 1, result.spec
