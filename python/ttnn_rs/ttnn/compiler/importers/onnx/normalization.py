"""Normalisation over features, channels and batches."""

from __future__ import annotations

import math
from typing import Any, Final

from ttnn.compiler.importers.builder import element_of, shape_of
from ttnn.compiler.importers.builder.steps import refuse
from ttnn.compiler.importers.fx.normalization import along, normalized
from ttnn.compiler.importers.fx.reductions import mean
from ttnn.compiler.importers.onnx.scope import Node, Row, Scope
from ttnn.compiler.importers.onnx.types import FLOAT, dtype_of
from ttnn.compiler.importers.onnx.values import Value
from ttnn.compiler.ir.xdsl_adapter import SSAValue

__all__ = ["ROWS"]


def _scaled(s: Scope, x: SSAValue, scale: SSAValue | None, bias: SSAValue | None) -> SSAValue:
    """Return a tensor times a factor plus a term; both are widened."""
    if scale is not None:
        x = s.one(s.b.multiply(x, s.wide(scale)))
    return x if bias is None else s.one(s.b.add(x, s.wide(bias)))


def _batch(s: Scope, a: Node) -> Any:
    if a.attribute("training_mode", 0):
        return _batch_training(s, a)
    if len([one for one in a.proto.output if one]) > 1:
        refuse("with statistics among its results is a matter of training")
    if a.opset < 9 and not a.attribute("spatial", 1):
        refuse("with spatial = 0 has no TTIR operation")
    epsilon = float(a.attribute("epsilon", 1e-5))
    described = {"input": a[0], "weight": a[1], "bias": a[2], "running_mean": a[3], "running_var": a[4]}
    return s.aten("batch_norm", a.dtype, a.shape(), training=False, eps=epsilon, **described)


def _batch_training(s: Scope, a: Node) -> Any:
    x, shape = s.wide(a[0]), a.shape()
    dims = [0, *range(2, len(shape))]
    epsilon, momentum = float(a.attribute("epsilon", 1e-5)), float(a.attribute("momentum", 0.9))
    center = mean(s, x, dims, keep=True)
    rest = s.b.subtract(x, center)
    spread = mean(s, s.b.multiply(rest, rest), dims, keep=True)
    made = s.b.multiply(rest, s.b.rsqrt(s.plus(spread, epsilon)))
    made = _scaled(s, made, along(s, a[1], 1, len(shape)), along(s, a[2], 1, len(shape)))
    results: list[Any] = [Value(a.dtype, s.cast(made, element_of(a[0])))]
    for at, new in ((3, center), (4, spread)):
        old = a[at]
        moved = s.b.add(s.times(s.wide(old), momentum), s.times(s.reshape(new, [shape[1]]), 1 - momentum))
        results.append(Value(a.needed(at).dtype, s.cast(moved, element_of(old))))
    return results[: len(a.proto.output)]


def _layer(s: Scope, a: Node) -> Any:
    axis, shape = a.axis(-1), a.shape()
    epsilon = float(a.attribute("epsilon", 1e-5))
    dims = list(range(axis, len(shape)))
    made, center, factor = normalized(s, s.wide(a[0]), dims, epsilon)
    made = s.cast(_scaled(s, made, a.optional(1), a.optional(2)), element_of(a[0]))
    kind = dtype_of(int(a.attribute("stash_type", 1)))
    more = [Value(kind, s.to(center, kind)), Value(kind, s.to(factor, kind))]
    return [Value(a.dtype, made), *more][: len(a.proto.output)]


def _root_mean_square(s: Scope, a: Node) -> Any:
    axis, x = a.axis(-1), s.wide(a[0])
    dims = list(range(axis, a.rank()))
    power = mean(s, s.b.multiply(x, x), dims, keep=True)
    made = s.b.multiply(x, s.b.rsqrt(s.plus(power, float(a.attribute("epsilon", 1e-5)))))
    return s.cast(_scaled(s, made, a.optional(1), None), element_of(a[0]))


def _skip_layer(s: Scope, a: Node) -> Any:
    """Import the layer norm of a sum.

    Operands are input, skip, gamma, beta and bias.
    """
    total = s.b.add(s.wide(a[0]), s.wide(a[1]))
    if a.value(4) is not None:
        total = s.b.add(total, s.wide(a[4]))
    made, center, factor = normalized(s, total, [a.rank() - 1], float(a.attribute("epsilon", 1e-12)))
    element = element_of(a[0])
    made = s.cast(_scaled(s, made, a.optional(2), a.optional(3)), element)
    results = [Value(a.dtype, made), Value(FLOAT, center), Value(FLOAT, factor), Value(a.dtype, s.cast(total, element))]
    return results[: len(a.proto.output)]


def _instance(s: Scope, a: Node) -> Any:
    shape = a.shape()
    made, _, _ = normalized(s, s.wide(a[0]), list(range(2, len(shape))), float(a.attribute("epsilon", 1e-5)))
    made = _scaled(s, made, along(s, a[1], 1, len(shape)), along(s, a[2], 1, len(shape)))
    return s.cast(made, element_of(a[0]))


def _group(s: Scope, a: Node) -> Any:
    shape, groups = a.shape(), int(a.attribute("num_groups"))
    if groups < 1 or shape[1] % groups:
        refuse(f"has {groups} groups of {shape[1]} channels")
    parts = s.reshape(s.wide(a[0]), [shape[0], groups, math.prod(shape[1:]) // groups])
    made, _, _ = normalized(s, parts, [2], float(a.attribute("epsilon", 1e-5)))
    made = s.reshape(made, shape)
    factors = []
    for at in (1, 2):
        one = a[at]
        if a.opset < 21:
            # One number for each group; later for each channel.
            wide = s.expand(s.reshape(one, [groups, 1]), [groups, shape[1] // groups])
            one = s.reshape(wide, [shape[1]])
        factors.append(along(s, one, 1, len(shape)))
    return s.cast(_scaled(s, made, factors[0], factors[1]), element_of(a[0]))


def _lp(s: Scope, a: Node) -> Any:
    order, dim = int(a.attribute("p", 2)), a.axis(-1)
    x, b = s.wide(a[0]), s.b
    if order == 1:
        size = s.reduce("sum", b.abs(x), [dim], keep=True)
    elif order == 2:
        size = b.sqrt(s.reduce("sum", b.multiply(x, x), [dim], keep=True))
    else:
        refuse(f"has p = {order}")
    x, size = s.together(x, size)
    zero = b.eq(size, s.number(0, size))
    return s.cast(s.where(zero, s.splat(0, x), s.one(b.div(x, size))), element_of(a[0]))


def _local_response(s: Scope, a: Node) -> Any:
    """Import the normalisation by neighbouring channels.

    Their sum is a product with ones.
    """
    import numpy as np

    from ttnn.compiler.importers.fx.pooling import product_along

    x, channels, size = s.wide(a[0]), a.shape()[1], int(a.attribute("size"))
    low, high = (size - 1) // 2, size - 1 - (size - 1) // 2
    places = np.arange(channels)
    near = (places[:, None] >= places[None, :] - low) & (places[:, None] <= places[None, :] + high)
    total = product_along(s, s.one(s.b.multiply(x, x)), near.astype(np.float32), 1)
    alpha, beta, bias = (float(a.attribute(*one)) for one in (("alpha", 1e-4), ("beta", 0.75), ("bias", 1.0)))
    base = s.plus(s.times(total, alpha / size), bias)
    made = s.b.multiply(x, s.b.exp(s.times(s.b.log(base), -beta)))
    return s.cast(made, element_of(a[0]))


def _mean_variance(s: Scope, a: Node) -> Any:
    dims = [int(one) % a.rank() for one in a.attribute("axes", [0, 2, 3])]
    made, _, _ = normalized(s, s.wide(a[0]), dims, 1e-9)
    assert shape_of(made) == a.shape()
    return s.cast(made, element_of(a[0]))


ROWS: Final[dict[tuple[str, str], Row]] = {
    ("", "BatchNormalization"): _batch,
    ("", "GroupNormalization"): _group,
    ("", "InstanceNormalization"): _instance,
    ("", "LRN"): _local_response,
    ("", "LayerNormalization"): _layer,
    ("", "LpNormalization"): _lp,
    ("", "MeanVarianceNormalization"): _mean_variance,
    ("", "RMSNormalization"): _root_mean_square,
    ("com.microsoft", "LayerNormalization"): _layer,
    ("com.microsoft", "SkipLayerNormalization"): _skip_layer,
}
