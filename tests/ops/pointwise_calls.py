"""Arguments for the generated tests of element-wise operators: values of required parameters, domains."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from ttnn.ops.registry import Op

# Values of the parameters that have no default.
REQUIRED_VALUES: dict[str, list[tuple[Any, ...]]] = {
    "heaviside": [(0.5,)],
    "leaky_relu": [(0.125,)],
    "relu_max": [(1.0,)],
    "relu_min": [(0.25,), (-1.0,)],
    "rpow": [(2.0,)],
    "threshold": [(0.5, 2.0)],
}

Values = npt.NDArray[Any]


def _inside(x: Values) -> Values:
    return np.clip(x, -2.0, 2.0) * 0.4


def _positive(x: Values) -> Values:
    return np.abs(x) + 0.125


# Where functions have finite results; the golden vectors cover the rest.
DOMAINS: dict[str, Callable[[Values], Values]] = {
    **dict.fromkeys(("acos", "asin", "atanh", "erfinv"), _inside),
    **dict.fromkeys(
        ("log", "log10", "log1p", "log2", "sqrt", "rsqrt", "digamma", "reciprocal", "xlogy", "divide", "divide_"),
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
