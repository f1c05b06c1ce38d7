"""The gradient of an embedding as the library takes it: full tiles of indices, gradient and result of rank 4."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ttnn.compiler.asm.epochs import Epoch
from ttnn.compiler.asm.module import Module
from ttnn.compiler.asm.xdsl_adapter import Attribute, IntegerAttr, IntegerType, SSAValue, TensorType
from ttnn.compiler.dialects.kinds import f32_attr, i32_array
from ttnn.compiler.dialects.operations import TableOp, make
from ttnn.compiler.dialects.rules import shape_of
from ttnn.compiler.passes.base import insert_before, replace
from ttnn.compiler.passes.later_build import ints
from ttnn.compiler.passes.later_layouts import new_layout, with_layout

__all__ = ["embedding_backward"]

_TILE = 32


def _typed(value: SSAValue, shape: Sequence[int]) -> TensorType[Attribute]:
    kind = value.type
    assert isinstance(kind, TensorType)
    bare = TensorType(kind.element_type, shape)
    return with_layout(bare, new_layout(bare))


def _add(
    module: Module, op: TableOp, name: str, inputs: list[SSAValue], kind: Attribute, **properties: Attribute
) -> SSAValue:
    made = make(f"ttnn.{name}", module.epoch, inputs, [kind], properties, location=op.location)
    insert_before(op, made)
    value: SSAValue = made.results[0]
    return value


def _reshaped(module: Module, op: TableOp, value: SSAValue, shape: Sequence[int]) -> SSAValue:
    if shape_of(value) == tuple(shape):
        return value
    return _add(module, op, "reshape", [value], _typed(value, shape), shape=ints(shape))


def _padded(module: Module, op: TableOp, value: SSAValue, axis: int, size: int) -> SSAValue:
    """Zeros at the end of a dimension."""
    shape = list(shape_of(value))
    pairs = [0] * (2 * len(shape))
    pairs[2 * axis + 1] = size - shape[axis]
    shape[axis] = size
    many = IntegerAttr(1, IntegerType(1))
    padding = i32_array(pairs)
    return _add(
        module, op, "pad", [value], _typed(value, shape), padding=padding, value=f32_attr(0.0), use_multicore=many
    )


def embedding_backward(module: Module, op: TableOp) -> None:
    """Lower the operation. Padded indices are those of the first row, to which their gradient adds zero."""
    index, weight, grad = op.inputs
    sizes = shape_of(index)
    sizes = sizes[:-1] if len(sizes) > 2 and sizes[-1] == 1 else sizes
    batch, length, width = math.prod(sizes[:-1]), sizes[-1], shape_of(grad)[-1]
    full = -(-length // _TILE) * _TILE
    if full != length:
        index = _padded(module, op, _reshaped(module, op, index, (batch, length)), 1, full)
        grad = _padded(module, op, _reshaped(module, op, grad, (batch, length, width)), 1, full)
    grad = _reshaped(module, op, grad, (1, 1, batch * full, width))
    current = module.epoch is Epoch.CURRENT
    index = _reshaped(module, op, index, (batch, 1, 1, full) if current else (batch, full))
    result = shape_of(op.results[0])
    kind = _typed(op.results[0], (1, 1, *result[-2:])) if current else op.results[0].type
    made = _add(module, op, "embedding_bw", [index, weight, grad], kind)
    replace(op, [_reshaped(module, op, made, result) if current else made])
