"""Matrix multiplication."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ttnn.golden.eltwise.unary import activated

Array = NDArray[np.float64]


def matmul(
    a: ArrayLike,
    b: ArrayLike,
    *,
    transpose_a: bool = False,
    transpose_b: bool = False,
    activation: Any = None,
    **_: object,
) -> Array:
    """Return the matrix product, an operand without batch repeated for every matrix of the other."""
    left, right = np.asarray(a, np.float64), np.asarray(b, np.float64)
    if transpose_a and left.ndim > 1:
        left = left.swapaxes(-1, -2)
    if transpose_b and right.ndim > 1:
        right = right.swapaxes(-1, -2)
    return activated(np.matmul(left, right), () if activation is None else (activation,))


def linear(
    a: ArrayLike,
    b: ArrayLike,
    *,
    bias: ArrayLike | None = None,
    transpose_a: bool = False,
    transpose_b: bool = False,
    activation: Any = None,
    **_: object,
) -> Array:
    """Return the matrix product plus the bias, broadcast over rows and batches."""
    product = matmul(a, b, transpose_a=transpose_a, transpose_b=transpose_b)
    biased = product if bias is None else product + np.asarray(bias, np.float64)
    return activated(biased, () if activation is None else (activation,))


def addmm(x: ArrayLike, a: ArrayLike, b: ArrayLike, *, alpha: float = 1.0, beta: float = 1.0, **_: object) -> Array:
    """Return `beta * x` plus `alpha` times the matrix product."""
    return beta * np.asarray(x, np.float64) + alpha * matmul(a, b)


def minimal_matmul(
    a: ArrayLike, b: ArrayLike, *, bias_tensor: ArrayLike | None = None, fused_activation: Any = None, **_: object
) -> Array:
    """Return the matrix product plus the bias."""
    return linear(a, b, bias=bias_tensor, activation=fused_activation)
