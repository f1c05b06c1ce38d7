"""Programs as `ttnn` calls: plain data to execute or write.

A call names a public function and its arguments; nothing here imports an operator. What a binary's operation calls is
decided once, by handlers, so that an executed binary and emitted source do the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

__all__ = [
    "CACHED",
    "DEVICE",
    "PROGRAM",
    "TRACE",
    "Argument",
    "Call",
    "DeviceArgument",
    "Name",
    "New",
    "Ref",
    "drop_dead_calls",
    "kept_by_traces",
    "needs_device",
    "references",
]


@dataclass(frozen=True)
class Ref:
    """A program's tensor by number.

    Numbers of binaries are positive, those of steps in between negative.
    """

    id: int


@dataclass(frozen=True)
class Name:
    """A public name, such as "ttnn.bfloat16"."""

    path: str


@dataclass(frozen=True)
class New:
    """An object made by calling a public name."""

    path: str
    arguments: tuple[Argument, ...] = ()
    keywords: tuple[tuple[str, Argument], ...] = ()


@dataclass(frozen=True)
class DeviceArgument:
    """The device on which the program runs."""


DEVICE: Final = DeviceArgument()
PROGRAM: Final = "@program"
"""Function of calls of another program.

Its arguments are the program's number and a list of tensors.
"""
CACHED: Final = "@cached"
"""Function of constant program calls, run once per tensors."""
TRACE: Final = "@trace"
"""Function of calls that capture or run a trace.

The programs that allocate its slots (or `None`), that capture it and that run it, and a list of tensors.
"""
Argument: TypeAlias = Any
"""Kinds of arguments, and nested collections of them.

Ref, Name, New, DEVICE, a number, a text, None, bytes, or a list, tuple or set.
"""


@dataclass
class Call:
    """One call of a function.

    Attributes:
        function: Public name, such as "ttnn.add". "ttnn.deallocate" ends its argument.
        arguments: Positional arguments.
        keywords: Arguments by name.
        outputs: Numbers of the tensors that come out; a function with several returns a sequence.
        operation: What of the program it belongs to, for messages: number and text of the operation.
        returns: Which of several returned values the outputs are, or `None` for all.
    """

    function: str
    arguments: list[Argument] = field(default_factory=list)
    keywords: dict[str, Argument] = field(default_factory=dict)
    outputs: tuple[int, ...] = ()
    operation: int = -1
    returns: tuple[int, ...] | None = None


def references(argument: Argument) -> Iterator[int]:
    """Yield the numbers of the tensors inside an argument."""
    if isinstance(argument, Ref):
        yield argument.id
    elif isinstance(argument, list | tuple | set | frozenset):
        for one in argument:
            yield from references(one)
    elif isinstance(argument, New):
        yield from references(argument.arguments)
        yield from references([value for _, value in argument.keywords])
    elif isinstance(argument, Mapping):
        yield from references(list(argument.values()))


def needs_device(argument: Argument) -> bool:
    """Return whether the device is inside an argument."""
    if isinstance(argument, New):
        return any(map(needs_device, [*argument.arguments, *(value for _, value in argument.keywords)]))
    if isinstance(argument, list | tuple | set | frozenset):
        return any(map(needs_device, argument))
    return isinstance(argument, DeviceArgument)


def drop_dead_calls(calls: list[Call], results: list[int]) -> list[Call]:
    """Return the calls without unused tensor creation.

    The tensors are created again before anything reads them.

    Programs whose operations are given their output make it first with `empty`; the functions return new tensors.

    Args:
        calls: In order.
        results: Numbers of the tensors that the program returns.
    """
    kept: list[Call] = []
    needed = set(results)
    for call in reversed(calls):
        creates = call.function in ("ttnn.zeros", "ttnn.empty", "ttnn.full", "ttnn.ones")
        if creates and not needed.intersection(call.outputs):
            continue
        needed.difference_update(call.outputs)
        needed.update(references([call.arguments, call.keywords]))
        kept.append(call)
    return kept[::-1]


def kept_by_traces(calls: Iterable[Call]) -> set[int]:
    """Return the tensors that replayed traces read and write.

    Nothing else frees them.
    """
    traced = [call for call in calls if call.function == TRACE]
    return {number for call in traced for number in (*references(call.arguments), *call.outputs)}
