"""Which vector-unit function each unary operator runs, with its parameters as the kernel gets them.

One table serves the operators themselves, fused activations and `unary_chain`. Parameters are raw words: FP32 bits.
Source: vector unit, "ttnn op -> kernel -> defaults" and the listings of the same names.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from ttnn.base.enums import UnaryOpType

ChainStep = tuple[str, str] | tuple[str, str, list[int]]
"""One function in Dst: name, variant, and parameters if it takes any."""


def word(value: float) -> int:
    """Return the FP32 bits of a number, rounded to nearest."""
    try:
        return int.from_bytes(struct.pack("<f", value), "little")
    except OverflowError:
        return 0x7F800000 if value > 0 else 0xFF800000


def single(value: float) -> float:
    """Return a number rounded to FP32; one beyond its range is infinite."""
    return float(struct.unpack("<f", word(value).to_bytes(4, "little"))[0])


def step(name: str, variant: str, *parameters: float) -> ChainStep:
    """Return the step of a function with FP32 parameters."""
    return (name, variant, [word(value) for value in parameters]) if parameters else (name, variant)


@dataclass(frozen=True)
class Steps:
    """How an operator becomes steps: fewest and most parameters, and the steps for their values."""

    fewest: int
    most: int
    make: Callable[..., list[ChainStep]]


def _plain(name: str, variant: str = "default") -> Steps:
    return Steps(0, 0, lambda: [(name, variant)])


def _flag(name: str, accurate: str, fast: str) -> Steps:
    """An operator whose only parameter selects the approximate kernel."""
    return Steps(0, 1, lambda flag=0.0: [(name, fast if flag else accurate)])


def _with(name: str, count: int, *defaults: float) -> Steps:
    """A function that takes its parameters as they are given; the last of them have defaults."""

    def make(*given: float) -> list[ChainStep]:
        missing = count - len(given)
        return [step(name, "default", *given, *(defaults[len(defaults) - missing :] if missing else ()))]

    return Steps(count - len(defaults), count, make)


def inverse(value: float) -> float:
    """Return 1 / value as the host computes it in FP32."""
    value = single(value)
    return 1.0 / value if value else math.copysign(math.inf, value)


def _celu(alpha: float = 1.0) -> list[ChainStep]:
    return [step("celu", "default", alpha, inverse(alpha))]


def _selu(scale: float = 1.0506999492645264, alpha: float = 1.673259973526001) -> list[ChainStep]:
    return [step("selu", "default", scale, single(scale) * single(alpha))]


def _softplus(beta: float = 1.0, threshold: float = 20.0) -> list[ChainStep]:
    return [step("softplus", "default", beta, inverse(beta), threshold)]


def _round(decimals: float = 0.0) -> list[ChainStep]:
    if math.isnan(decimals):
        return [("round", "to no number of decimals")]
    # From 39 decimals on the factors are infinity and 0 in float32, and float64 ends at 308.
    digits = int(min(max(decimals, -300.0), 300.0))
    if digits == 0:
        return [("round", "integer")]
    return [step("round", "decimals", 10.0**digits, 10.0**-digits)]


def _sigmoid(vector_mode: float = 4.0, fast: float = 0.0) -> list[ChainStep]:
    # The mode says which faces are computed; 4 is all of them, and the others are of no use in a whole operator.
    return [("sigmoid", "approx" if fast else "accurate")] if vector_mode == 4.0 else [("sigmoid", "some faces")]


def _relu6() -> list[ChainStep]:
    return [step("relu_max", "default", 6.0)]


STEPS: Final[dict[UnaryOpType, Steps]] = {
    UnaryOpType.ABS: _plain("abs"),
    UnaryOpType.ACOS: _plain("acos"),
    UnaryOpType.ACOSH: _plain("acosh"),
    UnaryOpType.ADD_UNARY_SFPU: _with("add_unary", 1),
    UnaryOpType.ASIN: _plain("asin"),
    UnaryOpType.ASINH: _plain("asinh"),
    UnaryOpType.ATAN: _plain("atan"),
    UnaryOpType.ATANH: _plain("atanh"),
    UnaryOpType.CBRT: _plain("cbrt"),
    UnaryOpType.CEIL: _plain("ceil"),
    UnaryOpType.CELU: Steps(0, 1, _celu),
    UnaryOpType.CLAMP_TSS: _with("clamp", 2),
    UnaryOpType.COS: _plain("cos"),
    UnaryOpType.COSH: _plain("cosh"),
    UnaryOpType.DIGAMMA: _plain("digamma"),
    UnaryOpType.DIV_UNARY_SFPU: Steps(1, 1, lambda value: [step("div_unary", "default", inverse(value))]),
    UnaryOpType.ELU: _with("elu", 1, 1.0),
    UnaryOpType.EQZ: _plain("eqz"),
    UnaryOpType.ERF: _flag("erf", "accurate", "fast"),
    UnaryOpType.ERFC: _plain("erfc"),
    UnaryOpType.ERFINV: _plain("erfinv"),
    UnaryOpType.EXP: _flag("exp", "accurate", "approx_clampneg"),
    UnaryOpType.EXP2: _plain("exp2"),
    UnaryOpType.EXPM1: _flag("expm1", "accurate", "approx"),
    UnaryOpType.FLOOR: _plain("floor"),
    UnaryOpType.FMOD: Steps(1, 1, lambda value: [step("fmod", "default", value, inverse(value))]),
    UnaryOpType.FRAC: _plain("frac"),
    UnaryOpType.GELU: _flag("gelu", "accurate", "approx_lut"),
    UnaryOpType.GELU_TANH: _plain("gelu", "tanh"),
    UnaryOpType.GEZ: _plain("gez"),
    UnaryOpType.GTZ: _plain("gtz"),
    UnaryOpType.HARDMISH: _plain("hardmish"),
    UnaryOpType.HARDSHRINK: _with("hardshrink", 1, 0.5),
    UnaryOpType.HARDSIGMOID: _plain("hardsigmoid"),
    UnaryOpType.HARDTANH: _with("hardtanh", 2, -1.0, 1.0),
    UnaryOpType.HEAVISIDE: _with("heaviside", 1),
    UnaryOpType.I0: _plain("i0"),
    UnaryOpType.I1: _plain("i1"),
    UnaryOpType.IDENTITY: _plain("identity"),
    UnaryOpType.ISFINITE: _plain("isfinite"),
    UnaryOpType.ISINF: _plain("isinf"),
    UnaryOpType.ISNAN: _plain("isnan"),
    UnaryOpType.ISNEGINF: _plain("isneginf"),
    UnaryOpType.ISPOSINF: _plain("isposinf"),
    UnaryOpType.LEAKY_RELU: _with("leaky_relu", 1),
    UnaryOpType.LEZ: _plain("lez"),
    UnaryOpType.LOG: _flag("log", "accurate", "fast"),
    UnaryOpType.LOG10: _flag("log10", "accurate", "fast"),
    UnaryOpType.LOG1P: _flag("log1p", "accurate", "fast"),
    UnaryOpType.LOG2: _flag("log2", "accurate", "fast"),
    UnaryOpType.LOGICAL_NOT_UNARY: _plain("logical_not"),
    UnaryOpType.LTZ: _plain("ltz"),
    UnaryOpType.MAXIMUM: _with("unary_max", 1),
    UnaryOpType.MINIMUM: _with("unary_min", 1),
    UnaryOpType.MISH: _flag("mish", "accurate", "approx"),
    UnaryOpType.MUL_UNARY_SFPU: _with("mul_unary", 1),
    UnaryOpType.NEG: _plain("neg"),
    UnaryOpType.NEZ: _plain("nez"),
    UnaryOpType.POWER: _with("power", 1),
    UnaryOpType.PRELU_SFPU: _with("prelu", 1),
    UnaryOpType.RDIV: _with("rdiv", 1),
    UnaryOpType.RECIP: _plain("recip", "accurate"),
    UnaryOpType.RELU: _plain("relu", "relu"),
    UnaryOpType.REMAINDER: Steps(1, 1, lambda value: [step("remainder", "default", value, inverse(value))]),
    UnaryOpType.RELU6: Steps(0, 0, _relu6),
    UnaryOpType.RELU_MAX: _with("relu_max", 1),
    UnaryOpType.RELU_MIN: _with("relu_min", 1),
    UnaryOpType.ROUND: Steps(0, 1, _round),
    UnaryOpType.RPOW: _with("rpow", 1),
    UnaryOpType.RSQRT: _flag("rsqrt", "default", "fast"),
    UnaryOpType.RSUB: _with("rsub", 1),
    UnaryOpType.SELU: Steps(0, 2, _selu),
    UnaryOpType.SIGMOID: Steps(0, 2, _sigmoid),
    UnaryOpType.SIGN: _plain("sign"),
    UnaryOpType.SIGNBIT: _plain("signbit"),
    UnaryOpType.SILU: _plain("silu", "accurate"),
    UnaryOpType.SIN: _plain("sin"),
    UnaryOpType.SINH: _plain("sinh"),
    UnaryOpType.SOFTPLUS: Steps(0, 2, _softplus),
    UnaryOpType.SOFTSHRINK: _with("softshrink", 1, 0.5),
    UnaryOpType.SOFTSIGN: _plain("softsign"),
    UnaryOpType.SQRT: _flag("sqrt", "accurate", "fast"),
    UnaryOpType.SQUARE: _plain("square"),
    UnaryOpType.SUB_UNARY_SFPU: _with("sub_unary", 1),
    UnaryOpType.TAN: _plain("tan"),
    UnaryOpType.TANH: _flag("tanh", "accurate", "approx_lut"),
    UnaryOpType.TANHSHRINK: _plain("tanhshrink"),
    UnaryOpType.THRESHOLD: _with("threshold", 2),
    UnaryOpType.TRUNC: _plain("trunc"),
    UnaryOpType.UNARY_EQ: _with("unary_eq", 1),
    UnaryOpType.UNARY_GE: _with("unary_ge", 1),
    UnaryOpType.UNARY_GT: _with("unary_gt", 1),
    UnaryOpType.UNARY_LE: _with("unary_le", 1),
    UnaryOpType.UNARY_LT: _with("unary_lt", 1),
    UnaryOpType.UNARY_NE: _with("unary_ne", 1),
    UnaryOpType.XIELU: _with("xielu", 2, 0.800000011920929, 0.800000011920929),
}


def steps_for(op_type: UnaryOpType, parameters: Sequence[float] = ()) -> list[ChainStep] | None:
    """Return the steps of an operator, or None if it has none for that many parameters."""
    entry = STEPS.get(op_type)
    if entry is None or not entry.fewest <= len(parameters) <= entry.most:
        return None
    return entry.make(*parameters)
