"""Coordinates of chips in a mesh, and the small handles of queues and sub-devices.

This package has meshes of one chip; the types are complete all the same, because programs for one chip pass them too.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from typing import ClassVar

from ttnn.exceptions import ArgumentError, IndexRangeError


def _numbers(kind: str, values: tuple[int | Sequence[int], ...]) -> tuple[int, ...]:
    """Return the dimensions given as separate ints or as one sequence of them."""
    listed = values[0] if len(values) == 1 and not isinstance(values[0], int) else values
    try:
        numbers = tuple(operator.index(value) for value in listed)  # type: ignore[arg-type]
    except TypeError:
        raise ArgumentError(f"{kind}(): expected ints or one sequence of ints, got {listed!r}") from None
    if not numbers or min(numbers) < 0:
        raise ArgumentError(f"{kind}(): expected one or more ints that are not negative, got {list(numbers)}")
    return numbers


class _Numbers:
    """A fixed list of ints: the common part of shape and coordinate."""

    __slots__ = ("_values",)

    # What the official package calls the parameters: of the form with separate ints, and of that with a sequence.
    _LETTER: ClassVar[str]
    _WORD: ClassVar[str]

    def __init__(self, *values: int | Sequence[int], **named: int | Sequence[int]) -> None:
        if named:
            if values or (self._WORD not in named and list(named) != [f"{self._LETTER}{i}" for i in range(len(named))]):
                raise ArgumentError(
                    f"{type(self).__name__}(): expected {self._LETTER}0, {self._LETTER}1, ... or {self._WORD}, got "
                    f"{[*values]} and {', '.join(named)}"
                )
            values = tuple(named.values())
        self._values = _numbers(type(self).__name__, values)

    def dims(self) -> int:
        """Return how many dimensions there are."""
        return len(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __iter__(self) -> Iterator[int]:
        return iter(self._values)

    def __getitem__(self, index: int) -> int:
        try:
            return self._values[index]
        except IndexError:
            raise IndexRangeError(f"index {index} is outside {self!r}") from None

    def __eq__(self, other: object) -> bool:
        return self._values == other._values if isinstance(other, type(self)) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._values)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({list(self._values)})"


class MeshShape(_Numbers):
    """Chips of a mesh per dimension: `MeshShape(1, 2)` or `MeshShape([1, 2])`."""

    __slots__ = ()
    _LETTER = "s"
    _WORD = "shape"

    def mesh_size(self) -> int:
        """Return how many chips the mesh has."""
        size = 1
        for value in self._values:
            size *= value
        return size


class MeshCoordinate(_Numbers):
    """Place of a chip in a mesh: `MeshCoordinate(0, 1)` or `MeshCoordinate([0, 1])`."""

    __slots__ = ()
    _LETTER = "c"
    _WORD = "coords"


class _Handle:
    """A number with a type of its own."""

    __slots__ = ("_id",)

    def __init__(self, id: int) -> None:
        try:
            self._id = operator.index(id)
        except TypeError:
            raise ArgumentError(f"{type(self).__name__}(): expected an int, got {id!r}") from None
        if self._id < 0:
            raise ArgumentError(f"{type(self).__name__}(): expected an int from 0 on, got {self._id}")

    def __int__(self) -> int:
        return self._id

    def __index__(self) -> int:
        return self._id

    def __eq__(self, other: object) -> bool:
        return self._id == other._id if isinstance(other, type(self)) else NotImplemented

    def __hash__(self) -> int:
        return hash((type(self).__name__, self._id))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._id})"


class QueueId(_Handle):
    """Number of a command queue."""

    __slots__ = ()


class SubDeviceId(_Handle):
    """Number of a sub-device."""

    __slots__ = ()
