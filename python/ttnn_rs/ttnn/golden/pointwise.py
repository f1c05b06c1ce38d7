"""Operators on one tensor."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ttnn.golden.special import erf

Array = NDArray[np.float64]
_F = TypeVar("_F", bound=Callable[..., Any])


def _of_one(function: Callable[..., Any]) -> Callable[..., Array]:
    """Make a function of a float64 array: quiet about NaN and infinity, deaf to options that change no values."""

    @wraps(function)
    def golden(x: ArrayLike, *args: Any, **kwargs: Any) -> Array:
        for name in ("memory_config", "output_tensor", "sub_core_grids", "fast_and_approximate_mode"):
            kwargs.pop(name, None)
        with np.errstate(all="ignore"):
            return np.asarray(function(np.asarray(x, np.float64), *args, **kwargs), np.float64)

    return golden


def plain(name: str, doc: str) -> Callable[..., Array]:
    """Return numpy's function of that name as a golden function."""
    ufunc = getattr(np, name)

    def function(x: Array, *_: object) -> Any:
        return ufunc(x)

    function.__name__ = name
    function.__doc__ = doc
    return _of_one(function)


def formula(name: str, doc: str, function: Callable[..., Any]) -> Callable[..., Array]:
    """Return a golden function from a formula of the array and of parameters."""

    def golden(x: Array, *args: Any, **kwargs: Any) -> Any:
        return function(x, *args, **kwargs)

    golden.__name__ = name
    golden.__doc__ = doc
    return _of_one(golden)


def sigmoid_of(x: Array) -> Array:
    """Return 1 / (1 + e^-x) without overflow."""
    power = np.exp(-np.abs(x))
    return np.where(x >= 0, 1.0 / (1.0 + power), power / (1.0 + power))


def softplus_of(x: Array) -> Array:
    """Return ln(1 + e^x) without overflow."""
    return np.maximum(x, 0.0) + np.log1p(np.exp(-np.abs(x)))


@_of_one
def gelu(x: Array, variant: Any = None) -> Array:
    """Return x times the normal distribution function of x."""
    if getattr(variant, "name", None) == "Tanh":
        return 0.5 * x * (1.0 + np.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * x**3)))
    from ttnn.golden.special import erfc

    return 0.5 * x * erfc(-x / math.sqrt(2.0))


@_of_one
def xielu(x: Array, alpha_p: float = 0.800000011920929, alpha_n: float = 0.800000011920929) -> Array:
    """Return x / 2 plus a parabola for positive x and a shifted exponential for negative x."""
    small = np.minimum(x, -1e-6)
    return np.where(x > 0, alpha_p * x * x + 0.5 * x, (np.expm1(small) - x) * alpha_n + 0.5 * x)


@_of_one
def round_(x: Array, decimals: int = 0) -> Array:
    """Return x rounded to decimals, halves to even."""
    return np.round(x, decimals or 0)


@_of_one
def tanhshrink(x: Array) -> Array:
    """Return x - tanh(x)."""
    series = x**3 / 3.0 - 2.0 * x**5 / 15.0
    return np.where(np.abs(x) < 1e-3, series, x - np.tanh(x))


@_of_one
def prelu(x: Array, weight: Any = 0.25) -> Array:
    """Return x where it is positive and `weight` times x elsewhere; a weight per channel belongs to dimension 1."""
    slope = np.asarray(weight, np.float64)
    if slope.size > 1 or slope.ndim:
        slope = slope.reshape((1, -1) + (1,) * (x.ndim - 2)) if x.ndim > 1 else slope.reshape(-1)
    return np.where(x >= 0, x, slope * x)


@_of_one
def threshold(x: Array, threshold: float, value: float) -> Array:
    """Return x above the threshold and `value` elsewhere."""
    return np.where(x > threshold, x, value)


@_of_one
def clamp(x: Array, min: Any = None, max: Any = None) -> Array:
    """Return x held to [min, max]."""
    return np.minimum(np.maximum(x, -np.inf if min is None else min), np.inf if max is None else max)


@_of_one
def rotate90(x: Array) -> Array:
    """Return -b, a of every pair a, b of columns; an odd width is extended by 0."""
    width = x.shape[-1]
    wide = np.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, width % 2)])
    turned = np.empty_like(wide)
    turned[..., ::2], turned[..., 1::2] = -wide[..., 1::2], wide[..., ::2]
    return turned[..., :width]


mish = formula("mish", "Return x times tanh(softplus(x)).", lambda x: x * np.tanh(softplus_of(x)))
erf_ = erf
