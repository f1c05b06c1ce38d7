"""Observers of a program's events: graph captures, reports, profiles and torch traces.

Without observers, a call only checks whether one list is empty. Observers see the operators that the program
calls, the functions of tensors below them, the programs that the engine runs for them, and the memory that is
allocated. An operator whose call is a program (`ttnn.runtime`) runs no Python: observers read the events inside of it
from the program.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
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
    allocates: ClassVar[bool] = False
    """True if memory is allocated although it blocks the rest."""
    in_full: bool = True
    """True if it receives events inside of a running program.

    Otherwise it receives `launched` afterwards, and reads in the program what it needs.
    """
    makes_program: ClassVar[bool] = False
    """True if it makes a program of its events, alone.

    No other observer is told of them.
    """
    replays: ClassVar[bool] = False
    """True if it observes the operators of a trace that is replayed."""

    def elements(self, buffer: Any) -> Any:
        """Pages that a read returns while it blocks; None for zeros."""
        return None

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

    def launched(self, program: Any, call: Any) -> None:
        """Observe the innermost operator's finished program.

        A `runtime.programs.Program`, for a `runtime.calls.Call`.
        """

    def program_ran(self, ran: Any) -> None:
        """A program of `ttnn.metal` has run: an `operation.observation.ProgramRan`."""


OBSERVERS: Final[list[Observer]] = []
"""Active observers, outermost first; empty if events need no reports."""


class _Thread(threading.local):
    """One thread's state: the observer that makes a program of events."""

    maker: Observer | None = None


_thread: Final = _Thread()


def observing() -> Sequence[Observer]:
    """Return the observers of this thread's events.

    The one that makes a program of them, or else all others.
    """
    if _thread.maker is not None:
        return (_thread.maker,)
    return [observer for observer in OBSERVERS if not observer.makes_program]


@contextmanager
def making_program(maker: Observer) -> Iterator[None]:
    """Report this thread's events only to a program-making observer.

    It makes a program of them.
    """
    _thread.maker = maker
    OBSERVERS.append(maker)
    try:
        yield
    finally:
        OBSERVERS.remove(maker)
        _thread.maker = None


def runs_programs() -> bool:
    """Return True if this thread's calls may run as programs.

    None is being made, and no observer has runs blocked.
    """
    return _thread.maker is None and not blocked()


def blocked() -> bool:
    """Return True if nothing runs, by the outermost observer that decides it."""
    return _blocking() is not None


def allocates_nothing() -> bool:
    """Return True if nothing runs, and tensors get no memory either."""
    observer = _blocking()
    return observer is not None and not observer.allocates


def elements_of(buffer: Any) -> Any:
    """Return the pages of a buffer from the blocking observer, or None."""
    observer = _blocking()
    return None if observer is None else observer.elements(buffer)


def _blocking() -> Observer | None:
    """Return the observer that has runs blocked, if one has."""
    found = next((observer for observer in observing() if observer.blocks is not None), None)
    return found if found is not None and found.blocks else None


def observed(name: str, arguments: tuple[Any, ...], function: Callable[[], _Result]) -> _Result:
    """Return a tensor function's result, observed by all observers.

    Args:
        name: As the official package traces it, for example "Tensor::cpu".
        arguments: What it was called with.
        function: What to run.
    """
    observers = tuple(observing())
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
    if not observers:
        return run(operation, args, kwargs)
    for observer in reversed(observers[1:]):
        run = partial(_call, observer, run)
    return observers[0].call(operation, args, kwargs, run)


def _call(observer: Observer, run: Run, operation: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return observer.call(operation, args, kwargs, run)
