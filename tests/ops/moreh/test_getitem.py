"""Slices that indices name along neighbouring dimensions."""

from __future__ import annotations

import numpy as np
import pytest

import ttnn
from testkit.operands import make, values_of
from ttnn.golden import moreh as golden

TILES, ROWS = ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT
SHAPE = (3, 4, 5, 37, 40)


def _indices(size: int, count: int, seed: int, device: ttnn.MeshDevice) -> ttnn.Tensor:
    numbers = np.random.default_rng(seed).integers(-size, size, count)
    return ttnn.Tensor(numbers.astype(np.int32), ttnn.int32, device, ROWS)


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.int32])
@pytest.mark.parametrize("dims", [[0], [1], [3], [0, 1], [1, 2, 3], [0, 1, 2, 3], [4], [3, 4]])
@pytest.mark.parametrize("layout", [TILES, ROWS])
def test_slices(dtype: ttnn.DataType, dims: list[int], layout: ttnn.Layout, device: ttnn.MeshDevice) -> None:
    x = make(SHAPE, dtype, layout, device)
    indices = [_indices(SHAPE[dim], 6, dim, device) for dim in dims]
    if layout is ROWS and dims[-1] == 4:
        with pytest.raises(ttnn.ShapeError, match="not support W index tensor"):
            ttnn.moreh_getitem(x, indices, dims)
        return
    result = ttnn.moreh_getitem(x, indices, dims)
    expected = golden.moreh_getitem([values_of(index) for index in indices], dims, input=values_of(x))
    ones = (1,) * (len(dims) - 1) if layout is TILES else ()
    assert tuple(result.shape) == (*SHAPE[: dims[0]], *ones, 6, *SHAPE[dims[-1] + 1 :])
    np.testing.assert_array_equal(values_of(result).reshape(expected.shape), expected)
    into = ttnn.empty_like(result)
    assert ttnn.moreh_getitem(x, indices, dims, output=into) is into
    np.testing.assert_array_equal(values_of(into), values_of(result))


def test_indices_in_tiles(device: ttnn.MeshDevice) -> None:
    x = make((5, 40), ttnn.bfloat16, TILES, device)
    index = ttnn.Tensor(np.array([[4, 0, -1]], np.int32), ttnn.int32, device, TILES)
    np.testing.assert_array_equal(values_of(ttnn.moreh_getitem(x, [index], [0])), values_of(x)[[4, 0, -1]])


def test_unsupported_arguments_raise_errors(device: ttnn.MeshDevice) -> None:
    x, index = make((5, 6, 40), ttnn.bfloat16, ROWS, device), _indices(5, 3, 0, device)
    with pytest.raises(ttnn.ParameterError, match="must be consecutive integers"):
        ttnn.moreh_getitem(x, [index, index], [1, 0])
    with pytest.raises(ttnn.ParameterError, match="one for each"):
        ttnn.moreh_getitem(x, [index], [0, 1])
    with pytest.raises(ttnn.ParameterError, match="Input tensor is required"):
        ttnn.moreh_getitem(None, [index], [0])
    with pytest.raises(ttnn.DTypeError, match="must be of type INT32 or BFLOAT16"):
        ttnn.moreh_getitem(make((5, 6), ttnn.float32, ROWS, device), [index], [0])
    with pytest.raises(ttnn.DTypeError, match="Index tensor must be of type INT32"):
        ttnn.moreh_getitem(x, [make((3,), ttnn.uint32, ROWS, device)], [0])
    with pytest.raises(ttnn.ShapeError, match="index tensors must be identical"):
        ttnn.moreh_getitem(x, [index, _indices(5, 4, 1, device)], [0, 1])
    with pytest.raises(ttnn.ShapeError, match="it has no elements"):
        ttnn.moreh_getitem(make((5, 6, 0), ttnn.bfloat16, ROWS, device), [index], [0])
