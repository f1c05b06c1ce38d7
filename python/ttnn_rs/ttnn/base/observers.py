"""Observers of a program's events: graph captures and reports.

While nobody observes, a call asks whether one list is empty, and no more. Observers see the operators that the program
calls, the functions of tensors below them, the programs that the engine runs for them, and the memory that is
allocated.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

_Result = TypeVar("_Result")


class Observer:
    """A receiver of every event, in order. Starts and ends are nested. Events without a method are ignored."""

    blocks: bool
    """True if nothing runs: no memory is allocated, nothing is transferred, no program is dispatched."""

    def operation_start(self, operation: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """An operator is called."""

    def operation_end(self, result: Any) -> None:
        """The innermost operator returns a result."""

    def operation_failed(self, error: BaseException) -> None:
        """The innermost operator raises."""

    def function_start(self, name: str, arguments: tuple[Any, ...]) -> None:
        """A function of a tensor is called, for example `Tensor::to_device`."""

    def function_end(self, result: Any) -> None:
        """The innermost function returns a result."""

    def function_failed(self, error: BaseException) -> None:
        """The innermost function raises."""

    def created(self, tensor: Any) -> None:
        """A tensor was given memory on a device."""

    def noted(self, program: Any) -> None:
        """The innermost operator has decided on a program."""

    def program_ran(self, ran: Any) -> None:
        """A program of `ttnn.metal` has run: an `operation.observation.ProgramRan`."""


OBSERVERS: Final[list[Observer]] = []
"""Those that observe now, the outermost first."""


def blocked() -> bool:
    """Return True if nothing runs, by the outermost observer."""
    return bool(OBSERVERS) and OBSERVERS[0].blocks


def observed(name: str, arguments: tuple[Any, ...], function: Callable[[], _Result]) -> _Result:
    """Return what a function of a tensor returns, and tell all observers of the call.

    Args:
        name: As the official package traces it, for example "Tensor::cpu".
        arguments: What it was called with.
        function: What to run.
    """
    observers = tuple(OBSERVERS)
    for observer in observers:
        observer.function_start(name, arguments)
    try:
        result = function()
    except BaseException as error:
        for observer in observers:
            observer.function_failed(error)
        raise
    for observer in observers:
        observer.function_end(result)
    return result


def observed_operation(
    operation: Any, args: tuple[Any, ...], kwargs: dict[str, Any], run: Callable[..., _Result]
) -> _Result:
    """Return what `run` returns for the call of an operator, and tell all observers of it."""
    observers = tuple(OBSERVERS)
    for observer in observers:
        observer.operation_start(operation, args, kwargs)
    try:
        result = run(*args, **kwargs)
    except BaseException as error:
        for observer in observers:
            observer.operation_failed(error)
        raise
    for observer in observers:
        observer.operation_end(result)
    return result
