"""Gradients of the inverse trigonometric and hyperbolic functions, and of the logit.

Source: https://docs.tenstorrent.com/tt-metal/latest/ttnn/ttnn/api/ttnn.NAME.html, one page for each operator.

Ends of the domain return infinities with the sign of `grad`, values outside return NaN. `acosh_bw` writes the finite
numbers that the chip names for them, `device.sfpu_inf()` and `device.sfpu_nan()`.
"""

from __future__ import annotations

from typing import Final

from ttnn.base.enums import UnaryOpType as U
from ttnn.golden import backward as g
from ttnn.operation.registry import FastOperation
from ttnn.operation.signature import FLOAT, Param
from ttnn.operation.steps import single
from ttnn.ops._programs.common import on_device
from ttnn.ops.backward.family import Gradient, register_gradients
from ttnn.ops.backward.forward import INF, NAN, Forward
from ttnn.tensor.tensor import Tensor


def _asin(do: Forward, grad: Tensor, x: Tensor) -> Tensor:
    product = do.multiply(grad, do.chain(x, U.SQUARE, U.NEG, (U.ADD_UNARY_SFPU, 1.0), U.RSQRT))
    above, below = do.add(x, -1.0), do.add(x, 1.0)
    outside = do.ltz(below), do.gtz(above)
    ends = [(do.eqz(end), do.signed_infinity(grad)) for end in (below, above)]
    result = product
    for end, infinity in reversed(ends):
        result = do.where(end, infinity, result)
    for beyond in reversed(outside):
        result = do.where(beyond, NAN, result)
    return result


def _acos(do: Forward, grad: Tensor, x: Tensor) -> Tensor:
    root = do.rsqrt(do.add(do.multiply(do.neg(x), x), 1.0))
    product = do.multiply(grad, do.neg(root))
    infinity = do.signed_infinity(grad, -1.0)
    result = do.where(do.logical_or(do.lt(x, -1.0), do.gt(x, 1.0)), NAN, product)
    ends = [do.eq(x, end) for end in (-1.0, 1.0)]
    for end in reversed(ends):
        result = do.where(end, infinity, result)
    return result


def _atan(do: Forward, grad: Tensor, x: Tensor) -> Tensor:
    return do.multiply(grad, do.chain(x, U.SQUARE, (U.ADD_UNARY_SFPU, 1.0), U.RECIP))


def _asinh(do: Forward, grad: Tensor, x: Tensor) -> Tensor:
    return do.multiply(grad, do.chain(x, U.SQUARE, (U.ADD_UNARY_SFPU, 1.0), U.RSQRT))


def _acosh(do: Forward, grad: Tensor, x: Tensor) -> Tensor:
    squared = do.square(x)
    product = do.multiply(grad, do.rsqrt(do.subtract(squared, 1.0)))
    # -1 where grad has a sign bit, 1 elsewhere.
    negative = do.multiply(do.signbit(grad), -1.0)
    device = on_device("ttnn.acosh_bw", x)
    undefined = do.logical_or(do.lt(squared, 1.0), do.logical_and(do.eq(x, 1.0), do.eqz(grad)))
    edge = do.logical_and(do.le(x, 1.0), do.ge(x, -1.0))
    infinity = do.multiply(do.add(negative, do.eqz(negative)), device.sfpu_inf())
    return do.where(undefined, device.sfpu_nan(), do.where(edge, infinity, product))


def _atanh(do: Forward, grad: Tensor, x: Tensor) -> Tensor:
    result = do.multiply(grad, do.chain(x, U.SQUARE, (U.SUB_UNARY_SFPU, 1.0), U.NEG, U.RECIP))
    singular = do.logical_or(do.eq(x, 1.0), do.eq(x, -1.0))
    result = do.where(do.logical_and(singular, do.eqz(grad)), NAN, result)
    result = do.where(do.logical_and(singular, do.nez(grad)), INF, result)
    return do.where(do.logical_and(do.eq(result, INF), do.ltz(grad)), -INF, result)


def _logit_product(do: Forward, grad: Tensor, x: Tensor) -> Tensor:
    return do.multiply(grad, do.reciprocal(do.multiply(x, do.rsub(x, 1.0))))


def _logit(do: Forward, grad: Tensor, x: Tensor) -> Tensor:
    product = _logit_product(do, grad, x)
    inside = do.logical_and(do.ge(x, 0.0), do.le(x, 1.0))
    result = do.where(inside, product, NAN)
    edge = do.logical_or(do.eq(x, 0.0), do.eq(x, 1.0))
    return do.where(edge, do.signed_infinity(grad), result)


def _logiteps(do: Forward, grad: Tensor, x: Tensor, eps: float) -> Tensor:
    low = single(eps)
    product = _logit_product(do, grad, x)
    limit = do.full_like(x, low)
    outside = do.logical_or(do.lt(x, low), do.gt(x, single(1.0 - low)))
    outside = do.eq(outside, 1.0)
    constant = do.where(do.ltz(limit), NAN, 0.0)
    edge = do.logical_or(do.eq(x, 0.0), do.eq(x, 1.0))
    inside = do.where(edge, do.signed_infinity(grad), product)
    return do.where(outside, constant, inside)


TABLE: Final = (
    Gradient("asin_bw", "grad / sqrt(1 - x^2)", g.asin, _asin, ulp=(2.03, 1.76, 0.861)),
    Gradient("acos_bw", "-grad / sqrt(1 - x^2)", g.acos, _acos, ulp=(1.64, 1.76, 1.12)),
    Gradient("atan_bw", "grad / (1 + x^2)", g.atan, _atan, rows=True, ulp=(2.64, 1.95, 1.29)),
    Gradient("asinh_bw", "grad / sqrt(x^2 + 1)", g.asinh, _asinh, rows=True, ulp=(1.66, 1.75, 1.41)),
    Gradient("acosh_bw", "grad / sqrt(x^2 - 1)", g.acosh, _acosh, ulp=(1.86, 2.14, 3.82)),
    Gradient("atanh_bw", "grad / (1 - x^2)", g.atanh, _atanh, rows=True, ulp=(2.2, 2.31, 1.18)),
    Gradient("logit_bw", "grad / (x * (1 - x))", g.logit, _logit, note="The gradient is NaN outside of [0, 1].",
             ulp=(2.32, 2.32, 1.6)),
    Gradient("logiteps_bw", "grad / (x * (1 - x)) where eps <= x <= 1 - eps else 0", g.logiteps, _logiteps,
             keywords=(Param("eps", FLOAT, 0.0, doc="x is clamped to [eps, 1 - eps]."),), ulp=(2.32, 2.32, 2.29)),
)  # fmt: skip

OPERATORS: Final[dict[str, FastOperation]] = register_gradients(*TABLE)
