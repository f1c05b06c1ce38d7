"""Constants, casts and scales that the optimizer's rewrites recognise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ttnn.compiler.dialects.operations import TableOp
from ttnn.compiler.dialects.verify.parts import shape_of
from ttnn.compiler.ir.xdsl_adapter import FloatAttr, IntegerAttr, SSAValue
from ttnn.compiler.transforms.base import owner_of
from ttnn.compiler.transforms.ttnn.build import Build
from ttnn.compiler.transforms.ttnn.layout.types import element_word, retyped

__all__ = ["before_casts", "constant", "maker", "order_of", "without_scale"]

_CASTS: Final = ("ttnn.typecast", "ttnn.to_tensor_spec")


def maker(value: SSAValue, *names: str) -> TableOp | None:
    """Return the operation that makes a value, if it is named."""
    op = owner_of(value)
    return op if isinstance(op, TableOp) and op.name.removeprefix("ttnn.") in names else None


def before_casts(value: SSAValue) -> SSAValue:
    """Return the value in front of changes of its data type."""
    while (op := maker(value, "typecast", "to_tensor_spec")) is not None and shape_of(op.operands[0]) == shape_of(
        value
    ):
        value = op.operands[0]
    return value


def constant(value: SSAValue) -> float | None:
    """Return the number that fills a tensor, else None."""
    op = maker(before_casts(value), "full", "zeros", "ones")
    if op is None:
        return None
    if op.name != "ttnn.full":
        return 1.0 if op.name == "ttnn.ones" else 0.0
    fill = op.properties.get("fill_value")
    if isinstance(fill, FloatAttr):
        return float(fill.value.data)
    return float(fill.value.data) if isinstance(fill, IntegerAttr) else None


def order_of(op: TableOp) -> tuple[int, ...]:
    """Return the permutation of a `permute`."""
    order: Sequence[int] = op.get("permutation")
    return tuple(order)


def without_scale(build: Build, value: SSAValue) -> tuple[SSAValue, float]:
    """Return a value before casts and constant factors, and their product.

    The casts are to float32. Movements that follow them are repeated.
    """
    op = owner_of(value)
    if not isinstance(op, TableOp):
        return value, 1.0
    if op.name in _CASTS:
        inner = op.operands[0]
        if (
            element_word(value.type) == "f32"
            and element_word(inner.type) == "bf16"
            and shape_of(inner) == shape_of(value)
        ):
            return without_scale(build, inner)
        return value, 1.0
    if op.name == "ttnn.multiply" and len(op.operands) == 2:
        for index in (1, 0):
            factor = constant(op.operands[index])
            other = op.operands[1 - index]
            if factor is not None and shape_of(other) == shape_of(value):
                inner, scale = without_scale(build, other)
                if element_word(inner.type) == "bf16":
                    return inner, scale * factor
        return value, 1.0
    if op.name in ("ttnn.permute", "ttnn.reshape"):
        inner, scale = without_scale(build, op.operands[0])
        if inner is op.operands[0]:
            return value, 1.0
        moved = build.again(op, [retyped(inner.type, shape=shape_of(value))], operands={"input": inner})
        return moved.results[0], scale
    return value, 1.0
