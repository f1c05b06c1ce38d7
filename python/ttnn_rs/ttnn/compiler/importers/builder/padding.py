"""Fills between and around elements."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ttnn.compiler.importers.builder.steps import Steps
from ttnn.compiler.importers.builder.types import element_of, is_float, scalar, shape_of, tensor
from ttnn.compiler.ir.xdsl_adapter import SSAValue

__all__ = ["between", "edges", "spread"]


def between(steps: Steps, value: SSAValue, fill: SSAValue, counts: Sequence[int]) -> SSAValue:
    """Return a value with `counts` fills between its elements along each dimension."""
    for dim, count in enumerate(counts):
        shape = list(shape_of(value))
        if count <= 0 or shape[dim] < 2:
            continue
        size = shape[dim]
        column = [*shape[: dim + 1], 1, *shape[dim + 1 :]]
        gap = [*shape[: dim + 1], count, *shape[dim + 1 :]]
        wide = steps.concat([steps.reshape(value, column), steps.broadcast(fill, gap, ())], dim + 1)
        value = steps.reshape(wide, [*shape[:dim], size * (count + 1), *shape[dim + 1 :]])
        ends = list(shape_of(value))
        ends[dim] -= count
        value = steps.slice(value, [0] * len(ends), ends)
    return value


def spread(
    steps: Steps, value: SSAValue, fill: SSAValue, low: Sequence[int], high: Sequence[int], inner: Sequence[int]
) -> SSAValue:
    """Return a value with fills before, after and between its elements.

    Elements scattered into fills.
    """
    import numpy as np

    have = shape_of(value)
    shape = [a + (n - 1) * (i + 1) + 1 + z for n, a, z, i in zip(have, low, high, inner, strict=True)]
    index = np.arange(math.prod(shape)).reshape(shape)
    places = tuple(slice(a, a + (n - 1) * (i + 1) + 1, i + 1) for n, a, i in zip(have, low, inner, strict=True))
    known = steps.splat_of(fill)
    total = math.prod(shape)
    if known is None:
        wide = steps.broadcast(steps.reshape(fill, [1]), [total])
    else:
        number = float(known) if is_float(element_of(value)) else int(known)
        wide = steps.b.full(shape=[total], fill_value=number, types=[tensor([total], element_of(value))])
    position = steps.b.constant(index[places].reshape(-1), scalar("i64"))
    flat = steps.reshape(value, [math.prod(have)])
    made = steps.b.scatter(wide, position, flat, dim=0, scatter_reduce_type="invalid")
    return steps.reshape(made, shape)


def edges(steps: Steps, value: SSAValue, fill: SSAValue, low: Sequence[int], high: Sequence[int]) -> SSAValue:
    """Return a value with fills before and after; negative counts cut off.

    Args:
        steps: The function.
        value: The value.
        fill: A scalar.
        low: Counts before each dimension.
        high: Counts after each dimension.
    """
    if min((*low, *high), default=0) < 0:
        shape = shape_of(value)
        begins = [max(0, -one) for one in low]
        value = steps.slice(value, begins, [size - max(0, -one) for size, one in zip(shape, high, strict=True)])
        low, high = [max(0, one) for one in low], [max(0, one) for one in high]
    if not any((*low, *high)):
        return value
    known = steps.splat_of(fill)
    if known is not None:
        padding = [one for pair in zip(low, high, strict=True) for one in pair]
        made: SSAValue = steps.b.pad(value, padding=padding, value=float(known))
        return made
    for dim, (before, after) in enumerate(zip(low, high, strict=True)):
        parts = [value]
        for at, count in ((0, before), (len(parts) + 1, after)):
            if count:
                gap = list(shape_of(value))
                gap[dim] = count
                parts.insert(at, steps.broadcast(fill, gap, ()))
        value = steps.concat(parts, dim)
    return value
