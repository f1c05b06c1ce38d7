"""Predicted time of a program, without running it.

Its calls are made on a twin of a device, where no step runs (`ttnn.profiler.asking`). Programs of constants run once
per set of weights, and are left out.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ttnn.base.exceptions import TtnnError, UnsupportedError
from ttnn.compiler.conversion.ttnn_to_calls.calls import CACHED, PROGRAM, TRACE
from ttnn.compiler.conversion.ttnn_to_calls.descriptions import Description
from ttnn.compiler.conversion.ttnn_to_calls.programs import Program
from ttnn.compiler.runtime.place import evaluate
from ttnn.compiler.runtime.prepared import Step, prepared
from ttnn.profiler.asking import Walk, on_twin
from ttnn.profiler.missing import Missing
from ttnn.profiler.rows import GAP_NANOSECONDS
from ttnn.runtime.calls import question_key

__all__ = ["Predicted", "alternatives", "predict"]

_DEPTH: Final = 32


@dataclass
class Predicted:
    """The predicted time of a program.

    Attributes:
        nanoseconds: Its device operations with the gaps between them.
        operations: Number of device operations.
        of_operation: Nanoseconds of each operation of the program, by number.
        missing: Why device operations have no time: they count as nothing.
    """

    nanoseconds: int
    operations: int
    of_operation: dict[int, int]
    missing: list[str]


def predict(program: Program, device: Any) -> Predicted:
    """Return the predicted time of a program.

    Raises:
        TtnnError: A call is refused; the message names the operation.
        UnsupportedError: The program records a trace.
    """
    times: dict[int, int] = {}
    missing: list[str] = []
    count = 0
    with on_twin(device) as walk:
        for number, plans in _run(program, walk, [_made(want, walk) for _, want in program.inputs], 0):
            for plan in plans:
                count += 1
                if isinstance(plan, Missing):
                    missing.append(f"operation {number}: {plan.reason}")
                else:
                    times[number] = times.get(number, 0) + round(plan.nanoseconds)
    gaps = round(max(0, count - 1) * GAP_NANOSECONDS)
    return Predicted(sum(times.values()) + gaps, count, times, missing)


def alternatives(
    program: Program,
    device: Any,
    functions: Collection[str],
    others: Mapping[int, Sequence[dict[str, Any]]],
    known: dict[Any, int | None],
) -> dict[int, tuple[int, list[int | None]]]:
    """Return the time of operations, also with other keywords.

    None is that of a refused call.

    Args:
        program: The program.
        device: For which device.
        functions: The functions that are asked about, of those that an operation calls.
        others: The other keywords, by the number of the operation.
        known: Times of calls by their keys; it is filled.
    """
    found: dict[int, tuple[int, list[int | None]]] = {}

    def ask(walk: Walk, step: Step, arguments: list[Any], keywords: dict[str, Any]) -> None:
        number = step.call.operation
        if number not in others or step.call.function not in functions:
            return
        times: list[int | None] = []
        for other in ({}, *others[number]):
            given = {**keywords, **other}
            key = question_key((step.call.function, device.chip["name"]), tuple(arguments), given)
            if key is None or key not in known:
                known[key] = _time(walk, step, arguments, given)
            times.append(known[key])
        found[number] = times[0] or 0, times[1:]

    with on_twin(device) as walk:
        for _ in _run(program, walk, [_made(want, walk) for _, want in program.inputs], 0, ask):
            pass
    return found


def _time(walk: Walk, step: Step, arguments: list[Any], keywords: dict[str, Any]) -> int | None:
    """Return the time of a call with its gaps.

    None if it is refused or not known.
    """
    try:
        _, plans = walk.call(step.function, arguments, keywords)
    except TtnnError:
        return None
    known = [plan.nanoseconds for plan in plans if not isinstance(plan, Missing)]
    return round(sum(known) + (len(known) - 1) * GAP_NANOSECONDS) if len(known) == len(plans) else None


def _made(want: Description, walk: Walk) -> Any:
    """Return a tensor of a description.

    It is on the twin, or zeros on the host.
    """
    dtype, layout = (evaluate(part, {}, None) for part in (want.dtype, want.layout))
    memory = None if want.memory is None else evaluate(want.memory, {}, None)
    return walk.tensor(want.shape, dtype, layout, memory)


def _run(program: Program, walk: Walk, inputs: Sequence[Any], depth: int, ask: Any = None) -> Any:
    """Yield each operation's number and plans; the last value is the results."""
    ready = prepared(program)
    tensors = {number: tensor for (number, _), tensor in zip(program.inputs, inputs, strict=True)}
    for step in ready.steps:
        call = step.call
        if call.function == TRACE:
            raise UnsupportedError(f"program {program.name}: the time of a recorded trace is that of its program")
        arguments, keywords = step.values(tensors, walk.twin)
        try:
            if call.function in (CACHED, PROGRAM):
                called = program.all[arguments[0]]
                if call.function == CACHED or depth >= _DEPTH:
                    result: Any = [_made(want, walk) for _, want in called.outputs]
                else:
                    result = yield from _run(called, walk, arguments[1], depth + 1)
            else:
                if ask is not None:
                    ask(walk, step, arguments, keywords)
                result, plans = walk.call(step.function, arguments, keywords)
                yield call.operation, plans
        except TtnnError as error:
            error.sentence = f"program {program.name}, operation {call.operation}: {error.sentence}"
            raise
        if len(call.outputs) == 1 and call.returns is None:
            tensors[call.outputs[0]] = result
        else:
            chosen = range(len(call.outputs)) if call.returns is None else call.returns
            tensors.update(zip(call.outputs, [result[place] for place in chosen], strict=True))
        for number in step.finished:
            tensors.pop(number, None)
    return [tensors[number] for number, _ in program.outputs]
