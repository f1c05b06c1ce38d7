"""Functions that look at no value."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def bitwise_not(x: ArrayLike, **_: object) -> NDArray[np.float64]:
    """Return -1 - x, for integers without a sign 2^32 - 1 - x."""
    values = np.asarray(x, np.float64)
    unsigned = values.size and values.max() >= 2.0**31
    return (2.0**32 if unsigned else 0.0) - 1.0 - values


def fill(x: ArrayLike, fill_value: float, **_: object) -> NDArray[np.float64]:
    """Return an array of the shape of `x` that holds `fill_value`."""
    return np.full(np.shape(x), fill_value, np.float64)
