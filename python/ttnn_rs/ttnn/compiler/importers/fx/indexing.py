"""Elements and slices at positions that are data."""

from __future__ import annotations

import math
from typing import Any, Final

from ttnn.compiler.importers.builder import element_of, scalar, shape_of, tensor
from ttnn.compiler.importers.builder.steps import refuse
from ttnn.compiler.importers.builder.types import is_bool, is_integer
from ttnn.compiler.importers.fx.compare import select
from ttnn.compiler.importers.fx.scope import Arguments, Row, Scope
from ttnn.compiler.ir.xdsl_adapter import SSAValue

__all__ = ["ROWS", "take"]


def _positive(s: Scope, index: SSAValue, size: int) -> SSAValue:
    """Return positions counted from the front."""
    known = s.constant(index)
    if known is not None:
        made: SSAValue = s.b.constant(known % size, element_of(index))
        return made
    return s.where(s.b.lt(index, s.number(0, index)), s.plus(index, size), index)


def take(s: Scope, x: SSAValue, index: SSAValue, dim: int) -> SSAValue:
    """Return slices along a dimension, at positions of any shape.

    In its place: the exact elements.
    """
    shape, places = shape_of(x), shape_of(index)
    rest = [size for i, size in enumerate(shape) if i != dim]
    count, width = math.prod(places), math.prod(rest)
    wanted = [*shape[:dim], *places, *shape[dim + 1 :]]
    if not count * width:
        return s.splat(0, x, wanted)
    table = s.permute(x, [dim, *(i for i in range(len(shape)) if i != dim)])
    table = s.reshape(table, [shape[dim], width])
    found = s.reshape(s.look_up(table, s.reshape(index, [1, count])), [*places, *rest])
    order = [*range(len(places), len(places) + dim), *range(len(places)), *range(len(places) + dim, len(wanted))]
    return s.permute(found, order)


def _embedding(s: Scope, a: Arguments) -> SSAValue:
    return take(s, a.weight, a.indices, 0)


def _index_select(s: Scope, a: Arguments) -> SSAValue:
    shape = shape_of(a.self)
    if not shape:
        made: SSAValue = a.self
        return made
    return take(s, a.self, a.index, s.dim(a.dim, len(shape)))


def _gather(s: Scope, a: Arguments) -> SSAValue:
    x, index = a.self, a.index
    rank = len(shape_of(x))
    if not rank:
        made: SSAValue = x
        return made
    dim = s.dim(a.dim, rank)
    cut = [size if i == dim else shape_of(index)[i] for i, size in enumerate(shape_of(x))]
    x = s.slice(x, [0] * rank, cut)

    def gathered(one: SSAValue) -> SSAValue:
        found: SSAValue = s.b.gather(one, index, dim=dim, types=[tensor(a.shape, element_of(one))])
        return found

    if is_bool(element_of(x)):
        return s.cast(gathered(s.cast(x, scalar("bf16"))), a.element)
    if is_integer(element_of(x)):
        return s.joined([gathered(one) for one in s.pieces(x, 16)], 16)
    return gathered(x)


def _index(s: Scope, a: Arguments) -> SSAValue:
    """Import indexing by tensors: their dimensions become one, which is looked up."""
    x = a.self
    indices = list(a.indices)
    dims = [i for i, one in enumerate(indices) if one is not None]
    if any(is_bool(element_of(indices[i])) for i in dims):
        refuse("by a mask gives a count that depends on data")
    shape = shape_of(x)
    parts = s.together(*(_positive(s, indices[i], shape[i]) for i in dims))
    if len(dims) == 1:
        return take(s, x, parts[0], dims[0])
    rest = [i for i in range(len(shape)) if i not in dims]
    table = s.reshape(s.permute(x, [*dims, *rest]), [math.prod(shape[i] for i in dims), *(shape[i] for i in rest)])
    position = None
    for part, i in zip(parts, dims, strict=True):
        position = part if position is None else s.b.add(s.times(position, shape[i]), part)
    assert position is not None
    found = take(s, table, position, 0)
    if dims == list(range(dims[0], dims[-1] + 1)):
        # Adjacent indices stand in their own place.
        count = len(shape_of(position))
        order = [*range(count, count + dims[0]), *range(count), *range(count + dims[0], len(shape_of(found)))]
        found = s.permute(found, order)
    return found


def _masked(s: Scope, a: Arguments) -> SSAValue:
    """Import assignment at a mask, of one value."""
    (mask,) = [one for one in a.indices if one is not None]
    if a.indices[0] is None or math.prod(shape_of(a.values)) != 1 or a.accumulate:
        refuse("by a mask of values whose count depends on data has no TTIR operation")
    rank = len(shape_of(a.self))
    have = shape_of(mask)
    return select(s, s.reshape(mask, [*have, *[1] * (rank - len(have))]), s.reshape(a.values, [1] * rank), a.self, a)


def _index_put(s: Scope, a: Arguments) -> SSAValue:
    x = a.self
    indices = list(a.indices)
    dims = [i for i, one in enumerate(indices) if one is not None]
    if len(dims) == 1 and is_bool(element_of(indices[dims[0]])):
        return _masked(s, a)
    if any(is_bool(element_of(indices[i])) for i in dims) or dims != list(range(len(dims))):
        refuse("at positions of this form has no TTIR operation")
    shape = shape_of(x)
    parts = s.together(*(_positive(s, indices[i], shape[i]) for i in dims))
    position = None
    for part, i in zip(parts, dims, strict=True):
        position = part if position is None else s.b.add(s.times(position, shape[i]), part)
    assert position is not None
    count, rest = math.prod(shape_of(position)), shape[len(dims) :]
    rows, width = math.prod(shape[: len(dims)]), math.prod(rest)
    values = s.expand(s.cast(a.values, a.element), [*shape_of(position), *rest])
    index = s.expand(s.reshape(position, [count, 1]), [count, width])
    kind = "sum" if a.accumulate else "invalid"
    return s.reshape(
        _scattered(s, s.reshape(x, [rows, width]), index, s.reshape(values, [count, width]), 0, kind), shape
    )


def _scattered(s: Scope, x: SSAValue, index: SSAValue, source: SSAValue, dim: int, kind: str) -> SSAValue:
    element = element_of(x)
    if is_bool(element):
        x, source = s.cast(x, scalar("bf16")), s.cast(source, scalar("bf16"))
    made: SSAValue = s.b.scatter(x, index, source, dim=dim, scatter_reduce_type=kind)
    return s.cast(made, element)


def _scatter(kind: str) -> Row:
    def row(s: Scope, a: Arguments) -> SSAValue:
        x, index = a.self, a.index
        rank = len(shape_of(x))
        if not rank:
            refuse("of a scalar has no TTIR operation")
        dim = s.dim(a.dim, rank)
        places = shape_of(index)
        source: Any = a.src if a.src is not None else a.value
        if not isinstance(source, SSAValue):
            source = s.b.splat(source, places, a.element)
        source = s.slice(s.cast(source, a.element), [0] * rank, places)
        wanted = a.reduce if isinstance(a.reduce, str) else None
        found = {"add": "sum", "multiply": "prod", "sum": "sum", "prod": "prod"}
        if wanted is not None and wanted not in found:
            refuse(f"with {wanted} has no TTIR operation")
        if wanted is not None and a.include_self is False:
            refuse("without the old values has no TTIR operation")
        how = found[wanted] if wanted is not None else kind
        if any(have != size for i, (have, size) in enumerate(zip(places, shape_of(x), strict=True)) if i != dim):
            ends = [size if i == dim else places[i] for i, size in enumerate(shape_of(x))]
            return _into(s, x, _scattered(s, s.slice(x, [0] * rank, ends), index, source, dim, how))
        return _scattered(s, x, index, source, dim, how)

    return row


def _into(s: Scope, x: SSAValue, corner: SSAValue) -> SSAValue:
    """Return a tensor that begins with the elements of a smaller one."""
    shape, rank = shape_of(x), len(shape_of(x))
    for dim in reversed(range(rank)):
        have = shape_of(corner)
        if have[dim] == shape[dim]:
            continue
        begins, ends = [0] * rank, list(have)
        begins[dim], ends[dim] = have[dim], shape[dim]
        corner = s.concat([corner, s.slice(x, begins, ends)], dim)
    return corner


def _embedding_bag(s: Scope, a: Arguments) -> list[SSAValue | None]:
    """Import sums and means of rows whose bags are known.

    They are a product with ones.
    """
    import numpy as np

    offsets = s.constant(a.offsets)
    if offsets is None or a.mode not in (0, 1) or a.used - {0}:
        refuse("with offsets that are data has no TTIR operation")
    count = shape_of(a.indices)[0]
    ends = [*offsets.tolist(), count]
    bags = a.shape[0]
    ones = np.zeros((bags, count))
    for i in range(bags):
        size = ends[i + 1] - ends[i]
        ones[i, ends[i] : ends[i + 1]] = 1 / size if a.mode and size else 1
    rows = s.wide(take(s, a.weight, a.indices, 0))
    if a.per_sample_weights is not None:
        rows = s.b.multiply(rows, s.reshape(s.wide(a.per_sample_weights), [count, 1]))
    made = s.cast(s.matmul(s.b.constant(ones, scalar("f32")), rows), a.element)
    return [made, None, None, None]


def _flip(s: Scope, a: Arguments) -> SSAValue:
    """Import reversal as a lookup: the chip's own has 8 bits."""
    import numpy as np

    x = a.self
    for dim in s.dims(list(a.dims), len(shape_of(x))) if a.dims else []:
        x = take(s, x, s.b.constant(np.arange(shape_of(x)[dim])[::-1], scalar("si32")), dim)
    found: SSAValue = x
    return found


def _diagonal(s: Scope, a: Arguments) -> SSAValue:
    import numpy as np

    x, rank = a.self, len(shape_of(a.self))
    first, second = s.dim(a.dim1, rank), s.dim(a.dim2, rank)
    rest = [i for i in range(rank) if i not in (first, second)]
    shape = shape_of(x)
    flat = s.reshape(s.permute(x, [*rest, first, second]), [*(shape[i] for i in rest), shape[first] * shape[second]])
    places = np.diagonal(np.arange(shape[first] * shape[second]).reshape(shape[first], shape[second]), a.offset)
    return take(s, flat, s.b.constant(places, scalar("si32")), len(rest))


ROWS: Final[dict[str, Row]] = {
    "aten._embedding_bag": _embedding_bag,
    "aten._embedding_bag_forward_only": _embedding_bag,
    "aten.diagonal": _diagonal,
    "aten.diagonal_copy": _diagonal,
    "aten.flip": _flip,
    "aten._unsafe_index": _index,
    "aten.embedding": _embedding,
    "aten.gather": _gather,
    "aten.index": _index,
    "aten.index_put": _index_put,
    "aten.index_select": _index_select,
    "aten.scatter": _scatter("invalid"),
    "aten.scatter_add": _scatter("sum"),
    "aten.scatter_reduce": _scatter("invalid"),
}
