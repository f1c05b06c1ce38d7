"""Results whose layout the optimizer chooses."""

from __future__ import annotations

from ttnn.compiler.dialects.operations import TableOp
from ttnn.compiler.dialects.verify.parts import shape_of
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.xdsl_adapter import FuncOp, Operation, SSAValue
from ttnn.compiler.transforms.base import replace, update_function_type
from ttnn.compiler.transforms.ttnn.build import Build
from ttnn.compiler.transforms.ttnn.layout.types import retyped, tensor_layout

__all__ = ["rows_of_results"]


def rows_of_results(module: Module, op: TableOp) -> bool | None:
    """Return True if a result was changed to rows; exact.

    It only gains dimensions of size one: its reshape is a view then.
    """
    value, result = op.operands[0], op.results[0]
    users = [use.operation for use in result.uses]
    if [user.name for user in users] != ["func.return"] or not tensor_layout(result).tiled:
        return None
    before, after = shape_of(value), shape_of(result)
    if len(after) < 2 or [size for size in before if size > 1] != [size for size in after if size > 1]:
        return None
    if before[-1] != after[-1] or tensor_layout(result).dtype not in ("f32", "bf16"):
        return None
    function = op.parent_op()
    if not isinstance(function, FuncOp):
        return None
    last = users[0]
    build = Build(module, last)
    rows = _rows(value, last)
    if rows is None:
        rows = build.spec(value, retyped(value.type, tiled=False))
    made = build.reshape(rows, after, like=retyped(result.type, tiled=False))
    replace(op, [made])
    update_function_type(function)
    return True


def _rows(value: SSAValue, last: Operation) -> SSAValue | None:
    """Return the same tensor in rows, if the block has it."""
    for use in value.uses:
        op = use.operation
        if op.name == "ttnn.to_tensor_spec" and op.parent is last.parent:
            result: SSAValue = op.results[0]
            if result.type == retyped(value.type, tiled=False):
                return result
    return None
