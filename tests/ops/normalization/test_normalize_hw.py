"""`ttnn.normalize_hw`: the steps of the official composition, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

import ttnn
from testkit.operands import make, raw_of, values_of


@pytest.mark.parametrize("shape", [(1, 1, 32, 32), (2, 3, 64, 96), (1, 2, 33, 65)])
def test_bits_are_those_of_the_steps(shape: tuple[int, ...], device: ttnn.MeshDevice) -> None:
    x = make(shape, ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
    deviations = ttnn.subtract(x, ttnn.mean(x, [2, 3], True))
    variance = ttnn.sum(ttnn.square(deviations), [2, 3], True, scalar=1 / (shape[2] * shape[3]))
    expected = ttnn.multiply(deviations, variance, input_tensor_b_activations=[ttnn.UnaryOpType.RSQRT])
    np.testing.assert_array_equal(raw_of(ttnn.normalize_hw(x)), raw_of(expected))


def test_mean_and_variance_of_every_matrix(device: ttnn.MeshDevice) -> None:
    result = values_of(ttnn.normalize_hw(make((2, 3, 64, 96), ttnn.bfloat16, ttnn.TILE_LAYOUT, device)))
    np.testing.assert_allclose(result.mean((2, 3)), 0, atol=0.01)
    np.testing.assert_allclose(result.var((2, 3)), 1, atol=0.02)


def test_a_place_for_the_result(device: ttnn.MeshDevice) -> None:
    x = make((1, 1, 64, 96), ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
    assert ttnn.normalize_hw(x, memory_config=ttnn.L1_MEMORY_CONFIG).memory_config() == ttnn.L1_MEMORY_CONFIG


def test_wrong_arguments_raise_errors(device: ttnn.MeshDevice) -> None:
    with pytest.raises(ttnn.ShapeError, match=r"ttnn\.normalize_hw: dim=2 is out of range for a tensor of rank 2"):
        ttnn.normalize_hw(make((32, 32), ttnn.bfloat16, ttnn.TILE_LAYOUT, device))
    with pytest.raises(ttnn.DTypeError, match=r"does not support integer inputs - got DataType::INT32"):
        ttnn.normalize_hw(make((1, 1, 32, 32), ttnn.int32, ttnn.TILE_LAYOUT, device))


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.float32], ids=str)
def test_rows_are_tilized_first(dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    rows = make((1, 1, 64, 40), dtype, ttnn.ROW_MAJOR_LAYOUT, device)
    result = ttnn.normalize_hw(rows)
    assert result.layout is ttnn.TILE_LAYOUT
    assert result.dtype is dtype
    tiles = ttnn.normalize_hw(ttnn.to_layout(rows, ttnn.TILE_LAYOUT))
    np.testing.assert_array_equal(raw_of(result), raw_of(tiles))
