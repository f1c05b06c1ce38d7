"""Reference functions of caches of keys and values."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


def fill_cache(cache: ArrayLike, x: ArrayLike, batch_index: int, *, update_idx: int = 0, **_: object) -> Array:
    """Return a cache with `x` written into a user's part."""
    result, values = np.array(cache, np.float64), np.asarray(x, np.float64)
    result[batch_index, :, update_idx : update_idx + values.shape[-2]] = values[0]
    return result


def update_cache(cache: ArrayLike, x: ArrayLike, update_index: int, batch_offset: int = 0, **_: object) -> Array:
    """Return a cache with a row of `x` written into every user's part."""
    result, values = np.array(cache, np.float64), np.asarray(x, np.float64)
    users = result.shape[0]
    result[:, :, update_index] = np.swapaxes(values[0, :, batch_offset : batch_offset + users], 0, 1)
    return result
