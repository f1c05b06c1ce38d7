"""Where functions have finite results: tests bring the values of their operands there.

Recorded vectors cover the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[Any]
Domain = Callable[[Values], Values]


def inside_one(x: Values) -> Values:
    """Return values between -0.8 and 0.8."""
    return np.clip(x, -2.0, 2.0) * 0.4


def from_(limit: float) -> Domain:
    """Return the domain of values not below a positive limit."""
    return lambda x: np.abs(x) + limit


positive = from_(0.125)
