"""Torch functions of operators, with official golden additions.

Arguments of each function: the module torch, then the official arguments. Options that change no values are ignored.

Source: TT-NN, `ttnn/ttnn/operations` (arguments, types and forms of the golden functions).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any, Final

from ttnn.golden.torch_layers import LAYERS, activated, products

Function = Callable[..., Any]


def attribute(torch: Any, path: str) -> Any:
    """Return what a dotted path below torch names."""
    return reduce(getattr, path.split("."), torch)


def _of(path: str, count: int) -> Function:
    """Return the torch function at a path, of `count` operands only."""

    def function(torch: Any, *args: Any, **_: Any) -> Any:
        return attribute(torch, path)(*args[:count])

    return function


def _tensor_of(torch: Any, value: Any, like: Any) -> Any:
    return value if torch.is_tensor(value) else torch.tensor(value, dtype=like.dtype)


def _in_place(path: str) -> Function:
    """Return a comparison with the type of its first operand.

    As that of an in-place operator.
    """

    def function(torch: Any, a: Any, *args: Any, **_: Any) -> Any:
        return attribute(torch, path)(a, *args[:1]).to(a.dtype)

    return function


def _activated(path: str, swapped: bool = False) -> Function:
    """Return a function of two operands with fused activations after it."""

    def function(torch: Any, a: Any, b: Any, *_args: Any, activations: Any = None, **_: Any) -> Any:
        operands = (b, a) if swapped else (a, b)
        result = attribute(torch, path)(*operands)
        for activation in activations or ():
            result = activated(torch, FUNCTIONS, result, activation)
        return result

    return function


def _masked(path: str, outside: Callable[[Any], Any]) -> Function:
    """Return a function, infinite outside its domain in bfloat16.

    Torch has NaN there.
    """

    def function(torch: Any, x: Any, *_args: Any, **_: Any) -> Any:
        result = attribute(torch, path)(x)
        return result.masked_fill(outside(x), float("inf")) if x.dtype == torch.bfloat16 else result

    return function


def _modulo(path: str) -> Function:
    """Return a remainder.

    That of a bfloat16 tensor by a number is computed in float32.
    """

    def function(torch: Any, a: Any, b: Any, *_args: Any, **_: Any) -> Any:
        wide = a.float() if a.dtype == torch.bfloat16 and not torch.is_tensor(b) else a
        return attribute(torch, path)(wide, b).to(torch.result_type(a, b))

    return function


def _hardmish(torch: Any, x: Any, *_args: Any, **_: Any) -> Any:
    """Return x clamp(x + 2, 0, 2) / 2 of float32, truncated to bfloat16."""
    wide = x.float()
    result = wide * torch.clamp(wide + 2.0, min=0.0, max=2.0) * 0.5
    if x.dtype != torch.bfloat16:
        return result
    return torch.bitwise_right_shift(result.view(torch.int32), 16).to(torch.int16).view(torch.bfloat16)


def _div_no_nan(torch: Any, a: Any, b: Any, *_args: Any, **_: Any) -> Any:
    if not torch.is_tensor(b):
        return a / b if b else torch.zeros_like(a)
    return torch.where(b == 0, 0, a / b)


def _logical_right_shift(torch: Any, a: Any, b: Any, *_args: Any, **_: Any) -> Any:
    return ((a.to(torch.int64) & 0xFFFFFFFF) >> b).to(torch.int32)


def _clamp(torch: Any, x: Any, min: Any = None, max: Any = None, *_args: Any, **_: Any) -> Any:
    return torch.clamp(x, min, max)


def _round(torch: Any, x: Any, decimals: Any = None, *_args: Any, **_: Any) -> Any:
    return torch.round(x, decimals=decimals) if decimals else torch.round(x)


def _halves(gate: str) -> Function:
    def function(torch: Any, x: Any, dim: int = -1, *_args: Any, **_: Any) -> Any:
        first, second = torch.chunk(x, 2, dim=dim)
        return first * attribute(torch, gate)(second)

    return function


def _polyval(torch: Any, x: Any, coeffs: Any, *_args: Any, **_: Any) -> Any:
    result = 0.0
    for coefficient in coeffs:
        result = result * x + coefficient
    return result


def _rotate90(torch: Any, x: Any, *_args: Any, **_: Any) -> Any:
    pairs = x.reshape(*x.shape[:-1], -1, 2)
    return torch.stack([-pairs[..., 1], pairs[..., 0]], dim=-1).flatten(-2)


def _lerp(torch: Any, a: Any, b: Any, weight: Any, *_args: Any, **_: Any) -> Any:
    return torch.lerp(a, b.to(a.dtype), weight.to(a.dtype) if torch.is_tensor(weight) else weight)


def _where(torch: Any, condition: Any, a: Any, b: Any, *_args: Any, **_: Any) -> Any:
    return torch.where(condition if condition.dtype == torch.bool else condition != 0, a, b)


def _with_value(path: str) -> Function:
    def function(torch: Any, a: Any, b: Any, c: Any, *_args: Any, value: Any = 1, **_: Any) -> Any:
        return attribute(torch, path)(a, b, c, value=value)

    return function


def _loss(path: str) -> Function:
    def function(torch: Any, a: Any, b: Any, *_args: Any, reduction: Any = "none", **_: Any) -> Any:
        mode = str(getattr(reduction, "name", reduction)).lower()
        return attribute(torch, path)(a, b, reduction=mode)

    return function


def _reduced(name: str) -> Function:
    """Return a reduction.

    `max` and `min` over one dimension return values and indices, as torch does.
    """

    def function(torch: Any, x: Any, dim: Any = None, keepdim: bool = False, *_args: Any, **options: Any) -> Any:
        spread = name in ("std", "var")
        extra = {key: options[key] for key in ("correction",) if key in options and spread}
        if dim is None and not keepdim:
            return getattr(torch, name)(x, **extra)
        several = dim is None or isinstance(dim, list | tuple)
        dims = tuple(range(x.ndim)) if dim is None else tuple(dim) if several else dim
        chosen = f"a{name}" if several and name in ("max", "min") else name
        return getattr(torch, chosen)(x, dim=dims, keepdim=keepdim, **extra)

    return function


def _argmax(torch: Any, x: Any, dim: Any = None, keepdim: bool = False, *_args: Any, **_: Any) -> Any:
    return torch.argmax(x, dim=dim, keepdim=keepdim)


def _repeat_interleave(torch: Any, x: Any, repeats: Any, dim: int = 0, *_args: Any, **_: Any) -> Any:
    return torch.repeat_interleave(x, repeats, dim=dim)


def _isclose(
    torch: Any, a: Any, b: Any, *_args: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False, **_: Any
) -> Any:
    return torch.isclose(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan)


_UNARY: Final = {
    name: name
    for name in (
        "abs", "angle", "asinh", "atan", "bitwise_not", "ceil", "conj", "cos", "cosh", "deg2rad", "digamma", "erf",
        "erfc", "erfinv", "exp", "exp2", "expm1", "floor", "frac", "i0", "imag", "isfinite", "isinf", "isnan",
        "isneginf", "isposinf", "lgamma", "log", "log10", "log1p", "log2", "logical_not", "neg", "rad2deg", "real",
        "relu", "rsqrt", "selu", "sigmoid", "sign", "signbit", "sin", "sinh", "sqrt", "square", "tan", "tanh", "trunc",
    )
} | {
    "hardsigmoid": "nn.functional.hardsigmoid", "hardswish": "nn.functional.hardswish", "i1": "special.i1",
    "identity": "clone", "log_sigmoid": "nn.functional.logsigmoid", "relu6": "nn.functional.relu6",
    "sigmoid_accurate": "sigmoid", "silu": "nn.functional.silu", "softsign": "nn.functional.softsign",
    "swish": "nn.functional.silu", "tanhshrink": "nn.functional.tanhshrink",
}  # fmt: skip
_BINARY: Final = {
    name: name
    for name in (
        "atan2", "bitwise_and", "bitwise_left_shift", "bitwise_or", "bitwise_right_shift", "bitwise_xor", "eq", "gcd",
        "ge", "gt", "hypot", "lcm", "ldexp", "le", "logaddexp", "logaddexp2", "logical_and", "logical_or",
        "logical_xor", "lt", "maximum", "minimum", "ne", "nextafter", "pow", "xlogy",
    )
} | {"floor_div": "floor_divide", "logical_left_shift": "bitwise_left_shift"}  # fmt: skip
_IN_PLACE: Final = ("eq", "ne", "gt", "ge", "lt", "le", "logical_and", "logical_or", "logical_xor", "logical_not")
_NUMBERS_AS_TENSORS: Final = ("maximum", "minimum", "atan2", "hypot", "ldexp", "logaddexp", "logaddexp2", "gcd", "lcm")


def _binary(path: str, as_tensor: bool) -> Function:
    plain = _of(path, 2)

    def function(torch: Any, a: Any, b: Any, *_args: Any, **_: Any) -> Any:
        return plain(torch, a, _tensor_of(torch, b, a) if as_tensor else b)

    return function


FUNCTIONS: dict[str, Function] = (
    {name: _of(path, 1) for name, path in _UNARY.items()}
    | {name: _binary(path, name in _NUMBERS_AS_TENSORS) for name, path in _BINARY.items()}
    | {f"{name}_": _in_place(name) for name in _IN_PLACE}
    | {f"{name}_": FUNCTION for name in ("ldexp", "logaddexp", "logaddexp2") for FUNCTION in [_of(name, 2)]}
    | {
        name: lambda torch, x, *_, compare=compare, **__: getattr(torch, compare)(x, 0)
        for name, compare in {"eqz": "eq", "nez": "ne", "gtz": "gt", "gez": "ge", "ltz": "lt", "lez": "le"}.items()
    }
    | {
        name: _activated(path)
        for path in ("add", "sub", "mul", "div")
        for name in {
            "add": ("add", "add_"),
            "sub": ("subtract", "subtract_"),
            "mul": ("multiply", "multiply_"),
            "div": ("divide_",),
        }[path]
    }
    | {name: _activated("sub", swapped=True) for name in ("rsub", "rsub_")}
    | {name: _reduced(name) for name in ("sum", "mean", "max", "min", "std", "var")}
    | {
        "acos": _masked("acos", lambda x: x.abs() > 1),
        "acosh": _masked("acosh", lambda x: x < 1),
        "addalpha": lambda torch, a, b, alpha=1, *_, **__: torch.add(a, b, alpha=alpha),
        "addcdiv": _with_value("addcdiv"),
        "addcmul": _with_value("addcmul"),
        "alt_complex_rotate90": _rotate90,
        "argmax": _argmax,
        "asin": _masked("asin", lambda x: x.abs() > 1),
        "atanh": _masked("atanh", lambda x: x.abs() >= 1),
        "bias_gelu_": lambda torch, a, b, *_, **__: torch.nn.functional.gelu(torch.add(a, b)),
        "bias_gelu": lambda torch, a, b, *_, **__: torch.nn.functional.gelu(torch.add(a, b)),
        "cbrt": lambda torch, x, *_, **__: torch.sgn(x) * torch.pow(torch.abs(x), 1.0 / 3),
        "celu": lambda torch, x, alpha=1.0, *_, **__: torch.celu(x, alpha=alpha),
        "clamp": _clamp,
        "clip": _clamp,
        "div": lambda torch, a, b, rounding_mode=None, *_, **__: torch.div(a, b, rounding_mode=rounding_mode),
        "div_no_nan": _div_no_nan,
        "elu": lambda torch, x, alpha=1.0, *_, **__: torch.nn.functional.elu(x, alpha=alpha),
        "fill": lambda torch, x, fill_value, *_, **__: torch.full_like(x, fill_value),
        "fmod": _modulo("fmod"),
        "geglu": _halves("nn.functional.gelu"),
        "gelu": lambda torch, x, *_, approximate="none", **__: torch.nn.functional.gelu(x, approximate=approximate),
        "hardmish": _hardmish,
        "hardshrink": lambda torch, x, lambd=0.5, *_, **__: torch.nn.functional.hardshrink(x, lambd),
        "hardtanh": lambda torch, x, min_val=-1.0, max_val=1.0, *_, **__: torch.nn.functional.hardtanh(
            x, min_val, max_val
        ),
        "heaviside": lambda torch, x, value, *_, **__: torch.heaviside(x, _tensor_of(torch, value, x)),
        "isclose": _isclose,
        "l1_loss": _loss("nn.functional.l1_loss"),
        "leaky_relu": lambda torch, x, negative_slope=0.01, *_, **__: torch.nn.functional.leaky_relu(x, negative_slope),
        "lerp": _lerp,
        "logical_right_shift": _logical_right_shift,
        "logit": lambda torch, x, eps=None, *_, **__: torch.special.logit(x, eps=eps),
        "mac": lambda torch, a, b, c, *_, **__: torch.add(torch.mul(a, b), c),
        "mish": lambda torch, x, *_, **__: torch.nn.functional.mish(x.float()),
        "mse_loss": _loss("nn.functional.mse_loss"),
        "multigammaln": lambda torch, x, *_, **__: sum(torch.lgamma(x - 0.5 * i) for i in range(4)) + 3.434189657547,
        "outer": lambda torch, a, b, *_, **__: torch.outer(a.squeeze(), b.squeeze()),
        "polygamma": lambda torch, x, k, *_, **__: torch.special.polygamma(k, x),
        "polyval": _polyval,
        "prelu": lambda torch, x, weight, *_, **__: torch.nn.functional.prelu(x, _tensor_of(torch, weight, x)),
        "rdiv": lambda torch, x, value, *_, rounding_mode=None, **__: torch.div(
            torch.full_like(x, value), x, rounding_mode=rounding_mode
        ),
        "reciprocal": _of("reciprocal", 1),
        "reglu": _halves("relu"),
        "relu_max": lambda torch, x, upper_limit, *_, **__: torch.relu(torch.clamp(x, max=upper_limit)),
        "relu_min": lambda torch, x, lower_limit, *_, **__: torch.clamp(x, min=lower_limit),
        "remainder": _modulo("remainder"),
        "repeat_interleave": _repeat_interleave,
        "round": _round,
        "rpow": lambda torch, x, exponent, *_, **__: torch.pow(exponent, x),
        "softplus": lambda torch, x, beta=1.0, threshold=20.0, *_, **__: torch.nn.functional.softplus(
            x, beta, threshold
        ),
        "softshrink": lambda torch, x, lambd=0.5, *_, **__: torch.nn.functional.softshrink(x, lambd),
        "squared_difference": lambda torch, a, b, *_, **__: torch.square(torch.sub(a, b)),
        "squared_difference_": lambda torch, a, b, *_, **__: torch.square(torch.sub(a, b)),
        "subalpha": lambda torch, a, b, alpha=1, *_, **__: torch.sub(a, b, alpha=alpha),
        "swiglu": _halves("nn.functional.silu"),
        "threshold": lambda torch, x, threshold, value, *_, **__: torch.threshold(x, threshold, value),
        "tril": lambda torch, x, *_, diagonal=0, **__: torch.tril(x, diagonal),
        "triu": lambda torch, x, *_, diagonal=0, **__: torch.triu(x, diagonal),
        "where": _where,
    }
)
FUNCTIONS |= LAYERS | products(FUNCTIONS)
"""Functions on torch tensors by the names of operators."""
