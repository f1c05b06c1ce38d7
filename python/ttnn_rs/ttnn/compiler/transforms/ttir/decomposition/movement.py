"""Reversals, cuts at the edges and heads as slices, permutations and lookups."""

from __future__ import annotations

import math
import struct

from ttnn.compiler.dialects.kinds import i32_array
from ttnn.compiler.dialects.operations import TableOp
from ttnn.compiler.dialects.verify.parts import shape_of
from ttnn.compiler.ir.attributes import DenseAttr
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.xdsl_adapter import IntegerAttr, IntegerType, Signedness, SSAValue, TensorType
from ttnn.compiler.transforms.ttir.build import permute, reshape, slice_static, tensor_like, typed

__all__ = ["negative_padding", "reverse", "split_heads"]


def reverse(module: Module, op: TableOp) -> list[SSAValue]:
    """Reversal by row lookup from the last row on.

    What is reversed becomes the row number.

    Its tables are bfloat16, so the elements of wider integers are gathered, dimension by dimension.
    """
    kind = op.results[0].type.element_type  # type: ignore[attr-defined]
    if isinstance(kind, IntegerType) and kind.width.data > 8:
        return [_gathered_backwards(module, op)]
    shape, dims = shape_of(op.inputs[0]), sorted(op.get("dimensions"))
    order = [*dims, *(i for i in range(len(shape)) if i not in dims)]
    value = permute(module, op, op.inputs[0], order)
    moved = shape_of(value)
    rows = math.prod(moved[: len(dims)])
    flat = (rows, math.prod(moved[len(dims) :]))
    value = reshape(module, op, value, flat)
    whole = TensorType(IntegerType(32, Signedness.SIGNED), [rows])
    numbers = DenseAttr(whole, struct.pack(f"<{rows}i", *range(rows - 1, -1, -1)), splat=rows == 1)
    indices = typed(module, op, "constant", [], whole, value=numbers)
    value = typed(module, op, "embedding", [indices, value], tensor_like(op.results[0].type, flat))
    value = reshape(module, op, value, moved)
    return [permute(module, op, value, [order.index(i) for i in range(len(order))])]


def _gathered_backwards(module: Module, op: TableOp) -> SSAValue:
    value, shape = op.inputs[0], shape_of(op.inputs[0])
    places = TensorType(IntegerType(32, Signedness.SIGNED), shape)
    signed = IntegerType(64, Signedness.SIGNED)
    for dim in op.get("dimensions"):
        numbers = {"start": shape[dim] - 1, "end": -1, "step": -1}
        line = {name: IntegerAttr(number, signed) for name, number in numbers.items()}
        along = IntegerAttr(dim, IntegerType(64))
        index = typed(module, op, "arange", [], places, arange_dimension=along, **line)
        value = typed(module, op, "gather", [value, index], op.results[0].type, dim=IntegerAttr(dim, IntegerType(32)))
    return value


def negative_padding(module: Module, op: TableOp) -> list[SSAValue] | None:
    """Negative padding cuts elements off."""
    sides = op.get("padding")
    if min(sides, default=0) >= 0:
        return None
    shape = shape_of(op.inputs[0])
    begins = [max(0, -low) for low in sides[::2]]
    ends = [size - max(0, -high) for size, high in zip(shape, sides[1::2], strict=True)]
    value = slice_static(module, op, op.inputs[0], begins, ends, [1] * len(shape))
    rest = [max(0, one) for one in sides]
    if any(rest):
        entries = {**op.properties, "padding": i32_array(rest)}
        value = typed(module, op, "pad", [value], op.results[0].type, **entries)
    return [value]


def split_heads(module: Module, op: TableOp) -> list[SSAValue]:
    """Query, key, value as parts of one or two tensors.

    They have heads before the sequence.
    """
    joined, both = op.inputs[0], op.operand("kv_input_tensor")
    batch, length = shape_of(joined)[:2]
    heads, size = op.get("num_heads"), shape_of(op.results[0])[3]
    few = op.get("num_kv_heads") or heads

    def part(value: SSAValue, first: int, count: int) -> SSAValue:
        begins, ends = [0, 0, first * size], [batch, length, (first + count) * size]
        return slice_static(module, op, value, begins, ends, [1, 1, 1])

    def ordered(value: SSAValue, count: int) -> SSAValue:
        return reshape(module, op, value, (batch, length, count, size))

    if both is not None:
        query = permute(module, op, ordered(joined, heads), (0, 2, 1, 3))
        pair = [part(both, 0, few), part(both, few, few)]
        key, value = (permute(module, op, one, (0, 2, 1, 3)) for one in [ordered(one, few) for one in pair])
    else:
        starts = ((0, heads), (heads, few), (heads + few, few))
        parts = [(part(joined, first, count), count) for first, count in starts]
        shaped = [ordered(one, count) for one, count in parts]
        query, key, value = (permute(module, op, one, (0, 2, 1, 3)) for one in shaped)
    if op.get("transpose_key"):
        key = permute(module, op, key, (0, 1, 3, 2))
    return [query, key, value]
