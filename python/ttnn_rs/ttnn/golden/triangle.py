"""Triangles of matrices."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ttnn.golden.pointwise import Array


def tril(x: ArrayLike, *, diagonal: int = 0, **_: object) -> Array:
    """Return the elements on and below a diagonal, 0 elsewhere."""
    return np.asarray(np.tril(np.asarray(x, np.float64), diagonal), np.float64)


def triu(x: ArrayLike, *, diagonal: int = 0, **_: object) -> Array:
    """Return the elements on and above a diagonal, 0 elsewhere."""
    return np.asarray(np.triu(np.asarray(x, np.float64), diagonal), np.float64)
