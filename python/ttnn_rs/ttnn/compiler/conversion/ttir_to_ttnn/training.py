"""Lowering of training operations: embedding gradients, and AdamW steps."""

from __future__ import annotations

import math
from typing import Any, Final

from ttnn.compiler.dialects.operations import SEGMENTS, TableOp, operation_class
from ttnn.compiler.dialects.verify.parts import shape_of
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.xdsl_adapter import Operation
from ttnn.compiler.transforms.base import fail, replace
from ttnn.compiler.transforms.ttnn.build import Build, groups_of
from ttnn.compiler.transforms.ttnn.layout.types import retyped

__all__ = ["adamw", "embedding_backward"]

_TILE: Final = 32


def embedding_backward(module: Module, op: TableOp) -> None:
    """Lower a table's gradient: [1, 1, R, C], indices filling tiles."""
    build = Build(module, op)
    indices, weight, gradient = op.inputs
    result = op.results[0]
    shape = shape_of(indices)
    if len(shape) > 2 and shape[-1] == 1:
        shape = shape[:-1]
    batch, length, columns = math.prod(shape[:-1]), shape[-1], shape_of(gradient)[-1]
    padded = -(-length // _TILE) * _TILE
    if padded != length:
        # The rows of padding have index and gradient 0: they add nothing to the first row of the table.
        indices = build.pad_to(build.reshape(indices, (batch, length)), 1, padded)
        gradient = build.pad_to(build.reshape(gradient, (batch, length, columns)), 1, padded)
    gradient = build.flat(gradient)
    kind = operation_class("ttnn.embedding_bw", module.version)
    if kind is not None and "four_dimensional" not in kind.text.traits:
        operands = [build.reshape(indices, (batch, padded)), weight, gradient]
        replace(op, [build.value("embedding_bw", operands, result.type)])
        return
    indices = build.reshape(indices, (batch, 1, 1, padded))
    table = shape_of(result)
    kind4 = retyped(result.type, shape=(1, 1, *table[-2:]))
    replace(op, [build.reshape(build.value("embedding_bw", [indices, weight, gradient], kind4), table)])


def adamw(module: Module, op: TableOp) -> None:
    """Lower an AdamW step: parameters and moments change in place.

    They replace the results.
    """
    changed = [value for name in ("param", "exp_avg", "exp_avg_sq", "max_exp_avg_sq") for value in op.group(name)]
    for value in changed:
        for use in value.uses:
            if use.operation is not op and not _is_before(use.operation, op):
                raise fail(module, op, "cannot be lowered: a tensor that it changes in place is read after the step")
    properties: dict[str, Any] = {name: value for name, value in op.properties.items() if name != SEGMENTS}
    Build(module, op).op("adamw", groups_of(op), [], **properties)
    replace(op, changed)


def _is_before(op: Operation, other: Operation) -> bool:
    if op.parent is not other.parent:
        return False
    one: Operation | None = op
    while one is not None and one is not other:
        one = one.next_op
    return one is other
