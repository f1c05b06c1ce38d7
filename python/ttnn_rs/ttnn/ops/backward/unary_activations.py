"""Gradients of activation functions."""

from __future__ import annotations

from typing import Final

from ttnn.base.enums import DataType
from ttnn.base.enums import UnaryOpType as U
from ttnn.golden import backward as g
from ttnn.operation.registry import FastOperation
from ttnn.operation.signature import FLOAT, Param
from ttnn.operation.steps import single
from ttnn.ops.backward.family import PASSED_ON, Gradient, register_gradients
from ttnn.ops.backward.forward import INF, Forward
from ttnn.tensor.tensor import Tensor


def _relu(do: Forward, grad: Tensor, x: Tensor) -> Tensor:
    return do.where(do.gtz(x), grad, 0.0)


def _relu6(do: Forward, grad: Tensor, x: Tensor) -> Tensor:
    return do.where(do.logical_and(do.gtz(x), do.lt(x, 6.0)), grad, 0.0)


def _leaky_relu(do: Forward, grad: Tensor, x: Tensor, negative_slope: float) -> Tensor:
    return do.where(do.gtz(x), grad, do.multiply(grad, negative_slope))


def _elu(do: Forward, grad: Tensor, x: Tensor, alpha: float) -> Tensor:
    return do.where(do.gtz(x), grad, do.multiply(grad, do.multiply(do.exp(x), alpha)))


def _celu(do: Forward, grad: Tensor, x: Tensor, alpha: float) -> Tensor:
    inverse = 1.0 / alpha if alpha else INF
    power = do.exp(do.multiply(x, inverse))
    return do.where(do.gt(x, 0.0), grad, do.multiply(grad, power))


def _selu(do: Forward, grad: Tensor, x: Tensor) -> Tensor:
    scaled = do.multiply(grad, 1.0507)
    return do.where(do.gtz(x), scaled, do.multiply(do.multiply(scaled, 1.67326), do.exp(x)))


def _silu(do: Forward, grad: Tensor, x: Tensor, output: Tensor) -> Tensor:
    sigmoid = do.sigmoid(x)
    share = do.multiply(grad, sigmoid)
    slope = do.add(do.multiply(do.rsub(sigmoid, 1.0), x), 1.0)
    return do.multiply(share, slope, output_tensor=output)


def _hardsigmoid(do: Forward, grad: Tensor, x: Tensor) -> Tensor:
    flat = do.logical_or(do.le(x, -3.0), do.ge(x, 3.0))
    return do.where(flat, 0.0, do.multiply(grad, single(1.0 / 6.0)))


def _hardswish(do: Forward, grad: Tensor, x: Tensor) -> Tensor:
    # The official constant of the slope is 0.3333, not a third.
    below, inside = do.lt(x, -3.0), do.le(x, 3.0)
    sloped = do.multiply(grad, do.add(do.multiply(x, 0.3333), 0.5))
    return do.where(below, 0.0, do.where(inside, sloped, grad))


def _hardtanh(do: Forward, grad: Tensor, x: Tensor, low: float, high: float) -> Tensor:
    return do.where(do.le(x, low), 0.0, do.where(do.ge(x, high), 0.0, grad))


def _hardshrink(do: Forward, grad: Tensor, x: Tensor, lambd: float) -> Tensor:
    return do.where(do.eqz(do.hardshrink(x, lambd=lambd)), 0.0, grad)


def _softshrink(do: Forward, grad: Tensor, x: Tensor, lambd: float) -> Tensor:
    return do.where(do.logical_or(do.lt(x, -lambd), do.gt(x, lambd)), grad, 0.0)


def _softplus(do: Forward, grad: Tensor, x: Tensor, beta: float, threshold: float) -> Tensor:
    scaled = do.multiply(x, beta)
    sloped = do.multiply(grad, do.sigmoid(scaled))
    return do.where(do.gt(scaled, threshold), grad, sloped)


def _softsign(do: Forward, grad: Tensor, x: Tensor) -> Tensor:
    return do.multiply(grad, do.chain(x, U.ABS, (U.ADD_UNARY_SFPU, 1.0), U.SQUARE, U.RECIP))


def _tanhshrink(do: Forward, grad: Tensor, x: Tensor) -> Tensor:
    return do.multiply(grad, do.square(do.tanh(x)))


def _log_sigmoid(do: Forward, grad: Tensor, x: Tensor) -> Tensor:
    negative = do.where(do.ltz(x), 1.0, 0.0)
    sign = do.where(do.ltz(x), 1.0, -1.0)
    power = do.exp(do.neg(do.abs(x)))
    share = do.multiply(power, do.reciprocal(do.add(power, 1.0)))
    return do.multiply(grad, do.subtract(negative, do.multiply(sign, share)))


def _threshold(do: Forward, grad: Tensor, x: Tensor, threshold: float, _value: float) -> Tensor:
    return do.where(do.gtz(do.add(x, -threshold)), grad, 0.0)


_WORDS: Final = (
    "Integer inputs: the result has the input's data type. Where the second case applies it holds the bit pattern of "
    "a float32 value, which `ttnn.where` copies unconverted. No vector covers these bits."
)
_SIGNED: Final = (DataType.BFLOAT16, DataType.BFLOAT8_B, DataType.FLOAT32, DataType.INT32)
_LAMBDA: Final = Param("lambd", FLOAT, 0.5, doc="Half-width of the interval around 0 in which the gradient is 0.")
_ALPHA: Final = Param("alpha", FLOAT, 1.0, doc="Scale of the negative part.")

TABLE: Final = (
    Gradient("relu_bw", "grad where x > 0 else 0", g.relu, _relu, dtypes=_SIGNED, rows=True, ulp=PASSED_ON),
    Gradient("relu6_bw", "grad where 0 < x < 6 else 0", g.relu6, _relu6, dtypes=_SIGNED, rows=True, ulp=PASSED_ON),
    Gradient("leaky_relu_bw", "grad where x > 0 else negative_slope * grad", g.leaky_relu, _leaky_relu,
             keywords=(Param("negative_slope", FLOAT, 0.009999999776482582, doc="Slope for negative inputs."),),
             note=_WORDS, ulp=(1.76, 0.5, 0.281)),
    Gradient("elu_bw", "grad where x > 0 else grad * alpha * e^x", g.elu, _elu, keywords=(_ALPHA,),
             ulp=(1.55, 1.38, 11.6)),
    Gradient("celu_bw", "grad where x > 0 else grad * e^(x / alpha)", g.celu, _celu, keywords=(_ALPHA,),
             note=_WORDS, ulp=(1.59, 1.38, 37.1)),
    Gradient("selu_bw", "scale * grad where x > 0 else scale * alpha * grad * e^x", g.selu, _selu,
             note="scale is 1.0507 and alpha is 1.67326.", ulp=(3.3, 51.6, 9.95)),
    Gradient("silu_bw", "grad * sigmoid(x) * (1 + x * (1 - sigmoid(x)))", g.silu, _silu, takes_output=True, rows=True,
             ulp=(2.27, 3.48, 1.4), relative_to=g.size_of_grad),
    Gradient("hardsigmoid_bw", "grad / 6 where -3 < x < 3 else 0", g.hardsigmoid, _hardsigmoid, rows=True,
             ulp=(1.34, 0.667, 0.534)),
    Gradient("hardswish_bw", "grad * (x / 3 + 1 / 2) where -3 <= x <= 3, grad where x > 3, else 0", g.hardswish,
             _hardswish,
             note="The slope is the constant 0.3333. Unlike in PyTorch, -3 and 3 belong to the middle interval.",
             ulp=(2.01, 1480, 0.974), relative_to=g.size_of_grad),
    Gradient("hardtanh_bw", "grad where min < x < max else 0", g.hardtanh, _hardtanh,
             keywords=(Param("min", FLOAT, -1.0, doc="Lower bound."), Param("max", FLOAT, 1.0, doc="Upper bound.")),
             dtypes=_SIGNED, rows=True, ulp=PASSED_ON),
    Gradient("hardshrink_bw", "grad where |x| > lambd else 0", g.shrink, _hardshrink, keywords=(_LAMBDA,),
             rows=True, ulp=PASSED_ON),
    Gradient("softshrink_bw", "grad where |x| > lambd else 0", g.shrink, _softshrink, keywords=(_LAMBDA,),
             rows=True, ulp=PASSED_ON),
    Gradient("softplus_bw", "grad where beta * x > threshold else grad / (1 + e^(-beta * x))", g.softplus, _softplus,
             keywords=(Param("beta", FLOAT, 1.0, doc="Steepness."),
                       Param("threshold", FLOAT, 20.0, doc="The function is linear where `beta * x` exceeds this "
                                                           "value.")),
             note=_WORDS, ulp=(1.61, 2.47, 0.977)),
    Gradient("softsign_bw", "grad / (1 + |x|)^2", g.softsign, _softsign, rows=True, ulp=(4.63, 3.73, 1.36)),
    Gradient("tanhshrink_bw", "grad * tanh(x)^2", g.tanhshrink, _tanhshrink, rows=True, ulp=(3.26, 6, 1.98)),
    Gradient("log_sigmoid_bw", "grad / (1 + e^x)", g.log_sigmoid, _log_sigmoid, rows=True, ulp=(2.77, 2.68, 1.05)),
    Gradient("threshold_bw", "grad where x > min else 0", g.threshold, _threshold,
             positional=(Param("min", FLOAT, doc="Threshold."),
                         Param("max", FLOAT, doc="Value at and below the threshold. It does not change the gradient.")),
             rows=True, ulp=PASSED_ON),
)  # fmt: skip

OPERATORS: Final[dict[str, FastOperation]] = register_gradients(*TABLE)
