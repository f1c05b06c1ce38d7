"""Coordinates of chips in a mesh, and queue and sub-device handles."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from ttnn.base.call import shown
from ttnn.base.core_range import CoreCoord, CoreRangeSet
from ttnn.base.exceptions import ArgumentError, IndexRangeError, ParameterError

_SEPARATE = (2, 3)
"""Accepted numbers of separate ints; other shapes and coordinates are one sequence."""
MAX_CHIPS = 1024
"""Chips of the largest mesh, in descriptors and files."""
_MAX_DIMS = 32
_LIMIT = 1 << 32
"""Sizes, coordinates and ids are below it, as in the official package."""


def _numbers(kind: str, values: tuple[int | Sequence[int], ...]) -> tuple[int, ...]:
    """Return dimensions given as two or three ints or one sequence."""
    separate = len(values) != 1 or isinstance(values[0], int)
    listed = values if separate else values[0]
    try:
        numbers = tuple(operator.index(value) for value in listed)  # type: ignore[union-attr,arg-type]
    except TypeError:
        raise ArgumentError(f"{kind}(): expected ints or one sequence of ints, got {shown(listed)}") from None
    if not 1 <= len(numbers) <= _MAX_DIMS:
        raise ArgumentError(f"{kind}(): expected 1 to {_MAX_DIMS} ints that are not negative, got {len(numbers)}")
    if min(numbers) < 0 or max(numbers) >= _LIMIT:
        raise ArgumentError(f"{kind}(): expected ints from 0 to {_LIMIT - 1}, got {shown(list(numbers))}")
    if separate and len(numbers) not in _SEPARATE:
        raise ArgumentError(
            f"{kind}(): expected two or three ints, or one sequence of ints such as [{', '.join(map(str, numbers))}], "
            f"got {len(numbers)} ints"
        )
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
                    f"{shown([*values])} and {', '.join(named)}"
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
            raise IndexRangeError(f"index {shown(index)} is outside {self!r}") from None
        except TypeError:
            raise ArgumentError(
                f"{type(self).__name__}: expected the index of a dimension, got {shown(index)}"
            ) from None

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
    """Coordinate of a chip in a mesh: `MeshCoordinate(0, 1)` or `MeshCoordinate([0, 1])`."""

    __slots__ = ()
    _LETTER = "c"
    _WORD = "coords"


class _Handle:
    """An integer id with its own type."""

    __slots__ = ("_id",)

    def __init__(self, id: int) -> None:
        try:
            self._id = operator.index(id)
        except TypeError:
            raise ArgumentError(f"{type(self).__name__}(): expected an int, got {shown(id)}") from None
        if not 0 <= self._id < _LIMIT:
            raise ArgumentError(
                f"{type(self).__name__}(): expected an int from 0 to {_LIMIT - 1}, got {shown(self._id)}"
            )

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
    """Id of a command queue."""

    __slots__ = ()


class SubDeviceId(_Handle):
    """Id of a sub-device."""

    __slots__ = ()


class SubDeviceManagerId(_Handle):
    """Id of a sub-device manager."""

    __slots__ = ()


class MeshTraceId(_Handle):
    """Id of a trace."""

    __slots__ = ()


class SubDevice:
    """An independent group of cores.

    `cores[0]` are Tensix cores, `cores[1]` Ethernet cores (not modelled).
    """

    __slots__ = ("_cores",)

    def __init__(self, cores: Sequence[CoreRangeSet]) -> None:
        if not isinstance(cores, Sequence) or not all(isinstance(each, CoreRangeSet) for each in cores):
            raise ArgumentError(f"SubDevice(): cores must be a list of CoreRangeSet, got {shown(cores)}")
        self._cores = tuple(cores)

    def __repr__(self) -> str:
        return f"SubDevice({[*self._cores]})"


class MeshCoordinateRange:
    """A range of chips from `start` to `end`, inclusive.

    Or a whole mesh.
    """

    __slots__ = ("_end", "_start")

    def __init__(self, start: MeshCoordinate | MeshShape, end: MeshCoordinate | None = None) -> None:
        if isinstance(start, MeshShape) and end is None:
            start, end = MeshCoordinate([0] * start.dims()), MeshCoordinate([size - 1 for size in start])
        if not isinstance(start, MeshCoordinate) or not isinstance(end, MeshCoordinate):
            raise ArgumentError(
                f"MeshCoordinateRange(): expected two MeshCoordinate or a MeshShape, got {shown(start)}, {shown(end)}"
            )
        if start.dims() != end.dims():
            raise ParameterError(
                f"MeshCoordinateRange(): {start!r} has {start.dims()} dimensions, {end!r} has {end.dims()}",
                vendor=f"Start and end dimensions do not match: {start.dims()} != {end.dims()}",
            )
        if any(a > b for a, b in zip(start, end, strict=True)):
            raise ParameterError(
                f"MeshCoordinateRange(): {end!r} is before {start!r}",
                vendor=f"Start coordinate is greater than end coordinate: {start!r} > {end!r}",
            )
        self._start, self._end = start, end

    @property
    def start(self) -> MeshCoordinate:
        """Return the first chip."""
        return self._start

    @property
    def end(self) -> MeshCoordinate:
        """Return the last chip."""
        return self._end

    def __iter__(self) -> Iterator[MeshCoordinate]:
        first, last = tuple(self._start), tuple(self._end)
        place = list(first)
        while True:
            yield MeshCoordinate(place)
            axis = len(place) - 1
            while axis >= 0 and place[axis] == last[axis]:
                place[axis] = first[axis]
                axis -= 1
            if axis < 0:
                return
            place[axis] += 1

    def __contains__(self, coordinate: object) -> bool:
        if not isinstance(coordinate, MeshCoordinate) or coordinate.dims() != self._start.dims():
            return False
        return all(a <= c <= b for a, c, b in zip(self._start, coordinate, self._end, strict=True))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MeshCoordinateRange):
            return NotImplemented
        return (self._start, self._end) == (other._start, other._end)

    def __hash__(self) -> int:
        return hash((self._start, self._end))

    def __repr__(self) -> str:
        return f"MeshCoordinateRange(start={self._start!r}, end={self._end!r})"

    def _joined(self, other: MeshCoordinateRange) -> MeshCoordinateRange | None:
        """Return the range of both, None if it has other chips."""
        pairs = list(zip(self._start, other._start, self._end, other._end, strict=True))
        common = math.prod(max(0, min(end, last) - max(start, begin) + 1) for start, begin, end, last in pairs)
        whole = MeshCoordinateRange(
            MeshCoordinate([min(start, begin) for start, begin, _, _ in pairs]),
            MeshCoordinate([max(end, last) for _, _, end, last in pairs]),
        )
        return whole if whole._size() == self._size() + other._size() - common else None

    def _size(self) -> int:
        """Return how many chips there are."""
        return math.prod(end - start + 1 for start, end in zip(self._start, self._end, strict=True))


class MeshCoordinateRangeSet:
    """Chips of a mesh, as ranges. Equal if the chips are."""

    __slots__ = ("_ranges",)

    def __init__(self, range: MeshCoordinateRange | None = None) -> None:
        self._ranges: list[MeshCoordinateRange] = []
        if range is not None:
            self.merge(range)

    def merge(self, range: MeshCoordinateRange) -> None:
        """Add the chips of a range.

        Ranges whose chips together are a range become one.

        Raises:
            ParameterError: the range has other dimensions than those of the set.
        """
        if not isinstance(range, MeshCoordinateRange):
            raise ArgumentError(f"MeshCoordinateRangeSet: expected a MeshCoordinateRange, got {shown(range)}")
        if any(each.start.dims() != range.start.dims() for each in self._ranges):
            raise ParameterError(
                f"MeshCoordinateRangeSet: {range!r} has other dimensions than {self._ranges[0]!r}",
                vendor=f"Cannot merge {range!r} with dimensions {range.start.dims()}",
            )
        for index, each in enumerate(self._ranges):
            joined = each._joined(range)
            if joined is not None:
                # The larger range may complete another one.
                del self._ranges[index]
                return self.merge(joined)
        self._ranges.append(range)
        self._ranges.sort(key=lambda each: (tuple(each.start), tuple(each.end)))
        return None

    def _chips(self) -> frozenset[MeshCoordinate]:
        return frozenset(place for each in self._ranges for place in each)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MeshCoordinateRangeSet):
            return NotImplemented
        return self._ranges == other._ranges or self._chips() == other._chips()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"MeshCoordinateRangeSet({self._ranges})"


@dataclass(kw_only=True)
class MeshDeviceConfig:
    """The chips of a mesh."""

    mesh_shape: MeshShape | None = None
    offset: MeshCoordinate | None = None
    physical_device_ids: Sequence[int] = ()


class MeshCoreCoord:
    """A core of a chip of a mesh.

    Attributes:
        device_coord: The chip.
        core_coord: Its core.
    """

    __slots__ = ("core_coord", "device_coord")

    def __init__(self, device_coord: MeshCoordinate, core_coord: CoreCoord) -> None:
        if not isinstance(device_coord, MeshCoordinate) or not isinstance(core_coord, CoreCoord):
            raise ArgumentError(
                f"MeshCoreCoord(): expected a MeshCoordinate and a CoreCoord, got {shown(device_coord)} and "
                f"{shown(core_coord)}"
            )
        self.device_coord, self.core_coord = device_coord, core_coord

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MeshCoreCoord):
            return NotImplemented
        return (self.device_coord, self.core_coord) == (other.device_coord, other.core_coord)

    def __hash__(self) -> int:
        return hash((self.device_coord, self.core_coord))

    def __repr__(self) -> str:
        core = self.core_coord
        return f"MeshCoreCoord(device={self.device_coord!r}, core=({core.x},{core.y}))"
