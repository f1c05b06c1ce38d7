"""Gated linear units: the first half of the last dimension times a function of the second."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ttnn.golden.pointwise import Array, gelu, sigmoid_of


def of_halves(name: str, doc: str, gate: Callable[[Array], Any]) -> Callable[..., Array]:
    """Return a golden function from the function of the second half."""

    def golden(x: ArrayLike, dim: int = -1, **options: Any) -> Array:
        first, second = np.split(np.asarray(x, np.float64), 2, axis=dim)
        variant = options.get("variant")
        with np.errstate(all="ignore"):
            gated = gelu(second, variant) if name == "geglu" else gate(second)
            return np.asarray(first * gated, np.float64)

    golden.__name__ = name
    golden.__doc__ = doc
    return golden


glu = of_halves("glu", "Return a sigmoid(b) for the halves a and b.", sigmoid_of)
reglu = of_halves("reglu", "Return a relu(b) for the halves a and b.", lambda b: np.maximum(b, 0.0))
geglu = of_halves("geglu", "Return a gelu(b) for the halves a and b.", gelu)
swiglu = of_halves("swiglu", "Return a b sigmoid(b) for the halves a and b.", lambda b: b * sigmoid_of(b))
