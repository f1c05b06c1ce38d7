"""Blocks of pixels as channels, slices written and padded, halves of rows."""

from __future__ import annotations

import numpy as np
import pytest

import ttnn
from operands import make, values_of

ROWS, TILES = ttnn.ROW_MAJOR_LAYOUT, ttnn.TILE_LAYOUT


@pytest.mark.parametrize("layout", [ROWS, TILES])
@pytest.mark.parametrize("padding", [[0, 0], [1, 2], [1, 3, 2, 0], [0, 2, 0, 0, 1, 4]])
def test_fold(padding: list[int], layout: ttnn.Layout, device: ttnn.MeshDevice) -> None:
    x = make((2, 8, 12, 5), ttnn.bfloat16, layout, device)
    around = [padding[0], padding[0], padding[1], padding[1], 0, 0] if len(padding) == 2 else [*padding, 0, 0][:6]
    values = np.pad(values_of(x), [(0, 0), *zip(around[::2], around[1::2], strict=True)])
    n, h, w, c = values.shape
    expected = values.reshape(n, h // 2, 2, w // 2, 2, c).transpose(0, 1, 3, 2, 4, 5).reshape(n, h // 2, w // 2, 4 * c)
    folded = ttnn.fold(x, 2, 2, padding=padding)
    np.testing.assert_array_equal(values_of(folded), expected)
    assert folded.layout is ROWS
    flat = ttnn.fold(x, 2, 2, padding=padding, collapse_output=True)
    np.testing.assert_array_equal(values_of(flat), expected.reshape(1, 1, -1, 4 * c))


def test_fold_of_channels_first(device: ttnn.MeshDevice) -> None:
    x = make((2, 3, 30, 28), ttnn.bfloat16, ROWS, device)
    values = np.pad(values_of(x), [(0, 0), (0, 1), (0, 2), (0, 4)]).transpose(0, 2, 3, 1)
    expected = values.reshape(2, 16, 2, 16, 2, 4).transpose(0, 1, 3, 2, 4, 5).reshape(2, 16, 16, 16)
    options = {"use_transpose_as_fold": True, "padding": [0, 0, 0, 0, 0, 1]}
    np.testing.assert_array_equal(values_of(ttnn.fold(x, 2, 2, **options)), expected)
    cut = ttnn.fold(x, 2, 2, output_shape=ttnn.Shape([2, 15, 14, 16]), **options)
    np.testing.assert_array_equal(values_of(cut), expected[:, :15, :14])


def test_fold_refuses(device: ttnn.MeshDevice) -> None:
    x = make((2, 9, 8, 32), ttnn.bfloat16, ROWS, device)
    with pytest.raises(ttnn.ShapeError, match="do not divide"):
        ttnn.fold(x, 2, 2)
    with pytest.raises(ttnn.ParameterError, match="padding"):
        ttnn.fold(x, 1, 1, padding=[1, 2, 3])


@pytest.mark.parametrize("layout", [ROWS, TILES])
def test_slice_write(layout: ttnn.Layout, device: ttnn.MeshDevice) -> None:
    into = make((2, 3, 64, 96), ttnn.bfloat16, layout, device)
    x = make((1, 2, 32, 64), ttnn.bfloat16, TILES, device, seed=1)
    expected = values_of(into)
    expected[1:2, 1:3, 32:64, 32:96] = values_of(x)
    result = ttnn.experimental.slice_write(x, into, [1, 1, 32, 32], [2, 3, 64, 96], [1, 1, 1, 1])
    assert result is into
    np.testing.assert_array_equal(values_of(into), expected)
    with pytest.raises(ttnn.UnsupportedError, match="steps of 1"):
        ttnn.experimental.slice_write(x, into, [1, 1, 0, 32], [2, 3, 64, 96], [1, 1, 2, 1])
    with pytest.raises(ttnn.ShapeError, match="not within"):
        ttnn.experimental.slice_write(x, into, [2, 1, 32, 32], [3, 3, 64, 96], [1, 1, 1, 1])
    np.testing.assert_array_equal(values_of(into), expected)


def test_padded_slice(device: ttnn.MeshDevice) -> None:
    x = make((1, 8, 8, 20), ttnn.bfloat16, ROWS, device)
    shards = ttnn.create_sharded_memory_config(
        (1, 1, 16, 32), ttnn.CoreGrid(y=1, x=2), ttnn.ShardStrategy.HEIGHT, ttnn.ShardOrientation.ROW_MAJOR
    )
    result = ttnn.experimental.padded_slice(x, [0, 2, 0, 0], [1, 4, 8, 20], memory_config=shards, pad_value=3.0)
    expected = np.pad(values_of(x)[:, 2:4].reshape(1, 1, 16, 20), [(0, 0)] * 3 + [(0, 12)], constant_values=3.0)
    np.testing.assert_array_equal(values_of(result), expected)
    assert result.memory_config() == shards
    with pytest.raises(ttnn.MemoryConfigError, match="must name shards"):
        ttnn.experimental.padded_slice(x, [0] * 4, [1, 4, 8, 20], memory_config=ttnn.DRAM_MEMORY_CONFIG)


def test_rotate_half(device: ttnn.MeshDevice) -> None:
    x = make((1, 2, 40, 128), ttnn.bfloat16, TILES, device)
    values = values_of(x)
    expected = np.concatenate([-values[..., 64:], values[..., :64]], axis=-1)
    np.testing.assert_array_equal(values_of(ttnn.experimental.rotate_half(x)), expected)
    with pytest.raises(ttnn.ShapeError, match="multiple of 64"):
        ttnn.experimental.rotate_half(make((1, 1, 32, 96), ttnn.bfloat16, TILES, device))


def test_fold_of_block_floats(device: ttnn.MeshDevice) -> None:
    x = make((1, 4, 4, 32), ttnn.bfloat8_b, TILES, device)
    folded = ttnn.fold(x, 2, 2)
    expected = values_of(x).reshape(1, 2, 2, 2, 2, 32).transpose(0, 1, 3, 2, 4, 5).reshape(1, 2, 2, 128)
    np.testing.assert_array_equal(values_of(folded), expected)
    assert folded.dtype is ttnn.bfloat16
