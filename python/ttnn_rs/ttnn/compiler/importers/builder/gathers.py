"""Gathers: slices of an operand at positions that are values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ttnn.compiler.importers.builder.steps import Steps
from ttnn.compiler.importers.builder.types import element_of, is_integer, scalar, shape_of, tensor
from ttnn.compiler.ir.xdsl_adapter import SSAValue

__all__ = ["Gather", "clamp", "gather", "linear", "strides_of"]

_EXACT = 2048
"""Largest position that is exact in products of the chip.

Their operands have 11 significant bits.
"""


@dataclass(frozen=True)
class Gather:
    """A gather, in the words of StableHLO."""

    offset_dims: tuple[int, ...]
    collapsed: tuple[int, ...]
    operand_batching: tuple[int, ...]
    indices_batching: tuple[int, ...]
    start_index_map: tuple[int, ...]
    index_vector_dim: int
    sizes: tuple[int, ...]


def strides_of(sizes: Sequence[int]) -> list[int]:
    """Return the distances of elements along each dimension, row-major."""
    return [math.prod(sizes[i + 1 :]) for i in range(len(sizes))]


def clamp(steps: Steps, value: SSAValue, high: int) -> SSAValue:
    """Return positions from 0 to `high`.

    Unchanged if they are known to be.
    """
    known = steps.constant(value)
    if known is not None and bool(((known >= 0) & (known <= high)).all()):
        return value
    made: SSAValue = steps.b.minimum(steps.b.maximum(value, steps.splat(0, value)), steps.splat(high, value))
    return made


def component(steps: Steps, indices: SSAValue, at: int, dim: int) -> SSAValue:
    """Return one number of each index vector, along its dimension."""
    shape = shape_of(indices)
    if dim == len(shape):
        return steps.reshape(indices, (*shape, 1))
    begins, ends = [0] * len(shape), list(shape)
    begins[dim], ends[dim] = at, at + 1
    return steps.slice(indices, begins, ends)


def linear(steps: Steps, parts: Sequence[SSAValue], sizes: Sequence[int]) -> SSAValue:
    """Return positions in flattened dimensions.

    Each part times the distance of its dimension.

    Args:
        steps: The function.
        parts: Positions along each dimension, of one shape whose last dimension is 1.
        sizes: Sizes of the dimensions.
    """
    b, strides = steps.b, strides_of(sizes)
    if len(parts) == 1:
        return parts[0]
    if math.prod(sizes) <= _EXACT:
        joined = steps.cast(steps.concat(parts, len(shape_of(parts[0])) - 1), scalar("f32"))
        column = b.constant([[float(one)] for one in strides], scalar("f32"))
        made: SSAValue = b.matmul(joined, column)
        return made
    total = None
    for part, stride in zip(parts, strides, strict=True):
        term = b.multiply(part, steps.splat(stride, part)) if stride != 1 else part
        total = term if total is None else b.add(total, term)
    assert total is not None
    return total


def gather(steps: Steps, operand: SSAValue, indices: SSAValue, how: Gather, shape: Sequence[int]) -> SSAValue:
    """Return slices of an operand.

    Positions out of range move into it, as in StableHLO.

    Args:
        steps: The function.
        operand: The operand.
        indices: Index vectors.
        how: The dimensions.
        shape: Shape of the result.
    """
    whole, vector = shape_of(operand), how.index_vector_dim
    batch = [size for i, size in enumerate(shape_of(indices)) if i != vector]
    moving = [(at, dim) for at, dim in enumerate(how.start_index_map) if how.sizes[dim] < whole[dim]]
    looked = [*how.operand_batching, *(dim for _, dim in moving)]
    rest = [i for i in range(len(whole)) if i not in looked]
    # The operand as a table: one row for each position.
    table = steps.permute(operand, [*looked, *rest])
    rows, width = (math.prod(whole[i] for i in dims) for dims in (looked, rest))
    table = steps.reshape(table, [rows, math.prod(how.sizes[i] for i in rest)] if looked else [1, width])
    spans = [(dim, how.sizes[dim]) for _, dim in moving if how.sizes[dim] > 1]
    count = math.prod(batch)
    parts = [_batch_part(steps, indices, how, at, batch) for at in range(len(how.operand_batching))]
    parts += [clamp(steps, component(steps, indices, at, vector), whole[dim] - how.sizes[dim]) for at, dim in moving]
    if not parts:
        # Every slice is the whole operand, wherever it begins.
        first = component(steps, indices, 0, vector) if how.start_index_map else steps.splat(0, indices, [count, 1])
        parts = [clamp(steps, first, 0)]
        looked_sizes = [1]
    else:
        looked_sizes = [whole[i] for i in looked]
    single = len(how.start_index_map) == 1 and len(batch) == 2 and not how.operand_batching
    rows_shape = batch if single else ([batch[0], 1] if len(batch) == 1 else [1, count])
    if len(parts) > 1:
        flat = [_last(steps, one, vector) for one in parts]
        if spans:
            flat = [steps.reshape(one, [count, 1]) for one in flat]
        parts = flat
    if spans:
        position = _spanned(steps, parts, looked, spans, looked_sizes, count)
    else:
        position = steps.reshape(linear(steps, parts, looked_sizes), rows_shape)
    found = _rows(steps, table, position)
    return _arranged(steps, found, how, looked, rest, spans, batch, shape)


def _last(steps: Steps, part: SSAValue, vector: int) -> SSAValue:
    """Return a part with its dimension of size 1 last."""
    shape = [size for i, size in enumerate(shape_of(part)) if i != vector]
    return steps.reshape(part, [*shape, 1])


def _batch_part(steps: Steps, indices: SSAValue, how: Gather, at: int, batch: Sequence[int]) -> SSAValue:
    """Return the positions of a dimension that operand and indices share."""
    import numpy as np

    dim = how.indices_batching[at]
    place = dim - (dim > how.index_vector_dim)
    shape = [1] * len(batch)
    shape[place] = batch[place]
    values = np.broadcast_to(np.arange(batch[place]).reshape(shape), batch)
    wide = list(batch)
    wide.insert(min(how.index_vector_dim, len(wide)), 1)
    made: SSAValue = steps.b.constant(values.reshape(wide), element_of(indices))
    return made


def _spanned(
    steps: Steps,
    parts: Sequence[SSAValue],
    looked: Sequence[int],
    spans: Sequence[tuple[int, int]],
    sizes: Sequence[int],
    count: int,
) -> SSAValue:
    """Return positions of all rows of slices that are longer than one.

    [rows of a slice, slices].
    """
    import numpy as np

    strides = dict(zip(looked, strides_of(sizes), strict=True))
    offsets: Any = np.zeros([1] * len(spans), np.int64)
    for axis, (dim, size) in enumerate(spans):
        shape = [1] * len(spans)
        shape[axis] = size
        offsets = offsets + np.arange(size).reshape(shape) * strides[dim]
    first = linear(steps, parts, sizes)
    begin = steps.reshape(first, [1, count])
    total = offsets.size
    element = element_of(begin)
    added: SSAValue = steps.b.constant(offsets.reshape(total, 1), element)
    wide = steps.b.broadcast(added, broadcast_dimensions=[1, count])
    made: SSAValue = steps.b.add(steps.broadcast(begin, [total, count]), wide)
    return made


def _rows(steps: Steps, table: SSAValue, position: SSAValue) -> SSAValue:
    """Return rows of a table: [*positions, width]."""
    if not is_integer(element_of(table)):
        made: SSAValue = steps.b.embedding(position, table)
        return made
    # Tables of integers are not rounded to bfloat16.
    count, width = math.prod(shape_of(position)), shape_of(table)[1]
    index = steps.broadcast(steps.reshape(steps.cast(position, scalar("i32")), [count, 1]), [count, width])
    found = steps.b.gather(table, index, dim=0, types=[tensor([count, width], element_of(table))])
    return steps.reshape(found, [*shape_of(position), width])


def _arranged(
    steps: Steps,
    found: SSAValue,
    how: Gather,
    looked: Sequence[int],
    rest: Sequence[int],
    spans: Sequence[tuple[int, int]],
    batch: Sequence[int],
    shape: Sequence[int],
) -> SSAValue:
    """Return the rows in the order of the result's dimensions."""
    sizes = [*(size for _, size in spans), *batch, *(how.sizes[i] for i in rest)]
    found = steps.reshape(found, sizes)
    place = {dim: i for i, (dim, _) in enumerate(spans)}
    place |= {dim: len(spans) + len(batch) + i for i, dim in enumerate(rest)}
    gone = {*how.collapsed, *how.operand_batching}
    offsets = [dim for dim in range(len(how.sizes)) if dim not in gone]
    order, batches = [], iter(range(len(spans), len(spans) + len(batch)))
    positions = dict(zip(how.offset_dims, offsets, strict=True))
    for i in range(len(shape)):
        if i not in positions:
            order.append(next(batches))
        elif positions[i] in place:
            order.append(place[positions[i]])
    # Dimensions of size one that are in no order: collapsed ones of the table, and looked-up ones of the result.
    order += [i for i in range(len(sizes)) if i not in order]
    return steps.reshape(steps.permute(found, order), shape)
