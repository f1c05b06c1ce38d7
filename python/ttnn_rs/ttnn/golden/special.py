"""Special functions in float64 that numpy does not have."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


def _each(function: Callable[[float], float], x: ArrayLike) -> Array:
    values = np.asarray(x, np.float64)
    return np.array([function(float(v)) for v in values.reshape(-1)], np.float64).reshape(values.shape)


def erf(x: ArrayLike, **_: object) -> Array:
    """Return the error function."""
    return _each(math.erf, x)


def erfc(x: ArrayLike, **_: object) -> Array:
    """Return 1 - erf(x) without cancellation."""
    return _each(math.erfc, x)


def _erfinv(y: float) -> float:
    if math.isnan(y) or abs(y) > 1.0:
        return math.nan
    if abs(y) == 1.0:
        return math.copysign(math.inf, y)
    if y == 0.0:
        return y
    # Winitzki's estimate, then Newton's method on the complement where erf is flat.
    distance = abs(y)
    log = math.log1p(-distance * distance)
    shift = 2.0 / (math.pi * 0.147) + log / 2.0
    x = math.sqrt(math.sqrt(shift * shift - log / 0.147) - shift)
    for _ in range(8):
        error = (1.0 - distance) - math.erfc(x) if distance > 0.5 else math.erf(x) - distance
        x -= error / (2.0 / math.sqrt(math.pi) * math.exp(-x * x))
    return math.copysign(x, y)


def erfinv(x: ArrayLike, **_: object) -> Array:
    """Return the inverse of the error function."""
    return _each(_erfinv, x)


def _lgamma(x: float) -> float:
    if math.isinf(x):
        return math.inf
    try:
        return math.lgamma(x)
    except ValueError:  # a pole
        return math.inf
    except OverflowError:
        return math.inf


def lgamma(x: ArrayLike, **_: object) -> Array:
    """Return ln |gamma(x)|."""
    return _each(_lgamma, x)


# Bernoulli numbers B2, B4, ...
_BERNOULLI: Final = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6)


def _digamma(x: float) -> float:
    if math.isnan(x) or x == -math.inf:
        return math.nan
    if x == math.inf:
        return math.inf
    if x == 0.0:
        return -math.copysign(math.inf, x)
    if x < 0.0:
        if x.is_integer():
            return math.nan
        return _digamma(1.0 - x) - math.pi / math.tan(math.pi * x)
    shift = 0.0
    while x < 12.0:
        shift -= 1.0 / x
        x += 1.0
    tail = sum(b / (2 * k * x ** (2 * k)) for k, b in enumerate(_BERNOULLI, 1)) if x < 1e8 else 0.0
    return shift + math.log(x) - 0.5 / x - tail


def digamma(x: ArrayLike, **_: object) -> Array:
    """Return the derivative of ln gamma."""
    return _each(_digamma, x)


def _cotangent_slope(x: float, order: int) -> float:
    """Return a derivative of pi cot(pi x).

    Polynomials p of the cotangent c, each followed by -pi (1 + c^2) p'(c).
    """
    part = x - round(x)
    # Each form is accurate to the last digits on its side of a quarter.
    cotangent = 1.0 / math.tan(math.pi * part) if abs(part) < 0.25 else math.tan(math.pi * (0.5 - abs(part)))
    cotangent = math.copysign(cotangent, part)
    polynomial = np.polynomial.Polynomial([0.0, 1.0])
    for _ in range(order):
        polynomial = polynomial.deriv() * np.polynomial.Polynomial([-1.0, 0.0, -1.0])
    with np.errstate(over="ignore"):
        return float(math.pi ** (order + 1) * polynomial(np.float64(cotangent)))


def _polygamma(x: float, order: int) -> float:
    """Hurwitz' sum (-1)^(n+1) n! sum 1 / (x + k)^(n+1).

    By the Euler-Maclaurin formula; below zero by reflection.
    """
    if math.isnan(x) or x == -math.inf:
        return math.nan
    if x <= 0.0 and x.is_integer():
        # Both sides of a pole of even power rise; of the others that of +0 is meant.
        return math.inf * (-1.0) ** (order + 1) if x == 0.0 or order % 2 else math.nan
    if x < 0.0:
        return (-1.0) ** order * _polygamma(1.0 - x, order) - _cotangent_slope(x, order)
    power = order + 1
    total = 0.0
    try:
        while x < 20.0:
            total += x**-power
            x += 1.0
    except OverflowError:
        return math.inf * (-1.0) ** (order + 1)
    total += x ** (1 - power) / (power - 1) + 0.5 * x**-power
    rising = float(power)
    for k, bernoulli in enumerate(_BERNOULLI, 1):
        total += bernoulli * rising / math.factorial(2 * k) * x ** (-power - 2 * k + 1)
        rising *= (power + 2 * k - 1) * (power + 2 * k)
    return (-1.0) ** (order + 1) * math.factorial(order) * total


def polygamma(x: ArrayLike, k: int = 1, **_: object) -> Array:
    """Return the k-th derivative of digamma."""
    return _each(lambda v: _polygamma(v, k), x)


def i0(x: ArrayLike, **_: object) -> Array:
    """Return the modified Bessel function of order 0."""
    with np.errstate(all="ignore"):
        return np.asarray(np.i0(np.asarray(x, np.float64)), np.float64)


_LARGEST_OF_SERIES: Final = 40.0
"""Smallest input of the asymptotic expansion of the Bessel function."""


def i1(x: ArrayLike, **_: object) -> Array:
    """Return the modified Bessel function of order 1."""
    values = np.asarray(x, np.float64)
    near = np.minimum(np.abs(values), _LARGEST_OF_SERIES)
    total = term = near / 2.0
    for k in range(1, 200):
        term = term * ((near / 2.0) ** 2 / (k * (k + 1)))
        total = total + term
    with np.errstate(all="ignore"):
        far = np.maximum(np.abs(values), _LARGEST_OF_SERIES)
        expansion = part = np.ones_like(far)
        for k in range(1, 30):
            part = part * (-(4.0 - (2 * k - 1) ** 2) / (k * 8.0 * far))
            expansion = expansion + part
        large = np.where(far > 700.0, np.inf, np.exp(far) / np.sqrt(2.0 * math.pi * far) * expansion)
    return np.copysign(np.where(np.abs(values) > _LARGEST_OF_SERIES, large, total), values)
