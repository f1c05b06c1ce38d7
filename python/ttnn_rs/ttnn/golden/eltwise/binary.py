"""References of binary operators, with a tensor or number second."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ttnn.golden.eltwise.unary import activated, gelu, of_one, sigmoid_of

Array = NDArray[np.float64]
_WORD_BITS = 32


def _activable(function: Callable[..., Any]) -> Callable[..., Array]:
    """Make a golden function with activations of operands and result."""

    @wraps(function)
    def golden(
        a: ArrayLike,
        b: ArrayLike,
        *more: Any,
        activations: Iterable[Any] = (),
        input_tensor_a_activations: Iterable[Any] = (),
        input_tensor_b_activations: Iterable[Any] = (),
        **options: Any,
    ) -> Array:
        left, right = activated(a, input_tensor_a_activations), activated(b, input_tensor_b_activations)
        with np.errstate(all="ignore"):
            return activated(np.asarray(function(left, right, *more, **options), np.float64), activations)

    return golden


def of_two(name: str, doc: str, function: Callable[..., Any]) -> Callable[..., Array]:
    """Return a binary golden function that ignores options without value changes."""

    def golden(a: Array, b: Array, **_: object) -> Any:
        return function(a, b)

    golden.__name__ = name
    golden.__doc__ = doc
    return _activable(golden)


def without_activations_of_scalars(function: Callable[..., Array]) -> Callable[..., Array]:
    """Return a golden function that ignores activations of scalar operands.

    Those of the second operand.
    """

    @wraps(function)
    def golden(a: ArrayLike, b: ArrayLike, *more: Any, **options: Any) -> Array:
        if np.ndim(b) == 0:
            options = {name: value for name, value in options.items() if not name.endswith("activations")}
        return function(a, b, *more, **options)

    return golden


def of_integers(name: str, doc: str, function: Callable[..., Any]) -> Callable[..., Array]:
    """Return a golden function of two integer operands; results are float64."""
    return of_two(name, doc, lambda a, b: function(a.astype(np.int64), b.astype(np.int64)))


def _shifted(a: NDArray[np.int64], b: NDArray[np.int64], function: Callable[..., Any]) -> Any:
    inside = (b >= 0) & (b < _WORD_BITS)
    return np.where(inside, function(a, np.where(inside, b, 0)), 0)


left_shift = of_integers(
    "left_shift",
    "Return a * 2^b, 0 for counts below 0 or above 31; the result is not cut to a word.",
    lambda a, b: _shifted(a, b, np.left_shift),
)
right_shift = of_integers(
    "right_shift",
    "Return a / 2^b rounded down, 0 for counts below 0 or above 31.",
    lambda a, b: _shifted(a, b, np.right_shift),
)
logical_right_shift = of_integers(
    "logical_right_shift",
    "Return the word of a shifted right by b, filled with zeros; 0 for counts below 0 or above 31.",
    lambda a, b: np.where(b == 0, a, _shifted(a & 0xFFFF_FFFF, b, np.right_shift)),
)
squared_difference = of_two("squared_difference", "Return (a - b) squared.", lambda a, b: (a - b) ** 2)
xlogy = of_two("xlogy", "Return a ln b, 0 where a is 0.", lambda a, b: np.where(a == 0, 0.0, a * np.log(b)))
nextafter = of_two(
    "nextafter",
    "Return the next float32 after a in the direction of b; the steps of bfloat16 are 2^16 times as wide.",
    lambda a, b: np.nextafter(a.astype(np.float32), b.astype(np.float32)),
)
fmod = of_two("fmod", "Return what a / b rounded toward 0 leaves of a, with a's sign.", np.fmod)
remainder = of_two("remainder", "Return a modulo b, with b's sign.", np.mod)


@_activable
def div(a: Array, b: Array, *, rounding_mode: str | None = None, **_: object) -> Any:
    """Return a / b, rounded down or toward 0 if asked for."""
    quotient = a / b
    return quotient if rounding_mode is None else np.floor(quotient) if rounding_mode == "floor" else np.trunc(quotient)


def rdiv(x: ArrayLike, value: float, *, rounding_mode: str | None = None, **_: object) -> Array:
    """Return value / x, rounded down or toward 0 if asked for."""
    return div(value, x, rounding_mode=rounding_mode)


div_no_nan = of_two("div_no_nan", "Return a / b, 0 where b is 0.", lambda a, b: np.where(b == 0, 0.0, a / b))
floor_div = of_two("floor_div", "Return a / b rounded down; infinities of a / b stay.", lambda a, b: np.floor(a / b))


power = of_two("power", "Return a to the power b; NaN for a negative base with a fractional exponent.", np.power)


def polyval(x: ArrayLike, coeffs: Sequence[float], **_: object) -> Array:
    """Return the polynomial with these coefficients, that of the highest power first."""
    return np.asarray(np.polyval(list(coeffs), np.asarray(x, np.float64)), np.float64)


def coefficients_times_the_sum_of_terms(x: ArrayLike, coeffs: Sequence[float], **_: object) -> Array:
    """Return coefficients times the magnitudes' sum: the scale of an error.

    The number of coefficients, and the magnitudes of the terms.
    """
    return len(coeffs) * polyval(np.abs(np.asarray(x, np.float64)), [abs(value) for value in coeffs])


@_activable
def isclose(
    a: Array,
    b: Array,
    *,
    rtol: float = 9.999999747378752e-06,
    atol: float = 9.99999993922529e-09,
    equal_nan: bool = False,
    **_: object,
) -> Any:
    """Return 1 where |a - b| <= `atol` + `rtol` * |b|, else 0."""
    return np.isclose(a, b, rtol, atol, equal_nan=equal_nan)


@_activable
def addalpha(a: Array, b: Array, alpha: float, **_: object) -> Any:
    """Return a + alpha * b."""
    return a + alpha * b


@_activable
def subalpha(a: Array, b: Array, alpha: float, **_: object) -> Any:
    """Return a - alpha * b."""
    return a - alpha * b


def sum_of_magnitudes(a: ArrayLike, b: ArrayLike, alpha: float = 1.0, **_: object) -> Array:
    """Return |a| + |alpha * b|."""
    return np.abs(np.asarray(a, np.float64)) + np.abs(alpha * np.asarray(b, np.float64))


def largest_magnitude_or_1(a: ArrayLike, b: ArrayLike, **_: object) -> Array:
    """Return the largest of |a|, |b| and 1."""
    magnitudes = np.maximum(np.abs(np.asarray(a, np.float64)), np.abs(np.asarray(b, np.float64)))
    return np.maximum(magnitudes, 1.0)


def factors_of_xlogy(a: ArrayLike, b: ArrayLike, **_: object) -> Array:
    """Return |a| times the larger of |ln b| and 1."""
    with np.errstate(all="ignore"):
        logarithm = np.abs(np.log(np.abs(np.asarray(b, np.float64))))
    return np.abs(np.asarray(a, np.float64)) * np.maximum(logarithm, 1.0)


def quotient_or_1(a: ArrayLike, b: ArrayLike, **_: object) -> Array:
    """Return the larger of |a / b| and 1."""
    return np.maximum(np.abs(div(a, b)), 1.0)


bias_gelu_in_place = of_two("bias_gelu", "Return gelu(a + b).", lambda a, b: gelu(a + b))
bias_gelu = without_activations_of_scalars(bias_gelu_in_place)


@of_one
def prelu(x: Array, weight: Any = 0.25) -> Array:
    """Return x where positive, else `weight` times x.

    A weight per channel belongs to dimension 1.
    """
    slope = np.asarray(weight, np.float64)
    if slope.size > 1 or slope.ndim:
        slope = slope.reshape((1, -1) + (1,) * (x.ndim - 2)) if x.ndim > 1 else slope.reshape(-1)
    return np.where(x >= 0, x, slope * x)


def outer(a: ArrayLike, b: ArrayLike, **_: object) -> Array:
    """Return outer products of a's and b's last dimensions."""
    return np.asarray(a, np.float64)[..., :, None] * np.asarray(b, np.float64)[..., None, :]


def clamped_silu_glu(gate: ArrayLike, up: ArrayLike, limit: float, **_: Any) -> Array:
    """Return silu(min(gate, limit)) clamp(up, -limit, limit)."""
    g, u = np.minimum(np.asarray(gate, np.float64), limit), np.clip(np.asarray(up, np.float64), -limit, limit)
    return np.asarray(g * sigmoid_of(g) * u, np.float64)


def situ_glu(gate: ArrayLike, up: ArrayLike, beta1: float, beta2: float, **_: Any) -> Array:
    """Return beta1 tanh(gate / beta1) sigmoid(gate) beta2 tanh(up / beta2)."""
    g, u = np.asarray(gate, np.float64), np.asarray(up, np.float64)
    return np.asarray(beta1 * np.tanh(g / beta1) * sigmoid_of(g) * beta2 * np.tanh(u / beta2), np.float64)


add = of_two("add", "Return a + b.", np.add)
subtract = of_two("subtract", "Return a - b.", np.subtract)
rsub = of_two("rsub", "Return b - a.", lambda a, b: b - a)
multiply = of_two("multiply", "Return a * b.", np.multiply)
