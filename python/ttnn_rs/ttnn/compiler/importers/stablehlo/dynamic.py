"""Slices at positions that are values, and operations whose sizes are operands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ttnn.compiler.importers.builder import element_of, scalar, shape_of
from ttnn.compiler.importers.builder.caches import fill_rows, update_rows
from ttnn.compiler.importers.builder.gathers import clamp
from ttnn.compiler.importers.builder.padding import edges
from ttnn.compiler.importers.builder.scatters import Scatter, scatter
from ttnn.compiler.importers.stablehlo.scope import Scope, refuse, trailing
from ttnn.compiler.importers.stablehlo.view import View
from ttnn.compiler.ir.xdsl_adapter import SSAValue

__all__ = ["ROWS"]


def _starts(scope: Scope, starts: Sequence[SSAValue], shape: Sequence[int], sizes: Sequence[int]) -> list[int] | None:
    """Return starts that are constant, moved into range as StableHLO does.

    Else None.
    """
    known = scope.integers(starts)
    if known is None:
        return None
    return [min(max(one, 0), size - part) for one, size, part in zip(known, shape, sizes, strict=True)]


def _positions(scope: Scope, starts: Sequence[SSAValue], shape: Sequence[int], sizes: Sequence[int]) -> SSAValue:
    """Return starts as one value, moved into range."""
    parts = []
    for one, size, part in zip(starts, shape, sizes, strict=True):
        parts.append(clamp(scope, scope.reshape(scope.cast(one, scalar("i32")), [1]), size - part))
    return scope.concat(parts, 0)


def _slice(scope: Scope, view: View) -> SSAValue:
    value, *starts = scope.operands(view)
    sizes, shape = view.ints("slice_sizes"), shape_of(value)
    if trailing(view.types[0]):
        refuse("of complex numbers has no TTIR operation")
    known = _starts(scope, starts, shape, sizes)
    if known is not None:
        return scope.slice(value, known, [begin + size for begin, size in zip(known, sizes, strict=True)])
    begins = _positions(scope, starts, shape, sizes)
    ends = scope.b.add(begins, scope.b.constant(sizes, element_of(begins)))
    made: SSAValue = scope.b.slice_dynamic(
        value, begins, ends, step=[1] * len(sizes), types=[scope.type(view.types[0])]
    )
    return made


def _update(scope: Scope, view: View) -> SSAValue:
    value, update, *starts = scope.operands(view)
    sizes, shape = shape_of(update), shape_of(value)
    if trailing(view.types[0]):
        refuse("of complex numbers has no TTIR operation")
    if sizes == shape:
        return update
    known = _starts(scope, starts, shape, sizes)
    # The old elements must not be read by another operation.
    sole = len(list(view.op.operands[0].uses)) == 1
    if known is not None:
        made = fill_rows(scope, value, update) if sole and not any(known) else None
        return _replaced(scope, value, update, known) if made is None else made
    rank = len(shape)
    moving = [i for i in range(rank) if sizes[i] != shape[i]]
    if len(moving) == 1:
        (dim,) = moving
        begin = clamp(scope, scope.reshape(scope.cast(starts[dim], scalar("i32")), [1]), shape[dim] - sizes[dim])
        made = update_rows(scope, value, update, begin) if sole and dim == 2 else None
        if made is not None:
            return made
        index = begin
        if sizes[dim] > 1:
            index = scope.b.add(scope.broadcast(begin, [sizes[dim]]), scope.arange(sizes[dim], scalar("i32")))
        line = [1] * rank
        line[dim] = sizes[dim]
        factors = [1 if i == dim else size for i, size in enumerate(sizes)]
        wide = scope.b.repeat(scope.reshape(index, line), repeat_dimensions=factors)
        return scope.one(scope.b.scatter(value, wide, update, dim=dim, scatter_reduce_type="invalid"))
    everything = tuple(range(rank))
    how = Scatter(everything, (), (), (), everything, 0, "invalid")
    # The starts fit already: no update is left out.
    checked, scope.checked = scope.checked, False
    found = scatter(scope, value, _positions(scope, starts, shape, sizes), update, how)
    scope.checked = checked
    return found


def _replaced(scope: Scope, value: SSAValue, update: SSAValue, starts: Sequence[int]) -> SSAValue:
    """Return a value with a part replaced.

    Slices before and after it in each dimension.
    """
    shape, part = shape_of(value), update
    for dim in reversed(range(len(shape))):
        size = shape_of(part)[dim]
        if size == shape[dim]:
            continue
        # In the dimensions before this one the part is still as small as the update.
        begins, ends = list(starts), [begin + n for begin, n in zip(starts, shape_of(update), strict=True)]
        for later in range(dim, len(shape)):
            begins[later], ends[later] = 0, shape[later]
        before, after = (begins, list(ends)), (list(begins), ends)
        before[1][dim] = starts[dim]
        after[0][dim] = starts[dim] + size
        pieces = []
        if starts[dim] > 0:
            pieces.append(scope.slice(value, *before))
        pieces.append(part)
        if starts[dim] + size < shape[dim]:
            pieces.append(scope.slice(value, *after))
        part = scope.concat(pieces, dim)
    return part


def _pad(scope: Scope, view: View) -> SSAValue:
    value, fill, *counts = scope.operands(view)
    known = [scope.constant(one) for one in counts]
    if any(one is None for one in known):
        refuse("with sizes that are no constants has no TTIR operation")
    low, high, inner = ([int(n) for n in one] for one in known)
    if any(inner):
        refuse("with padding between elements has no TTIR operation")
    return edges(scope, value, fill, low, high)


def _real_slice(scope: Scope, view: View) -> SSAValue:
    value, *bounds = scope.operands(view)
    known: list[Any] = [scope.constant(one) for one in bounds]
    if any(one is None for one in known):
        refuse("with bounds that are no constants has no TTIR operation")
    begins, ends, steps = ([int(n) for n in one] for one in known)
    return scope.slice(value, begins, ends, steps)


ROWS: Final = {
    "stablehlo.dynamic_slice": _slice,
    "stablehlo.dynamic_update_slice": _update,
    "stablehlo.dynamic_pad": _pad,
    "stablehlo.real_dynamic_slice": _real_slice,
}
