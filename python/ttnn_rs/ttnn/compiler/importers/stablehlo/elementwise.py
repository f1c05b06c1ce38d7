"""Elementwise operations of StableHLO."""

from __future__ import annotations

from typing import Any, Final

from ttnn.compiler.importers.builder import element_of
from ttnn.compiler.importers.builder.types import is_bool, is_complex, is_float, is_integer
from ttnn.compiler.importers.stablehlo import complex_numbers
from ttnn.compiler.importers.stablehlo.folding import folded
from ttnn.compiler.importers.stablehlo.scope import Scope, refuse
from ttnn.compiler.importers.stablehlo.view import View
from ttnn.compiler.ir.xdsl_adapter import Attribute, SSAValue, TensorType

__all__ = ["ROWS", "named"]


def named(name: str, only_float: bool = False) -> Any:
    """Return a row of an operation that TTIR has.

    Complex operands and constants are looked after first.
    """

    def row(scope: Scope, view: View) -> SSAValue:
        values = scope.operands(view)
        if any(_complex(one.type) for one in view.op.operands):
            return complex_numbers.elementwise(scope, view, values)
        known = folded(scope, view, values)
        if known is not None:
            return known
        if only_float and not is_float(element_of(values[0])):
            refuse("of integers has no TTIR operation")
        made: SSAValue = scope.b.op(name, *values, types=[scope.type(view.types[0])])
        return made

    return row


def _complex(type_: Attribute) -> bool:
    return isinstance(type_, TensorType) and is_complex(type_.element_type)


def _logical(word: str) -> Any:
    """Return the row of `and`, `or`, `xor`, `not`.

    Logical on booleans, bitwise on integers.
    """

    def row(scope: Scope, view: View) -> SSAValue:
        values = scope.operands(view)
        known = folded(scope, view, values)
        if known is not None:
            return known
        kind = "logical" if is_bool(element_of(values[0])) else "bitwise"
        made: SSAValue = scope.b.op(f"{kind}_{word}", *values, types=[scope.type(view.types[0])])
        return made

    return row


def _add(scope: Scope, view: View) -> SSAValue:
    """Import `add`; of booleans it is `or`."""
    bools = is_bool(element_of(scope.operands(view)[0]))
    made: SSAValue = (_logical("or") if bools else named("add"))(scope, view)
    return made


def _multiply(scope: Scope, view: View) -> SSAValue:
    """Import `multiply`; of booleans it is `and`."""
    bools = is_bool(element_of(scope.operands(view)[0]))
    made: SSAValue = (_logical("and") if bools else named("multiply"))(scope, view)
    return made


def _extreme(name: str, logical: str) -> Any:
    def row(scope: Scope, view: View) -> SSAValue:
        """Import `maximum` or `minimum`: of NaN and a number it is NaN.

        The device orders NaN by its sign, as the largest or the least number; so `maximum` with a constant, as in a
        rectified linear unit, is that of the device.
        """
        values = scope.operands(view)
        element = element_of(values[0])
        made: SSAValue = (_logical(logical) if is_bool(element) else named(name))(scope, view)
        known = [scope.splat_of(one) is not None for one in values]
        if not is_float(element) or (name == "maximum" and any(known)):
            return made
        for value, constant in zip(values, known, strict=True):
            if not constant:
                made = scope.b.where(scope.b.ne(value, value), value, made)
        return made

    return row


def _sign(scope: Scope, view: View) -> SSAValue:
    """Import `sign`; of integers it is the difference of two comparisons."""
    (x,) = scope.operands(view)
    if not is_integer(element_of(x)):
        made: SSAValue = named("sign")(scope, view)
        return made
    zero = scope.splat(0, x)
    high, low = (scope.cast(scope.one(compare(x, zero)), element_of(x)) for compare in (scope.b.gt, scope.b.lt))
    return scope.one(scope.b.subtract(high, low))


def _round_even(scope: Scope, view: View) -> SSAValue:
    """Import rounding to even.

    Floor(x + 0.5), less one for odd results of ties.
    """
    b, (x,) = scope.b, scope.operands(view)
    low = b.floor(x)
    rest = b.subtract(x, low)
    half = scope.splat(0.5, x)
    odd = b.ne(b.floor(b.multiply(low, half)), b.multiply(low, half))
    up = b.logical_or(b.gt(rest, half), b.logical_and(b.eq(rest, half), odd))
    made: SSAValue = b.where(up, b.add(low, scope.splat(1, x)), low)
    return made


def _round_away(scope: Scope, view: View) -> SSAValue:
    """Import rounding away from zero: sign(x) * floor(abs(x) + 0.5)."""
    b, (x,) = scope.b, scope.operands(view)
    size = b.abs(x)
    low = b.floor(size)
    up = b.ge(b.subtract(size, low), scope.splat(0.5, x))
    made: SSAValue = b.multiply(b.sign(x), b.where(up, b.add(low, scope.splat(1, x)), low))
    return made


_FLOATS: Final = {
    "cbrt": "cbrt",
    "ceil": "ceil",
    "cosine": "cos",
    "exponential": "exp",
    "exponential_minus_one": "expm1",
    "floor": "floor",
    "is_finite": "isfinite",
    "log": "log",
    "log_plus_one": "log1p",
    "logistic": "sigmoid",
    "rsqrt": "rsqrt",
    "sine": "sin",
    "sqrt": "sqrt",
    "tan": "tan",
    "tanh": "tanh",
    "atan2": "atan2",
}

ROWS: Final = {
    **{f"stablehlo.{name}": named(other, only_float=True) for name, other in _FLOATS.items()},
    **{f"stablehlo.{name}": _logical(name) for name in ("and", "or", "xor", "not")},
    "stablehlo.abs": named("abs"),
    "stablehlo.negate": named("neg"),
    "stablehlo.sign": _sign,
    "stablehlo.add": _add,
    "stablehlo.subtract": named("subtract"),
    "stablehlo.multiply": _multiply,
    "stablehlo.power": named("pow"),
    "stablehlo.maximum": _extreme("maximum", "or"),
    "stablehlo.minimum": _extreme("minimum", "and"),
    "stablehlo.round_nearest_even": _round_even,
    "stablehlo.round_nearest_afz": _round_away,
}
