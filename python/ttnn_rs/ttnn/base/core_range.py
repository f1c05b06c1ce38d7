"""Coordinates of Tensix cores on the logical grid: one core, a rectangle, a set of rectangles."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Sequence, Set
from functools import total_ordering

from ttnn.base.exceptions import ArgumentError, MemoryConfigError
from ttnn.base.json_text import JsonValue


@total_ordering
class CoreCoord(JsonValue):
    """Logical coordinate of a core: column `x`, row `y`."""

    __slots__ = ("_x", "_y")

    def __init__(self, x: int | tuple[int, int] | list[int] | Set[int], y: int | None = None) -> None:
        if isinstance(x, Set):
            x = _from_braces(x)
        if isinstance(x, tuple | list):
            if y is not None or len(x) != 2:
                raise ArgumentError(f"CoreCoord(): expected x and y, or a tuple of both, got {x!r}, {y!r}")
            x, y = x
        elif y is None:
            raise ArgumentError(f"CoreCoord(): expected x and y, or a tuple of both, got {x!r}")
        try:
            self._x = operator.index(x)
            self._y = operator.index(y)
        except TypeError:
            raise ArgumentError(f"CoreCoord(): x and y must be ints, got {x!r} and {y!r}") from None
        if self._x < 0 or self._y < 0:
            raise ArgumentError(f"CoreCoord(): x and y must not be negative, got {self._x} and {self._y}")

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
    """Return x and y of the C++ form `{x, y}`, which is a set in Python: two equal numbers are one element."""
    if len(braces) != 1:
        raise ArgumentError(
            f"CoreCoord(): {{x, y}} is a set in Python, which has no order, got {braces!r}; write (x, y)"
        )
    (number,) = braces
    return number, number


CoreLike = CoreCoord | tuple[int, int] | list[int] | Set[int]


def as_core(core: CoreLike) -> CoreCoord:
    """Return `core` as a CoreCoord; a tuple or list of x and y, or a set of two equal numbers, is taken too."""
    return core if isinstance(core, CoreCoord) else CoreCoord(core)


@total_ordering
class CoreRange(JsonValue):
    """A rectangle of cores from `start` to `end`, both included."""

    __slots__ = ("_end", "_start")

    def __init__(self, start: CoreLike, end: CoreLike) -> None:
        self._start = as_core(start)
        self._end = as_core(end)
        if self._end.x < self._start.x or self._end.y < self._start.y:
            raise MemoryConfigError(
                f"CoreRange(): end {self._end} lies left of or above start {self._start}",
                vendor=f"Invalid core range for start_coord: {_coord_text(self._start)}, "
                f"end_coord: {_coord_text(self._end)}",
            )

    @property
    def start(self) -> CoreCoord:
        """Return the core with the lowest coordinates."""
        return self._start

    @property
    def end(self) -> CoreCoord:
        """Return the core with the highest coordinates."""
        return self._end

    def contains(self, core: CoreLike | CoreRange | CoreRangeSet) -> bool:
        """Return whether `core` (or every core of a range or set) is in the rectangle."""
        if isinstance(core, CoreRangeSet):
            return all(self.contains(part) for part in core._ranges)
        if isinstance(core, CoreRange):
            return self.contains(core._start) and self.contains(core._end)
        core = as_core(core)
        return self._start.x <= core.x <= self._end.x and self._start.y <= core.y <= self._end.y

    def grid_size(self) -> CoreCoord:
        """Return columns and rows of the rectangle."""
        return CoreCoord(self._end.x - self._start.x + 1, self._end.y - self._start.y + 1)

    def size(self) -> int:
        """Return the number of cores."""
        grid = self.grid_size()
        return grid.x * grid.y

    def intersection(self, other: CoreRange) -> CoreRange | None:
        """Return the common rectangle, None if there is none."""
        x0, y0 = max(self._start.x, other._start.x), max(self._start.y, other._start.y)
        x1, y1 = min(self._end.x, other._end.x), min(self._end.y, other._end.y)
        return CoreRange(CoreCoord(x0, y0), CoreCoord(x1, y1)) if x0 <= x1 and y0 <= y1 else None

    def cores(self, row_wise: bool = True) -> Iterator[CoreCoord]:
        """Yield the cores, row by row or column by column."""
        xs, ys = range(self._start.x, self._end.x + 1), range(self._start.y, self._end.y + 1)
        if row_wise:
            return (CoreCoord(x, y) for y in ys for x in xs)
        return (CoreCoord(x, y) for x in xs for y in ys)

    def _as_json(self) -> dict[str, dict[str, int]]:
        return {"start": self._start._as_json(), "end": self._end._as_json()}

    @classmethod
    def _from_json(cls, data: dict[str, dict[str, int]]) -> CoreRange:
        return CoreRange(CoreCoord._from_json(data["start"]), CoreCoord._from_json(data["end"]))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CoreRange):
            return NotImplemented
        return self._start == other._start and self._end == other._end

    def __lt__(self, other: CoreRange) -> bool:
        return (self._start, self._end) < (other._start, other._end)

    def __hash__(self) -> int:
        return hash((self._start, self._end))

    def __repr__(self) -> str:
        return f"[{self._start} - {self._end}]"

    def __reduce__(self) -> tuple[type[CoreRange], tuple[CoreCoord, CoreCoord]]:
        return (CoreRange, (self._start, self._end))


class CoreRangeSet(JsonValue):
    """Rectangles of cores that do not overlap, in the order given (sorted if given as a set)."""

    __slots__ = ("_ranges",)

    def __init__(self, core_ranges: Sequence[CoreRange] | Set[CoreRange] = ()) -> None:
        if not isinstance(core_ranges, (Sequence, Set)) or not all(isinstance(r, CoreRange) for r in core_ranges):
            raise ArgumentError(f"CoreRangeSet(): expected a list or set of CoreRange, got {core_ranges!r}")
        self._ranges = tuple(sorted(core_ranges) if isinstance(core_ranges, Set) else core_ranges)
        for index, first in enumerate(self._ranges):
            for second in self._ranges[index + 1 :]:
                if first.intersection(second):
                    sentence = (
                        "Cannot create CoreRangeSet with specified core ranges because core ranges "
                        f"{_range_text(first)} and {_range_text(second)} overlap!"
                    )
                    raise MemoryConfigError("CoreRangeSet(): every core may be named once", vendor=sentence)

    def ranges(self) -> list[CoreRange]:
        """Return the rectangles."""
        return list(self._ranges)

    def size(self) -> int:
        """Return the number of rectangles."""
        return len(self._ranges)

    def empty(self) -> bool:
        """Return whether there is no core."""
        return not self._ranges

    def num_cores(self) -> int:
        """Return the number of cores."""
        return sum(r.size() for r in self._ranges)

    def contains(self, core: CoreLike | CoreRange | CoreRangeSet) -> bool:
        """Return whether `core` (or every core of a range or set) is in one of the rectangles."""
        if isinstance(core, CoreRangeSet):
            return all(self.contains(r) for r in core._ranges)
        if isinstance(core, CoreRange):
            return sum(common.size() for r in self._ranges if (common := r.intersection(core))) == core.size()
        return any(r.contains(core) for r in self._ranges)

    def bounding_box(self) -> CoreRange:
        """Return the smallest rectangle around all cores.

        Raises:
            MemoryConfigError: the set is empty.
        """
        if not self._ranges:
            raise MemoryConfigError(
                "CoreRangeSet.bounding_box: there is no core",
                vendor="Cannot get bounding_box of an empty CoreRangeSet!",
            )
        return CoreRange(
            CoreCoord(min(r.start.x for r in self._ranges), min(r.start.y for r in self._ranges)),
            CoreCoord(max(r.end.x for r in self._ranges), max(r.end.y for r in self._ranges)),
        )

    def grid_size(self) -> CoreCoord:
        """Return the width and height of the smallest rectangle around all cores.

        Raises:
            MemoryConfigError: the set is empty.
        """
        return self.bounding_box().grid_size()

    def merge(self, other: CoreRangeSet) -> CoreRangeSet:
        """Return all cores of both, as few rectangles: runs of columns, joined over rows of equal runs, sorted."""
        return _rectangles({core for r in (*self._ranges, *other._ranges) for core in r.cores()})

    def subtract(self, other: CoreRangeSet) -> CoreRangeSet:
        """Return the cores that `other` does not have.

        Each rectangle leaves what lies left of the part cut out, then right, above and below it.
        """
        mine = self.merge(CoreRangeSet())
        left = list(mine._ranges)
        for cut in other.merge(CoreRangeSet())._ranges:
            left = [piece for r in left for piece in _without(r, cut)]
        return CoreRangeSet(left)

    def cores(self, row_wise: bool = True) -> Iterator[CoreCoord]:
        """Yield the cores, rectangle by rectangle."""
        return (core for r in self._ranges for core in r.cores(row_wise))

    def _as_json(self) -> list[dict[str, dict[str, int]]]:
        return [r._as_json() for r in self._ranges]

    @classmethod
    def _from_json(cls, data: list[dict[str, dict[str, int]]]) -> CoreRangeSet:
        return CoreRangeSet([CoreRange._from_json(r) for r in data])

    def __eq__(self, other: object) -> bool:
        return self._ranges == other._ranges if isinstance(other, CoreRangeSet) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._ranges)

    def __repr__(self) -> str:
        return "{" + ", ".join(map(repr, self._ranges)) + "}"

    def __reduce__(self) -> tuple[type[CoreRangeSet], tuple[list[CoreRange]]]:
        return (CoreRangeSet, (list(self._ranges),))


class CoreGrid:
    """A grid of `x` columns and `y` rows that starts at core 0-0. Keyword arguments only."""

    __slots__ = ("_x", "_y")

    def __init__(self, *, x: int, y: int) -> None:
        try:
            self._x = operator.index(x)
            self._y = operator.index(y)
        except TypeError:
            raise ArgumentError(f"CoreGrid(): x and y must be ints, got {x!r} and {y!r}") from None

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


def _coord_text(core: CoreCoord) -> str:
    return f"(x={core.x},y={core.y})"


def _range_text(r: CoreRange) -> str:
    return f"[{_coord_text(r.start)} - {_coord_text(r.end)}]"


def _rectangles(cores: Iterable[CoreCoord]) -> CoreRangeSet:
    """Return `cores` as rectangles: each row's runs of columns continue the rectangle above if it is as wide."""
    rows: dict[int, list[int]] = {}
    for core in sorted(cores):
        rows.setdefault(core.y, []).append(core.x)
    finished: list[CoreRange] = []
    growing: dict[tuple[int, int], int] = {}  # columns of a rectangle -> its first row
    last = -1
    for y in [*sorted(rows), None]:
        runs = [] if y is None else _runs(rows[y])
        goes_on = {columns for columns in runs if columns in growing and y == last + 1}
        finished += [
            CoreRange((x0, first), (x1, last)) for (x0, x1), first in growing.items() if (x0, x1) not in goes_on
        ]
        if y is not None:
            growing = {columns: growing[columns] if columns in goes_on else y for columns in runs}
            last = y
    return CoreRangeSet(sorted(finished))


def _runs(xs: Sequence[int]) -> list[tuple[int, int]]:
    runs: list[tuple[int, int]] = []
    for x in xs:
        if runs and runs[-1][1] == x - 1:
            runs[-1] = (runs[-1][0], x)
        else:
            runs.append((x, x))
    return runs


def _without(r: CoreRange, cut: CoreRange) -> list[CoreRange]:
    common = r.intersection(cut)
    if common is None:
        return [r]
    (x0, y0), (x1, y1) = (r.start.x, r.start.y), (r.end.x, r.end.y)
    cx0, cy0, cx1, cy1 = common.start.x, common.start.y, common.end.x, common.end.y
    pieces = []
    if x0 < cx0:
        pieces.append(CoreRange((x0, y0), (cx0 - 1, y1)))
    if x1 > cx1:
        pieces.append(CoreRange((cx1 + 1, y0), (x1, y1)))
    if y0 < cy0:
        pieces.append(CoreRange((cx0, y0), (cx1, cy0 - 1)))
    if y1 > cy1:
        pieces.append(CoreRange((cx0, cy1 + 1), (cx1, y1)))
    return pieces
