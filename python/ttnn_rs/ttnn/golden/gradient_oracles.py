"""Gradients by torch's backward pass of the compared function.

Each entry is the forward function with the parameters of the gradient operator, under the official names. A gradient of
a complex tensor is cat(real, imag) over the last dimension.

Source: TT-NN, `ttnn/ttnn/operations` (arguments and forms of the golden functions of gradients).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ttnn.golden.torch_functions import FUNCTIONS, attribute


@dataclass(frozen=True)
class Gradient:
    """A forward function of differentiable `tensors`, after `fixed` ones.

    `mask` replaces values of a gradient that the chip does not return; it receives the operands and all options.
    """

    forward: Callable[..., Any]
    tensors: int = 1
    fixed: int = 0
    mask: Callable[..., Any] | None = None


def gradients(torch: Any, gradient: Gradient, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[Any]:
    """Return the gradients of all operands that are tensors."""
    grad, *rest = args
    first, last = gradient.fixed, gradient.fixed + gradient.tensors
    operands = [
        value.detach().clone().requires_grad_() if torch.is_tensor(value) and first <= i < last else value
        for i, value in enumerate(rest)
    ]
    leaves = [value for value in operands[first:last] if torch.is_tensor(value)]
    options = {
        name: value for name, value in kwargs.items() if name not in ("device", "memory_config", "are_required_outputs")
    }
    with torch.enable_grad():
        result = gradient.forward(torch, *operands, **options)
        seed = grad.detach().to(result.dtype)
        if result.requires_grad:
            found = torch.autograd.grad(result, leaves, seed.expand_as(result), allow_unused=True)
        else:
            found = (None,) * len(leaves)
    if gradient.mask is not None:
        found = tuple(gradient.mask(torch, value, *operands, **kwargs) for value in found)
    filled = [torch.zeros_like(leaf) if value is None else value for leaf, value in zip(leaves, found, strict=True)]
    return [torch.cat((value.real, value.imag), dim=-1) if value.is_complex() else value for value in filled]


def _forward(name: str) -> Callable[..., Any]:
    return FUNCTIONS[name]


def _named(path: str, parameter: str, default: Any, *aliases: str) -> Callable[..., Any]:
    """Return a function of torch with one parameter, which has further names."""

    def function(torch: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
        value = args[0] if args else next((kwargs[name] for name in (parameter, *aliases) if name in kwargs), default)
        return attribute(torch, path)(x, **{parameter: value})

    return function


def _rounded_quotient(torch: Any, a: Any, b: Any, value: Any = None, *, rounding_mode: Any = None, **_: Any) -> Any:
    return torch.div(a, b) if a.is_complex() else torch.div(a, b, rounding_mode=value or rounding_mode)


def _scaled(path: str) -> Callable[..., Any]:
    def function(torch: Any, a: Any, b: Any, alpha: Any = None, **_: Any) -> Any:
        return attribute(torch, path)(a, b, alpha=1 if alpha is None else alpha)

    return function


def _weighted(path: str) -> Callable[..., Any]:
    def function(torch: Any, a: Any, b: Any, c: Any, value: Any = None, *, alpha: Any = None, **_: Any) -> Any:
        scale = alpha if value is None else value
        return attribute(torch, path)(a, b, c, value=1 if scale is None else scale)

    return function


def _bias_gelu(torch: Any, a: Any, b: Any, value: Any = "none", *, approximate: Any = None, **_: Any) -> Any:
    return torch.nn.functional.gelu(torch.add(a, b), approximate=approximate or value)


def _concat(torch: Any, a: Any, b: Any, dim: Any = 0, **_: Any) -> Any:
    return torch.concat((a, b), dim=dim or 0)


def _assign(torch: Any, a: Any, b: Any = None, **_: Any) -> Any:
    # Both operands get the whole gradient.
    return a.clone() if b is None else a + b


def _limited(torch: Any, x: Any, min: Any = None, max: Any = None, *, a: Any = None, b: Any = None, **_: Any) -> Any:
    return torch.clamp(x, a if min is None else min, b if max is None else max)


def _hardtanh(torch: Any, x: Any, min_val: Any = None, max_val: Any = None, **more: Any) -> Any:
    low = more.get("min", -1.0) if min_val is None else min_val
    high = more.get("max", 1.0) if max_val is None else max_val
    return torch.nn.functional.hardtanh(x, low, high)


def _threshold(torch: Any, x: Any, threshold: Any = 0.0, value: Any = 0.0, **more: Any) -> Any:
    return torch.threshold(x, more.get("min", threshold), more.get("max", value))


def _reverse_quotient(
    torch: Any, x: Any, value: Any = None, mode: Any = None, *, scalar: Any = None, rounding_mode: Any = None
) -> Any:
    rounding_mode = mode or rounding_mode
    number = scalar if value is None else value
    return torch.div(torch.full_like(x, number), x, rounding_mode=rounding_mode)


def _power(torch: Any, x: Any, exponent: Any, **_: Any) -> Any:
    return torch.pow(x, exponent)


def _infinite_below_0(_torch: Any, gradient: Any, x: Any, exponent: Any, **_: Any) -> Any:
    """Return infinity for powers of negative bases, as officially."""
    return gradient.masked_fill(x < 0, float("inf")) if exponent != 0 and gradient is not None else gradient


def _as_sfpu(torch: Any, gradient: Any, _x: Any, *, device: Any = None, **_: Any) -> Any:
    """Return NaN and infinities as a device's numbers for them."""
    if device is None or not hasattr(device, "sfpu_nan"):
        return gradient
    infinity = device.sfpu_inf()
    return torch.nan_to_num(gradient, nan=device.sfpu_nan(), posinf=infinity, neginf=-infinity)


def _repeat(_torch: Any, x: Any, shape: Any = None, *, sizes: Any = None, **_: Any) -> Any:
    return x.repeat(tuple(shape if sizes is None else sizes))


def _polygamma(torch: Any, x: Any, n: int, **_: Any) -> Any:
    return torch.special.polygamma(int(n), x)


def _plain(path: str) -> Callable[..., Any]:
    def function(torch: Any, *args: Any, **_: Any) -> Any:
        return attribute(torch, path)(*args)

    return function


_ONE: Final = (
    "abs", "acos", "acosh", "angle", "asin", "asinh", "atan", "atanh", "ceil", "conj", "cos", "cosh", "deg2rad",
    "digamma", "erf", "erfc", "erfinv", "exp", "exp2", "expm1", "floor", "frac", "gelu", "hardsigmoid", "hardswish",
    "i0", "imag", "lgamma", "log", "log10", "log1p", "log2", "log_sigmoid", "logit", "neg", "rad2deg", "real",
    "reciprocal", "relu", "relu6", "round", "rsqrt", "selu", "sigmoid", "sign", "silu", "sin", "sinh", "softsign",
    "sqrt", "square", "tan", "tanh", "tanhshrink", "trunc",
)  # fmt: skip
_TWO: Final = ("atan2", "fmod", "hypot", "ldexp", "logaddexp", "logaddexp2", "remainder", "squared_difference", "xlogy")

GRADIENTS: Final[dict[str, Gradient]] = {
    **{f"{name}_bw": Gradient(_forward(name)) for name in _ONE},
    **{f"{name}_bw": Gradient(_forward(name), 2) for name in _TWO},
    **{f"{name}_bw": Gradient(_forward(name), 2) for name in ("eq", "ne", "gt", "ge", "lt", "le")},
    "acos_bw": Gradient(_plain("acos")),
    "acosh_bw": Gradient(_plain("acosh"), mask=_as_sfpu),
    "asin_bw": Gradient(_plain("asin")),
    "atanh_bw": Gradient(_plain("atanh")),
    "add_bw": Gradient(_scaled("add"), 2),
    "addalpha_bw": Gradient(_scaled("add"), 2),
    "addcdiv_bw": Gradient(_weighted("addcdiv"), 3),
    "addcmul_bw": Gradient(_weighted("addcmul"), 3),
    "assign_bw": Gradient(_assign, 2),
    "bias_gelu_bw": Gradient(_bias_gelu, 2),
    "celu_bw": Gradient(_named("nn.functional.celu", "alpha", 1.0)),
    "clamp_bw": Gradient(_limited),
    "clip_bw": Gradient(_limited),
    "concat_bw": Gradient(_concat, 2),
    "div_bw": Gradient(_rounded_quotient, 2),
    "elu_bw": Gradient(_named("nn.functional.elu", "alpha", 1.0)),
    "hardshrink_bw": Gradient(_named("nn.functional.hardshrink", "lambd", 0.5, "alpha")),
    "hardtanh_bw": Gradient(_hardtanh),
    "leaky_relu_bw": Gradient(_named("nn.functional.leaky_relu", "negative_slope", 0.01, "alpha")),
    "lerp_bw": Gradient(_forward("lerp"), 3),
    "logiteps_bw": Gradient(_named("logit", "eps", None, "alpha")),
    "max_bw": Gradient(_plain("max"), 2),
    "min_bw": Gradient(_plain("min"), 2),
    "mul_bw": Gradient(_plain("mul"), 2),
    "multigammaln_bw": Gradient(lambda torch, x, **_: torch.special.multigammaln(x, 4)),
    "polar_bw": Gradient(lambda torch, x, **_: torch.polar(x.real, x.imag)),
    "polygamma_bw": Gradient(_polygamma),
    "pow_bw": Gradient(_power, mask=_infinite_below_0),
    "rdiv_bw": Gradient(_reverse_quotient),
    "repeat_bw": Gradient(_repeat),
    # The official golden function swaps base and exponent.
    "rpow_bw": Gradient(_power),
    "rsub_bw": Gradient(_plain("rsub"), 2),
    "softplus_bw": Gradient(_forward("softplus")),
    "softshrink_bw": Gradient(_named("nn.functional.softshrink", "lambd", 0.5, "alpha")),
    "sub_bw": Gradient(_scaled("sub"), 2),
    "subalpha_bw": Gradient(_scaled("sub"), 2),
    "threshold_bw": Gradient(_threshold),
    "where_bw": Gradient(_forward("where"), 2, fixed=1),
}
"""Gradients by the names of operators."""
