"""Building operations of the library before another one: what lowerings of the later versions share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ttnn.compiler.dialects.kinds import f32_attr, i32_array
from ttnn.compiler.dialects.operations import TableOp, make
from ttnn.compiler.dialects.verify.parts import shape_of
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.xdsl_adapter import Attribute, IntegerAttr, IntegerType, NoneAttr, SSAValue, TensorType
from ttnn.compiler.transforms.base import insert_before
from ttnn.compiler.transforms.ttir.build import i64s, ints
from ttnn.compiler.transforms.ttnn.layout.layouts import (
    new_layout,
    shape_attr,
    with_layout,
)

__all__ = ["call", "filled", "flat", "like", "pad", "pad_sides", "permute", "reshape"]


def like(type_: Attribute, shape: Sequence[int]) -> TensorType[Any]:
    """Return a tensor type of the same element type, another shape, and the layout that it has on the device."""
    assert isinstance(type_, TensorType)
    plain: TensorType[Any] = TensorType(type_.element_type, shape, NoneAttr())
    return with_layout(plain, new_layout(plain))


def call(
    module: Module,
    op: TableOp,
    name: str,
    operands: Sequence[SSAValue],
    type_: Attribute,
    *,
    sizes: tuple[int, ...] | None = None,
    **properties: Attribute,
) -> SSAValue:
    """Insert a call of the library before an operation, and return its result.

    Args:
        module: The module.
        op: The operation before which it stands.
        name: Its name without the dialect.
        operands: Its operands.
        type_: Type of its result.
        sizes: Sizes of its groups of operands, where counts do not say them.
        **properties: Its attributes.
    """
    made = make(f"ttnn.{name}", module.version, operands, [type_], properties, sizes=sizes, location=op.location)
    insert_before(op, made)
    value: SSAValue = made.results[0]
    return value


def reshape(module: Module, op: TableOp, value: SSAValue, shape: Sequence[int]) -> SSAValue:
    """Return a value in another shape."""
    if shape_of(value) == tuple(shape):
        return value
    return call(module, op, "reshape", [value], like(value.type, shape), shape=ints(shape))


def flat(module: Module, op: TableOp, value: SSAValue) -> SSAValue:
    """Return a value as [1, 1, rows, columns]."""
    shape = shape_of(value)
    return reshape(module, op, value, (1, 1, math.prod(shape[:-1]), shape[-1]))


def permute(module: Module, op: TableOp, value: SSAValue, order: Sequence[int]) -> SSAValue:
    """Return a value with its dimensions in another order."""
    if list(order) == list(range(len(order))):
        return value
    shape = shape_of(value)
    kind = like(value.type, [shape[i] for i in order])
    return call(module, op, "permute", [value], kind, permutation=i64s(order))


def pad(module: Module, op: TableOp, value: SSAValue, dim: int, size: int) -> SSAValue:
    """Return a value with zeros appended to a dimension, up to a size."""
    shape = list(shape_of(value))
    if shape[dim] == size:
        return value
    padding = [0] * (2 * len(shape))
    padding[2 * dim + 1] = size - shape[dim]
    return pad_sides(module, op, value, padding)


def pad_sides(module: Module, op: TableOp, value: SSAValue, padding: Sequence[int]) -> SSAValue:
    """Return a value with zeros before and after each dimension."""
    shape = [size + padding[2 * i] + padding[2 * i + 1] for i, size in enumerate(shape_of(value))]
    true = IntegerAttr(1, IntegerType(1))
    kind = like(value.type, shape)
    return call(
        module, op, "pad", [value], kind, padding=i32_array(list(padding)), value=f32_attr(0.0), use_multicore=true
    )


def filled(module: Module, op: TableOp, name: str, device: SSAValue, type_: Attribute) -> SSAValue:
    """Return a tensor of ones or zeros."""
    assert isinstance(type_, TensorType)
    shape = shape_attr(tuple(type_.get_shape()))
    return call(module, op, name, [device], type_, shape=shape)
