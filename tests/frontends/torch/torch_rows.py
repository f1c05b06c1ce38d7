"""Cases of aten operations: functions, inputs, bars."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch.nn import functional as F  # noqa: N812

__all__ = ["CASES", "Case"]


@dataclass(frozen=True)
class Case:
    """One function of PyTorch with its inputs.

    Attributes:
        level: `element`, `product`, `exact` or `bits` (with signs of zeros): the bar of the results.
    """

    name: str
    function: Callable[..., Any]
    inputs: tuple[torch.Tensor, ...]
    level: str

    def on_copies(self, *inputs: torch.Tensor) -> Any:
        """Return the function's result for copies: views of inputs need no program."""
        return self.function(*(one.clone() for one in inputs))


CASES: dict[str, Case] = {}


def case(name: str, function: Callable[..., Any], *inputs: torch.Tensor, level: str = "element") -> None:
    assert name not in CASES, name
    CASES[name] = Case(name, function, inputs, level)


def applied(name: str, how: str) -> Callable[..., Any]:
    """Return a function of PyTorch with a bound argument."""
    function = getattr(torch, name)
    return {
        "scalar": lambda x: function(x, 0.0),
        "dim": lambda x: function(x, 1),
        "first": lambda x: function(x, 0),
        "keep": lambda x: function(x, -1, keepdim=True),
    }[how]


_random = torch.Generator().manual_seed(7)


def normal(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=_random)


def uniform(low: float, high: float, *shape: int) -> torch.Tensor:
    return torch.rand(*shape, generator=_random) * (high - low) + low


def whole(low: int, high: int, *shape: int, dtype: torch.dtype = torch.int64) -> torch.Tensor:
    return torch.randint(low, high, shape, generator=_random, dtype=dtype)


def truth(*shape: int) -> torch.Tensor:
    return torch.rand(*shape, generator=_random) > 0.5


X, Y = normal(3, 37), normal(3, 37)
POSITIVE, UNIT = uniform(0.1, 4, 3, 37), uniform(-0.95, 0.95, 3, 37)
NUMBERS, J = whole(-50, 50, 4, 9), whole(1, 9, 4, 9)
BIG = whole(-(1 << 30), 1 << 30, 4, 9)
P, Q = truth(4, 9), truth(4, 9)

for _name in [
    "abs",
    "neg",
    "exp",
    "exp2",
    "expm1",
    "sin",
    "cos",
    "tan",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "erf",
    "erfc",
    "sigmoid",
    "relu",
    "square",
    "sign",
    "ceil",
    "floor",
    "trunc",
    "frac",
    "isnan",
    "isinf",
    "isfinite",
    "positive",
    "sgn",
]:
    case(
        _name,
        getattr(torch, _name),
        X,
        level="exact"
        if _name
        in {"abs", "neg", "relu", "sign", "ceil", "floor", "trunc", "isnan", "isinf", "isfinite", "positive", "sgn"}
        else "element",
    )
for _name in ("log", "log2", "log10", "log1p", "sqrt", "rsqrt", "reciprocal"):
    case(_name, getattr(torch, _name), POSITIVE)
case("acosh", torch.acosh, POSITIVE + 1)
for _name in ("asin", "acos", "atanh"):
    case(_name, getattr(torch, _name), UNIT)
for _name in [
    "relu6",
    "hardtanh",
    "leaky_relu",
    "elu",
    "selu",
    "celu",
    "silu",
    "mish",
    "softplus",
    "hardsigmoid",
    "hardswish",
    "logsigmoid",
    "softsign",
    "tanhshrink",
    "hardshrink",
    "softshrink",
]:
    case(f"f_{_name}", getattr(F, _name), 3 * X)
case("gelu", F.gelu, X)
case("gelu_tanh", lambda x: F.gelu(x, approximate="tanh"), X)
case("round", torch.round, 4 * X, level="exact")
case("round_ties", torch.round, torch.arange(-6, 6).float() / 2, level="exact")
case("abs_int", torch.abs, NUMBERS, level="exact")
case("neg_int", torch.neg, BIG, level="exact")
case("sign_int", torch.sign, NUMBERS, level="exact")
case("relu_int", torch.relu, NUMBERS, level="exact")
case("sin_int", torch.sin, NUMBERS[:2] % 4)
case("logical_not", torch.logical_not, P, level="exact")
case("logical_not_float", torch.logical_not, torch.tensor([0.0, 1.0, -2.0]), level="exact")
case("bitwise_not_bool", torch.bitwise_not, P, level="exact")
case("bitwise_not_int", torch.bitwise_not, BIG, level="exact")
case("nan_to_num", torch.nan_to_num, torch.tensor([1.0, math.inf, -math.inf, math.nan, 2.5]), level="exact")
case("isinf_values", torch.isinf, torch.tensor([1.0, math.inf, -math.inf]), level="exact")
case("isnan_values", torch.isnan, torch.tensor([1.0, math.inf, math.nan]), level="exact")
case("clamp", lambda x: torch.clamp(x, -0.5, 0.7), X)
case("clamp_min", lambda x: torch.clamp(x, min=0.25), X)
case("clamp_tensor", lambda x, y: torch.clamp(x, min=y), X, Y, level="exact")
case("clamp_int", lambda x: torch.clamp(x, -3, 5), NUMBERS, level="exact")

for _name in ("add", "sub", "mul", "maximum", "minimum"):
    case(_name, getattr(torch, _name), X, Y)
    case(f"{_name}_int", getattr(torch, _name), NUMBERS, J, level="exact")
    case(f"{_name}_big", getattr(torch, _name), BIG // 4, BIG.flip(0) // 4 if _name != "mul" else J, level="exact")
    case(f"{_name}_broadcast", getattr(torch, _name), normal(2, 1, 5), normal(4, 1))
    case(f"{_name}_bf16", getattr(torch, _name), X.bfloat16(), Y.bfloat16())
for _dtype in (torch.int8, torch.int16, torch.uint8):
    _low = 0 if _dtype == torch.uint8 else -120
    for _name in ("add", "sub", "mul"):
        case(
            f"{_name}_{_dtype}"[0:].replace("torch.", ""),
            getattr(torch, _name),
            whole(_low, 120, 4, 9, dtype=_dtype),
            whole(_low, 120, 4, 9, dtype=_dtype),
            level="exact",
        )
case("add_bool", torch.add, P, Q, level="exact")
case("mul_bool", torch.mul, P, Q, level="exact")
case("maximum_bool", torch.maximum, P, Q, level="exact")
case("add_mixed", torch.add, X[:, :9][:1], NUMBERS)
case("add_scalar", lambda x: x + 2.5, X)
case("radd_scalar", lambda x: 2.5 - x, X)
case("add_alpha", lambda x, y: torch.add(x, y, alpha=3), X, Y)
case("sub_alpha", lambda x, y: torch.sub(x, y, alpha=0.5), X, Y)
case("rsub", lambda x: torch.rsub(x, 3), X)
case("int_plus_float", lambda x: x + 0.5, NUMBERS)
case("int_times_int", lambda x: x * 3, NUMBERS, level="exact")
case("div", torch.div, X, POSITIVE)
case("div_int", torch.div, NUMBERS, J)
case("div_scalar", lambda x: x / 3, X)
case("rdiv_scalar", lambda x: 3 / x, POSITIVE)
case("div_floor", lambda x, y: torch.div(x, y, rounding_mode="floor"), 9 * X, POSITIVE, level="exact")
case("div_trunc", lambda x, y: torch.div(x, y, rounding_mode="trunc"), 9 * X, POSITIVE, level="exact")
case("div_floor_int", lambda x, y: torch.div(x, y, rounding_mode="floor"), NUMBERS, J, level="exact")
case("div_trunc_int", lambda x, y: torch.div(x, y, rounding_mode="trunc"), NUMBERS, -J, level="exact")
case("div_floor_big", lambda x, y: x // y, BIG, J, level="exact")
case("div_floor_negative", lambda x, y: x // y, BIG, -J, level="exact")
case("div_trunc_big", lambda x: torch.div(x, 7, rounding_mode="trunc"), BIG, level="exact")
case("remainder", torch.remainder, 5 * X, POSITIVE)
case("remainder_int", torch.remainder, BIG, -J, level="exact")
case("remainder_scalar", lambda x: x % 7, NUMBERS, level="exact")
case("fmod", torch.fmod, 5 * X, POSITIVE)
case("fmod_int", torch.fmod, BIG, J, level="exact")
_dividends = torch.tensor([1.0, -1.0, 7.5, -7.5, 0.3, 123456.7, -0.0, 0.0, 2.0]).repeat_interleave(6)
_divisors = torch.tensor([0.1, -0.1, 0.3, -2.5, math.inf, -math.inf]).repeat(9)
for _name in ("fmod", "remainder", "floor_divide"):
    case(f"{_name}_exact", getattr(torch, _name), _dividends, _divisors, level="bits")
case(
    "div_trunc_exact",
    lambda x, y: torch.div(x, y, rounding_mode="trunc"),
    _dividends,
    _divisors.clamp(-9, 9),
    level="bits",
)
case("div_floor_by_zero", torch.floor_divide, torch.tensor([1.0, -1.0, 0.0]), torch.zeros(3), level="exact")
case(
    "copysign_zeros",
    torch.copysign,
    torch.tensor([1.0, -1.0, 2.5, 0.0]),
    torch.tensor([-0.0, 0.0, 1, -2]),
    level="bits",
)
_gaps = torch.tensor([math.nan, 1.0, -2.0, math.nan, -0.0, 3.0])
for _name in ("fmax", "fmin"):
    case(f"{_name}_nan", getattr(torch, _name), _gaps, _gaps.roll(1), level="exact")
    case(f"{_name}_int", getattr(torch, _name), NUMBERS, J, level="exact")
case("signbit", torch.signbit, torch.tensor([1.0, -1.0, 0.0, -0.0, math.inf, -math.inf]), level="exact")
case("signbit_int", torch.signbit, NUMBERS, level="exact")
case("angle", torch.angle, _gaps)
case("xlogy_nan", torch.xlogy, torch.zeros(3), torch.tensor([math.nan, 0.0, 2.0]), level="exact")
case("pow", torch.pow, POSITIVE, Y)
for _exponent in (0, 1, 2, 3, 0.5, -0.5, -1, -2, 1.7):
    case(f"pow_{_exponent}", lambda x, e=_exponent: x**e, POSITIVE)
case("pow_int", lambda x: x**3, NUMBERS, level="exact")
case("rpow", lambda x: 2**x, X)
case("atan2", torch.atan2, X, Y)
for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    case(_name, getattr(torch, _name), X.round(), Y.round(), level="exact")
    case(f"{_name}_int", getattr(torch, _name), NUMBERS, J, level="exact")
    case(f"{_name}_big", getattr(torch, _name), BIG, BIG + (NUMBERS % 2), level="exact")
    case(f"{_name}_scalar", applied(_name, "scalar"), X, level="exact")
    case(f"{_name}_bool", getattr(torch, _name), P, Q, level="exact")
for _name in ("and", "or", "xor"):
    case(f"logical_{_name}", getattr(torch, f"logical_{_name}"), P, Q, level="exact")
    case(f"logical_{_name}_int", getattr(torch, f"logical_{_name}"), NUMBERS % 2, J % 3, level="exact")
    case(f"bitwise_{_name}", getattr(torch, f"bitwise_{_name}"), BIG, BIG.flip(0), level="exact")
    case(f"bitwise_{_name}_bool", getattr(torch, f"bitwise_{_name}"), P, Q, level="exact")
case("shift_left", lambda x: x << 3, NUMBERS, level="exact")
case("shift_right", lambda x: x >> 3, BIG, level="exact")
case("lerp", lambda x, y: torch.lerp(x, y, 0.3), X, Y)
case("lerp_tensor", torch.lerp, X, Y, POSITIVE)
case("addcmul", lambda x, y, z: torch.addcmul(x, y, z, value=0.5), X, Y, POSITIVE)
case("addcdiv", lambda x, y, z: torch.addcdiv(x, y, z, value=0.5), X, Y, POSITIVE)
case("where", torch.where, X > 0, X, Y, level="exact")
case("where_scalar", lambda c, x: torch.where(c, x, 0.5), X > 0, X, level="exact")
case("where_int", torch.where, P, NUMBERS, J, level="exact")
case("where_bool", lambda c, x, y: torch.where(c, x, y), truth(4, 9), P, Q, level="exact")
case("masked_fill", lambda x, m: x.masked_fill(m, -5.0), X, X > 0, level="exact")
case("masked_fill_inf", lambda x, m: torch.softmax(x.masked_fill(m, -math.inf), -1), X, X > 1.5)
case("copysign", torch.copysign, X, Y, level="exact")
case("threshold", lambda x: F.threshold(x, 0.1, 20.0), X, level="exact")
case("prelu", F.prelu, normal(2, 3, 4), normal(3))
case("glu", lambda x: F.glu(x, -1), normal(3, 8))
case("xlogy", torch.xlogy, POSITIVE, POSITIVE.flip(0))

for _name in ("sum", "mean", "amax", "amin", "prod"):
    _x = normal(3, 5, 7) if _name != "prod" else uniform(0.7, 1.4, 3, 5, 7)
    _level = "exact" if _name in ("amax", "amin") else "product"
    if _name != "prod":
        case(f"{_name}_all", getattr(torch, _name), _x, level=_level)
    case(f"{_name}_dim", applied(_name, "dim"), _x, level=_level)
    case(f"{_name}_keep", applied(_name, "keep"), _x, level=_level)
case("sum_dims", lambda x: torch.sum(x, (0, 2)), normal(3, 5, 7), level="product")
case("sum_int", torch.sum, NUMBERS, level="exact")
case("sum_int_big", lambda x: torch.sum(x, 1), BIG // 16, level="exact")
case("sum_bool", lambda x: torch.sum(x, 1), P, level="exact")
case("max_all", torch.max, X, level="exact")
case("max_dim", lambda x: torch.max(x, 1), X, level="exact")
case("min_dim", lambda x: tuple(torch.min(x, 0)), normal(5, 6), level="exact")
case("argmax", lambda x: torch.argmax(x, 1), X, level="exact")
case("argmax_all", torch.argmax, X, level="exact")
case("argmin", lambda x: torch.argmin(x, -1, keepdim=True), X, level="exact")
case("any", lambda x: torch.any(x, 1), P, level="exact")
case("all", lambda x: torch.all(x, 0), P | Q, level="exact")
case("any_all", torch.any, P, level="exact")
case("var", lambda x: torch.var(x, 1), X, level="product")
case("var_biased", lambda x: torch.var(x, -1, unbiased=False, keepdim=True), X, level="product")
case("std", torch.std, X, level="product")
case("var_mean", lambda x: torch.var_mean(x, 1), X, level="product")
case("norm", torch.norm, X, level="product")
case("norm_1", lambda x: torch.linalg.vector_norm(x, 1, dim=1), X, level="product")
case("norm_inf", lambda x: torch.linalg.vector_norm(x, math.inf, dim=-1), X, level="product")
case("norm_3", lambda x: torch.linalg.vector_norm(x, 3, dim=-1), X, level="product")
case("normalize", lambda x: F.normalize(x, dim=-1), X, level="product")
case("logsumexp", lambda x: torch.logsumexp(x, 1), X, level="product")
case("cumsum", lambda x: torch.cumsum(x, 1), X, level="product")
case("cumsum_int", lambda x: torch.cumsum(x, 1), NUMBERS, level="exact")
case("cumprod", lambda x: torch.cumprod(x, 1), uniform(0.8, 1.2, 3, 7), level="product")
case("topk", lambda x: torch.topk(x, 4), normal(3, 64).bfloat16(), level="exact")
case("sort", lambda x: torch.sort(x, dim=1, descending=True)[0], normal(3, 32).bfloat16(), level="exact")
_infinite = torch.tensor([[math.inf, 1.0], [-math.inf, -math.inf], [1.0, -math.inf]])
case("logsumexp_infinite", lambda x: torch.logsumexp(x, 1), _infinite, level="product")
_empty = torch.zeros(0, 3)
for _name in ("prod", "all", "any", "sum", "logsumexp"):
    case(f"{_name}_of_nothing", applied(_name, "first"), _empty, level="exact")
case("prod_of_no_element", torch.prod, _empty, level="exact")
case("conv2d_of_no_image", lambda x, w: (F.conv2d(x, w), w + 1), torch.zeros(0, 3, 8, 8), normal(2, 3, 3, 3))
case("max_pool2d_of_no_image", lambda x, y: (F.max_pool2d(x, 2), y + 1), torch.zeros(0, 3, 8, 8), normal(2))
case("topk_f32", lambda x: torch.topk(x, 5), normal(3, 40), level="exact")
case("topk_f32_long", lambda x: torch.topk(x, 20), normal(1, 5000), level="exact")
case("topk_f32_smallest", lambda x: torch.topk(x, 3, dim=0, largest=False), normal(9, 4), level="exact")
case("sort_f32", lambda x: torch.sort(x, dim=1, stable=True), (4 * X).round(), level="exact")
case("sort_f32_descending", lambda x: torch.sort(x, dim=0, descending=True), X, level="exact")
case("argsort_f32", lambda x: torch.argsort(x, stable=True), X, level="exact")
case(
    "topk_infinite", lambda x: torch.topk(x, 2)[0], torch.tensor([[-math.inf, 1.0, math.inf, -math.inf]]), level="exact"
)
case("softmax", lambda x: torch.softmax(x, -1), X, level="product")
case("softmax_0", lambda x: torch.softmax(x, 0), X, level="product")
case("log_softmax", lambda x: torch.log_softmax(x, -1), X, level="product")

case("layer_norm", lambda x, w, b: F.layer_norm(x, (37,), w, b), X, normal(37), normal(37), level="product")
case("layer_norm_plain", lambda x: F.layer_norm(x, (37,)), X, level="product")
case(
    "layer_norm_2d",
    lambda x, w, b: F.layer_norm(x, (5, 7), w, b),
    normal(3, 5, 7),
    normal(5, 7),
    normal(5, 7),
    level="product",
)
case("rms_norm", lambda x, w: F.rms_norm(x, (37,), w), X, normal(37), level="product")
case("group_norm", lambda x, w, b: F.group_norm(x, 2, w, b), normal(2, 6, 5, 5), normal(6), normal(6), level="product")
case("instance_norm", lambda x: F.instance_norm(x), normal(2, 3, 6, 6), level="product")
case(
    "batch_norm",
    lambda x, m, v, w, b: F.batch_norm(x, m, v, w, b),
    normal(2, 3, 5, 5),
    normal(3),
    uniform(0.5, 2, 3),
    normal(3),
    normal(3),
    level="product",
)
case(
    "batch_norm_training",
    lambda x, w, b: F.batch_norm(x, None, None, w, b, training=True),
    normal(4, 3, 5),
    normal(3),
    normal(3),
    level="product",
)
case("local_response_norm", lambda x: F.local_response_norm(x, 3), normal(2, 6, 4, 4), level="product")

case("mm", torch.mm, normal(5, 40), normal(40, 9), level="product")
case("mm_bf16", torch.mm, normal(5, 40).bfloat16(), normal(40, 9).bfloat16(), level="product")
case("bmm", torch.bmm, normal(2, 5, 8), normal(2, 8, 3), level="product")
case("matmul_4d", torch.matmul, normal(2, 3, 5, 8), normal(2, 3, 8, 4), level="product")
case("matmul_broadcast", torch.matmul, normal(2, 3, 5, 8), normal(8, 4), level="product")
case("matmul_vector", torch.matmul, normal(3, 5, 8), normal(8), level="product")
case("vector_matmul", torch.matmul, normal(8), normal(8, 4), level="product")
case("dot", torch.dot, normal(40), normal(40), level="product")
case("mv", torch.mv, normal(5, 40), normal(40), level="product")
case("outer", torch.outer, normal(5), normal(7), level="product")
case(
    "addmm",
    lambda c, a, b: torch.addmm(c, a, b, beta=0.5, alpha=2),
    normal(9),
    normal(5, 8),
    normal(8, 9),
    level="product",
)
case("baddbmm", torch.baddbmm, normal(2, 5, 3), normal(2, 5, 8), normal(2, 8, 3), level="product")
case("linear", F.linear, normal(2, 5, 8), normal(6, 8), normal(6), level="product")
case("linear_plain", F.linear, normal(5, 8), normal(6, 8), level="product")
case("linear_1d", F.linear, normal(8), normal(6, 8), normal(6), level="product")
case("einsum", lambda a, b: torch.einsum("bij,bkj->bik", a, b), normal(2, 3, 8), normal(2, 5, 8), level="product")
case("einsum_inner", lambda a, b: torch.einsum("i,i->", a, b), normal(8), normal(8), level="product")
case("bilinear", lambda a, b, w: F.bilinear(a, b, w), normal(3, 4), normal(3, 5), normal(2, 4, 5), level="product")

_q = [normal(2, 4, 6, 8) for _ in range(3)]
case("attention", F.scaled_dot_product_attention, *_q, level="product")
case("attention_causal", lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True), *_q, level="product")
case(
    "attention_mask",
    lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, attn_mask=m),
    *_q,
    normal(6, 6),
    level="product",
)
case(
    "attention_bool",
    lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, attn_mask=m),
    *_q,
    torch.ones(6, 6, dtype=torch.bool).tril(),
    level="product",
)
case("attention_scale", lambda q, k, v: F.scaled_dot_product_attention(q, k, v, scale=0.2), *_q, level="product")
case(
    "attention_groups",
    lambda q, k, v: F.scaled_dot_product_attention(q, k, v, enable_gqa=True),
    _q[0],
    _q[1][:, :2],
    _q[2][:, :2],
    level="product",
)

_image = normal(2, 4, 9, 11)
case("conv2d", lambda x, w, b: F.conv2d(x, w, b, padding=1), _image, normal(6, 4, 3, 3), normal(6), level="product")
case("conv2d_stride", lambda x, w: F.conv2d(x, w, stride=2), _image, normal(6, 4, 3, 3), level="product")
case(
    "conv2d_dilated",
    lambda x, w: F.conv2d(x, w, dilation=2, padding=(2, 1)),
    _image,
    normal(6, 4, 3, 3),
    level="product",
)
case("conv2d_groups", lambda x, w: F.conv2d(x, w, groups=2), _image, normal(6, 2, 3, 3), level="product")
case("conv2d_depthwise", lambda x, w: F.conv2d(x, w, groups=4, padding=1), _image, normal(4, 1, 3, 3), level="product")
case("conv2d_same", lambda x, w: F.conv2d(x, w, padding="same"), _image, normal(3, 4, 3, 5), level="product")
case("conv2d_single", lambda x, w: F.conv2d(x, w), _image[0], normal(3, 4, 3, 3), level="product")
case(
    "conv1d",
    lambda x, w, b: F.conv1d(x, w, b, stride=2, padding=1),
    normal(2, 4, 15),
    normal(6, 4, 3),
    normal(6),
    level="product",
)
case("conv3d", lambda x, w: F.conv3d(x, w, padding=1), normal(1, 2, 4, 5, 6), normal(3, 2, 3, 3, 3), level="product")
case(
    "conv_transpose2d",
    lambda x, w, b: F.conv_transpose2d(x, w, b, stride=2, padding=1, output_padding=1),
    normal(1, 4, 5, 5),
    normal(4, 3, 3, 3),
    normal(3),
    level="product",
)
case(
    "conv_transpose2d_groups",
    lambda x, w: F.conv_transpose2d(x, w, stride=2, groups=2),
    normal(1, 4, 5, 5),
    normal(4, 3, 2, 2),
    level="product",
)
case(
    "conv_transpose1d",
    lambda x, w: F.conv_transpose1d(x, w, stride=2),
    normal(1, 4, 7),
    normal(4, 3, 3),
    level="product",
)

case("max_pool2d", lambda x: F.max_pool2d(x, 2), _image.bfloat16(), level="exact")
case("max_pool2d_padded", lambda x: F.max_pool2d(x, 3, 2, 1), _image.bfloat16(), level="exact")
case("max_pool2d_ceil", lambda x: F.max_pool2d(x, 3, 2, ceil_mode=True), _image.bfloat16(), level="exact")
case("max_pool2d_float", lambda x: F.max_pool2d(x, 3, 2, 1), _image, level="product")
for _name, _given in (("plain", (2,)), ("padded", (3, 2, 1)), ("dilated", (3, 1, 1, 2)), ("ceil", (3, 2, 0, 1, True))):
    case(
        f"max_pool2d_places_{_name}",
        lambda x, g=_given: F.max_pool2d(x, *g, return_indices=True),
        _image,
        level="exact",
    )
case("max_pool1d_places", lambda x: F.max_pool1d(x, 2, return_indices=True), normal(2, 4, 15), level="exact")
case("max_pool1d", lambda x: F.max_pool1d(x, 2), normal(2, 4, 15), level="product")
case("avg_pool2d", lambda x: F.avg_pool2d(x, 3, 2, 1), _image, level="product")
case("avg_pool2d_uncounted", lambda x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=False), _image, level="product")
case("avg_pool2d_ceil", lambda x: F.avg_pool2d(x, 2, 2, ceil_mode=True), _image, level="product")
case("avg_pool2d_divisor", lambda x: F.avg_pool2d(x, 2, divisor_override=3), _image, level="product")
case("avg_pool1d", lambda x: F.avg_pool1d(x, 3), normal(2, 4, 15), level="product")
case("adaptive_avg_pool2d", lambda x: F.adaptive_avg_pool2d(x, (4, 5)), _image, level="product")
case("adaptive_avg_pool2d_1", lambda x: F.adaptive_avg_pool2d(x, 1), _image, level="product")
case("adaptive_max_pool2d", lambda x: F.adaptive_max_pool2d(x, (3, 1)), _image, level="exact")
case("nearest", lambda x: F.interpolate(x, scale_factor=2), _image, level="exact")
case("nearest_odd", lambda x: F.interpolate(x, size=(5, 7)), _image, level="exact")
case("bilinear_resize", lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"), _image, level="product")
case(
    "bilinear_aligned",
    lambda x: F.interpolate(x, size=(5, 7), mode="bilinear", align_corners=True),
    _image,
    level="product",
)
case("bicubic", lambda x: F.interpolate(x, size=(13, 8), mode="bicubic"), _image, level="product")
case("pixel_shuffle", lambda x: F.pixel_shuffle(x, 2), _image, level="exact")
case("pixel_unshuffle", lambda x: F.pixel_unshuffle(x, 2), normal(1, 2, 4, 6), level="exact")
case("unfold", lambda x: F.unfold(x, 3), normal(1, 2, 6, 7), level="exact")

_cube = normal(4, 6, 5)
for _name, _function in {
    "view": lambda x: x.view(8, 15),
    "reshape": lambda x: x.reshape(-1, 10),
    "permute": lambda x: x.permute(2, 0, 1),
    "transpose": lambda x: x.transpose(0, -1),
    "t": lambda x: x[0].t(),
    "expand": lambda x: x[:, :1].expand(4, 6, 5),
    "unsqueeze": lambda x: x.unsqueeze(1).squeeze(1).unsqueeze(-1),
    "flatten": lambda x: torch.flatten(x, 1),
    "cat": lambda x: torch.cat([x, 2 * x, x[:1]], 0),
    "stack": lambda x: torch.stack([x, -x], -1),
    "split": lambda x: torch.split(x, 4, 1),
    "split_sizes": lambda x: torch.split(x, [1, 2, 3], 1)[1],
    "chunk": lambda x: torch.chunk(x, 3, 1),
    "unbind": lambda x: torch.unbind(x, 2),
    "slice": lambda x: x[1:3, ::2, -3:],
    "select": lambda x: x[:, -2],
    "narrow": lambda x: x.narrow(1, 2, 3),
    "flip": lambda x: torch.flip(x, (0, 2)),
    "roll": lambda x: torch.roll(x, (1, -2), (0, 1)),
    "roll_flat": lambda x: torch.roll(x, 3),
    "repeat": lambda x: x.repeat(2, 1, 3),
    "repeat_more": lambda x: x[0].repeat(2, 1, 3),
    "repeat_interleave": lambda x: x.repeat_interleave(3, 1),
    "tile": lambda x: torch.tile(x, (2, 2)),
    "pad": lambda x: F.pad(x, (1, 2, 0, 3), value=1.5),
    "pad_negative": lambda x: F.pad(x, (-1, 2)),
    "pad_reflect": lambda x: F.pad(x, (2, 1), mode="reflect"),
    "pad_replicate": lambda x: F.pad(x, (2, 1), mode="replicate"),
    "pad_circular": lambda x: F.pad(x, (2, 1), mode="circular"),
    "tril": torch.tril,
    "triu": lambda x: torch.triu(x, 1),
    "movedim": lambda x: torch.movedim(x, 0, 2),
    "contiguous": lambda x: x.transpose(0, 1).contiguous().clone().detach(),
    "slice_assign": lambda x: _assigned(x, (slice(1, 3), slice(None, None, 2)), 3.0),
    "select_assign": lambda x: _assigned(x, (slice(None), 2), x[:, 0]),
    "diagonal": lambda x: torch.diagonal(x[:, :4, 0]),
    "meshgrid": lambda x: torch.meshgrid(x[0, 0], x[0, :, 0], indexing="ij"),
    "hstack": lambda x: torch.hstack([x, x]),
    "mT": lambda x: x.mT,
    "unflatten": lambda x: x.unflatten(1, (2, 3)),
    "to_int": lambda x: (8 * x).to(torch.int64),
    "to_bool": lambda x: x.round().to(torch.bool),
    "to_uint8": lambda x: (8 * x.abs()).to(torch.uint8),
    "arange": lambda x: x * 0 + torch.arange(5),
    "ones_like": lambda x: torch.ones_like(x) - torch.zeros_like(x) + torch.full_like(x, 2),
    "eye": lambda x: x[:, :4, 0] * torch.eye(4),
    "linspace": lambda x: torch.linspace(0, 1, 5) + x * 0,
    "new_full": lambda x: x.new_full((2, 3), 7.0),
}.items():  # fmt: skip
    case(_name, _function, _cube, level="exact")


def _assigned(x: torch.Tensor, where: Any, value: Any) -> torch.Tensor:
    made = x.clone()
    made[where] = value
    return made


case("int_view", lambda x: x.view(9, 4).t() + 1, BIG, level="exact")
case("int_cat", lambda x: torch.cat([x, -x], 1), BIG, level="exact")
case("bool_cat", lambda x, y: torch.stack([x, y]), P, Q, level="exact")
case("bool_slice", lambda x: x[1:, ::3], P, level="exact")
case("int_pad", lambda x: F.pad(x, (1, 1), value=3), NUMBERS, level="exact")
case("int_flip", lambda x: x.flip(1), NUMBERS, level="exact")
case("index_select", lambda x, i: torch.index_select(x, 1, i), _cube, torch.tensor([3, 0, 3]), level="exact")
case("index_1", lambda x, i: x[i], _cube, torch.tensor([[3, 0], [1, -1]]), level="exact")
case("index_2", lambda x, i, j: x[i, j], _cube, torch.tensor([3, 0, 2]), torch.tensor([1, -1, 5]), level="exact")
case("index_middle", lambda x, i: x[:, i], _cube, torch.tensor([3, 0, 5]), level="exact")
case("index_constant", lambda x: x[:, [0, 2, -1]], _cube, level="exact")
case("index_int", lambda x, i: x[i], BIG, torch.tensor([3, 0]), level="exact")
case("gather", lambda x, i: torch.gather(x, 1, i), _cube, whole(0, 6, 4, 3, 5), level="exact")
case("gather_int", lambda x, i: torch.gather(x, 1, i), BIG, whole(0, 9, 4, 5), level="exact")
case(
    "scatter",
    lambda x, i, y: torch.scatter(x, 1, i, y),
    X,
    torch.tensor([[0, 3], [1, 2], [7, 5]]),
    normal(3, 2),
    level="exact",
)
case(
    "scatter_value", lambda x, i: torch.scatter(x, 1, i, 2.0), X, torch.tensor([[0, 3], [1, 2], [7, 5]]), level="exact"
)
case(
    "scatter_add",
    lambda x, i, y: torch.scatter_add(x, 1, i, y),
    X,
    torch.tensor([[0, 3], [1, 2], [7, 5]]),
    normal(3, 2),
    level="product",
)
case("index_put", lambda x, i: _assigned(x, i, 2.0), _cube, torch.tensor([0, 2]), level="exact")
case(
    "index_put_two",
    lambda x, i, j: _assigned(x, (i, j), 2.0),
    _cube,
    torch.tensor([0, 2]),
    torch.tensor([1, -1]),
    level="exact",
)
case("index_put_mask", lambda x: _assigned(x, x > 0, 2.0), _cube, level="exact")
case(
    "index_add",
    lambda x, i, y: torch.index_add(x, 0, i, y),
    _cube,
    torch.tensor([0, 2]),
    normal(2, 6, 5),
    level="product",
)
case("embedding", F.embedding, whole(0, 20, 3, 4), normal(20, 8))
case("embedding_bf16", F.embedding, whole(0, 20, 3, 4), normal(20, 8).bfloat16(), level="exact")
case(
    "embedding_bag", lambda i, w: F.embedding_bag(i, w, mode="sum"), whole(0, 20, 3, 4), normal(20, 8), level="product"
)
case("one_hot", lambda x: F.one_hot(x, 7), whole(0, 7, 3, 4), level="exact")
case("dropout", lambda x: F.dropout(x, training=False), X, level="exact")
case("mse_loss", F.mse_loss, X, Y, level="product")
case("l1_loss", F.l1_loss, X, Y, level="product")
case("smooth_l1_loss", F.smooth_l1_loss, X, Y, level="product")
case("bce", F.binary_cross_entropy, uniform(0.05, 0.95, 3, 7), uniform(0, 1, 3, 7), level="product")
case("bce_logits", F.binary_cross_entropy_with_logits, X, uniform(0, 1, 3, 37), level="product")
case("cross_entropy", F.cross_entropy, X, torch.tensor([3, 30, 11]), level="product")
case("nll_loss", lambda x, y: F.nll_loss(torch.log_softmax(x, 1), y), X, torch.tensor([3, 30, 11]), level="product")
case(
    "kl_div",
    lambda x, y: F.kl_div(torch.log_softmax(x, 1), torch.softmax(y, 1), reduction="batchmean"),
    X,
    Y,
    level="product",
)
case("cosine_similarity", F.cosine_similarity, X, Y, level="product")
case("scalar_result", lambda x: x.sum() * 2 + 1, X, level="product")
case("double", lambda x: x * 2 + 1, X.double())
case("half", lambda x: x * 2 + 1, X.half())
case(
    "grid_sample",
    lambda x, g: F.grid_sample(x, g, align_corners=False),
    normal(1, 2, 5, 6),
    uniform(-0.9, 0.9, 1, 3, 4, 2),
    level="product",
)
_nan = torch.tensor([1.0, math.nan, -math.inf, 0.0])
case("equal_to_itself", lambda x: (x == x, x != x), _nan, level="exact")
case(
    "narrow_against_wide_numbers",
    lambda x: (x < 300, x > -1, x == 256),
    whole(0, 255, 40, dtype=torch.uint8),
    level="exact",
)
_least = torch.tensor([-(2**31), 2**31 - 1, 123456789, -123456789])
case("divide_by_the_least", lambda x, y: (x // y, x % y), _least, torch.full((4,), -(2**31)), level="exact")
case("floor_divide_by_zero", lambda x, y: x // y, torch.tensor([1.0, -1, 0, 7]), torch.tensor([0.0, 0, 0, 2]))
case(
    "attention_to_nothing",
    lambda q, m: F.scaled_dot_product_attention(q, q, q, attn_mask=m),
    normal(1, 2, 3, 8),
    torch.tensor([[True, False, True], [False, False, False], [True, True, True]]),
    level="product",
)
