"""Base class of passes, and shared code of passes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ttnn.compiler.dialects.operations import TableOp
from ttnn.compiler.ir.diagnostics import CompileError
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.xdsl_adapter import (
    Attribute,
    Block,
    FuncOp,
    FunctionType,
    Operation,
    OpResult,
    SSAValue,
    TensorType,
)

__all__ = [
    "device_in_block",
    "erase",
    "fail",
    "functions",
    "insert_before",
    "is_on_host",
    "is_tensor",
    "owner_of",
    "replace",
    "set_type",
    "table_ops",
    "update_function_type",
]


def fail(module: Module, operation: Operation, message: str) -> CompileError:
    """Return the error of a pass about an operation."""
    return CompileError(module.error(operation, message))


def functions(module: Module) -> list[FuncOp]:
    """Return the functions of a module."""
    return module.functions()


def table_ops(owner: Operation, dialect: str = "") -> Iterator[TableOp]:
    """Yield nested table operations, optionally of a dialect.

    Changes do not disturb it.
    """
    for op in list(owner.walk()):
        if isinstance(op, TableOp) and op.name.startswith(dialect) and op.parent is not None:
            yield op


def insert_before(place: Operation, operation: Operation) -> Operation:
    """Insert an operation before another one, and return it."""
    block = place.parent
    assert block is not None
    block.insert_op_before(operation, place)
    return operation


def replace(operation: Operation, values: Iterable[SSAValue]) -> None:
    """Replace the results of an operation and erase it."""
    for result, value in zip(operation.results, values, strict=True):
        result.replace_all_uses_with(value)
    erase(operation)


def erase(operation: Operation) -> None:
    """Erase an operation whose results are not used."""
    operation.detach()
    operation.erase()


def set_type(value: SSAValue, type_: Attribute) -> None:
    """Change the type of a value."""
    # xdsl only reads it; passes that assign layouts change types in place, as MLIR passes do.
    value._type = type_


def is_tensor(type_: Attribute) -> bool:
    """Return whether a type is a ranked tensor."""
    return isinstance(type_, TensorType)


def update_function_type(function: FuncOp) -> None:
    """Update a function's type from its arguments and return."""
    body = function.regions[0].blocks.first
    if body is None:
        return
    last: Block | None = None
    for block in function.regions[0].blocks:
        last = block
    outputs = tuple(function.function_type.outputs.data)
    terminator = last.last_op if last is not None else None
    if terminator is not None and terminator.name == "func.return":
        outputs = tuple(value.type for value in terminator.operands)
    function.properties["function_type"] = FunctionType.from_lists([arg.type for arg in body.args], list(outputs))


def owner_of(value: SSAValue) -> Operation | None:
    """Return the operation that makes a value, or None for arguments."""
    return value.owner if isinstance(value, OpResult) else None


def device_in_block(op: Operation) -> SSAValue | None:
    """Return the block's existing device, or None."""
    block = op.parent
    made = (one for one in block.ops if one.name == "ttnn.get_device") if block is not None else iter(())
    found = next(made, None)
    return None if found is None else found.results[0]


def is_on_host(function: FuncOp) -> bool:
    """Return whether a function is computed by the host."""
    parent = function.parent_op()
    while parent is not None:
        if parent.name == "ttcore.cpu_module":
            return True
        parent = parent.parent_op()
    return False
