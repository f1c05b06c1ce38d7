"""Elements and slices at positions that are data."""

from __future__ import annotations

import math
from typing import Any, Final

from ttnn.compiler.importers.builder import element_of, scalar, shape_of
from ttnn.compiler.importers.builder.steps import refuse
from ttnn.compiler.importers.builder.types import is_bool
from ttnn.compiler.importers.fx.indexing import take
from ttnn.compiler.importers.onnx.binary import chosen
from ttnn.compiler.importers.onnx.scope import Described, Node, Row, Scope
from ttnn.compiler.importers.onnx.values import Value
from ttnn.compiler.ir.xdsl_adapter import SSAValue

__all__ = ["ROWS"]

_KINDS: Final = {"none": "invalid", "add": "sum", "mul": "prod", "min": "min", "max": "max"}


def _positive(s: Scope, a: Node, at: int, size: int) -> SSAValue:
    """Return positions counted from the front.

    Raises:
        Refusal: They are known, and some of them are outside.
    """
    index = a.needed(at)
    if index.known is not None:
        if index.known.size and (index.known.min() < -size or index.known.max() >= size):
            refuse(f"has positions outside of a dimension of {size}")
        made: SSAValue = s.b.constant(index.known % max(1, size), scalar("si32"))
        return made
    found = a[at]
    return s.where(s.b.lt(found, s.number(0, found)), s.plus(found, size), found)


def _gather(s: Scope, a: Node) -> Any:
    dim = a.axis(0)
    return take(s, a[0], _positive(s, a, 1, a.shape()[dim]), dim)


def _gather_elements(s: Scope, a: Node) -> Any:
    dim = a.axis(0)
    index = _positive(s, a, 1, a.shape()[dim])
    return s.aten("gather", a.dtype, a.shape(1), self=a[0], index=index, dim=dim)


def _vectors(s: Scope, a: Node, shared: int, depth: int) -> SSAValue:
    """Return positions in the flattened dimensions that index vectors address."""
    shape, places = a.shape(), a.shape(1)
    total = None
    index = a[1]
    for i in range(depth):
        begins, ends = [0] * len(places), list(places)
        begins[-1], ends[-1] = i, i + 1
        part = s.reshape(s.slice(index, begins, ends), places[:-1])
        size = shape[shared + i]
        part = s.where(s.b.lt(part, s.number(0, part)), s.plus(part, size), part)
        total = part if total is None else s.b.add(s.times(total, size), part)
    if total is None:
        refuse("has index vectors without numbers")
    return total


def _gather_nd(s: Scope, a: Node) -> Any:
    import numpy as np

    shape, places, shared = a.shape(), a.shape(1), int(a.attribute("batch_dims", 0))
    depth = places[-1]
    position = _vectors(s, a, shared, depth)
    rows = math.prod(shape[shared : shared + depth])
    rest = shape[shared + depth :]
    batch = math.prod(shape[:shared])
    table = s.reshape(a[0], [batch * rows, *rest])
    if batch > 1:
        flat = s.reshape(position, [batch, math.prod(places[shared:-1])])
        begin = s.b.constant((np.arange(batch) * rows).reshape(batch, 1), scalar("si32"))
        position = s.reshape(s.b.add(flat, begin), places[:-1])
    return take(s, table, position, 0)


def _scatter_elements(s: Scope, a: Node) -> Any:
    dim = a.axis(0)
    index = _positive(s, a, 1, a.shape()[dim])
    return _scattered(s, a, a[0], index, a[2], dim)


def _scattered(s: Scope, a: Node, x: SSAValue, index: SSAValue, source: SSAValue, dim: int) -> SSAValue:
    """Return a tensor with elements replaced, added or multiplied."""
    how = str(a.attribute("reduction", "none"))
    if how in ("min", "max"):
        refuse(f"with reduction {how!r} has no TTIR operation")
    if how not in _KINDS:
        refuse(f"has the reduction {how!r}")
    if how != "none" and is_bool(element_of(x)):
        refuse("of bool with a reduction has no TTIR operation")
    reduce = {} if how == "none" else {"reduce": {"add": "sum", "mul": "prod"}[how]}
    made: SSAValue = s.aten("scatter", a.dtype, shape_of(x), self=x, dim=dim, index=index, src=source, **reduce)
    return made


def _scatter_nd(s: Scope, a: Node) -> Any:
    shape, places = a.shape(), a.shape(1)
    depth = places[-1]
    position = _vectors(s, a, 0, depth)
    count, width = math.prod(places[:-1]), math.prod(shape[depth:])
    table = s.reshape(a[0], [math.prod(shape[:depth]), width])
    index = s.expand(s.reshape(position, [count, 1]), [count, width])
    source = s.reshape(a[2], [count, width])
    return s.reshape(_scattered(s, a, table, index, source, 0), shape)


def _one_hot(s: Scope, a: Node) -> Any:
    import numpy as np

    depth = int(a.known(1).reshape(()))
    rank = a.rank() + 1
    axis = int(a.attribute("axis", -1)) % rank
    places, dtype = a.shape(), a.needed(2).dtype
    index = s.cast(a[0], scalar("si32"))
    index = s.where(s.b.lt(index, s.number(0, index)), s.plus(index, depth), index)
    index = s.reshape(index, [*places[:axis], 1, *places[axis:]])
    line = [1] * rank
    line[axis] = depth
    found = s.b.eq(index, s.b.constant(np.arange(depth).reshape(line), scalar("si32")))
    values = a[2]
    off, on = (s.reshape(s.slice(values, [i], [i + 1]), [1] * rank) for i in range(2))
    return Value(dtype, chosen(s, found, on, off, Described((*places[:axis], depth, *places[axis:]), dtype)))


def _compress(s: Scope, a: Node) -> Any:
    import numpy as np

    places = np.flatnonzero(a.known(1))
    axis = a.attribute("axis")
    if axis is None:
        return take(s, s.reshape(a[0], [math.prod(a.shape())]), s.b.constant(places, scalar("si32")), 0)
    return take(s, a[0], s.b.constant(places, scalar("si32")), a.axis(0))


ROWS: Final[dict[tuple[str, str], Row]] = {
    ("", "Compress"): _compress,
    ("", "Gather"): _gather,
    ("", "GatherElements"): _gather_elements,
    ("", "GatherND"): _gather_nd,
    ("", "OneHot"): _one_hot,
    ("", "Scatter"): _scatter_elements,
    ("", "ScatterElements"): _scatter_elements,
    ("", "ScatterND"): _scatter_nd,
}
