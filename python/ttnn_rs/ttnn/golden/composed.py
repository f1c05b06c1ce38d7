"""Functions of one tensor that the chip makes of several."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ttnn.golden.pointwise import Array, formula, softplus_of
from ttnn.golden.special import lgamma

hardswish = formula("hardswish", "Return x clamp(x / 6 + 1 / 2, 0, 1).", lambda x: x * np.clip(x / 6 + 0.5, 0, 1))
log_sigmoid = formula("log_sigmoid", "Return -ln(1 + e^-x).", lambda x: -softplus_of(-x))


def _logit(x: Array, eps: float | None = None) -> Any:
    held = x if eps is None else np.clip(x, min(eps, 1 - eps), max(eps, 1 - eps))
    return np.log(held) - np.log1p(-held)


logit = formula("logit", "Return ln(x / (1 - x)), x held to [eps, 1 - eps].", _logit)


def multigammaln(x: ArrayLike, **_: object) -> Array:
    """Return the logarithm of the multivariate gamma function of order 4."""
    values = np.asarray(x, np.float64)
    with np.errstate(all="ignore"):
        total = lgamma(values) + lgamma(values - 0.5) + lgamma(values - 1.0) + lgamma(values - 1.5)
        result: Array = total + 3.0 * np.log(np.pi)
    return result
