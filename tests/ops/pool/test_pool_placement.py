"""Default memory config of a pooling result."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ttnn

IMAGE: dict[str, Any] = {"batch_size": 1, "input_h": 16, "input_w": 16, "channels": 64}
WINDOW: dict[str, Any] = {"kernel_size": [2, 2], "stride": [2, 2], "padding": [0, 0]}
CASES: list[tuple[Any, Any, tuple[int, int], tuple[int, int], tuple[int, int]]] = [
    # Strategy, grid, shards of the input, and of rows and tiles of the 64 output pixels.
    (ttnn.ShardStrategy.HEIGHT, ttnn.CoreGrid(y=1, x=7), (40, 64), (10, 64), (32, 64)),
    (ttnn.ShardStrategy.HEIGHT, ttnn.CoreGrid(y=2, x=4), (32, 64), (8, 64), (32, 64)),
    (ttnn.ShardStrategy.WIDTH, ttnn.CoreGrid(y=1, x=2), (256, 32), (64, 32), (64, 32)),
    (ttnn.ShardStrategy.BLOCK, ttnn.CoreGrid(y=4, x=2), (64, 32), (16, 32), (32, 32)),
]


@pytest.mark.parametrize("layout", [ttnn.ROW_MAJOR_LAYOUT, ttnn.TILE_LAYOUT])
@pytest.mark.parametrize(("strategy", "grid", "shard", "rows", "tiles"), CASES)
def test_cores_of_a_sharded_input_keep_their_share(
    strategy: Any,
    grid: Any,
    shard: tuple[int, int],
    rows: tuple[int, int],
    tiles: tuple[int, int],
    layout: ttnn.Layout,
    device: ttnn.MeshDevice,
) -> None:
    values = np.random.default_rng(0).normal(size=(1, 1, 256, 64)).astype(np.float32)
    plain = ttnn.to_device(ttnn.Tensor(values, ttnn.bfloat16), device)
    place = ttnn.create_sharded_memory_config((1, 1, *shard), grid, strategy, use_height_and_width_as_shard_shape=True)
    sharded = ttnn.to_memory_config(plain, place)
    for pool, options in ((ttnn.max_pool2d, {"dilation": [1, 1]}), (ttnn.avg_pool2d, {})):
        result = pool(sharded, output_layout=layout, **IMAGE, **WINDOW, **options)
        memory = result.memory_config()
        assert memory.memory_layout is place.memory_layout
        assert memory.buffer_type is ttnn.BufferType.L1
        assert tuple(memory.shard_spec.shape) == (tiles if layout is ttnn.TILE_LAYOUT else rows)
        expected = pool(plain, **IMAGE, **WINDOW, **options)
        assert np.array_equal(np.asarray(result.to_numpy()), np.asarray(expected.to_numpy()))


def test_what_the_call_says_goes_first(device: ttnn.MeshDevice) -> None:
    plain = ttnn.to_device(ttnn.Tensor(np.ones((1, 1, 256, 64), np.float32), ttnn.bfloat16), device)
    place = ttnn.create_sharded_memory_config(
        (1, 1, 32, 64), ttnn.CoreGrid(y=2, x=4), ttnn.ShardStrategy.HEIGHT, use_height_and_width_as_shard_shape=True
    )
    sharded = ttnn.to_memory_config(plain, place)
    result = ttnn.avg_pool2d(sharded, memory_config=ttnn.DRAM_MEMORY_CONFIG, **IMAGE, **WINDOW)
    assert result.memory_config() == ttnn.DRAM_MEMORY_CONFIG
    assert ttnn.avg_pool2d(plain, **IMAGE, **WINDOW).memory_config() == ttnn.DRAM_MEMORY_CONFIG
