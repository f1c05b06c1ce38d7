"""Cores, ranges, sets of ranges, and how work is split over them."""

from __future__ import annotations

import pickle

import pytest

import ttnn
from ttnn.base.exceptions import ArgumentError, MemoryConfigError


def cr(x0: int, y0: int, x1: int, y1: int) -> ttnn.CoreRange:
    return ttnn.CoreRange(ttnn.CoreCoord(x0, y0), ttnn.CoreCoord(x1, y1))


def test_core_coord_behaves_like_a_pair() -> None:
    core = ttnn.CoreCoord(1, 2)
    assert (core.x, core.y, repr(core)) == (1, 2, "1-2")
    assert core == ttnn.CoreCoord((1, 2))
    assert core < ttnn.CoreCoord(2, 0)
    assert core.to_json() == '{"x":1,"y":2}'
    assert ttnn.CoreCoord.from_json(core.to_json()) == core
    assert pickle.loads(pickle.dumps(core)) == core
    for bad in ((1,), (-1, 0), ("1", 2), ((1, 2), 3)):
        with pytest.raises(ArgumentError, match=r"CoreCoord\(\): "):
            ttnn.CoreCoord(*bad)


def test_core_range() -> None:
    found = cr(0, 0, 1, 2)
    assert repr(found) == "[0-0 - 1-2]"
    assert (found.start, found.end, found.grid_size()) == ((0, 0), (1, 2), (2, 3))
    assert found.contains(ttnn.CoreCoord(1, 1))
    assert not found.contains(ttnn.CoreCoord(2, 1))
    assert ttnn.CoreRange.from_json(found.to_json()) == found
    assert ttnn.CoreRange((0, 0), (1, 2)) == found
    with pytest.raises(RuntimeError) as caught:
        cr(2, 0, 1, 0)
    assert str(caught.value) == (
        "CoreRange(): end 1-0 is left of or above start 2-0\ninfo:\n"
        "Invalid core range for start_coord: (x=2,y=0), end_coord: (x=1,y=0)"
    )


def test_core_range_set() -> None:
    found = ttnn.CoreRangeSet([cr(0, 0, 1, 2)])
    assert repr(found) == "{[0-0 - 1-2]}"
    assert (found.size(), found.num_cores(), found.empty()) == (1, 6, False)
    assert found.ranges() == [cr(0, 0, 1, 2)]
    assert found.contains(ttnn.CoreCoord(0, 2))
    assert found.contains(cr(0, 0, 1, 1))
    assert not found.contains(cr(0, 0, 2, 1))
    assert ttnn.CoreRangeSet({cr(4, 0, 4, 0), cr(0, 0, 0, 0)}).ranges() == [cr(0, 0, 0, 0), cr(4, 0, 4, 0)]
    assert ttnn.CoreRangeSet.from_json(found.to_json()) == found
    assert repr(ttnn.CoreRangeSet([])) == "{}"
    assert ttnn.CoreRangeSet([cr(0, 0, 0, 0), cr(3, 4, 5, 5)]).bounding_box() == cr(0, 0, 5, 5)


def test_core_range_set_refuses() -> None:
    with pytest.raises(RuntimeError, match=r"core ranges .* overlap!") as caught:
        ttnn.CoreRangeSet([cr(0, 0, 1, 1), cr(1, 1, 2, 2)])
    assert "[(x=0,y=0) - (x=1,y=1)] and [(x=1,y=1) - (x=2,y=2)]" in str(caught.value)
    with pytest.raises(TypeError, match="expected a list or set of CoreRange"):
        ttnn.CoreRangeSet([(0, 0)])
    with pytest.raises(RuntimeError, match="Cannot get bounding_box of an empty CoreRangeSet!"):
        ttnn.CoreRangeSet([]).bounding_box()


def test_merge_returns_few_rectangles() -> None:
    left = ttnn.CoreRangeSet([cr(0, 0, 3, 3)])
    assert repr(left.merge(ttnn.CoreRangeSet([cr(4, 0, 5, 3)]))) == "{[0-0 - 5-3]}"
    assert repr(left.merge(ttnn.CoreRangeSet([cr(0, 4, 3, 5)]))) == "{[0-0 - 3-5]}"
    assert repr(left.merge(ttnn.CoreRangeSet([cr(0, 4, 1, 4)]))) == "{[0-0 - 3-3], [0-4 - 1-4]}"
    assert repr(left.merge(ttnn.CoreRangeSet([cr(0, 6, 3, 6)]))) == "{[0-0 - 3-3], [0-6 - 3-6]}"
    assert repr(left.merge(left)) == repr(left)


def test_subtract_leaves_left_right_above_below() -> None:
    whole = ttnn.CoreRangeSet([cr(0, 0, 3, 3)])
    left = whole.subtract(ttnn.CoreRangeSet([cr(1, 1, 2, 2)]))
    assert repr(left) == "{[0-0 - 0-3], [3-0 - 3-3], [1-0 - 2-0], [1-3 - 2-3]}"
    assert left.num_cores() == 12
    assert whole.subtract(whole).empty()
    assert whole.subtract(ttnn.CoreRangeSet([cr(5, 5, 6, 6)])) == whole


def test_core_grid_takes_keywords_only() -> None:
    grid = ttnn.CoreGrid(x=2, y=3)
    assert (repr(grid), grid.num_cores) == ("ttnn.CoreGrid(x=2, y=3)", 6)
    assert grid == ttnn.CoreGrid(y=3, x=2)
    with pytest.raises(TypeError):
        ttnn.CoreGrid(2, 3)


def test_num_cores_to_corerangeset() -> None:
    assert repr(ttnn.num_cores_to_corerangeset(10, ttnn.CoreCoord(8, 8))) == "{[0-0 - 0-7], [1-0 - 1-1]}"
    assert repr(ttnn.num_cores_to_corerangeset(10, ttnn.CoreCoord(8, 8), True)) == "{[0-0 - 7-0], [0-1 - 1-1]}"
    with pytest.raises(MemoryConfigError) as caught:
        ttnn.num_cores_to_corerangeset(65, ttnn.CoreCoord(8, 8))
    assert str(caught.value) == (
        "65 cores are wanted, the grid has 64\ninfo:\n"
        "Target number of cores 65 is greater than total number of available cores 64"
    )


def test_num_cores_in_subcoregrids() -> None:
    grids = ttnn.CoreRangeSet([cr(0, 0, 1, 3), cr(4, 0, 5, 3)])
    found = ttnn.num_cores_to_corerangeset_in_subcoregrids(ttnn.CoreCoord(1, 2), 6, grids, row_wise=True)
    assert list(found.cores()) == [(1, 2), (0, 3), (1, 3), (4, 0), (5, 0), (4, 1)]
    with pytest.raises(RuntimeError, match="Start core must be contained within sub_core_grids"):
        ttnn.num_cores_to_corerangeset_in_subcoregrids(ttnn.CoreCoord(2, 2), 1, grids)


def test_work_is_split_over_a_set_of_ranges_too() -> None:
    grids = ttnn.CoreRangeSet([cr(0, 0, 0, 1), cr(2, 0, 2, 1)])
    count, everyone, first, second, more, less = ttnn.split_work_to_cores(grids, 6)
    assert (count, more, less) == (4, 2, 1)
    assert everyone == grids
    assert (first.ranges(), second.ranges()) == ([cr(0, 0, 0, 1)], [cr(2, 0, 2, 1)])
    assert ttnn.split_work_to_cores(ttnn.CoreCoord(8, 8), 0)[0] == 0


def test_grid_to_cores_and_back() -> None:
    assert ttnn.grid_to_cores(3, 2, 2) == [(0, 0), (0, 1), (1, 0)]
    assert ttnn.grid_to_cores(3, 2, 2, True) == [(0, 0), (1, 0), (0, 1)]
    assert ttnn.grid_to_cores(ttnn.CoreCoord(1, 0), ttnn.CoreCoord(2, 1)) == [(1, 0), (1, 1), (2, 0), (2, 1)]
    assert ttnn.grid_to_cores(start=(1, 0), end=(2, 1), row_wise=True) == [(1, 0), (2, 0), (1, 1), (2, 1)]
    assert ttnn.corerange_to_cores(ttnn.CoreRangeSet([cr(0, 0, 1, 1)]), 3, True) == [(0, 0), (1, 0), (0, 1)]


def test_cores_are_given_as_lists_too() -> None:
    assert ttnn.CoreCoord([8, 7]) == ttnn.CoreCoord(8, 7)
    assert ttnn.num_cores_to_corerangeset(56, [8, 7]) == ttnn.num_cores_to_corerangeset(56, ttnn.CoreCoord(8, 7))
    with pytest.raises(ttnn.ArgumentError, match="expected x and y, or a tuple of both"):
        ttnn.CoreCoord([8, 7, 6])


def test_grid_size_of_a_set_is_that_of_its_bounding_box() -> None:
    cores = ttnn.CoreRangeSet([ttnn.CoreRange((1, 1), (2, 1)), ttnn.CoreRange((4, 3), (4, 3))])
    assert cores.grid_size() == (4, 3)
    with pytest.raises(ttnn.MemoryConfigError, match="the set is empty"):
        ttnn.CoreRangeSet([]).grid_size()
