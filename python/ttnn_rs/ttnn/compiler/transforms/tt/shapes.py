"""Small rewrites of 2024-09: pools on flat images, constants as fills."""

from __future__ import annotations

import math
from typing import Any

from ttnn.compiler.dialects.attributes import ConstraintAttr
from ttnn.compiler.dialects.enums import CONSTRAINT_GROUPS
from ttnn.compiler.dialects.kinds import i32_attr, si32_attr
from ttnn.compiler.dialects.operations import TableOp, make
from ttnn.compiler.dialects.verify.parts import shape_of
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.xdsl_adapter import ArrayAttr, Attribute, NoneAttr, TensorType
from ttnn.compiler.transforms.base import insert_before, replace, table_ops

__all__ = ["constant_as_fill", "sliding_window"]


def flat(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return [1, 1, N*H*W, C] of an image shape."""
    return (1, 1, math.prod(shape[:-1]), shape[-1])


def sliding_window(module: Module) -> None:
    """Insert reshapes around pooling, for [1, 1, N*H*W, C] images."""
    for op in table_ops(module.op, "ttir.max_pool2d"):
        shape, result = shape_of(op.inputs[0]), shape_of(op.results[0])
        if len(shape) != 4 or shape[:2] == (1, 1):
            continue
        constraints = op.properties.get("operand_constraints")
        before = _reshape(module, op, op.inputs[0], flat(shape), constraints)
        type_ = op.results[0].type
        assert isinstance(type_, TensorType)
        pool = make(
            op.name,
            module.version,
            [before.results[0]],
            [TensorType(type_.element_type, flat(result), NoneAttr())],
            {**op.properties, "original_height": si32_attr(shape[1]), "original_width": si32_attr(shape[2])},
            attributes=dict(op.attributes),
            location=op.location,
        )
        insert_before(op, pool)
        after = _reshape(module, op, pool.results[0], result, constraints)
        replace(op, after.results)


def _reshape(module: Module, op: TableOp, value: Any, shape: tuple[int, ...], constraints: Attribute | None) -> TableOp:
    properties: dict[str, Attribute] = {"shape": ArrayAttr([i32_attr(size) for size in shape])}
    if constraints is not None:
        properties["operand_constraints"] = constraints
    new = make(
        "ttir.reshape",
        module.version,
        [value],
        [TensorType(value.type.element_type, shape, NoneAttr())],
        properties,
        location=op.location,
    )
    insert_before(op, new)
    return new


def constant_as_fill(module: Module) -> None:
    """Turn constants into fills of empty tensors for metal."""
    anywhere = ArrayAttr([ConstraintAttr(CONSTRAINT_GROUPS["any_device"])])
    for op in table_ops(module.op, "ttir.constant"):
        new = make(
            "ttir.fill",
            module.version,
            [],
            [op.results[0].type],
            {"value": op.properties["value"], "operand_constraints": anywhere},
            location=op.location,
        )
        insert_before(op, new)
        replace(op, new.results)
