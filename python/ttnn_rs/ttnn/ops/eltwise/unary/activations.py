"""Activation functions on one tensor. Source: the kernels that each entry names."""

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
_UNSIGNED: Final = _INTEGERS[1:]
# The kernels of integers are not tabulated: 6 is taken for the integer 6, and unsigned types are never negative.
_RELU6_OF_INTEGERS: Final[dict[DataType, list[ChainStep]]] = {
    dtype: [("relu_max_int32", "int32" if dtype is DataType.INT32 else "uint32", [6])] for dtype in _INTEGERS
}


def _at_most(dtype: DataType, limit: int) -> list[ChainStep]:
    return [("relu_max_int32", "int32" if dtype is DataType.INT32 else "uint32", [max(limit, 0)])]


def _at_least(dtype: DataType, limit: int) -> list[ChainStep]:
    return [("unary_max_int32", "int32" if dtype is DataType.INT32 else "uint32", [limit & 0xFFFFFFFF])]


def _celu(alpha: float = 1.0) -> list[ChainStep]:
    return [step("celu", "default", alpha, inverse(alpha))]


def _selu(scale: float = 1.0507009873554805, alpha: float = 1.6732632423543772) -> list[ChainStep]:
    # An activation without parameters has more digits than the operator's defaults.
    return [step("selu", "default", scale, single(scale) * single(alpha))]


def _softplus(beta: float = 1.0, threshold: float = 20.0) -> list[ChainStep]:
    return [step("softplus", "default", beta, inverse(beta), threshold)]


_ALPHA: Final = Param("alpha", FLOAT, 1.0, doc="Scale of the exponential part.")
_LAMBDA: Final = Param("lambd", FLOAT, 0.5, doc="Half-width of the interval around 0 that is mapped to 0.")

TABLE: Final = (
    Unary("celu", _U.CELU, formula("celu", "Return x, or alpha * expm1(x / alpha) below 0.",
                                   lambda x, alpha=1.0: np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0) / alpha))),
          "CELU, `x if x > 0 else alpha * (e^(x / alpha) - 1)`,", (_ALPHA,), ulp=(0.4998, 1.027),
          steps=Steps(0, 1, _celu), kernel="ckernel_sfpu_activations.h"),
    Unary("elu", _U.ELU, formula("elu", "Return x, or alpha * expm1(x) below 0.",
                                 lambda x, alpha=1.0: np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))),
          "ELU, `x if x > 0 else alpha * (e^x - 1)`,", (_ALPHA,), ulp=(0.4998, 1.027)),
    Unary("hardmish", _U.HARDMISH, formula("hardmish", "Return x * clamp(x + 2, 0, 2) / 2.",
                                           lambda x: x * np.clip(x + 2, 0, 2) / 2),
          "hard Mish, `x * clamp(x + 2, 0, 2) / 2`,", ulp=(1, 0.9981)),
    Unary("hardshrink", _U.HARDSHRINK, formula("hardshrink", "Return x, or 0 within lambd of 0.",
                                               lambda x, lambd=0.5: np.where(np.abs(x) > lambd, x, 0.0)),
          "Return `input_tensor` where `|input_tensor| > lambd`, and 0 elsewhere.", (_LAMBDA,), exact=True,
          kernel="hardshrink_kernel_sfpu.cpp"),
    Unary("hardsigmoid", _U.HARDSIGMOID, formula("hardsigmoid", "Return clamp(x / 6 + 1 / 2, 0, 1).",
                                                 lambda x: np.clip(x / 6 + 0.5, 0, 1)),
          "hard sigmoid, `clamp(x / 6 + 1 / 2, 0, 1)`,", ulp=(1, 74.6667), kernel="ckernel_sfpu_activations.h"),
    Unary("hardtanh", _U.HARDTANH, formula("hardtanh", "Return clamp(x, min_val, max_val).",
                                           lambda x, min_val=-1.0, max_val=1.0: np.clip(x, min_val, max_val)),
          "Return `input_tensor` clamped to [`min_val`, `max_val`].",
          (Param("min_val", FLOAT, -1.0, doc="Lower bound."), Param("max_val", FLOAT, 1.0, doc="Upper bound.")),
          exact=True),
    Unary("heaviside", _U.HEAVISIDE, formula("heaviside", "Return 0 below 0, 1 above, and `value` at 0.",
                                             lambda x, value: np.heaviside(x, value)),
          "Return 0 for negative, 1 for positive elements, and `value` for zeros.",
          positional=(Param("value", FLOAT, doc="Output where the input is 0."),), exact=True, examples=((0.5,),)),
    Unary("leaky_relu", _U.LEAKY_RELU, formula("leaky_relu", "Return x, or x * negative_slope below 0.",
                                               lambda x, negative_slope: np.where(x >= 0, x, negative_slope * x)),
          "Return `input_tensor` where it is not negative, and `negative_slope * input_tensor` elsewhere.",
          positional=(Param("negative_slope", FLOAT, doc="Slope for negative inputs."),),
          integers=dict.fromkeys(_UNSIGNED, COPY), reference=_UNSIGNED,
          # Cut to bfloat16; half a unit each for rounding the slope and the product to float32.
          accuracy=max_ulp((DataType.BFLOAT16, 1.0001), (DataType.FLOAT32, 1.5)), examples=((0.125,),),
          kernel="ckernel_sfpu_relu.h"),
    Unary("mish", _U.MISH, g.mish, "Mish, `x * tanh(softplus(x))`,", (FAST,), ulp=(244.8823, 16048700),
          steps=flag("mish", "accurate", "approx")),
    Unary("relu", _U.RELU, g.relu, "Return the element-wise maximum of `input_tensor` and 0.", exact=True,
          integers={DataType.INT32: [("relu_int32", "int32")], **dict.fromkeys(_INTEGERS[1:], COPY)},
          steps=fixed("relu", "relu")),
    Unary("relu6", _U.RELU6, formula("relu6", "Return clamp(x, 0, 6).", lambda x: np.clip(x, 0, 6)),
          "Return `input_tensor` clamped to [0, 6].", integers=_RELU6_OF_INTEGERS, reference=_INTEGERS, exact=True,
          steps=Steps(0, 0, lambda: [step("relu_max", "default", 6.0)]), kernel="ckernel_sfpu_relu.h"),
    Unary("relu_max", _U.RELU_MAX, formula("relu_max", "Return clamp(x, 0, upper_limit).",
                                           lambda x, upper_limit: np.maximum(np.minimum(x, upper_limit), 0)),
          "Return `input_tensor` clamped to [0, `upper_limit`].",
          positional=(Param("upper_limit", NUMBER, doc="Upper bound, truncated to an integer for integer tensors."),),
          of_parameters=dict.fromkeys(_INTEGERS, _at_most), reference=_INTEGERS, exact=True, examples=((1.0,),),
          kernel="ckernel_sfpu_relu.h"),
    Unary("relu_min", _U.RELU_MIN, formula("relu_min", "Return max(x, lower_limit).",
                                           lambda x, lower_limit: np.maximum(x, lower_limit)),
          "Return the element-wise maximum of `input_tensor` and `lower_limit`.",
          positional=(Param("lower_limit", NUMBER, doc="Lower bound, truncated to an integer for integer tensors."),),
          of_parameters=dict.fromkeys(_INTEGERS, _at_least), reference=_INTEGERS, exact=True, examples=((0,), (2,)),
          kernel="ckernel_sfpu_relu.h"),
    Unary("selu", _U.SELU, formula("selu", "Return the scaled exponential linear unit.",
                                   lambda x, scale=1.0506999492645264, alpha=1.673259973526001:
                                   scale * np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))),
          "SELU, `scale * (x if x > 0 else alpha * (e^x - 1))`,",
          (Param("scale", FLOAT, 1.0506999492645264, doc="Scale of the output."),
           Param("alpha", FLOAT, 1.673259973526001, doc="Scale of the exponential part.")), ulp=(0.4996, 1.8489),
          steps=Steps(0, 2, _selu)),
    Unary("silu", _U.SILU, formula("silu", "Return x * sigmoid(x).", lambda x: x * g.sigmoid_of(x)),
          "SiLU, `x * sigmoid(x)`,", ulp=(244.8823, 16048700), steps=fixed("silu", "accurate")),
    Unary("softplus", _U.SOFTPLUS, formula("softplus", "Return ln(1 + e^(beta x)) / beta.",
                                           lambda x, beta=1.0, threshold=20.0:
                                           np.where(beta * x > threshold, x, g.softplus_of(beta * x) / beta)),
          "softplus, `ln(1 + e^(beta * x)) / beta`,", (Param("beta", FLOAT, 1.0, doc="Multiplier of the input."),
           Param("threshold", FLOAT, 20.0, doc="The function is linear where `beta * x` exceeds this value.")),
          ulp=(255.8401, 7314.929), largest=2.0**20, steps=Steps(0, 2, _softplus)),
    Unary("softshrink", _U.SOFTSHRINK, formula("softshrink", "Return x moved toward 0 by lambd.",
                                               lambda x, lambd=0.5: np.sign(x) * np.maximum(np.abs(x) - lambd, 0)),
          "Return `input_tensor` moved toward 0 by `lambd`, and 0 where `|input_tensor| <= lambd`.", (_LAMBDA,),
          ulp=(1, 0.5), kernel="ckernel_sfpu_activations.h"),
    Unary("softsign", _U.SOFTSIGN, formula("softsign", "Return x / (1 + |x|).", lambda x: x / (1 + np.abs(x))),
          "softsign, `x / (1 + |x|)`,", ulp=(128, 8388610), kernel="ckernel_sfpu_activations.h"),
    Unary("swish", _U.SILU, formula("swish", "Return x * sigmoid(x).", lambda x: x * g.sigmoid_of(x)),
          "SiLU, `x * sigmoid(x)`,", ulp=(244.8823, 16048700), steps=fixed("silu", "accurate"),
          kernel="ckernel_sfpu_silu.h"),
    Unary("tanhshrink", _U.TANHSHRINK, g.tanhshrink, "difference `x - tanh(x)`", ulp=(1.3399, 7.3595),
          kernel="tanhshrink_sfpu_kernel.cpp"),
    Unary("threshold", _U.THRESHOLD, g.threshold,
          "Return `input_tensor` where it is greater than `threshold`, and `value` elsewhere.",
          positional=(Param("threshold", FLOAT, doc="Threshold."), Param("value", FLOAT,
          doc="Output where the input is not greater than the threshold.")),
          exact=True, examples=((0.5, 2.0),)),
    Unary("xielu", _U.XIELU, g.xielu, "xIELU activation",
          (Param("alpha_p", FLOAT, 0.800000011920929, doc="Coefficient of the quadratic part, for positive inputs."),
           Param("alpha_n", FLOAT, 0.800000011920929, doc="Coefficient of the exponential part, for negative inputs.")),
          ulp=(0.5, 304.7647)),
)  # fmt: skip

OPERATORS: Final[dict[str, FastOperation]] = {entry.name: register_unary(entry) for entry in TABLE}
