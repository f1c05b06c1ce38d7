"""Functions of CHLO; composites named after them have the same rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

from ttnn.compiler.importers.builder import element_of, shape_of, tensor
from ttnn.compiler.importers.builder.orders import order_of, taken
from ttnn.compiler.importers.builder.types import scalar
from ttnn.compiler.importers.stablehlo import complex_numbers
from ttnn.compiler.importers.stablehlo.elementwise import named
from ttnn.compiler.importers.stablehlo.scope import Scope, need_float, refuse, trailing
from ttnn.compiler.importers.stablehlo.view import View
from ttnn.compiler.ir.xdsl_adapter import SSAValue

__all__ = ["ROWS", "polynomial"]

_LARGE: Final = 2.0**31


def polynomial(scope: Scope, x: SSAValue, coefficients: Sequence[float]) -> SSAValue:
    """Return a polynomial, the highest coefficient first."""
    b = scope.b
    total = scope.splat(coefficients[0], x)
    for one in coefficients[1:]:
        total = b.add(b.multiply(total, x), scope.splat(one, x))
    return total


def _times(scope: Scope, x: SSAValue, factor: float) -> SSAValue:
    made: SSAValue = scope.b.multiply(x, scope.splat(factor, x))
    return made


def _acosh(scope: Scope, x: SSAValue) -> SSAValue:
    b = scope.b
    one = scope.splat(1, x)
    root = b.sqrt(b.multiply(b.subtract(x, one), b.add(x, one)))
    large = b.add(b.log(x), scope.splat(math.log(2), x))
    made: SSAValue = b.where(b.gt(x, scope.splat(_LARGE, x)), large, b.log(b.add(x, root)))
    return made


def _atanh(scope: Scope, x: SSAValue) -> SSAValue:
    b = scope.b
    return _times(scope, b.subtract(b.log1p(x), b.log1p(b.neg(x))), 0.5)


def _sinh(scope: Scope, x: SSAValue) -> SSAValue:
    b = scope.b
    return _times(scope, b.subtract(b.expm1(x), b.expm1(b.neg(x))), 0.5)


def _cosh(scope: Scope, x: SSAValue) -> SSAValue:
    b = scope.b
    return _times(scope, b.add(b.exp(x), b.exp(b.neg(x))), 0.5)


# M. Giles, "Approximating the erfinv function": two polynomials in w = -log(1 - x * x).
_NEAR: Final = (
    2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087, -0.00125372503, -0.00417768164,
    0.246640727, 1.50140941,
)  # fmt: skip
_FAR: Final = (
    -0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773, -0.0076224613, 0.00943887047,
    1.00167406, 2.83297682,
)  # fmt: skip


def _erf_inv(scope: Scope, x: SSAValue) -> SSAValue:
    b = scope.b
    w = b.neg(b.log1p(b.neg(b.multiply(x, x))))
    near = polynomial(scope, b.subtract(w, scope.splat(2.5, w)), _NEAR)
    far = polynomial(scope, b.subtract(b.sqrt(w), scope.splat(3, w)), _FAR)
    inner = b.multiply(b.where(b.lt(w, scope.splat(5, w)), near, far), x)
    ends = b.eq(b.abs(x), scope.splat(1, x))
    made: SSAValue = b.where(ends, _times(scope, x, math.inf), inner)
    return made


# Lanczos' approximation with g = 7.
_LANCZOS: Final = (
    0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
    12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
)  # fmt: skip


def _reflected(scope: Scope, x: SSAValue) -> tuple[SSAValue, SSAValue]:
    """Return whether x is below a half, and an operand.

    The operand is x or 1 - x, less one.
    """
    b = scope.b
    low = b.lt(x, scope.splat(0.5, x))
    made = b.where(low, b.neg(x), b.subtract(x, scope.splat(1, x)))
    return low, made


def _series(scope: Scope, z: SSAValue) -> tuple[SSAValue, SSAValue]:
    """Return Lanczos' sum and its derivative."""
    b = scope.b
    total, slope = scope.splat(_LANCZOS[0], z), scope.splat(0, z)
    for i, one in enumerate(_LANCZOS[1:], 1):
        below = b.reciprocal(b.add(z, scope.splat(i, z)))
        term = _times(scope, below, one)
        total, slope = b.add(total, term), b.subtract(slope, b.multiply(term, below))
    return total, slope


def _lgamma(scope: Scope, x: SSAValue) -> SSAValue:
    b = scope.b
    low, z = _reflected(scope, x)
    total, _ = _series(scope, z)
    t = b.add(z, scope.splat(7.5, z))
    half = b.add(z, scope.splat(0.5, z))
    value = b.add(
        b.subtract(b.multiply(half, b.log(t)), t), b.add(b.log(total), scope.splat(0.5 * math.log(2 * math.pi), z))
    )
    sine = b.abs(b.sin(_times(scope, b.subtract(x, b.floor(x)), math.pi)))
    mirrored = b.subtract(b.subtract(scope.splat(math.log(math.pi), x), b.log(sine)), value)
    made: SSAValue = b.where(low, mirrored, value)
    return made


def _digamma(scope: Scope, x: SSAValue) -> SSAValue:
    b = scope.b
    low, z = _reflected(scope, x)
    total, slope = _series(scope, z)
    t = b.add(z, scope.splat(7.5, z))
    value = b.subtract(b.add(b.log(t), b.div(slope, total)), b.div(scope.splat(7, t), t))
    angle = _times(scope, b.subtract(x, b.floor(x)), math.pi)
    mirrored = b.subtract(value, _times(scope, b.div(b.cos(angle), b.sin(angle)), math.pi))
    made: SSAValue = b.where(low, mirrored, value)
    return made


def _square(scope: Scope, view: View) -> SSAValue:
    (x,) = scope.operands(view)
    if trailing(view.types[0]):
        refuse("of complex numbers has no TTIR operation")
    made: SSAValue = scope.b.multiply(x, x)
    return made


def _infinite(test: str) -> Any:
    def row(scope: Scope, view: View) -> SSAValue:
        (x,) = scope.operands(view)
        given = scope.b.abs(x) if test == "is_inf" else x
        value = -math.inf if test == "is_neg_inf" else math.inf
        made: SSAValue = scope.b.eq(given, scope.splat(value, x))
        return made

    return row


def _formula(function: Callable[[Scope, SSAValue], SSAValue]) -> Any:
    def row(scope: Scope, view: View) -> SSAValue:
        (x,) = scope.operands(view)
        if trailing(view.types[0]):
            refuse("of complex numbers has no TTIR operation")
        need_float(x)
        # The formulas cancel: bfloat16 is computed in float32.
        return scope.cast(function(scope, scope.cast(x, scalar("f32"))), element_of(x))

    return row


def _conj(scope: Scope, view: View) -> SSAValue:
    return complex_numbers.elementwise(scope, view, scope.operands(view))


def _top_k(scope: Scope, view: View) -> list[SSAValue]:
    (x,) = scope.operands(view)
    count = view.get("k")
    types = [scope.type(one) for one in view.types]
    if scope.segments and getattr(element_of(x), "name", "") == "f32":
        last = len(shape_of(x)) - 1
        places = order_of(scope, x, last, int(count), largest=True)
        return [taken(scope, x, places, last), scope.cast(places, element_of(types[1]))]
    values, indices = scope.b.topk(x, k=count, dim=-1, sorted=True, types=types)
    return [values, indices]


def _broadcast(name: str) -> Any:
    """Return the row of a function that broadcasts its operands."""

    def row(scope: Scope, view: View) -> SSAValue:
        type_ = scope.type(view.types[0])
        values = scope.operands(view)
        dims = view.ints("broadcast_dimensions")
        small = min(range(len(values)), key=lambda i: len(shape_of(values[i])))
        for i, one in enumerate(values):
            have = shape_of(one)
            values[i] = scope.broadcast(
                one, shape_of(type_), dims if dims and i == small and len(have) == len(dims) else None
            )
        word = view.word("comparison_direction").lower() if name == "compare" else name
        made: SSAValue = scope.b.op(word, *values, types=[tensor(shape_of(type_), element_of(type_))])
        return made

    return row


_BROADCASTS: Final = {
    "add": "add",
    "compare": "compare",
    "divide": "div",
    "maximum": "maximum",
    "minimum": "minimum",
    "multiply": "multiply",
    "power": "pow",
    "select": "where",
    "subtract": "subtract",
}

ROWS: Final = {
    **{f"chlo.{name}": named(name, only_float=True) for name in ("acos", "asin", "asinh", "atan", "erf", "erfc")},
    **{f"chlo.{name}": _infinite(name) for name in ("is_inf", "is_pos_inf", "is_neg_inf")},
    **{f"chlo.broadcast_{name}": _broadcast(other) for name, other in _BROADCASTS.items()},
    "chlo.acosh": _formula(_acosh),
    "chlo.atanh": _formula(_atanh),
    "chlo.sinh": _formula(_sinh),
    "chlo.cosh": _formula(_cosh),
    "chlo.erf_inv": _formula(_erf_inv),
    "chlo.lgamma": _formula(_lgamma),
    "chlo.digamma": _formula(_digamma),
    "chlo.square": _square,
    "chlo.conj": _conj,
    "chlo.top_k": _top_k,
}
