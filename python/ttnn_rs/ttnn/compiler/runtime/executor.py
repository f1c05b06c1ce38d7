"""Execution of TTNN programs: a loop over `ttnn` calls.

They are those that users of `ttnn` make.

Bits, times and reports are therefore those of the operators.
"""

from __future__ import annotations

import os
import time
import weakref
from collections.abc import Sequence
from typing import Any, Final, Protocol

import ttnn
from ttnn.base.exceptions import FileAccessError, FileFormatError, ParameterError, ShapeError, TtnnError
from ttnn.base.labels import LABEL
from ttnn.base.observers import OBSERVERS
from ttnn.base.paths import is_inside
from ttnn.compiler.conversion.ttnn_to_calls.calls import CACHED, PROGRAM, TRACE, Call, references
from ttnn.compiler.conversion.ttnn_to_calls.programs import Program
from ttnn.compiler.runtime.op_model import RuntimeModel
from ttnn.compiler.runtime.place import Source, Transfers, place
from ttnn.compiler.runtime.prepared import FILES, prepared
from ttnn.compiler.runtime.traces import Trace, is_trace_id
from ttnn.compiler.transforms.ttnn.optimizer.model import ModelOfDevice

__all__ = ["Observer", "execute"]


class Observer(Protocol):
    """Observer of the calls of a program and its inner programs."""

    def before(self, program: Program, call: Call, arguments: list[Any], keywords: dict[str, Any]) -> None:
        """See the arguments of a call that begins; tensors may change."""

    def after(self, program: Program, call: Call, result: Any, nanoseconds: int) -> None:
        """See what a call returned, and its time on the host."""


# Who compiles and executes in one process may optimize, too.
ModelOfDevice.give(RuntimeModel())


def execute(
    program: Program,
    inputs: Sequence[Any],
    device: Any,
    transfers: Transfers | None = None,
    observe: Observer | None = None,
    depth: int = 0,
    allow_files: bool = False,
) -> list[Any]:
    """Run a program and return its outputs, where the program leaves them.

    Outputs of a program that runs as a trace are the memory to which the trace writes: the next run changes them.

    Args:
        program: The program.
        inputs: A tensor or source for each input, anywhere; what is not where and how the program expects it is
            converted.
        device: Where it runs.
        transfers: Counts copies and conversions of inputs and outputs.
        observe: Is told each call.
        depth: How many programs have called each other.
        allow_files: Whether it may read and write files outside of the working folder.

    Raises:
        FileAccessError: The binary names a file outside of the working folder.
        ParameterError: Another number of inputs than the program has, or a mesh of another shape.
        ShapeError: An input of another shape than the program's.
        TtnnError: What an operator refuses; the message names the operation of the program.
    """
    ready = prepared(program)
    if not depth and not allow_files and ready.files:
        _refuse_files(program)
    counted = transfers if transfers is not None else Transfers()
    if program.mesh != (1, 1) and tuple(device.shape) != program.mesh:
        raise ParameterError(
            f"program {program.name} runs on a mesh of {program.mesh[0]}x{program.mesh[1]}, got one of "
            f"{'x'.join(map(str, device.shape))}."
        )
    if len(inputs) != len(program.inputs):
        raise ParameterError(f"program {program.name} has {len(program.inputs)} inputs, got {len(inputs)}.")
    tensors: dict[int, Any] = {}
    for index, ((number, want), tensor) in enumerate(zip(program.inputs, inputs, strict=True)):
        if is_trace_id(tensor):
            tensors[number] = tensor
            continue
        given_shape = tuple(tensor.shape)
        if given_shape != want.shape:
            raise ShapeError(
                f"program {program.name}, input {index}: the shape is {list(want.shape)}, got {list(given_shape)}."
            )
        if isinstance(tensor, Source):
            tensors[number] = tensor if number in ready.constant else tensor.place(want, device, counted)
        else:
            tensors[number] = place(tensor, want, device, counted)
    given = set(ready.given)
    sources_of = {number: tensor for (number, _), tensor in zip(program.inputs, inputs, strict=True)}
    # Without observers memory is free when nothing holds it, which is sooner than a call that frees it.
    quiet = not OBSERVERS and observe is None
    for step in ready.steps:
        if quiet and step.frees:
            for number in step.finished:
                tensors.pop(number, None)
            continue
        call = step.call
        try:
            arguments, keywords = step.values(tensors, device)
        except KeyError as error:
            text = program.texts[call.operation] if 0 <= call.operation < len(program.texts) else ""
            raise FileFormatError(
                f"program {program.name}, operation {call.operation}: tensor {error} has not been made. {text}"
            ) from None
        if observe is not None:
            observe.before(program, call, arguments, keywords)
        result: Any
        begin = time.perf_counter_ns() if observe is not None else 0
        if not quiet:
            LABEL.text = program.names[call.operation] if 0 <= call.operation < len(program.names) else ""
        try:
            if call.function == PROGRAM:
                result = _call(program, arguments[0], arguments[1], device, counted, observe, depth)
            elif call.function == TRACE:
                result = _trace(program, call, arguments, device, counted, observe, depth)
            elif call.function == CACHED:
                sources = [sources_of.get(number, tensors[number]) for number in references(call.arguments[1])]
                result = _constants(program, call, sources, arguments[1], device, counted, observe, depth)
                # The results stay for the next run.
                given.update(call.outputs)
            elif call.function == "ttnn.deallocate" and _is_kept(call.arguments[0].id, tensors, given):
                result = None
            else:
                result = step.function(*arguments, **keywords)
        except TtnnError as error:
            LABEL.text = ""
            name = program.names[call.operation] if 0 <= call.operation < len(program.names) else ""
            where = f"operation {call.operation}" + (f" ({name})" if name else "")
            error.sentence = f"program {program.name}, {where}: {error.sentence}"
            raise
        if observe is not None:
            observe.after(program, call, result, time.perf_counter_ns() - begin)
        if len(call.outputs) == 1 and call.returns is None:
            tensors[call.outputs[0]] = result
        else:
            chosen = range(len(call.outputs)) if call.returns is None else call.returns
            tensors.update(zip(call.outputs, [result[place_] for place_ in chosen], strict=True))
        # What the call has read is held by nobody else.
        arguments, keywords, result = [], {}, None
        for number in step.finished:
            tensors.pop(number, None)
    LABEL.text = ""
    try:
        results = [tensors[number] for number, _ in program.outputs]
    except KeyError as error:
        raise FileFormatError(f"program {program.name}: output {error} has not been made.") from None
    for index, (result, (_, want)) in enumerate(zip(results, program.outputs, strict=True)):
        if is_trace_id(result):
            continue
        if tuple(result.shape) != want.shape:
            raise ShapeError(
                f"program {program.name}, output {index}: the shape is {list(result.shape)}, "
                f"the binary has {list(want.shape)}."
            )
        results[index] = place(result, want, device, counted)
    return results


def _refuse_files(program: Program) -> None:
    """Refuse files outside of the working folder, before running.

    Whichever program of the binary names them.
    """
    for one in [program, *program.all]:
        for call in one.calls:
            if call.function in FILES and not is_inside(call.arguments[0], "."):
                raise FileAccessError(
                    f"program {one.name}, operation {call.operation}: {call.function} names {call.arguments[0]!r}, "
                    f"which is not below the working folder {os.getcwd()}. Run the binary in the folder of the file, "
                    "or use --allow-files (allow_files=True of ttrt.runtime.submit) if you trust it."
                )


def _call(
    program: Program,
    number: int,
    inputs: Sequence[Any],
    device: Any,
    transfers: Transfers,
    observe: Observer | None,
    depth: int,
) -> list[Any]:
    """Run another program of the same binary."""
    if not 0 <= number < len(program.all):
        raise FileFormatError(f"program {number} is called; the binary has {len(program.all)}.")
    if depth > _DEPTH:
        raise FileFormatError(f"programs call each other more than {_DEPTH} deep.")
    return execute(program.all[number], inputs, device, transfers, observe, depth + 1)


def _constants(
    program: Program,
    call: Call,
    sources: list[Any],
    inputs: Sequence[Any],
    device: Any,
    transfers: Transfers,
    observe: Observer | None,
    depth: int,
) -> list[Any]:
    """Run a constant program, unless run for these tensors on this device.

    Its results are kept as long as the tensors are.
    """
    known = program.constants.setdefault((call.arguments[0], call.operation), {})
    key = (id(device), *map(id, sources))
    if key in known:
        kept: list[Any] = known[key][0]
        return kept
    made = _call(program, call.arguments[0], inputs, device, transfers, observe, depth)

    def forget(_: Any) -> None:
        known.pop(key, None)

    # An object that is gone ends them: its number may be that of another one then.
    known[key] = (made, [weakref.ref(one, forget) for one in (device, *sources)])
    while len(known) > _SETS:
        del known[next(iter(known))]
    return made


_SETS: Final = 64
"""Most sets of tensors whose constants a program keeps."""


def _trace(
    program: Program,
    call: Call,
    arguments: list[Any],
    device: Any,
    transfers: Transfers,
    observe: Observer | None,
    depth: int,
) -> list[Any]:
    """Run a trace of this program, or capture it first."""
    allocate, capture, execution, inputs = arguments

    def run(number: int, tensors: Sequence[Any]) -> list[Any]:
        return _call(program, number, tensors, device, transfers, observe, depth)

    trace = program.traces.get(call.operation)
    if trace is None or not trace.fits(device, inputs):
        if trace is not None and trace.device is device:
            ttnn.release_trace(device, trace.number)
        trace = Trace.capture(device, inputs, len(call.outputs), allocate, capture, run)
        program.traces[call.operation] = trace
    else:
        trace.execute(inputs, execution, run)
    return trace.outputs


def _is_kept(number: int, tensors: dict[int, Any], given: set[int]) -> bool:
    """Return True if a tensor is kept.

    Inputs are, and inputs that an in-place operation returns.
    """
    return number in given or any(one is tensors[number] for other, one in tensors.items() if other != number)


_DEPTH: Final = 32
