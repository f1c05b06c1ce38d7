"""Arguments for the generated tests of element-wise operators: values of required parameters, domains."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

import ttnn
from ttnn.operation.registry import Op
from ttnn.operation.signature import TENSOR

# Operators that Wormhole does not have.
ON_BLACKHOLE = frozenset({"situ_glu", "softcap"})
# Values of the parameters that have no default.
REQUIRED_VALUES: dict[str, list[tuple[Any, ...]]] = {
    "addalpha": [(0.5,)],
    "clamp": [(-1, 2), (0, None), (None, 1), (1, -1)],
    "clamped_silu_glu": [(10.0,), (0.75,)],
    "clip": [(-1, 2), (0, None), (None, 1)],
    "fill": [(3,)],
    "heaviside": [(0.5,)],
    "leaky_relu": [(0.125,)],
    "polygamma": [(1,), (2,), (3,)],
    "polyval": [([1.0, -2.0, 0.5],), ([3.0],)],
    "prelu": [(0.25,), ([0.5],)],
    "rdiv": [(2.0,)],
    "relu_max": [(1.0,)],
    "relu_min": [(0,), (2,)],
    "rpow": [(2.0,)],
    "situ_glu": [(4.0, 25.0), (0.5, 1.0)],
    "softcap": [(2.0,), (-0.75,)],
    "subalpha": [(0.5,)],
    "threshold": [(0.5, 2.0)],
    "unary_chain": [([ttnn.UnaryOpType.RELU, ttnn.UnaryOpType.EXP],), ([ttnn.UnaryWithParam(ttnn.UnaryOpType.EXP)],)],
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
            *("log", "log10", "log1p", "log2", "sqrt", "rsqrt", "digamma", "reciprocal"),
            *("xlogy", "div", "divide_", "rdiv", "fmod", "remainder", "pow", "addcdiv"),
            *("div_no_nan", "floor_div"),
        ),
        _positive,
    ),
    "acosh": lambda x: np.abs(x) + 1.0,
    "logit": lambda x: np.clip(np.abs(x), 0.125, 1.75) * 0.5,
    "lgamma": lambda x: np.abs(x) + 3.0,
    "log_sigmoid": lambda x: np.clip(x, -4.0, 4.0),
    "multigammaln": lambda x: np.abs(x) + 3.0,
    "polygamma": lambda x: np.abs(x) + 0.5,
}


def fit(entry: Op, values: Values) -> Values:
    """Return values inside an operator's domain that bfloat16 holds, where its accuracy is measured."""
    words = np.ascontiguousarray(DOMAINS.get(entry.name, np.asarray)(values), np.float32).view(np.uint32)
    return (words & np.uint32(0xFFFF0000)).view(np.float32)


def operand_kinds(entry: Op) -> set[str]:
    """Return what the second operand of a two-operand function may be besides its first, a tensor."""
    pairs = [signature.positional[:2] for signature in entry.signatures]
    return {second.kind.text for first, second in pairs if first.kind is TENSOR}


def unary_calls(entry: Op) -> Iterator[tuple[Any, ...]]:
    """Yield the arguments after the tensor."""
    yield from REQUIRED_VALUES.get(entry.name, [()])


def binary_calls(entry: Op, shape: tuple[int, ...]) -> Iterator[tuple[Any, ...]]:
    """Yield the arguments after the first tensor: equal shapes, broadcast ones, and a number where one is taken."""
    kinds = operand_kinds(entry)
    for more in unary_calls(entry):
        if TENSOR.text in kinds:
            yield (Operand(shape), *more)
            if len(shape) >= 2 and not entry.name.endswith("_"):
                yield (Operand((1, shape[-1])), *more)
                yield (Operand((*shape[:-1], 1)), *more)
                yield (Operand((1, 1)), *more)
        if kinds - {TENSOR.text}:
            yield (2, *more)


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
