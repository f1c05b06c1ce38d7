"""Norms of the moreh family, powers of magnitudes, and gradients of norms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import ttnn
from testkit.operands import make, raw_of, values_of
from ttnn.golden import moreh as golden

TILES = ttnn.TILE_LAYOUT
SHAPE = (2, 3, 40, 70)
WIDE = ttnn.WormholeComputeKernelConfig(math_fidelity=ttnn.MathFidelity.HiFi4, fp32_dest_acc_en=True)
DIMS: list[Any] = [0, 1, 2, 3, -1, None, [], [0, 1], [1, 3], [2, 3]]


@pytest.mark.parametrize("p", [0.0, 1.0, 2.0, 2.5, 3.0, -1.0, -2.5, 0.5])
@pytest.mark.parametrize("config", [None, WIDE], ids=["default", "wide"])
def test_powers(p: float, config: Any, device: ttnn.MeshDevice) -> None:
    x = make(SHAPE, ttnn.bfloat16, TILES, device, fit=lambda values: np.sign(values) * (np.abs(values) + 0.5))
    result = ttnn.moreh_abs_pow(x, p, compute_kernel_config=config)
    expected = golden.moreh_abs_pow(values_of(x), p)
    # Three factors of 8 bits, and a logarithm of 8 bits in an exponent; the reciprocal is approximate.
    tolerance = 2**-5 if config is None else 2**-6
    np.testing.assert_allclose(values_of(result), expected, rtol=tolerance)
    into = ttnn.empty_like(x)
    assert ttnn.moreh_abs_pow(x, p, output=into, compute_kernel_config=config) is into
    np.testing.assert_array_equal(raw_of(into), raw_of(result))


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("p", [0.0, math.inf, -math.inf])
def test_orders_that_compare_are_exact(p: float, dim: Any, device: ttnn.MeshDevice) -> None:
    x = make(SHAPE, ttnn.bfloat16, TILES, device, fit=lambda values: values * (np.abs(values) > 0.5))
    result = ttnn.moreh_norm(x, p, dim=dim, keepdim=True)
    expected = golden.moreh_norm(values_of(x), p, dim=dim, keepdim=True)
    assert tuple(result.shape) == expected.shape
    # Counts of more than 256 elements round to 8 bits.
    np.testing.assert_allclose(values_of(result), expected, rtol=2**-6 if p == 0 else 0)


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("p", [1.0, 2.0, 2.5, -2.5])
@pytest.mark.parametrize("config", [None, WIDE], ids=["default", "wide"])
def test_norms(p: float, dim: Any, config: Any, device: ttnn.MeshDevice) -> None:
    x = make(SHAPE, ttnn.bfloat16, TILES, device, fit=lambda values: np.sign(values) * (np.abs(values) + 0.5))
    for keepdim in (True, False):
        result = ttnn.moreh_norm(x, p, dim=dim, keepdim=keepdim, compute_kernel_config=config)
        expected = golden.moreh_norm(values_of(x), p, dim=dim, keepdim=keepdim)
        assert tuple(result.shape) == expected.shape
        # Powers, sums of up to 70 terms and roots round to 8 bits.
        np.testing.assert_allclose(values_of(result), expected, rtol=0.06 if config is None else 0.04)
    into = ttnn.empty_like(result)
    assert ttnn.moreh_norm(x, p, dim=dim, output=into, compute_kernel_config=config) is into
    np.testing.assert_array_equal(values_of(into), values_of(result))


@pytest.mark.parametrize("dim", [0, 2, 3, None, [2, 3], [1, 2]])
@pytest.mark.parametrize("p", [2.0, 2.5, -2.5])
def test_gradients_match_the_golden_function(p: float, dim: Any, device: ttnn.MeshDevice) -> None:
    x = make(SHAPE, ttnn.bfloat16, TILES, device, fit=lambda values: np.sign(values) * (np.abs(values) / 4 + 0.5))
    norm = golden.moreh_norm(values_of(x), p, dim=dim, keepdim=True)
    y = ttnn.Tensor(norm.astype(np.float32), ttnn.bfloat16, device=device, layout=TILES)
    dy = make(norm.shape, ttnn.bfloat16, TILES, device, seed=1)
    result = ttnn.moreh_norm_backward(x, y, dy, p, dim=dim, keepdim=True)
    expected = golden.moreh_norm_backward(values_of(x), values_of(y), values_of(dy), p, dim=dim)
    # Two powers and four products of 8 bits each.
    np.testing.assert_allclose(values_of(result), expected, rtol=0.1)
    into = ttnn.empty_like(x)
    assert ttnn.moreh_norm_backward(x, y, dy, p, dim=dim, keepdim=True, input_grad=into) is into
    np.testing.assert_array_equal(raw_of(into), raw_of(result))


def test_unsupported_arguments_raise_errors(device: ttnn.MeshDevice) -> None:
    x = make((32, 64), ttnn.bfloat16, TILES, device)
    with pytest.raises(ttnn.UnsupportedError, match="keepdim=False"):
        ttnn.moreh_norm(x, math.inf, dim=1)
    with pytest.raises(ttnn.ShapeError, match="dim=2 is out of range"):
        ttnn.moreh_norm(x, 2.0, dim=2)
    with pytest.raises(ttnn.ShapeError, match="names a dimension twice"):
        ttnn.moreh_norm(x, 2.0, dim=[1, -1])
    with pytest.raises(ttnn.ParameterError, match="is not the order of a norm"):
        ttnn.moreh_norm(x, math.nan)
    with pytest.raises(ttnn.ParameterError, match="cannot be split"):
        ttnn.moreh_abs_pow(x, math.inf)
    with pytest.raises(ttnn.DTypeError, match="moreh_abs_pow input only supports specific data types"):
        ttnn.moreh_abs_pow(make((32, 64), ttnn.float32, TILES, device), 2.0)
    with pytest.raises(ttnn.ShapeError, match="output has shape"):
        ttnn.moreh_norm_backward(x, x, x, 2.0, dim=0, keepdim=True)
