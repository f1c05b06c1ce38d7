"""Observers of running operators: a profiler or a capture.

Without one, a call only checks a flag.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

from ttnn.base.observers import observing


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


class ProgramRan(NamedTuple):
    """A `ttnn.metal` program that has run, or was not dispatched.

    It would have run if dispatch were not off.

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


def note(program: Any) -> None:
    """Tell the observers which program the operator has decided on."""
    for observer in observing():
        observer.noted(program)


def program_ran(ran: ProgramRan) -> None:
    """Tell the observers of a program of `ttnn.metal`."""
    for observer in observing():
        observer.program_ran(ran)
