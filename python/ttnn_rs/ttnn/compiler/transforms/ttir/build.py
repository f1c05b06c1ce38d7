"""Building tensor operations before another one: what decompositions share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ttnn.compiler.dialects.kinds import i32_attr
from ttnn.compiler.dialects.operations import TableOp, make
from ttnn.compiler.dialects.verify.parts import shape_of
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.xdsl_adapter import (
    ArrayAttr,
    Attribute,
    DenseArrayBase,
    IntegerType,
    NoneAttr,
    SSAValue,
    TensorType,
)
from ttnn.compiler.transforms.base import insert_before

__all__ = ["i64s", "ints", "new", "permute", "reshape", "slice_static", "tensor_like", "typed"]


def tensor_like(type_: Attribute, shape: Sequence[int]) -> TensorType[Any]:
    """Return a tensor type of the same element type and another shape."""
    assert isinstance(type_, TensorType)
    return TensorType(type_.element_type, shape, NoneAttr())


def new(
    module: Module, op: TableOp, name: str, inputs: list[SSAValue], size: Sequence[int], **properties: Any
) -> SSAValue:
    """Insert an operation of first input type; return the result.

    It has `size` and is inserted before another one.
    """
    like = inputs[0].type if inputs else op.results[0].type
    return typed(module, op, name, inputs, tensor_like(like, size), **properties)


def typed(
    module: Module, op: TableOp, name: str, inputs: list[SSAValue], type_: Attribute, **properties: Any
) -> SSAValue:
    """Insert an operation with a result type; return the result.

    It is inserted before another one.
    """
    made = make(f"ttir.{name}", module.version, inputs, [type_], properties, location=op.location)
    insert_before(op, made)
    value: SSAValue = made.results[0]
    return value


def ints(values: Sequence[int]) -> ArrayAttr[Any]:
    """Return `[1 : i32, ...]`."""
    return ArrayAttr([i32_attr(value) for value in values])


def i64s(values: Sequence[int]) -> DenseArrayBase[Any]:
    """Return `array<i64: ...>`."""
    return DenseArrayBase.from_list(IntegerType(64), list(values))


def reshape(module: Module, op: TableOp, value: SSAValue, shape: Sequence[int]) -> SSAValue:
    """Return a value in another shape."""
    if shape_of(value) == tuple(shape):
        return value
    return new(module, op, "reshape", [value], shape, shape=ints(shape))


def permute(module: Module, op: TableOp, value: SSAValue, order: Sequence[int]) -> SSAValue:
    """Return a value with its dimensions in another order."""
    if list(order) == list(range(len(order))):
        return value
    shape = shape_of(value)
    return new(module, op, "permute", [value], [shape[i] for i in order], permutation=i64s(order))


def slice_static(
    module: Module, op: TableOp, value: SSAValue, begins: Sequence[int], ends: Sequence[int], step: Sequence[int]
) -> SSAValue:
    """Return a part of a value."""
    shape = [max(0, -(-(e - b) // s)) for b, e, s in zip(begins, ends, step, strict=True)]
    return new(module, op, "slice_static", [value], shape, begins=ints(begins), ends=ints(ends), step=ints(step))
