"""Reductions along dimensions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

from ttnn.compiler.importers.builder import element_of, shape_of, tensor
from ttnn.compiler.importers.builder.types import is_bool, is_float, is_integer, numpy_dtype
from ttnn.compiler.importers.stablehlo.reducers import combiners, extreme_with_index
from ttnn.compiler.importers.stablehlo.scope import Scope, refuse, trailing
from ttnn.compiler.importers.stablehlo.view import View
from ttnn.compiler.ir.xdsl_adapter import Attribute, Block, OpResult, SSAValue

__all__ = ["ROWS", "combine", "counts_along", "neutral", "reduction"]

_COMBINE: Final = {"sum": "add", "prod": "multiply", "max": "maximum", "min": "minimum"}
_LOGICAL: Final = {"sum": "or", "max": "or", "or": "or", "prod": "and", "min": "and", "and": "and"}


def neutral(kind: str, element: Attribute) -> float:
    """Return what changes nothing in a reduction."""
    if kind in ("sum", "or"):
        return 0
    if kind in ("prod", "and"):
        return 1
    if is_bool(element):
        return kind == "min"
    if is_integer(element):
        import numpy as np

        limits = np.iinfo(numpy_dtype(element))
        return int(limits.min if kind == "max" else limits.max)
    return -math.inf if kind == "max" else math.inf


def combine(scope: Scope, kind: str, value: SSAValue, initial: SSAValue) -> SSAValue:
    """Return a reduction combined with its initial value, unless that changes nothing."""
    element = element_of(value)
    known = scope.splat_of(initial)
    wanted = neutral(kind, element)
    if known is not None and (known == wanted or (kind in ("max", "min") and _lowest(kind, known, element))):
        return value
    name = f"logical_{_LOGICAL[kind]}" if is_bool(element) else _COMBINE[kind]
    made: SSAValue = scope.b.op(name, value, scope.broadcast(initial, shape_of(value)))
    return made


def _lowest(kind: str, value: Any, element: Attribute) -> bool:
    """Return whether a number is the last finite one of its type.

    Frameworks write it for infinity.
    """
    if not is_float(element):
        return False
    import ml_dtypes

    limits: Any = ml_dtypes.finfo(numpy_dtype(element))  # type: ignore[no-untyped-call]
    return bool(value == (limits.min if kind == "max" else limits.max))


def reduction(scope: Scope, kind: str, value: SSAValue, dims: Sequence[int]) -> SSAValue:
    """Return a reduction of one value."""
    element = element_of(value)
    if not dims:
        return value
    entries = {"dim_arg": list(dims), "keep_dim": False}
    if is_bool(element):
        if kind not in _LOGICAL:
            refuse("by xor has no TTIR operation")
        made: SSAValue = scope.b.op(f"reduce_{_LOGICAL[kind]}", value, **entries)
        return made
    if kind not in _COMBINE:
        refuse(f"of integers by {kind} has no TTIR operation")
    return scope.one(scope.b.op(kind, value, **entries))


def counts_along(value: SSAValue, dim: int) -> bool:
    """Return whether a value is 0, 1, 2.. along a dimension."""
    while isinstance(value, OpResult) and value.op.name == "ttir.typecast":
        value = value.op.operands[0]
    if not isinstance(value, OpResult):
        return False
    op: Any = value.op
    if op.name == "ttir.broadcast" and op.get("broadcast_dimensions")[dim] == 1:
        inner = op.operands[0]
        if isinstance(inner, OpResult) and inner.op.name == "ttir.reshape":
            line = inner.op.operands[0]
            wide = shape_of(inner)
            single = wide[dim] == math.prod(wide) and len(shape_of(line)) == 1
            return single and counts_along(line, 0)
        return counts_along(inner, dim)
    return bool(
        op.name == "ttir.arange" and op.get("arange_dimension") == dim and op.get("start") == 0 and op.get("step") == 1
    )


def _reduce(scope: Scope, view: View) -> list[SSAValue]:
    values = scope.operands(view)
    count = len(values) // 2
    block = view.op.regions[0].blocks[0]
    dims = view.ints("dimensions")
    if any(trailing(one) for one in view.types):
        return _complex_sum(scope, block, values, dims)
    kinds = combiners(block)
    if kinds is None or "new" in kinds or "old" in kinds:
        return _with_index(scope, view, block, values, dims)
    results = []
    for kind, value, initial, type_ in zip(kinds, values[:count], values[count:], view.types, strict=True):
        value = scope.cast(value, element_of(scope.type(type_)))
        results.append(combine(scope, kind, reduction(scope, kind, value, dims), initial))
    return results


def _complex_sum(scope: Scope, block: Block, values: Sequence[SSAValue], dims: Sequence[int]) -> list[SSAValue]:
    if combiners(block) != ["sum"]:
        refuse("of complex numbers has no TTIR operation")
    return [combine(scope, "sum", reduction(scope, "sum", values[0], dims), values[1])]


def _with_index(
    scope: Scope, view: View, block: Block, values: Sequence[SSAValue], dims: Sequence[int]
) -> list[SSAValue]:
    """Return the largest or smallest value and its first index."""
    kind = extreme_with_index(block)
    if kind is None or len(dims) != 1:
        refuse("with this body has no TTIR operation")
    value, index, initial, first = values
    if not counts_along(index, dims[0]):
        refuse("of values with indices that do not count along the dimension has no TTIR operation")
    known, number = scope.splat_of(initial), scope.splat_of(first)
    element = element_of(value)
    if known is not None and known != neutral(kind, element) and not _lowest(kind, known, element):
        refuse("with indices and this initial value has no TTIR operation")
    if number is not None and int(number) not in (0, -1):
        refuse("with indices that begin elsewhere has no TTIR operation")
    b, types = scope.b, [scope.type(one) for one in view.types]
    given = value
    if kind == "min":
        given = b.logical_not(value) if is_bool(element) else b.neg(value)
    found = b.argmax(
        given, dim_arg=list(dims), keep_dim=False, types=[tensor(shape_of(types[1]), element_of(types[1]))]
    )
    return [reduction(scope, kind, value, dims), found]


ROWS: Final = {"stablehlo.reduce": _reduce}
