"""Gradients of complex functions, as PyTorch defines them.

The conjugate of the derivative times grad.

Source: https://docs.tenstorrent.com/tt-metal/latest/ttnn/ttnn/api/ttnn.NAME.html, one page for each operator.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ttnn.base.enums import DataType
from ttnn.base.enums import UnaryOpType as U
from ttnn.golden.eltwise import complex as g
from ttnn.operation.accuracy import Accuracy, bit_exact, max_ulp
from ttnn.operation.registry import FastOperation, overload
from ttnn.operation.signature import FLOAT, TENSOR, Param, Signature
from ttnn.ops._programs.common import MEMORY_CONFIG_OPTION
from ttnn.ops.backward import constants, unary_math
from ttnn.ops.backward.arithmetic import add_bw, div_bw, mul_bw, sub_bw
from ttnn.ops.backward.forward import NAN, Forward
from ttnn.ops.eltwise.complex.arithmetic import conj, divide, multiply, negative, polar, reciprocal, scaled
from ttnn.ops.eltwise.complex.tensor import COMPLEX, ComplexTensor
from ttnn.ops.eltwise.complex.unary import INPUT, PLACE, RAISES, composed, register
from ttnn.tensor.tensor import Tensor

_GRAD: Final = Param("grad_tensor", TENSOR, doc="[..., H, W]. Gradient of the forward operator's output, `grad`.")
_COMPLEX_GRAD: Final = Param(
    "grad_tensor", COMPLEX, doc="[..., H, W]. Gradient of the forward operator's output, `grad`."
)


def _origin(do: Forward, x: ComplexTensor) -> Tensor:
    return do.logical_and(do.eqz(x.real), do.eqz(x.imag))


def _except_at(do: Forward, where: Tensor, value: float, x: ComplexTensor) -> ComplexTensor:
    return ComplexTensor((do.where(where, value, x.real), do.where(where, value, x.imag)))


def _direction(do: Forward, x: ComplexTensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return whether the magnitude is 0, and both parts over the magnitude."""
    magnitude = do.hypot(x.real, x.imag)
    inverse = do.reciprocal(magnitude)
    return do.eqz(magnitude), do.multiply(x.real, inverse), do.multiply(x.imag, inverse)


def _abs(do: Forward, grad: Tensor, x: ComplexTensor) -> ComplexTensor:
    zero, real, imag = _direction(do, x)
    product = ComplexTensor((do.multiply(grad, real), do.multiply(grad, imag)))
    return _except_at(do, zero, 0.0, product)


def _reciprocal(do: Forward, grad: ComplexTensor, x: ComplexTensor) -> ComplexTensor:
    inverse = reciprocal(do, x)
    product = multiply(do, negative(do, grad), conj(do, multiply(do, inverse, inverse)))
    return _except_at(do, _origin(do, x), NAN, product)


def _real(do: Forward, grad: Tensor, x: ComplexTensor) -> ComplexTensor:
    return ComplexTensor((do.passed_on(grad), do.zeros_like(x.real)))


def _imag(do: Forward, grad: Tensor, x: ComplexTensor) -> ComplexTensor:
    return ComplexTensor((do.zeros_like(x.real), do.passed_on(grad)))


def _conj(do: Forward, grad: ComplexTensor, _x: ComplexTensor) -> ComplexTensor:
    return conj(do, grad)


def _angle(do: Forward, grad: Tensor, x: ComplexTensor) -> ComplexTensor:
    inverse = do.reciprocal(do.add(do.square(x.real), do.square(x.imag)))
    real = do.multiply(grad, do.multiply(do.neg(x.imag), inverse))
    imag = do.multiply(grad, do.multiply(x.real, inverse))
    return _except_at(do, _origin(do, x), 0.0, ComplexTensor((real, imag)))


def _polar(do: Forward, grad: ComplexTensor, x: ComplexTensor) -> ComplexTensor:
    result = polar(do, x)
    zero, *parts = _direction(do, result)
    unit = _except_at(do, zero, 0.0, ComplexTensor(parts))
    rotated = multiply(do, result, ComplexTensor((do.zeros_like(x.real), do.ones_like(x.imag))))
    magnitude = multiply(do, conj(do, grad), unit).real
    return ComplexTensor((magnitude, multiply(do, conj(do, grad), rotated).real))


_LABELS: Final = ("grad_tensor", "input_tensor")
_PAIR_LABELS: Final = ("grad_tensor", "input_tensor_a", "input_tensor_b")
_RETURNS: Final = "list[ComplexTensor]"


def _of_one(name: str, steps: Callable[..., ComplexTensor]) -> Callable[..., list[ComplexTensor]]:
    return composed(name, lambda *operands: [steps(*operands)], _RETURNS, _LABELS)


def _register(
    name: str,
    grad: Param,
    formula: str,
    golden: Callable[..., Any],
    steps: Callable[..., ComplexTensor],
    accuracy: Accuracy,
) -> FastOperation:
    return register(
        name,
        (Signature((grad, INPUT), (PLACE,)),),
        _of_one(name, steps),
        f"Return the list of gradients `[{formula}]`.",
        golden=golden,
        accuracy=accuracy,
        raises=(
            *RAISES,
            ("ShapeError", "the operands differ in shape."),
            ("LayoutError", "the operands differ in layout."),
            ("DTypeError", "the data types are not supported."),
        ),
    )


real_bw = _register("real_bw", _GRAD, "grad + 0 * i", g.real_bw, _real, bit_exact())
imag_bw = _register("imag_bw", _GRAD, "0 + i * grad", g.imag_bw, _imag, bit_exact())
conj_bw = _register("conj_bw", _COMPLEX_GRAD, "conj(grad)", g.conj_bw, _conj, bit_exact())
angle_bw = _register(
    "angle_bw",
    _GRAD,
    "grad * (-imag + i * real) / |x|^2 where x != 0 else 0",
    g.angle_bw,
    _angle,
    max_ulp((DataType.BFLOAT16, 5.1), (DataType.FLOAT32, 5.4)),
)
polar_bw = _register(
    "polar_bw",
    _COMPLEX_GRAD,
    "Re(conj(grad) * polar(x) / |polar(x)|) + i * Re(conj(grad) * i * polar(x))",
    g.polar_bw,
    _polar,
    max_ulp((DataType.BFLOAT16, 3.3), (DataType.FLOAT32, 3.7), magnitude=g.size_of_terms, largest=2.0**20),
)


def _add(do: Forward, grad: ComplexTensor, _a: Any, _b: Any, alpha: float) -> list[ComplexTensor]:
    return [_passed_on(do, grad), scaled(do, grad, alpha)]


def _sub(do: Forward, grad: ComplexTensor, _a: Any, _b: Any, alpha: float) -> list[ComplexTensor]:
    parts = [do.chain(part, U.NEG, (U.MUL_UNARY_SFPU, alpha)) for part in (grad.real, grad.imag)]
    return [_passed_on(do, grad), ComplexTensor(parts)]


def _mul(do: Forward, grad: ComplexTensor, a: ComplexTensor, b: ComplexTensor) -> list[ComplexTensor]:
    return [multiply(do, grad, conj(do, other)) for other in (b, a)]


def _div(do: Forward, grad: ComplexTensor, a: ComplexTensor, b: ComplexTensor) -> list[ComplexTensor]:
    undefined = _origin(do, b)
    grad_a = divide(do, grad, conj(do, b))
    quotient = divide(do, divide(do, a, b), b)
    grad_b = multiply(do, negative(do, grad), conj(do, quotient))
    return [_except_at(do, undefined, NAN, item) for item in (grad_a, grad_b)]


def _passed_on(do: Forward, x: ComplexTensor) -> ComplexTensor:
    return x if do.place is None else ComplexTensor((do.passed_on(x.real), do.passed_on(x.imag)))


def _overload_pairs() -> None:
    a = Param("input_tensor_a", COMPLEX, doc="[..., H, W]. First operand, `a`.")
    b = Param("input_tensor_b", COMPLEX, doc="[..., H, W]. Second operand, `b`.")
    alpha = Param("alpha", FLOAT, doc="Multiplier of `b`.")
    for operation, steps, golden, more in (
        (add_bw, _add, g.add_bw, (alpha,)),
        (sub_bw, _sub, g.sub_bw, (alpha,)),
        (mul_bw, _mul, g.mul_bw, ()),
        (div_bw, _div, g.div_bw, ()),
    ):
        run = composed(operation.__name__.removeprefix("ttnn."), steps, _RETURNS, _PAIR_LABELS)
        overload(operation, Signature((_COMPLEX_GRAD, a, b, *more), (MEMORY_CONFIG_OPTION,), run=run), golden)


_overload_pairs()
overload(constants.OPERATORS["abs_bw"], Signature((_GRAD, INPUT), (PLACE,), run=_of_one("abs_bw", _abs)), g.abs_bw)
overload(
    unary_math.OPERATORS["reciprocal_bw"],
    Signature((_COMPLEX_GRAD, INPUT), (PLACE,), run=_of_one("reciprocal_bw", _reciprocal)),
    g.reciprocal_bw,
)
