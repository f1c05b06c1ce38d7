"""Orders: the largest elements, sorting.

The chip sorts bfloat16. Elements of float32 are ranked by comparison with each other.
"""

from __future__ import annotations

import math
from typing import Final

from ttnn.compiler.importers.builder import element_of, scalar, shape_of, tensor
from ttnn.compiler.importers.builder.steps import refuse
from ttnn.compiler.importers.fx.scope import Arguments, Row, Scope
from ttnn.compiler.importers.fx.unary import nan
from ttnn.compiler.ir.xdsl_adapter import SSAValue

__all__ = ["ROWS"]

_COMPARISONS: Final = 1 << 26
"""Limit of comparisons of one ranking."""
_CHUNK: Final = 1024
"""Longest part whose elements are compared with each other.

Sums of its positions are exact.
"""


def _topk(s: Scope, a: Arguments) -> list[SSAValue]:
    x, shape = a.self, a.shape
    if not shape:
        return [x, s.splat(0, scalar("si32"), ())]
    dim = s.dim(a.dim, len(shape))
    if element_of(x) == scalar("f32"):
        return _ranked(s, x, dim, a.k, largest=bool(a.largest))
    if element_of(x) != scalar("bf16"):
        refuse("of other elements than bfloat16 and float32 has no exact TTIR operation")
    types = [tensor(shape, element_of(x)), tensor(shape, "si32")]
    values, indices = s.b.topk(x, k=a.k, dim=dim, largest=bool(a.largest), sorted=True, types=types)
    return [values, indices]


def _sort(s: Scope, a: Arguments) -> list[SSAValue]:
    x, shape = a.self, shape_of(a.self)
    if not shape:
        return [x, s.splat(0, scalar("si32"), ())]
    dim = s.dim(a.dim, len(shape))
    if element_of(x) == scalar("f32"):
        return _ranked(s, x, dim, shape[dim], largest=bool(a.descending))
    if element_of(x) != scalar("bf16"):
        refuse("of other elements than bfloat16 and float32 has no exact TTIR operation")
    types = [tensor(shape, element_of(x)), tensor(shape, "si32")]
    values, indices = s.b.sort(x, dim=dim, descending=bool(a.descending), stable=True, types=types)
    return [values, indices]


def _argsort(s: Scope, a: Arguments) -> SSAValue:
    return _sort(s, a)[1]


def _ranked(s: Scope, x: SSAValue, dim: int, count: int, *, largest: bool) -> list[SSAValue]:
    """Return the first elements of an order and their positions.

    Of equal ones the first goes first.

    Long dimensions are cut into parts, whose first elements are ranked again. NaN counts as infinity.
    """
    shape = shape_of(x)
    order = [*(i for i in range(len(shape)) if i != dim), dim]
    rows, width = math.prod(shape) // shape[dim], shape[dim]
    if count > _CHUNK and width > _CHUNK:
        refuse(f"of {count:,} of {width:,} elements has no exact TTIR operation")
    flat = s.reshape(s.permute(x, order), [rows, width])
    key = s.one(s.b.where(nan(s, flat), s.splat(math.inf, flat), flat))
    place = s.arange(width, scalar("si32"), [rows, width], 1)
    while width > _CHUNK:
        part = min(_CHUNK, max(64, 1 << (4 * count - 1).bit_length()))
        parts = -(-width // part)
        missing = parts * part - width
        if missing:
            key = s.concat([key, s.splat(-math.inf if largest else math.inf, key, [rows, missing])], 1)
            place = s.concat([place, s.splat(0, place, [rows, missing])], 1)
        key, place = (s.reshape(one, [rows * parts, part]) for one in (key, place))
        key, place = _first(s, key, place, count, largest=largest)
        width = parts * count
        key, place = (s.reshape(one, [rows, width]) for one in (key, place))
    _, place = _first(s, key, place, count, largest=largest)
    values = s.one(s.b.gather(flat, place, dim=1, types=[tensor((rows, count), element_of(flat))]))
    made = [*(shape[i] for i in order[:-1]), count]
    back = [order.index(i) for i in range(len(shape))]
    return [s.permute(s.reshape(one, made), back) for one in (values, place)]


def _first(s: Scope, key: SSAValue, place: SSAValue, count: int, *, largest: bool) -> tuple[SSAValue, SSAValue]:
    """Return the first elements of rows by their order, and their places."""
    import numpy as np

    b, word = s.b, scalar("f32")
    rows, width = shape_of(key)
    if rows * width * max(width, count) > _COMPARISONS:
        refuse(f"of {rows:,} times {width:,} elements has no exact TTIR operation")
    other, own = s.reshape(key, [rows, 1, width]), s.reshape(key, [rows, width, 1])
    before = b.gt(other, own) if largest else b.lt(other, own)
    earlier = b.constant(np.tri(width, k=-1).reshape(1, width, width), scalar("i1"))
    ahead = b.logical_or(before, b.logical_and(b.eq(other, own), earlier))
    rank = s.reshape(s.reduce("sum", s.cast(ahead, word), [2]), [rows, 1, width])
    chosen = s.cast(b.eq(rank, b.constant(np.arange(count).reshape(1, count, 1), word)), word)
    at = b.multiply(chosen, b.constant(np.arange(width).reshape(1, 1, width), word))
    index = s.cast(s.reduce("sum", at, [2]), scalar("si32"))
    found = s.one(b.gather(key, index, dim=1, types=[tensor((rows, count), word)]))
    pieces = [b.gather(one, index, dim=1, types=[tensor((rows, count), word)]) for one in s.pieces(place, 16)]
    return found, s.joined(pieces, 16)


ROWS: Final[dict[str, Row]] = {"aten.argsort": _argsort, "aten.sort": _sort, "aten.topk": _topk}
