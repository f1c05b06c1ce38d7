"""Padding: output shards, and the program's cores."""

from __future__ import annotations

import numpy as np
import pytest

import ttnn
from testkit.operands import make, values_of

ROWS, TILES = ttnn.ROW_MAJOR_LAYOUT, ttnn.TILE_LAYOUT
CORES = ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), (3, 3))])


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.int32])
@pytest.mark.parametrize(("after", "shard"), [((0, 56), [3, 64]), ((4, 0), [4, 8]), ((4, 56), [4, 64])])
def test_shards_follow_the_output(
    after: tuple[int, int], shard: list[int], dtype: ttnn.DataType, device: ttnn.MeshDevice
) -> None:
    x = make((1, 1, 12, 8), dtype, ROWS, device)
    place = ttnn.create_sharded_memory_config((1, 1, 12, 8), ttnn.CoreGrid(y=1, x=4), ttnn.ShardStrategy.HEIGHT)
    held = ttnn.interleaved_to_sharded(x, place, keep_l1_aligned=True)
    padded = ttnn.pad(held, [(0, 0), (0, 0), (0, after[0]), (0, after[1])], 3.0)
    widths = [(0, 0), (0, 0), (0, after[0]), (0, after[1])]
    np.testing.assert_array_equal(values_of(padded), np.pad(values_of(x), widths, constant_values=3))
    assert padded.memory_config().shard_spec.shape == shard


def test_wrong_pad_arguments_raise_errors(device: ttnn.MeshDevice) -> None:
    x = make((32, 64), ttnn.bfloat16, TILES, device)
    with pytest.raises(ttnn.ShapeError, match="padding len can't be larger"):
        ttnn.pad(x, [(0, 32)] * 3, 0.0)
    with pytest.raises(ttnn.ParameterError, match="only supported when use_multicore"):
        ttnn.pad(x, [(0, 32), (0, 32)], 0.0, use_multicore=False, sub_core_grids=CORES)
    place = ttnn.create_sharded_memory_config((64, 64), ttnn.CoreGrid(y=1, x=2), ttnn.ShardStrategy.HEIGHT)
    with pytest.raises(ttnn.MemoryConfigError, match="Output memory layout must be interleaved"):
        ttnn.pad(x, [(0, 32), (0, 0)], 0.0, memory_config=place, sub_core_grids=CORES)
    held = ttnn.pad(x, [(0, 32), (0, 0)], 0.0, memory_config=place)
    with pytest.raises(ttnn.MemoryConfigError, match="Input memory layout must be interleaved"):
        ttnn.pad(held, [(0, 32), (0, 0)], 0.0, sub_core_grids=CORES)
