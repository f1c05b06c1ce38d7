"""Gated linear units: the first half of the last dimension times a function of the second, or of two tensors."""

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


def clamped_silu_glu(gate: ArrayLike, up: ArrayLike, limit: float, **_: Any) -> Array:
    """Return silu(min(gate, limit)) clamp(up, -limit, limit)."""
    g, u = np.minimum(np.asarray(gate, np.float64), limit), np.clip(np.asarray(up, np.float64), -limit, limit)
    return np.asarray(g * sigmoid_of(g) * u, np.float64)


def situ_glu(gate: ArrayLike, up: ArrayLike, beta1: float, beta2: float, **_: Any) -> Array:
    """Return beta1 tanh(gate / beta1) sigmoid(gate) beta2 tanh(up / beta2)."""
    g, u = np.asarray(gate, np.float64), np.asarray(up, np.float64)
    return np.asarray(beta1 * np.tanh(g / beta1) * sigmoid_of(g) * beta2 * np.tanh(u / beta2), np.float64)
