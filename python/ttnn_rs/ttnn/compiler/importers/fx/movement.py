"""Movement of elements: shapes, parts, joins, padding."""

from __future__ import annotations

import math
from typing import Any, Final

from ttnn.compiler.importers.builder import scalar, shape_of
from ttnn.compiler.importers.builder.padding import edges
from ttnn.compiler.importers.builder.steps import refuse
from ttnn.compiler.importers.fx.compare import select
from ttnn.compiler.importers.fx.scope import Arguments, Row, Scope
from ttnn.compiler.ir.xdsl_adapter import SSAValue

__all__ = ["ROWS", "part"]


def _same(s: Scope, a: Arguments) -> SSAValue:
    made: SSAValue = a.self
    return s.cast(made, a.element)


def _reshape(s: Scope, a: Arguments) -> SSAValue:
    return s.reshape(a.self if a.self is not None else a.input, a.shape)


def _view_dtype(s: Scope, a: Arguments) -> SSAValue:
    if a.fake("self").dtype != a.dtype:
        refuse("between element types has no TTIR operation")
    return _reshape(s, a)


def _permute(s: Scope, a: Arguments) -> SSAValue:
    rank = len(shape_of(a.self))
    return s.permute(a.self, [s.dim(one, rank) for one in a.dims])


def _transpose(s: Scope, a: Arguments) -> SSAValue:
    rank = len(shape_of(a.self))
    if rank < 2:
        made: SSAValue = a.self
        return made
    first, second = s.dim(a.dim0, rank), s.dim(a.dim1, rank)
    order = list(range(rank))
    order[first], order[second] = second, first
    return s.permute(a.self, order)


def _swap(s: Scope, a: Arguments) -> SSAValue:
    made: SSAValue = a.self
    return s.swap(made) if len(shape_of(made)) > 1 else made


def _movedim(s: Scope, a: Arguments) -> SSAValue:
    rank = len(shape_of(a.self))
    sources, targets = (
        [s.dim(one, rank) for one in ([x] if isinstance(x, int) else x)] for x in (a.source, a.destination)
    )
    order: list[int] = [-1] * rank
    for source, target in zip(sources, targets, strict=True):
        order[target] = source
    rest = iter(i for i in range(rank) if i not in sources)
    return s.permute(a.self, [next(rest) if one < 0 else one for one in order])


def _expand(s: Scope, a: Arguments) -> SSAValue:
    made: SSAValue = a.self
    return s.expand(made, a.shape)


def part(s: Scope, x: SSAValue, dim: int, begin: int, end: int, step: int = 1) -> SSAValue:
    """Return a part of a tensor along a dimension."""
    shape = shape_of(x)
    if begin == 0 and end >= shape[dim] and step == 1:
        return x
    begins, ends, steps = [0] * len(shape), list(shape), [1] * len(shape)
    begins[dim], ends[dim], steps[dim] = begin, end, step
    return s.slice(x, begins, ends, steps)


def _bounds(a: Arguments, size: int) -> tuple[int, int, int]:
    return slice(a.start, a.end, a.step).indices(size)


def _slice(s: Scope, a: Arguments) -> SSAValue:
    shape = shape_of(a.self)
    dim = s.dim(a.dim, len(shape))
    begin, end, step = _bounds(a, shape[dim])
    if not math.prod(a.shape):
        return s.splat(0, a.self, a.shape)
    return part(s, a.self, dim, begin, end, step)


def _select(s: Scope, a: Arguments) -> SSAValue:
    shape = shape_of(a.self)
    dim = s.dim(a.dim, len(shape))
    index = a.index % shape[dim]
    return s.reshape(part(s, a.self, dim, index, index + 1), a.shape)


def _narrow(s: Scope, a: Arguments) -> SSAValue:
    if isinstance(a.start, SSAValue):
        refuse("at a place that is data has no TTIR operation")
    shape = shape_of(a.self)
    dim = s.dim(a.dim, len(shape))
    begin = a.start % shape[dim] if a.start < 0 else a.start
    return part(s, a.self, dim, begin, begin + a.length)


def _split(s: Scope, a: Arguments) -> list[SSAValue]:
    """Import splits of any kind: PyTorch states the sizes."""
    dim = s.dim(a.dim or 0, len(shape_of(a.self)))
    parts, begin = [], 0
    for one in a.results:
        size = int(one.shape[dim])
        parts.append(part(s, a.self, dim, begin, begin + size))
        begin += size
    return parts


def _unbind(s: Scope, a: Arguments) -> list[SSAValue]:
    dim = s.dim(a.dim, len(shape_of(a.self)))
    return [s.reshape(part(s, a.self, dim, i, i + 1), one.shape) for i, one in enumerate(a.results)]


def _cat(s: Scope, a: Arguments) -> SSAValue:
    values = [s.cast(one, a.element) for one in a.tensors]
    rank = len(a.shape)
    return s.concat([one for one in values if len(shape_of(one)) == rank], s.dim(a.dim, rank))


def _stack(s: Scope, a: Arguments) -> SSAValue:
    rank = len(a.shape)
    dim = s.dim(a.dim, rank)
    values = []
    for one in a.tensors:
        shape = list(shape_of(one))
        shape.insert(dim, 1)
        values.append(s.reshape(s.cast(one, a.element), shape))
    return s.concat(values, dim)


def _roll(s: Scope, a: Arguments) -> SSAValue:
    x, shape = a.self, shape_of(a.self)
    shifts = [a.shifts] if isinstance(a.shifts, int) else a.shifts
    if not a.dims:
        flat = s.reshape(x, [math.prod(shape)])
        return s.reshape(_rolled(s, flat, 0, shifts[0]), shape)
    for count, dim in zip(shifts, a.dims, strict=True):
        x = _rolled(s, x, s.dim(dim, len(shape)), count)
    found: SSAValue = x
    return found


def _rolled(s: Scope, x: SSAValue, dim: int, count: int) -> SSAValue:
    size = shape_of(x)[dim]
    at = (-count) % size if size else 0
    if not at:
        return x
    return s.concat([part(s, x, dim, at, size), part(s, x, dim, 0, at)], dim)


def _repeat(s: Scope, a: Arguments) -> SSAValue:
    counts = list(a.repeats if a.repeats is not None else a.dims)
    shape = list(shape_of(a.self))
    rank = max(len(counts), len(shape))
    shape = [1] * (rank - len(shape)) + shape
    counts = [1] * (rank - len(counts)) + counts
    if not math.prod(counts):
        return s.splat(0, a.self, a.shape)
    made: SSAValue = s.reshape(a.self, shape)
    if any(one != 1 for one in counts):
        made = s.b.repeat(made, repeat_dimensions=counts)
    return made


def _interleave(s: Scope, a: Arguments) -> SSAValue:
    if not isinstance(a.repeats, int):
        refuse("by counts that are data has no TTIR operation")
    x = a.self
    if a.dim is None:
        x = s.reshape(x, [math.prod(shape_of(x))])
    shape = shape_of(x)
    dim = s.dim(a.dim or 0, len(shape))
    wide = s.reshape(x, [*shape[: dim + 1], 1, *shape[dim + 1 :]])
    wide = s.expand(wide, [*shape[: dim + 1], a.repeats, *shape[dim + 1 :]])
    return s.reshape(wide, a.shape)


def _triangle(upper: bool) -> Row:
    def row(s: Scope, a: Arguments) -> SSAValue:
        import numpy as np

        rows, columns = a.shape[-2:]
        mask: Any = np.tri(rows, columns, a.diagonal - (1 if upper else 0), dtype=bool)
        mask = (~mask if upper else mask).reshape([1] * (len(a.shape) - 2) + [rows, columns])
        return select(s, s.b.constant(mask, scalar("i1")), a.self, 0, a)

    return row


def _pad(s: Scope, a: Arguments) -> SSAValue:
    mode = a.mode or "constant"
    shape = shape_of(a.self)
    rank = len(shape)
    low, high = [0] * rank, [0] * rank
    for i in range(len(a.pad) // 2):
        low[rank - 1 - i], high[rank - 1 - i] = a.pad[2 * i], a.pad[2 * i + 1]
    if mode == "constant":
        value = a.value if a.value is not None else 0.0
        return edges(s, a.self, s.splat(value, a.self, ()), low, high)
    x = a.self
    for dim in range(rank):
        if low[dim] or high[dim]:
            x = _mirrored(s, x, dim, low[dim], high[dim], mode)
    found: SSAValue = x
    return found


def _mirrored(s: Scope, x: SSAValue, dim: int, low: int, high: int, mode: str) -> SSAValue:
    """Return a tensor padded along a dimension by its own elements."""
    size = shape_of(x)[dim]
    if low < 0 or high < 0:
        x = part(s, x, dim, max(0, -low), size - max(0, -high))
        low, high, size = max(0, low), max(0, high), shape_of(x)[dim]

    def reverse(one: SSAValue) -> SSAValue:
        places = range(shape_of(one)[dim])
        return s.concat([part(s, one, dim, i, i + 1) for i in reversed(places)], dim)

    def repeated(one: SSAValue, count: int) -> SSAValue:
        shape = list(shape_of(one))
        shape[dim] = count
        return s.expand(one, shape)

    before: list[SSAValue] = []
    after: list[SSAValue] = []
    if mode == "reflect":
        before = [reverse(part(s, x, dim, 1, low + 1))] if low else []
        after = [reverse(part(s, x, dim, size - 1 - high, size - 1))] if high else []
    elif mode == "replicate":
        before = [repeated(part(s, x, dim, 0, 1), low)] if low else []
        after = [repeated(part(s, x, dim, size - 1, size), high)] if high else []
    elif mode == "circular":
        before = [part(s, x, dim, size - low, size)] if low else []
        after = [part(s, x, dim, 0, high)] if high else []
    else:
        refuse(f"with mode {mode} has no TTIR operation")
    return s.concat([*before, x, *after], dim)


def _by_parts(s: Scope, x: SSAValue, dim: int, begin: int, end: int, middle: SSAValue) -> SSAValue:
    """Return a tensor with a part replaced."""
    size = shape_of(x)[dim]
    parts = [part(s, x, dim, 0, begin)] if begin else []
    parts.append(middle)
    if end < size:
        parts.append(part(s, x, dim, end, size))
    return s.concat(parts, dim)


def _slice_scatter(s: Scope, a: Arguments) -> SSAValue:
    shape = shape_of(a.self)
    dim = s.dim(a.dim, len(shape))
    begin, end, step = _bounds(a, shape[dim])
    source = s.cast(a.src, a.element)
    if end <= begin:
        made: SSAValue = a.self
        return made
    if step == 1:
        return _by_parts(s, a.self, dim, begin, end, source)
    pieces: list[SSAValue] = []
    at = 0
    for i, place in enumerate(range(begin, end, step)):
        if place > at:
            pieces.append(part(s, a.self, dim, at, place))
        pieces.append(part(s, source, dim, i, i + 1))
        at = place + 1
    if at < shape[dim]:
        pieces.append(part(s, a.self, dim, at, shape[dim]))
    return s.concat(pieces, dim)


def _select_scatter(s: Scope, a: Arguments) -> SSAValue:
    shape = list(shape_of(a.self))
    dim = s.dim(a.dim, len(shape))
    index = a.index % shape[dim]
    wanted = [*shape[:dim], 1, *shape[dim + 1 :]]
    source = s.reshape(s.cast(a.src, a.element), wanted)
    return _by_parts(s, a.self, dim, index, index + 1, source)


def _copy(s: Scope, a: Arguments) -> SSAValue:
    return s.expand(s.to(a.src, a.dtype), a.shape)


def _pixel_shuffle(s: Scope, a: Arguments) -> SSAValue:
    *batch, channels, height, width = shape_of(a.self)
    r, n = a.upscale_factor, len(shape_of(a.self)) - 3
    x = s.reshape(a.self, [*batch, channels // (r * r), r, r, height, width])
    x = s.permute(x, [*range(n), n, n + 3, n + 1, n + 4, n + 2])
    return s.reshape(x, a.shape)


def _pixel_unshuffle(s: Scope, a: Arguments) -> SSAValue:
    *batch, channels, height, width = shape_of(a.self)
    r, n = a.downscale_factor, len(shape_of(a.self)) - 3
    x = s.reshape(a.self, [*batch, channels, height // r, r, width // r, r])
    x = s.permute(x, [*range(n), n, n + 2, n + 4, n + 1, n + 3])
    return s.reshape(x, a.shape)


def _glu(s: Scope, a: Arguments) -> SSAValue:
    shape = shape_of(a.self)
    dim = s.dim(a.dim, len(shape))
    half = shape[dim] // 2
    first, second = part(s, a.self, dim, 0, half), part(s, a.self, dim, half, shape[dim])
    made: SSAValue = s.b.multiply(first, s.b.sigmoid(second))
    return made


_VIEWS: Final = (
    "_reshape_alias", "_unsafe_view", "flatten", "reshape", "squeeze", "unflatten", "unsqueeze", "view_as",
    "reshape_as", "view.default", "view_copy", "unsqueeze_copy", "squeeze_copy", "ravel",
)  # fmt: skip
_SAME: Final = (
    "alias", "clone", "contiguous", "detach", "lift_fresh", "lift_fresh_copy", "lift", "detach_copy", "alias_copy",
    "resolve_conj", "resolve_neg",
)  # fmt: skip

ROWS: Final[dict[str, Row]] = {
    **{f"aten.{name}": _reshape for name in _VIEWS},
    **{f"aten.{name}": _same for name in _SAME},
    **{f"aten.{name}": _split for name in ("split", "chunk", "split_with_sizes", "tensor_split", "unsafe_chunk")},
    **{f"aten.{name}": _split for name in ("unsafe_split", "unsafe_split_with_sizes")},
    **{f"aten.{name}": _expand for name in ("broadcast_to", "expand", "expand_as", "expand_copy")},
    "aten.cat": _cat,
    "aten.concat": _cat,
    "aten.constant_pad_nd": _pad,
    "aten.copy": _copy,
    "aten.glu": _glu,
    "aten.movedim": _movedim,
    "aten.narrow": _narrow,
    "aten.pad": _pad,
    "aten.permute": _permute,
    "aten.pixel_shuffle": _pixel_shuffle,
    "aten.pixel_unshuffle": _pixel_unshuffle,
    "aten.repeat": _repeat,
    "aten.repeat_interleave.self_int": _interleave,
    "aten.roll": _roll,
    "aten.select": _select,
    "aten.select_scatter": _select_scatter,
    "aten.slice": _slice,
    "aten.slice_scatter": _slice_scatter,
    "aten.stack": _stack,
    "aten.t": _swap,
    "aten.tile": _repeat,
    "aten.transpose": _transpose,
    "aten.tril": _triangle(upper=False),
    "aten.triu": _triangle(upper=True),
    "aten.unbind": _unbind,
    "aten.view.dtype": _view_dtype,
}
