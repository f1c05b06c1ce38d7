"""Algebra of core rectangles: overlap, union and difference.

Its cost does not depend on their area.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator, Sequence

Box = tuple[int, int, int, int]
"""First column, first row, last column, last row."""

_FEW = 32
"""Rectangles up to which comparing all pairs is faster than a sweep."""


def common(one: Box, other: Box) -> Box | None:
    """Return the common rectangle of two, None if there is none."""
    x0, y0 = max(one[0], other[0]), max(one[1], other[1])
    x1, y1 = min(one[2], other[2]), min(one[3], other[3])
    return (x0, y0, x1, y1) if x0 <= x1 and y0 <= y1 else None


def area(boxes: Iterable[Box]) -> int:
    """Return the number of cores of rectangles that do not overlap."""
    return sum((x1 - x0 + 1) * (y1 - y0 + 1) for x0, y0, x1, y1 in boxes)


def around(boxes: Sequence[Box]) -> Box:
    """Return the smallest rectangle around one or more others."""
    x0, y0, x1, y1 = zip(*boxes, strict=True)
    return min(x0), min(y0), max(x1), max(y1)


def covers(boxes: Iterable[Box], box: Box) -> bool:
    """Return whether rectangles that do not overlap contain every core of `box`."""
    return area(part for other in boxes if (part := common(other, box))) == area((box,))


def overlap(boxes: Sequence[Box]) -> tuple[Box, Box] | None:
    """Return two overlapping rectangles in order; None if there are none.

    Of few, the first two.
    """
    if len(boxes) > _FEW:
        return _overlap_of_many(boxes)
    for index, (x0, y0, x1, y1) in enumerate(boxes):
        for second in boxes[index + 1 :]:
            if x0 <= second[2] and second[0] <= x1 and y0 <= second[3] and second[1] <= y1:
                return boxes[index], second
    return None


def _overlap_of_many(boxes: Sequence[Box]) -> tuple[Box, Box] | None:
    """Sweep over the rows for overlaps.

    The rectangles of a row, sorted by column, overlap only if neighbours do.
    """
    row: list[tuple[int, int]] = []  # first column and number of each rectangle
    leaving: list[tuple[int, int, int]] = []  # last row before it, by rows
    for number in sorted(range(len(boxes)), key=lambda number: boxes[number][1]):
        x0, y0, x1, y1 = boxes[number]
        while leaving and -leaving[-1][0] < y0:
            _, *entry = leaving.pop()
            del row[bisect_left(row, (entry[0], entry[1]))]
        at = bisect_left(row, (x0, number))
        for _, other in row[max(at - 1, 0) : at + 1]:
            if boxes[other][0] <= x1 and x0 <= boxes[other][2]:
                first, second = sorted((number, other))
                return boxes[first], boxes[second]
        row.insert(at, (x0, number))
        insort(leaving, (-y1, x0, number))
    return None


def union(boxes: Iterable[Box]) -> list[Box]:
    """Return all cores as few sorted rectangles.

    They are runs of columns, continued over rows with the same run.
    """
    waiting = sorted(boxes, key=lambda box: box[1], reverse=True)
    rows = sorted({edge for _, y0, _, y1 in waiting for edge in (y0, y1 + 1)})
    active: list[Box] = []
    growing: dict[tuple[int, int], int] = {}  # columns of a rectangle -> its first row
    finished: list[Box] = []
    for y in rows:  # between two of them all rows are alike
        active = [box for box in active if box[3] >= y]
        while waiting and waiting[-1][1] == y:
            insort(active, waiting.pop())
        runs = dict.fromkeys(_runs(active), y)
        finished += [(x0, first, x1, y - 1) for (x0, x1), first in growing.items() if (x0, x1) not in runs]
        growing = {columns: growing.get(columns, y) for columns in runs}
    return sorted(finished)


def _runs(active: Iterable[Box]) -> Iterator[tuple[int, int]]:
    """Yield columns of rectangles, sorted, as runs without gaps."""
    first = last = -2
    for x0, _, x1, _ in active:
        if x0 > last + 1:
            if last >= 0:
                yield first, last
            first = x0
        last = max(last, x1)
    if last >= 0:
        yield first, last


def difference(boxes: Iterable[Box], cuts: Iterable[Box]) -> list[Box]:
    """Return the cores of `boxes` that `cuts` do not have.

    Each rectangle leaves the cores left of the removed part, then right, above and below it.
    """
    left = list(boxes)
    for cut in cuts:
        left = [piece for box in left for piece in _without(box, cut)]
    return left


def _without(box: Box, cut: Box) -> list[Box]:
    (x0, y0, x1, y1), (cx0, cy0, cx1, cy1) = box, cut
    if cx0 > x1 or x0 > cx1 or cy0 > y1 or y0 > cy1:
        return [box]
    pieces = []
    if x0 < cx0:
        pieces.append((x0, y0, cx0 - 1, y1))
    if x1 > cx1:
        pieces.append((cx1 + 1, y0, x1, y1))
    cx0, cx1 = max(x0, cx0), min(x1, cx1)
    if y0 < cy0:
        pieces.append((cx0, y0, cx1, cy0 - 1))
    if y1 > cy1:
        pieces.append((cx0, cy1 + 1, cx1, y1))
    return pieces


def places(boxes: Iterable[Box], row_wise: bool = True) -> Iterator[tuple[int, int]]:
    """Yield each core's column and row, rectangle by rectangle.

    Within one, row by row or column by column.
    """
    for x0, y0, x1, y1 in boxes:
        if row_wise:
            for y in range(y0, y1 + 1):
                for x in range(x0, x1 + 1):
                    yield x, y
        else:
            for x in range(x0, x1 + 1):
                for y in range(y0, y1 + 1):
                    yield x, y


def index(boxes: Iterable[Box], place: tuple[int, int], row_wise: bool = True) -> int | None:
    """Return a core's index in `places`, None if outside."""
    before = 0
    for x0, y0, x1, y1 in boxes:
        width, height = x1 - x0 + 1, y1 - y0 + 1
        x, y = place[0] - x0, place[1] - y0
        if 0 <= x < width and 0 <= y < height:
            return before + (y * width + x if row_wise else x * height + y)
        before += width * height
    return None


def outside(boxes: Iterable[Box], columns: int, rows: int) -> tuple[int, int] | None:
    """Return the first core of `places` outside a grid.

    The grid has `columns` and `rows`.
    """
    for x0, y0, x1, y1 in boxes:
        if x1 >= columns and y0 < rows:
            return max(x0, columns), y0
        if y1 >= rows:
            return x0, max(y0, rows)
    return None
