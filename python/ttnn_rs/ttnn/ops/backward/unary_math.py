"""Gradients of elementary and special functions of one operand."""

from __future__ import annotations

import math
from typing import Final

from ttnn.base.enums import UnaryOpType as U
from ttnn.golden import backward as g
from ttnn.operation.registry import FastOperation
from ttnn.operation.steps import single
from ttnn.ops.backward.family import Gradient, register_gradients
from ttnn.ops.backward.forward import INF, NAN, Forward
from ttnn.tensor.tensor import Tensor

_LN2: Final = single(math.log(2.0))
_LN10: Final = single(math.log(10.0))
_TWO_OVER_ROOT_PI: Final = single(2.0 / math.sqrt(math.pi))
_ROOT_PI_OVER_TWO: Final = single(math.sqrt(math.pi) / 2.0)
_LARGE: Final = 3.4e38
"""From here on products count as infinite in the hyperbolic gradients."""
_WORDS: Final = (
    "int32 and uint32 inputs return float32. The fused functions read the bit pattern of x, so that the result is "
    "not a gradient. No vector covers these bits."
)


def _exp(do: Forward, grad: Tensor, x: Tensor, output: Tensor) -> Tensor:
    return do.multiply(grad, do.exp(x), output_tensor=output)


def _exp2(do: Forward, grad: Tensor, x: Tensor) -> Tensor:
    return do.multiply(grad, do.multiply(do.exp2(x), _LN2))


def _expm1(do: Forward, grad: Tensor, x: Tensor) -> Tensor:
    return do.multiply(grad, do.exp(x))


def _log(do: Forward, grad: Tensor, x: Tensor) -> Tensor:
    quotient = do.multiply(grad, do.reciprocal(x))
    zero = do.eqz(x)
    at_zero = do.where(do.eqz(grad), NAN, do.signed_infinity(grad))
    return do.where(zero, at_zero, quotient)


def _log_of_base(do: Forward, grad: Tensor, x: Tensor, log_of_base: float) -> Tensor:
    """Gradient of ln(x) / ln(base).

    At 0 it is infinite with the sign of `grad`, and NaN where `grad` is 0.
    """
    infinity = do.where(do.ltz(grad), -INF, INF)
    quotient = do.multiply(grad, do.reciprocal(do.multiply(x, log_of_base)))
    undefined = do.logical_and(do.eqz(x), do.eqz(grad))
    return do.where(undefined, NAN, do.where(do.eqz(x), infinity, quotient))


def _log1p(do: Forward, grad: Tensor, x: Tensor) -> Tensor:
    infinity = do.where(do.ltz(grad), -INF, INF)
    divisor = do.add(x, 1.0)
    quotient = do.multiply(grad, do.reciprocal(divisor))
    result = do.where(do.eq(x, -1.0), infinity, quotient)
    return do.where(do.logical_and(do.eqz(divisor), do.eqz(grad)), NAN, result)


def _sqrt(do: Forward, grad: Tensor, x: Tensor, output: Tensor) -> Tensor:
    do.sqrt(x, output_tensor=output)
    do.multiply(grad, do.reciprocal(do.multiply(output, 2.0)), output_tensor=output)
    do.where(do.lez(x), NAN, output, output_tensor=output)
    do.where(do.logical_and(do.eqz(x), do.ltz(grad)), -INF, output, output_tensor=output)
    return do.where(do.logical_and(do.eqz(x), do.gtz(grad)), INF, output, output_tensor=output)


def _rsqrt(do: Forward, grad: Tensor, x: Tensor, output: Tensor) -> Tensor:
    do.rsqrt(x, output_tensor=output)
    do.power(output, 3.0, output)
    do.multiply(do.multiply(grad, output), -0.5, output_tensor=output)
    do.where(do.ltz(x), NAN, output, output_tensor=output)
    return do.where(do.logical_and(do.eqz(x), do.eqz(grad)), NAN, output, output_tensor=output)


def _reciprocal(do: Forward, grad: Tensor, x: Tensor) -> Tensor:
    zero = do.eqz(x)
    at_zero = do.where(do.eqz(grad), NAN, do.multiply(grad, -INF, input_tensor_a_activations=[U.SIGN]))
    product = do.multiply(grad, x, input_tensor_a_activations=[U.NEG], input_tensor_b_activations=[U.SQUARE, U.RECIP])
    return do.where(zero, at_zero, product)


def _sin(do: Forward, grad: Tensor, x: Tensor) -> Tensor:
    return do.multiply(grad, do.cos(x))


def _cos(do: Forward, grad: Tensor, x: Tensor) -> Tensor:
    return do.multiply(grad, do.neg(do.sin(x)))


def _tan(do: Forward, grad: Tensor, x: Tensor) -> Tensor:
    return do.multiply(grad, do.add(do.square(do.tan(x)), 1.0))


def _limited(do: Forward, product: Tensor) -> Tensor:
    above = do.ge(product, _LARGE)
    return do.where(above, INF, do.where(do.le(product, -_LARGE), -INF, product))


def _sinh(do: Forward, grad: Tensor, x: Tensor) -> Tensor:
    return _limited(do, do.multiply(grad, do.cosh(x)))


def _cosh(do: Forward, grad: Tensor, x: Tensor) -> Tensor:
    return _limited(do, do.multiply(grad, do.sinh(x)))


def _erf(do: Forward, grad: Tensor, x: Tensor) -> Tensor:
    bell = [U.SQUARE, U.NEG, (U.EXP, 0.0)]
    return do.multiply(do.multiply(x, grad, input_tensor_a_activations=bell), _TWO_OVER_ROOT_PI)


def _erfc(do: Forward, grad: Tensor, x: Tensor) -> Tensor:
    bell = do.exp(do.neg(do.square(x)))
    return do.multiply(do.multiply(bell, grad), -_TWO_OVER_ROOT_PI)


def _erfinv(do: Forward, grad: Tensor, x: Tensor) -> Tensor:
    growth = [U.ERFINV, U.SQUARE, (U.EXP, 0.0)]
    result = do.multiply(do.multiply(x, grad, input_tensor_a_activations=growth), _ROOT_PI_OVER_TWO)
    infinity = do.multiply(grad, INF, input_tensor_a_activations=[U.SIGN])
    outside = do.logical_or(
        x, x, input_tensor_a_activations=[(U.UNARY_LT, -1.0)], input_tensor_b_activations=[(U.UNARY_GT, 1.0)]
    )
    result = do.where(outside, NAN, result)
    # The distance is compared as an activation, which leaves 1 or 0, and the 1 is compared again.
    end = do.eq(x, 1.0, input_tensor_a_activations=[U.ABS, (U.UNARY_EQ, 1.0)])
    return do.where(end, infinity, result)


def _i0(do: Forward, grad: Tensor, x: Tensor) -> Tensor:
    return do.multiply(grad, do.i1(x))


def _lgamma(do: Forward, grad: Tensor, x: Tensor) -> Tensor:
    return do.multiply(grad, do.digamma(x))


def _multigammaln(do: Forward, grad: Tensor, x: Tensor) -> Tensor:
    total = do.multiply(grad, do.digamma(x))
    for shift in (-0.5, -1.0, -1.5):
        total = do.add(total, do.multiply(grad, do.digamma(do.add(x, shift))))
    return total


def _digamma(do: Forward, grad: Tensor, x: Tensor) -> Tensor:
    result = do.multiply(grad, do.polygamma(x, 1))
    for selected, value in ((do.eqz, NAN), (do.ltz, -INF), (do.gtz, INF)):
        result = do.where(do.logical_and(do.eqz(x), selected(grad)), value, result)
    return result


TABLE: Final = (
    Gradient("exp_bw", "grad * e^x", g.exp, _exp, takes_output=True, rows=True, ulp=(1.66, 1.51, 0.945)),
    Gradient("exp2_bw", "grad * 2^x * ln(2)", g.exp2, _exp2, rows=True, ulp=(2.64, 2.19, 1.47)),
    Gradient("expm1_bw", "grad * e^x", g.exp, _expm1, rows=True, ulp=(1.66, 1.51, 0.945)),
    Gradient("log_bw", "grad / x", g.log, _log, note="Where x is 0, the gradient is infinity with the sign of grad, "
                                                     "and NaN where grad is 0.", ulp=(1.34, 2.01, 1.34)),
    Gradient("log2_bw", "grad / (x * ln(2))", g.log2, lambda do, grad, x: _log_of_base(do, grad, x, _LN2),
             ulp=(2.28, 1.94, 1.17)),
    Gradient("log10_bw", "grad / (x * ln(10))", g.log10, lambda do, grad, x: _log_of_base(do, grad, x, _LN10),
             ulp=(2.24, 2.19, 1.06)),
    Gradient("log1p_bw", "grad / (x + 1)", g.log1p, _log1p, ulp=(1.81, 2.03, 1.09)),
    Gradient("sqrt_bw", "grad / (2 * sqrt(x))", g.sqrt, _sqrt, takes_output=True, note="The gradient is NaN where x < "
                                                                                     "0.", rows=True,
             ulp=(1.78, 2.15, 1.29)),
    Gradient("rsqrt_bw", "-grad / 2 * x^(-3/2)", g.rsqrt, _rsqrt, takes_output=True, note="The gradient is NaN where "
                                                                                          "x < 0.", rows=True,
             ulp=(4.38, 5.86, 1.56)),
    Gradient("reciprocal_bw", "-grad / x^2", g.reciprocal, _reciprocal, note=_WORDS, ulp=(1.78, 2.08, 1.24)),
    Gradient("sin_bw", "grad * cos(x)", g.sin, _sin, rows=True, ulp=(1.35, 2.22, 1.17)),
    Gradient("cos_bw", "-grad * sin(x)", g.cos, _cos, rows=True, ulp=(1.35, 1.71, 0.99)),
    Gradient("tan_bw", "grad * (1 + tan(x)^2)", g.tan, _tan, rows=True, ulp=(2.8, 4.15, 2.17)),
    Gradient("sinh_bw", "grad * cosh(x)", g.sinh, _sinh, note="Magnitudes above 3.4e38 become infinite.", rows=True,
             ulp=(1.38, 2.17, 0.89)),
    Gradient("cosh_bw", "grad * sinh(x)", g.cosh, _cosh, note="Magnitudes above 3.4e38 become infinite.", rows=True,
             ulp=(1.34, 2.44, 1.03)),
    Gradient("erf_bw", "grad * 2 / sqrt(pi) * e^(-x^2)", g.erf, _erf, rows=True, note=_WORDS, ulp=(8.24, 7.04, 1.33)),
    Gradient("erfc_bw", "-grad * 2 / sqrt(pi) * e^(-x^2)", g.erfc, _erfc, rows=True, ulp=(8.24, 7.04, 2.94)),
    Gradient("erfinv_bw", "grad * sqrt(pi) / 2 * e^(erfinv(x)^2)", g.erfinv, _erfinv,
             note=f"NaN for |x| > 1. {_WORDS}", ulp=(3.7, 13200, 1.53)),
    Gradient("i0_bw", "grad * i1(x)", g.i0, _i0, rows=True, ulp=(1.34, 3.98, 0.871)),
    Gradient("lgamma_bw", "grad * digamma(x)", g.lgamma, _lgamma, rows=True, ulp=(2.37, 2960, 0.743)),
    Gradient("multigammaln_bw", "grad * sum(digamma(x - i / 2) for i = 0, 1, 2, 3)", g.multigammaln, _multigammaln,
             rows=True, ulp=(1.95, 6.76, 1.74), relative_to=g.sum_of_terms),
    Gradient("digamma_bw", "grad * polygamma(x, 1)", g.digamma, _digamma,
             note="Where x is 0, the gradient is infinity with the sign of grad, and NaN where grad is 0.", rows=True,
             ulp=(1.36, 4.33, 0.938)),
)  # fmt: skip

OPERATORS: Final[dict[str, FastOperation]] = register_gradients(*TABLE)
