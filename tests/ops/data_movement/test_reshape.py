"""Reshapes: shards, views, padding as elements, counted programs."""

from __future__ import annotations

import numpy as np
import pytest

import ttnn
from testkit.operands import make, values_of

ROWS, TILES = ttnn.ROW_MAJOR_LAYOUT, ttnn.TILE_LAYOUT


def sharded(x: ttnn.Tensor, strategy: ttnn.ShardStrategy, cores: int = 4) -> ttnn.Tensor:
    grid = ttnn.CoreGrid(y=cores, x=1) if strategy is ttnn.ShardStrategy.HEIGHT else ttnn.CoreGrid(y=1, x=cores)
    return ttnn.to_memory_config(x, ttnn.create_sharded_memory_config(tuple(x.shape), grid, strategy))


@pytest.mark.parametrize("layout", [ROWS, TILES])
@pytest.mark.parametrize("strategy", [ttnn.ShardStrategy.HEIGHT, ttnn.ShardStrategy.WIDTH])
def test_shards_follow_the_shape(strategy: ttnn.ShardStrategy, layout: ttnn.Layout, device: ttnn.MeshDevice) -> None:
    x = sharded(make((1, 1, 128, 128), ttnn.bfloat16, layout, device), strategy)
    result = ttnn.reshape(x, (1, 1, 64, 256))
    np.testing.assert_array_equal(values_of(result), values_of(x).reshape(1, 1, 64, 256))
    spec = result.memory_config().shard_spec
    assert result.memory_config().memory_layout is x.memory_config().memory_layout
    assert spec.grid == x.memory_config().shard_spec.grid
    per_core = 32 if layout is TILES else 16
    assert spec.shape == ([per_core, 256] if strategy is ttnn.ShardStrategy.HEIGHT else [64, 64])


def test_shards_of_full_rows_are_views(device: ttnn.MeshDevice) -> None:
    x = sharded(make((1, 1, 128, 64), ttnn.bfloat16, TILES, device), ttnn.ShardStrategy.HEIGHT)
    view = ttnn.reshape(x, (1, 4, 32, 64))
    assert view.buffer_address() == x.buffer_address()
    assert view.memory_config() == x.memory_config()
    np.testing.assert_array_equal(values_of(view), values_of(x).reshape(1, 4, 32, 64))


def test_view_of_rows_in_shards(device: ttnn.MeshDevice) -> None:
    x = sharded(make((2, 2, 32, 64), ttnn.bfloat16, ROWS, device), ttnn.ShardStrategy.HEIGHT)
    view = ttnn.experimental.view(x, 2, 2, 64, 32)
    np.testing.assert_array_equal(values_of(view), values_of(x).reshape(2, 2, 64, 32))
    assert view.memory_config().shard_spec.shape == [64, 32]
    with pytest.raises(ttnn.ShapeError, match="cannot be viewed"):
        ttnn.experimental.view(make((2, 64), ttnn.bfloat16, ROWS, device), (4, 32))


def test_padding_of_tiles_becomes_elements_and_back(device: ttnn.MeshDevice) -> None:
    x = make((1, 3, 20, 64), ttnn.bfloat16, TILES, device)
    full = ttnn.reshape(x, x.padded_shape)
    assert tuple(full.shape) == (1, 3, 32, 64)
    np.testing.assert_array_equal(values_of(full)[:, :, :20], values_of(x))
    back = ttnn.reshape(full, ttnn.Shape([1, 3, 20, 64]), ttnn.Shape([1, 3, 32, 64]))
    assert tuple(back.shape) == (1, 3, 20, 64)
    assert back.buffer_address() == x.buffer_address()
    np.testing.assert_array_equal(values_of(back), values_of(x))
    with pytest.raises(ttnn.ShapeError, match="cannot have the shape"):
        ttnn.reshape(full, (1, 3, 20, 64))
    with pytest.raises(ttnn.ShapeError, match="cannot have the shape"):
        ttnn.reshape(x, (1, 3, 32, 32))


def test_padding_of_host_tiles_becomes_elements_and_back() -> None:
    x = ttnn.Tensor(np.arange(64 * 32, dtype=np.float32).reshape(2, 32, 32) % 97, ttnn.bfloat16, layout=TILES)
    cut = ttnn.reshape(x, ttnn.Shape([2, 8, 32]))
    np.testing.assert_array_equal(values_of(cut), values_of(x)[:, :8])
    np.testing.assert_array_equal(values_of(ttnn.reshape(cut, ttnn.Shape([2, 32, 32]))), values_of(x))


def test_squeeze(device: ttnn.MeshDevice) -> None:
    scalar = ttnn.Tensor(np.array(3.0, np.float32), ttnn.bfloat16, device=device, layout=ROWS)
    for dim in ([], 0, -1, [0], None):
        assert ttnn.squeeze(scalar, dim) is scalar
    with pytest.raises(ttnn.ShapeError, match="out of range"):
        ttnn.squeeze(scalar, 1)
    x = make((1, 1, 1, 64), ttnn.bfloat16, ROWS, device)
    assert tuple(ttnn.squeeze(x, [0, -3]).shape) == (1, 64)
    for twice in ([0, 0], [0, -4]):
        with pytest.raises(ttnn.ShapeError, match="dim 0 appears multiple times"):
            ttnn.squeeze(x, twice)


def test_programs_of_reshape_count(device: ttnn.MeshDevice) -> None:
    x = make((2, 64, 32), ttnn.bfloat16, TILES, device)
    device.clear_program_cache()
    ttnn.reshape(x, (128, 32))
    assert device.num_program_cache_entries() == 0, "a view runs nothing"
    for _ in range(2):
        ttnn.reshape(x, (64, 64))
        ttnn.reshape_on_device(x, 1, 1, 64, 64)
    assert device.num_program_cache_entries() == 2
