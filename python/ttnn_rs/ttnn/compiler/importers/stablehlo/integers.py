"""Division, remainders and shifts.

Whose edge cases differ from those of the chip's operators.
"""

from __future__ import annotations

from typing import Any, Final

from ttnn.compiler.importers.builder import element_of
from ttnn.compiler.importers.builder.types import is_integer, is_signed, scalar, width_of
from ttnn.compiler.importers.stablehlo.elementwise import named
from ttnn.compiler.importers.stablehlo.folding import folded
from ttnn.compiler.importers.stablehlo.scope import Scope
from ttnn.compiler.importers.stablehlo.view import View
from ttnn.compiler.ir.xdsl_adapter import SSAValue

__all__ = ["ROWS"]


def _is_wide(value: SSAValue) -> bool:
    """Return whether float32 does not hold all values of integers."""
    return width_of(element_of(value)) > 16


def _divide(scope: Scope, view: View) -> SSAValue:
    """Import `divide`; quotients of integers are cut off."""
    a, b = scope.operands(view)
    known = folded(scope, view, [a, b])
    if known is not None:
        return known
    if not is_integer(element_of(a)):
        made: SSAValue = named("div")(scope, view)
        return made
    divisor = scope.splat_of(b)
    if divisor is not None and int(divisor) > 0 and int(divisor) & (int(divisor) - 1) == 0:
        return _by_power(scope, a, int(divisor))
    if _is_wide(a):
        return scope.island(view, "divide", [a, b], "of integers of 32 bits has no exact TTIR operation")[0]
    word = scalar("f32")
    quotient = scope.b.div(scope.cast(a, word), scope.cast(b, word))
    low = scope.b.lt(quotient, scope.splat(0, quotient))
    return scope.cast(scope.one(scope.b.where(low, scope.b.ceil(quotient), scope.b.floor(quotient))), element_of(a))


def _by_power(scope: Scope, value: SSAValue, divisor: int) -> SSAValue:
    """Return an integer divided by a power of two, towards zero."""
    if divisor == 1:
        return value
    bits = scope.splat(divisor.bit_length() - 1, value)
    if not is_signed(element_of(value)):
        return scope.one(scope.b.logical_right_shift(value, bits))
    low = scope.b.lt(value, scope.splat(0, value))
    # Numbers below zero are rounded up: those of the quotient of -value, negated.
    size = scope.select(low, scope.b.neg(value), value)
    quotient = scope.b.logical_right_shift(size, bits)
    return scope.select(low, scope.b.neg(quotient), quotient)


def _remainder(scope: Scope, view: View) -> SSAValue:
    """Import `remainder`, which has the sign of the dividend.

    The result of `ttir.remainder` has the sign of the divisor.
    """
    a, b = scope.operands(view)
    known = folded(scope, view, [a, b])
    if known is not None:
        return known
    rest = scope.one(scope.b.remainder(a, b))
    if is_integer(element_of(a)) and not is_signed(element_of(a)):
        return rest
    zero = scope.splat(0, a)
    other = scope.b.ne(scope.b.lt(a, zero), scope.b.lt(rest, zero))
    wrong = scope.b.logical_and(other, scope.b.ne(rest, zero))
    return scope.select(wrong, scope.b.subtract(rest, b), rest)


def _inside(scope: Scope, count: SSAValue, width: int) -> SSAValue | None:
    """Return whether a shift is by 0 to the width less one.

    None if it is known to be.
    """
    known = scope.constant(count)
    if known is not None and bool(((known >= 0) & (known < width)).all()):
        return None
    fits = scope.b.lt(count, scope.splat(width, count))
    if is_signed(element_of(count)):
        fits = scope.b.logical_and(fits, scope.b.ge(count, scope.splat(0, count)))
    return scope.one(fits)


def _shift(name: str) -> Any:
    """Return the row of a shift.

    A shift by the width or more leaves zeros.
    """

    def row(scope: Scope, view: View) -> SSAValue:
        value, count = scope.operands(view)
        fits = _inside(scope, count, width_of(element_of(value)))
        made = scope.one(scope.b.op(name, value, count))
        return made if fits is None else scope.select(fits, made, scope.splat(0, value))

    return row


def _right_shift(scope: Scope, view: View) -> SSAValue:
    """Import an arithmetic shift.

    A negative number is the complement of its complement's shift.

    By the width or more it leaves the sign.
    """
    value, count = scope.operands(view)
    b, width = scope.b, width_of(element_of(value))
    fits = _inside(scope, count, width)
    if fits is not None:
        count = scope.select(fits, count, scope.splat(width - 1, count))
    if not is_signed(element_of(value)):
        why = "of unsigned integers has no TTIR operation"
        return scope.island(view, "shift_right", list(scope.operands(view)), why)[0]
    low = b.lt(value, scope.splat(0, value))
    size = scope.select(low, b.bitwise_not(value), value)
    moved = b.logical_right_shift(size, count)
    return scope.select(low, b.bitwise_not(moved), moved)


def _on_host(name: str) -> Any:
    def row(scope: Scope, view: View) -> SSAValue:
        return scope.island(view, name, scope.operands(view), "has no TTIR operation")[0]

    return row


ROWS: Final = {
    "stablehlo.divide": _divide,
    "stablehlo.remainder": _remainder,
    "stablehlo.shift_left": _shift("logical_left_shift"),
    "stablehlo.shift_right_logical": _shift("logical_right_shift"),
    "stablehlo.shift_right_arithmetic": _right_shift,
    "stablehlo.popcnt": _on_host("popcnt"),
    "stablehlo.count_leading_zeros": _on_host("count_leading_zeros"),
}
