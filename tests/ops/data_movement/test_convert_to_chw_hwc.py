"""Sharded images, channels first or last: element-wise checked copies."""

from __future__ import annotations

import numpy as np
import pytest

import ttnn
from testkit.operands import make, values_of

RM, TILES = ttnn.ROW_MAJOR_LAYOUT, ttnn.TILE_LAYOUT


def _shards(layout: ttnn.TensorMemoryLayout, cores: int, shape: list[int]) -> ttnn.MemoryConfig:
    grid = ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(cores - 1, 0))})
    return ttnn.MemoryConfig(layout, ttnn.BufferType.L1, ttnn.ShardSpec(grid, shape, ttnn.ShardOrientation.ROW_MAJOR))


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.bfloat8_b, ttnn.float32])
@pytest.mark.parametrize(("channels", "rows"), [(1, 32), (3, 64), (32, 64)])
def test_channels_first(channels: int, rows: int, dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    place = _shards(ttnn.TensorMemoryLayout.HEIGHT_SHARDED, 3, [rows, 32])
    x = make((1, 1, 96, channels), dtype, TILES, device, memory_config=place)
    kept = ttnn.float32 if dtype is ttnn.float32 else ttnn.bfloat16
    result = ttnn.experimental.convert_to_chw(x, dtype=kept)
    assert (tuple(result.shape), result.layout, result.dtype) == ((1, 1, channels, 96), RM, kept)
    spec = result.memory_config().shard_spec
    assert spec is not None
    assert (result.memory_config().memory_layout, list(spec.shape)) == (
        ttnn.TensorMemoryLayout.WIDTH_SHARDED,
        [channels, rows],
    )
    np.testing.assert_array_equal(values_of(result), values_of(x).swapaxes(2, 3))


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.float32])
@pytest.mark.parametrize(("batch", "channels"), [(1, 1), (2, 3), (3, 8)])
def test_channels_last(batch: int, channels: int, dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    place = _shards(ttnn.TensorMemoryLayout.WIDTH_SHARDED, 2, [batch * channels, 32])
    x = make((1, batch, channels, 64), dtype, RM, device, memory_config=place)
    result = ttnn.experimental.convert_to_hwc(x)
    unit = 8 if dtype is ttnn.bfloat16 else 4
    wide = -(-channels // unit) * unit
    assert tuple(result.shape) == (1, 1, batch * 64, wide)
    spec = result.memory_config().shard_spec
    assert spec is not None
    assert list(spec.shape) == [batch * 32, wide]
    expected = values_of(x)[0].swapaxes(1, 2).reshape(batch * 64, channels)
    np.testing.assert_array_equal(values_of(result)[0, 0, :, :channels], expected)


def test_operands_that_do_not_fit_raise_errors(device: ttnn.MeshDevice) -> None:
    first, last = ttnn.experimental.convert_to_chw, ttnn.experimental.convert_to_hwc
    with pytest.raises(ttnn.MemoryConfigError, match="shard it by height"):
        first(make((1, 1, 64, 8), ttnn.bfloat16, TILES, device))
    place = _shards(ttnn.TensorMemoryLayout.HEIGHT_SHARDED, 2, [32, 64])
    with pytest.raises(ttnn.ShapeError, match=r"C must be less than or equal to 32 \(was 40\)"):
        first(make((1, 1, 64, 40), ttnn.bfloat16, TILES, device, memory_config=place))
    narrow = _shards(ttnn.TensorMemoryLayout.HEIGHT_SHARDED, 2, [32, 32])
    with pytest.raises(ttnn.DTypeError, match="cannot be BFLOAT8_B"):
        first(make((1, 1, 64, 8), ttnn.bfloat8_b, TILES, device, memory_config=narrow))
    with pytest.raises(ttnn.LayoutError, match="must be in row-major layout"):
        last(make((1, 1, 8, 64), ttnn.bfloat16, TILES, device))
    wide = _shards(ttnn.TensorMemoryLayout.WIDTH_SHARDED, 2, [8, 32])
    x = make((1, 1, 8, 64), ttnn.bfloat16, RM, device, memory_config=wide)
    with pytest.raises(ttnn.MemoryConfigError, match="Output tensor must be height sharded"):
        last(x, memory_config=wide)
    tall = make((1, 1, 64, 8), ttnn.float32, TILES, device, memory_config=narrow)
    for convert, tensor, dtype in ((first, tall, ttnn.bfloat16), (last, x, ttnn.float32)):
        with pytest.raises(ttnn.UnsupportedError, match="that conversion is not implemented"):
            convert(tensor, dtype=dtype)
