"""Row-major tensors of short rows share tiles: tiled operator bits."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain, combinations, permutations
from typing import Any

import numpy as np
import pytest

import ttnn

SHAPES = [(4, 24, 1, 2), (3, 5, 1, 2), (2, 3, 5, 31), (1, 1, 1, 70), (7, 33), (4, 1, 1, 1), (5, 1, 33, 1), (2, 2, 3, 6)]
NUMBERS = {ttnn.int32: np.int32, ttnn.uint32: np.uint32, ttnn.uint16: np.uint16}


def _pair(shape: tuple[int, ...], dtype: ttnn.DataType, device: ttnn.MeshDevice, seed: int) -> list[ttnn.Tensor]:
    """Return a tensor of bit patterns in rows and in tiles."""
    words = np.random.default_rng(seed).integers(0, 2**32, shape, dtype=np.uint32)
    words.reshape(-1)[::3] = words.reshape(-1)[::3] & 0x807FFFFF | 0x3F800000
    values = (words >> 16 if dtype is ttnn.uint16 else words).astype(NUMBERS[dtype]) if dtype in NUMBERS else None
    rows = ttnn.Tensor(words.view(np.float32) if values is None else values, dtype, device, ttnn.ROW_MAJOR_LAYOUT)
    # bfloat16 loses denormals and NaN on its way to tiles.
    tiles = ttnn.to_layout(rows, ttnn.TILE_LAYOUT)
    return [ttnn.to_layout(tiles, ttnn.ROW_MAJOR_LAYOUT), tiles]


def _same(rows: Any, tiles: Any) -> None:
    for one, other in zip(*(x if isinstance(x, list | tuple) else [x] for x in (rows, tiles)), strict=True):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        assert one.to_numpy().tobytes() == other.to_numpy().tobytes()


def _axes(rank: int) -> list[list[int]]:
    return [list(axes) for axes in chain.from_iterable(combinations(range(rank), n) for n in range(1, rank + 1))]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.float32, ttnn.int32, ttnn.uint32], ids=str)
def test_extremes(shape: tuple[int, ...], dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    pair = _pair(shape, dtype, device, 1)
    for operation in (ttnn.max, ttnn.min):
        for axes in _axes(len(shape)):
            results = [operation(x, dim=axes, keepdim=True) for x in pair]
            _same(*results)
            assert results[0].layout is ttnn.TILE_LAYOUT


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", [ttnn.int32, ttnn.uint32], ids=str)
def test_sums_of_integers(shape: tuple[int, ...], dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    pair = _pair(shape, dtype, device, 2)
    for axes in _axes(len(shape)):
        _same(*(ttnn.sum(x, dim=axes) for x in pair))


@pytest.mark.parametrize("shape", [shape for shape in SHAPES if len(shape) == 4], ids=str)
def test_sums_along_leading_dimensions(shape: tuple[int, ...], device: ttnn.MeshDevice) -> None:
    numbers = np.random.default_rng(3).normal(size=shape).astype(np.float32)
    rows = ttnn.Tensor(numbers, ttnn.bfloat16, device, ttnn.ROW_MAJOR_LAYOUT)
    pair = [rows, ttnn.to_layout(rows, ttnn.TILE_LAYOUT)]
    for axes in ([0], [1], [0, 1], [0, 1, 2, 3]):
        _same(*(ttnn.sum(x, dim=axes) for x in pair))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.float32, ttnn.uint16], ids=str)
def test_sorting(shape: tuple[int, ...], dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    pair = _pair(shape, dtype, device, 4)
    for axis in range(len(shape)):
        for descending in (False, True):
            _same(*(ttnn.sort(x, axis, descending, True) for x in pair))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.float32, ttnn.uint16], ids=str)
def test_permutations(shape: tuple[int, ...], dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    rows, tiles = _pair(shape, dtype, device, 5)
    for order in permutations(range(len(shape))):
        _same(ttnn.permute(rows, order), ttnn.permute(tiles, order))


SELECTIONS: list[Callable[[ttnn.Tensor, ttnn.Tensor, ttnn.Tensor], ttnn.Tensor]] = [
    lambda x, y, _: ttnn.where(x, y, 1.5),
    lambda x, y, _: ttnn.where(x, 1.5, y),
    lambda x, _, row: ttnn.where(x, row, 1.5),
    lambda _, y, row: ttnn.where(row, 1.5, y),
    lambda x, _, __: ttnn.where(x, 1.5, -2.0),
]


@pytest.mark.parametrize("number", range(len(SELECTIONS)))
@pytest.mark.parametrize("shape", [(4, 24, 1, 2), (2, 3, 5, 31), (2, 1500)], ids=str)
@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.float32], ids=str)
def test_selections(shape: tuple[int, ...], dtype: ttnn.DataType, number: int, device: ttnn.MeshDevice) -> None:
    operands = [_pair(size, dtype, device, seed) for seed, size in enumerate((shape, shape, shape[-1:]))]
    # Half of the conditions are false.
    zeros = _pair(shape, dtype, device, 9)
    operands[0] = [ttnn.multiply(x, ttnn.gtz(zero)) for x, zero in zip(operands[0], zeros, strict=True)]
    _same(*(SELECTIONS[number](*operand) for operand in zip(*operands, strict=True)))


@pytest.mark.parametrize("shape", [(4, 24, 1, 2), (2, 3, 5, 32), (2, 2050)], ids=str)
@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.float32], ids=str)
def test_rotated_pairs(shape: tuple[int, ...], dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    _same(*(ttnn.alt_complex_rotate90(x) for x in _pair(shape, dtype, device, 6)))
