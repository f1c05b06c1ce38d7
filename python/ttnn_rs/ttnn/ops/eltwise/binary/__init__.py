"""Operators on two operands, one module per subject."""

from __future__ import annotations

from ttnn.ops.eltwise.binary.arithmetic import (
    add,
    add_,
    mul,
    mul_,
    multiply,
    multiply_,
    rsub,
    sub,
    sub_,
    subtract,
    subtract_,
)

__all__ = [
    "add",
    "add_",
    "mul",
    "mul_",
    "multiply",
    "multiply_",
    "rsub",
    "sub",
    "sub_",
    "subtract",
    "subtract_",
]
