"""Errors in units in the last place."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

SIGNIFICAND_BITS = {"bfloat16": 8, "float32": 24}
"""Significand bits with the hidden bit.

Both formats have the exponents of float32.
"""
MIN_NORMAL_EXPONENT = -126
MIN_NORMAL = 2.0**MIN_NORMAL_EXPONENT


def ulp_error(got: NDArray[Any], exact: NDArray[np.float64], dtype: str = "bfloat16") -> NDArray[np.float64]:
    """Return |got - exact| in units of `dtype`'s last place at `exact`."""
    bits = SIGNIFICAND_BITS[dtype]
    _, exponent = np.frexp(exact)  # exact = m * 2**exponent with |m| in [0.5, 1)
    ulp = np.ldexp(1.0, np.maximum(exponent, MIN_NORMAL_EXPONENT + 1) - bits)
    errors: NDArray[np.float64] = np.abs(got.astype(np.float64) - exact) / ulp
    return errors


def largest_finite(dtype: str) -> float:
    """Return the largest finite value of `dtype`."""
    return float((2.0 - 2.0 ** (1 - SIGNIFICAND_BITS[dtype])) * 2.0**127)


def chip_error(got: NDArray[Any], exact: NDArray[np.float64], dtype: str) -> NDArray[np.float64]:
    """Return the ULP error on a chip without subnormals and NaN.

    It writes NaN as infinity.

    A result below the smallest normal number may be 0, one beyond the largest must be infinity, and where the exact
    result is NaN any value is accepted: the packer of the chip leaves an infinity there.
    """
    largest = largest_finite(dtype)
    beyond = np.abs(exact) >= largest * (1.0 + 2.0 ** -(SIGNIFICAND_BITS[dtype] + 1))
    with np.errstate(invalid="ignore", over="ignore"):
        errors = ulp_error(got, np.clip(exact, -largest, largest), dtype)
        same_infinity = np.isinf(got) & (np.sign(got) == np.sign(exact))
    errors[beyond] = np.where(same_infinity[beyond], 0.0, errors[beyond])
    errors[(np.abs(exact) < MIN_NORMAL) & (got == 0.0)] = 0.0
    errors[np.isnan(exact)] = 0.0
    return errors


def spacing(values: NDArray[Any], dtype: str) -> NDArray[np.float64]:
    """Return the distance of neighbouring `dtype` numbers at `values`.

    2 ** (exponent - stored mantissa bits).

    At a power of two it is the distance away from zero. Below the smallest normal number it is that of subnormals.
    """
    values = np.asarray(values, np.float64)
    exponent = np.where(values == 0.0, MIN_NORMAL_EXPONENT, np.frexp(values)[1])  # frexp returns 0 for zero
    distance: NDArray[np.float64] = np.ldexp(
        1.0, np.maximum(exponent, MIN_NORMAL_EXPONENT + 1) - SIGNIFICAND_BITS[dtype]
    )
    return distance


def nearest(exact: NDArray[np.float64], dtype: str) -> NDArray[np.float64]:
    """Return `exact` rounded once to `dtype`, ties to even.

    With subnormals and infinities.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        step = spacing(exact, dtype)
        rounded = np.where(np.isfinite(exact), np.rint(exact / step) * step, exact)
        beyond = np.abs(rounded) > largest_finite(dtype)
    return np.where(beyond, np.copysign(np.inf, exact), rounded)
