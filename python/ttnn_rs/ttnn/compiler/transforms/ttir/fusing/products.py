"""Matmuls fused with bias, permutations, slices and other matmuls."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ttnn.compiler.dialects.kinds import si32_attr
from ttnn.compiler.dialects.operations import TableOp, make
from ttnn.compiler.dialects.verify.common import broadcast_shape, shape_of
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.xdsl_adapter import IntegerAttr, IntegerType, SSAValue
from ttnn.compiler.transforms.base import insert_before, replace
from ttnn.compiler.transforms.rewriting import Result
from ttnn.compiler.transforms.ttir.build import ints, new, permute, reshape, slice_static, tensor_like
from ttnn.compiler.transforms.ttir.canonical.products import swapped
from ttnn.compiler.transforms.ttir.fusing.parts import move_before, operand_pairs, producer

__all__ = ["bias", "bias_of_same_shape", "permuted_operands", "shared_operand", "slice_after"]

_KEPT = "ttcore.weight_dtype"
_MOST_COLUMNS = 262144
"""Column limit of joined matmuls with a bias.

A bias of more of them does not fit beside a core.
"""


def _product(
    module: Module,
    place: TableOp,
    like: TableOp,
    shape: Sequence[int],
    inputs: Sequence[SSAValue],
    bias: SSAValue | None,
    *,
    transpose: tuple[bool, bool] | None = None,
) -> SSAValue:
    """Insert a matmul, or linear with bias, like another.

    With the flags and marks of another product.
    """
    flags = (like.get("transpose_a"), like.get("transpose_b")) if transpose is None else transpose
    name = "ttir.linear" if bias is not None or like.name == "ttir.linear" else "ttir.matmul"
    made = make(
        name,
        module.version,
        [*inputs, *([bias] if bias is not None else [])],
        [tensor_like(like.results[0].type, shape)],
        {
            key: IntegerAttr(int(flag), IntegerType(1))
            for key, flag in zip(("transpose_a", "transpose_b"), flags, strict=True)
        },
        attributes={_KEPT: like.attributes[_KEPT]} if _KEPT in like.attributes else {},
        location=place.location,
    )
    insert_before(place, made)
    value: SSAValue = made.results[0]
    return value


def _matmul(value: SSAValue) -> tuple[TableOp, SSAValue] | None:
    """Return a value's single-use, possibly reshaped matmul and result."""
    if not value.has_one_use():
        return None
    shaped = producer(value, "reshape")
    inner = shaped.inputs[0] if shaped is not None else value
    found = producer(inner, "matmul")
    return None if found is None or not inner.has_one_use() else (found, inner)


def _exactly_one(op: TableOp) -> tuple[TableOp, SSAValue, SSAValue, SSAValue] | None:
    """Return matmul, result, sum and summand of a biased matmul.

    If only one operand is a product.
    """
    found = [(match, value, other) for value, other in operand_pairs(op) if (match := _matmul(value)) is not None]
    if len(found) != 1:
        return None
    (inner, result), value, other = found[0]
    return inner, result, value, other


def bias_of_same_shape(module: Module, op: TableOp) -> Result:
    """A matmul plus bias becomes linear, in the older version.

    Reshapes stay around it.
    """
    found = _exactly_one(op)
    if found is None:
        return None
    inner, result, value, other = found
    shape = shape_of(result)
    if value is not result:
        if math.prod(shape_of(other)) != math.prod(shape):
            return None
        other = reshape(module, op, other, shape)
    full = broadcast_shape([shape, shape_of(other)])
    if full is None or math.prod(full) != math.prod(shape_of(op.results[0])):
        return None
    made = _product(module, op, inner, full, inner.inputs, other)
    return [reshape(module, op, made, shape_of(op.results[0]))]


def bias(module: Module, op: TableOp) -> Result:
    """A matmul plus bias becomes linear.

    Broadcasts and leading ones of the bias are removed.
    """
    found = _exactly_one(op)
    if found is None:
        return None
    inner, result, value, other = found
    shape, outer = shape_of(result), shape_of(op.results[0])
    other = _peeled(other, shape)
    full = broadcast_shape([shape, shape_of(other)])
    if full is None or math.prod(full) != math.prod(outer):
        return None
    if value is not result:
        suffix = _stripped(shape_of(other))
        length = len(suffix)
        middle = shape_of(value)
        if length > min(len(shape), len(middle)) or (length and shape[-length:] != middle[-length:]):
            return None
    if not shape_of(other):
        other = reshape(module, op, other, (1,))
    made = _product(module, op, inner, full, inner.inputs, other)
    return [reshape(module, op, made, outer)]


def _stripped(shape: Sequence[int]) -> tuple[int, ...]:
    start = next((i for i, size in enumerate(shape) if size != 1), len(shape))
    return tuple(shape[start:])


def _peeled(value: SSAValue, shape: Sequence[int]) -> SSAValue:
    """Return a bias without superfluous broadcasts and leading ones."""
    while value.has_one_use():
        spread, shaped = producer(value, "broadcast"), producer(value, "reshape")
        if spread is not None:
            before = broadcast_shape([tuple(shape), shape_of(spread.inputs[0])])
            if before is None or before != broadcast_shape([tuple(shape), shape_of(value)]):
                break
            value = spread.inputs[0]
        elif shaped is not None and _stripped(shape_of(shaped.inputs[0])) == _stripped(shape_of(value)):
            value = shaped.inputs[0]
        else:
            break
    return value


def permuted_operands(module: Module, op: TableOp) -> Result:
    """A product transposes its operands itself."""
    found = [swapped(value) for value in op.inputs[:2]]
    if found == [None, None]:
        return None
    flags = (op.get("transpose_a") != (found[0] is not None), op.get("transpose_b") != (found[1] is not None))
    inputs = [one if one is not None else old for one, old in zip(found, op.inputs[:2], strict=True)]
    bias = op.operand("bias") if op.name == "ttir.linear" else None
    return [_product(module, op, op, shape_of(op.results[0]), inputs, bias, transpose=flags)]


def slice_after(module: Module, op: TableOp) -> Result:
    """Slices of a matmul become slices of its operand."""
    value = op.inputs[0]
    inner = producer(value, "matmul") or producer(value, "linear")
    if inner is None or not value.has_one_use():
        return None
    shape, result = shape_of(value), shape_of(op.results[0])
    begins, ends, steps = op.get("begins"), op.get("ends"), op.get("step")
    if any(step < 1 for step in steps):
        return None
    whole = [
        (begin % size if size else begin, end + size if end < 0 else end, step) == (0, size, 1)
        for begin, end, step, size in zip(begins, ends, steps, shape, strict=True)
    ]
    narrow = [dim for dim, is_whole in enumerate(whole) if not is_whole]
    if len(narrow) != 1 or result[narrow[0]] <= 0:
        return None
    dim, rank = narrow[0], len(shape)
    a, b = inner.inputs[:2]
    rank_a, rank_b = len(shape_of(a)), len(shape_of(b))
    column = rank - 1 if rank_b >= 2 else -1
    row = -1 if rank_a < 2 else (rank - 2 if rank_b >= 2 else rank - 1)

    def cut(of: SSAValue, at: int) -> SSAValue:
        sizes = shape_of(of)
        start, stop, step = [0] * len(sizes), list(sizes), [1] * len(sizes)
        start[at], stop[at], step[at] = begins[dim], ends[dim], steps[dim]
        kept = [result[dim] if i == at else size for i, size in enumerate(sizes)]
        return new(module, op, "slice_static", [of], kept, begins=ints(start), ends=ints(stop), step=ints(step))

    if dim == row:
        a = cut(a, rank_a - 1 if inner.get("transpose_a") else rank_a - 2)
    elif dim == column:
        b = cut(b, rank_b - 2 if inner.get("transpose_b") else rank_b - 1)
    else:
        return None
    bias = inner.operand("bias") if inner.name == "ttir.linear" else None
    if bias is not None:
        at = len(shape_of(bias)) - (rank - dim)
        if at >= 0 and shape_of(bias)[at] != 1:
            bias = cut(bias, at)
    return [_product(module, op, inner, result, (a, b), bias)]


def _alike(op: TableOp) -> list[TableOp]:
    """Return mergeable matmuls of one left matrix, in order."""
    block = op.parent
    assert block is not None
    rank, batch = len(shape_of(op.inputs[1])), shape_of(op.inputs[1])[:-2]
    found = {
        id(use.operation)
        for use in op.inputs[0].uses
        if use.index == 0 and use.operation.name == op.name and use.operation.parent is block
    }
    if len(found) < 3:
        return []
    alike = []
    for one in block.ops:
        if id(one) not in found or not isinstance(one, TableOp):
            continue
        right = shape_of(one.inputs[1])
        same_type = one.inputs[1].type.element_type == op.inputs[1].type.element_type  # type: ignore[attr-defined]
        same_result = one.results[0].type.element_type == op.results[0].type.element_type  # type: ignore[attr-defined]
        if one.get("transpose_a") != op.get("transpose_a") or len(right) != rank or rank < 2 or right[:-2] != batch:
            continue
        if same_type and same_result:
            alike.append(one)
    return alike


def shared_operand(module: Module, op: TableOp) -> Result:
    """Three or more matmuls of one matrix merge.

    They are one product with the others joined, cut apart again.
    """
    alike = _alike(op)
    if len(alike) < 3 or alike[0] is not op:
        return None
    # The official compiler lists users of a value from the last to the first.
    alike.reverse()
    columns = [shape_of(one.results[0])[-1] for one in alike]
    if sum(columns) > _MOST_COLUMNS:
        return None
    biases = [one.operand("bias") for one in alike] if op.name == "ttir.linear" else [None] * len(alike)
    given = [one for one in biases if one is not None]
    if given and len(given) != len(alike):
        return None
    if given and len({shape_of(one)[:-1] for one in given}) > 1:
        return None
    if any(shape_of(one)[-1] != count for one, count in zip(given, columns, strict=False)):
        return None
    if not move_before([*(one.inputs[1] for one in alike), *given], op):
        return None
    flags = {bool(one.get("transpose_b")) for one in alike}
    transpose = flags == {True}
    parts = []
    for one in alike:
        value = one.inputs[1]
        if one.get("transpose_b") and not transpose:
            rank = len(shape_of(value))
            value = permute(module, op, value, [*range(rank - 2), rank - 1, rank - 2])
        parts.append(value)
    right = _joined(module, op, parts, -2 if transpose else -1)
    joined = _joined(module, op, given, -1) if given else None
    shape = (*shape_of(op.results[0])[:-1], sum(columns))
    made = _product(
        module, op, op, shape, (op.inputs[0], right), joined, transpose=(bool(op.get("transpose_a")), transpose)
    )
    pieces, start = [], 0
    for count in columns:
        begins, ends = [0] * len(shape), list(shape)
        begins[-1], ends[-1] = start, start + count
        pieces.append(slice_static(module, op, made, begins, ends, [1] * len(shape)))
        start += count
    for one, piece in zip(alike[:-1], pieces[:-1], strict=True):
        replace(one, [piece])
    return [pieces[-1]]


def _joined(module: Module, op: TableOp, parts: Sequence[SSAValue], dim: int) -> SSAValue:
    """Return tensors joined along a dimension."""
    shape = list(shape_of(parts[0]))
    shape[dim] = sum(shape_of(one)[dim] for one in parts)
    return new(module, op, "concat", list(parts), shape, dim=si32_attr(dim % len(shape)))
