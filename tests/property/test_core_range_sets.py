"""Core range sets against sets of cores on a small grid."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ttnn
from ttnn.base.exceptions import MemoryConfigError

Core = tuple[int, int]
SIDE = 9

edges = st.integers(0, SIDE - 1)
ranges = st.tuples(edges, edges, edges, edges).map(
    lambda c: ttnn.CoreRange((min(c[0], c[2]), min(c[1], c[3])), (max(c[0], c[2]), max(c[1], c[3])))
)
many = settings(deadline=None, max_examples=200)


def cores_of(part: ttnn.CoreRange | ttnn.CoreRangeSet) -> set[Core]:
    parts = [part] if isinstance(part, ttnn.CoreRange) else part.ranges()
    return {(x, y) for r in parts for x in range(r.start.x, r.end.x + 1) for y in range(r.start.y, r.end.y + 1)}


@st.composite
def range_sets(draw: st.DrawFn) -> ttnn.CoreRangeSet:
    """Return a range set without ranges that overlap earlier ones."""
    kept: list[ttnn.CoreRange] = []
    for found in draw(st.lists(ranges, max_size=12)):
        if all(cores_of(found).isdisjoint(cores_of(other)) for other in kept):
            kept.append(found)
    return ttnn.CoreRangeSet(kept)


def row_by_row(cores: set[Core]) -> list[ttnn.CoreRange]:
    """Return the official rule's rectangles.

    The runs of each row continue those of the row above.
    """
    finished, growing = [], {}
    for y in range(SIDE + 1):
        row = [x in {column for column, line in cores if line == y} for x in range(SIDE)] + [False]
        starts = [x for x in range(SIDE) if row[x] and (x == 0 or not row[x - 1])]
        runs = {(x, row.index(False, x) - 1) for x in starts}
        finished += [
            ttnn.CoreRange((x0, top), (x1, y - 1)) for (x0, x1), top in growing.items() if (x0, x1) not in runs
        ]
        growing = {run: growing.get(run, y) for run in runs}
    return sorted(finished)


@many
@given(range_sets(), range_sets())
def test_algebra_of_sets(one: ttnn.CoreRangeSet, other: ttnn.CoreRangeSet) -> None:
    mine, theirs = cores_of(one), cores_of(other)
    assert one.merge(other).ranges() == row_by_row(mine | theirs)
    rest = one.subtract(other)
    assert cores_of(rest) == mine - theirs
    assert ttnn.CoreRangeSet(rest.ranges()) == rest, "no two ranges overlap"
    assert one.contains(other) == (theirs <= mine)
    assert one.num_cores() == len(mine)
    assert one.empty() == (not mine)
    in_order = [(core.x, core.y) for core in one.cores()]
    assert one._shared(other) == next((core for core in in_order if core in theirs), None)


@many
@given(range_sets(), ranges)
def test_queries_of_a_set(cores: ttnn.CoreRangeSet, box: ttnn.CoreRange) -> None:
    mine = cores_of(cores)
    assert cores.contains(box) == (cores_of(box) <= mine)
    assert box.contains(cores) == (mine <= cores_of(box))
    for x in range(SIDE):
        for y in range(SIDE):
            assert cores.contains((x, y)) == ((x, y) in mine)
    if mine:
        columns, rows = zip(*mine, strict=True)
        assert cores.bounding_box() == ttnn.CoreRange((min(columns), min(rows)), (max(columns), max(rows)))
    for row_wise in (True, False):
        in_order = list(cores.cores(row_wise))
        assert [cores._index(core, row_wise) for core in in_order] == list(range(len(mine)))
    columns, rows = box.end.x, box.end.y
    late = [core for core in cores.cores() if core.x >= columns or core.y >= rows]
    assert cores._outside(columns, rows) == next(iter(late), None)


@many
@given(st.lists(ranges, max_size=8))
def test_overlap_is_refused(parts: list[ttnn.CoreRange]) -> None:
    pairs = [(i, j) for i in range(len(parts)) for j in range(i + 1, len(parts))]
    first = next((p for p in pairs if not cores_of(parts[p[0]]).isdisjoint(cores_of(parts[p[1]]))), None)
    if first is None:
        assert ttnn.CoreRangeSet(parts).ranges() == parts
        return
    with pytest.raises(MemoryConfigError) as caught:
        ttnn.CoreRangeSet(parts)
    named = [f"[(x={r.start.x},y={r.start.y}) - (x={r.end.x},y={r.end.y})]" for r in (parts[first[0]], parts[first[1]])]
    assert f"core ranges {named[0]} and {named[1]} overlap!" in str(caught.value)


@many
@given(st.permutations([(x, y) for x in range(8) for y in range(8)]), st.none() | ranges)
def test_overlap_of_many_ranges(places: list[Core], extra: ttnn.CoreRange | None) -> None:
    # Rows of dominoes, moved apart by one row: 64 ranges, and one that may overlap some.
    parts = [ttnn.CoreRange((2 * x, 2 * y), (2 * x + 1, 2 * y)) for x, y in places]
    if extra is None:
        assert ttnn.CoreRangeSet(parts).num_cores() == 128
        return
    taken = {core for part in parts for core in cores_of(part)}
    for order in ([*parts, extra], [extra, *parts]):
        if cores_of(extra).isdisjoint(taken):
            assert ttnn.CoreRangeSet(order).ranges() == order
        else:
            with pytest.raises(MemoryConfigError, match="overlap!"):
                ttnn.CoreRangeSet(order)
