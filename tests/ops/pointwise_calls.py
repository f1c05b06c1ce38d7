"""Arguments for the generated tests of element-wise operators: values of required parameters, domains."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ttnn.ops.registry import Op

# Values of the parameters that have no default.
REQUIRED_VALUES: dict[str, list[tuple[Any, ...]]] = {
    "clamp": [(-1, 2), (0, None), (None, 1), (1, -1)],
    "clip": [(-1, 2), (0, None), (None, 1)],
    "heaviside": [(0.5,)],
    "leaky_relu": [(0.125,)],
    "relu_max": [(1.0,)],
    "relu_min": [(0.25,), (-1.0,)],
    "rpow": [(2.0,)],
    "threshold": [(0.5, 2.0)],
}

Values = npt.NDArray[Any]


@dataclass(frozen=True)
class Operand:
    """A further tensor argument of the given shape."""

    shape: tuple[int, ...]
    seed: int = 1


def _inside(x: Values) -> Values:
    return np.clip(x, -2.0, 2.0) * 0.4


def _positive(x: Values) -> Values:
    return np.abs(x) + 0.125


# Where functions have finite results; the golden vectors cover the rest.
DOMAINS: dict[str, Callable[[Values], Values]] = {
    **dict.fromkeys(("acos", "asin", "atanh", "erfinv"), _inside),
    **dict.fromkeys(
        (
            "log",
            "log10",
            "log1p",
            "log2",
            "sqrt",
            "rsqrt",
            "digamma",
            "reciprocal",
            "xlogy",
            "divide",
            "divide_",
            "addcdiv",
        ),
        _positive,
    ),
    "acosh": lambda x: np.abs(x) + 1.0,
}


def fit(entry: Op, values: Values) -> Values:
    """Return values inside an operator's domain that bfloat16 holds, where its accuracy is measured."""
    words = np.ascontiguousarray(DOMAINS.get(entry.name, np.asarray)(values), np.float32).view(np.uint32)
    return (words & np.uint32(0xFFFF0000)).view(np.float32)


def unary_calls(entry: Op) -> Iterator[tuple[Any, ...]]:
    """Yield the arguments after the tensor."""
    yield from REQUIRED_VALUES.get(entry.name, [()])


def ternary_calls(entry: Op, shape: tuple[int, ...]) -> Iterator[tuple[Any, ...]]:
    """Yield the arguments after the first tensor: equal shapes, broadcast ones, and numbers where they are taken."""
    yield (Operand(shape, 1), Operand(shape, 2))
    if len(shape) >= 2:
        row, column = (1, shape[-1]), (*shape[:-1], 1)
        yield (Operand(row, 1), Operand(shape, 2))
        yield (Operand(row, 1), Operand(column, 2))
        if entry.name != "addcdiv":  # quotients of two padded operands: infinities beside the values
            yield (Operand(column, 1), Operand((1, 1), 2))
    if np.prod(shape) < 100:  # a number fills the padding, too, and takes the exponent of the few values beside it
        return
    if entry.name == "where":
        yield (1, Operand(shape, 2))
        yield (Operand(shape, 1), 1)
        yield (2, 1)
    elif entry.name == "lerp":
        yield (Operand(shape, 1), 2)
    elif entry.name == "mac":
        yield (Operand(shape, 1), 3)
        yield (2, Operand(shape, 2))
        yield (2, 3)
