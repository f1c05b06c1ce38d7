"""Reference functions of operators on two tensors, or on a tensor and a number."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ttnn.golden.eltwise.unary import activated, gelu, of_one, sigmoid_of

Array = NDArray[np.float64]
_WORD_BITS = 32


def of_two(name: str, doc: str, function: Callable[..., Any]) -> Callable[..., Array]:
    """Return a golden function of two operands, deaf to options that change no values."""

    def golden(a: ArrayLike, b: ArrayLike, **_: object) -> Array:
        with np.errstate(all="ignore"):
            return np.asarray(function(np.asarray(a, np.float64), np.asarray(b, np.float64)), np.float64)

    golden.__name__ = name
    golden.__doc__ = doc
    return golden


def of_integers(name: str, doc: str, function: Callable[..., Any]) -> Callable[..., Array]:
    """Return a golden function of two integer operands; results are the integers as float64."""

    def golden(a: ArrayLike, b: ArrayLike, **_: object) -> Array:
        return np.asarray(function(np.asarray(a, np.int64), np.asarray(b, np.int64)), np.float64)

    golden.__name__ = name
    golden.__doc__ = doc
    return golden


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
    lambda a, b: _shifted(a & 0xFFFF_FFFF, b, np.right_shift),
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


def div(a: ArrayLike, b: ArrayLike, *, rounding_mode: str | None = None, **_: object) -> Array:
    """Return a / b, rounded down or toward 0 if asked for."""
    with np.errstate(all="ignore"):
        quotient = np.asarray(np.divide(np.asarray(a, np.float64), np.asarray(b, np.float64)), np.float64)
    if rounding_mode is None:
        return quotient
    return np.asarray(np.floor(quotient) if rounding_mode == "floor" else np.trunc(quotient), np.float64)


def rdiv(x: ArrayLike, value: float, *, rounding_mode: str | None = None, **_: object) -> Array:
    """Return value / x, rounded down or toward 0 if asked for."""
    return div(value, x, rounding_mode=rounding_mode)


div_no_nan = of_two("div_no_nan", "Return a / b, 0 where b is 0.", lambda a, b: np.where(b == 0, 0.0, a / b))
floor_div = of_two("floor_div", "Return a / b rounded down; infinities of a / b stay.", lambda a, b: np.floor(a / b))


def power(base: ArrayLike, exponent: ArrayLike, **_: object) -> Array:
    """Return `base` to the power `exponent`; NaN for a negative base with a fractional exponent."""
    with np.errstate(all="ignore"):
        return np.asarray(np.power(np.asarray(base, np.float64), np.asarray(exponent, np.float64)), np.float64)


def polyval(x: ArrayLike, coeffs: Sequence[float], **_: object) -> Array:
    """Return the polynomial with these coefficients, that of the highest power first."""
    return np.asarray(np.polyval(list(coeffs), np.asarray(x, np.float64)), np.float64)


def coefficients_times_the_sum_of_terms(x: ArrayLike, coeffs: Sequence[float], **_: object) -> Array:
    """Return the number of coefficients times the sum of the terms' magnitudes: the scale of an error."""
    return len(coeffs) * polyval(np.abs(np.asarray(x, np.float64)), [abs(value) for value in coeffs])


def isclose(
    a: ArrayLike,
    b: ArrayLike,
    *,
    rtol: float = 9.999999747378752e-06,
    atol: float = 9.99999993922529e-09,
    equal_nan: bool = False,
    **_: object,
) -> Array:
    """Return 1 where |a - b| is at most `atol` + `rtol` * |b|, 0 elsewhere."""
    left, right = np.asarray(a, np.float64), np.asarray(b, np.float64)
    return np.isclose(left, right, rtol, atol, equal_nan=equal_nan).astype(np.float64)


def addalpha(a: ArrayLike, b: ArrayLike, alpha: float, **_: object) -> Array:
    """Return a + alpha * b."""
    return np.asarray(a, np.float64) + alpha * np.asarray(b, np.float64)


def subalpha(a: ArrayLike, b: ArrayLike, alpha: float, **_: object) -> Array:
    """Return a - alpha * b."""
    return np.asarray(a, np.float64) - alpha * np.asarray(b, np.float64)


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


def bias_gelu(a: ArrayLike, b: ArrayLike, **_: object) -> Array:
    """Return gelu(a + b)."""
    return gelu(np.asarray(a, np.float64) + np.asarray(b, np.float64))


@of_one
def prelu(x: Array, weight: Any = 0.25) -> Array:
    """Return x where it is positive and `weight` times x elsewhere; a weight per channel belongs to dimension 1."""
    slope = np.asarray(weight, np.float64)
    if slope.size > 1 or slope.ndim:
        slope = slope.reshape((1, -1) + (1,) * (x.ndim - 2)) if x.ndim > 1 else slope.reshape(-1)
    return np.where(x >= 0, x, slope * x)


def outer(a: ArrayLike, b: ArrayLike, **_: object) -> Array:
    """Return the products of every element of a's last dimension with every element of b's."""
    return np.asarray(a, np.float64)[..., :, None] * np.asarray(b, np.float64)[..., None, :]


def clamped_silu_glu(gate: ArrayLike, up: ArrayLike, limit: float, **_: Any) -> Array:
    """Return silu(min(gate, limit)) clamp(up, -limit, limit)."""
    g, u = np.minimum(np.asarray(gate, np.float64), limit), np.clip(np.asarray(up, np.float64), -limit, limit)
    return np.asarray(g * sigmoid_of(g) * u, np.float64)


def situ_glu(gate: ArrayLike, up: ArrayLike, beta1: float, beta2: float, **_: Any) -> Array:
    """Return beta1 tanh(gate / beta1) sigmoid(gate) beta2 tanh(up / beta2)."""
    g, u = np.asarray(gate, np.float64), np.asarray(up, np.float64)
    return np.asarray(beta1 * np.tanh(g / beta1) * sigmoid_of(g) * beta2 * np.tanh(u / beta2), np.float64)


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
        left = activated(np.asarray(a, np.float64), input_tensor_a_activations)
        right = activated(np.asarray(b, np.float64), input_tensor_b_activations)
        return activated(function(left, right), activations)

    golden.__name__ = name
    golden.__doc__ = f"Return `{formula}`, broadcast, with the activations of the operands and of the result."
    return golden


add = _binary("add", "a + b", np.add)
subtract = _binary("subtract", "a - b", np.subtract)
rsub = _binary("rsub", "b - a", lambda a, b: b - a)
multiply = _binary("multiply", "a * b", np.multiply)
