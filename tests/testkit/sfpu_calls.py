"""Kernel API SFPU calls with their documented functions.

Official headers document them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import ttnn

Reference = Callable[..., Any]
Operator = Callable[..., ttnn.Tensor]


@dataclass(frozen=True)
class Call:
    """One call: `X_tile(0, ..., parameters)` on as many tiles as its reference has operands.

    Args:
        name: Name of the call, without `_tile` at its end.
        reference: What the header computes, in float64.
        operands: Number of tiles.
        parameters: Words; numbers are given as the bits of a float32.
        init: Name of its init call, by default that of the function.
        operator: The operator whose program is this call alone, if there is one.
        template: Template arguments in C++, and keywords in Python.
        domain: Smallest and largest operand for which the reference holds.
        width: The only width of Dst that the header has the call for; 0 is both.
        operator_in_16_bits: The operator has another program for float32, or none.
        only_on: The generation that has the call, if not all do.
    """

    name: str
    reference: Reference
    operands: int = 1
    parameters: tuple[float | int, ...] = ()
    init: str = ""
    operator: Operator | None = None
    template: str = ""
    keywords: tuple[tuple[str, Any], ...] = ()
    domain: tuple[float, float] = (-4.0, 4.0)
    init_template: str = ""
    init_takes_parameters: bool = False
    width: int = 0
    operator_in_16_bits: bool = False
    only_on: ttnn.Arch | None = None

    @property
    def words(self) -> list[int]:
        return [
            value & 0xFFFF_FFFF if isinstance(value, int) else int(np.float32(value).view(np.uint32))
            for value in self.parameters
        ]

    @property
    def function(self) -> str:
        return self.name if "_tile" in self.name else f"{self.name}_tile"

    @property
    def init_name(self) -> str:
        return self.init or f"{self.function}_init"


POSITIVE = (0.05, 4.0)
INSIDE = (-0.95, 0.95)


def _erf(x: Any) -> Any:
    from math import erf

    return np.vectorize(erf)(x)


def _gelu(x: Any) -> Any:
    return x * 0.5 * (1 + _erf(x / np.sqrt(2)))


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def _flag(condition: Any) -> Any:
    return np.asarray(condition, np.float64)


def _slope(function: Reference) -> Reference:
    return lambda x: (function(x + 1e-5) - function(x - 1e-5)) / 2e-5


def _lgamma(x: Any) -> Any:
    from math import lgamma

    return np.vectorize(lgamma)(x)


def _trigamma(x: Any) -> Any:
    near = sum(1 / (x + k) ** 2 for k in range(1000))
    return near + 1 / (x + 999.5)


def _erfinv(y: Any) -> Any:
    x = np.zeros_like(y)
    for _ in range(50):
        x = x - (_erf(x) - y) * np.sqrt(np.pi) / 2 * np.exp(x * x)
    return x


CALLS = [
    Call("abs", np.abs, operator=ttnn.abs),
    Call("acos", np.arccos, domain=INSIDE, operator=ttnn.acos),
    Call("acosh", np.arccosh, domain=(1.1, 4.0), operator=ttnn.acosh),
    Call("asin", np.arcsin, domain=INSIDE, operator=ttnn.asin),
    Call("asinh", np.arcsinh, operator=ttnn.asinh),
    Call("atan", np.arctan, operator=ttnn.atan),
    Call("atanh", np.arctanh, domain=INSIDE, operator=ttnn.atanh),
    Call("cbrt", np.cbrt, operator=ttnn.cbrt),
    Call("cos", np.cos, operator=ttnn.cos),
    Call("cosh", np.cosh, operator=ttnn.cosh),
    Call("erf", _erf, operator=lambda x: ttnn.erf(x, fast_and_approximate_mode=True)),
    Call("erf", _erf, template="false", keywords=(("fast_and_approx", False),), init_template="false"),
    Call("erfc", lambda x: 1 - _erf(x), operator=ttnn.erfc),
    Call("exp", np.exp, operator=ttnn.exp),
    Call("exp2", np.exp2, operator=ttnn.exp2),
    Call("expm1", np.expm1, operator=ttnn.expm1),
    Call("gelu", _gelu, operator=lambda x: ttnn.gelu(x, fast_and_approximate_mode=True)),
    Call("gelu", _gelu, template="false", keywords=(("fast_and_approx", False),), init_template="false",
         operator=ttnn.gelu),
    Call("hardsigmoid", lambda x: np.clip(x / 6 + 0.5, 0, 1), operator=ttnn.hardsigmoid),
    Call("i0", np.i0, operator=ttnn.i0),
    Call("log", np.log, domain=POSITIVE, operator=ttnn.log),
    Call("log1p", np.log1p, domain=(-0.9, 4.0), operator=ttnn.log1p),
    Call("log2", np.log2, domain=POSITIVE, operator=ttnn.log2),
    Call("log10", np.log10, domain=POSITIVE, operator=ttnn.log10),
    Call("negative", np.negative, operator=ttnn.neg),
    Call("recip", lambda x: 1 / x, domain=POSITIVE, operator=ttnn.reciprocal),
    Call("relu", lambda x: np.maximum(x, 0), operator=ttnn.relu),
    Call("rsqrt", lambda x: 1 / np.sqrt(x), domain=POSITIVE),
    Call("sigmoid", _sigmoid),
    Call("sign", np.sign, operator=ttnn.sign),
    Call("signbit", lambda x: _flag(x < 0), operator=ttnn.signbit),
    Call("silu", lambda x: x * _sigmoid(x), operator=ttnn.silu),
    Call("sin", np.sin, operator=ttnn.sin),
    Call("sinh", np.sinh, operator=ttnn.sinh),
    Call("softsign", lambda x: x / (1 + np.abs(x)), operator=ttnn.softsign),
    Call("sqrt", np.sqrt, domain=POSITIVE, operator=ttnn.sqrt),
    Call("square", np.square, operator=ttnn.square),
    Call("tan", np.tan, domain=(-1.2, 1.2), operator=ttnn.tan),
    Call("tanh", np.tanh, operator=ttnn.tanh),
    Call("tanhshrink", lambda x: x - np.tanh(x)),
    Call("logical_not", lambda x: _flag(x == 0), operator=ttnn.logical_not, template="DataFormat::Float16_b"),
    Call("eqz", lambda x: _flag(x == 0), operator=ttnn.eqz),
    Call("nez", lambda x: _flag(x != 0), operator=ttnn.nez),
    Call("gtz", lambda x: _flag(x > 0), operator=ttnn.gtz),
    Call("gez", lambda x: _flag(x >= 0), operator=ttnn.gez),
    Call("ltz", lambda x: _flag(x < 0), operator=ttnn.ltz),
    Call("lez", lambda x: _flag(x <= 0), operator=ttnn.lez),
    Call("isfinite", lambda x: np.ones_like(x), operator=ttnn.isfinite),
    Call("isinf", np.zeros_like, operator=ttnn.isinf),
    Call("isnan", np.zeros_like, operator=ttnn.isnan),
    Call("isposinf", np.zeros_like, operator=ttnn.isposinf),
    Call("isneginf", np.zeros_like, operator=ttnn.isneginf),
    Call("identity", lambda x: x, operator=ttnn.identity),
    Call("floor", np.floor, init="rounding_op_tile_init", operator=ttnn.floor),
    Call("ceil", np.ceil, init="rounding_op_tile_init", operator=ttnn.ceil),
    Call("trunc", np.trunc, init="rounding_op_tile_init", operator=ttnn.trunc),
    Call("frac", lambda x: x - np.trunc(x), init="rounding_op_tile_init", operator=ttnn.frac),
    # With parameters, in the order of the headers.
    Call("clamp", lambda x: np.clip(x, -1.5, 2.5), parameters=(-1.5, 2.5)),
    Call("hardtanh", lambda x: np.clip(x, -1.5, 2.5), parameters=(-1.5, 2.5)),
    Call("celu", lambda x: np.maximum(x, 0) + np.minimum(0, 1.5 * np.expm1(x / 1.5)), parameters=(1.5, 1 / 1.5)),
    Call("elu", lambda x: np.where(x > 0, x, 1.5 * np.expm1(x)), parameters=(1.5,)),
    Call("selu", lambda x: 1.25 * np.where(x > 0, x, 1.75 * np.expm1(x)), parameters=(1.25, 1.75)),
    Call("leaky_relu", lambda x: np.where(x > 0, x, 0.25 * x), parameters=(0.25,)),
    Call("prelu", lambda x: np.where(x > 0, x, 0.25 * x), parameters=(0.25,)),
    Call("relu_max", lambda x: np.clip(x, 0, 2.5), parameters=(2.5,)),
    Call("relu_min", lambda x: np.maximum(x, 1.5), parameters=(1.5,)),
    Call("threshold", lambda x: np.where(x > 1.5, x, -2.0), parameters=(1.5, -2.0)),
    Call("hardshrink", lambda x: np.where(np.abs(x) > 1.5, x, 0), parameters=(1.5,)),
    Call("softshrink", lambda x: np.sign(x) * np.maximum(np.abs(x) - 1.5, 0), parameters=(1.5,)),
    Call("softcap", lambda x: 1.5 * np.tanh(x / 1.5), parameters=(1.5, 1 / 1.5),
         operator=lambda x: ttnn.softcap(x, 1.5), operator_in_16_bits=True, only_on=ttnn.Arch.BLACKHOLE),
    Call("softplus", lambda x: np.where(2 * x > 5, x, np.log1p(np.exp(2 * x)) / 2), parameters=(2.0, 0.5, 5.0)),
    Call("heaviside", lambda x: np.where(x == 0, 1.5, _flag(x > 0)), parameters=(1.5,)),
    Call("power", lambda x: x**1.5, parameters=(1.5,), domain=POSITIVE),
    Call("rpow", lambda x: 1.5**x, parameters=(1.5,)),
    Call("rdiv", lambda x: 1.5 / x, parameters=(1.5,), domain=POSITIVE),
    Call("rsub", lambda x: 1.5 - x, parameters=(1.5,)),
    Call("fmod", lambda x: np.fmod(x, 1.5), parameters=(1.5, 1 / 1.5)),
    Call("remainder", lambda x: np.mod(x, 1.5), parameters=(1.5, 1 / 1.5)),
    Call("unary_eq", lambda x: _flag(x == 1.5), parameters=(1.5,)),
    Call("unary_ne", lambda x: _flag(x != 1.5), parameters=(1.5,)),
    Call("unary_gt", lambda x: _flag(x > 1.5), parameters=(1.5,)),
    Call("unary_ge", lambda x: _flag(x >= 1.5), parameters=(1.5,)),
    Call("unary_lt", lambda x: _flag(x < 1.5), parameters=(1.5,)),
    Call("unary_le", lambda x: _flag(x <= 1.5), parameters=(1.5,)),
    Call("unary_max", lambda x: np.maximum(x, 1.5), parameters=(1.5,)),
    Call("unary_min", lambda x: np.minimum(x, 1.5), parameters=(1.5,)),
    Call("add_unary", lambda x: x + 1.5, parameters=(1.5,), init="binop_with_scalar_tile_init"),
    Call("sub_unary", lambda x: x - 1.5, parameters=(1.5,), init="binop_with_scalar_tile_init"),
    Call("mul_unary", lambda x: x * 1.5, parameters=(1.5,), init="binop_with_scalar_tile_init"),
    # The header multiplies by its parameter, the reciprocal of the divisor.
    Call("div_unary", lambda x: x * 1.5, parameters=(1.5,), init="binop_with_scalar_tile_init"),
    Call("rsub_unary", lambda x: 1.5 - x, parameters=(1.5,), init="binop_with_scalar_tile_init"),
    Call("xielu", lambda x: np.where(
        x > 0, 0.5 * x * x + 0.5 * x, 0.25 * (np.expm1(np.minimum(x, -1e-6)) - x) + 0.5 * x
    ), parameters=(0.5, 0.25)),
    Call("mish", lambda x: x * np.tanh(np.log1p(np.exp(x))), template="false"),
    Call("fmod", lambda x: np.fmod(x, 1.5), parameters=(1.5, 1 / 1.5), init_takes_parameters=True),
    Call("remainder", lambda x: np.mod(x, 1.5), parameters=(1.5, 1 / 1.5), init_takes_parameters=True),
    Call("power_iterative", lambda x: x**3, parameters=(3,)),
    Call("hardmish", lambda x: x * np.clip(x / 2 + 1, 0, 1), operator=ttnn.hardmish),
    Call("i1", _slope(np.i0), operator=ttnn.i1),
    Call("gelu_tanh", _gelu),
    Call("gelu_derivative", _slope(_gelu)),
    Call("tanh_derivative", lambda x: 1 - np.tanh(x) ** 2),
    Call("erfinv", _erfinv, domain=INSIDE, operator=ttnn.erfinv),
    Call("digamma", _slope(_lgamma), domain=(1.0, 4.0), operator=ttnn.digamma),
    Call("lgamma_stirling", _lgamma, domain=(0.6, 4.0)),
    Call("polygamma", _trigamma, parameters=(1.0, 1.0), domain=(0.5, 4.0)),
    Call("polygamma", lambda x: 6 * sum(1 / (x + k) ** 4 for k in range(1000)), parameters=(3.0, 6.0),
         domain=(0.5, 4.0)),
    # Two tiles.
    Call("add_binary", lambda x, y: x + y, 2),
    Call("sub_binary", lambda x, y: x - y, 2),
    Call("rsub_binary", lambda x, y: y - x, 2),
    Call("mul_binary", lambda x, y: x * y, 2),
    Call("div_binary", lambda x, y: x / y, 2, domain=POSITIVE),
    Call("power_binary", lambda x, y: x**y, 2, domain=POSITIVE),
    Call("fmod_binary", np.fmod, 2, domain=POSITIVE),
    Call("remainder_binary", np.mod, 2, domain=POSITIVE),
    Call("eq_binary", lambda x, y: _flag(x == y), 2),
    Call("ne_binary", lambda x, y: _flag(x != y), 2),
    Call("lt_binary", lambda x, y: _flag(x < y), 2),
    Call("gt_binary", lambda x, y: _flag(x > y), 2),
    Call("le_binary", lambda x, y: _flag(x <= y), 2),
    Call("ge_binary", lambda x, y: _flag(x >= y), 2),
    Call("xlogy_binary", lambda x, y: x * np.log(y), 2, domain=POSITIVE),
    Call("atan2_binary", np.arctan2, 2),
    Call("logaddexp_binary", np.logaddexp, 2),
    Call("logaddexp2_binary", np.logaddexp2, 2),
    Call("binary_max", np.maximum, 2),
    Call("binary_min", np.minimum, 2),
    # The operator has a step of the operands' type; each of the calls belongs to one of them.
    Call("nextafter_binary", lambda x, y: x, 2, operator=ttnn.nextafter, width=32),
    Call("nextafter_bf16_binary", lambda x, y: x, 2, operator=ttnn.nextafter, operator_in_16_bits=True),
    # Three tiles; the last operand of `where` is the third.
    Call("where", lambda x, y, z: np.where(x != 0, y, z), 3, template="DataFormat::Float16_b"),
    Call("lerp", lambda x, y, z: x + z * (y - x), 3, template="DataFormat::Float16_b"),
    Call("mac", lambda x, y, z: x * y + z, 3, template="DataFormat::Float16_b"),
    Call("addcmul", lambda x, y, z: x + 1.5 * y * z, 3, (1.5,), template="DataFormat::Float16_b"),
    Call("addcdiv", lambda x, y, z: x + 1.5 * y / z, 3, (1.5,), template="DataFormat::Float16_b", domain=POSITIVE),
    Call("snake_beta", lambda x, y, z: x + np.sin(x * y) ** 2 / z, 3, template="DataFormat::Float16_b",
         domain=POSITIVE),
]  # fmt: skip
