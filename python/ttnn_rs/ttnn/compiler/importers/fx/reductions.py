"""Reductions and cumulative operations."""

from __future__ import annotations

import math
from typing import Final

from ttnn.compiler.importers.builder import element_of, scalar, shape_of, tensor
from ttnn.compiler.importers.builder.steps import refuse
from ttnn.compiler.importers.builder.types import is_bool, is_float
from ttnn.compiler.importers.fx.scope import Arguments, Row, Scope
from ttnn.compiler.ir.xdsl_adapter import SSAValue

__all__ = ["ROWS", "log_softmax", "mean", "softmax", "variance"]


def _sum(s: Scope, a: Arguments) -> SSAValue:
    x = s.cast(a.self, a.element)
    dims, keep = s.dims(a.dim, len(shape_of(x))), bool(a.keepdim)
    if is_float(a.element):
        return s.reduce("sum", x, dims, keep=keep)
    return s.wrapped(integer_sum(s, x, dims, keep=keep), a.dtype)


def integer_sum(s: Scope, x: SSAValue, dims: list[int], *, keep: bool) -> SSAValue:
    """Return sums of integers, exact modulo 2^32.

    They are sums of pieces that floats of 24 bits hold.
    """
    count = math.prod(shape_of(x)[i] for i in dims)
    bits = 16 if count <= 256 else 8
    if count > 1 << 16:
        refuse(f"of {count:,} integers has no exact TTIR operation")
    pieces = [s.reduce("sum", s.wide(one), dims, keep=keep) for one in s.pieces(x, bits)]
    return s.joined(pieces, bits)


def mean(s: Scope, x: SSAValue, dims: list[int], *, keep: bool = False) -> SSAValue:
    """Return the mean along dimensions."""
    return s.reduce("mean", x, dims, keep=keep)


def _mean(s: Scope, a: Arguments) -> SSAValue:
    x = s.cast(a.self, a.element)
    return mean(s, x, s.dims(a.dim, len(shape_of(x))), keep=bool(a.keepdim))


def _extreme(name: str) -> Row:
    """Return the row of the largest or smallest values.

    They are those of a tensor, or along dimensions.
    """

    def row(s: Scope, a: Arguments) -> SSAValue:
        dims = s.dims(a.dim, len(shape_of(a.self)))
        return extreme(s, name, a.self, dims, keep=bool(a.keepdim))

    return row


def extreme(s: Scope, name: str, x: SSAValue, dims: list[int], *, keep: bool = False) -> SSAValue:
    """Return the largest or smallest values along dimensions."""
    if is_bool(element_of(x)):
        return s.reduce({"max": "reduce_or", "min": "reduce_and"}[name], x, dims, keep=keep)
    if not is_float(element_of(x)):
        refuse("of integers has no exact TTIR operation")
    return s.reduce(name, x, dims, keep=keep)


def _argument(s: Scope, x: SSAValue, name: str, dim: int | None, *, keep: bool) -> SSAValue:
    if not is_float(element_of(x)):
        refuse("of integers has no exact TTIR operation")
    shape = shape_of(x)
    if not shape:
        return s.one(s.b.splat(0, (), scalar("si32")))
    given = x if name == "max" else s.b.neg(x)
    if dim is None:
        given, dim = s.reshape(given, [math.prod(shape)]), 0
        kept = [1] * len(shape) if keep else []
        found = s.b.argmax(given, dim_arg=[0], keep_dim=True, types=[tensor([1], "si32")])
        return s.reshape(found, kept)
    wanted = [1 if i == dim else size for i, size in enumerate(shape) if keep or i != dim]
    return s.one(s.b.argmax(given, dim_arg=[dim], keep_dim=keep, types=[tensor(wanted, "si32")]))


def _arg(name: str) -> Row:
    def row(s: Scope, a: Arguments) -> SSAValue:
        dim = None if a.dim is None else s.dim(a.dim, len(shape_of(a.self)))
        return _argument(s, a.self, name, dim, keep=bool(a.keepdim))

    return row


def _with_index(name: str) -> Row:
    def row(s: Scope, a: Arguments) -> list[SSAValue | None]:
        dim = s.dim(a.dim, len(shape_of(a.self)))
        values = extreme(s, name, a.self, [dim] if shape_of(a.self) else [], keep=bool(a.keepdim))
        index = _argument(s, a.self, name, dim, keep=bool(a.keepdim)) if 1 in a.used else None
        return [values, index]

    return row


def _product(s: Scope, a: Arguments) -> SSAValue:
    x = s.cast(a.self, a.element)
    if is_float(a.element):
        x = s.wide(x)
    for dim in s.dims(a.dim, len(shape_of(x))):
        x = _multiplied(s, x, dim)
    return s.to(s.reshape(x, a.shape), a.dtype)


def _multiplied(s: Scope, x: SSAValue, dim: int) -> SSAValue:
    """Return the product along a dimension, half by half.

    The chip's own has 8 bits.
    """
    if not shape_of(x)[dim]:
        return s.splat(1, x, [1 if i == dim else size for i, size in enumerate(shape_of(x))])
    while shape_of(x)[dim] > 1:
        shape = list(shape_of(x))
        half = shape[dim] // 2
        parts = []
        for begin, end in ((0, half), (half, 2 * half), (2 * half, shape[dim])):
            begins, ends = [0] * len(shape), list(shape)
            begins[dim], ends[dim] = begin, end
            parts.append(s.slice(x, begins, ends) if end > begin else None)
        x = s.b.multiply(parts[0], parts[1])
        if parts[2] is not None:
            x = s.concat([x, parts[2]], dim)
    return x


def _logical(name: str) -> Row:
    def row(s: Scope, a: Arguments) -> SSAValue:
        x = s.truth(a.self)
        if not math.prod(shape_of(x)):
            return s.splat(int(name == "reduce_and"), x, a.shape)
        return s.reduce(name, x, s.dims(a.dim, len(shape_of(x))), keep=bool(a.keepdim))

    return row


def variance(
    s: Scope, x: SSAValue, dims: list[int], correction: float, *, keep: bool = False
) -> tuple[SSAValue, SSAValue]:
    """Return variance and mean along dimensions."""
    center = mean(s, x, dims, keep=True)
    rest = s.b.subtract(x, center)
    count = math.prod(shape_of(x)[i] for i in dims)
    total = s.reduce("sum", s.b.multiply(rest, rest), dims, keep=keep)
    degrees = count - correction
    found = s.times(total, 1 / degrees if degrees > 0 else math.nan)
    kept = [size for i, size in enumerate(shape_of(x)) if keep or i not in dims]
    if keep:
        kept = list(shape_of(center))
    return found, s.reshape(center, kept)


def _correction(a: Arguments) -> float:
    if a.unbiased is not None:
        return float(bool(a.unbiased))
    return 1.0 if a.correction is None else float(a.correction)


def _variance(root: bool, both: bool) -> Row:
    def row(s: Scope, a: Arguments) -> SSAValue | list[SSAValue]:
        x = s.wide(a.self)
        dims = s.dims(a.dim, len(shape_of(x)))
        found, center = variance(s, x, dims, _correction(a), keep=bool(a.keepdim))
        if root:
            found = s.b.sqrt(found)
        found = s.cast(found, a.element)
        return [found, s.cast(center, a.element)] if both else found

    return row


def _norm(s: Scope, a: Arguments) -> SSAValue:
    order = a.ord if a.ord is not None else a.p
    order = 2 if order is None else float(order)
    x = s.wide(a.self)
    dims = s.dims(a.dim, len(shape_of(x)))
    keep = bool(a.keepdim)
    size = s.b.abs(x)
    if order == 2:
        found = s.b.sqrt(s.reduce("sum", s.b.multiply(x, x), dims, keep=keep))
    elif order == 1:
        found = s.reduce("sum", size, dims, keep=keep)
    elif math.isinf(order):
        found = s.reduce("max" if order > 0 else "min", size, dims, keep=keep)
    elif order == 0:
        found = s.reduce("sum", s.cast(s.b.ne(x, s.number(0, x)), scalar("f32")), dims, keep=keep)
    else:
        total = s.reduce("sum", s.b.pow(size, s.number(order, x)), dims, keep=keep)
        found = s.b.pow(total, s.number(1 / order, total))
    return s.cast(found, a.element)


def _log_sum(s: Scope, a: Arguments) -> SSAValue:
    x = s.wide(a.self)
    dims = s.dims(a.dim, len(shape_of(x)))
    if not math.prod(shape_of(x)):
        return s.cast(s.splat(-math.inf, x, a.shape), a.element)
    top = s.reduce("max", x, dims, keep=True)
    # An infinite maximum is no difference.
    top = s.one(s.b.where(s.b.eq(s.b.abs(top), s.number(math.inf, top)), s.splat(0, top), top))
    total = s.reduce("sum", s.b.exp(s.b.subtract(x, top)), dims, keep=True)
    made = s.b.add(s.b.log(total), top)
    return s.cast(s.reshape(made, a.shape), a.element)


def softmax(s: Scope, x: SSAValue, dim: int) -> SSAValue:
    """Return the softmax along a dimension."""
    if not shape_of(x):
        return s.splat(1, x)
    made: SSAValue = s.b.softmax(x, dimension=s.dim(dim, len(shape_of(x))), numericStable=True)
    return made


def log_softmax(s: Scope, x: SSAValue, dim: int) -> SSAValue:
    """Return the logarithm of the softmax along a dimension."""
    dims = [s.dim(dim, len(shape_of(x)))] if shape_of(x) else []
    rest = s.b.subtract(x, s.reduce("max", x, dims, keep=True))
    made: SSAValue = s.b.subtract(rest, s.b.log(s.reduce("sum", s.b.exp(rest), dims, keep=True)))
    return made


def _softmax(s: Scope, a: Arguments) -> SSAValue:
    return s.cast(softmax(s, s.cast(a.self, a.element), a.dim), a.element)


def _log_softmax(s: Scope, a: Arguments) -> SSAValue:
    return s.cast(log_softmax(s, s.wide(a.self), a.dim), a.element)


def _cumulative(name: str) -> Row:
    def row(s: Scope, a: Arguments) -> SSAValue:
        x = s.cast(a.self, a.element)
        if not is_float(a.element) and name == "cumprod":
            refuse("of integers has no exact TTIR operation")
        if not shape_of(x):
            return x
        dim = s.dim(a.dim, len(shape_of(x)))
        if not is_float(a.element):
            pieces = [s.wide(one) for one in s.pieces(x, 8)]
            if shape_of(x)[dim] > 1 << 16:
                refuse("of that many integers has no exact TTIR operation")
            return s.wrapped(s.joined([s.b.op(name, one, dim=dim) for one in pieces], 8), a.dtype)
        made: SSAValue = s.b.op(name, x, dim=dim)
        return made

    return row


ROWS: Final[dict[str, Row]] = {
    "aten._log_softmax": _log_softmax,
    "aten._softmax": _softmax,
    "aten.all": _logical("reduce_and"),
    "aten.amax": _extreme("max"),
    "aten.amin": _extreme("min"),
    "aten.any": _logical("reduce_or"),
    "aten.argmax": _arg("max"),
    "aten.argmin": _arg("min"),
    "aten.cumprod": _cumulative("cumprod"),
    "aten.cumsum": _cumulative("cumsum"),
    "aten.linalg_vector_norm": _norm,
    "aten.log_softmax": _log_softmax,
    "aten.logsumexp": _log_sum,
    "aten.max.default": _extreme("max"),
    "aten.max.dim": _with_index("max"),
    "aten.mean": _mean,
    "aten.min.default": _extreme("min"),
    "aten.min.dim": _with_index("min"),
    "aten.norm": _norm,
    "aten.prod": _product,
    "aten.softmax": _softmax,
    "aten.std": _variance(root=True, both=False),
    "aten.std_mean": _variance(root=True, both=True),
    "aten.sum": _sum,
    "aten.var": _variance(root=False, both=False),
    "aten.var_mean": _variance(root=False, both=True),
}
