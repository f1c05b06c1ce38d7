"""Broadcasts, reshapes, transposes, concatenation, slices and the like."""

from __future__ import annotations

from typing import Final

from ttnn.compiler.importers.builder import shape_of
from ttnn.compiler.importers.stablehlo.scope import Scope, refuse, trailing
from ttnn.compiler.importers.stablehlo.view import View
from ttnn.compiler.ir.xdsl_adapter import SSAValue

__all__ = ["ROWS"]


def _broadcast_in_dim(scope: Scope, view: View) -> SSAValue:
    value = scope.operands(view)[0]
    shape = shape_of(scope.type(view.types[0]))
    dims = view.ints("broadcast_dimensions") + ([len(shape) - 1] if trailing(view.types[0]) else [])
    return scope.broadcast(value, shape, dims)


def _broadcast(scope: Scope, view: View) -> SSAValue:
    return scope.broadcast(scope.operands(view)[0], shape_of(scope.type(view.types[0])))


def _reshape(scope: Scope, view: View) -> SSAValue:
    value, shape = scope.operands(view)[0], shape_of(scope.type(view.types[0]))
    known = scope.constant(value)
    if known is not None and known.size <= 1 and len(shape) == 0:
        return (
            scope.splat(known.reshape(()), value, shape) if known.dtype.kind in "iub" else scope.reshape(value, shape)
        )
    return scope.reshape(value, shape)


def _transpose(scope: Scope, view: View) -> SSAValue:
    order = view.ints("permutation")
    return scope.permute(scope.operands(view)[0], order + ([len(order)] if trailing(view.types[0]) else []))


def _concatenate(scope: Scope, view: View) -> SSAValue:
    return scope.concat(scope.operands(view), view.get("dimension"))


def _reverse(scope: Scope, view: View) -> SSAValue:
    (value,) = scope.operands(view)
    dims = view.ints("dimensions")
    made: SSAValue = scope.b.reverse(value, dimensions=dims) if dims else value
    return made


def _slice(scope: Scope, view: View) -> SSAValue:
    (value,) = scope.operands(view)
    more = trailing(view.types[0])
    begins, ends = view.ints("start_indices"), view.ints("limit_indices")
    steps = view.ints("strides", [1] * len(begins))
    if 0 in shape_of(scope.type(view.types[0])):
        refuse("with an empty result has no TTIR operation")
    return scope.slice(value, begins + [0] * len(more), ends + more, steps + [1] * len(more))


def _same(scope: Scope, view: View) -> list[SSAValue]:
    """Return the operands: barriers and annotations compute nothing."""
    return scope.operands(view)


ROWS: Final = {
    "stablehlo.broadcast_in_dim": _broadcast_in_dim,
    "stablehlo.dynamic_broadcast_in_dim": _broadcast_in_dim,
    "stablehlo.broadcast": _broadcast,
    "stablehlo.reshape": _reshape,
    "stablehlo.dynamic_reshape": _reshape,
    "stablehlo.transpose": _transpose,
    "stablehlo.concatenate": _concatenate,
    "stablehlo.reverse": _reverse,
    "stablehlo.slice": _slice,
    "stablehlo.optimization_barrier": _same,
}
