"""Predicted times of programs, without running them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import ttnn
from ttnn.base.exceptions import UnsupportedError
from ttnn.compiler.conversion.ttnn_to_calls.calls import CACHED, PROGRAM, TRACE, Call, references
from ttnn.compiler.conversion.ttnn_to_calls.descriptions import Description
from ttnn.compiler.conversion.ttnn_to_calls.programs import Program
from ttnn.compiler.runtime.place import form
from ttnn.compiler.runtime.prepared import FILES, Step, prepared
from ttnn.operation.operands import tensors_in
from ttnn.profiler.asking import ask
from ttnn.profiler.missing import Missing

__all__ = ["PredictedRow", "predict", "total"]


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


def total(rows: Sequence[PredictedRow]) -> float:
    """Return the predicted time of rows together, without that of constants."""
    return sum(row.nanoseconds * row.times for row in rows if not row.constant)


def predict(program: Program, device: Any, *, constant: bool = False) -> list[PredictedRow]:
    """Return the device operations of a program, in order.

    Nothing runs.

    Args:
        program: The program.
        device: The device that it would run on.
        constant: Whether it is one of constants.

    Raises:
        UnsupportedError: It runs as a trace, reads files, or the time of an operation is not known.
    """
    rows: list[PredictedRow] = []
    known: dict[int, Any] = {number: _stand_in(want) for number, want in program.inputs}
    for step in prepared(program).steps:
        call = step.call
        if call.function == "ttnn.deallocate":
            continue
        if call.function in (PROGRAM, CACHED):
            inner = program.all[call.arguments[0]]
            rows += predict(inner, device, constant=constant or call.function == CACHED)
            known.update(zip(call.outputs, (_stand_in(want) for _, want in inner.outputs), strict=True))
            continue
        if call.function == TRACE or call.function in FILES:
            what = "a trace" if call.function == TRACE else call.function
            raise UnsupportedError(f"program {program.name}: the time of {what} is not predicted; compile without it.")
        name = program.names[call.operation] if 0 <= call.operation < len(program.names) else ""
        for plan in _call(program, step, known, device):
            rows.append(PredictedRow(name, call.function, plan.name, plan.nanoseconds, constant))
    return rows


def _stand_in(want: Description) -> Any:
    """Return a tensor's specification, or zeros on the host."""
    dtype, layout, memory = form(want)
    if memory is None:
        return ttnn.zeros(list(want.shape), dtype=dtype, layout=layout)
    return ttnn.TensorSpec(list(want.shape), dtype, layout).with_memory_config(memory)


def _call(program: Program, step: Step, known: dict[int, Any], device: Any) -> Sequence[Any]:
    """Return the device operations of a call, and note its results."""
    call = step.call
    numbers = list(dict.fromkeys(references([call.arguments, call.keywords])))
    made: list[Any] = []

    def run(twin: Any, *tensors: Any) -> Any:
        arguments, keywords = step.values(dict(zip(numbers, tensors, strict=True)), twin)
        result = step.function(*arguments, **keywords)
        made.append([_lasting(one) for one in _results(call, result)])
        return result

    asked = ask(run, device, (device, *(known[number] for number in numbers)), {})
    where = f"program {program.name}, operation {call.operation} ({call.function})"
    if asked.error is not None:
        raise UnsupportedError(f"{where}: {asked.error}")
    for plan in asked.plans:
        if isinstance(plan, Missing):
            raise UnsupportedError(f"{where}: the time of {plan.name} is not known: {plan.reason}")
    known.update(zip(call.outputs, made[0], strict=True))
    return asked.plans


def _results(call: Call, result: Any) -> list[Any]:
    if not call.outputs:
        return []
    if len(call.outputs) == 1 and call.returns is None:
        return [result]
    chosen = range(len(call.outputs)) if call.returns is None else call.returns
    return [result[index] for index in chosen]


def _lasting(value: Any) -> Any:
    """Return a result without the memory of the device."""
    (tensor,) = tensors_in(value)
    return tensor.spec if tensor.storage_type() == ttnn.StorageType.DEVICE else tensor
