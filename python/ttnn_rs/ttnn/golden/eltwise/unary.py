"""Reference functions of operators on one tensor."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ttnn.base.activation import as_unary
from ttnn.golden.special import erfc, lgamma

Array = NDArray[np.float64]
_F = TypeVar("_F", bound=Callable[..., Any])


def of_one(function: Callable[..., Any]) -> Callable[..., Array]:
    """Make a float64 function that ignores value-neutral options.

    It is quiet about NaN and infinity.
    """

    @wraps(function)
    def golden(x: ArrayLike, *args: Any, **kwargs: Any) -> Array:
        for name in ("memory_config", "output_tensor", "sub_core_grids", "fast_and_approximate_mode"):
            kwargs.pop(name, None)
        with np.errstate(all="ignore"):
            return np.asarray(function(np.asarray(x, np.float64), *args, **kwargs), np.float64)

    return golden


def plain(name: str, doc: str) -> Callable[..., Array]:
    """Return numpy's function of that name as a golden function."""
    ufunc = getattr(np, name)

    def function(x: Array, *_: object) -> Any:
        return ufunc(x)

    function.__name__ = name
    function.__doc__ = doc
    return of_one(function)


def formula(name: str, doc: str, function: Callable[..., Any]) -> Callable[..., Array]:
    """Return a golden function from a formula with parameters."""

    def golden(x: Array, *args: Any, **kwargs: Any) -> Any:
        return function(x, *args, **kwargs)

    golden.__name__ = name
    golden.__doc__ = doc
    return of_one(golden)


def sigmoid_of(x: Array) -> Array:
    """Return 1 / (1 + e^-x) without overflow."""
    power = np.exp(-np.abs(x))
    return np.where(x >= 0, 1.0 / (1.0 + power), power / (1.0 + power))


def softplus_of(x: Array) -> Array:
    """Return ln(1 + e^x) without overflow."""
    return np.maximum(x, 0.0) + np.log1p(np.exp(-np.abs(x)))


def gelu_by_tanh(x: Array) -> Array:
    """Return the approximation of gelu by the hyperbolic tangent."""
    return 0.5 * x * (1.0 + np.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * x**3)))


@of_one
def gelu(x: Array, variant: Any = None) -> Array:
    """Return x times the normal distribution function of x."""
    if getattr(variant, "name", None) == "Tanh":
        return gelu_by_tanh(x)
    return 0.5 * x * erfc(-x / math.sqrt(2.0))


@of_one
def xielu(x: Array, alpha_p: float = 0.800000011920929, alpha_n: float = 0.800000011920929) -> Array:
    """Return x / 2 plus a parabola or a shifted exponential.

    The parabola is for positive x, the exponential for negative x.
    """
    small = np.minimum(x, -1e-6)
    return np.where(x > 0, alpha_p * x * x + 0.5 * x, (np.expm1(small) - x) * alpha_n + 0.5 * x)


@of_one
def round_(x: Array, decimals: int = 0) -> Array:
    """Return x rounded to decimals, halves to even."""
    return np.round(x, decimals or 0)


@of_one
def tanhshrink(x: Array) -> Array:
    """Return x - tanh(x)."""
    series = x**3 / 3.0 - 2.0 * x**5 / 15.0
    return np.where(np.abs(x) < 1e-3, series, x - np.tanh(x))


@of_one
def threshold(x: Array, threshold: float, value: float) -> Array:
    """Return x above the threshold and `value` elsewhere."""
    return np.where(x > threshold, x, value)


@of_one
def clamp(x: Array, min: Any = None, max: Any = None) -> Array:
    """Return x held to [min, max]."""
    return np.minimum(np.maximum(x, -np.inf if min is None else min), np.inf if max is None else max)


@of_one
def rotate90(x: Array) -> Array:
    """Return -b, a of column pairs a, b; odd widths add 0."""
    width = x.shape[-1]
    wide = np.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, width % 2)])
    turned = np.empty_like(wide)
    turned[..., ::2], turned[..., 1::2] = -wide[..., 1::2], wide[..., ::2]
    return turned[..., :width]


mish = formula("mish", "Return x times tanh(softplus(x)).", lambda x: x * np.tanh(softplus_of(x)))
hardswish = formula("hardswish", "Return x clamp(x / 6 + 1 / 2, 0, 1).", lambda x: x * np.clip(x / 6 + 0.5, 0, 1))
log_sigmoid = formula("log_sigmoid", "Return -ln(1 + e^-x).", lambda x: -softplus_of(-x))


def _logit(x: Array, eps: float | None = None) -> Any:
    held = x
    if eps is not None:
        # Beyond eps = 1/2 the limits have changed places, and the lower one comes first, as in torch.
        held = np.where(x < eps, eps, np.where(x > 1 - eps, 1 - eps, x))
    return np.log(held) - np.log1p(-held)


logit = formula("logit", "Return ln(x / (1 - x)), x held to [eps, 1 - eps].", _logit)


def multigammaln(x: ArrayLike, **_: object) -> Array:
    """Return the logarithm of the multivariate gamma function of order 4."""
    values = np.asarray(x, np.float64)
    with np.errstate(all="ignore"):
        total = lgamma(values) + lgamma(values - 0.5) + lgamma(values - 1.0) + lgamma(values - 1.5)
        result: Array = total + 3.0 * np.log(np.pi)
    return result


def bitwise_not(x: ArrayLike, **_: object) -> Array:
    """Return -1 - x, for integers without a sign 2^32 - 1 - x."""
    values = np.asarray(x, np.float64)
    unsigned = values.size and values.max() >= 2.0**31
    return (2.0**32 if unsigned else 0.0) - 1.0 - values


def fill(x: ArrayLike, fill_value: float, **_: object) -> Array:
    """Return an array of the shape of `x` that holds `fill_value`."""
    return np.full(np.shape(x), fill_value, np.float64)


def tril(x: ArrayLike, *, diagonal: int = 0, **_: object) -> Array:
    """Return the elements on and below a diagonal, 0 elsewhere."""
    return np.asarray(np.tril(np.asarray(x, np.float64), diagonal), np.float64)


def triu(x: ArrayLike, *, diagonal: int = 0, **_: object) -> Array:
    """Return the elements on and above a diagonal, 0 elsewhere."""
    return np.asarray(np.triu(np.asarray(x, np.float64), diagonal), np.float64)


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


def exp(x: ArrayLike, **_: object) -> Array:
    """Return e to the power of `x`."""
    return np.exp(np.asarray(x, np.float64))


def relu(x: ArrayLike, **_: object) -> Array:
    """Return `x` where it is positive and 0 elsewhere; NaN stays NaN."""
    return np.maximum(np.asarray(x, np.float64), 0.0)


def identity(x: ArrayLike, *_args: object, **_: object) -> Array:
    """Return `x`."""
    return np.asarray(x, np.float64)


def _of_number(function: Callable[[Array, float], Any]) -> tuple[Callable[..., Array], int]:
    return formula("activation", "Return a function of x and a number.", function), 1


ACTIVATIONS: dict[str, tuple[Callable[..., Array], int]] = {
    "ABS_INT32": (plain("abs", "Return |x|."), 0),
    "ADD_UNARY_SFPU": _of_number(lambda x, value: x + value),
    "BITWISE_AND": _of_number(lambda x, value: x.astype(np.int64) & int(value)),
    "BITWISE_NOT": (bitwise_not, 0),
    "BITWISE_OR": _of_number(lambda x, value: x.astype(np.int64) | int(value)),
    "BITWISE_XOR": _of_number(lambda x, value: x.astype(np.int64) ^ int(value)),
    "CLAMP_TSS": (clamp, 2),
    "DIV_UNARY_SFPU": _of_number(lambda x, value: x / np.float64(value)),
    "EXP": (exp, 0),
    "FILL": (fill, 1),
    "FMOD": _of_number(np.fmod),
    "GELU": (gelu, 0),
    "GELU_TANH": (formula("gelu_tanh", "Return gelu by the hyperbolic tangent.", gelu_by_tanh), 0),
    "IDENTITY": (identity, 0),
    "LEFT_SHIFT": _of_number(lambda x, value: x * 2.0**value),
    "MAXIMUM": _of_number(np.maximum),
    "MINIMUM": _of_number(np.minimum),
    "MUL_UNARY_SFPU": _of_number(lambda x, value: x * value),
    "POWER": _of_number(np.power),
    "POWER_ITERATIVE": _of_number(lambda x, value: np.power(x, np.trunc(value))),
    "PRELU_SFPU": _of_number(lambda x, value: np.where(x >= 0, x, value * x)),
    "RDIV": _of_number(lambda x, value: value / x),
    "RELU": (relu, 0),
    "REMAINDER": _of_number(np.mod),
    "RIGHT_SHIFT": _of_number(lambda x, value: np.floor(x / 2.0**value)),
    "RSUB": _of_number(lambda x, value: value - x),
    "SIGMOID": (formula("sigmoid", "Return 1 / (1 + e^-x).", sigmoid_of), 0),
    "SQUARE": (formula("square", "Return x squared.", np.square), 0),
    "SUB_UNARY_SFPU": _of_number(lambda x, value: x - value),
    "TANH": (plain("tanh", "Return the hyperbolic tangent."), 0),
    "UNARY_EQ": _of_number(np.equal),
    "UNARY_GE": _of_number(np.greater_equal),
    "UNARY_GT": _of_number(np.greater),
    "UNARY_LE": _of_number(np.less_equal),
    "UNARY_LT": _of_number(np.less),
    "UNARY_NE": _of_number(np.not_equal),
    "WHERE_TSS": (formula("where", "Return a where x is not 0, b elsewhere.", lambda x, a, b: np.where(x, a, b)), 2),
}
"""Activation references by `UnaryOpType` name, with parameter counts.

Operators on one tensor add theirs when they are registered. Further parameters select approximations.
"""


_ALIASES: Final = {"gelu_approx": "GELU", "reciprocal": "RECIP", "swish": "SILU"}


def activated(x: ArrayLike, activations: Iterable[Any]) -> Array:
    """Return `x` after a chain of functions: operators, with parameters, or strings."""
    result = np.asarray(x, np.float64)
    for activation in activations:
        if isinstance(activation, str):
            name, parameters = _ALIASES.get(activation, activation.upper()), []
        else:
            unary = as_unary(activation)
            name, parameters = unary.op_type.name, unary.params
        golden, count = ACTIVATIONS[name]
        result = golden(result, *parameters[:count])
    return result


def chained(x: ArrayLike, ops_chain: Iterable[Any], **_: object) -> Array:
    """Return `x` with the operators of a chain applied in order."""
    return activated(x, ops_chain)
