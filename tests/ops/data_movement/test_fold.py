"""Blocks of pixels as channels, halves of rows."""

from __future__ import annotations

import numpy as np
import pytest

import ttnn
from testkit.operands import make, values_of

ROWS, TILES = ttnn.ROW_MAJOR_LAYOUT, ttnn.TILE_LAYOUT


@pytest.mark.parametrize("layout", [ROWS, TILES])
@pytest.mark.parametrize("padding", [[0, 0], [1, 2], [1, 3, 2, 0], [0, 2, 0, 0, 1, 4]])
def test_fold_matches_its_definition(padding: list[int], layout: ttnn.Layout, device: ttnn.MeshDevice) -> None:
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


def test_wrong_fold_arguments_raise_errors(device: ttnn.MeshDevice) -> None:
    x = make((2, 9, 8, 32), ttnn.bfloat16, ROWS, device)
    with pytest.raises(ttnn.ShapeError, match="do not divide"):
        ttnn.fold(x, 2, 2)
    with pytest.raises(ttnn.ParameterError, match="padding"):
        ttnn.fold(x, 1, 1, padding=[1, 2, 3])


def test_rotate_half(device: ttnn.MeshDevice) -> None:
    x = make((1, 2, 40, 128), ttnn.bfloat16, TILES, device)
    values = values_of(x)
    expected = np.concatenate([-values[..., 64:], values[..., :64]], axis=-1)
    np.testing.assert_array_equal(values_of(ttnn.experimental.rotate_half(x)), expected)
    blocks = make((1, 2, 32, 64), ttnn.bfloat8_b, TILES, device)
    values = values_of(blocks)
    expected = np.concatenate([-values[..., 32:], values[..., :32]], axis=-1)
    np.testing.assert_array_equal(values_of(ttnn.experimental.rotate_half(blocks)), expected)
    with pytest.raises(ttnn.ShapeError, match="multiple of 64"):
        ttnn.experimental.rotate_half(make((1, 1, 32, 96), ttnn.bfloat16, TILES, device))


def test_the_negated_half_of_float32_is_multiplied_in_a_16_bit_dst(device: ttnn.MeshDevice) -> None:
    x = make((1, 2, 40, 64), ttnn.float32, TILES, device)
    values = values_of(x).astype(np.float32)
    cut = (values[..., 32:].view(np.uint32) & 0xFFFF0000).view(np.float32)
    expected = np.concatenate([-cut, values[..., :32]], axis=-1)
    np.testing.assert_array_equal(values_of(ttnn.experimental.rotate_half(x)), expected)


def test_fold_of_block_floats(device: ttnn.MeshDevice) -> None:
    x = make((1, 4, 4, 32), ttnn.bfloat8_b, TILES, device)
    folded = ttnn.fold(x, 2, 2)
    expected = values_of(x).reshape(1, 2, 2, 2, 2, 32).transpose(0, 1, 3, 2, 4, 5).reshape(1, 2, 2, 128)
    np.testing.assert_array_equal(values_of(folded), expected)
    assert folded.dtype is ttnn.bfloat16


def _rows(shape: tuple[int, ...], cores: int) -> ttnn.MemoryConfig:
    return ttnn.create_sharded_memory_config(shape, ttnn.CoreGrid(y=1, x=cores), ttnn.ShardStrategy.HEIGHT)


@pytest.mark.parametrize("size", [8, 9])
def test_fold_of_sharded_channels_first(size: int, device: ttnn.MeshDevice) -> None:
    shape = (2, 3, size, 16)
    there = make(shape, ttnn.bfloat16, ROWS, device)
    x = ttnn.to_memory_config(there, _rows(shape, 2))
    padded = np.pad(values_of(there), [(0, 0), (0, 1), (3, 3), (2, 2)]).transpose(0, 2, 3, 1)[:, : (size + 6) // 2 * 2]
    n, h, w, c = padded.shape
    expected = padded.reshape(n, h // 2, 2, w // 2, 2, c).transpose(0, 1, 3, 2, 4, 5).reshape(n, h // 2, w // 2, 4 * c)
    options = {"use_transpose_as_fold": True, "padding": [3, 3, 2, 2, 0, 1]}
    cores = ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(6, 0))])
    with (
        ttnn.manage_config("enable_comparison_mode", True),
        ttnn.manage_config("comparison_mode_should_raise_exception", True),
    ):
        folded = ttnn.fold(x, 2, 2, grid_size=cores, **options)
    np.testing.assert_array_equal(values_of(folded), expected)
    assert folded.memory_config().shard_spec.grid == cores
    assert tuple(folded.memory_config().shard_spec.shape) == (n * (h // 2) * (w // 2) // 7, 16)
    assert ttnn.fold(x, 2, 2, **options).memory_config().shard_spec.num_cores() == 4
    place = _rows(expected.shape, 4)
    assert ttnn.fold(x, 2, 2, override_memory_config=place, **options).memory_config() == place
    cut = ttnn.fold(x, 2, 2, output_shape=ttnn.Shape([2, 5, 8, 16]), **options)
    np.testing.assert_array_equal(values_of(cut), expected[:, :5, :8])
