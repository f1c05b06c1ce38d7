"""Reference functions of normalizations."""

from __future__ import annotations

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


def normalize_hw(x: ArrayLike, **_: object) -> NDArray[np.float64]:
    """Return (x - mean) / sqrt(variance) over the last two dimensions."""
    values: NDArray[np.float64] = np.asarray(x, np.float64)
    result: NDArray[np.float64] = (values - values.mean((-2, -1), keepdims=True)) / values.std((-2, -1), keepdims=True)
    return result


def terms_of_normalize_hw(x: ArrayLike, **_: object) -> NDArray[np.float64]:
    """Return (|x| + |mean|) / sqrt(variance), in whose units the difference is rounded."""
    values: NDArray[np.float64] = np.asarray(x, np.float64)
    sizes = np.abs(values) + np.abs(values.mean((-2, -1), keepdims=True))
    result: NDArray[np.float64] = sizes / values.std((-2, -1), keepdims=True)
    return result
