"""The body of a function in the place of its call."""

from __future__ import annotations

from typing import Any

from ttnn.compiler.ir.xdsl_adapter import FuncOp, Operation
from ttnn.compiler.transforms.base import insert_before, replace

__all__ = ["inline_call"]


def inline_call(call: Operation, function: FuncOp) -> None:
    """Replace a call by the body of its one-block function."""
    body = function.regions[0].blocks.first
    assert body is not None
    values = dict(zip(body.args, call.operands, strict=True))
    results: tuple[Any, ...] = ()
    for op in body.ops:
        if op.name == "func.return":
            results = tuple(values.get(value, value) for value in op.operands)
        else:
            insert_before(call, op.clone(values))
    replace(call, results)
