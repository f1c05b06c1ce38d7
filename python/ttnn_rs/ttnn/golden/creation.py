"""Operators that make tensors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


def full(shape: Sequence[int], fill_value: float, *_args: object, **_: object) -> Array:
    """Return an array of `shape` that holds `fill_value` everywhere."""
    return np.full(tuple(shape), fill_value, np.float64)


def zeros(shape: Sequence[int], *_args: object, **_: object) -> Array:
    """Return an array of zeros."""
    return full(shape, 0.0)


def ones(shape: Sequence[int], *_args: object, **_: object) -> Array:
    """Return an array of ones."""
    return full(shape, 1.0)


def full_like(x: ArrayLike, fill_value: float, *_args: object, **_: object) -> Array:
    """Return an array of the shape of `x` that holds `fill_value` everywhere."""
    return full(np.shape(x), fill_value)


def zeros_like(x: ArrayLike, *_args: object, **_: object) -> Array:
    """Return an array of zeros of the shape of `x`."""
    return full(np.shape(x), 0.0)


def ones_like(x: ArrayLike, *_args: object, **_: object) -> Array:
    """Return an array of ones of the shape of `x`."""
    return full(np.shape(x), 1.0)


def arange(start: int, end: int | None = None, step: int = 1, **_: object) -> Array:
    """Return `start`, `start + step`, ... below `end`; with one argument, 0, 1, ... below it."""
    if end is None:
        start, end = 0, start
    return np.arange(start, end, step, dtype=np.float64)
