"""Arithmetic on constant integer scalars: counters of loops, sizes and positions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from ttnn.compiler.importers.builder import element_of, shape_of
from ttnn.compiler.importers.builder.types import is_bool, is_integer, is_signed, width_of
from ttnn.compiler.importers.stablehlo.scope import Scope
from ttnn.compiler.importers.stablehlo.view import View
from ttnn.compiler.ir.xdsl_adapter import Attribute, SSAValue

__all__ = ["folded"]


def _divide(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


_COMPARE: Final[dict[str, Callable[[int, int], bool]]] = {
    "EQ": lambda a, b: a == b,
    "NE": lambda a, b: a != b,
    "LT": lambda a, b: a < b,
    "LE": lambda a, b: a <= b,
    "GT": lambda a, b: a > b,
    "GE": lambda a, b: a >= b,
}
_STEPS: Final[dict[str, Callable[..., int]]] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "divide": lambda a, b: _divide(a, b) if b else -1,
    "remainder": lambda a, b: a - b * _divide(a, b) if b else a,
    "maximum": max,
    "minimum": min,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "not": lambda a: ~a,
    "negate": lambda a: -a,
    "abs": abs,
    "convert": lambda a: a,
    "select": lambda p, a, b: a if p else b,
    "clamp": lambda low, a, high: min(max(low, a), high),
}


def _wrapped(value: int, element: Attribute) -> int:
    """Return an integer modulo the width of its type."""
    if is_bool(element):
        return value & 1
    width = width_of(element)
    value &= (1 << width) - 1
    return value - (1 << width) if is_signed(element) and value >> (width - 1) else value


def folded(scope: Scope, view: View, values: Sequence[SSAValue]) -> SSAValue | None:
    """Return the result of integer scalars that are all constant; else None."""
    if any(shape_of(one) or not (is_integer(element_of(one)) or is_bool(element_of(one))) for one in values):
        return None
    numbers = scope.integers(values)
    if numbers is None:
        return None
    name = view.name.partition(".")[2]
    step: Any = _COMPARE.get(view.word("comparison_direction")) if name == "compare" else _STEPS.get(name)
    type_ = scope.type(view.types[0])
    if step is None or not (is_integer(type_.element_type) or is_bool(type_.element_type)):
        return None
    if name == "convert" and is_bool(type_.element_type):
        return scope.splat(int(numbers[0] != 0), type_)
    return scope.splat(_wrapped(int(step(*numbers)), type_.element_type), type_)
