"""Integers of eight bits with a scale and a zero point."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
_LARGEST = 127


def _along(values: ArrayLike, rank: int, axis: int | None) -> Array:
    vector = np.asarray(values, np.float64)
    if axis is None or vector.size == 1:
        return vector.reshape(())
    shape = [1] * rank
    shape[axis] = -1
    return vector.reshape(shape)


def _rounded(x: Array, *, saturate: bool) -> Array:
    nearest = np.sign(x) * np.floor(np.abs(x) + 0.5)
    return np.clip(nearest, -_LARGEST, _LARGEST) if saturate else nearest


def quantize(
    input_tensor: ArrayLike, scale: ArrayLike, zero_point: ArrayLike, *, axis: int | None = None, **_: object
) -> Array:
    """Return the nearest integers to x / scale + zero point.

    Those of a tensor with one scale saturate at +-127.
    """
    x = np.asarray(input_tensor, np.float64)
    zero = _along(zero_point, x.ndim, axis)
    saturate = axis is None and np.ndim(zero_point) == 0
    return _rounded(x / _along(scale, x.ndim, axis) + zero, saturate=saturate)


def dequantize(
    input_tensor: ArrayLike, scale: ArrayLike, zero_point: ArrayLike, *, axis: int | None = None, **_: object
) -> Array:
    """Return (q - zero point) scale."""
    x = np.asarray(input_tensor, np.float64)
    return (x - _along(zero_point, x.ndim, axis)) * _along(scale, x.ndim, axis)


def requantize(
    input_tensor: ArrayLike,
    in_scale: ArrayLike,
    in_zero_point: ArrayLike,
    out_scale: ArrayLike,
    out_zero_point: ArrayLike,
    *,
    axis: int | None = None,
    **_: object,
) -> Array:
    """Return integers of equal numbers under other scale and zero point."""
    numbers = dequantize(input_tensor, in_scale, in_zero_point, axis=axis)
    return quantize(numbers, out_scale, out_zero_point, axis=axis)
