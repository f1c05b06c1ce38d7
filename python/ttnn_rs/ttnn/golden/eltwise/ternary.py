"""Operators on three tensors, some of which may be numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


def of_three(name: str, doc: str, function: Callable[..., Any]) -> Callable[..., Array]:
    """Return a ternary golden function with an optional factor.

    It ignores options that change no values.
    """

    def golden(a: ArrayLike, b: ArrayLike, c: ArrayLike, *, value: float | None = None, **_: object) -> Array:
        operands = [np.asarray(operand, np.float64) for operand in (a, b, c)]
        more = () if value is None else (value,)
        with np.errstate(all="ignore"):
            return np.asarray(function(*operands, *more), np.float64)

    golden.__name__ = name
    golden.__doc__ = doc
    return golden


where = of_three("where", "Return b where a is not 0, c elsewhere.", lambda a, b, c: np.where(a != 0, b, c))
mac = of_three("mac", "Return a b + c.", lambda a, b, c: a * b + c)
lerp = of_three("lerp", "Return a + c (b - a).", lambda a, b, c: a + c * (b - a))
snake_beta = of_three("snake_beta", "Return a + sin(a b)^2 / c.", lambda a, b, c: a + np.sin(a * b) ** 2 / c)
addcmul = of_three("addcmul", "Return a + value b c.", lambda a, b, c, value=1.0: a + value * b * c)
addcdiv = of_three("addcdiv", "Return a + value b / c.", lambda a, b, c, value=1.0: a + value * b / c)


def mac_terms(a: ArrayLike, b: ArrayLike, c: ArrayLike, **_: object) -> Array:
    """Return the larger of |a b| and |c|, the sum's error scale."""
    product = np.abs(np.asarray(a, np.float64) * np.asarray(b, np.float64))
    return np.maximum(product, np.abs(np.asarray(c, np.float64)))


def lerp_terms(a: ArrayLike, b: ArrayLike, c: ArrayLike, **_: object) -> Array:
    """Return the larger of |a| and |c| (|a| + |b|).

    It is an interpolation's error scale.
    """
    start, end, weight = (np.abs(np.asarray(operand, np.float64)) for operand in (a, b, c))
    largest: Array = np.maximum(start, weight * (start + end))
    return largest


def addcmul_terms(a: ArrayLike, b: ArrayLike, c: ArrayLike, *, value: float = 1.0, **_: object) -> Array:
    """Return the larger of |a| and |value b c|.

    It is the sum's error scale.
    """
    product = np.abs(value * np.asarray(b, np.float64) * np.asarray(c, np.float64))
    return np.maximum(np.abs(np.asarray(a, np.float64)), product)


def addcdiv_terms(a: ArrayLike, b: ArrayLike, c: ArrayLike, *, value: float = 1.0, **_: object) -> Array:
    """Return the larger of |a| and |value b / c|.

    It is the sum's error scale.
    """
    with np.errstate(all="ignore"):
        quotient = np.abs(value * np.asarray(b, np.float64) / np.asarray(c, np.float64))
    return np.maximum(np.abs(np.asarray(a, np.float64)), quotient)
