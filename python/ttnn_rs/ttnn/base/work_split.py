"""Work split: cores and their units, by the official rule."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, overload

from ttnn.base.core_range import NOC_GRID, CoreCoord, CoreLike, CoreRange, CoreRangeSet, as_core, check_in_grid
from ttnn.base.exceptions import ArgumentError, MemoryConfigError

__all__ = [
    "corerange_to_cores",
    "grid_to_cores",
    "num_cores_to_corerangeset",
    "num_cores_to_corerangeset_in_subcoregrids",
    "split_work_to_cores",
]

WorkSplit = tuple[int, CoreRangeSet, CoreRangeSet, CoreRangeSet, int, int]


@overload
def grid_to_cores(num_cores: int, grid_size_x: int, grid_size_y: int, row_wise: bool = False) -> list[CoreCoord]: ...


@overload
def grid_to_cores(start: CoreLike, end: CoreLike, row_wise: bool = False) -> list[CoreCoord]: ...


def grid_to_cores(*args: Any, **kwargs: Any) -> list[CoreCoord]:
    """Return cores of a grid, column by column unless `row_wise`.

    The grid is the first `num_cores` cores of `grid_size_x` columns and `grid_size_y` rows, or the rectangle from
    `start` to `end`, both included.

    Raises:
        ArgumentError: arguments of another kind.
        MemoryConfigError: the grid has fewer cores, or `end` is left of or above `start`.
    """
    if "start" in kwargs or (args and not isinstance(args[0], int)):
        return _rectangle_to_cores(*args, **kwargs)
    return _first_cores(*args, **kwargs)


def _rectangle_to_cores(start: CoreLike, end: CoreLike, row_wise: bool = False) -> list[CoreCoord]:
    return corerange_to_cores(CoreRangeSet([CoreRange(start, end)]), row_wise=row_wise)


def _first_cores(num_cores: int, grid_size_x: int, grid_size_y: int, row_wise: bool = False) -> list[CoreCoord]:
    _require_ints("grid_to_cores", num_cores=num_cores, grid_size_x=grid_size_x, grid_size_y=grid_size_y)
    _check_target(num_cores, min(grid_size_x, NOC_GRID[0]) * min(grid_size_y, NOC_GRID[1]))
    if row_wise:
        return [CoreCoord(i % grid_size_x, i // grid_size_x) for i in range(num_cores)]
    return [CoreCoord(i // grid_size_y, i % grid_size_y) for i in range(num_cores)]


def corerange_to_cores(
    core_range_set: CoreRangeSet, max_cores: int | None = None, row_wise: bool = False
) -> list[CoreCoord]:
    """Return at most `max_cores` cores of a set, rectangle by rectangle."""
    _require_core_range_set("corerange_to_cores", core_range_set)
    if max_cores is not None:
        _require_ints("corerange_to_cores", max_cores=max_cores)
    if max_cores is None:
        check_in_grid("corerange_to_cores: the set has", core_range_set, NOC_GRID, "largest grid of a chip")
    return list(islice(core_range_set.cores(row_wise), max_cores))


def num_cores_to_corerangeset(target_num_cores: int, grid_size: CoreLike, row_wise: bool = False) -> CoreRangeSet:
    """Return the first `target_num_cores` cores of a grid, as rectangles.

    Raises:
        MemoryConfigError: the grid has fewer cores.
    """
    _require_ints("num_cores_to_corerangeset", target_num_cores=target_num_cores)
    return _slice_of_grid(_whole(as_core(grid_size)), 0, target_num_cores, row_wise)


def num_cores_to_corerangeset_in_subcoregrids(
    start_core: CoreLike, target_num_cores: int, sub_core_grids: CoreRangeSet, row_wise: bool = False
) -> CoreRangeSet:
    """Return `target_num_cores` cores of `sub_core_grids` from `start_core` on, as rectangles.

    Raises:
        MemoryConfigError: `start_core` is not one of the cores, or too few follow it.
    """
    where = "num_cores_to_corerangeset_in_subcoregrids"
    _require_ints(where, target_num_cores=target_num_cores)
    _require_core_range_set(where, sub_core_grids)
    start = as_core(start_core)
    first = sub_core_grids._index(start, row_wise)
    if first is None:
        raise MemoryConfigError(
            f"num_cores_to_corerangeset_in_subcoregrids: {start} is not one of the cores {sub_core_grids}",
            vendor="Start core must be contained within sub_core_grids",
        )
    return _slice_of_set(sub_core_grids, first, target_num_cores, row_wise)


def split_work_to_cores(grid_size: CoreLike | CoreRangeSet, units_to_divide: int, row_wise: bool = False) -> WorkSplit:
    """Return how `units_to_divide` equal units are divided over cores.

    Every core gets the same number, and the first ones (`group 1`) one more if they do not divide evenly.

    Returns:
        (number of cores, all cores, group 1, group 2, units per core of group 1, units per core of group 2)
    """
    _require_ints("split_work_to_cores", units_to_divide=units_to_divide)
    cores = grid_size if isinstance(grid_size, CoreRangeSet) else CoreRangeSet([_whole(as_core(grid_size))])
    num_cores = min(units_to_divide, cores.num_cores())
    if num_cores == 0:
        empty = CoreRangeSet()
        return 0, empty, empty, empty, 0, 0
    each, rest = divmod(units_to_divide, num_cores)
    everyone = _slice_of_set(cores, 0, num_cores, row_wise)
    if rest == 0:
        return num_cores, everyone, everyone, CoreRangeSet(), each, 0
    first = _slice_of_set(cores, 0, rest, row_wise)
    second = _slice_of_set(cores, rest, num_cores - rest, row_wise)
    return num_cores, everyone, first, second, each + 1, each


def _require_ints(operation: str, **values: object) -> None:
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise ArgumentError(f"{operation}: {name} must be an int from 0 on, got {value!r}")


def _require_core_range_set(operation: str, cores: object) -> None:
    if not isinstance(cores, CoreRangeSet):
        raise ArgumentError(f"{operation}: expected a CoreRangeSet, got {type(cores).__name__}")


def _whole(grid_size: CoreCoord) -> CoreRange:
    return CoreRange(CoreCoord(0, 0), CoreCoord(grid_size.x - 1, grid_size.y - 1))


def _slice_of_set(cores: CoreRangeSet, start: int, count: int, row_wise: bool) -> CoreRangeSet:
    _check_target(start + count, cores.num_cores())
    pieces: list[CoreRange] = []
    for grid in cores.ranges():
        size = grid.size()
        taken = min(count, size - start)
        if taken > 0:
            pieces += _slice_of_grid(grid, start, taken, row_wise).ranges()
            count -= taken
        start = max(0, start - size)
    return CoreRangeSet(pieces)


def _slice_of_grid(grid: CoreRange, start: int, count: int, row_wise: bool) -> CoreRangeSet:
    """Return a rectangle's cores from `start` on.

    Rest of a line, whole lines, beginning of a line.
    """
    _check_target(start + count, grid.size())
    size = grid.grid_size()
    line = size.x if row_wise else size.y
    return CoreRangeSet(
        [
            _lines(grid, first // line, first % line, last // line, last % line, row_wise)
            for first, last in _line_pieces(start, count, line)
        ]
    )


def _line_pieces(start: int, count: int, line: int) -> Iterator[tuple[int, int]]:
    end = start + count
    if start % line and count:
        stop = min(end, start - start % line + line)
        yield start, stop - 1
        start = stop
    whole = (end - start) // line * line
    if whole > 0:
        yield start, start + whole - 1
        start += whole
    if start < end:
        yield start, end - 1


def _lines(grid: CoreRange, line0: int, at0: int, line1: int, at1: int, row_wise: bool) -> CoreRange:
    x, y = grid.start.x, grid.start.y
    if row_wise:
        return CoreRange((x + at0, y + line0), (x + at1, y + line1))
    return CoreRange((x + line0, y + at0), (x + line1, y + at1))


def _check_target(target: int, available: int) -> None:
    if target > available:
        raise MemoryConfigError(
            f"{target} cores are wanted, the grid has {available}",
            vendor=f"Target number of cores {target} is greater than total number of available cores {available}",
        )


def divup(a: int, b: int) -> int:
    """Return a / b, rounded up."""
    return -(-a // b)


def roundup(a: int, b: int) -> int:
    """Return the least multiple of b that is at least a."""
    return divup(a, b) * b
