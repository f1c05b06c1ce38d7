"""Inputs of the benches."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def matrix(random: np.random.Generator, size: int) -> NDArray[np.float32]:
    """Return a square matrix of standard normal values."""
    return random.standard_normal((size, size), np.float32)
