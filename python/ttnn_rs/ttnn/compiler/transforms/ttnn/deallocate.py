"""`ttnn-deallocate`: tensors are freed after their last use."""

from __future__ import annotations

from ttnn.compiler.dialects.operations import make
from ttnn.compiler.ir.diagnostics import CompileError
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.printing import attribute_text
from ttnn.compiler.ir.xdsl_adapter import Block, IntegerAttr, IntegerType, Operation, SSAValue, TensorType
from ttnn.compiler.transforms.traits import has, returned
from ttnn.compiler.transforms.ttnn.trace_hoist import is_trace

__all__ = ["run"]


def run(module: Module) -> None:
    """Insert `ttnn.deallocate` after unreturned tensors' last use."""
    force = IntegerAttr(0, IntegerType(1))
    for function in module.functions():
        body = function.regions[0].blocks.first
        if body is None or any(op.name.startswith("ttir.") for op in body.ops):
            continue
        values: list[SSAValue] = [*body.args] if _frees_arguments(function) and not is_trace(function) else []
        for op in body.ops:
            if (op.name.startswith("ttnn.") and op.name not in ("ttnn.get_device", "ttnn.deallocate")) or op.name in (
                "ttcore.load_cached",
                "func.call",
            ):
                values += op.results
        order = {op: i for i, op in enumerate(body.ops)}
        _check_freed(module, body, order)
        for value in values:
            _free(module, body, value, order, force)


def _check_freed(module: Module, body: Block, order: dict[Operation, int]) -> None:
    """Refuse convolutions that free an input which is used after them.

    Raises:
        CompileError: There is one.
    """
    for op in body.ops:
        if not _frees_input(op):
            continue
        if any(order.get(use.operation, 0) > order[op] for use in op.operands[0].uses):
            message = "use-after-free detected: op deallocates its input but is not the last user"
            raise CompileError(module.at(op, message))


def _frees_input(op: Operation) -> bool:
    """Return whether an operation frees its first operand itself."""
    config = op.properties.get("conv2d_config")
    return config is not None and "deallocate_activation = true" in attribute_text(config)


def _frees_arguments(function: Operation) -> bool:
    """Return whether arguments are freed too.

    Those of the program are its own, those of const-eval too.
    """
    name = getattr(function.properties.get("sym_name"), "data", "")
    return "const_eval" not in name


def _free(module: Module, body: Block, value: SSAValue, order: dict[Operation, int], force: IntegerAttr) -> None:
    if not isinstance(value.type, TensorType):
        return
    last: Operation | None = None
    for use in value.uses:
        user: Operation | None = use.operation
        while user is not None and user.parent is not body:
            user = user.parent_op()
        if user is None:
            continue
        if user.name in ("func.return", "ttnn.deallocate") or has(user, "aliases"):
            return
        if any(value is one for one in returned(user)):
            # The result is the same memory.
            return
        if last is None or order[user] > order[last]:
            last = user
    if last is not None and _frees_input(last) and last.operands[0] is value:
        return
    if last is None:
        owner = value.owner
        if not isinstance(owner, Operation):
            return
        last = owner
    new = make("ttnn.deallocate", module.version, [value], [], {"force": force}, location=last.location)
    body.insert_op_after(new, last)
