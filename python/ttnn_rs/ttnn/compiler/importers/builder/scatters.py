"""Scatters: updates of slices of an operand at positions that are values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ttnn.compiler.importers.builder.gathers import strides_of
from ttnn.compiler.importers.builder.padding import edges
from ttnn.compiler.importers.builder.steps import Steps
from ttnn.compiler.importers.builder.types import element_of, shape_of
from ttnn.compiler.ir.xdsl_adapter import SSAValue

__all__ = ["Scatter", "scatter", "scatter_at"]


@dataclass(frozen=True)
class Scatter:
    """A scatter, in the words of StableHLO.

    Attributes:
        kind: `invalid` (the update replaces the element), `sum`, `prod`, `min` or `max`.
    """

    window: tuple[int, ...]
    inserted: tuple[int, ...]
    operand_batching: tuple[int, ...]
    indices_batching: tuple[int, ...]
    dims: tuple[int, ...]
    index_vector_dim: int
    kind: str


def scatter(steps: Steps, operand: SSAValue, indices: SSAValue, updates: SSAValue, how: Scatter) -> SSAValue:
    """Return an operand with updates at positions.

    Windows that do not fit are left out, if `steps` checks.
    """
    shape = shape_of(operand)
    batch_dims = [i for i in range(len(shape_of(updates))) if i not in how.window]
    kept = [i for i in range(len(shape)) if i not in how.inserted and i not in how.operand_batching]
    sizes = {dim: shape_of(updates)[at] for dim, at in zip(kept, how.window, strict=True)}
    vectors = _vectors(steps, indices, how)
    if len(how.dims) == 1 and how.inserted == how.dims and not how.operand_batching:
        return _one_dim(steps, operand, vectors, updates, how, batch_dims)
    if not how.operand_batching and set(how.dims) == set(how.inserted):
        return _rows(steps, operand, vectors, updates, how, batch_dims, kept, sizes)
    return _elements(steps, operand, vectors, updates, how, batch_dims, kept, sizes)


def _vectors(steps: Steps, indices: SSAValue, how: Scatter) -> SSAValue:
    """Return index vectors with their numbers last: [*batch, numbers]."""
    rank, vector = len(shape_of(indices)), how.index_vector_dim
    if vector == rank:
        return steps.reshape(indices, [*shape_of(indices), 1])
    return steps.permute(indices, [*(i for i in range(rank) if i != vector), vector])


def _numbers(steps: Steps, vectors: SSAValue, at: int) -> SSAValue:
    """Return one number of each vector: [count]."""
    shape = shape_of(vectors)
    part = steps.slice(vectors, [0] * (len(shape) - 1) + [at], [*shape[:-1], at + 1])
    return steps.reshape(part, [math.prod(shape[:-1])])


def _inside(steps: Steps, part: SSAValue, last: int) -> SSAValue | None:
    """Return whether positions are from 0 to `last`.

    None if all are known to be, or it is not asked.
    """
    known = steps.constant(part)
    if not steps.checked or (known is not None and bool(((known >= 0) & (known <= last)).all())):
        return None
    b = steps.b
    made: SSAValue = b.logical_and(b.ge(part, steps.splat(0, part)), b.le(part, steps.splat(last, part)))
    return made


def scatter_at(
    steps: Steps,
    operand: SSAValue,
    index: SSAValue,
    updates: SSAValue,
    dim: int,
    kind: str,
    inside: SSAValue | None = None,
) -> SSAValue:
    """Return an operand updated at positions along a dimension.

    Args:
        steps: The function.
        operand: The operand.
        index: A position for each update.
        updates: The updates.
        dim: The dimension.
        kind: What becomes of old and new elements.
        inside: Which updates there are; default: all. The others go to a slot that is cut off.
    """
    shape = shape_of(operand)
    if inside is None:
        made: SSAValue = steps.b.scatter(operand, index, updates, dim=dim, scatter_reduce_type=kind)
        return made
    low, high = [0] * len(shape), [0] * len(shape)
    high[dim] = 1
    wide = edges(steps, operand, steps.splat(0, operand, ()), low, high)
    index = steps.select(inside, index, steps.splat(shape[dim], index))
    made = steps.b.scatter(wide, index, updates, dim=dim, scatter_reduce_type=kind)
    return steps.slice(made, low, shape)


def _repeated(steps: Steps, value: SSAValue, shape: Sequence[int]) -> SSAValue:
    """Return positions repeated to a shape."""
    factors = [size // one for size, one in zip(shape, shape_of(value), strict=True)]
    if all(one == 1 for one in factors):
        return value
    made: SSAValue = steps.b.repeat(value, repeat_dimensions=factors)
    return made


def _one_dim(
    steps: Steps, operand: SSAValue, vectors: SSAValue, updates: SSAValue, how: Scatter, batch_dims: Sequence[int]
) -> SSAValue:
    """Scatter slices along one dimension: each position holds for the whole slice."""
    (dim,) = how.dims
    count = math.prod(shape_of(vectors)[:-1])
    have = shape_of(updates)
    windows = [have[i] for i in how.window]
    if batch_dims != [dim]:
        order = [*how.window[:dim], *batch_dims, *how.window[dim:]]
        updates = steps.permute(updates, order)
        updates = steps.reshape(updates, [*windows[:dim], count, *windows[dim:]])
    line = [1] * (len(windows) + 1)
    line[dim] = count
    part = steps.reshape(vectors, line)
    inside = _inside(steps, part, shape_of(operand)[dim] - 1)
    index = _repeated(steps, part, shape_of(updates))
    if inside is not None:
        inside = _inside(steps, index, shape_of(operand)[dim] - 1)
    return scatter_at(steps, operand, index, updates, dim, how.kind, inside)


def _flat(
    steps: Steps, vectors: SSAValue, dims: Sequence[int], shape: Sequence[int], last: dict[int, int], strides: Any
) -> tuple[SSAValue, SSAValue | None]:
    """Return positions in the flattened operand, and which of them fit.

    [count] both.
    """
    b = steps.b
    total = inside = None
    for at, dim in enumerate(dims):
        part = _numbers(steps, vectors, at)
        fits = _inside(steps, part, shape[dim] - last.get(dim, 1))
        inside = fits if inside is None else (inside if fits is None else b.logical_and(inside, fits))
        term = b.multiply(part, steps.splat(strides[dim], part)) if strides[dim] != 1 else part
        total = term if total is None else b.add(total, term)
    if total is None:
        total = steps.splat(0, vectors, [math.prod(shape_of(vectors)[:-1])])
    return total, inside


def _rows(
    steps: Steps,
    operand: SSAValue,
    vectors: SSAValue,
    updates: SSAValue,
    how: Scatter,
    batch_dims: Sequence[int],
    kept: Sequence[int],
    sizes: dict[int, int],
) -> SSAValue:
    """Scatter slices along several dimensions: these become one."""
    shape = shape_of(operand)
    if any(sizes[dim] != shape[dim] for dim in kept):
        return _elements(steps, operand, vectors, updates, how, batch_dims, kept, sizes)
    order = [*how.dims, *kept]
    rows, width = math.prod(shape[i] for i in how.dims), math.prod(shape[i] for i in kept)
    table = steps.reshape(steps.permute(operand, order), [rows, width])
    strides = dict(zip(how.dims, strides_of([shape[i] for i in how.dims]), strict=True))
    position, inside = _flat(steps, vectors, how.dims, shape, {}, strides)
    count = shape_of(position)[0]
    source = steps.reshape(steps.permute(updates, [*batch_dims, *how.window]), [count, width])
    index = _repeated(steps, steps.reshape(position, [count, 1]), [count, width])
    if inside is not None:
        inside = steps.broadcast(steps.reshape(inside, [count, 1]), [count, width])
    found = scatter_at(steps, table, index, source, 0, how.kind, inside)
    found = steps.reshape(found, [shape[i] for i in order])
    return steps.permute(found, [order.index(i) for i in range(len(order))])


def _elements(
    steps: Steps,
    operand: SSAValue,
    vectors: SSAValue,
    updates: SSAValue,
    how: Scatter,
    batch_dims: Sequence[int],
    kept: Sequence[int],
    sizes: dict[int, int],
) -> SSAValue:
    """Scatter element by element.

    A position for each of them in the flattened operand.
    """
    import numpy as np

    shape = shape_of(operand)
    strides = strides_of(shape)
    position, inside = _flat(steps, vectors, how.dims, shape, sizes, strides)
    count = shape_of(position)[0]
    batch = [shape_of(updates)[i] for i in batch_dims]
    shared: Any = np.zeros(batch, np.int64)
    for dim, at in zip(how.operand_batching, how.indices_batching, strict=True):
        place = at - (at > how.index_vector_dim)
        line = [1] * len(batch)
        line[place] = batch[place]
        shared = shared + np.arange(batch[place]).reshape(line) * strides[dim]
    window: Any = np.zeros([1] * len(kept), np.int64)
    for axis, dim in enumerate(kept):
        line = [1] * len(kept)
        line[axis] = sizes[dim]
        window = window + np.arange(sizes[dim]).reshape(line) * strides[dim]
    offsets = shared.reshape(count, 1) + window.reshape(1, -1)
    width = offsets.shape[1]
    begin = _repeated(steps, steps.reshape(position, [count, 1]), [count, width])
    index: SSAValue = steps.b.add(begin, steps.b.constant(offsets, element_of(begin)))
    source = steps.reshape(steps.permute(updates, [*batch_dims, *how.window]), [count * width])
    if inside is not None:
        wide = steps.broadcast(steps.reshape(inside, [count, 1]), [count, width])
        inside = steps.reshape(wide, [count * width])
    flat = steps.reshape(operand, [math.prod(shape)])
    found = scatter_at(steps, flat, steps.reshape(index, [count * width]), source, 0, how.kind, inside)
    return steps.reshape(found, shape)
