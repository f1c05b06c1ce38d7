"""Comparison, selection and clamping."""

from __future__ import annotations

import math
from typing import Final

from ttnn.compiler.importers.builder import element_of, shape_of, tensor
from ttnn.compiler.importers.builder.types import is_float, numpy_dtype, width_of
from ttnn.compiler.importers.stablehlo import complex_numbers
from ttnn.compiler.importers.stablehlo.folding import folded
from ttnn.compiler.importers.stablehlo.scope import Scope, refuse, trailing
from ttnn.compiler.importers.stablehlo.view import View
from ttnn.compiler.ir.xdsl_adapter import Attribute, OpResult, SSAValue

__all__ = ["ROWS"]


def _compare(scope: Scope, view: View) -> SSAValue:
    values = scope.operands(view)
    known = folded(scope, view, values)
    if known is not None:
        return known
    word = view.word("comparison_direction").lower()
    if trailing(view.op.operands[0].type):
        return complex_numbers.compare(scope, word, values)
    if view.word("compare_type") == "TOTALORDER" and is_float(element_of(values[0])):
        refuse("in total order has no TTIR operation")
    values = _narrowed(scope, word, values)
    made: SSAValue = scope.b.op(word, *values, types=[scope.type(view.types[0])])
    return made


_MIRRORED: Final = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le"}
_UPWARDS: Final = {"lt": True, "ge": True, "le": False, "gt": False}
"""True if a missing bound becomes the next number above it."""


def _narrowed(scope: Scope, word: str, values: list[SSAValue]) -> list[SSAValue]:
    """Compare numbers that were only widened in their own type.

    The bound is the one of that type that decides the same.

    Frameworks widen `x < 0.99` to float64. Numbers of the narrow type below 0.99 are those below the next one above it.
    """
    for at in range(2):
        value, other = values[at], values[1 - at]
        source = _widened(value)
        bound = scope.splat_of(other)
        if source is None or bound is None:
            continue
        direction = word if at == 0 else _MIRRORED.get(word, word)
        found = _bound(float(bound), direction, element_of(source))
        if found is not None:
            made = [source, scope.splat(found, source, shape_of(other))]
            return made if at == 0 else made[::-1]
    return values


def _widened(value: SSAValue) -> SSAValue | None:
    """Return the narrower floats that a value was cast from, or None."""
    if not isinstance(value, OpResult) or value.op.name != "ttir.typecast":
        return None
    source = value.op.operands[0]
    if not is_float(element_of(source)) or not is_float(element_of(value)):
        return None
    # float16 numbers are not all bfloat16 numbers.
    same = "f16" not in (getattr(element_of(source), "name", ""), getattr(element_of(value), "name", ""))
    return source if same and width_of(element_of(source)) < width_of(element_of(value)) else None


def _bound(bound: float, direction: str, element: Attribute) -> float | None:
    """Return the bound of a narrow type that decides equally, or None."""
    import numpy as np

    dtype = numpy_dtype(element)
    with np.errstate(over="ignore"):
        near = np.asarray(bound, np.float64).astype(dtype)
    if float(near) == bound or math.isnan(bound):
        return float(near)
    if direction not in _UPWARDS:
        return None
    upwards = _UPWARDS[direction]
    if (float(near) < bound) == upwards:
        near = np.nextafter(near, np.asarray(math.inf if upwards else -math.inf, dtype))
    return float(near)


def _select(scope: Scope, view: View) -> SSAValue:
    values = scope.operands(view)
    known = folded(scope, view, values)
    if known is not None:
        return known
    condition, first, second = values
    shape = shape_of(first)
    wanted = shape[:-1] if trailing(view.types[0]) else shape
    if shape_of(condition) != wanted:
        condition = scope.broadcast(condition, wanted)
    if trailing(view.types[0]):
        condition = scope.broadcast(scope.reshape(condition, (*wanted, 1)), shape)
    return scope.select(condition, first, second)


def _clamp(scope: Scope, view: View) -> SSAValue:
    low, value, high = values = scope.operands(view)
    known = folded(scope, view, values)
    if known is not None:
        return known
    made: SSAValue = scope.b.clamp_tensor(value, low, high, types=[tensor(shape_of(value), element_of(value))])
    return made


ROWS: Final = {"stablehlo.compare": _compare, "stablehlo.select": _select, "stablehlo.clamp": _clamp}
