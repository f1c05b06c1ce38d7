"""Comparison, logic, selection and clamping."""

from __future__ import annotations

from typing import Any, Final

from ttnn.compiler.importers.builder import scalar, shape_of
from ttnn.compiler.importers.builder.types import is_bool, is_float
from ttnn.compiler.importers.fx.scope import Arguments, Row, Scope
from ttnn.compiler.importers.fx.types import NARROW
from ttnn.compiler.ir.xdsl_adapter import SSAValue

__all__ = ["ROWS", "select"]


def _compare(name: str) -> Row:
    def row(s: Scope, a: Arguments) -> SSAValue:
        element = s.promoted(a, "self", "other")
        narrow = NARROW.get(str(getattr(a.fake("self"), "dtype", None)))
        if narrow and isinstance(a.other, int) and not is_float(element):
            # PyTorch wraps the number into the type of the tensor.
            bits, signed = narrow
            offset = 1 << (bits - 1) if signed else 0
            number = (a.other + offset) % (1 << bits) - offset
            wrapped: SSAValue = s.b.op(name, *s.pair(a.self, number, element))
            return wrapped
        made: SSAValue = s.b.op(name, *s.pair(a.self, a.other, scalar("f32") if is_bool(element) else element))
        return made

    return row


def _logical(name: str) -> Row:
    def row(s: Scope, a: Arguments) -> SSAValue:
        made: SSAValue = s.b.op(f"logical_{name}", s.truth(a.self), s.truth(a.other))
        return made

    return row


def select(s: Scope, condition: SSAValue, first: Any, second: Any, a: Arguments) -> SSAValue:
    """Return `first` where the condition holds, else `second`: tensors or numbers."""
    shape = a.shape
    values = [s.expand(s.value(one, a.element, len(shape)), shape) for one in (first, second)]
    condition = s.expand(s.truth(condition), shape)
    if is_bool(a.element):
        chosen = s.b.logical_and(condition, values[0])
        other = s.b.logical_and(s.b.logical_not(condition), values[1])
        made: SSAValue = s.b.logical_or(chosen, other)
        return made
    return s.where(condition, *values)


def _where(s: Scope, a: Arguments) -> SSAValue:
    return select(s, a.condition, a.self, a.other, a)


def _masked_fill(s: Scope, a: Arguments) -> SSAValue:
    return select(s, a.mask, a.value, a.self, a)


def _threshold(s: Scope, a: Arguments) -> SSAValue:
    low = s.b.le(a.self, s.number(a.threshold, a.self))
    return select(s, low, a.value, a.self, a)


def _clamp(s: Scope, a: Arguments) -> SSAValue:
    made, rank = s.cast(a.self, a.element), len(shape_of(a.self))
    for name, limit in (("maximum", a.min), ("minimum", a.max)):
        if limit is not None:
            made = s.b.op(name, made, s.value(limit, a.element, rank))
    return made


_WORDS: Final = {"eq": "eq", "ne": "ne", "lt": "lt", "le": "le", "gt": "gt", "ge": "ge"}

ROWS: Final[dict[str, Row]] = {
    **{f"aten.{name}": _compare(word) for name, word in _WORDS.items()},
    "aten.not_equal": _compare("ne"),
    **{f"aten.logical_{name}": _logical(name) for name in ("and", "or", "xor")},
    "aten.clamp": _clamp,
    "aten.clamp_max": _clamp,
    "aten.clamp_min": _clamp,
    "aten.clip": _clamp,
    "aten.masked_fill": _masked_fill,
    "aten.threshold": _threshold,
    "aten.where.self": _where,
    "aten.where.ScalarOther": _where,
    "aten.where.ScalarSelf": _where,
    "aten.where.Scalar": _where,
}
