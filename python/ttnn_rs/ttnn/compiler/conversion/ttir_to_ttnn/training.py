"""Lowering of what training needs: gradients of embeddings, and a step of AdamW."""

from __future__ import annotations

import math
from typing import Final

from ttnn.compiler.conversion.ttir_to_ttnn.build import call, flat, like, pad, reshape
from ttnn.compiler.dialects.operations import TableOp, make, operation_class
from ttnn.compiler.dialects.verify.parts import shape_of
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.xdsl_adapter import Operation
from ttnn.compiler.transforms.base import fail, insert_before, replace

__all__ = ["adamw", "embedding_backward"]

_TILE: Final = 32


def embedding_backward(module: Module, op: TableOp) -> None:
    """Lower the gradient of a table: rows of the gradient are [1, 1, R, C], indices fill tiles."""
    indices, weight, gradient = op.inputs
    result = op.results[0]
    shape = shape_of(indices)
    if len(shape) > 2 and shape[-1] == 1:
        shape = shape[:-1]
    batch, length, columns = math.prod(shape[:-1]), shape[-1], shape_of(gradient)[-1]
    padded = -(-length // _TILE) * _TILE
    if padded != length:
        # The rows of padding have index and gradient 0: they add nothing to the first row of the table.
        indices = pad(module, op, reshape(module, op, indices, (batch, length)), 1, padded)
        gradient = pad(module, op, reshape(module, op, gradient, (batch, length, columns)), 1, padded)
    gradient = flat(module, op, gradient)
    kind = operation_class("ttnn.embedding_bw", module.version)
    if kind is not None and "four_dimensional" not in kind.spec.traits:
        operands = [reshape(module, op, indices, (batch, padded)), weight, gradient]
        made = call(module, op, "embedding_bw", operands, result.type)
        replace(op, [made])
        return
    indices = reshape(module, op, indices, (batch, 1, 1, padded))
    table = shape_of(result)
    made = call(module, op, "embedding_bw", [indices, weight, gradient], like(result.type, (1, 1, *table[-2:])))
    replace(op, [reshape(module, op, made, table)])


def adamw(module: Module, op: TableOp) -> None:
    """Lower a step of AdamW: parameters and moments change in place and stand for the results."""
    changed = [value for name in ("param", "exp_avg", "exp_avg_sq", "max_exp_avg_sq") for value in op.group(name)]
    for value in changed:
        for use in value.uses:
            if use.operation is not op and not _is_before(use.operation, op):
                raise fail(module, op, "cannot be lowered: a tensor that it changes in place is read after the step")
    sizes = (1, 1, 1, 1, len(op.group("max_exp_avg_sq")))
    properties = {name: value for name, value in op.properties.items() if name != "operandSegmentSizes"}
    step = make("ttnn.adamw", module.version, list(op.inputs), [], properties, sizes=sizes, location=op.location)
    insert_before(op, step)
    replace(op, changed)


def _is_before(op: Operation, other: Operation) -> bool:
    if op.parent is not other.parent:
        return False
    one: Operation | None = op
    while one is not None and one is not other:
        one = one.next_op
    return one is other
