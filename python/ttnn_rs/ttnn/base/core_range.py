"""Tensix core coordinates on the logical grid.

One core, a rectangle, a set of rectangles.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Sequence, Set
from functools import total_ordering
from typing import Final

from ttnn.base import rectangles
from ttnn.base.call import shown
from ttnn.base.exceptions import ArgumentError, DeviceError, MemoryConfigError, TtnnError
from ttnn.base.json_text import JsonValue
from ttnn.base.rectangles import Box

_LIMIT: Final = 1 << 64
"""Coordinates are below it."""


@total_ordering
class CoreCoord(JsonValue):
    """Logical coordinate of a core: column `x`, row `y`."""

    __slots__ = ("_x", "_y")

    def __init__(self, x: int | tuple[int, int] | list[int] | Set[int], y: int | None = None) -> None:
        if type(x) is int and type(y) is int and 0 <= x < _LIMIT and 0 <= y < _LIMIT:
            self._x, self._y = x, y
            return
        if isinstance(x, Set):
            x = _from_braces(x)
        if isinstance(x, tuple | list):
            if y is not None or len(x) != 2:
                raise ArgumentError(f"CoreCoord(): expected x and y, or a tuple of both, got {shown(x)}, {shown(y)}")
            x, y = x
        elif y is None:
            raise ArgumentError(f"CoreCoord(): expected x and y, or a tuple of both, got {shown(x)}")
        try:
            self._x = operator.index(x)
            self._y = operator.index(y)
        except TypeError:
            raise ArgumentError(f"CoreCoord(): x and y must be ints, got {shown(x)} and {shown(y)}") from None
        if self._x < 0 or self._y < 0:
            raise ArgumentError(f"CoreCoord(): x and y must not be negative, got {shown(self._x)} and {shown(self._y)}")
        if max(self._x, self._y) >= _LIMIT:
            raise ArgumentError(f"CoreCoord(): x and y must be below 2^64, got {shown(self._x)} and {shown(self._y)}")

    @property
    def x(self) -> int:
        """Return the column."""
        return self._x

    @property
    def y(self) -> int:
        """Return the row."""
        return self._y

    def _as_json(self) -> dict[str, int]:
        return {"x": self._x, "y": self._y}

    @classmethod
    def _from_json(cls, data: dict[str, int]) -> CoreCoord:
        return CoreCoord(data["x"], data["y"])

    def __eq__(self, other: object) -> bool:
        if isinstance(other, CoreCoord):
            return self._x == other._x and self._y == other._y
        if isinstance(other, tuple):
            return (self._x, self._y) == other
        return NotImplemented

    def __lt__(self, other: CoreCoord) -> bool:
        return (self._x, self._y) < (other._x, other._y)

    def __hash__(self) -> int:
        return hash((self._x, self._y))

    def __repr__(self) -> str:
        return f"{self._x}-{self._y}"

    def __reduce__(self) -> tuple[type[CoreCoord], tuple[int, int]]:
        return (CoreCoord, (self._x, self._y))


def _from_braces(braces: Set[int]) -> tuple[int, int]:
    """Return x and y of the C++ form `{x, y}`.

    It is a set in Python: two equal numbers are one element.
    """
    if len(braces) != 1:
        raise ArgumentError(
            f"CoreCoord(): {{x, y}} is a set in Python, which has no order, got {braces!r}; write (x, y)"
        )
    (number,) = braces
    return number, number


CoreLike = CoreCoord | tuple[int, int] | list[int] | Set[int]


def as_core(core: CoreLike) -> CoreCoord:
    """Return `core` as a CoreCoord.

    A tuple or list of x and y, or a set of two equal numbers, is also accepted.
    """
    return core if isinstance(core, CoreCoord) else CoreCoord(core)


@total_ordering
class CoreRange(JsonValue):
    """A rectangle of cores from `start` to `end`, both included."""

    __slots__ = ("_box",)

    def __init__(self, start: CoreLike, end: CoreLike) -> None:
        first, last = as_core(start), as_core(end)
        if last._x < first._x or last._y < first._y:
            raise MemoryConfigError(
                f"CoreRange(): end {last} is left of or above start {first}",
                vendor=f"Invalid core range for start_coord: {_coord_text(first._x, first._y)}, "
                f"end_coord: {_coord_text(last._x, last._y)}",
            )
        self._box: Box = (first._x, first._y, last._x, last._y)

    @property
    def start(self) -> CoreCoord:
        """Return the core with the lowest coordinates."""
        return _core(self._box[0], self._box[1])

    @property
    def end(self) -> CoreCoord:
        """Return the core with the highest coordinates."""
        return _core(self._box[2], self._box[3])

    def contains(self, core: CoreLike | CoreRange | CoreRangeSet) -> bool:
        """Return whether the rectangle contains `core`, a range or a set."""
        x0, y0, x1, y1 = self._box
        return all(
            x0 <= left and right <= x1 and y0 <= top and bottom <= y1 for left, top, right, bottom in _boxes_of(core)
        )

    def grid_size(self) -> CoreCoord:
        """Return columns and rows of the rectangle."""
        x0, y0, x1, y1 = self._box
        return _core(x1 - x0 + 1, y1 - y0 + 1)

    def size(self) -> int:
        """Return the number of cores."""
        return rectangles.area((self._box,))

    def intersection(self, other: CoreRange) -> CoreRange | None:
        """Return the common rectangle, None if there is none."""
        common = rectangles.common(self._box, other._box)
        return None if common is None else _range(common)

    def cores(self, row_wise: bool = True) -> Iterator[CoreCoord]:
        """Yield the cores, row by row or column by column."""
        return (_core(x, y) for x, y in rectangles.places((self._box,), row_wise))

    def _as_json(self) -> dict[str, dict[str, int]]:
        return {"start": self.start._as_json(), "end": self.end._as_json()}

    @classmethod
    def _from_json(cls, data: dict[str, dict[str, int]]) -> CoreRange:
        return CoreRange(CoreCoord._from_json(data["start"]), CoreCoord._from_json(data["end"]))

    def __eq__(self, other: object) -> bool:
        return self._box == other._box if isinstance(other, CoreRange) else NotImplemented

    def __lt__(self, other: CoreRange) -> bool:
        return self._box < other._box

    def __hash__(self) -> int:
        return hash(self._box)

    def __repr__(self) -> str:
        x0, y0, x1, y1 = self._box
        return f"[{x0}-{y0} - {x1}-{y1}]"

    def __reduce__(self) -> tuple[type[CoreRange], tuple[CoreCoord, CoreCoord]]:
        return (CoreRange, (self.start, self.end))


class CoreRangeSet(JsonValue):
    """Disjoint rectangles of cores, in argument order (sorted for a set)."""

    __slots__ = ("_boxes",)

    def __init__(self, core_ranges: Sequence[CoreRange] | Set[CoreRange] = ()) -> None:
        is_list = isinstance(core_ranges, (list, tuple))
        if not (is_list or isinstance(core_ranges, (Sequence, Set))) or not all(
            isinstance(r, CoreRange) for r in core_ranges
        ):
            raise ArgumentError(f"CoreRangeSet(): expected a list or set of CoreRange, got {core_ranges!r}")
        boxes = tuple([r._box for r in core_ranges])
        self._boxes = boxes if is_list or not isinstance(core_ranges, Set) else tuple(sorted(boxes))
        if len(boxes) > 1 and (pair := rectangles.overlap(self._boxes)):
            sentence = (
                "Cannot create CoreRangeSet with specified core ranges because core ranges "
                f"{_box_text(pair[0])} and {_box_text(pair[1])} overlap!"
            )
            raise MemoryConfigError("CoreRangeSet(): every core may be named once", vendor=sentence)

    def ranges(self) -> list[CoreRange]:
        """Return the rectangles."""
        return [_range(box) for box in self._boxes]

    def size(self) -> int:
        """Return the number of rectangles."""
        return len(self._boxes)

    def empty(self) -> bool:
        """Return True if the set is empty."""
        return not self._boxes

    def num_cores(self) -> int:
        """Return the number of cores."""
        return rectangles.area(self._boxes)

    def contains(self, core: CoreLike | CoreRange | CoreRangeSet) -> bool:
        """Return whether one rectangle contains `core`, or each core of a range."""
        return all(rectangles.covers(self._boxes, box) for box in _boxes_of(core))

    def bounding_box(self) -> CoreRange:
        """Return the smallest rectangle around all cores.

        Raises:
            MemoryConfigError: the set is empty.
        """
        if not self._boxes:
            raise MemoryConfigError(
                "CoreRangeSet.bounding_box: the set is empty",
                vendor="Cannot get bounding_box of an empty CoreRangeSet!",
            )
        return _range(rectangles.around(self._boxes))

    def grid_size(self) -> CoreCoord:
        """Return the width and height of the smallest rectangle around all cores.

        Raises:
            MemoryConfigError: the set is empty.
        """
        return self.bounding_box().grid_size()

    def merge(self, other: CoreRangeSet) -> CoreRangeSet:
        """Return the union of both, as few rectangles, sorted."""
        return _set(rectangles.union((*self._boxes, *other._boxes)))

    def subtract(self, other: CoreRangeSet) -> CoreRangeSet:
        """Return the cores that `other` does not have.

        Each rectangle leaves the cores left of the removed part, then right, above and below it.
        """
        return _set(rectangles.difference(rectangles.union(self._boxes), rectangles.union(other._boxes)))

    def cores(self, row_wise: bool = True) -> Iterator[CoreCoord]:
        """Yield the cores, rectangle by rectangle."""
        return (_core(x, y) for x, y in rectangles.places(self._boxes, row_wise))

    def _places(self) -> list[tuple[int, int]]:
        """Return each core's column and row, rectangle by rectangle.

        Within one, row by row.
        """
        return list(rectangles.places(self._boxes))

    def _index(self, core: CoreCoord, row_wise: bool = True) -> int | None:
        """Return the index of a core in `cores`, None if absent."""
        return rectangles.index(self._boxes, (core._x, core._y), row_wise)

    def _shared(self, other: CoreRangeSet) -> CoreCoord | None:
        """Return the first common core of two sets, None without one."""
        for box in self._boxes:
            found = [common for part in other._boxes if (common := rectangles.common(box, part))]
            if found:
                x, y, *_ = min(found, key=lambda common: (common[1], common[0]))
                return _core(x, y)
        return None

    def _outside(self, columns: int, rows: int) -> CoreCoord | None:
        """Return the first core outside a `columns` by `rows` grid.

        None if it has all.
        """
        place = rectangles.outside(self._boxes, columns, rows)
        return None if place is None else _core(*place)

    def _as_json(self) -> list[dict[str, dict[str, int]]]:
        return [r._as_json() for r in self.ranges()]

    @classmethod
    def _from_json(cls, data: list[dict[str, dict[str, int]]]) -> CoreRangeSet:
        return CoreRangeSet([CoreRange._from_json(r) for r in data])

    def __eq__(self, other: object) -> bool:
        return self._boxes == other._boxes if isinstance(other, CoreRangeSet) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._boxes)

    def __repr__(self) -> str:
        return "{" + ", ".join(map(repr, self.ranges())) + "}"

    def __reduce__(self) -> tuple[type[CoreRangeSet], tuple[list[CoreRange]]]:
        return (CoreRangeSet, (self.ranges(),))


class CoreGrid:
    """A grid of `x` columns and `y` rows; keyword arguments only.

    It starts at core 0-0.
    """

    __slots__ = ("_x", "_y")

    def __init__(self, *, x: int, y: int) -> None:
        try:
            self._x = operator.index(x)
            self._y = operator.index(y)
        except TypeError:
            raise ArgumentError(f"CoreGrid(): x and y must be ints, got {shown(x)} and {shown(y)}") from None

    @property
    def x(self) -> int:
        """Return the number of columns."""
        return self._x

    @property
    def y(self) -> int:
        """Return the number of rows."""
        return self._y

    @property
    def num_cores(self) -> int:
        """Return the number of cores."""
        return self._x * self._y

    def __eq__(self, other: object) -> bool:
        return (self._x, self._y) == (other._x, other._y) if isinstance(other, CoreGrid) else NotImplemented

    def __hash__(self) -> int:
        return hash((self._x, self._y))

    def __repr__(self) -> str:
        return f"ttnn.CoreGrid(x={self._x}, y={self._y})"


NOC_GRID = (64, 64)
"""Columns and rows that no chip exceeds: NoC coordinates have 6 bits."""


def check_in_grid(
    what: str,
    cores: CoreRangeSet,
    grid: Sequence[int],
    kind: str = "compute grid",
    *,
    error: type[TtnnError] = DeviceError,
    vendor: str = "",
) -> None:
    """Check that a grid has a set's cores, before visiting them.

    Args:
        what: Beginning of the sentence, which a core completes.
        cores: The cores.
        grid: Columns and rows.
        kind: What the grid is.
        error: Class of the error.
        vendor: Official sentence of the error.
    """
    core = cores._outside(grid[0], grid[1])
    if core is not None:
        raise error(
            f"{what} core {core}, outside the {kind} {grid[0]}x{grid[1]}; got cores {cores.bounding_box()}",
            vendor=vendor,
        )


def _core(x: int, y: int) -> CoreCoord:
    core = CoreCoord.__new__(CoreCoord)
    core._x, core._y = x, y
    return core


def _range(box: Box) -> CoreRange:
    new = CoreRange.__new__(CoreRange)
    new._box = box
    return new


def _set(boxes: Iterable[Box]) -> CoreRangeSet:
    """Return rectangles as a set.

    The caller knows that they do not overlap.
    """
    new = CoreRangeSet.__new__(CoreRangeSet)
    new._boxes = tuple(boxes)
    return new


def _boxes_of(core: CoreLike | CoreRange | CoreRangeSet) -> Iterable[Box]:
    if isinstance(core, CoreRangeSet):
        return core._boxes
    if isinstance(core, CoreRange):
        return (core._box,)
    core = as_core(core)
    return ((core._x, core._y, core._x, core._y),)


def _coord_text(x: int, y: int) -> str:
    return f"(x={x},y={y})"


def _box_text(box: Box) -> str:
    return f"[{_coord_text(*box[:2])} - {_coord_text(*box[2:])}]"
