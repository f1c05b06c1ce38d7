"""Gradients without derivative: official values, and NaN on the chip."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import ttnn
from testkit.operands import values_of

INF, NAN = math.inf, math.nan
# The finite numbers that the chip names for them, with which one composition works.
CHIP_INF, CHIP_NAN = 1.7013999693950742e38, 7.0039998997052e19

# name, grad, operands and parameters, gradients.
EDGES: list[tuple[str, float, tuple[Any, ...], tuple[float, ...]]] = [
    ("log_bw", 2.0, (0.0,), (INF,)),
    ("log_bw", -2.0, (0.0,), (-INF,)),
    ("log_bw", 0.0, (0.0,), (NAN,)),
    ("log2_bw", -2.0, (0.0,), (-INF,)),
    ("log10_bw", 2.0, (0.0,), (INF,)),
    ("log10_bw", 0.0, (0.0,), (NAN,)),
    ("log1p_bw", -2.0, (-1.0,), (-INF,)),
    ("log1p_bw", 0.0, (-1.0,), (NAN,)),
    ("sqrt_bw", 2.0, (0.0,), (INF,)),
    ("sqrt_bw", -2.0, (0.0,), (-INF,)),
    ("sqrt_bw", 0.0, (0.0,), (NAN,)),
    ("sqrt_bw", 2.0, (-1.0,), (NAN,)),
    ("rsqrt_bw", 2.0, (0.0,), (-INF,)),
    ("rsqrt_bw", -2.0, (0.0,), (INF,)),
    ("rsqrt_bw", 0.0, (0.0,), (NAN,)),
    ("rsqrt_bw", 2.0, (-1.0,), (NAN,)),
    ("reciprocal_bw", 2.0, (0.0,), (-INF,)),
    ("reciprocal_bw", -2.0, (0.0,), (INF,)),
    ("reciprocal_bw", 0.0, (0.0,), (NAN,)),
    ("rdiv_bw", 2.0, (0.0, 3.0), (-INF,)),
    ("rdiv_bw", -2.0, (0.0, 3.0), (INF,)),
    ("rdiv_bw", 2.0, (0.0, -3.0), (INF,)),
    ("rdiv_bw", 0.0, (0.0, 3.0), (NAN,)),
    ("pow_bw", 2.0, (-1.0, 2.0), (INF,)),
    ("pow_bw", 2.0, (0.0, 2.0), (INF,)),
    ("pow_bw", 2.0, (-1.0, 0.0), (0.0,)),
    ("rpow_bw", 2.0, (-1.0, 2.0), (NAN,)),
    ("rpow_bw", 2.0, (-1.0, 0.0), (0.0,)),
    ("div_bw", 2.0, (1.0, 0.0), (INF,)),
    ("div_bw", -2.0, (1.0, 0.0), (-INF,)),
    ("div_bw", 0.0, (1.0, 0.0), (NAN,)),
    ("div_no_nan_bw", 2.0, (1.0, 0.0), (0.0,)),
    ("asin_bw", 2.0, (1.0,), (INF,)),
    ("asin_bw", -2.0, (-1.0,), (-INF,)),
    ("asin_bw", 2.0, (1.5,), (NAN,)),
    ("acos_bw", 2.0, (1.0,), (-INF,)),
    ("acos_bw", -2.0, (-1.0,), (INF,)),
    ("acos_bw", 2.0, (-1.5,), (NAN,)),
    ("acosh_bw", 2.0, (1.0,), (CHIP_INF,)),
    ("acosh_bw", -2.0, (1.0,), (-CHIP_INF,)),
    ("acosh_bw", 0.0, (1.0,), (CHIP_NAN,)),
    ("acosh_bw", 2.0, (0.5,), (CHIP_NAN,)),
    ("atanh_bw", 2.0, (1.0,), (INF,)),
    ("atanh_bw", -2.0, (-1.0,), (-INF,)),
    ("atanh_bw", 0.0, (1.0,), (NAN,)),
    ("erfinv_bw", 2.0, (1.0,), (INF,)),
    ("erfinv_bw", -2.0, (-1.0,), (-INF,)),
    ("erfinv_bw", 2.0, (1.5,), (NAN,)),
    ("logit_bw", 2.0, (0.0,), (INF,)),
    ("logit_bw", -2.0, (1.0,), (-INF,)),
    ("logit_bw", 2.0, (1.5,), (NAN,)),
    ("logiteps_bw", 2.0, (1.5,), (0.0,)),
    ("sinh_bw", 3.0e38, (2.0,), (INF,)),
    ("sinh_bw", -3.0e38, (2.0,), (-INF,)),
    ("cosh_bw", 3.0e38, (-2.0,), (-INF,)),
    ("relu_bw", 2.0, (0.0,), (0.0,)),
    ("relu6_bw", 2.0, (6.0,), (0.0,)),
    ("hardtanh_bw", 2.0, (1.0,), (0.0,)),
    ("hardsigmoid_bw", 2.0, (3.0,), (0.0,)),
    ("hardswish_bw", 2.0, (-3.5,), (0.0,)),
    ("hardswish_bw", 2.0, (-3.0,), (-0.9998,)),
    ("hardswish_bw", 2.0, (3.0,), (2.9998,)),
    ("abs_bw", 2.0, (0.0,), (0.0,)),
    ("softplus_bw", 2.0, (30.0,), (2.0,)),
    ("atan2_bw", 2.0, (0.0, 0.0), (NAN, NAN)),
    ("xlogy_bw", 2.0, (0.0, 0.0), (0.0, NAN)),
    ("xlogy_bw", 2.0, (-1.0, 0.0), (-INF, -INF)),
    ("xlogy_bw", 0.0, (1.0, -1.0), (0.0, 0.0)),
    ("xlogy_bw", 2.0, (1.0, -1.0), (NAN, -2.0)),
    ("digamma_bw", 2.0, (0.0,), (INF,)),
    ("digamma_bw", -2.0, (0.0,), (-INF,)),
    ("digamma_bw", 0.0, (0.0,), (NAN,)),
    ("polygamma_bw", 2.0, (0.0, 1), (-INF,)),
    ("polygamma_bw", 2.0, (0.0, 2), (INF,)),
    ("polygamma_bw", 0.0, (-1.0, 1), (NAN,)),
    ("polygamma_bw", 2.0, (0.0, 10), (INF,)),
    ("max_bw", 2.0, (3.0, 3.0), (1.0, 1.0)),
    ("min_bw", 2.0, (3.0, 3.0), (1.0, 1.0)),
    ("addcdiv_bw", 2.0, (1.0, 1.0, 0.0, 1.0), (2.0, INF, -INF)),
    ("addcdiv_bw", -2.0, (1.0, 1.0, 0.0, 1.0), (-2.0, INF, -INF)),
    ("addcdiv_bw", 0.0, (1.0, 1.0, 0.0, 1.0), (0.0, NAN, NAN)),
]
NUMBERS = {"rdiv_bw": 1, "pow_bw": 1, "rpow_bw": 1, "div_bw": 1, "div_no_nan_bw": 1, "polygamma_bw": 1, "addcdiv_bw": 3}
"""Index of the scalar operand, from 0."""


def _one(value: float, dtype: ttnn.DataType, device: ttnn.MeshDevice) -> ttnn.Tensor:
    return ttnn.full((32, 32), value, dtype, ttnn.TILE_LAYOUT, device)


def _gradients(name: str, grad: float, operands: tuple[float, ...], dtype: ttnn.DataType, device: Any) -> list[float]:
    number = NUMBERS.get(name)
    values = [item if i == number else _one(item, dtype, device) for i, item in enumerate(operands)]
    return [float(values_of(result)[0, 0]) for result in getattr(ttnn, name)(_one(grad, dtype, device), *values)]


@pytest.mark.parametrize(("name", "grad", "operands", "expected"), EDGES)
def test_float32_gradients_match_the_reference(
    name: str, grad: float, operands: tuple[float, ...], expected: tuple[float, ...], device: ttnn.MeshDevice
) -> None:
    np.testing.assert_allclose(_gradients(name, grad, operands, ttnn.float32, device), expected, rtol=1e-6)


@pytest.mark.parametrize("name", ["asin_bw", "logit_bw", "sqrt_bw"])
def test_bfloat16_has_no_nan(name: str, device: ttnn.MeshDevice) -> None:
    """The packer makes NaN infinite, so undefined gradients are infinite.

    In bfloat16.
    """
    outside = {"asin_bw": 1.5, "logit_bw": 1.5, "sqrt_bw": -1.0}[name]
    (result,) = _gradients(name, 2.0, (outside,), ttnn.bfloat16, device)
    assert abs(result) == INF


def test_negative_exponents_are_refused(device: ttnn.MeshDevice) -> None:
    x = ttnn.ones((32, 32), ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
    with pytest.raises(ttnn.ParameterError, match=r"expected exponent >= 0\.0"):
        ttnn.pow_bw(x, x, -1.0)
