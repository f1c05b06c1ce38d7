"""Activation functions on one tensor. Source: vector unit listings of the same names."""

from __future__ import annotations

from typing import Final

import numpy as np

from ttnn.base.enums import DataType, UnaryOpType
from ttnn.golden.eltwise import unary as g
from ttnn.golden.eltwise.unary import formula
from ttnn.operation.accuracy import max_ulp
from ttnn.operation.registry import FastOperation
from ttnn.operation.signature import FLOAT, NUMBER, Param
from ttnn.operation.steps import ChainStep, Steps, fixed, flag, inverse, single, step
from ttnn.ops.eltwise.unary.family import COPY, FAST, Unary, register_unary

_U: Final = UnaryOpType
_INTEGERS: Final = (DataType.INT32, DataType.UINT32, DataType.UINT16, DataType.UINT8)
# The kernels of integers are not tabulated: 6 is taken for the integer 6, and unsigned types are never negative.
_RELU6_OF_INTEGERS: Final[dict[DataType, list[ChainStep]]] = {
    dtype: [("relu_max_int32", "int32" if dtype is DataType.INT32 else "uint32", [6])] for dtype in _INTEGERS
}


def _at_most(dtype: DataType, limit: int) -> list[ChainStep]:
    return [("relu_max_int32", "int32" if dtype is DataType.INT32 else "uint32", [max(limit, 0)])]


def _at_least(dtype: DataType, limit: int) -> list[ChainStep]:
    if dtype is not DataType.UINT32:
        return [("clamp_int32", "int32", [limit & 0xFFFFFFFF, 0x7FFFFFFF])]
    # With the first bit turned over, words without a sign have the order of those with one.
    turn: ChainStep = ("bitwise_xor", "int32", [0x80000000])
    return [turn, ("clamp_int32", "int32", [limit ^ 0x80000000, 0x7FFFFFFF]), turn]


def _celu(alpha: float = 1.0) -> list[ChainStep]:
    return [step("celu", "default", alpha, inverse(alpha))]


def _selu(scale: float = 1.0506999492645264, alpha: float = 1.673259973526001) -> list[ChainStep]:
    return [step("selu", "default", scale, single(scale) * single(alpha))]


def _softplus(beta: float = 1.0, threshold: float = 20.0) -> list[ChainStep]:
    return [step("softplus", "default", beta, inverse(beta), threshold)]


_ALPHA: Final = Param("alpha", FLOAT, 1.0, doc="Scale of the exponential part.")
_LAMBDA: Final = Param("lambd", FLOAT, 0.5, doc="Half the width of the interval that becomes 0.")

TABLE: Final = (
    Unary("celu", _U.CELU, formula("celu", "Return x, or alpha * expm1(x / alpha) below 0.",
                                   lambda x, alpha=1.0: np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0) / alpha))),
          "the continuously differentiable exponential unit", (_ALPHA,), ulp=(0.4998, 1.027), steps=Steps(0, 1, _celu)),
    Unary("elu", _U.ELU, formula("elu", "Return x, or alpha * expm1(x) below 0.",
                                 lambda x, alpha=1.0: np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))),
          "the exponential linear unit", (_ALPHA,), ulp=(0.4998, 1.027)),
    Unary("hardmish", _U.HARDMISH, formula("hardmish", "Return x * clamp(x + 2, 0, 2) / 2.",
                                           lambda x: x * np.clip(x + 2, 0, 2) / 2), "the piecewise form of mish",
          ulp=(1, 0.9981)),
    Unary("hardshrink", _U.HARDSHRINK, formula("hardshrink", "Return x, or 0 within lambd of 0.",
                                               lambda x, lambd=0.5: np.where(np.abs(x) > lambd, x, 0.0)),
          "Return every element, or 0 where it is within `lambd` of 0.", (_LAMBDA,), exact=True),
    Unary("hardsigmoid", _U.HARDSIGMOID, formula("hardsigmoid", "Return clamp(x / 6 + 1 / 2, 0, 1).",
                                                 lambda x: np.clip(x / 6 + 0.5, 0, 1)),
          "x / 6 + 1 / 2, held to [0, 1],", ulp=(1, 74.6667)),
    Unary("hardtanh", _U.HARDTANH, formula("hardtanh", "Return clamp(x, min_val, max_val).",
                                           lambda x, min_val=-1.0, max_val=1.0: np.clip(x, min_val, max_val)),
          "Return every element, held to [`min_val`, `max_val`].",
          (Param("min_val", FLOAT, -1.0, doc="Lower limit."), Param("max_val", FLOAT, 1.0, doc="Upper limit.")),
          exact=True),
    Unary("heaviside", _U.HEAVISIDE, formula("heaviside", "Return 0 below 0, 1 above, and `value` at 0.",
                                             lambda x, value: np.heaviside(x, value)),
          "Return 0 for negative elements, 1 for positive ones, and `value` for 0.",
          positional=(Param("value", FLOAT, doc="Result at 0."),), exact=True, examples=((0.5,),)),
    Unary("leaky_relu", _U.LEAKY_RELU, formula("leaky_relu", "Return x, or x * negative_slope below 0.",
                                               lambda x, negative_slope: np.where(x >= 0, x, negative_slope * x)),
          "Return every element, times `negative_slope` where it is negative.",
          positional=(Param("negative_slope", FLOAT, doc="Slope below 0."),),
          # Cut to bfloat16; half a unit each for rounding the slope and the product to float32.
          accuracy=max_ulp((DataType.BFLOAT16, 1.0001), (DataType.FLOAT32, 1.5)), examples=((0.125,),)),
    Unary("mish", _U.MISH, g.mish, "x times tanh(softplus(x))", (FAST,), ulp=(244.8823, 16048700), steps=flag("mish",
          "accurate", "approx")),
    Unary("relu", _U.RELU, g.relu, "Return every element where it is positive and 0 elsewhere.", exact=True,
          integers={DataType.INT32: [("relu_int32", "int32")], **dict.fromkeys(_INTEGERS[1:], COPY)},
          steps=fixed("relu", "relu")),
    Unary("relu6", _U.RELU6, formula("relu6", "Return clamp(x, 0, 6).", lambda x: np.clip(x, 0, 6)),
          "Return every element, held to [0, 6].", integers=_RELU6_OF_INTEGERS, reference=_INTEGERS, exact=True,
          steps=Steps(0, 0, lambda: [step("relu_max", "default", 6.0)])),
    Unary("relu_max", _U.RELU_MAX, formula("relu_max", "Return clamp(x, 0, upper_limit).",
                                           lambda x, upper_limit: np.maximum(np.minimum(x, upper_limit), 0)),
          "Return every element, held to [0, `upper_limit`].",
          positional=(Param("upper_limit", NUMBER, doc="Upper limit; cut to an integer for integers."),),
          whole=dict.fromkeys(_INTEGERS, _at_most), reference=_INTEGERS, exact=True, examples=((1.0,),)),
    Unary("relu_min", _U.RELU_MIN, formula("relu_min", "Return max(x, lower_limit).",
                                           lambda x, lower_limit: np.maximum(x, lower_limit)),
          "Return every element, or `lower_limit` if that is larger.",
          positional=(Param("lower_limit", NUMBER, doc="Lower limit; cut to an integer for integers."),),
          whole=dict.fromkeys(_INTEGERS, _at_least), reference=_INTEGERS, exact=True, examples=((0,), (2,))),
    Unary("selu", _U.SELU, formula("selu", "Return the scaled exponential linear unit.",
                                   lambda x, scale=1.0506999492645264, alpha=1.673259973526001:
                                   scale * np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))),
          "the scaled exponential linear unit",
          (Param("scale", FLOAT, 1.0506999492645264, doc="Scale of the whole."),
           Param("alpha", FLOAT, 1.673259973526001, doc="Scale of the exponential part.")), ulp=(0.4996, 1.8489),
          steps=Steps(0, 2, _selu)),
    Unary("silu", _U.SILU, formula("silu", "Return x * sigmoid(x).", lambda x: x * g.sigmoid_of(x)),
          "x times sigmoid(x)", ulp=(244.8823, 16048700), steps=fixed("silu", "accurate")),
    Unary("softplus", _U.SOFTPLUS, formula("softplus", "Return ln(1 + e^(beta x)) / beta.",
                                           lambda x, beta=1.0, threshold=20.0:
                                           np.where(beta * x > threshold, x, g.softplus_of(beta * x) / beta)),
          "ln(1 + e^x)",
          (Param("beta", FLOAT, 1.0, doc="Factor of the argument."),
           Param("threshold", FLOAT, 20.0, doc="Above this, `beta` times the element counts as linear.")),
          ulp=(255.8401, 7314.929), largest=2.0**20, steps=Steps(0, 2, _softplus)),
    Unary("softshrink", _U.SOFTSHRINK, formula("softshrink", "Return x moved toward 0 by lambd.",
                                               lambda x, lambd=0.5: np.sign(x) * np.maximum(np.abs(x) - lambd, 0)),
          "Return every element, moved toward 0 by `lambd`.", (_LAMBDA,), ulp=(1, 0.5)),
    Unary("softsign", _U.SOFTSIGN, formula("softsign", "Return x / (1 + |x|).", lambda x: x / (1 + np.abs(x))),
          "x / (1 + |x|)", ulp=(128, 8388610)),
    Unary("swish", _U.SILU, formula("swish", "Return x * sigmoid(x).", lambda x: x * g.sigmoid_of(x)),
          "x times sigmoid(x)", ulp=(244.8823, 16048700), steps=fixed("silu", "accurate")),
    Unary("tanhshrink", _U.TANHSHRINK, g.tanhshrink, "x - tanh(x)", ulp=(1.3399, 7.3595)),
    Unary("threshold", _U.THRESHOLD, g.threshold,
          "Return every element above `threshold`, and `value` for the others.",
          positional=(Param("threshold", FLOAT, doc="The limit."), Param("value", FLOAT,
          doc="What replaces the others.")),
          exact=True, examples=((0.5, 2.0),)),
    Unary("xielu", _U.XIELU, g.xielu, "the expanded integral of the exponential linear unit",
          (Param("alpha_p", FLOAT, 0.800000011920929, doc="Factor of the parabola above 0."),
           Param("alpha_n", FLOAT, 0.800000011920929, doc="Factor of the exponential part below 0.")),
          ulp=(0.5, 304.7647)),
)  # fmt: skip

OPERATORS: Final[dict[str, FastOperation]] = {entry.name: register_unary(entry) for entry in TABLE}
