"""Arithmetic of two tensors, or of a tensor and a number."""

from __future__ import annotations

import math
from typing import Any, Final

from ttnn.compiler.importers.builder import element_of, scalar, shape_of
from ttnn.compiler.importers.builder.steps import refuse
from ttnn.compiler.importers.builder.types import is_bool, is_float
from ttnn.compiler.importers.fx.scope import Arguments, Row, Scope
from ttnn.compiler.ir.xdsl_adapter import SSAValue

__all__ = ["ROWS", "floor_divide", "quotient"]

_EXPONENT: Final = 32
"""Limit of exponents that are written out as products."""
_LEAST: Final = -(1 << 31)
"""The least integer."""


def _operands(s: Scope, a: Arguments) -> tuple[SSAValue, SSAValue]:
    return s.pair(a.self, a.other, a.element)


def _sum(s: Scope, a: Arguments, first: Any, second: Any, name: str) -> SSAValue:
    x, y = s.pair(first, second, a.element)
    alpha = 1 if a.alpha is None else a.alpha
    if is_bool(a.element):
        made: SSAValue = s.b.logical_or(x, y)
        return made
    return s.wrapped(s.b.op(name, x, s.times(y, alpha)), a.dtype)


def _add(s: Scope, a: Arguments) -> SSAValue:
    return _sum(s, a, a.self, a.other, "add")


def _subtract(s: Scope, a: Arguments) -> SSAValue:
    return _sum(s, a, a.self, a.other, "subtract")


def _rsub(s: Scope, a: Arguments) -> SSAValue:
    return _sum(s, a, a.other, a.self, "subtract")


def _multiply(s: Scope, a: Arguments) -> SSAValue:
    x, y = _operands(s, a)
    made: SSAValue = s.b.logical_and(x, y) if is_bool(a.element) else s.b.multiply(x, y)
    return s.wrapped(made, a.dtype)


def quotient(s: Scope, x: SSAValue, y: SSAValue) -> SSAValue:
    """Return the quotient of integers, cut off.

    The chip divides floats: each step divides what is left, so that the second is off by one at most.
    """
    b, word = s.b, scalar("f32")
    x, y = s.together(x, y)
    found: SSAValue = s.splat(0, x)
    rest = x
    for _ in range(2):
        step = s.cast(b.div(s.cast(rest, word), s.cast(y, word)), element_of(x))
        found = b.add(found, step)
        rest = b.subtract(x, b.multiply(found, y))
    zero = s.number(0, x)
    # The rest has to have the sign of the dividend, and to be smaller than the divisor.
    size_y, size_rest = b.maximum(y, b.subtract(zero, y)), b.maximum(rest, b.subtract(zero, rest))
    same = b.eq(b.lt(rest, zero), b.lt(y, zero))
    toward = s.where(same, s.splat(1, x), s.splat(-1, x))
    found = s.where(b.ge(size_rest, size_y), b.add(found, toward), found)
    rest = b.subtract(x, b.multiply(found, y))
    wrong = b.logical_and(b.ne(rest, zero), b.ne(b.lt(rest, zero), b.lt(x, zero)))
    same = b.eq(b.lt(rest, zero), b.lt(y, zero))
    back = s.where(same, s.splat(1, x), s.splat(-1, x))
    found = s.where(wrong, b.add(found, back), found)
    known = s.constant(y)
    if known is not None and not bool((known == _LEAST).any()):
        return found
    # The least integer has no size: it goes only into itself.
    least = s.number(_LEAST, x)
    return s.where(b.eq(y, least), s.cast(b.eq(x, least), element_of(x)), found)


def _halves(s: Scope, x: SSAValue) -> tuple[SSAValue, SSAValue]:
    """Return floats as sums of two with 12 bits each.

    Products of halves are exact.
    """
    wide = s.times(x, 4097)
    high = s.b.subtract(wide, s.b.subtract(wide, x))
    return high, s.b.subtract(x, high)


def _whole(s: Scope, x: SSAValue, y: SSAValue) -> tuple[SSAValue, SSAValue]:
    """Return the quotient of float32 sizes, cut off, and the rest.

    The chip's division is off by one unit at most, and its remainder rounds: the rest is computed from halves, and
    moves the quotient by one. Both are exact for quotients below 2^24; of others the rest is no number.
    """
    b = s.b
    x, y = s.together(b.abs(x), b.abs(y))
    found = b.floor(b.div(x, y))
    large = s.times(b.floor(s.times(found, 2.0**-12)), 2.0**12)
    small = b.subtract(found, large)
    high, low = _halves(s, y)
    rest = x
    for first, second in ((large, high), (large, low), (small, high), (small, low)):
        rest = b.subtract(rest, b.multiply(first, second))
    below = s.cast(b.lt(rest, s.number(0, rest)), element_of(rest))
    above = s.cast(b.ge(rest, y), element_of(rest))
    step = b.subtract(above, below)
    found, rest = b.add(found, step), b.subtract(rest, b.multiply(y, step))
    rest = b.where(b.lt(found, s.number(2.0**24, found)), rest, s.splat(math.nan, rest))
    # Smaller dividends are the rest, also of an infinite divisor.
    smaller = b.lt(x, y)
    return s.one(b.where(smaller, s.splat(0, x), found)), s.one(b.where(smaller, x, rest))


def _is_low(s: Scope, x: SSAValue) -> SSAValue:
    """Return whether floats have a sign, which zeros may have too."""
    made: SSAValue = s.b.logical_or(s.b.lt(x, s.number(0, x)), s.b.lt(s.b.reciprocal(x), s.number(0, x)))
    return made


def _signed(s: Scope, size: SSAValue, low: SSAValue) -> SSAValue:
    """Return floats with the sign of a condition."""
    made: SSAValue = s.b.where(low, s.b.neg(size), size)
    return made


def _float_fmod(s: Scope, x: SSAValue, y: SSAValue) -> SSAValue:
    x, y = s.together(s.wide(x), s.wide(y))
    return _signed(s, _whole(s, x, y)[1], _is_low(s, x))


def _float_remainder(s: Scope, x: SSAValue, y: SSAValue) -> SSAValue:
    x, y = s.together(s.wide(x), s.wide(y))
    rest = _float_fmod(s, x, y)
    made: SSAValue = s.b.where(_turned(s, rest, y), s.b.add(rest, y), rest)
    return made


def _turned(s: Scope, rest: SSAValue, y: SSAValue) -> SSAValue:
    """Return whether a rest and its divisor have different signs.

    A zero has none.
    """
    b, zero = s.b, s.number(0, rest)
    some = b.logical_or(b.lt(rest, zero), b.gt(rest, zero))
    made: SSAValue = b.logical_and(some, b.ne(b.lt(rest, zero), b.lt(y, zero)))
    return made


def _float_floor(s: Scope, x: SSAValue, y: SSAValue) -> SSAValue:
    b = s.b
    x, y = s.together(s.wide(x), s.wide(y))
    found, rest = _whole(s, x, y)
    # The quotient of an infinite dividend is no number.
    found = b.add(found, b.subtract(x, x))
    found = _signed(s, found, b.ne(_is_low(s, x), _is_low(s, y)))
    turned = _turned(s, _signed(s, rest, b.lt(x, s.number(0, x))), y)
    found = b.where(turned, s.plus(found, -1), found)
    return s.one(b.where(b.eq(y, s.number(0, y)), b.div(x, y), found))


def _float_truncate(s: Scope, x: SSAValue, y: SSAValue) -> SSAValue:
    """Return the quotient, rounded to a float and cut off."""
    b = s.b
    x, y = s.together(s.wide(x), s.wide(y))
    found, _ = _whole(s, x, y)
    more, divided = s.plus(found, 1), b.div(x, y)
    found = b.where(b.ge(b.abs(divided), more), more, found)
    found = _signed(s, found, b.ne(_is_low(s, x), _is_low(s, y)))
    infinite = b.logical_or(b.eq(y, s.number(0, y)), b.eq(b.abs(x), s.number(math.inf, x)))
    return s.one(b.where(infinite, divided, found))


def floor_divide(s: Scope, x: SSAValue, y: SSAValue) -> SSAValue:
    """Return the quotient rounded down."""
    b = s.b
    if is_float(element_of(x)):
        return s.cast(_float_floor(s, x, y), element_of(x))
    x, y = s.together(x, y)
    found = quotient(s, x, y)
    rest = b.subtract(x, b.multiply(found, y))
    zero = s.number(0, x)
    down = b.logical_and(b.ne(rest, zero), b.ne(b.lt(rest, zero), b.lt(y, zero)))
    return s.where(down, s.plus(found, -1), found)


def _divide(s: Scope, a: Arguments) -> SSAValue:
    x, y = _operands(s, a)
    if a.rounding_mode == "floor":
        return s.wrapped(floor_divide(s, x, y), a.dtype)
    if a.rounding_mode == "trunc":
        if not is_float(a.element):
            return s.wrapped(quotient(s, x, y), a.dtype)
        return s.cast(_float_truncate(s, x, y), a.element)
    return s.one(s.b.div(x, y))


def _floor_divide(s: Scope, a: Arguments) -> SSAValue:
    x, y = _operands(s, a)
    return s.wrapped(floor_divide(s, x, y), a.dtype)


def _remainder(s: Scope, a: Arguments) -> SSAValue:
    x, y = _operands(s, a)
    if is_float(a.element):
        return s.cast(_float_remainder(s, x, y), a.element)
    x, y = s.together(x, y)
    made = s.b.subtract(x, s.b.multiply(floor_divide(s, x, y), y))
    return s.wrapped(made, a.dtype)


def _fmod(s: Scope, a: Arguments) -> SSAValue:
    x, y = _operands(s, a)
    if is_float(a.element):
        return s.cast(_float_fmod(s, x, y), a.element)
    x, y = s.together(x, y)
    made = s.b.subtract(x, s.b.multiply(quotient(s, x, y), y))
    return s.wrapped(made, a.dtype)


def _power(s: Scope, a: Arguments) -> SSAValue:
    exponent = a.exponent
    if isinstance(exponent, SSAValue) or isinstance(a.self, (int, float)):
        if not is_float(a.element):
            refuse("of integers with exponents that are tensors has no TTIR operation")
        x, y = s.pair(a.self, exponent, a.element)
        made: SSAValue = s.b.pow(x, y)
        return made
    x = s.cast(a.self, a.element)
    simple = {0.5: "sqrt", -0.5: "rsqrt", -1: "reciprocal"}
    if exponent in simple and is_float(a.element):
        return s.one(s.b.op(simple[exponent], x))
    if float(exponent).is_integer() and 0 <= exponent <= _EXPONENT:
        wide = s.wide(x) if is_float(a.element) else x
        return s.wrapped(s.cast(_product(s, wide, int(exponent)), a.element), a.dtype)
    if not is_float(a.element):
        refuse(f"of integers with the exponent {exponent} has no TTIR operation")
    return s.one(s.b.pow(x, s.number(exponent, x)))


def _product(s: Scope, x: SSAValue, count: int) -> SSAValue:
    """Return a power by squares."""
    found = None
    while count:
        if count & 1:
            found = x if found is None else s.b.multiply(found, x)
        count >>= 1
        if count:
            x = s.b.multiply(x, x)
    return s.splat(1, x) if found is None else found


def _extreme(name: str, logical: str) -> Row:
    def row(s: Scope, a: Arguments) -> SSAValue:
        x, y = _operands(s, a)
        made: SSAValue = s.b.op(logical if is_bool(a.element) else name, x, y)
        return made

    return row


def _atan2(s: Scope, a: Arguments) -> SSAValue:
    made: SSAValue = s.b.atan2(*_operands(s, a))
    return made


def _bitwise(word: str) -> Row:
    def row(s: Scope, a: Arguments) -> SSAValue:
        x, y = _operands(s, a)
        kind = "logical" if is_bool(a.element) else "bitwise"
        made: SSAValue = s.b.op(f"{kind}_{word}", x, y)
        return made

    return row


def _shift(name: str) -> Row:
    def row(s: Scope, a: Arguments) -> SSAValue:
        x, y = _operands(s, a)
        known = s.constant(y)
        if known is None or not bool(((known >= 0) & (known < 32)).all()):
            refuse("by counts that are not known to be from 0 to 31 has no TTIR operation")
        if name == "right_shift":
            # The sign is shifted in: negative numbers are shifted as their complements.
            low = s.b.lt(x, s.number(0, x))
            x, y, low = s.together(x, y, low)
            plain = s.b.logical_right_shift(x, y)
            other = s.b.bitwise_not(s.b.logical_right_shift(s.b.bitwise_not(x), y))
            made: SSAValue = s.where(low, other, plain)
            return made
        return s.wrapped(s.b.op(name, x, y), a.dtype)

    return row


def _lerp(s: Scope, a: Arguments) -> SSAValue:
    x, y = s.wide(a.self), s.wide(a.end)
    weight = s.value(a.weight, scalar("f32"), len(shape_of(x)))
    made = s.b.add(x, s.b.multiply(weight, s.b.subtract(y, x)))
    return s.cast(made, a.element)


def _addc(name: str) -> Row:
    def row(s: Scope, a: Arguments) -> SSAValue:
        if not is_float(a.element):
            made: SSAValue = s.b.multiply(s.cast(a.tensor1, a.element), s.cast(a.tensor2, a.element))
            return s.wrapped(s.b.add(s.cast(a.self, a.element), s.times(made, a.value)), a.dtype)
        term = s.b.op(name, s.wide(a.tensor1), s.wide(a.tensor2))
        return s.cast(s.b.add(s.wide(a.self), s.times(term, a.value)), a.element)

    return row


def _copysign(s: Scope, a: Arguments) -> SSAValue:
    x, y = s.together(*_operands(s, a))
    return _signed(s, s.b.abs(x), _is_low(s, y))


def _signbit(s: Scope, a: Arguments) -> SSAValue:
    x = a.self
    if is_bool(element_of(x)):
        return s.splat(0, x)
    if is_float(element_of(x)):
        return _is_low(s, x)
    made: SSAValue = s.b.lt(x, s.number(0, x))
    return made


def _angle(s: Scope, a: Arguments) -> SSAValue:
    x = s.cast(a.self, a.element)
    low = s.b.where(s.b.lt(x, s.number(0, x)), s.splat(math.pi, x), s.splat(0, x))
    made: SSAValue = s.b.where(s.b.eq(x, x), low, x)
    return made


def _known_extreme(name: str, logical: str) -> Row:
    """Return the row of an extreme that ignores NaN."""
    plain = _extreme(name, logical)

    def row(s: Scope, a: Arguments) -> SSAValue:
        if not is_float(a.element):
            made: SSAValue = plain(s, a)
            return made
        x, y = s.together(*_operands(s, a))
        first, second = s.b.where(s.b.eq(x, x), x, y), s.b.where(s.b.eq(y, y), y, x)
        return s.one(s.b.op(name, first, second))

    return row


def _prelu(s: Scope, a: Arguments) -> SSAValue:
    x, weight = a.self, a.weight
    rank = len(shape_of(x))
    if "_prelu" not in str(a.operation):
        weight = s.reshape(weight, [1, -1 if rank < 2 else shape_of(weight)[0], *[1] * (rank - 2)][:rank])
    made: SSAValue = s.where(s.b.gt(x, s.number(0, x)), x, s.b.multiply(x, s.cast(weight, a.element)))
    return made


def _xlogy(s: Scope, a: Arguments) -> SSAValue:
    x, y = s.together(*_operands(s, a))
    none = s.b.logical_and(s.b.eq(x, s.number(0, x)), s.b.eq(y, y))
    made: SSAValue = s.where(none, s.splat(0, x), s.b.multiply(x, s.b.log(y)))
    return made


ROWS: Final[dict[str, Row]] = {
    "aten.add": _add,
    "aten.addcdiv": _addc("div"),
    "aten.addcmul": _addc("multiply"),
    "aten.atan2": _atan2,
    "aten.bitwise_and": _bitwise("and"),
    "aten.bitwise_left_shift": _shift("logical_left_shift"),
    "aten.bitwise_or": _bitwise("or"),
    "aten.bitwise_right_shift": _shift("right_shift"),
    "aten.bitwise_xor": _bitwise("xor"),
    "aten.__and__": _bitwise("and"),
    "aten.__or__": _bitwise("or"),
    "aten.__xor__": _bitwise("xor"),
    "aten.__lshift__": _shift("logical_left_shift"),
    "aten.__rshift__": _shift("right_shift"),
    "aten.copysign": _copysign,
    "aten.div": _divide,
    "aten.divide": _divide,
    "aten.angle": _angle,
    "aten.floor_divide": _floor_divide,
    "aten.fmax": _known_extreme("maximum", "logical_or"),
    "aten.fmin": _known_extreme("minimum", "logical_and"),
    "aten.fmod": _fmod,
    "aten.lerp": _lerp,
    "aten.maximum": _extreme("maximum", "logical_or"),
    "aten.minimum": _extreme("minimum", "logical_and"),
    "aten.max.other": _extreme("maximum", "logical_or"),
    "aten.min.other": _extreme("minimum", "logical_and"),
    "aten.mul": _multiply,
    "aten.multiply": _multiply,
    "aten.pow": _power,
    "aten._prelu_kernel": _prelu,
    "aten.prelu": _prelu,
    "aten.remainder": _remainder,
    "aten.rsub": _rsub,
    "aten.signbit": _signbit,
    "aten.sub": _subtract,
    "aten.subtract": _subtract,
    "aten.true_divide": _divide,
    "aten.xlogy": _xlogy,
}
