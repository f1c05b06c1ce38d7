"""Changes of element types."""

from __future__ import annotations

from typing import Final

from ttnn.compiler.importers.builder import element_of, shape_of, tensor
from ttnn.compiler.importers.builder.types import is_bool, is_integer, numpy_dtype, scalar, width_of
from ttnn.compiler.importers.stablehlo.complex_numbers import pair, parts
from ttnn.compiler.importers.stablehlo.folding import folded
from ttnn.compiler.importers.stablehlo.scope import Scope, refuse, trailing
from ttnn.compiler.importers.stablehlo.view import View
from ttnn.compiler.ir.operations import written_name
from ttnn.compiler.ir.xdsl_adapter import Operation, SSAValue

__all__ = ["ROWS"]


def _convert(scope: Scope, view: View) -> SSAValue:
    (value,) = values = scope.operands(view)
    known = folded(scope, view, values)
    if known is not None:
        return known
    if trailing(view.op.operands[0].type) or trailing(view.types[0]):
        return _complex(scope, value, bool(trailing(view.op.operands[0].type)), bool(trailing(view.types[0])))
    type_ = scope.type(view.types[0])
    if element_of(value) == element_of(type_):
        made: SSAValue = scope.b.typecast(value, types=[type_])
        return made
    if is_bool(element_of(type_)):
        # Truth is that of the number, also where a cast would overflow.
        return scope.one(scope.b.ne(value, scope.splat(0, value), types=[type_]))
    return scope.cast(value, element_of(type_))


def _complex(scope: Scope, value: SSAValue, before: bool, after: bool) -> SSAValue:
    """Return a number as a complex one, or its real part."""
    if before and after:
        return value
    if before:
        return parts(scope, value)[0]
    value = scope.cast(value, scalar("f32"))
    return pair(scope, value, scope.splat(0, value))


def _bitcast(scope: Scope, view: View) -> SSAValue:
    (value,) = scope.operands(view)
    type_ = scope.type(view.types[0])
    if width_of(element_of(value)) != width_of(element_of(type_)):
        why = "between elements of different widths has no TTIR operation"
        if not (is_integer(element_of(value)) and is_integer(element_of(type_))):
            refuse(why)
        return scope.island(view, "bitcast", [value], why, dtype=numpy_dtype(element_of(type_)).name)[0]
    if element_of(value) == element_of(type_):
        return value
    fraction = _fraction(scope, value)
    if fraction is not None and getattr(element_of(type_), "name", "") == "f32":
        number = scope.b.typecast(fraction, types=[type_])
        random: SSAValue = scope.b.add(scope.b.multiply(number, scope.splat(2.0**-23, number)), scope.splat(1, number))
        return random
    made: SSAValue = scope.b.bitcast_convert(value, types=[type_])
    return made


def _fraction(scope: Scope, value: SSAValue) -> SSAValue | None:
    """Return the fraction bits of a number from 1 to 2.

    Random numbers are made so: the bits of one with shifted bits in its fraction. The device's bitcast cuts fractions
    to 10 bits; conversion and product of so small an integer are exact.
    """
    joined = value.owner
    if (
        not isinstance(joined, Operation)
        or written_name(joined) != "ttir.bitwise_or"
        or width_of(element_of(value)) != 32
    ):
        return None
    for part, one in (joined.operands[:2], joined.operands[1::-1]):
        shifted = part.owner
        if scope.splat_of(one) != _ONE or not isinstance(shifted, Operation):
            continue
        if written_name(shifted) == "ttir.logical_right_shift" and scope.splat_of(shifted.operands[1]) in _SHIFTS:
            return part
    return None


_ONE: Final = 0x3F800000
"""Bits of 1.0."""
_SHIFTS: Final = range(9, 32)
"""Shifts that leave at most the bits of a fraction."""


def _reduce_precision(scope: Scope, view: View) -> SSAValue:
    (value,) = scope.operands(view)
    bits = view.get("exponent_bits"), view.get("mantissa_bits")
    name = getattr(element_of(value), "name", "")
    if bits == {"bf16": (8, 7), "f32": (8, 23), "f16": (5, 10), "f64": (11, 52)}.get(name):
        return value
    if bits != (8, 7) or name != "f32":
        refuse(f"to {bits[0]} and {bits[1]} bits has no TTIR operation; 8 and 7 bits have")
    narrow = scope.b.typecast(value, types=[tensor(shape_of(value), scalar("bf16"))])
    made: SSAValue = scope.b.typecast(narrow, types=[tensor(shape_of(value), element_of(value))])
    return made


ROWS: Final = {
    "stablehlo.convert": _convert,
    "stablehlo.bitcast_convert": _bitcast,
    "stablehlo.reduce_precision": _reduce_precision,
}
