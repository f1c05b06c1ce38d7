"""Elementary and special functions on one tensor. Source: vector unit listings of the same names."""

# ruff: noqa: E501 - one row per operator

from __future__ import annotations

from typing import Final

import numpy as np

from ttnn.base.enums import DataType, UnaryOpType
from ttnn.golden import special
from ttnn.golden.eltwise.unary import formula, plain, round_
from ttnn.operation.accuracy import no_bound
from ttnn.operation.registry import FastOperation
from ttnn.operation.signature import FLOAT, INTEGER, Param
from ttnn.ops.eltwise.unary.family import COPY, FAST, Unary, register_unary

_U: Final = UnaryOpType
_UNSIGNED: Final = (DataType.UINT32, DataType.UINT16, DataType.UINT8)

TABLE: Final = (
    Unary("acos", _U.ACOS, plain("arccos", "Return the arc cosine."), "the arc cosine"),
    Unary("acosh", _U.ACOSH, plain("arccosh", "Return the inverse hyperbolic cosine."), "the inverse hyperbolic cosine"),
    Unary("asin", _U.ASIN, plain("arcsin", "Return the arc sine."), "the arc sine"),
    Unary("asinh", _U.ASINH, plain("arcsinh", "Return the inverse hyperbolic sine."), "the inverse hyperbolic sine"),
    Unary("atan", _U.ATAN, plain("arctan", "Return the arc tangent."), "the arc tangent"),
    Unary("atanh", _U.ATANH, plain("arctanh", "Return the inverse hyperbolic tangent."), "the inverse hyperbolic tangent"),
    Unary("cbrt", _U.CBRT, plain("cbrt", "Return the cube root."), "the cube root"),
    Unary("cos", _U.COS, plain("cos", "Return the cosine."), "the cosine"),
    Unary("cosh", _U.COSH, plain("cosh", "Return the hyperbolic cosine."), "the hyperbolic cosine"),
    Unary("digamma", _U.DIGAMMA, special.digamma, "the derivative of the logarithm of the gamma function"),
    Unary("erf", _U.ERF, special.erf, "the error function", (FAST,)),
    Unary("erfc", _U.ERFC, special.erfc, "1 minus the error function"),
    Unary("erfinv", _U.ERFINV, special.erfinv, "the inverse of the error function"),
    Unary("exp2", _U.EXP2, plain("exp2", "Return 2 to the power of x."), "2 to the power"),
    Unary("expm1", _U.EXPM1, plain("expm1", "Return e to the power of x, less 1."), "e to the power, less 1,"),
    Unary("i0", _U.I0, special.i0, "the modified Bessel function of order 0"),
    Unary("i1", _U.I1, special.i1, "the modified Bessel function of order 1"),
    Unary("log", _U.LOG, plain("log", "Return the natural logarithm."), "the natural logarithm", (FAST,)),
    Unary("log10", _U.LOG10, plain("log10", "Return the decimal logarithm."), "the decimal logarithm", (FAST,)),
    Unary("log1p", _U.LOG1P, plain("log1p", "Return ln(1 + x)."), "the natural logarithm of 1 plus the value", (FAST,)),
    Unary("log2", _U.LOG2, plain("log2", "Return the binary logarithm."), "the binary logarithm", (FAST,)),
    Unary("reciprocal", _U.RECIP, formula("reciprocal", "Return 1 / x.", lambda x: 1.0 / x), "1 over the value"),
    Unary("rsqrt", _U.RSQRT, formula("rsqrt", "Return 1 / sqrt(x).", lambda x: 1.0 / np.sqrt(x)), "1 over the root", (FAST,)),
    Unary("sin", _U.SIN, plain("sin", "Return the sine."), "the sine"),
    Unary("sinh", _U.SINH, plain("sinh", "Return the hyperbolic sine."), "the hyperbolic sine"),
    Unary("sqrt", _U.SQRT, plain("sqrt", "Return the square root."), "the square root", (FAST,)),
    Unary("tan", _U.TAN, plain("tan", "Return the tangent."), "the tangent"),
    Unary("rpow", _U.RPOW, formula("rpow", "Return exponent ** x.", lambda x, exponent: np.power(exponent, x)),
          "Return `exponent`, the base, to the power of every element.",
          positional=(Param("exponent", FLOAT, doc="The base."),),
          accuracy=no_bound("for the logarithm of the base is rounded before it is multiplied: the error grows with the power")),
    Unary("abs", _U.ABS, plain("abs", "Return |x|."), "the magnitude", exact=True,
          integers={DataType.INT32: [("abs_int32", "int32")], **dict.fromkeys(_UNSIGNED, COPY)}, reference=_UNSIGNED),
    Unary("neg", _U.NEG, plain("negative", "Return -x."), "the negative", exact=True,
          integers={DataType.INT32: [("neg_int32", "int32")]}),
    Unary("sign", _U.SIGN, plain("sign", "Return -1, 0 or 1."), "the sign, -1, 0 or 1,", exact=True),
    Unary("ceil", _U.CEIL, plain("ceil", "Return the smallest integer not below x."), "the next integer above", exact=True),
    Unary("floor", _U.FLOOR, plain("floor", "Return the largest integer not above x."), "the next integer below", exact=True),
    Unary("trunc", _U.TRUNC, plain("trunc", "Return x without its fraction."), "the integer part", exact=True),
    Unary("frac", _U.FRAC, formula("frac", "Return x less its integer part.", lambda x: x - np.trunc(x)), "the fraction",
          exact=True),
    Unary("round", _U.ROUND, round_, "Return every element rounded to `decimals` decimals, halves to even.",
          (Param("decimals", INTEGER, 0, none=True, doc="Decimals; negative ones round to tens."),)),
)  # fmt: skip

OPERATORS: Final[dict[str, FastOperation]] = {entry.name: register_unary(entry) for entry in TABLE}
