"""Predicted times of programs, without running them.

The calls of a program are made on a twin of a device, where no step runs (`ttnn.profiler.asking`).
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ttnn.base.exceptions import TtnnError, UnsupportedError
from ttnn.compiler.conversion.ttnn_to_calls.calls import CACHED, PROGRAM, TRACE, Call
from ttnn.compiler.conversion.ttnn_to_calls.descriptions import Description
from ttnn.compiler.conversion.ttnn_to_calls.programs import Program
from ttnn.compiler.runtime.place import evaluate
from ttnn.compiler.runtime.prepared import FILES, Step, prepared
from ttnn.profiler.asking import Walk, on_twin
from ttnn.profiler.missing import Missing
from ttnn.profiler.rows import GAP_NANOSECONDS
from ttnn.runtime.calls import question_key

__all__ = ["Predicted", "PredictedRow", "alternatives", "predict", "predicted_rows", "total"]

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


@dataclass(frozen=True)
class PredictedRow:
    """One device operation of a program.

    Attributes:
        name: Name of the operation in the framework; empty if it has none.
        function: What the program calls, such as "ttnn.matmul".
        operation: The device operation.
        nanoseconds: Predicted time on the chip.
        constant: Whether it computes constants, at the first run only.
        times: How often it runs.
    """

    name: str
    function: str
    operation: str
    nanoseconds: float
    constant: bool = False
    times: int = 1


@dataclass(frozen=True)
class _Made:
    """A call that was made on the twin, and its device operations."""

    program: Program
    call: Call
    plans: Sequence[Any]
    constant: bool


def total(rows: Sequence[PredictedRow]) -> float:
    """Return the predicted time of rows together, without that of constants."""
    return sum(row.nanoseconds * row.times for row in rows if not row.constant)


def predicted_rows(program: Program, device: Any) -> list[PredictedRow]:
    """Return the device operations of a program, in order.

    Args:
        program: The program.
        device: The device that it would run on.

    Raises:
        TtnnError: A call is refused; the message names the operation.
        UnsupportedError: It runs as a trace, reads files, or the time of an operation is not known.
    """
    rows: list[PredictedRow] = []
    with on_twin(device) as walk:
        for made in _run(program, walk, _inputs(program, walk), 0, constants=True):
            names, number = made.program.names, made.call.operation
            name = names[number] if 0 <= number < len(names) else ""
            for plan in made.plans:
                if isinstance(plan, Missing):
                    where = f"program {made.program.name}, operation {number} ({made.call.function})"
                    raise UnsupportedError(f"{where}: the time of {plan.name} is not known: {plan.reason}")
                rows.append(PredictedRow(name, made.call.function, plan.name, plan.nanoseconds, made.constant))
    return rows


def predict(program: Program, device: Any) -> Predicted:
    """Return the predicted time of a program.

    Programs of constants run once per set of weights, and are left out.

    Raises:
        TtnnError: A call is refused; the message names the operation.
        UnsupportedError: The program records a trace, or reads files.
    """
    times: dict[int, int] = {}
    missing: list[str] = []
    count = 0
    with on_twin(device) as walk:
        for made in _run(program, walk, _inputs(program, walk), 0):
            number = made.call.operation
            for plan in made.plans:
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
        for _ in _run(program, walk, _inputs(program, walk), 0, ask):
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


def _inputs(program: Program, walk: Walk) -> list[Any]:
    return [_tensor(want, walk) for _, want in program.inputs]


def _tensor(want: Description, walk: Walk) -> Any:
    """Return a tensor of a description.

    It is on the twin, or zeros on the host.
    """
    dtype, layout = (evaluate(part, {}, None) for part in (want.dtype, want.layout))
    memory = None if want.memory is None else evaluate(want.memory, {}, None)
    return walk.tensor(want.shape, dtype, layout, memory)


def _run(
    program: Program, walk: Walk, inputs: Sequence[Any], depth: int, ask: Any = None, *, constants: bool | None = False
) -> Generator[_Made, None, list[Any]]:
    """Yield the calls that are made; the last value is the results.

    Args:
        program: The program.
        walk: The twin.
        inputs: Its inputs there.
        depth: Number of programs that call it.
        ask: Function of each call of this program, before it is made.
        constants: Whether programs of constants are run, too; None in one of them.
    """
    tensors = {number: tensor for (number, _), tensor in zip(program.inputs, inputs, strict=True)}
    for step in prepared(program).steps:
        call = step.call
        if call.function == TRACE or call.function in FILES:
            what = "a trace" if call.function == TRACE else call.function
            raise UnsupportedError(f"program {program.name}: the time of {what} is not predicted; compile without it.")
        arguments, keywords = step.values(tensors, walk.twin)
        try:
            if call.function in (CACHED, PROGRAM):
                called, cached = program.all[arguments[0]], call.function == CACHED
                if depth >= _DEPTH:
                    raise UnsupportedError(f"more than {_DEPTH} programs call each other: their time is not predicted")
                if cached and constants is False:
                    result: Any = [_tensor(want, walk) for _, want in called.outputs]
                else:
                    inner = None if cached else constants
                    result = yield from _run(called, walk, arguments[1], depth + 1, constants=inner)
            else:
                if ask is not None:
                    ask(walk, step, arguments, keywords)
                result, plans = walk.call(step.function, arguments, keywords)
                yield _Made(program, call, plans, constants is None)
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
