"""Observers of a program's events: graph captures, reports, profiles and torch traces.

While nobody observes, a call asks whether one list is empty, and no more. Observers see the operators that the program
calls, the functions of tensors below them, the programs that the engine runs for them, and the memory that is
allocated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ClassVar, Final, TypeVar

_Result = TypeVar("_Result")

Run = Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]
"""Runs an operator with its positional and keyword arguments."""


class Observer:
    """A receiver of every event, in order.

    Starts and ends are nested. Events without a method are ignored.
    """

    blocks: bool | None = None
    """True if no memory is allocated, nothing transferred, no program dispatched.

    None if the next observer decides it.
    """
    in_full: bool = True
    """True if operators run step by step.

    The allocations and steps of a cached program happen inside of the engine, where no observer sees them.
    """
    replays: ClassVar[bool] = False
    """True if it observes the operators of a trace that is replayed."""

    def call(self, operation: Any, args: tuple[Any, ...], kwargs: dict[str, Any], run: Run) -> Any:
        """Return the result of an operator called by program or operator."""
        self.operation_start(operation, args, kwargs)
        try:
            result = run(operation, args, kwargs)
        except BaseException as error:
            self.operation_failed(error)
            raise
        self.operation_end(result)
        return result

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

    def step(self, function: str, settings: dict[str, Any]) -> None:
        """Observe an engine function, before it runs for the innermost operator."""

    def created(self, tensor: Any) -> None:
        """A tensor was given memory on a device."""

    def noted(self, program: Any) -> None:
        """The innermost operator has decided on a program."""

    def program_ran(self, ran: Any) -> None:
        """A program of `ttnn.metal` has run: an `operation.observation.ProgramRan`."""


OBSERVERS: Final[list[Observer]] = []
"""Those that observe now, the outermost first."""


def blocked() -> bool:
    """Return True if nothing runs, by the outermost observer that decides it."""
    return next((observer.blocks for observer in OBSERVERS if observer.blocks is not None), False)


def operates_in_full() -> bool:
    """Return True if operators run step by step, because of an observer."""
    return any(observer.in_full for observer in OBSERVERS)


def observed(name: str, arguments: tuple[Any, ...], function: Callable[[], _Result]) -> _Result:
    """Return a tensor function's result, observed by all observers.

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
    observers: Sequence[Observer], operation: Any, args: tuple[Any, ...], kwargs: dict[str, Any], run: Run
) -> Any:
    """Return an operator call's result of `run`, through the observers.

    The outermost comes first.
    """
    for observer in reversed(observers):
        run = partial(_call, observer, run)
    return run(operation, args, kwargs)


def _call(observer: Observer, run: Run, operation: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return observer.call(operation, args, kwargs, run)
