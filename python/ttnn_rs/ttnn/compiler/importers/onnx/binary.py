"""Arithmetic, comparison and logic of several tensors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

from ttnn.compiler.importers.builder import element_of, shape_of
from ttnn.compiler.importers.builder.infer import broadcast_shapes
from ttnn.compiler.importers.builder.steps import refuse
from ttnn.compiler.importers.builder.types import is_bool, is_float
from ttnn.compiler.importers.onnx.scope import Described, Node, Row, Scope
from ttnn.compiler.importers.onnx.types import BOOL
from ttnn.compiler.importers.onnx.values import Value
from ttnn.compiler.ir.xdsl_adapter import SSAValue

__all__ = ["ROWS", "chosen"]


def _aten(name: str, **fixed: Any) -> Row:
    def row(s: Scope, a: Node) -> Any:
        return s.aten(name, a.dtype, self=a[0], other=a[1], **fixed)

    return row


def _divide(s: Scope, a: Node) -> Any:
    if a.dtype.is_floating_point:
        return s.one(s.b.div(a[0], a[1]))
    return s.aten("div", a.dtype, self=a[0], other=a[1], rounding_mode="trunc")


def _mod(s: Scope, a: Node) -> Any:
    if a.attribute("fmod", 0):
        return s.aten("fmod", a.dtype, self=a[0], other=a[1])
    if not a.dtype.is_floating_point:
        return s.aten("remainder", a.dtype, self=a[0], other=a[1])
    if a.dtype.name not in ("float", "double"):
        refuse(f"of {a.dtype.name} with fmod = 0 has no exact TTIR operation")
    return _remainder(s, a[0], a[1])


def _remainder(s: Scope, x: SSAValue, y: SSAValue) -> SSAValue:
    """Return remainders of floats, also of infinite numbers and by zero."""
    x, y, made = s.together(x, y, s.one(s.b.remainder(x, y)))
    b, zero, infinite = s.b, s.number(0, x), s.number(math.inf, x)
    same = b.logical_or(b.eq(b.lt(x, zero), b.lt(y, zero)), b.eq(x, zero))
    made = s.where(b.eq(b.abs(y), infinite), s.where(same, x, y), made)
    nothing = b.logical_or(b.eq(y, zero), b.eq(b.abs(x), infinite))
    return s.where(nothing, s.splat(math.nan, x), made)


def _power(s: Scope, a: Node) -> Any:
    exponent = a.needed(1)
    known = exponent.known
    if known is not None and known.size == 1:
        number = known.reshape(-1)[0].item()
        shape = broadcast_shapes([a.shape(), a.shape(1)])
        return s.expand(s.aten("pow", a.dtype, self=a[0], exponent=number), shape)
    if a.dtype.is_floating_point:
        return s.aten("pow", a.dtype, self=a[0], exponent=s.cast(a[1], element_of(a[0])))
    return _integer_power(s, a)


def _integer_power(s: Scope, a: Node) -> Any:
    """Import powers of integers.

    Products of squares, one for each bit of the exponent.
    """
    if a.needed(1).dtype.is_floating_point:
        refuse("of integers with exponents that are floats has no exact TTIR operation")
    x, exponent = s.together(a[0], s.cast(a[1], element_of(a[0])))
    found, one = s.splat(1, x), s.number(1, x)
    for bit in range(5):
        moved = s.b.bitwise_and(s.b.logical_right_shift(exponent, s.number(bit, x)) if bit else exponent, one)
        found = s.where(s.b.eq(moved, one), s.one(s.b.multiply(found, x)), found)
        x = s.one(s.b.multiply(x, x))
    # Larger exponents are only those of 0, 1 and -1 without an overflow; smaller ones have fractions.
    return s.wrapped(found, a.dtype)


def _many(name: str) -> Row:
    """Return the row of an operation of any number of tensors."""

    def row(s: Scope, a: Node) -> Any:
        made, *rest = a.tensors()
        for one in rest:
            made = s.aten(name, a.dtype, self=made, other=one)
        return made

    return row


def _mean(s: Scope, a: Node) -> Any:
    made, *rest = (s.wide(one) for one in a.tensors())
    for one in rest:
        made = s.b.add(made, one)
    return s.cast(s.times(made, 1 / len(a.values)), element_of(a[0]))


def _compare(name: str) -> Row:
    def row(s: Scope, a: Node) -> Any:
        x, y = a[0], a[1]
        if is_bool(element_of(x)):
            x, y = s.wide(x), s.wide(y)
        return Value(BOOL, s.b.op(name, x, y))

    return row


def _logical(name: str) -> Row:
    def row(s: Scope, a: Node) -> Any:
        return s.one(s.b.op(f"logical_{name}", a[0], a[1]))

    return row


def chosen(s: Scope, condition: SSAValue, first: Any, second: Any, described: Described) -> SSAValue:
    """Return elements of one tensor or number, or another, by a condition."""
    return s.one(s.aten("where.self", described.dtype, described.shape, condition=condition, self=first, other=second))


def _where(s: Scope, a: Node) -> Any:
    dtype = a.needed(1).dtype
    shape = broadcast_shapes([a.shape(i) for i in range(3)])
    return Value(dtype, chosen(s, a[0], a[1], a[2], Described(shape, dtype)))


def _clip(s: Scope, a: Node) -> Any:
    if a.opset < 11:
        limits: Sequence[Any] = [a.attribute("min"), a.attribute("max")]
    else:
        limits = [a.optional(1), a.optional(2)]
    made, element = a[0], element_of(a[0])
    for name, limit in zip(("maximum", "minimum"), limits, strict=True):
        if limit is not None:
            made = s.b.op(name, made, s.value(limit, element, len(shape_of(made))))
    return s.expand(made, a.shape())


def _shift(s: Scope, a: Node) -> Any:
    """Import shifts by any count, bit by bit of the count."""
    x, count = s.together(a[0], a[1])
    left = a.attribute("direction") == "LEFT"
    if a.dtype.name != "uint8":
        refuse(f"of {a.dtype.name} has no TTIR operation")
    name = "logical_left_shift" if left else "logical_right_shift"
    for bit in range(3):
        asked = s.b.ne(s.b.bitwise_and(count, s.number(1 << bit, x)), s.number(0, x))
        x = s.where(asked, s.one(s.b.op(name, x, s.number(1 << bit, x))), x)
    x = s.where(s.b.gt(count, s.number(7, x)), s.splat(0, x), x)
    return s.wrapped(x, a.dtype)


def _prelu(s: Scope, a: Node) -> Any:
    x, slope = a[0], a[1]
    if a.original < 7 and len(shape_of(slope)) == 1:
        # One number for each channel.
        slope = s.reshape(slope, [1, shape_of(slope)[0], *[1] * (a.rank() - 2)][: a.rank()])
    x, slope = s.together(x, slope)
    if not is_float(element_of(x)):
        return s.where(s.b.gt(x, s.number(0, x)), x, s.one(s.b.multiply(x, slope)))
    return s.aten("_prelu_kernel", a.dtype, self=x, weight=slope)


def _cast(s: Scope, a: Node) -> Any:
    from ttnn.compiler.importers.onnx.types import dtype_of

    return _converted(s, a, dtype_of(int(a.attribute("to"))))


def _cast_like(s: Scope, a: Node) -> Any:
    return _converted(s, a, a.needed(1).dtype)


def _converted(s: Scope, a: Node, dtype: Any) -> Value:
    x = a[0]
    if dtype.name == "float16" and a.dtype.name in ("float", "double"):
        # What float16 cannot hold is infinite; the bfloat16 that stands for it is not.
        x = s.b.where(s.b.ge(s.b.abs(x), s.number(65520.0, x)), s.b.multiply(x, s.number(float("inf"), x)), x)
    if dtype == BOOL and a.dtype.is_floating_point:
        return Value(BOOL, s.one(s.b.ne(x, s.number(0, x))))
    return Value(dtype, s.to(x, dtype))


_COMPARISONS: Final = {
    "Equal": "eq", "Greater": "gt", "GreaterOrEqual": "ge", "Less": "lt", "LessOrEqual": "le",
}  # fmt: skip

ROWS: Final[dict[tuple[str, str], Row]] = {
    **{("", name): _compare(word) for name, word in _COMPARISONS.items()},
    **{("", name): _logical(name.lower()) for name in ("And", "Or", "Xor")},
    **{("", f"Bitwise{name}"): _aten(f"bitwise_{name.lower()}") for name in ("And", "Or", "Xor")},
    ("", "Add"): _aten("add"),
    ("", "BitShift"): _shift,
    ("", "Cast"): _cast,
    ("", "CastLike"): _cast_like,
    ("", "Clip"): _clip,
    ("", "Div"): _divide,
    ("", "Max"): _many("maximum"),
    ("", "Mean"): _mean,
    ("", "Min"): _many("minimum"),
    ("", "Mod"): _mod,
    ("", "Mul"): _aten("mul"),
    ("", "PRelu"): _prelu,
    ("", "Pow"): _power,
    ("", "Sub"): _aten("sub"),
    ("", "Sum"): _many("add"),
    ("", "Where"): _where,
}
