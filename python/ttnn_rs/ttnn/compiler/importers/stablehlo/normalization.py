"""Batch normalization: inference, training and gradient."""

from __future__ import annotations

import math
from typing import Final

from ttnn.compiler.importers.builder import shape_of
from ttnn.compiler.importers.stablehlo.scope import Scope
from ttnn.compiler.importers.stablehlo.view import View
from ttnn.compiler.ir.xdsl_adapter import SSAValue

__all__ = ["ROWS"]


def _inference(scope: Scope, view: View) -> SSAValue:
    made: SSAValue = scope.b.batch_norm_inference(
        *scope.operands(view), epsilon=float(view.get("epsilon")), dimension=view.get("feature_index")
    )
    return made


def _others(value: SSAValue, feature: int) -> list[int]:
    return [i for i in range(len(shape_of(value))) if i != feature]


def _mean(scope: Scope, value: SSAValue, feature: int) -> SSAValue:
    made: SSAValue = scope.b.mean(value, dim_arg=_others(value, feature), keep_dim=False)
    return made


def _training(scope: Scope, view: View) -> list[SSAValue]:
    value, scale, offset = scope.operands(view)
    b, feature = scope.b, view.get("feature_index")
    mean = _mean(scope, value, feature)
    rest = b.subtract(value, scope.broadcast(mean, shape_of(value), [feature]))
    variance = _mean(scope, b.multiply(rest, rest), feature)
    root = b.rsqrt(b.add(variance, scope.splat(float(view.get("epsilon")), variance)))
    factor = scope.broadcast(b.multiply(root, scale), shape_of(value), [feature])
    result = b.add(b.multiply(rest, factor), scope.broadcast(offset, shape_of(value), [feature]))
    return [result, mean, variance]


def _gradient(scope: Scope, view: View) -> list[SSAValue]:
    value, scale, mean, variance, upstream = scope.operands(view)
    b, feature, shape = scope.b, view.get("feature_index"), shape_of(value)
    count = math.prod(shape) // shape[feature]

    def wide(one: SSAValue) -> SSAValue:
        return scope.broadcast(one, shape, [feature])

    root = b.rsqrt(b.add(variance, scope.splat(float(view.get("epsilon")), variance)))
    normal = b.multiply(b.subtract(value, wide(mean)), wide(root))
    dims = {"dim_arg": _others(value, feature), "keep_dim": False}
    offset = b.sum(upstream, **dims)
    gradient = b.sum(b.multiply(upstream, normal), **dims)
    share = scope.splat(1 / count, offset)
    inner = b.subtract(upstream, wide(b.multiply(offset, share)))
    inner = b.subtract(inner, b.multiply(normal, wide(b.multiply(gradient, share))))
    return [b.multiply(inner, wide(b.multiply(scale, root))), gradient, offset]


ROWS: Final = {
    "stablehlo.batch_norm_inference": _inference,
    "stablehlo.batch_norm_training": _training,
    "stablehlo.batch_norm_grad": _gradient,
}
