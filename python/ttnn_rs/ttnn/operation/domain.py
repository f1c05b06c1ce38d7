"""Test data of an entry: example operands, and their domain.

Functions have finite results there; recorded vectors cover the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ttnn.base.enums import DataType, Layout

Values = npt.NDArray[Any]
Domain = Callable[[Values], Values]


def inside_one(x: Values) -> Values:
    """Return values between -0.8 and 0.8."""
    return np.clip(x, -2.0, 2.0) * 0.4


def from_(limit: float) -> Domain:
    """Return the domain of values not below a positive limit."""
    return lambda x: np.abs(x) + limit


positive = from_(0.125)


@dataclass(frozen=True)
class Operand:
    """A further tensor argument of an example call, of the given shape.

    It has the data type and layout of the first tensor unless they are given. Values are normally distributed, or are
    in the range `between`.
    """

    shape: tuple[int, ...]
    seed: int = 1
    dtype: DataType | None = None
    layout: Layout | None = None
    between: tuple[float, float] | None = None
