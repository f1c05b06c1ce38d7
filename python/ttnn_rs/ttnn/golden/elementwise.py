"""Element-wise operators."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


def exp(x: ArrayLike, **_: object) -> Array:
    """Return e to the power of `x`."""
    return np.exp(np.asarray(x, np.float64))


def relu(x: ArrayLike, **_: object) -> Array:
    """Return `x` where it is positive and 0 elsewhere; NaN stays NaN."""
    return np.maximum(np.asarray(x, np.float64), 0.0)


def identity(x: ArrayLike, *_args: object, **_: object) -> Array:
    """Return `x`."""
    return np.asarray(x, np.float64)


_ACTIVATIONS: dict[str, Callable[..., Array]] = {"EXP": exp, "IDENTITY": identity, "RELU": relu}


def _activated(x: Array, activations: Iterable[Any]) -> Array:
    for activation in activations:
        operator = getattr(activation, "op_type", activation)
        operator = operator[0] if isinstance(operator, tuple) else operator
        x = _ACTIVATIONS[operator.name](x)
    return x


def chained(x: ArrayLike, ops_chain: Iterable[Any], **_: object) -> Array:
    """Return `x` with the operators of a chain applied in order."""
    return _activated(np.asarray(x, np.float64), ops_chain)


def _binary(name: str, formula: str, function: Callable[[Array, Array], Array]) -> Callable[..., Array]:
    """Return the golden function of an operator with activations of its operands and of the result."""

    def golden(
        a: ArrayLike,
        b: ArrayLike,
        *,
        activations: Iterable[Any] = (),
        input_tensor_a_activations: Iterable[Any] = (),
        input_tensor_b_activations: Iterable[Any] = (),
        **_: object,
    ) -> Array:
        left = _activated(np.asarray(a, np.float64), input_tensor_a_activations)
        right = _activated(np.asarray(b, np.float64), input_tensor_b_activations)
        return _activated(function(left, right), activations)

    golden.__name__ = name
    golden.__doc__ = f"Return `{formula}`, broadcast, with the activations of the operands and of the result."
    return golden


add = _binary("add", "a + b", np.add)
subtract = _binary("subtract", "a - b", np.subtract)
rsub = _binary("rsub", "b - a", lambda a, b: b - a)
multiply = _binary("multiply", "a * b", np.multiply)
