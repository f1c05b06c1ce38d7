"""Products of matrices."""

from __future__ import annotations

from typing import Final

from ttnn.compiler.importers.builder import shape_of
from ttnn.compiler.importers.fx.scope import Arguments, Row, Scope
from ttnn.compiler.ir.xdsl_adapter import SSAValue

__all__ = ["ROWS"]


def _matmul(s: Scope, a: Arguments) -> SSAValue:
    """Import products of tensors of any rank.

    Vectors are rows on the left and columns on the right.
    """
    x, y = a.self, a.other if a.other is not None else a.mat2
    if y is None:
        y = a.vec if a.vec is not None else a.tensor
    if len(shape_of(x)) == 1:
        x = s.reshape(x, [1, *shape_of(x)])
    if len(shape_of(y)) == 1:
        y = s.reshape(y, [*shape_of(y), 1])
    return s.reshape(s.matmul(x, y), a.shape)


def _linear(s: Scope, a: Arguments) -> SSAValue:
    x, weight = a.input, a.weight
    s.need_float(x)
    lead = shape_of(x)[:-1]
    if len(shape_of(weight)) == 1:
        weight = s.reshape(weight, [1, *shape_of(weight)])
    if not lead:
        x = s.reshape(x, [1, *shape_of(x)])
    made: SSAValue = s.b.linear(x, weight, a.bias, transpose_b=True)
    return s.reshape(made, a.shape)


def _added(first: str, second: str) -> Row:
    """Return the row of `beta * tensor + alpha * product`."""

    def row(s: Scope, a: Arguments) -> SSAValue:
        x, y = getattr(a, first), getattr(a, second)
        if len(shape_of(y)) == 1:
            product = s.reshape(s.matmul(x, s.reshape(y, [*shape_of(y), 1])), a.shape)
        else:
            product = s.matmul(x, y)
        if not a.beta:
            return s.expand(s.times(product, a.alpha), a.shape)
        made: SSAValue = s.b.add(s.times(a.self, a.beta), s.times(product, a.alpha))
        return made

    return row


def _outer(s: Scope, a: Arguments) -> SSAValue:
    (rows,), (columns,) = shape_of(a.self), shape_of(a.vec2)
    x, y = s.cast(a.self, a.element), s.cast(a.vec2, a.element)
    made: SSAValue = s.b.multiply(s.reshape(x, [rows, 1]), s.reshape(y, [1, columns]))
    return made


def _trilinear(s: Scope, a: Arguments) -> SSAValue:
    values = []
    for value, dims in ((a.i1, a.expand1), (a.i2, a.expand2), (a.i3, a.expand3)):
        shape = list(shape_of(value))
        for dim in dims:
            shape.insert(dim, 1)
        values.append(s.reshape(value, shape))
    product = s.b.multiply(s.b.multiply(values[0], values[1]), values[2])
    made: SSAValue = s.reduce("sum", product, list(a.sumdim))
    return made


ROWS: Final[dict[str, Row]] = {
    "aten._trilinear": _trilinear,
    "aten.addmm": _added("mat1", "mat2"),
    "aten.addmv": _added("mat", "vec"),
    "aten.baddbmm": _added("batch1", "batch2"),
    "aten.bmm": _matmul,
    "aten.dot": _matmul,
    "aten.linear": _linear,
    "aten.matmul": _matmul,
    "aten.mm": _matmul,
    "aten.mv": _matmul,
    "aten.outer": _outer,
}
