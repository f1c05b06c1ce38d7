"""Moreh sums, means and softmax, and leading dimension sums."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ttnn
from testkit.operands import make, values_of
from ttnn.golden import moreh as golden

TILES = ttnn.TILE_LAYOUT
SHAPE = (2, 3, 40, 70)


@pytest.mark.parametrize("dim", [0, 1, 2, 3, -1, [2, 3], [0, 1]])
@pytest.mark.parametrize("keepdim", [False, True])
def test_sums_and_means(dim: int | list[int], keepdim: bool, device: ttnn.MeshDevice) -> None:
    x = make(SHAPE, ttnn.bfloat16, TILES, device, fit=np.abs)
    for operator, reference in ((ttnn.moreh_sum, golden.moreh_sum), (ttnn.moreh_mean, golden.moreh_mean)):
        result = operator(x, dim=dim, keepdim=keepdim)
        expected = reference(values_of(x), dim=dim, keepdim=keepdim)
        assert tuple(result.shape) == expected.shape
        # 210 additions at most, each rounded to 8 bits, errors in both directions.
        np.testing.assert_allclose(values_of(result), expected, rtol=0.05)


def test_everything_leaves_a_matrix_of_one_element(device: ttnn.MeshDevice) -> None:
    x = ttnn.Tensor(np.ones((1, 1, 64, 40), np.float32), ttnn.bfloat16, device=device, layout=TILES)
    result = ttnn.moreh_mean(x)
    assert tuple(result.shape) == (1, 1)
    # The factors 1 / 40 and 1 / 64 have 8 bits.
    assert abs(values_of(result).item() - 1) <= 2**-6


@pytest.mark.parametrize("dim", [0, 1, 2, 3])
@pytest.mark.parametrize("name", ["softmax", "softmin", "logsoftmax"])
def test_softmax(name: str, dim: int, device: ttnn.MeshDevice) -> None:
    x = make(SHAPE, ttnn.bfloat16, TILES, device)
    operator: Any = getattr(ttnn, f"moreh_{name}")
    expected = getattr(golden, f"moreh_{name}")(values_of(x), dim)
    np.testing.assert_allclose(values_of(operator(x, dim)), expected, atol=2**-6 * np.abs(expected).max())
    output = ttnn.empty_like(x)
    assert operator(x, dim, output_tensor=output) is output
    np.testing.assert_array_equal(values_of(output), values_of(operator(x, dim)))


def test_leading_dimensions_are_added_tile_by_tile(device: ttnn.MeshDevice) -> None:
    x = make(SHAPE, ttnn.bfloat16, TILES, device, fit=np.round)
    result = ttnn.experimental.fast_reduce_nc(x, dims=[0, 1])
    assert tuple(result.shape) == (1, 1, 40, 70)
    # Sums of small integers are exact.
    np.testing.assert_array_equal(values_of(result), values_of(x).sum((0, 1), keepdims=True))


def test_unsupported_arguments_raise_errors(device: ttnn.MeshDevice) -> None:
    x = make((32, 32), ttnn.float32, TILES, device)
    with pytest.raises(ttnn.DTypeError, match=r"specific data types. \[BFLOAT16\]"):
        ttnn.moreh_mean(x)
    with pytest.raises(ttnn.LayoutError, match="moreh_sum input only supports TILE layout"):
        ttnn.moreh_sum(make((32, 32), ttnn.bfloat16, ttnn.ROW_MAJOR_LAYOUT, device))
    with pytest.raises(ttnn.ShapeError, match="must not name the last two dimensions"):
        ttnn.experimental.fast_reduce_nc(make((2, 32, 32), ttnn.bfloat16, TILES, device), dims=[1])
    with pytest.raises(ttnn.ParameterError, match="is another operator"):
        ttnn.moreh_softmax(make((32, 32), ttnn.bfloat16, TILES, device), 0, op=ttnn.MorehSoftmaxOp.SOFTMIN)


@pytest.mark.parametrize("dim", [0, 1, -2, -1, [0, 3]])
def test_sums_of_integers_wrap(dim: int | list[int], device: ttnn.MeshDevice) -> None:
    values = np.random.default_rng(2).integers(-(2**31), 2**31, (2, 3, 40, 50)).astype(np.int32)
    x = ttnn.Tensor(values, ttnn.int32, device, ttnn.TILE_LAYOUT)
    axes = tuple(dim) if isinstance(dim, list) else (dim,)
    result = ttnn.moreh_sum(x, dim=dim, keepdim=True)
    assert result.dtype is ttnn.int32
    np.testing.assert_array_equal(values_of(result), values.sum(axes, keepdims=True, dtype=np.int32))
