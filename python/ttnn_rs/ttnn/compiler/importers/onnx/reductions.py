"""Reductions, cumulative operations, softmax and orders."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

from ttnn.compiler.importers.builder import element_of, scalar, shape_of, tensor
from ttnn.compiler.importers.builder.steps import refuse
from ttnn.compiler.importers.builder.types import is_bool, is_float
from ttnn.compiler.importers.fx.reductions import integer_sum, log_softmax, softmax
from ttnn.compiler.importers.onnx.movement import reversed_along
from ttnn.compiler.importers.onnx.scope import Node, Row, Scope
from ttnn.compiler.importers.onnx.types import INT64
from ttnn.compiler.importers.onnx.values import Value
from ttnn.compiler.ir.xdsl_adapter import SSAValue

__all__ = ["ROWS"]

_SORTED: Final = 1024
"""Longest dimension that is sorted.

Every element is compared with every other one.
"""


def _dims(a: Node, since: int) -> list[int] | None:
    """Return the dimensions of a reduction; None for none."""
    axes = a.ints("axes", 1, since)
    if not axes:
        return None if a.attribute("noop_with_empty_axes", 0) else list(range(a.rank()))
    return sorted({one % max(1, a.rank()) for one in axes})


def _reduction(function: Callable[[Scope, Node, SSAValue, list[int]], SSAValue], empty: float, since: int = 18) -> Row:
    """Return the row of a reduction of floats or integers.

    Args:
        function: Returns the reduction with all dimensions kept.
        empty: What it is of no elements.
        since: Opset since which the axes are an operand.
    """

    def row(s: Scope, a: Node) -> Any:
        dims = _dims(a, since)
        shape = a.shape()
        if dims is None:
            dims = []
        kept = [1 if i in dims else size for i, size in enumerate(shape)]
        wanted = kept if a.attribute("keepdims", 1) else [size for i, size in enumerate(shape) if i not in dims]
        if 0 in shape:
            return _of_nothing(s, a, empty, wanted)
        return s.reshape(function(s, a, a[0], dims), wanted)

    return row


def _of_nothing(s: Scope, a: Node, empty: float, wanted: list[int]) -> SSAValue:
    if math.isinf(empty) and not a.dtype.is_floating_point:
        import numpy as np

        if a.dtype.name == "bool":
            empty = float(empty > 0)
        else:
            limits = np.iinfo(a.dtype.numpy)
            empty = limits.max if empty > 0 else limits.min
    made: SSAValue = s.b.splat(empty, wanted, element_of(a[0]))
    return made


def _sum(s: Scope, a: Node, x: SSAValue, dims: list[int]) -> SSAValue:
    if is_float(element_of(x)):
        return s.reduce("sum", x, dims, keep=True)
    return s.wrapped(integer_sum(s, x, dims, keep=True), a.dtype) if dims else x


def _mean(s: Scope, a: Node, x: SSAValue, dims: list[int]) -> SSAValue:
    if is_float(element_of(x)):
        return s.reduce("mean", x, dims, keep=True)
    count = math.prod(shape_of(x)[i] for i in dims)
    total = _sum(s, a, x, dims)
    return s.one(s.aten("div", a.dtype, self=total, other=count, rounding_mode="trunc"))


def _extreme(name: str) -> Callable[[Scope, Node, SSAValue, list[int]], SSAValue]:
    def function(s: Scope, a: Node, x: SSAValue, dims: list[int]) -> SSAValue:
        if is_bool(element_of(x)):
            return s.reduce({"max": "reduce_or", "min": "reduce_and"}[name], x, dims, keep=True)
        if is_float(element_of(x)):
            return s.reduce(name, x, dims, keep=True)
        return _halved(s, x, dims, lambda one, other: s.one(s.b.op(f"{name}imum", one, other)))

    return function


def _halved(s: Scope, x: SSAValue, dims: list[int], join: Callable[[SSAValue, SSAValue], SSAValue]) -> SSAValue:
    """Return a reduction by an operation of two tensors."""
    for dim in dims:
        while shape_of(x)[dim] > 1:
            shape = list(shape_of(x))
            half = shape[dim] // 2
            cuts = [(0, half), (half, 2 * half), (2 * half, shape[dim])]
            parts = []
            for begin, end in cuts:
                begins, ends = [0] * len(shape), list(shape)
                begins[dim], ends[dim] = begin, end
                parts.append(s.slice(x, begins, ends) if end > begin else None)
            assert parts[0] is not None
            assert parts[1] is not None
            x = join(parts[0], parts[1])
            if parts[2] is not None:
                x = s.concat([x, parts[2]], dim)
    return x


def _product(s: Scope, a: Node, x: SSAValue, dims: list[int]) -> SSAValue:
    wide = s.wide(x) if is_float(element_of(x)) else x
    made = _halved(s, wide, dims, lambda one, other: s.one(s.b.multiply(one, other)))
    return s.to(made, a.dtype)


def _floats(
    before: Callable[[Scope, SSAValue], SSAValue] | None, after: Callable[[Scope, SSAValue], SSAValue] | None
) -> Callable[[Scope, Node, SSAValue, list[int]], SSAValue]:
    """Return a function of sums of a function of the elements."""

    def function(s: Scope, a: Node, x: SSAValue, dims: list[int]) -> SSAValue:
        if not is_float(element_of(x)):
            made = before(s, x) if before is not None else x
            if after is not None:
                refuse(f"of {a.dtype.name} has no TTIR operation")
            return _sum(s, a, made, dims)
        wide = s.wide(x)
        made = s.reduce("sum", wide if before is None else before(s, wide), dims, keep=True)
        return s.cast(made if after is None else after(s, made), element_of(x))

    return function


def _square(s: Scope, x: SSAValue) -> SSAValue:
    return s.one(s.b.multiply(x, x))


def _size(s: Scope, x: SSAValue) -> SSAValue:
    if is_float(element_of(x)):
        return s.one(s.b.abs(x))
    return s.one(s.b.maximum(x, s.b.subtract(s.number(0, x), x)))


def _root(s: Scope, x: SSAValue) -> SSAValue:
    return s.one(s.b.sqrt(x))


def _log(s: Scope, x: SSAValue) -> SSAValue:
    return s.one(s.b.log(x))


def _log_sum_exp(s: Scope, a: Node, x: SSAValue, dims: list[int]) -> SSAValue:
    wide = s.wide(x)
    top = s.reduce("max", wide, dims, keep=True)
    total = s.reduce("sum", s.b.exp(s.b.subtract(wide, top)), dims, keep=True)
    del a
    return s.cast(s.b.add(s.b.log(total), top), element_of(x))


def _softmax(function: Any) -> Row:
    """Return the row of a softmax; of matrices before opset 13."""

    def row(s: Scope, a: Node) -> Any:
        x, shape = s.wide(a[0]), a.shape()
        if not shape:
            return s.cast(function(s, x, 0), element_of(a[0]))
        # As a tensor of few dimensions: the chip's operators broadcast five.
        axis = a.axis(-1 if a.opset >= 13 else 1)
        inner = [shape[axis], math.prod(shape[axis + 1 :])] if a.opset >= 13 else [math.prod(shape[axis:]), 1]
        flat = [math.prod(shape[:axis]), *inner]
        flat, dim = flat[:2] if flat[2] == 1 else flat, 1
        if a.opset >= 13 and len(shape) <= 4:
            flat, dim = list(shape), axis
        x = s.reshape(x, flat)
        # The chip's softmax reads 11 bits of a number; differences to the largest one are exact. The limit keeps the
        # compiler from taking the difference for a part of the softmax.
        rest = s.b.subtract(x, s.reduce("max", x, [dim], keep=True))
        x = s.one(s.b.maximum(rest, s.number(-1e30, rest)))
        return s.cast(s.reshape(function(s, x, dim), shape), element_of(a[0]))

    return row


def _hardmax(s: Scope, a: Node) -> Any:
    x, shape = a[0], a.shape()
    axis = a.axis(-1 if a.opset >= 13 else 1)
    if a.opset < 13:
        x = s.reshape(x, [math.prod(shape[:axis]), math.prod(shape[axis:])])
        axis = 1
    made = _one_hot(s, _argument(s, a, x, axis, "max", last=False), axis, shape_of(x), element_of(x))
    return s.reshape(made, shape)


def _one_hot(s: Scope, index: SSAValue, dim: int, shape: Any, element: Any) -> SSAValue:
    """Return ones at positions along a dimension."""
    import numpy as np

    line = [1] * len(shape)
    line[dim] = shape[dim]
    places = s.b.constant(np.arange(shape[dim]).reshape(line), scalar("si32"))
    return s.cast(s.b.eq(index, places), element)


def _argument(s: Scope, a: Node, x: SSAValue, dim: int, name: str, *, last: bool) -> SSAValue:
    """Return positions of the largest or smallest elements, the dimension kept."""
    if not is_float(element_of(x)):
        refuse(f"of {a.dtype.name} has no exact TTIR operation")
    if not shape_of(x):
        return s.one(s.b.splat(0, (), scalar("si32")))
    given = s.one(s.b.neg(x)) if name == "min" else x
    if last:
        given = reversed_along(s, given, dim, a)
    wanted = [1 if i == dim else size for i, size in enumerate(shape_of(x))]
    found = s.b.argmax(given, dim_arg=[dim], keep_dim=True, types=[tensor(wanted, "si32")])
    if last:
        found = s.b.subtract(s.splat(shape_of(x)[dim] - 1, found), found)
    return s.one(found)


def _arg(name: str) -> Row:
    def row(s: Scope, a: Node) -> Any:
        dim = a.axis(0)
        made = _argument(s, a, a[0], dim, name, last=bool(a.attribute("select_last_index", 0)))
        if not a.attribute("keepdims", 1):
            made = s.reshape(made, [size for i, size in enumerate(a.shape()) if i != dim])
        return Value(INT64, made)

    return row


def _cumulative(name: str) -> Row:
    def row(s: Scope, a: Node) -> Any:
        dim = int(a.known(1).reshape(())) % max(1, a.rank())
        x, shape = a[0], a.shape()
        backward = bool(a.attribute("reverse", 0))
        if backward:
            x = reversed_along(s, x, dim, a)
        if a.attribute("exclusive", 0):
            begins, ends = [0] * len(shape), list(shape)
            ends[dim] -= 1
            first = list(shape)
            first[dim] = 1
            head = s.b.splat(0 if name == "cumsum" else 1, first, element_of(x))
            x = s.concat([head, s.slice(x, begins, ends)], dim) if shape[dim] > 1 else head
        product = name == "cumprod"
        x = _products(s, x, dim, a) if product else s.aten(name, a.dtype, shape, self=x, dim=dim)
        return reversed_along(s, x, dim, a) if backward else x

    return row


def _products(s: Scope, x: SSAValue, dim: int, a: Node) -> SSAValue:
    """Return cumulative products by doubling of the distance."""
    element = element_of(x)
    made = s.wide(x) if is_float(element) else x
    shape, distance = shape_of(x), 1
    while distance < shape[dim]:
        begins, ends, ones = [0] * len(shape), list(shape), list(shape)
        ends[dim] -= distance
        ones[dim] = distance
        moved = s.concat([s.splat(1, made, ones), s.slice(made, begins, ends)], dim)
        made, distance = s.one(s.b.multiply(made, moved)), distance * 2
    return s.to(s.cast(made, element), a.dtype)


def _topk(s: Scope, a: Node) -> Any:
    """Import the largest elements.

    Their ranks are counted, and they are scattered there.
    """
    import numpy as np

    dim = a.axis(-1)
    x, shape = a[0], list(a.shape())
    count = int(a.attribute("k")) if a.opset < 10 else int(a.known(1).reshape(()))
    size = shape[dim]
    if size > _SORTED:
        refuse(f"of {size:,} elements has no exact TTIR operation; up to {_SORTED:,} are sorted")
    if not 0 <= count <= size:
        refuse(f"asks for {count} of {size} elements")
    down = a.opset < 11 or bool(a.attribute("largest", 1))
    line, column = [*shape[:dim], 1, size, *shape[dim + 1 :]], [*shape[:dim], size, 1, *shape[dim + 1 :]]
    mine, other = s.reshape(x, column), s.reshape(x, line)
    first, second = s.together(mine, other)
    ahead = s.b.gt(second, first) if down else s.b.lt(second, first)
    earlier: Any = np.tril(np.ones((size, size), bool), -1).reshape(
        [1] * dim + [size, size] + [1] * (len(shape) - dim - 1)
    )
    mask = s.expand(s.b.constant(earlier, scalar("i1")), shape_of(ahead))
    ahead = s.b.logical_or(ahead, s.b.logical_and(s.b.eq(second, first), mask))
    rank = s.cast(s.reduce("sum", s.cast(ahead, scalar("f32")), [dim + 1]), scalar("si32"))
    index = s.b.constant(
        np.broadcast_to(np.arange(size).reshape([-1] + [1] * (len(shape) - dim - 1)), shape).copy(), scalar("f32")
    )
    ends = list(shape)
    ends[dim] = count
    values = _scattered(s, a, x, rank, dim)
    places = s.b.scatter(s.splat(0, index), rank, index, dim=dim, scatter_reduce_type="invalid")
    places = s.cast(s.slice(places, [0] * len(shape), ends), scalar("si32"))
    return [Value(a.dtype, s.slice(values, [0] * len(shape), ends)), Value(INT64, places)]


def _scattered(s: Scope, a: Node, x: SSAValue, rank: SSAValue, dim: int) -> SSAValue:
    """Return elements at their ranks."""
    return s.one(s.aten("scatter", a.dtype, shape_of(x), self=s.splat(0, x), dim=dim, index=rank, src=x))


ROWS: Final[dict[tuple[str, str], Row]] = {
    ("", "ArgMax"): _arg("max"),
    ("", "ArgMin"): _arg("min"),
    ("", "CumProd"): _cumulative("cumprod"),
    ("", "CumSum"): _cumulative("cumsum"),
    ("", "Hardmax"): _hardmax,
    ("", "LogSoftmax"): _softmax(log_softmax),
    ("", "ReduceL1"): _reduction(_floats(_size, None), 0),
    ("", "ReduceL2"): _reduction(_floats(_square, _root), 0),
    ("", "ReduceLogSum"): _reduction(_floats(None, _log), -math.inf),
    ("", "ReduceLogSumExp"): _reduction(_log_sum_exp, -math.inf),
    ("", "ReduceMax"): _reduction(_extreme("max"), -math.inf),
    ("", "ReduceMean"): _reduction(_mean, math.nan),
    ("", "ReduceMin"): _reduction(_extreme("min"), math.inf),
    ("", "ReduceProd"): _reduction(_product, 1),
    ("", "ReduceSum"): _reduction(_sum, 0, since=13),
    ("", "ReduceSumSquare"): _reduction(_floats(_square, None), 0),
    ("", "Softmax"): _softmax(softmax),
    ("", "TopK"): _topk,
}
