"""Elementary and special functions of one tensor.

Source: the kernels that each entry names.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, Final

import numpy as np

from ttnn.base.core_range import CoreRangeSet
from ttnn.base.enums import DataType, UnaryOpType
from ttnn.base.memory_config import MemoryConfig
from ttnn.golden import special
from ttnn.golden.eltwise import unary as g
from ttnn.golden.eltwise.unary import formula, plain, round_
from ttnn.operation.accuracy import max_ulp, no_bound
from ttnn.operation.domain import from_, inside_one, positive
from ttnn.operation.registry import FastOperation, declare
from ttnn.operation.signature import FLOAT, INTEGER, Param, Signature
from ttnn.operation.steps import ChainStep, Steps, fixed, flag, step
from ttnn.ops._programs.common import INPUT_TENSOR
from ttnn.ops._programs.sfpu_chain import apply_chain, refuse_integers
from ttnn.ops.eltwise.unary.family import COPY, FAST, FLOAT_INPUTS, LAYOUTS, OPTIONS, Unary, measured, register_unary
from ttnn.tensor.tensor import Tensor

_U: Final = UnaryOpType
_UNSIGNED: Final = (DataType.UINT32, DataType.UINT16, DataType.UINT8)


def _round(decimals: float = 0.0) -> list[ChainStep]:
    if math.isnan(decimals):
        return [("round", "to no number of decimals")]
    # From 39 decimals on the factors are infinity and 0 in float32, and float64 ends at 308.
    digits = int(min(max(decimals, -300.0), 300.0))
    if digits == 0:
        return [("round", "integer")]
    return [step("round", "decimals", 10.0**digits, 10.0**-digits)]


_FAST_EXP: Final = replace(FAST, doc="Use the approximate exponential, with a relative error of about 1/30.")

TABLE: Final = (
    Unary("acos", _U.ACOS, plain("arccos", "Return the arc cosine."), "inverse cosine, in radians,",
          ulp=(0.4999, 1.0663), domain=inside_one, kernel="ckernel_sfpu_trigonometry.h"),
    Unary("acosh", _U.ACOSH, plain("arccosh", "Return the inverse hyperbolic cosine."), "inverse hyperbolic cosine",
          ulp=(1.4057, 1.21), domain=from_(1.0), kernel="ckernel_sfpu_trigonometry.h"),
    Unary("asin", _U.ASIN, plain("arcsin", "Return the arc sine."), "inverse sine, in radians,", ulp=(128, 1.5134),
          domain=inside_one, kernel="ckernel_sfpu_trigonometry.h"),
    Unary("asinh", _U.ASINH, plain("arcsinh", "Return the inverse hyperbolic sine."), "inverse hyperbolic sine",
          ulp=(1.3216, 1.0172), kernel="ckernel_sfpu_trigonometry.h"),
    Unary("atan", _U.ATAN, plain("arctan", "Return the arc tangent."), "inverse tangent, in radians,",
          ulp=(128, 1.7306), kernel="ckernel_sfpu_trigonometry.h"),
    Unary("atanh", _U.ATANH, plain("arctanh", "Return the inverse hyperbolic tangent."),
          "inverse hyperbolic tangent", ulp=(128, 2.0001), domain=inside_one, kernel="ckernel_sfpu_trigonometry.h"),
    Unary("cbrt", _U.CBRT, plain("cbrt", "Return the cube root."), "cube root", ulp=(0.507, 1.7166)),
    Unary("cos", _U.COS, plain("cos", "Return the cosine."), "cosine", ulp=(0.5516, 42839.8), largest=2.0**20,
          kernel="ckernel_sfpu_trigonometry.h"),
    Unary("cosh", _U.COSH, plain("cosh", "Return the hyperbolic cosine."), "hyperbolic cosine",
          ulp=(0.4998, 0.9637), blackhole=((DataType.BFLOAT16, 0.5009),), kernel="ckernel_sfpu_trigonometry.h"),
    Unary("digamma", _U.DIGAMMA, special.digamma, "digamma function, the derivative of `ln(gamma(x))`,",
          ulp=(557299, 112042000000.0), domain=positive),
    Unary("erf", _U.ERF, special.erf, "error function", (FAST,), ulp=(1.0562, 3.9865),
          blackhole=((DataType.FLOAT32, 4.3718),), steps=flag("erf", "accurate", "fast", 1.0),
          kernel="ckernel_sfpu_erf_erfc.h"),
    Unary("erfc", _U.ERFC, special.erfc, "complementary error function, `1 - erf(x)`,", ulp=(3.1877e28, 2.09919e33),
          blackhole=((DataType.BFLOAT16, 3.2032e28), (DataType.FLOAT32, 2.09923e33)),
          kernel="ckernel_sfpu_erf_erfc.h"),
    Unary("erfinv", _U.ERFINV, special.erfinv, "inverse error function", ulp=(255.2334, 16727000),
          domain=inside_one),
    Unary("exp", _U.EXP, g.exp, "exponential, `e^x`,", (_FAST_EXP,), accuracy=max_ulp((DataType.BFLOAT16, 1),
    (DataType.FLOAT32, 2)),
          steps=flag("exp", "accurate", "approx_clampneg")),
    Unary("exp2", _U.EXP2, plain("exp2", "Return 2 to the power of x."), "base-2 exponential, `2^x`,",
          ulp=(0.9395, 0.8387)),
    Unary("expm1", _U.EXPM1, plain("expm1", "Return e to the power of x, less 1."), "exponential minus 1, `e^x - 1`,",
          ulp=(0.4998, 0.8628), steps=flag("expm1", "accurate", "approx")),
    Unary("identity", _U.IDENTITY, g.identity, "Return a copy of `input_tensor` that has passed through Dst.",
          exact=True, integers=dict.fromkeys((DataType.INT32, *_UNSIGNED), COPY), kernel="eltwise_identity_kernel.cpp"),
    Unary("i0", _U.I0, special.i0, "modified Bessel function `I0`", ulp=(255.0465, 16777300)),
    Unary("i1", _U.I1, special.i1, "modified Bessel function `I1`", ulp=(246.3125, 16210300)),
    Unary("log", _U.LOG, plain("log", "Return the natural logarithm."), "natural logarithm", (FAST,),
          ulp=(0.7804, 0.7508), domain=positive),
    Unary("log10", _U.LOG10, plain("log10", "Return the decimal logarithm."), "base-10 logarithm", (FAST,),
          ulp=(0.7847, 1.7934), domain=positive, kernel="ckernel_sfpu_log.h"),
    Unary("log1p", _U.LOG1P, plain("log1p", "Return ln(1 + x)."),
          "natural logarithm `ln(1 + x)`", (FAST,), ulp=(0.9311, 0.8252), domain=positive),
    Unary("log2", _U.LOG2, plain("log2", "Return the binary logarithm."), "base-2 logarithm", (FAST,),
          ulp=(0.7661, 1.25), domain=positive, kernel="ckernel_sfpu_log.h"),
    Unary("reciprocal", _U.RECIP, formula("reciprocal", "Return 1 / x.", lambda x: 1.0 / x), "reciprocal, `1 / x`,",
          ulp=(0.4981, 0.6583), blackhole=((DataType.BFLOAT16, 128), (DataType.FLOAT32, 8388608)),
          steps=fixed("recip", "accurate"), domain=positive, kernel="ckernel_sfpu_recip.h"),
    Unary("rsqrt", _U.RSQRT, formula("rsqrt", "Return 1 / sqrt(x).", lambda x: 1.0 / np.sqrt(x)),
          "reciprocal square root, `1 / sqrt(x)`,",
          (FAST,), ulp=(0.4994, 15582800), steps=flag("rsqrt", "default", "fast"), domain=positive),
    Unary("sin", _U.SIN, plain("sin", "Return the sine."), "sine", ulp=(0.5517, 8192.5759), largest=2.0**20,
          kernel="ckernel_sfpu_trigonometry.h"),
    Unary("sinh", _U.SINH, plain("sinh", "Return the hyperbolic sine."), "hyperbolic sine", ulp=(0.4998, 1.6632),
          kernel="ckernel_sfpu_trigonometry.h"),
    Unary("sqrt", _U.SQRT, plain("sqrt", "Return the square root."), "square root", (FAST,), ulp=(0.4996, 0.7513),
          domain=positive),
    Unary("tan", _U.TAN, plain("tan", "Return the tangent."), "tangent", ulp=(0.5513, 10550.2), largest=2.0**20,
          blackhole=((DataType.FLOAT32, 10551.2),),
          kernel="ckernel_sfpu_trigonometry.h"),
    Unary("rpow", _U.RPOW, formula("rpow", "Return exponent ** x.", lambda x, exponent: np.power(exponent, x)),
          "Return the element-wise power `exponent^x` of `input_tensor`.\n"
          "The argument called `exponent` is the base, as in TT-NN.",
          positional=(Param("exponent", FLOAT, doc="Base."),),
          accuracy=no_bound("for the logarithm of the base is rounded before it is multiplied: the error grows with "
                            "the power"), examples=((2.0,),)),
    Unary("abs", _U.ABS, plain("abs", "Return |x|."), "absolute value", exact=True,
          integers={DataType.INT32: [("abs_int32", "int32")], **dict.fromkeys(_UNSIGNED, COPY)}, reference=_UNSIGNED),
    Unary("neg", _U.NEG, plain("negative", "Return -x."), "negative", exact=True,
          integers={DataType.INT32: [("neg_int32", "int32")]}, kernel="ckernel_sfpu_negative.h"),
    Unary("sign", _U.SIGN, plain("sign", "Return -1, 0 or 1."), "sign (-1, 0 or 1)", exact=True),
    Unary("ceil", _U.CEIL, plain("ceil", "Return the smallest integer not below x."),
          "Return the smallest integers not below the elements of `input_tensor`.", exact=True,
          kernel="ckernel_sfpu_rounding_ops.h"),
    Unary("floor", _U.FLOOR, plain("floor", "Return the largest integer not above x."),
          "Return the largest integers not above the elements of `input_tensor`.", exact=True,
          kernel="ckernel_sfpu_rounding_ops.h"),
    Unary("trunc", _U.TRUNC, plain("trunc", "Return x without its fraction."),
          "integer part, the input rounded toward 0,", exact=True, kernel="ckernel_sfpu_rounding_ops.h"),
    Unary("frac", _U.FRAC, formula("frac", "Return x less its integer part.", lambda x: x - np.trunc(x)),
          "fractional part, `x - trunc(x)`,", exact=True, kernel="ckernel_sfpu_rounding_ops.h"),
    Unary("round", _U.ROUND, round_, "Return `input_tensor` rounded to `decimals` decimal places, ties to even.",
          (Param("decimals", INTEGER, 0, none=True, doc="Decimal places. Negative values round to powers of ten."),),
          ulp=(0, 0), steps=Steps(0, 1, _round), kernel="ckernel_sfpu_rounding_ops.h"),
)  # fmt: skip

OPERATORS: Final[dict[str, FastOperation]] = {entry.name: register_unary(entry) for entry in TABLE}

_WRAPPING: Final = (DataType.INT32, DataType.UINT32, DataType.UINT16)


def _square(
    input_tensor: Tensor,
    memory_config: MemoryConfig | None,
    output_tensor: Tensor | None,
    _sub_core_grids: CoreRangeSet | None,
) -> Tensor:
    steps: list[ChainStep] = [("square", "default")]
    integers = input_tensor.spec.dtype in _WRAPPING
    if integers:
        steps = [("square_int", "int32")]
    else:
        refuse_integers("ttnn.square", _U.SQUARE, input_tensor.spec.dtype)
    options: dict[str, Any] = {"memory_config": memory_config, "output_tensor": output_tensor}
    return apply_chain("ttnn.square", input_tensor, steps, integers=integers, **options)


square = declare(
    "square",
    (Signature((INPUT_TENSOR,), OPTIONS),),
    _square,
    "Return the element-wise square of `input_tensor`.\nInteger results wrap around.",
    source="tt-llk `ckernel_sfpu_square.h` and `ckernel_sfpu_mul_int.h`",
    layouts=LAYOUTS,
    family="unary",
    dtypes=(*FLOAT_INPUTS, *_WRAPPING),
    reference=_WRAPPING,
    golden=plain("square", "Return x * x."),
    accuracy=measured(0.5, 0),
    engine=("unary",),
    raises=(
        ("DTypeError", "the input is uint8."),
        ("StorageError", "the input is on the host."),
    ),
    steps={_U.SQUARE: fixed("square")},
)
