"""Arithmetic of two tensors, or of a tensor and a number."""

from __future__ import annotations

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


def floor_divide(s: Scope, x: SSAValue, y: SSAValue) -> SSAValue:
    """Return the quotient rounded down."""
    b = s.b
    if is_float(element_of(x)):
        whole = b.div(b.subtract(x, b.remainder(x, y)), y)
        x, y, whole = s.together(x, y, b.floor(s.plus(whole, 0.5)))
        return s.where(b.eq(y, s.number(0, y)), s.one(b.div(x, y)), whole)
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
        size = floor_divide(s, s.b.abs(x), s.b.abs(y))
        made: SSAValue = s.b.multiply(size, s.b.multiply(s.b.sign(x), s.b.sign(y)))
        return made
    return s.one(s.b.div(x, y))


def _floor_divide(s: Scope, a: Arguments) -> SSAValue:
    x, y = _operands(s, a)
    return s.wrapped(floor_divide(s, x, y), a.dtype)


def _remainder(s: Scope, a: Arguments) -> SSAValue:
    x, y = _operands(s, a)
    if is_float(a.element):
        made: SSAValue = s.b.remainder(x, y)
        return made
    x, y = s.together(x, y)
    made = s.b.subtract(x, s.b.multiply(floor_divide(s, x, y), y))
    return s.wrapped(made, a.dtype)


def _fmod(s: Scope, a: Arguments) -> SSAValue:
    x, y = _operands(s, a)
    if is_float(a.element):
        made: SSAValue = s.b.multiply(s.b.sign(x), s.b.remainder(s.b.abs(x), s.b.abs(y)))
        return made
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
    x, y = _operands(s, a)
    size = s.b.abs(x)
    x, y, size = s.together(x, y, size)
    sign = s.where(s.b.lt(y, s.number(0, y)), s.splat(-1, y), s.splat(1, y))
    made: SSAValue = s.b.multiply(size, sign)
    return made


def _prelu(s: Scope, a: Arguments) -> SSAValue:
    x, weight = a.self, a.weight
    rank = len(shape_of(x))
    if "_prelu" not in str(a.operation):
        weight = s.reshape(weight, [1, -1 if rank < 2 else shape_of(weight)[0], *[1] * (rank - 2)][:rank])
    made: SSAValue = s.where(s.b.gt(x, s.number(0, x)), x, s.b.multiply(x, s.cast(weight, a.element)))
    return made


def _xlogy(s: Scope, a: Arguments) -> SSAValue:
    x, y = s.together(*_operands(s, a))
    made: SSAValue = s.where(s.b.eq(x, s.number(0, x)), s.splat(0, x), s.b.multiply(x, s.b.log(y)))
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
    "aten.floor_divide": _floor_divide,
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
    "aten.sub": _subtract,
    "aten.subtract": _subtract,
    "aten.true_divide": _divide,
    "aten.xlogy": _xlogy,
}
