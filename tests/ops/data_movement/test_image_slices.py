"""Slices written into tensors, and slices of images in shards."""

from __future__ import annotations

import numpy as np
import pytest

import ttnn
from testkit.operands import make, values_of

ROWS, TILES = ttnn.ROW_MAJOR_LAYOUT, ttnn.TILE_LAYOUT


def shards(height: int, width: int, cores: int) -> ttnn.MemoryConfig:
    return ttnn.create_sharded_memory_config(
        (1, 1, height * cores, width), ttnn.CoreGrid(y=1, x=cores), ttnn.ShardStrategy.HEIGHT
    )


@pytest.mark.parametrize("layout", [ROWS, TILES])
@pytest.mark.parametrize(
    ("start", "end", "step"),
    [
        ((1, 1, 32, 32), (2, 3, 64, 96), (1, 1, 1, 1)),
        ((0, 0, 3, 5), (2, 2, 60, 90), (1, 1, 1, 1)),
        ((0, 1, 3, 5), (2, 3, 64, 96), (1, 2, 7, 4)),
        ((0, 0, 0, 95), (2, 3, 64, 96), (2, 1, 64, 3)),
    ],
)
def test_slice_write(
    start: tuple[int, ...], end: tuple[int, ...], step: tuple[int, ...], layout: ttnn.Layout, device: ttnn.MeshDevice
) -> None:
    into = make((2, 3, 64, 96), ttnn.bfloat16, layout, device)
    expected = values_of(into)
    part = tuple(slice(*limits) for limits in zip(start, end, step, strict=True))
    x = make(expected[part].shape, ttnn.bfloat16, layout, device, seed=1)
    expected[part] = values_of(x)
    result = ttnn.experimental.slice_write(x, into, start, end, step)
    assert result is into
    np.testing.assert_array_equal(values_of(into), expected)


@pytest.mark.parametrize("rank", [1, 3, 6])
def test_slice_write_of_any_rank(rank: int, device: ttnn.MeshDevice) -> None:
    dims = (3, 2, 5, 2, 4, 9)[-rank:]
    into = make(dims, ttnn.float32, ROWS, device)
    expected = values_of(into)
    part = tuple(slice(size // 3, size, 2) for size in dims)
    x = make(expected[part].shape, ttnn.float32, ROWS, device, seed=1)
    expected[part] = values_of(x)
    ttnn.experimental.slice_write(x, into, [size // 3 for size in dims], dims, [2] * rank)
    np.testing.assert_array_equal(values_of(into), expected)


@pytest.mark.parametrize("layout", [ROWS, TILES])
def test_slice_write_of_shards(layout: ttnn.Layout, device: ttnn.MeshDevice) -> None:
    # Columns 32 to 44 of the images; in tiles each line of pixels is padded to 32, and the channels in both cases.
    into = make((2, 4, 44, 40), ttnn.bfloat16, layout, device)
    expected = values_of(into)
    width = 32 if layout is TILES else 12
    pixels = np.arange(2 * 4 * width * 64, dtype=np.float32).reshape(1, 1, -1, 64) % 251
    x = ttnn.Tensor(pixels, ttnn.bfloat16, device=device, layout=layout)
    x = ttnn.to_memory_config(x, shards(8 * width // 4, 64, 4))
    expected[:, :, 32:44] = pixels.reshape(2, 4, width, 64)[:, :, :12, :40]
    ttnn.experimental.slice_write(x, into, [0, 0, 32, 0], [2, 4, 44, 40], [1, 1, 1, 1])
    np.testing.assert_array_equal(values_of(into), expected)


def test_wrong_slice_write_arguments_raise_errors(device: ttnn.MeshDevice) -> None:
    into = make((2, 3, 64, 96), ttnn.bfloat16, TILES, device)
    expected = values_of(into)
    x = make((1, 2, 32, 64), ttnn.bfloat16, TILES, device)
    write = ttnn.experimental.slice_write
    with pytest.raises(ttnn.ShapeError, match="not within"):
        write(x, into, [2, 1, 32, 32], [3, 3, 64, 96], [1, 1, 1, 1])
    with pytest.raises(ttnn.ShapeError, match="must be positive"):
        write(x, into, [1, 1, 32, 32], [2, 3, 64, 96], [1, 0, 1, 1])
    with pytest.raises(ttnn.ShapeError, match="Size of the slice being written"):
        write(x, into, [1, 1, 32, 32], [2, 3, 60, 96], [1, 1, 1, 1])
    with pytest.raises(ttnn.DTypeError, match="same dtype"):
        write(make((1, 2, 32, 64), ttnn.float32, TILES, device), into, [1, 1, 32, 32], [2, 3, 64, 96], [1] * 4)
    held = ttnn.to_memory_config(make((1, 1, 64, 96), ttnn.bfloat16, TILES, device), shards(32, 96, 2))
    with pytest.raises(ttnn.ShapeError, match="multiple of tile height"):
        write(held, into, [0, 0, 3, 0], [1, 1, 64, 96], [1] * 4)
    with pytest.raises(ttnn.ParameterError, match="Step is not supported"):
        write(held, into, [0, 0, 0, 0], [1, 1, 64, 96], [1, 1, 2, 1])
    with pytest.raises(ttnn.LayoutError, match="TILE"):
        write(held, make((1, 1, 64, 96), ttnn.bfloat16, ROWS, device), [0] * 4, [1, 1, 64, 96], [1] * 4)
    with pytest.raises(ttnn.MemoryConfigError, match="sharded output"):
        write(make((1, 1, 64, 96), ttnn.bfloat16, TILES, device), held, [0] * 4, [1, 1, 64, 96], [1] * 4)
    np.testing.assert_array_equal(values_of(into), expected)


@pytest.mark.parametrize(("dtype", "layout"), [(ttnn.bfloat16, ROWS), (ttnn.float32, TILES), (ttnn.bfloat8_b, TILES)])
def test_padded_slice(dtype: ttnn.DataType, layout: ttnn.Layout, device: ttnn.MeshDevice) -> None:
    x = make((1, 8, 8, 20), dtype, layout, device)
    place = shards(8, 32, 2)
    result = ttnn.experimental.padded_slice(x, [0, 2, 0, 0], [1, 4, 8, 20], memory_config=place)
    expected = np.pad(values_of(x)[:, 2:4].reshape(1, 1, 16, 20), [(0, 0)] * 3 + [(0, 12)])
    np.testing.assert_array_equal(values_of(result), expected)
    assert result.memory_config() == place
    assert result.layout is ROWS
    assert result.dtype is (ttnn.bfloat16 if dtype is ttnn.bfloat8_b else dtype)


def test_padded_slice_in_blocks(device: ttnn.MeshDevice) -> None:
    x = make((1, 8, 8, 60), ttnn.bfloat16, ROWS, device)
    grid = ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), (1, 1))])
    spec = ttnn.ShardSpec(grid, [16, 32], ttnn.ShardOrientation.ROW_MAJOR)
    place = ttnn.MemoryConfig(ttnn.TensorMemoryLayout.BLOCK_SHARDED, ttnn.BufferType.L1, spec)
    result = ttnn.padded_slice(x, [0, 4, 0, 0], [1, 8, 8, 60], memory_config=place)
    np.testing.assert_array_equal(values_of(result), values_of(x)[:, 4:].reshape(1, 1, 32, 60))
    assert tuple(result.padded_shape) == (1, 1, 32, 64)


def test_wrong_padded_slice_arguments_raise_errors(device: ttnn.MeshDevice) -> None:
    x = make((1, 8, 8, 20), ttnn.bfloat16, ROWS, device)
    with pytest.raises(ttnn.MemoryConfigError, match="must name shards"):
        ttnn.experimental.padded_slice(x, [0] * 4, [1, 4, 8, 20], memory_config=ttnn.DRAM_MEMORY_CONFIG)
    with pytest.raises(ttnn.ParameterError, match="Steps != 1"):
        ttnn.experimental.padded_slice(x, [0] * 4, [1, 8, 8, 20], [1, 2, 1, 1], memory_config=shards(16, 20, 2))
    held = ttnn.to_memory_config(x, shards(32, 20, 2))
    with pytest.raises(ttnn.MemoryConfigError, match="does not support sharded inputs"):
        ttnn.experimental.padded_slice(held, [0] * 4, [1, 4, 8, 20], memory_config=shards(16, 20, 2))
