"""Constants move to the function's head; equal ones merge.

The order is that of MLIR: a constant stays where it is if it is first in the function or follows one that stayed or
moved; else it becomes the first.
Source: `OperationFolder::insertKnownConstant` in `mlir/lib/Transforms/Utils/FoldUtils.cpp` of LLVM.
"""

from __future__ import annotations

from ttnn.compiler.dialects.operations import TableOp
from ttnn.compiler.features import CONSTANTS_AFTER_OUTPUTS
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.printing import LOCAL
from ttnn.compiler.ir.xdsl_adapter import Block, Operation
from ttnn.compiler.transforms.base import replace

__all__ = ["hoist_constants"]


def hoist_constants(module: Module) -> None:
    """Hoist constants in all functions; equal ones share results."""
    for function in module.functions():
        head = function.regions[0].blocks.first
        if head is None:
            continue
        known: dict[tuple[object, ...], Operation] = {}
        owned: set[Operation] = set()
        for op in list(function.walk()):
            if not isinstance(op, TableOp) or "hoisted" not in op.text.traits or op.n_outs or op.operands:
                continue
            key = _key(op)
            other = known.get(key)
            if other is not None:
                replace(op, other.results)
                continue
            _place(module, op, head, owned)
            known[key] = op
            owned.add(op)


def _key(op: TableOp) -> tuple[object, ...]:
    """Return a constant's key; different operations stay apart.

    Constants that hold the same have the same key.
    """
    return (
        op.name,
        LOCAL.attribute(op.results[0].type),
        tuple(sorted((name, LOCAL.attribute(value)) for name, value in {**op.properties, **op.attributes}.items())),
    )


def _place(module: Module, op: Operation, head: Block, owned: set[Operation]) -> None:
    # What a pass of 2025-10 has made stands behind the output of the operation that it is made for.
    behind = CONSTANTS_AFTER_OUTPUTS.of(module.version) and op not in module.places and op not in module.hoisted
    module.hoisted.add(op)
    if op.parent is head and not behind and (head.first_op is op or op.prev_op in owned):
        return
    first = head.first_op
    assert first is not None
    if first is not op:
        op.detach()
        head.insert_op_before(op, first)
