"""Losses of a prediction against a reference."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ttnn.golden.eltwise.unary import Array


def _reduced(losses: Array, reduction: Any) -> Array:
    name = getattr(reduction, "name", "NONE")
    if name == "NONE":
        return losses
    reduce = np.sum if name == "SUM" else np.mean
    return np.asarray(reduce(losses), np.float64)


def l1_loss(reference: ArrayLike, prediction: ArrayLike, *, reduction: Any = None, **_: object) -> Array:
    """Return |reference - prediction|, its sum or its mean."""
    difference = np.asarray(reference, np.float64) - np.asarray(prediction, np.float64)
    return _reduced(np.abs(difference), reduction)


def mse_loss(reference: ArrayLike, prediction: ArrayLike, *, reduction: Any = None, **_: object) -> Array:
    """Return the square of reference - prediction, its sum or its mean."""
    difference = np.asarray(reference, np.float64) - np.asarray(prediction, np.float64)
    return _reduced(difference * difference, reduction)


def terms(name: str) -> Callable[..., Array]:
    """Return a loss's error scale: the operands' magnitude sum, or its square."""

    def operands(reference: ArrayLike, prediction: ArrayLike, **_: object) -> Array:
        total = np.abs(np.asarray(reference, np.float64)) + np.abs(np.asarray(prediction, np.float64))
        return np.asarray(total * total if name == "mse_loss" else total, np.float64)

    return operands
