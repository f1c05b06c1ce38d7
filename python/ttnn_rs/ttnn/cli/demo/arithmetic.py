"""Fixed-order sums: the demo's numbers are equal on every machine.

A BLAS library picks its order of summation by CPU and thread count, and numpy's `exp` differs between vector levels in
the last bit. Everything here is made of numpy's element-wise `+ - * /`, which IEEE 754 defines to the bit.
"""

from __future__ import annotations

import math
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

FloatT = TypeVar("FloatT", np.float32, np.float64)

LOG2_E = 1.4426950408889634
LN_2 = 0.6931471805599453
EXP_TERMS = 14
"""Terms of the series for |r| <= ln(2)/2.

The first one left out is below 2e-18.
"""


def matmul(left: NDArray[FloatT], right: NDArray[FloatT]) -> NDArray[FloatT]:
    """Return `left @ right` [M, N], summed for k = 0, 1, ...

    One rounding each.
    """
    total: NDArray[FloatT] = left[:, 0, None] * right[0]
    product = np.empty_like(total)
    for k in range(1, left.shape[1]):
        np.multiply(left[:, k, None], right[k], out=product)
        total += product
    return total


def exp(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return e to the power of `x` <= 0, within 2 ULP."""
    x = np.maximum(x, -700.0)  # below that the result is under 1e-304, and 2**n would leave the normal range
    n = np.floor(x * LOG2_E + 0.5)
    r = x - n * LN_2
    series = np.ones_like(r)
    for k in range(EXP_TERMS, 0, -1):
        series = series * r / k + 1.0
    return np.ldexp(series, n.astype(np.int32))


def softmax(logits: NDArray[Any]) -> NDArray[np.float64]:
    """Return the softmax of each row in float64."""
    exact = logits.astype(np.float64)
    powers = exp(exact - exact.max(axis=1, keepdims=True))
    total = powers[:, 0]
    for k in range(1, powers.shape[1]):
        total = total + powers[:, k]
    return powers / total[:, None]


def pearson(got: NDArray[np.float32], exact: NDArray[np.float64]) -> float:
    """Return the Pearson correlation coefficient (PCC), without rounding errors in sums.

    It is over all elements.
    """
    x = got.astype(np.float64).ravel().tolist()
    y = exact.ravel().tolist()
    mean_x, mean_y = math.fsum(x) / len(x), math.fsum(y) / len(y)
    covariance = math.fsum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    variance_x = math.fsum((a - mean_x) ** 2 for a in x)
    variance_y = math.fsum((b - mean_y) ** 2 for b in y)
    if variance_x == 0.0 or variance_y == 0.0:
        return math.nan
    return covariance / math.sqrt(variance_x * variance_y)
