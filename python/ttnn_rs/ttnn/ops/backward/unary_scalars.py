"""Gradients of functions of a tensor and numbers.

They are limits, powers, quotients and derivatives of digamma.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ttnn.base.exceptions import ParameterError
from ttnn.base.memory_config import MemoryConfig
from ttnn.golden import backward as g
from ttnn.operation.registry import FastOperation
from ttnn.operation.signature import FLOAT, INTEGER, TENSOR, Param, Signature
from ttnn.operation.steps import single
from ttnn.ops._programs.common import MEMORY_CONFIG_OPTION, on_device, same_device
from ttnn.ops.backward.family import GRAD, INPUT, PASSED_ON, STRING, Gradient, check_operands, entry, register_gradients
from ttnn.ops.backward.forward import INF, NAN, Forward, named
from ttnn.tensor.tensor import Tensor

_NEXT_TO_NOTHING: Final = 10.0 * float(np.finfo(np.float32).eps)
"""Exponents below this count as 0."""
ROUNDING_MODE: Final = Param("rounding_mode", STRING, None, doc='"trunc", "floor", or None for no rounding.')


def inverse(value: float) -> float:
    """Return 1 / value as the host computes it in FP32."""
    value = single(value)
    return single(1.0 / value) if value else INF


def check_rounding(operator: str, mode: str | None) -> None:
    """Refuse unknown rounding modes.

    Raises:
        ParameterError: the mode is none of None, "trunc" and "floor".
    """
    if mode not in (None, "trunc", "floor"):
        raise ParameterError(
            f"{operator}: rounding_mode is {mode!r}; expected None, 'trunc' or 'floor'.",
            vendor="Incorrect rounding mode (expected None, 'trunc', or 'floor')",
        )


def _clamp(operator: str) -> Callable[..., list[Tensor]]:
    """Return the gradient of a clamp between two numbers or two tensors."""

    def run(
        grad: Tensor, x: Tensor, low: float | Tensor | None, high: float | Tensor | None, place: MemoryConfig | None
    ) -> list[Tensor]:
        with named(operator):
            check_operands(operator, grad_tensor=grad, input_tensor=x)
            if low is None and high is None:
                raise ParameterError(
                    f"{operator}: min and max are both None; pass at least one of them.",
                    vendor="Only one of 'min' or 'max' can be None. Please provide one value",
                )
            for label, limit in (("min", low), ("max", high)):
                if isinstance(limit, Tensor):
                    same_device(operator, on_device(operator, x), limit, label)
            do = Forward(place)
            if high is None:
                return [do.multiply(grad, do.ge(x, low))]
            if low is None:
                return [do.multiply(grad, do.le(x, high))]
            return [do.multiply(grad, do.logical_and(do.ge(x, low), do.le(x, high)))]

    return run


def _pow(do: Forward, grad: Tensor, x: Tensor, exponent: float, output: Tensor) -> Tensor:
    if exponent < 0.0:
        raise ParameterError(
            f"ttnn.pow_bw: exponent is {exponent}; expected exponent >= 0.0.",
            vendor="negative exponents are not supported; use recip(pow(input,abs(exponent)))",
        )
    exponent = single(exponent)
    if exponent < _NEXT_TO_NOTHING:
        return do.zeros_like(x, output)
    power = do.pow(x, abs(single(exponent - 1.0)))
    if exponent < 1.0:
        power = do.reciprocal(power)
    product = do.multiply(do.multiply(power, exponent), grad)
    return do.where(do.lez(x), INF, product, output_tensor=output)


def _rpow(do: Forward, grad: Tensor, x: Tensor, exponent: float) -> Tensor:
    zeros = do.zeros_like(x)
    if exponent == 0.0:
        return zeros
    product = do.multiply(grad, do.multiply(do.pow(x, single(exponent - 1.0)), exponent))
    return do.where(do.ltz(x), NAN, product)


def _rdiv(do: Forward, grad: Tensor, x: Tensor, scalar: float, rounding_mode: str | None) -> Tensor:
    check_rounding("ttnn.rdiv_bw", rounding_mode)
    if rounding_mode is not None:
        return do.zeros_like(grad)
    inverse_x = do.reciprocal(x)
    nonzero = do.nez(x)
    # Divided twice: the square of x would overflow or underflow.
    quotient = do.multiply(do.multiply(do.neg(grad), do.multiply(inverse_x, scalar)), inverse_x)
    result = do.where(nonzero, quotient, NAN)
    if scalar == 0.0:
        return result
    infinity = INF if scalar > 0.0 else -INF
    result = do.where(do.logical_and(do.eqz(x), do.ltz(grad)), infinity, result)
    return do.where(do.logical_and(do.eqz(x), do.gtz(grad)), -infinity, result)


def _div_no_nan(do: Forward, grad: Tensor, x: Tensor, scalar: float) -> Tensor:
    divisor = do.full_like(x, scalar)
    return do.where(do.eq(divisor, 0), 0.0, do.multiply(grad, inverse(scalar)))


def _polygamma(do: Forward, grad: Tensor, x: Tensor, n: int) -> Tensor:
    if n < 0 or n >= sys.maxsize:
        raise ParameterError(f"ttnn.polygamma_bw: n is {n}; expected an order from 0 on.")
    infinity = -INF if n in (2, 4, 6, 8, 10) else INF
    result = do.multiply(grad, do.polygamma(x, n + 1))
    result = do.where(do.logical_and(do.le(x, 0.0), do.eqz(grad)), NAN, result)
    result = do.where(do.logical_and(do.eqz(x), do.gtz(grad)), -infinity, result)
    return do.where(do.logical_and(do.eqz(x), do.ltz(grad)), infinity, result)


_SCALAR: Final = Param("scalar", FLOAT, doc="Scalar operand.")

TABLE: Final = (
    Gradient("pow_bw", "grad * exponent * x^(exponent - 1)", g.power, _pow, takes_output=True,
             positional=(Param("exponent", FLOAT, doc="Exponent, not negative."),), rows=True,
             note="The gradient is infinite where x <= 0.", ulp=(2.01, 2.27, 1.11)),
    Gradient("rpow_bw", "grad * exponent * x^(exponent - 1)", g.power, _rpow,
             positional=(Param("exponent", FLOAT, doc="Exponent."),),
             note="The gradient is NaN where x < 0. This is the gradient of x^exponent, as in TT-NN, not of "
                  "exponent^x.",
             rows=True, ulp=(1.56, 1.64, 1.05)),
    Gradient("rdiv_bw", "-grad * scalar / x^2", g.rdiv, _rdiv, positional=(_SCALAR,), keywords=(ROUNDING_MODE,),
             note="With a `rounding_mode` the gradient is 0.", rows=True, ulp=(2.64, 2.88, 2.77)),
    Gradient("div_no_nan_bw", "grad / scalar if scalar != 0 else 0", g.div_no_nan, _div_no_nan,
             positional=(_SCALAR,), rows=True, ulp=(2.5, 2)),
    Gradient("polygamma_bw", "grad * polygamma(x, n + 1)", g.polygamma, _polygamma,
             positional=(Param("n", INTEGER, doc="Order of the polygamma function."),), rows=True,
             ulp=(1.39, 7.49, 0.98)),
)  # fmt: skip


def _limits(kind: Any) -> tuple[Param, ...]:
    return (
        Param("min", kind, None, doc="Lower bound."),
        Param("max", kind, None, doc="Upper bound."),
    )


def _register_clamp(name: str) -> FastOperation:
    signatures = tuple(Signature((GRAD, INPUT, *_limits(kind)), (MEMORY_CONFIG_OPTION,)) for kind in (FLOAT, TENSOR))
    formula = "grad where min <= x <= max else 0"
    return entry(name, signatures, _clamp(f"ttnn.{name}"), formula, g.clamp, rows=True, ulp=PASSED_ON)


OPERATORS: Final[dict[str, FastOperation]] = register_gradients(*TABLE) | {
    name: _register_clamp(name) for name in ("clamp_bw", "clip_bw")
}
