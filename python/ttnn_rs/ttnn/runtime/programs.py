"""Programs of operators: a call is resolved once, and launched as often as it is made.

`resolve` runs the Python of an operator on slots: tensors with specifications and without memory. What it asks of the
engine becomes the steps of a program (`ttnn._engine.Program`), its allocations become further slots. `Program` launches
these steps on the buffers of a call.

What depends on elements or on the state of the device cannot become a program: those calls run as they are each time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from ttnn import _engine
from ttnn._engine import Buffer, Unresolved
from ttnn.base.exceptions import MemoryConfigError, OutOfMemoryError
from ttnn.runtime.calls import Call
from ttnn.tensor.tensor import Tensor

_CAPACITY: Final = 4096
"""Programs that a device keeps."""

MISSED: Final = object()
"""Returned in place of a result when a program cannot be launched."""

Assemble = Callable[[Call, Sequence[Buffer]], Any]
"""Makes a result, or a part of one, of a call and the buffers that its program allocated."""


class Program:
    """The program of a call.

    Its slots are the operands, then what it allocates.
    """

    __slots__ = ("_assemble", "_run")

    def __init__(self, run: _engine.Program, assemble: Assemble) -> None:
        self._run, self._assemble = run, assemble

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
        return MISSED if made is None else self._assemble(call, made)


def launched(name: str, call: Call | None, run: Callable[[Sequence[Any]], Any], values: Sequence[Any]) -> Any:
    """Resolve a call and launch its program, which the device keeps; or run the call as it is.

    Args:
        name: The operator, for errors.
        call: The call, None if it has no key.
        run: What the operator does with bound arguments.
        values: Those.
    """
    if call is None or not call.device._cache_enabled:
        return run(values)
    programs = call.device._resolved
    if type(programs.get(call.key)) is str:
        return run(values)
    slots = _engine.begin_program(call.device._engine, call.operands)
    if slots is None:
        # A part of an operator that is being resolved.
        return run(values)
    program = _resolve(call, slots, run, values)
    if len(programs) >= _CAPACITY:
        programs.clear()
    programs[call.key] = program
    result = MISSED if isinstance(program, str) else program.launch(name, call)
    return run(values) if result is MISSED else result


def _resolve(
    call: Call, slots: Sequence[Buffer], run: Callable[[Sequence[Any]], Any], values: Sequence[Any]
) -> Program | str:
    """Return the program of a call, or why there is none: it depends on more than specifications and options."""
    by_buffer = dict(zip(call.operands, slots, strict=True))
    operands = {
        id(tensor): Tensor._on_device(tensor.spec, call.device, by_buffer[tensor.buffer])  # type: ignore[index]
        for tensor in call.tensors
    }
    try:
        result = run(_exchanged(values, operands))
    except Unresolved as error:
        _engine.abandon_program()
        return str(error)
    except BaseException:
        why = _engine.abandon_program()
        if why is None:
            raise
        return why
    new: list[Buffer] = []
    assemble = _assembly(result, [operands[id(tensor)] for tensor in call.tensors], new)
    made = _engine.end_program(new)
    if isinstance(made, str):
        return made
    return "the result is not made of tensors alone" if assemble is None else Program(made, assemble)


def _exchanged(value: Any, operands: dict[int, Tensor]) -> Any:
    """Return arguments with the slots of operands in place of these."""
    if type(value) is Tensor:
        return operands.get(id(value), value)
    if type(value) in (list, tuple):
        return type(value)([_exchanged(part, operands) for part in value])
    return value


def _assembly(result: Any, operands: Sequence[Tensor], new: list[Buffer]) -> Assemble | None:
    """Return how the result of a call is made; None if it is not made of tensors alone.

    Args:
        result: What the operator returned for slots.
        operands: The slots of the call's tensors.
        new: Buffers of results that are no operands; those of `result` are added.
    """
    if type(result) in (list, tuple):
        kind, parts = type(result), [_assembly(part, operands, new) for part in result]
        if None in parts:
            return None
        return lambda call, made: kind([part(call, made) for part in parts])  # type: ignore[misc]
    if result is None:
        return lambda call, made: None
    if type(result) is not Tensor or result.buffer is None:
        return None
    spec, buffer = result.spec, result.buffer
    for index, operand in enumerate(operands):
        if operand is result:
            return lambda call, made: call.tensors[index]
    for index, operand in enumerate(operands):
        if operand.buffer is buffer:
            return lambda call, made: call.tensors[index]._view(spec)
    if buffer in new:
        return None
    new.append(buffer)
    number = len(new) - 1
    return lambda call, made: Tensor._on_device(spec, call.device, made[number])
