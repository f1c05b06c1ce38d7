"""Gradients of activation functions."""

from __future__ import annotations

from typing import Final

from ttnn.base.enums import DataType
from ttnn.base.enums import UnaryOpType as U
from ttnn.golden import backward as g
from ttnn.operation.registry import FastOperation
from ttnn.operation.signature import FLOAT, Param
from ttnn.operation.steps import single
from ttnn.ops.backward.family import Gradient, register_gradients
from ttnn.ops.backward.forward import INF, Forward
from ttnn.tensor.tensor import Tensor


def _relu(do: Forward, grad: Tensor, x: Tensor) -> Tensor:
    return do.multiply(do.gtz(x), grad)


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
    slope = do.add(do.multiply(do.rsub(sigmoid, 1.0), x), 1.0)
    return do.multiply(do.multiply(grad, sigmoid), slope, output_tensor=output)


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
    power = do.exp(scaled)
    linear = do.gtz(do.add(scaled, -threshold))
    sloped = do.multiply(do.multiply(grad, power), do.reciprocal(do.add(power, 1.0)))
    return do.where(linear, grad, sloped)


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
    "Of integers the result has their type, as in the official composition: where the formula's second part is chosen, "
    "it holds the words of that float32 value, which `ttnn.where` moves as they are. No vector settles these bits."
)
_SIGNED: Final = (DataType.BFLOAT16, DataType.BFLOAT8_B, DataType.FLOAT32, DataType.INT32)
_LAMBDA: Final = Param("lambd", FLOAT, 0.5, doc="Half the width of the flat part.")
_ALPHA: Final = Param("alpha", FLOAT, 1.0, doc="Limit of the negative part, as in the function.")

TABLE: Final = (
    Gradient("relu_bw", "grad where x > 0, 0 elsewhere", g.relu, _relu, dtypes=_SIGNED, rows=True),
    Gradient("relu6_bw", "grad where 0 < x < 6, 0 elsewhere", g.relu6, _relu6, dtypes=_SIGNED, rows=True),
    Gradient("leaky_relu_bw", "grad where x > 0, negative_slope * grad elsewhere", g.leaky_relu, _leaky_relu,
             keywords=(Param("negative_slope", FLOAT, 0.009999999776482582, doc="Slope of the negative part."),),
             note=_WORDS),
    Gradient("elu_bw", "grad where x > 0, grad * alpha e^x elsewhere", g.elu, _elu, keywords=(_ALPHA,)),
    Gradient("celu_bw", "grad where x > 0, grad * e^(x / alpha) elsewhere", g.celu, _celu, keywords=(_ALPHA,),
             note=_WORDS),
    Gradient("selu_bw", "scale * grad where x > 0, scale * alpha * grad * e^x elsewhere", g.selu, _selu,
             note="With the official constants 1.0507 and 1.67326."),
    Gradient("silu_bw", "grad * s (1 + x (1 - s)), s = sigmoid(x)", g.silu, _silu, takes_output=True, rows=True),
    Gradient("hardsigmoid_bw", "grad / 6 where -3 < x < 3, 0 elsewhere", g.hardsigmoid, _hardsigmoid, rows=True),
    Gradient("hardswish_bw", "0 below -3, grad * (x / 3 + 1/2) up to 3, grad above", g.hardswish, _hardswish,
             note="The slope is the official constant 0.3333; -3 and 3 count as between, unlike in PyTorch."),
    Gradient("hardtanh_bw", "grad where min < x < max, 0 elsewhere", g.hardtanh, _hardtanh,
             keywords=(Param("min", FLOAT, -1.0, doc="Lower limit."), Param("max", FLOAT, 1.0, doc="Upper limit.")),
             dtypes=_SIGNED, rows=True),
    Gradient("hardshrink_bw", "grad where |x| > lambd, 0 elsewhere", g.shrink, _hardshrink, keywords=(_LAMBDA,),
             rows=True),
    Gradient("softshrink_bw", "grad where |x| > lambd, 0 elsewhere", g.shrink, _softshrink, keywords=(_LAMBDA,),
             rows=True),
    Gradient("softplus_bw", "grad / (1 + e^(-beta x)), grad where beta x > threshold", g.softplus, _softplus,
             keywords=(Param("beta", FLOAT, 1.0, doc="Steepness."),
                       Param("threshold", FLOAT, 20.0, doc="Where the function counts as linear.")),
             note=_WORDS),
    Gradient("softsign_bw", "grad / (1 + |x|)^2", g.softsign, _softsign, rows=True),
    Gradient("tanhshrink_bw", "grad * tanh(x)^2", g.tanhshrink, _tanhshrink, rows=True),
    Gradient("log_sigmoid_bw", "grad / (1 + e^x)", g.log_sigmoid, _log_sigmoid, rows=True),
    Gradient("threshold_bw", "grad where x > min, 0 elsewhere", g.threshold, _threshold,
             positional=(Param("min", FLOAT, doc="The threshold."),
                         Param("max", FLOAT, doc="The value below it; a constant, so it changes no gradient.")),
             rows=True),
)  # fmt: skip

OPERATORS: Final[dict[str, FastOperation]] = register_gradients(*TABLE)
