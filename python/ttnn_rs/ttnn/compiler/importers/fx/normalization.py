"""Normalisation over features, channels and batches."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from ttnn.compiler.importers.builder import shape_of
from ttnn.compiler.importers.builder.steps import refuse
from ttnn.compiler.importers.fx.reductions import mean, variance
from ttnn.compiler.importers.fx.scope import Arguments, Row, Scope
from ttnn.compiler.ir.xdsl_adapter import SSAValue

__all__ = ["ROWS", "along"]


def along(s: Scope, line: SSAValue, dim: int, rank: int) -> SSAValue:
    """Return a vector that lies along a dimension."""
    shape = [1] * rank
    shape[dim] = shape_of(line)[0]
    return s.reshape(s.wide(line), shape)


def _scaled(s: Scope, x: SSAValue, weight: SSAValue | None, bias: SSAValue | None) -> SSAValue:
    if weight is not None:
        x = s.b.multiply(x, weight)
    return x if bias is None else s.one(s.b.add(x, bias))


def normalized(s: Scope, x: SSAValue, dims: list[int], epsilon: float) -> tuple[SSAValue, SSAValue, SSAValue]:
    """Return (x - mean) / sqrt(variance + epsilon) along dimensions, the mean, and the factor."""
    spread, center = variance(s, x, dims, 0, keep=True)
    factor = s.b.rsqrt(s.plus(spread, epsilon))
    return s.b.multiply(s.b.subtract(x, center), factor), center, factor


def _layer_norm(s: Scope, a: Arguments) -> SSAValue:
    shape = list(a.normalized_shape)
    if len(shape) == 1:
        made: SSAValue = s.b.layer_norm(a.input, a.weight, a.bias, normalized_shape=shape, epsilon=float(a.eps))
        return made
    return _layer_norm_parts(s, a)[0]


def _layer_norm_parts(s: Scope, a: Arguments) -> list[SSAValue]:
    x = s.wide(a.input)
    rank = len(shape_of(x))
    dims = list(range(rank - len(a.normalized_shape), rank))
    made, center, factor = normalized(s, x, dims, a.eps)
    made = _scaled(s, made, *(None if one is None else s.wide(one) for one in (a.weight, a.bias)))
    return [s.cast(made, a.element), center, factor]


def _rms_norm(s: Scope, a: Arguments) -> SSAValue:
    import torch

    x = s.wide(a.input)
    rank = len(shape_of(x))
    dims = list(range(rank - len(a.normalized_shape), rank))
    epsilon = torch.finfo(a.dtype).eps if a.eps is None else a.eps
    power = mean(s, s.b.multiply(x, x), dims, keep=True)
    made = s.b.multiply(x, s.b.rsqrt(s.plus(power, epsilon)))
    return s.cast(_scaled(s, made, None if a.weight is None else s.wide(a.weight), None), a.element)


def _grouped(s: Scope, a: Arguments, x: SSAValue, groups: int) -> tuple[SSAValue, SSAValue, SSAValue]:
    shape = shape_of(x)
    parts = s.reshape(x, [shape[0], groups, math.prod(shape[1:]) // groups])
    made, center, factor = normalized(s, parts, [2], a.eps)
    made = s.reshape(made, shape)
    rank = len(shape)
    weight, bias = (None if one is None else along(s, one, 1, rank) for one in (a.weight, a.bias))
    made = _scaled(s, made, weight, bias)
    kept = [shape[0], groups]
    return s.cast(made, a.element), s.reshape(center, kept), s.reshape(factor, kept)


def _group_norm(s: Scope, a: Arguments) -> SSAValue:
    return _grouped(s, a, s.wide(a.input), a.num_groups)[0]


def _native_group_norm(s: Scope, a: Arguments) -> list[SSAValue]:
    return list(_grouped(s, a, s.wide(a.input), a.group))


def _instance_norm(s: Scope, a: Arguments) -> SSAValue:
    x = s.wide(a.input)
    if not a.use_input_stats:
        return _by_statistics(s, a, x, a.running_mean, a.running_var)
    if a.running_mean is not None:
        refuse("with running statistics has no TTIR operation")
    return _grouped(s, a, x, shape_of(x)[1])[0]


def _by_statistics(s: Scope, a: Arguments, x: SSAValue, center: SSAValue, spread: SSAValue) -> SSAValue:
    """Return a batch normalised by statistics that are known.

    One factor and one term for each channel.
    """
    rank = len(shape_of(x))
    factor = s.b.rsqrt(s.plus(s.wide(spread), a.eps))
    if a.weight is not None:
        factor = s.b.multiply(factor, s.wide(a.weight))
    term = s.b.multiply(s.b.neg(s.wide(center)), factor)
    if a.bias is not None:
        term = s.b.add(term, s.wide(a.bias))
    made = s.b.add(s.b.multiply(x, along(s, factor, 1, rank)), along(s, term, 1, rank))
    return s.cast(made, a.element)


def _batch_norm_known(s: Scope, a: Arguments) -> list[SSAValue | None]:
    made = _by_statistics(s, a, s.wide(a.input), a.running_mean, a.running_var)
    return [made, *(None for _ in a.results[1:])]


def _batch_norm(s: Scope, a: Arguments) -> SSAValue:
    if a.training:
        refuse("in training changes running statistics")
    return _by_statistics(s, a, s.wide(a.input), a.running_mean, a.running_var)


def _batch_norm_training(s: Scope, a: Arguments) -> Sequence[SSAValue | None]:
    """Import the functional form.

    Its results are the output, batch mean, batch factor, and the new running statistics.
    """
    x = s.wide(a.input)
    shape = shape_of(x)
    rank = len(shape)
    if not a.training:
        made = _by_statistics(s, a, x, a.running_mean, a.running_var)
        none: list[SSAValue | None] = [made, None, None]
        return [*none, a.running_mean, a.running_var][: len(a.results)]
    dims = [0, *range(2, rank)]
    spread, center = variance(s, x, dims, 0, keep=True)
    factor = s.b.rsqrt(s.plus(spread, a.eps))
    made = s.b.multiply(s.b.subtract(x, center), factor)
    weight, bias = (None if one is None else along(s, one, 1, rank) for one in (a.weight, a.bias))
    made = s.cast(_scaled(s, made, weight, bias), a.element)
    channels = [shape[1]]
    results: list[SSAValue | None] = [made, s.reshape(center, channels), s.reshape(factor, channels)]
    if a.running_mean is not None and len(a.results) > 3:
        count = math.prod(shape[i] for i in dims)
        unbiased = s.times(s.reshape(spread, channels), count / max(1, count - 1))
        for old, new in ((a.running_mean, s.reshape(center, channels)), (a.running_var, unbiased)):
            kept = s.times(s.wide(old), 1 - a.momentum)
            results.append(s.b.add(kept, s.times(new, a.momentum)))
    return results


ROWS: Final[dict[str, Row]] = {
    "aten._native_batch_norm_legit_functional": _batch_norm_training,
    "aten._native_batch_norm_legit.no_stats": _batch_norm_training,
    "aten._native_batch_norm_legit_no_training": _batch_norm_known,
    "aten.batch_norm": _batch_norm,
    "aten.group_norm": _group_norm,
    "aten.instance_norm": _instance_norm,
    "aten.layer_norm": _layer_norm,
    "aten.native_group_norm": _native_group_norm,
    "aten.native_layer_norm": _layer_norm_parts,
    "aten.rms_norm": _rms_norm,
}
