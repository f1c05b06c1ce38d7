"""Gradients: analytic derivatives in float64, a list with one array per operand.

Every function has the gradient of the result first. Options that change no values (places, preallocated tensors,
masks of required outputs) are accepted and ignored.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ttnn.golden import special
from ttnn.golden.eltwise.unary import sigmoid_of

Array = NDArray[np.float64]
Gradient = Callable[..., list[Array]]

_WITHOUT_EFFECT: Final = frozenset(
    ("memory_config", "are_required_outputs", "input_grad", "other_grad", "input_a_grad", "input_b_grad")
)


def _gradient(count: int) -> Callable[[Callable[..., Any]], Gradient]:
    """Make a golden gradient function of `count` arrays and parameters.

    The gradient comes first.
    """

    def decorate(function: Callable[..., Any]) -> Gradient:
        @wraps(function)
        def golden(*args: Any, **kwargs: Any) -> list[Array]:
            options = {name: value for name, value in kwargs.items() if name not in _WITHOUT_EFFECT}
            operands = [np.asarray(value, np.float64) for value in args[: count + 1]]
            with np.errstate(all="ignore"):
                result = function(*operands, *args[count + 1 :], **options)
            shape = np.broadcast_shapes(*(operand.shape for operand in operands))
            both = result if isinstance(result, tuple) else (result,)
            return [np.broadcast_to(np.asarray(item, np.float64), shape) for item in both]

        return golden

    return decorate


def _slope(name: str, doc: str, derivative: Callable[..., Any]) -> Gradient:
    """Return the gradient of a function of one tensor from its derivative."""

    def function(grad: Array, x: Array, *parameters: Any, **options: Any) -> Any:
        return grad * derivative(x, *parameters, **options)

    function.__name__ = name
    function.__doc__ = doc
    return _gradient(1)(function)


def _pair(name: str, doc: str, function: Callable[..., Any]) -> Gradient:
    function.__name__ = name
    function.__doc__ = doc
    return _gradient(2)(function)


# Elementary and special functions of one tensor.
exp = _slope("exp", "Return grad e^x.", np.exp)
exp2 = _slope("exp2", "Return grad 2^x ln 2.", lambda x: np.exp2(x) * math.log(2.0))
log = _slope("log", "Return grad / x.", lambda x: 1.0 / x)
log2 = _slope("log2", "Return grad / (x ln 2).", lambda x: 1.0 / (x * math.log(2.0)))
log10 = _slope("log10", "Return grad / (x ln 10).", lambda x: 1.0 / (x * math.log(10.0)))
log1p = _slope("log1p", "Return grad / (1 + x).", lambda x: 1.0 / (1.0 + x))
sqrt = _slope("sqrt", "Return grad / (2 sqrt(x)).", lambda x: 0.5 / np.sqrt(x))
rsqrt = _slope("rsqrt", "Return -grad / 2 x^(-3/2).", lambda x: -0.5 * x**-1.5)
reciprocal = _slope("reciprocal", "Return -grad / x^2.", lambda x: -1.0 / x**2)
sin = _slope("sin", "Return grad cos(x).", np.cos)
cos = _slope("cos", "Return -grad sin(x).", lambda x: -np.sin(x))
tan = _slope("tan", "Return grad / cos(x)^2.", lambda x: 1.0 / np.cos(x) ** 2)
sinh = _slope("sinh", "Return grad cosh(x).", np.cosh)
cosh = _slope("cosh", "Return grad sinh(x).", np.sinh)
asin = _slope("asin", "Return grad / sqrt(1 - x^2).", lambda x: 1.0 / np.sqrt((1.0 - x) * (1.0 + x)))
acos = _slope("acos", "Return -grad / sqrt(1 - x^2).", lambda x: -1.0 / np.sqrt((1.0 - x) * (1.0 + x)))
atan = _slope("atan", "Return grad / (1 + x^2).", lambda x: 1.0 / (1.0 + x * x))
asinh = _slope("asinh", "Return grad / sqrt(1 + x^2).", lambda x: 1.0 / np.hypot(1.0, x))
acosh = _slope("acosh", "Return grad / sqrt(x^2 - 1).", lambda x: 1.0 / np.sqrt((x - 1.0) * (x + 1.0)))
atanh = _slope("atanh", "Return grad / (1 - x^2).", lambda x: 1.0 / ((1.0 - x) * (1.0 + x)))
erf = _slope("erf", "Return grad 2 / sqrt(pi) e^(-x^2).", lambda x: 2.0 / math.sqrt(math.pi) * np.exp(-x * x))
erfc = _slope("erfc", "Return -grad 2 / sqrt(pi) e^(-x^2).", lambda x: -2.0 / math.sqrt(math.pi) * np.exp(-x * x))
erfinv = _slope(
    "erfinv",
    "Return grad sqrt(pi) / 2 e^(erfinv(x)^2).",
    lambda x: math.sqrt(math.pi) / 2.0 * np.exp(special.erfinv(x) ** 2),
)
i0 = _slope("i0", "Return grad i1(x).", special.i1)
lgamma = _slope("lgamma", "Return grad digamma(x).", special.digamma)
digamma = _slope("digamma", "Return grad polygamma(x, 1).", lambda x: special.polygamma(x, 1))
polygamma = _slope("polygamma", "Return grad polygamma(x, n + 1).", lambda x, n: special.polygamma(x, n + 1))
multigammaln = _slope(
    "multigammaln",
    "Return grad times the sum of digamma(x - i / 2) for i = 0 to 3.",
    lambda x: sum(special.digamma(x - 0.5 * i) for i in range(4)),
)
logit = _slope("logit", "Return grad / (x (1 - x)).", lambda x: 1.0 / (x * (1.0 - x)))
logiteps = _slope(
    "logiteps",
    "Return grad / (x (1 - x)) in [eps, 1 - eps], 0 outside.",
    lambda x, eps=0.0: np.where((x < eps) | (x > 1.0 - eps), 0.0, 1.0 / (x * (1.0 - x))),
)

# Functions with constant slopes.
zero = _slope("zero", "Return 0.", np.zeros_like)
same = _slope("same", "Return grad.", np.ones_like)
neg = _slope("neg", "Return -grad.", lambda x: -np.ones_like(x))
deg2rad = _slope("deg2rad", "Return grad pi / 180.", lambda x: np.full_like(x, math.pi / 180.0))
rad2deg = _slope("rad2deg", "Return grad 180 / pi.", lambda x: np.full_like(x, 180.0 / math.pi))
square = _slope("square", "Return 2 grad x.", lambda x: 2.0 * x)
abs_ = _slope("abs", "Return grad sign(x).", np.sign)

# Activations.
relu = _slope("relu", "Return grad where x > 0.", lambda x: x > 0)
relu6 = _slope("relu6", "Return grad where 0 < x < 6.", lambda x: (x > 0) & (x < 6))
leaky_relu = _slope(
    "leaky_relu",
    "Return grad, times the slope where x <= 0.",
    lambda x, negative_slope=0.009999999776482582: np.where(x > 0, 1.0, negative_slope),
)
elu = _slope(
    "elu", "Return grad, times alpha e^x where x <= 0.", lambda x, alpha=1.0: np.where(x > 0, 1.0, alpha * np.exp(x))
)
celu = _slope(
    "celu",
    "Return grad, times e^(x / alpha) where x <= 0.",
    lambda x, alpha=1.0: np.where(x > 0, 1.0, np.exp(x / alpha)),
)
selu = _slope(
    "selu",
    "Return scale grad, times alpha e^x where x <= 0.",
    lambda x: 1.0507009873554805 * np.where(x > 0, 1.0, 1.6732632423543772 * np.exp(x)),
)
silu = _slope(
    "silu", "Return grad s (1 + x (1 - s)), s = sigmoid(x).", lambda x: sigmoid_of(x) * (1.0 + x * sigmoid_of(-x))
)
hardsigmoid = _slope("hardsigmoid", "Return grad / 6 where -3 < x < 3.", lambda x: (np.abs(x) < 3) / 6.0)
hardswish = _slope(
    "hardswish",
    "Return 0 up to -3, grad from 3 on, grad (x / 3 + 1/2) between.",
    lambda x: np.where(x <= -3, 0.0, np.where(x < 3, x / 3.0 + 0.5, 1.0)),
)
hardtanh = _slope("hardtanh", "Return grad where min < x < max.", lambda x, min=-1.0, max=1.0: (x > min) & (x < max))
shrink = _slope("shrink", "Return grad where |x| > lambd.", lambda x, lambd=0.5: np.abs(x) > lambd)
softplus = _slope(
    "softplus",
    "Return grad sigmoid(beta x), grad where beta x > threshold.",
    lambda x, beta=1.0, threshold=20.0: np.where(beta * x > threshold, 1.0, sigmoid_of(beta * x)),
)
softsign = _slope("softsign", "Return grad / (1 + |x|)^2.", lambda x: (1.0 + np.abs(x)) ** -2.0)
tanhshrink = _slope("tanhshrink", "Return grad tanh(x)^2.", lambda x: np.tanh(x) ** 2)
log_sigmoid = _slope("log_sigmoid", "Return grad sigmoid(-x).", lambda x: sigmoid_of(-x))
threshold = _slope("threshold", "Return grad where x > min.", lambda x, min, max=0.0: x > min)
tanh = _slope("tanh", "Return grad / cosh(x)^2.", lambda x: 1.0 / np.cosh(x) ** 2)
sigmoid = _slope("sigmoid", "Return grad s (1 - s), s = sigmoid(x).", lambda x: sigmoid_of(x) * sigmoid_of(-x))


def _gelu_slope(x: Array, variant: Any = None) -> Array:
    if getattr(variant, "name", variant) in ("Tanh", "tanh"):
        beta, kappa = math.sqrt(2.0 / math.pi), 0.044715
        tanh_ = np.tanh(beta * (x + kappa * x**3))
        return 0.5 * (1.0 + tanh_) + 0.5 * beta * x * (1.0 + 3.0 * kappa * x * x) * (1.0 - tanh_) * (1.0 + tanh_)
    return 0.5 * special.erfc(-x / math.sqrt(2.0)) + x * np.exp(-0.5 * x * x) / math.sqrt(2.0 * math.pi)


gelu = _slope("gelu", "Return grad (cdf(x) + x pdf(x)) of the normal distribution.", _gelu_slope)


@_gradient(2)
def _bias_gelu(grad: Array, a: Array, b: Array, variant: Any = None, approximate: Any = None) -> Any:
    result = grad * _gelu_slope(a + b, approximate or variant)
    return result, result


def bias_gelu(grad: ArrayLike, a: ArrayLike, b: ArrayLike, **options: Any) -> list[Array]:
    """Return grad gelu'(a + b), twice if b is an array."""
    result = _bias_gelu(grad, a, b, **options)
    return result[:1] if isinstance(b, int | float) else result


# Limits, powers, quotients.
power = _slope("power", "Return grad exponent x^(exponent - 1).", lambda x, exponent: exponent * x ** (exponent - 1.0))
div_no_nan = _slope(
    "div_no_nan", "Return grad / scalar, 0 where that is 0.", lambda x, scalar: np.full_like(x, scalar and 1.0 / scalar)
)
rdiv = _slope(
    "rdiv",
    "Return -grad scalar / x^2, 0 with a rounding mode.",
    lambda x, scalar, rounding_mode=None: np.zeros_like(x) if rounding_mode else -scalar / x**2,
)
clamp = _slope(
    "clamp",
    "Return grad where min <= x <= max.",
    lambda x, min=None, max=None: (x >= (-np.inf if min is None else min)) & (x <= (np.inf if max is None else max)),
)

# Functions of two tensors.
atan2 = _pair("atan2", "Gradients of atan2(a, b).", lambda g, a, b: (g * b / (a * a + b * b), -g * a / (a * a + b * b)))
xlogy = _pair("xlogy", "Gradients of a ln b.", lambda g, a, b: (g * np.log(b), g * a / b))
hypot = _pair("hypot", "Gradients of hypot(a, b).", lambda g, a, b: (g * a / np.hypot(a, b), g * b / np.hypot(a, b)))
ldexp = _pair("ldexp", "Gradients of a 2^b.", lambda g, a, b: (g * np.exp2(b), g * a * np.exp2(b) * math.log(2.0)))
logaddexp = _pair(
    "logaddexp", "Gradients of ln(e^a + e^b).", lambda g, a, b: (g * sigmoid_of(a - b), g * sigmoid_of(b - a))
)
logaddexp2 = _pair(
    "logaddexp2",
    "Gradients of log2(2^a + 2^b).",
    lambda g, a, b: (g / (1.0 + np.exp2(b - a)), g / (1.0 + np.exp2(a - b))),
)
squared_difference = _pair(
    "squared_difference", "Gradients of (a - b)^2.", lambda g, a, b: (2.0 * g * (a - b), -2.0 * g * (a - b))
)
maximum = _pair(
    "maximum",
    "Gradients of the larger one; halves where both are equal.",
    lambda g, a, b: (g * ((a > b) + 0.5 * (a == b)), g * ((b > a) + 0.5 * (a == b))),
)
minimum = _pair(
    "minimum",
    "Gradients of the smaller one; halves where both are equal.",
    lambda g, a, b: (g * ((a < b) + 0.5 * (a == b)), g * ((b < a) + 0.5 * (a == b))),
)


def _by_number(golden: Gradient, of_number: Callable[..., Any]) -> Gradient:
    """Return a golden function that also accepts a number second.

    It has one gradient then.
    """
    single = _gradient(1)(of_number)

    @wraps(golden)
    def either(grad: ArrayLike, a: ArrayLike, b: ArrayLike, *args: Any, **kwargs: Any) -> list[Array]:
        return (single if isinstance(b, int | float) else golden)(grad, a, b, *args, **kwargs)

    return either


remainder = _by_number(
    _pair("remainder", "Gradients of a modulo b.", lambda g, a, b: (g, -g * np.floor(a / b))),
    lambda g, a, b: g + 0.0 * a,
)
fmod = _by_number(
    _pair("fmod", "Gradients of the truncated remainder.", lambda g, a, b: (g, -g * np.trunc(a / b))),
    lambda g, a, b: g + 0.0 * a,
)
add = _by_number(_pair("add", "Gradients of a + b.", lambda g, a, b: (g, g)), lambda g, a, b: g)
sub = _by_number(_pair("sub", "Gradients of a - b.", lambda g, a, b: (g, -g)), lambda g, a, b: g)
mul = _by_number(_pair("mul", "Gradients of a b.", lambda g, a, b: (g * b, g * a)), lambda g, a, b: g * b)
compared = _by_number(
    _pair("compared", "Gradients of a comparison.", lambda g, a, b: (0.0 * g, 0.0 * g)), lambda g, a, b: 0.0 * g
)
rsub = _pair("rsub", "Gradients of b - a.", lambda g, a, b: (-g, g))
addalpha = _pair("addalpha", "Gradients of a + alpha b.", lambda g, a, b, alpha=1.0: (g, alpha * g))
subalpha = _pair("subalpha", "Gradients of a - alpha b.", lambda g, a, b, alpha=1.0: (g, -alpha * g))


def _div(g: Array, a: Array, b: Array, rounding_mode: str | None = None) -> Any:
    return (0.0 * g, 0.0 * g) if rounding_mode else (g / b, -g * a / b**2)


def _div_by_number(g: Array, a: Array, b: float, rounding_mode: str | None = None) -> Any:
    return 0.0 * g if rounding_mode else g / np.float64(b)


div = _by_number(_pair("div", "Gradients of a / b.", _div), _div_by_number)


def assign(grad: ArrayLike, *operands: ArrayLike, **_: Any) -> list[Array]:
    """Return grad, once per operand."""
    return [np.asarray(grad, np.float64)] * len(operands)


# Functions of three tensors.
@_gradient(3)
def addcmul(grad: Array, a: Array, b: Array, c: Array, alpha: float) -> Any:
    """Gradients of a + alpha b c."""
    return grad, alpha * grad * c, alpha * grad * b


@_gradient(3)
def addcdiv(grad: Array, a: Array, b: Array, c: Array, alpha: float) -> Any:
    """Gradients of a + alpha b / c."""
    return grad, alpha * grad / c, -alpha * grad * b / c**2


@_gradient(3)
def _lerp(grad: Array, a: Array, b: Array, weight: Array) -> Any:
    return grad * (1.0 - weight), grad * weight, grad * (b - a)


def lerp(grad: ArrayLike, a: ArrayLike, b: ArrayLike, weight: ArrayLike, **options: Any) -> list[Array]:
    """Gradients of a + weight (b - a).

    That of the weight only if it is an array.
    """
    result = _lerp(grad, a, b, weight, **options)
    return result[:2] if isinstance(weight, int | float) else result


@_gradient(3)
def where(grad: Array, condition: Array, a: Array, b: Array) -> Any:
    """Gradients of a where the condition is not 0, else b."""
    return np.where(condition != 0, grad, 0.0), np.where(condition != 0, 0.0, grad)


# Functions that move elements or fold them.
def concat(grad: ArrayLike, a: ArrayLike, b: ArrayLike, dim: int = 0, **_: Any) -> list[Array]:
    """Return the parts of grad that belong to a and to b."""
    values = np.asarray(grad, np.float64)
    first, second = np.split(values, [np.shape(a)[dim]], axis=dim)
    return [first, second]


def repeat(grad: ArrayLike, x: ArrayLike, shape: Any, **_: Any) -> list[Array]:
    """Return grad summed over the repetitions."""
    values, size = np.asarray(grad, np.float64), np.shape(x)
    counts = tuple(int(count) for count in shape)
    if 0 in counts:
        return [np.zeros(size)]
    split = [item for count, extent in zip(counts, size, strict=True) for item in (count, extent)]
    return [values.reshape(split).sum(axis=tuple(range(0, 2 * len(size), 2)))]


def prod(grad: ArrayLike, x: ArrayLike, dim: int | None = None, **_: Any) -> list[Array]:
    """Return grad times the product of the other elements of x."""
    values, g = np.asarray(x, np.float64), np.asarray(grad, np.float64)
    if dim is None:
        return [g.reshape(-1)[0] * np.prod(values) / values]
    products = np.prod(values, axis=dim, keepdims=True)
    if g.shape == values.shape and dim % values.ndim >= values.ndim - 2:
        g = np.take(g, [0], axis=dim)
    return [g.reshape(products.shape) * products / values]


def embedding(indices: ArrayLike, weight: ArrayLike, grad: ArrayLike, **_: Any) -> Array:
    """Return every weight row's sum of gradients of its uses."""
    rows = np.asarray(indices).astype(np.int64).reshape(-1)
    size = (1, *np.shape(weight))[-2]
    values = np.asarray(grad, np.float64)
    values = values.reshape(-1, values.shape[-1])
    result = np.zeros((1, 1, size, values.shape[-1]))
    np.add.at(result[0, 0], rows, values)
    return result


def uses_times_the_sum_of_magnitudes(indices: ArrayLike, weight: ArrayLike, grad: ArrayLike, **_: Any) -> Array:
    """Return every row's uses times its gradients' summed magnitudes."""
    magnitudes = np.abs(np.asarray(grad, np.float64))
    return embedding(indices, weight, np.ones_like(magnitudes)) * embedding(indices, weight, magnitudes)


def sum_of_terms(grad: ArrayLike, x: ArrayLike, **_: Any) -> Array:
    """Return the size of the summands of multigammaln's gradient."""
    values, g = np.asarray(x, np.float64), np.asarray(grad, np.float64)
    return np.asarray(np.abs(g) * sum(np.abs(special.digamma(values - 0.5 * i)) for i in range(4)), np.float64)


def repeated_sizes(grad: ArrayLike, x: ArrayLike, shape: Any, **_: Any) -> Array:
    """Return the size of the summands of repeat's gradient."""
    return repeat(np.abs(np.asarray(grad, np.float64)), x, shape)[0]


def size_of_grad(grad: ArrayLike, *_operands: ArrayLike, **_: Any) -> Array:
    """Return the result gradient's size: the scale of slopes through 0."""
    return np.asarray(np.abs(np.asarray(grad, np.float64)), np.float64)
