"""`manual_seed`: which cores get which seed, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import ttnn
from ttnn.base.exceptions import ArgumentError, DTypeError, LayoutError, ParameterError, ShapeError
from ttnn.ops.random.seeds import seeds_of


def _words(values: list[int], device: ttnn.MeshDevice) -> ttnn.Tensor:
    return ttnn.Tensor(np.array(values, np.uint32), ttnn.uint32, None, ttnn.ROW_MAJOR_LAYOUT).to(device)


def test_manual_seed_sets_the_cores_of_its_users(device: ttnn.MeshDevice) -> None:
    grid = device.compute_with_storage_grid_size()
    result = ttnn.manual_seed(42, device=device)
    assert (tuple(result.shape), result.dtype, result.layout) == ((1,), ttnn.uint32, ttnn.ROW_MAJOR_LAYOUT)
    assert seeds_of(device) == dict.fromkeys(range(grid.x * grid.y), 42)
    ttnn.manual_seed(seeds=7, device=device, user_ids=3)
    ttnn.manual_seed(seeds=8, device=device, user_ids=_words([0, 5], device))
    ttnn.manual_seed(seeds=_words([91, 92], device), user_ids=_words([1, 2], device))
    found = seeds_of(device)
    assert [found[user] for user in range(7)] == [8, 91, 92, 7, 42, 8, 42]
    cores = ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(1, 1))})
    ttnn.manual_seed(5, device=device, sub_core_grids=cores)
    assert seeds_of(device) == dict.fromkeys(range(4), 5)


def test_wrong_arguments_raise_errors(device: ttnn.MeshDevice) -> None:
    two = _words([1, 2], device)
    with pytest.raises(ArgumentError, match="Device must be provided"):
        ttnn.manual_seed(1)
    with pytest.raises(ParameterError, match="so user_ids must not be provided as a scalar"):
        ttnn.manual_seed(two, user_ids=7)
    with pytest.raises(ParameterError, match="must be in the range"):
        ttnn.manual_seed(1, device=device, user_ids=32)
    with pytest.raises(ShapeError, match="same number of elements"):
        ttnn.manual_seed(two, user_ids=_words([1, 2, 3], device))
    with pytest.raises(DTypeError, match="UINT32"):
        ttnn.manual_seed(ttnn.zeros((2,), device=device), user_ids=two)
    with pytest.raises(LayoutError, match="ROW_MAJOR"):
        ttnn.manual_seed(ttnn.to_layout(two, ttnn.TILE_LAYOUT), user_ids=two)
    with pytest.raises(ShapeError, match="1-dimensional"):
        ttnn.manual_seed(ttnn.reshape(two, (1, 2)), user_ids=two)


def test_the_largest_seed_leaves_generators_as_they_are(device: ttnn.MeshDevice) -> None:
    ttnn.manual_seed(42, device=device)
    before = dict(seeds_of(device))
    ttnn.manual_seed(2**32 - 1, device=device)
    ttnn.manual_seed(2**32 - 1, device=device, user_ids=3)
    ttnn.manual_seed(seeds=_words([2**32 - 1, 9], device), user_ids=_words([1, 2], device))
    assert seeds_of(device) == before | {2: 9}
