"""Programs that are ready to run.

What their runs share: functions, and the arguments that no tensor is part of.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from ttnn.base.exceptions import TtnnError
from ttnn.compiler.conversion.ttnn_to_calls.calls import (
    CACHED,
    Argument,
    Call,
    Ref,
    kept_by_traces,
    needs_device,
    references,
)
from ttnn.compiler.conversion.ttnn_to_calls.programs import Program
from ttnn.compiler.runtime.place import evaluate, public

__all__ = ["FILES", "Prepared", "Step", "prepared"]

FILES: Final = frozenset({"ttnn.dump_tensor", "ttnn.load_tensor"})
"""Functions of programs whose first argument is a file."""


@dataclass
class Step:
    """A call whose fixed arguments are objects.

    Attributes:
        call: The call.
        function: What it calls, if it is a function of the package.
        finished: Tensors that no later call and no output needs.
        frees: Whether it only ends tensors that are finished.
    """

    call: Call
    function: Callable[..., Any]
    finished: list[int]
    frees: bool = False
    fixed: list[Any] = field(default_factory=list)
    fixed_keywords: dict[str, Any] = field(default_factory=dict)
    open: list[tuple[int, Argument]] = field(default_factory=list)
    open_keywords: list[tuple[str, Argument]] = field(default_factory=list)

    def values(self, tensors: dict[int, Any], device: Any) -> tuple[list[Any], dict[str, Any]]:
        """Return the arguments of a run.

        Raises:
            KeyError: A tensor has not been made.
        """
        arguments = list(self.fixed)
        for index, one in self.open:
            arguments[index] = tensors[one.id] if type(one) is Ref else evaluate(one, tensors, device)
        if not self.open_keywords:
            return arguments, self.fixed_keywords
        keywords = dict(self.fixed_keywords)
        for name, one in self.open_keywords:
            keywords[name] = tensors[one.id] if type(one) is Ref else evaluate(one, tensors, device)
        return arguments, keywords


@dataclass
class Prepared:
    """A program that is ready to run.

    Attributes:
        steps: Its calls.
        given: Tensors that nobody frees: inputs, and what traces keep.
        constant: Inputs that only programs of constants read.
        files: Whether a program of the binary names a file.
    """

    steps: list[Step]
    given: frozenset[int]
    constant: frozenset[int]
    files: bool


def prepared(program: Program) -> Prepared:
    """Return what the runs of a program share.

    It is made at the first run.

    Raises:
        FileFormatError: It calls what is no function of the package.
    """
    if not program.prepared:
        program.prepared.append(_prepare(program))
    found: Prepared = program.prepared[0]
    return found


def _prepare(program: Program) -> Prepared:
    finished = _last_uses(program)
    inputs = {number for number, _ in program.inputs}
    elsewhere = {number for number, _ in program.outputs}
    for call in program.calls:
        if call.function not in (CACHED, "ttnn.deallocate"):
            elsewhere.update(references([call.arguments, call.keywords]))
    return Prepared(
        [_step(program, call, finished.get(index, [])) for index, call in enumerate(program.calls)],
        frozenset(inputs | kept_by_traces(program.calls)),
        frozenset(inputs - elsewhere),
        any(call.function in FILES for one in [program, *program.all] for call in one.calls),
    )


def _step(program: Program, call: Call, finished: list[int]) -> Step:
    try:
        function = _no_function if call.function.startswith("@") else public(call.function)
    except TtnnError as error:
        error.sentence = f"program {program.name}, operation {call.operation}: {error.sentence}"
        raise
    ended = references(call.arguments) if call.function == "ttnn.deallocate" else None
    step = Step(call, function, finished, ended is not None and set(ended) <= set(finished))
    for index, one in enumerate(call.arguments):
        if _is_open(one):
            step.open.append((index, one))
            step.fixed.append(None)
        else:
            step.fixed.append(evaluate(one, {}, None))
    for name, one in call.keywords.items():
        if _is_open(one):
            step.open_keywords.append((name, one))
        else:
            step.fixed_keywords[name] = evaluate(one, {}, None)
    return step


def _no_function(*arguments: Any) -> Any:
    raise AssertionError(f"calls of programs are run by the executor, with {len(arguments)} arguments")


def _is_open(argument: Argument) -> bool:
    return needs_device(argument) or any(True for _ in references(argument)) or isinstance(argument, list)


def _last_uses(program: Program) -> dict[int, list[int]]:
    """Tensors to free after each call.

    No later call and no output needs them; memory is free when nothing holds a tensor.
    """
    last: dict[int, int] = {}
    for index, call in enumerate(program.calls):
        for number in (*references([call.arguments, call.keywords]), *call.outputs):
            last[number] = index
    kept = {number for number, _ in program.outputs}
    finished: dict[int, list[int]] = {}
    for number, index in last.items():
        if number not in kept:
            finished.setdefault(index, []).append(number)
    return finished
