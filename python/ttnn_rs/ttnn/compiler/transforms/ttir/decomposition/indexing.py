"""2025-10 gathers and scatters as one-dimensional lookups and scatters.

They follow StableHLO.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from typing import Any

from ttnn.compiler.dialects.kinds import i32_array, i32_attr
from ttnn.compiler.dialects.operations import TableOp
from ttnn.compiler.dialects.verify.parts import shape_of
from ttnn.compiler.ir.attributes import DenseAttr
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.xdsl_adapter import SSAValue, TensorType, builtin_float
from ttnn.compiler.transforms.ttir.build import i64s, new, permute, reshape, slice_static, tensor_like, typed
from ttnn.compiler.transforms.ttir.cache_positions import cache_positions

__all__ = ["gather", "scatter"]


def gather(module: Module, op: TableOp) -> list[SSAValue] | None:
    """Return a whole-slice gather as table lookup; None for others."""
    value, starts = op.inputs[:2]
    shape, indexed = shape_of(value), list(op.get("start_index_map"))
    sizes, vector = op.get("slice_sizes"), op.get("index_vector_dim")
    batched = op.get("operand_batching_dims") or op.get("start_indices_batching_dims")
    rest = [i for i in range(len(shape)) if i not in indexed]
    if (
        batched
        or list(op.get("collapsed_slice_dims")) != indexed
        or indexed != sorted(indexed)
        or any(sizes[i] != shape[i] for i in rest)
        or (len(indexed) > 1 and len(shape_of(starts)) == 1)
    ):
        return None
    moved = permute(module, op, value, [*indexed, *rest])
    rows = math.prod(shape[i] for i in indexed)
    table = reshape(module, op, moved, (rows, math.prod(shape[i] for i in rest)))
    if len(indexed) > 1:
        rank = len(shape_of(starts))
        starts = permute(module, op, starts, [*(i for i in range(rank) if i != vector), vector])
        flat = _flat_by_product if rows <= _EXACT else _flat
        starts = flat(module, op, starts, [shape[i] for i in indexed])
    if len(shape_of(starts)) != 2:
        starts = reshape(module, op, starts, (1, math.prod(shape_of(starts))))
    found = typed(
        module,
        op,
        "embedding",
        [starts, table],
        tensor_like(op.results[0].type, (*shape_of(starts), shape_of(table)[1])),
    )
    return [_slices(module, op, found)]


_EXACT = 2048
"""Rows with numbers exact in default matmuls.

TF32 has eleven bits.
"""


def _flat_by_product(module: Module, op: TableOp, starts: SSAValue, sizes: list[int]) -> SSAValue:
    """Return multi-dimensional indices as one, by a matmul.

    It multiplies with the strides of the dimensions.
    """
    f32 = builtin_float("f32")
    numbers = typed(module, op, "typecast", [starts], TensorType(f32, shape_of(starts)))
    strides = [float(math.prod(sizes[i + 1 :])) for i in range(len(sizes))]
    kind = TensorType(f32, [len(sizes), 1])
    same = len(set(strides)) == 1
    raw = struct.pack(f"<{1 if same else len(strides)}f", *strides[: 1 if same else None])
    factors = typed(module, op, "constant", [], kind, value=DenseAttr(kind, raw, splat=same))
    return typed(module, op, "matmul", [numbers, factors], TensorType(f32, [*shape_of(starts)[:-1], 1]))


def _flat(module: Module, op: TableOp, indices: SSAValue, sizes: Sequence[int]) -> SSAValue:
    """Return multi-dimensional indices as one, in integers.

    The last dimension has one element.
    """
    total: SSAValue | None = None
    given = shape_of(indices)
    for dim in range(given[-1]):
        begins, ends = [0] * len(given), list(given)
        begins[-1], ends[-1] = dim, dim + 1
        part = slice_static(module, op, indices, begins, ends, [1] * len(given))
        stride = math.prod(sizes[dim + 1 :])
        if stride > 1:
            size = shape_of(part)
            fill: dict[str, Any] = {"shape": i32_array(size), "fill_value": i32_attr(stride)}
            factor = typed(module, op, "full", [], part.type, **fill)
            part = new(module, op, "multiply", [part, factor], size)
        total = part if total is None else new(module, op, "add", [total, part], shape_of(part))
    assert total is not None
    return total


def _slices(module: Module, op: TableOp, found: SSAValue) -> SSAValue:
    """Return table rows as slices in the gather's positions."""
    result, offsets = shape_of(op.results[0]), list(op.get("offset_dims"))
    order = [i for i in range(len(result)) if i not in offsets] + offsets
    split = reshape(module, op, found, [result[i] for i in order])
    return permute(module, op, split, [order.index(i) for i in range(len(result))])


def scatter(module: Module, op: TableOp) -> list[SSAValue] | None:
    """Return a one-dimensional or cache scatter; None for others.

    It replaces a scatter of elements, or of rows of a cache.
    """
    value, indices, update = op.inputs[:3]
    positions = cache_positions(op)
    if positions is not None:
        return [_scatter_rows(module, op, value, positions, update)]
    dims, windows = list(op.get("scatter_dims_to_operand_dims")), list(op.get("update_window_dims"))
    shape, source = shape_of(indices), shape_of(update)
    covered = [*windows, *op.get("inserted_window_dims")]
    if (
        op.get("input_batching_dims")
        or op.get("scatter_indices_batching_dims")
        or sorted(covered) != list(range(len(source)))
        or dims != sorted(dims)
        or not dims
    ):
        return None
    vector = op.get("index_vector_dim")
    if len(dims) > 1:
        if vector != len(shape) - 1 or windows or len(shape_of(value)) != len(dims):
            return None
        return [_scatter_flat(module, op, value, indices, update)]
    if vector != 1 or dims != [0] or len(shape) > len(source):
        return None
    indices = reshape(module, op, indices, (*shape, *(1,) * (len(source) - len(shape))))
    shape = shape_of(indices)
    factors = [source[i] if i in windows and shape[i] != source[i] else 1 for i in range(len(source))]
    if any(factor != 1 for factor in factors):
        repeated = [size * factor for size, factor in zip(shape, factors, strict=True)]
        indices = new(module, op, "repeat", [indices], repeated, repeat_dimensions=i64s(factors))
    result = op.results[0].type
    return [typed(module, op, "scatter_in_dim", [value, indices, update], result, dim=i32_attr(0))]


_LARGEST = 256
"""Elements that the library scatters at once."""


def _scatter_rows(module: Module, op: TableOp, value: SSAValue, positions: SSAValue, update: SSAValue) -> SSAValue:
    """Return a scatter of rows of a cache along its third dimension."""
    shape, count = shape_of(update), shape_of(update)[2]
    rows = reshape(module, op, positions, (1, 1, count, 1))
    for start in range(0, count, _LARGEST):
        end = min(start + _LARGEST, count)
        part, places = update, rows
        if count > _LARGEST:
            ends = [*shape[:2], end, shape[3]]
            part = slice_static(module, op, update, [0, 0, start, 0], ends, [1] * 4)
            places = slice_static(module, op, rows, [0, 0, start, 0], [1, 1, end, 1], [1] * 4)
        size = (*shape[:2], end - start, shape[3])
        if size != shape_of(places):
            factors = i64s([*shape[:2], 1, shape[3]])
            places = new(module, op, "repeat", [places], size, repeat_dimensions=factors)
        value = new(module, op, "scatter_in_dim", [value, places, part], shape_of(value), dim=i32_attr(2))
    return value


def _scatter_flat(module: Module, op: TableOp, value: SSAValue, indices: SSAValue, update: SSAValue) -> SSAValue:
    """Return an all-dimension scatter as one over flat elements."""
    shape = shape_of(value)
    total = _flat(module, op, indices, shape)
    count, elements = math.prod(shape_of(update)), math.prod(shape)
    flat = reshape(module, op, value, (elements,))
    total = reshape(module, op, total, (count,))
    update = reshape(module, op, update, (count,))
    for start in range(0, count, _LARGEST):
        end = min(start + _LARGEST, count)
        parts = [total, update]
        if count > _LARGEST:
            parts = [slice_static(module, op, one, [start], [end], [1]) for one in parts]
        flat = new(module, op, "scatter_in_dim", [flat, *parts], (elements,), dim=i32_attr(0))
    return reshape(module, op, flat, shape)
