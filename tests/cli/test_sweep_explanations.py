"""Older steps with the chip's errors in the published table.

They explain rows of it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

import ttnn
from ttnn.cli.sweep.compare import same
from ttnn.cli.sweep.statistics import Statistics, measure
from ttnn.golden import special

Floats = NDArray[np.float64]
TWO_OVER_ROOT_PI = 1.1283791670955126


@pytest.fixture(name="x")
def every_value() -> Floats:
    with np.errstate(invalid="ignore"):
        return (np.arange(65536, dtype=np.uint32) << 16).view(np.float32).astype(np.float64)


def tensor(values: Floats, device: ttnn.MeshDevice) -> ttnn.Tensor:
    with np.errstate(invalid="ignore"):
        block = values.reshape(256, 256).astype(np.float32).astype(ml_dtypes.bfloat16)
    return ttnn.Tensor(block, ttnn.bfloat16, device, ttnn.TILE_LAYOUT)


def values_of(result: ttnn.Tensor) -> Floats:
    return result.to_numpy().astype(np.float64).reshape(-1)


def truncated_square(x: Floats) -> Floats:
    """The square of the older kernel in a 16-bit Dst.

    Cut to bfloat16, 0 for what would be subnormal.
    """
    with np.errstate(all="ignore"):
        words = np.square(x.astype(np.float32)).view(np.uint32)
    words = np.where(words & 0x7F800000 == 0, 0, words & 0xFFFF0000).astype(np.uint32)
    return words.view(np.float32).astype(np.float64)


def agreeing(found: Statistics, chip: Mapping[str, float]) -> dict[str, bool]:
    return {figure: same(str(value), str(getattr(found, figure))) for figure, value in chip.items()}


def test_the_older_square_is_the_chips(x: Floats) -> None:
    with np.errstate(all="ignore"):
        found = measure([x], truncated_square(x), np.square(x), "bfloat16")
    chip = {"max_ulp": 1, "mean_ulp_of_inexact": 0.991, "accurate_to": 1.84e19, "max_abs_error": 1.33e36}
    assert agreeing(found, chip) == dict.fromkeys(chip, True)


def test_the_gradient_of_erf_with_the_older_square_is_the_chips(device: ttnn.MeshDevice, x: Floats) -> None:
    bell = ttnn.exp(ttnn.neg(tensor(truncated_square(x), device)))
    got = values_of(ttnn.multiply(bell, TWO_OVER_ROOT_PI))
    with np.errstate(all="ignore"):
        found = measure([x], got, TWO_OVER_ROOT_PI * np.exp(-np.square(x)), "bfloat16")
    chip = {"max_ulp": 112, "mean_ulp_of_inexact": 5.0, "accurate_to": 1.75, "max_abs_error": 0.00781}
    assert agreeing(found, chip) == dict.fromkeys(chip, True)


def test_the_gradient_of_the_reciprocal_with_the_older_square_has_the_chips_errors(
    device: ttnn.MeshDevice, x: Floats
) -> None:
    got = -values_of(ttnn.reciprocal(tensor(truncated_square(x), device)))
    with np.errstate(all="ignore"):
        found = measure([x], got, -1.0 / np.square(x), "bfloat16")
    chip = {"max_ulp": 2, "mean_ulp_of_inexact": 1.02, "max_abs_error": 3.32e35}
    assert agreeing(found, chip) == dict.fromkeys(chip, True)


def test_the_gradient_of_atanh_with_the_older_square_has_the_chips_range(device: ttnn.MeshDevice, x: Floats) -> None:
    difference = ttnn.add(ttnn.neg(tensor(truncated_square(x), device)), 1.0)
    got = values_of(ttnn.reciprocal(difference))
    with np.errstate(all="ignore"):
        found = measure([x], got, 1.0 / (1.0 - np.square(x)), "bfloat16")
    chip = {"max_ulp": 8, "accurate_to": 0.82, "max_abs_error": 0.5}
    assert agreeing(found, chip) == dict.fromkeys(chip, True)


def test_the_gradient_of_hardswish_with_a_rounded_constant_is_the_chips(device: ttnn.MeshDevice, x: Floats) -> None:
    third = tensor(np.full(x.size, 0.3333), device)
    slope = values_of(ttnn.add(ttnn.multiply(tensor(x, device), third), 0.5))
    got = np.where(x <= -3.0, 0.0, np.where(x < 3.0, slope, 1.0))
    found = measure([x], got, np.where(x < -3.0, 0.0, np.where(x <= 3.0, x / 3.0 + 0.5, 1.0)), "bfloat16")
    chip = {"max_ulp": 85, "mean_ulp_of_inexact": 2.36, "max_abs_error": 0.5}
    assert agreeing(found, chip) == dict.fromkeys(chip, True)
    assert found.accurate_to == 1.125  # printed as 1.13 in the table, which rounds ties up


@pytest.mark.parametrize("order", [1, 2, 3])
def test_polygamma_is_continued_below_zero(order: int) -> None:
    """Recurrence of psi from negative numbers to positive ones.

    psi(x + 1) - psi(x) = (-1)^n n! / x^(n+1).
    """
    for start in (-0.25, -1.5, -5.34375, -6.03125, -77.75):
        total, x = 0.0, start
        while x < 1.0:
            total += -((-1.0) ** order) * math.factorial(order) / x ** (order + 1)
            x += 1.0
        expected = special.polygamma(x, order).item() + total
        assert special.polygamma(start, order).item() == pytest.approx(expected, rel=1e-9)


def test_polygamma_of_large_numbers_is_its_power() -> None:
    assert special.polygamma([1e31, 3e38], 1) == pytest.approx([1e-31, 1 / 3e38])
    assert special.polygamma([0.0, -2.0, -3.0], 1).tolist() == [np.inf, np.inf, np.inf]
    assert np.isnan(special.polygamma([-2.0, -np.inf, np.nan], 2)).all()
