"""The dot product of the moreh family and its gradients."""

from __future__ import annotations

import numpy as np
import pytest

import ttnn
from testkit.operands import make, values_of

TILES = ttnn.TILE_LAYOUT


def _vectors(count: int, device: ttnn.MeshDevice, dtype: ttnn.DataType = ttnn.bfloat16) -> list[ttnn.Tensor]:
    return [make((1, 1, 1, count), dtype, TILES, device, seed=seed, fit=np.round) for seed in (1, 2)]


@pytest.mark.parametrize("count", [1, 10, 32, 70, 352])
def test_products_of_small_integers_are_exact(count: int, device: ttnn.MeshDevice) -> None:
    a, b = _vectors(count, device)
    result = ttnn.moreh_dot(a, b)
    expected = float((values_of(a) * values_of(b)).sum())
    assert tuple(result.shape) == (1, 1, 1, 1)
    # Sums of integers below 256 have no more than 8 bits.
    assert values_of(result).item() == expected
    into = ttnn.empty_like(result)
    assert ttnn.moreh_dot(a, b, output=into) is into
    assert values_of(into).item() == expected


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.bfloat8_b])
@pytest.mark.parametrize("count", [10, 32, 70])
def test_dot_gradients_are_the_scaled_operands(dtype: ttnn.DataType, count: int, device: ttnn.MeshDevice) -> None:
    a, b = _vectors(count, device, dtype)
    grad = ttnn.full((1, 1, 1, 1), 0.5, ttnn.bfloat16, TILES, device)
    into = [ttnn.clone(tensor) for tensor in (a, b)]
    result = ttnn.moreh_dot_backward(grad, a, b, input_grad=into[0], other_grad=into[1])
    assert result == into
    for tensor, other in zip(into, (b, a), strict=True):
        np.testing.assert_array_equal(values_of(tensor), values_of(other) / 2)
    assert ttnn.moreh_dot_backward(grad, a, b, other_grad=into[1]) == [None, into[1]]


def test_unsupported_arguments_raise_errors(device: ttnn.MeshDevice) -> None:
    a, b = _vectors(64, device)
    with pytest.raises(ttnn.ShapeError, match="Invalid input tensor dimensions"):
        ttnn.moreh_dot(make((32, 32), ttnn.bfloat16, TILES, device), b)
    with pytest.raises(ttnn.ShapeError, match="Shape without padding must be the same"):
        ttnn.moreh_dot(a, _vectors(32, device)[1])
    with pytest.raises(ttnn.UnsupportedError, match="BFLOAT8_B is not modelled"):
        ttnn.moreh_dot(*_vectors(64, device, ttnn.bfloat8_b))
    with pytest.raises(ttnn.UnsupportedError, match="32-bit Dst is not modelled"):
        ttnn.moreh_dot(a, b, compute_kernel_config=ttnn.WormholeComputeKernelConfig(fp32_dest_acc_en=True))
    with pytest.raises(ttnn.DTypeError, match="Unsupported data format"):
        ttnn.moreh_dot(make((1, 1, 1, 64), ttnn.float32, TILES, device), b)
    with pytest.raises(ttnn.ShapeError, match="Invalid value type"):
        ttnn.moreh_dot_backward(a, a, b)
