"""Observers of running operators: a profiler or a capture. Without one, a call only checks a flag."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple, Protocol

from ttnn.base.observers import OBSERVERS


class Operator(Protocol):
    """Attributes of an operator for traces, hooks, observers and comparison mode."""

    __name__: str
    output_tensor_kwarg_names: tuple[str, ...]
    entry: Any

    @property
    def function(self) -> Callable[..., Any]:
        """Return what a call runs, without hooks and queues."""

    @property
    def plain_golden(self) -> Callable[..., Any] | None:
        """Return the reference."""


Run = Callable[[Operator, tuple[Any, ...], dict[str, Any]], Any]
"""Runs an operator with everything else that its call does: hooks, comparison mode, logging."""


class ProgramRan(NamedTuple):
    """A program of `ttnn.metal` that has run, or would have run if dispatch were not off.

    Attributes:
        operator: Full name of the function that was called.
        device: Where.
        tensors: The tensors that it was called with, the result last.
        layout: Its kernels and circular buffers as rows for the engine: `ttnn.metal.layout.Layout`.
        report: What it cost: `ttnn.metal.Report`; None if it did not run.
        started: Host time in nanoseconds at which it began.
    """

    operator: str
    device: Any
    tensors: tuple[Any, ...]
    layout: Any
    report: Any
    started: int


class Observer(Protocol):
    """Is told of every call of an operator, also of those that operators make."""

    def call(self, operation: Operator, args: tuple[Any, ...], kwargs: dict[str, Any], run: Run) -> Any:
        """Return what `run` returns for the call."""

    def note(self, program: Any) -> None:
        """Record the program of the running operator."""

    def program_ran(self, ran: ProgramRan) -> None:
        """Record a `ttnn.metal` program that has run."""


class Observation:
    """The observer of this process."""

    active: ClassVar[Observer | None] = None
    in_full: ClassVar[bool] = False
    """True if calls must not use their prepared form: the observer has not seen them yet."""


def note(program: Any) -> None:
    """Tell the observers which program the operator has decided on."""
    for watching in OBSERVERS:
        watching.noted(program)
    observer = Observation.active
    if observer is not None:
        observer.note(program)


def program_ran(ran: ProgramRan) -> None:
    """Tell the observers of a program of `ttnn.metal`."""
    for watching in OBSERVERS:
        watching.program_ran(ran)
    observer = Observation.active
    if observer is not None:
        observer.program_ran(ran)
