"""Operators that look at a whole row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


def softmax(x: ArrayLike, dim: int = -1, **_: object) -> NDArray[np.float64]:
    """Return exp(x) / sum(exp(x)) along `dim`; rank 0 gives 1."""
    values: NDArray[np.float64] = np.asarray(x, np.float64)
    if values.ndim == 0 or values.size == 0:
        return np.ones(values.shape, np.float64)
    powers = np.exp(values - values.max(axis=dim, keepdims=True))
    result: NDArray[np.float64] = powers / powers.sum(axis=dim, keepdims=True)
    return result


def argmax(x: ArrayLike, dim: int | None = None, keepdim: bool = False, **_: object) -> NDArray[Any]:
    """Return the index of the largest element along `dim`, or of the flattened array.

    NaN outranks every number, +0 equals -0, and the lowest index wins: that is also numpy's order.
    """
    values = np.asarray(x, np.float64)
    if dim is None:
        index = np.asarray(np.argmax(values))
        return index.reshape((1,) * values.ndim) if keepdim else index
    return np.asarray(np.argmax(values, axis=dim, keepdims=keepdim))
