"""`ttir-implicit-broadcast-fold`: elementwise operations repeat their operands themselves."""

from __future__ import annotations

from typing import Any

from ttnn.compiler.asm.module import Module
from ttnn.compiler.dialects.operations import TableOp
from ttnn.compiler.dialects.rules import broadcast_shape, shape_of
from ttnn.compiler.passes.base import erase, owner_of, table_ops

__all__ = ["run"]

_BINARY = {
    f"ttir.{name}"
    for name in [
        "add",
        "subtract",
        "multiply",
        "div",
        "eq",
        "ne",
        "ge",
        "gt",
        "le",
        "lt",
        "logical_and",
        "logical_or",
        "logical_xor",
        "maximum",
        "minimum",
        "remainder",
        "pow",
        "where",
        "atan2",
        "bitwise_and",
        "bitwise_or",
        "bitwise_xor",
        "logical_left_shift",
        "logical_right_shift",
    ]
}


def run(module: Module, options: dict[str, Any]) -> None:
    """Drop broadcasts of operands whose operation still gets its shape from the others."""
    del options
    for op in table_ops(module.op, "ttir."):
        if op.name in _BINARY:
            _fold(op)


def _fold(op: TableOp) -> None:
    result = shape_of(op.results[0])
    for i, value in enumerate(op.inputs):
        producer = owner_of(value)
        if not isinstance(producer, TableOp) or producer.name != "ttir.broadcast":
            continue
        shapes = [shape_of(producer.inputs[0] if j == i else one) for j, one in enumerate(op.inputs)]
        if broadcast_shape(shapes) == result:
            op.operands[i] = producer.inputs[0]
            if not producer.results[0].uses:
                erase(producer)
