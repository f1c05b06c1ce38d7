"""Slices of rows in shards and back."""

from __future__ import annotations

import numpy as np
import pytest

import ttnn
from testkit.operands import make, values_of

TILES = ttnn.TILE_LAYOUT


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.bfloat8_b])
def test_slices_go_and_come_back(dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    x = make((2, 1, 128, 64), dtype, TILES, device)
    into = ttnn.zeros((2, 1, 128, 64), dtype, TILES, device)
    for index in range(4):
        part = ttnn.interleaved_to_sharded_partial(
            x,
            ttnn.CoreCoord(2, 1),
            [32, 64],
            4,
            index,
            ttnn.TensorMemoryLayout.HEIGHT_SHARDED,
            ttnn.ShardOrientation.ROW_MAJOR,
        )
        assert part.shape == [1, 1, 64, 64]
        assert part.memory_config().shard_spec.shape == [32, 64]
        np.testing.assert_array_equal(values_of(part).reshape(64, 64), values_of(x).reshape(4, 64, 64)[index])
        assert ttnn.sharded_to_interleaved_partial(part, into, 4, index) is into
    np.testing.assert_array_equal(values_of(into), values_of(x))


def test_operands_that_do_not_fit_raise_errors(device: ttnn.MeshDevice) -> None:
    x = make((1, 1, 128, 64), ttnn.bfloat16, TILES, device)
    rest = (ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.ShardOrientation.ROW_MAJOR)
    with pytest.raises(ttnn.ParameterError, match="out of range for 2 slices"):
        ttnn.interleaved_to_sharded_partial(x, ttnn.CoreCoord(2, 1), [32, 64], 2, 2, *rest)
    with pytest.raises(ttnn.ShapeError, match="3 slices of full tiles"):
        ttnn.interleaved_to_sharded_partial(x, ttnn.CoreCoord(2, 1), [32, 64], 3, 0, *rest)
    with pytest.raises(ttnn.ShapeError, match="a slice of cache_tensor has 64 rows"):
        ttnn.sharded_to_interleaved_partial(x, x, 2, 0)
