"""Shared code of fusing patterns: skipping operations, constants, origins of values."""

from __future__ import annotations

import math
from collections.abc import Callable

from ttnn.compiler.dialects.operations import TableOp
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.xdsl_adapter import (
    Attribute,
    BlockArgument,
    FloatAttr,
    FuncOp,
    IntegerAttr,
    Operation,
    SSAValue,
    TensorType,
)
from ttnn.compiler.transforms.base import owner_of
from ttnn.compiler.transforms.ttir.build import typed
from ttnn.compiler.transforms.ttir.canonical.identities import producer
from ttnn.compiler.transforms.ttir.constants import fill_value, splat_of

__all__ = [
    "MOVES",
    "cast_to",
    "constant_near",
    "depends_on",
    "element",
    "from_constants",
    "has_splat",
    "move_before",
    "one_of",
    "operand_pairs",
    "producer",
    "single_dim",
    "through",
    "through_if",
    "users",
]

MOVES = ("typecast", "reshape", "broadcast", "repeat_interleave")
"""Operations that only move, repeat or convert elements."""


def element(value: SSAValue) -> Attribute:
    """Return the element type of a tensor."""
    assert isinstance(value.type, TensorType)
    kind: Attribute = value.type.element_type
    return kind


def users(value: SSAValue) -> list[Operation]:
    """Return the operations that use a value, each once."""
    found: dict[int, Operation] = {}
    for use in value.uses:
        found[id(use.operation)] = use.operation
    return list(found.values())


def through(value: SSAValue, *names: str) -> SSAValue:
    """Return a value's source, skipping named operations' first operands."""
    return through_if(value, lambda op: op.name[5:] in names)


def through_if(value: SSAValue, accepted: Callable[[TableOp], bool]) -> SSAValue:
    """Return a value's source, skipping accepted operations' first operands."""
    owner = owner_of(value)
    while isinstance(owner, TableOp) and owner.name.startswith("ttir.") and owner.operands and accepted(owner):
        value = owner.operands[0]
        owner = owner_of(value)
    return value


def has_splat(value: SSAValue, number: float, tolerance: float = 1e-6) -> bool:
    """Return whether a value is uniform with a number.

    It is a `full` or its like.
    """
    attribute = fill_value(value)
    if isinstance(attribute, IntegerAttr):
        return bool(attribute.value.data == number)
    return isinstance(attribute, FloatAttr) and abs(attribute.value.data - number) <= tolerance


def constant_near(value: SSAValue, number: float, relative: float) -> bool:
    """Return whether a moved constant is near a number.

    Within a relative distance of it, skipping moves.
    """
    found = splat_of(through(value, *MOVES))
    return found is not None and abs(found - number) <= relative * max(abs(number), 1.0)


def operand_pairs(op: TableOp) -> tuple[tuple[SSAValue, SSAValue], tuple[SSAValue, SSAValue]]:
    """Return the two operands of an operation in both orders."""
    left, right = op.inputs[:2]
    return (left, right), (right, left)


def one_of(op: TableOp, name: str, *between: str) -> tuple[TableOp, SSAValue] | None:
    """Return a named operation among two operands, and the other.

    Others are skipped.
    """
    for value, other in operand_pairs(op):
        found = producer(through(value, *between), name)
        if found is not None:
            return found, other
    return None


def single_dim(op: TableOp) -> int | None:
    """Return a reduction's single dimension from the start, or None."""
    dims = op.get("dim_arg")
    if dims is None or len(dims) != 1:
        return None
    kind = op.inputs[0].type
    assert isinstance(kind, TensorType)
    dim: int = dims[0] % len(kind.get_shape())
    return dim


def cast_to(module: Module, op: TableOp, value: SSAValue, type_: Attribute) -> SSAValue:
    """Return a value in a type of the same shape."""
    return value if value.type == type_ else typed(module, op, "typecast", [value], type_)


def _chain(value: SSAValue) -> tuple[dict[int, Operation], list[BlockArgument]]:
    """Return a value's source operations and their arguments."""
    ops: dict[int, Operation] = {}
    arguments: list[BlockArgument] = []
    rest = [value]
    while rest:
        one = rest.pop()
        owner = owner_of(one)
        if owner is None:
            if isinstance(one, BlockArgument):
                arguments.append(one)
        elif id(owner) not in ops:
            ops[id(owner)] = owner
            rest += owner.operands
    return ops, arguments


def depends_on(value: SSAValue, op: Operation) -> bool:
    """Return whether a value comes from an operation."""
    return id(op) in _chain(value)[0]


def from_constants(value: SSAValue) -> bool:
    """Return whether a value comes from constants and parameters only.

    Its arguments are parameters or constants.
    """
    for argument in _chain(value)[1]:
        function = argument.owner.parent_op()
        attributes = function.arg_attrs if isinstance(function, FuncOp) else None
        kind = attributes.data[argument.index].data.get("ttcore.argument_type") if attributes is not None else None
        if getattr(kind, "value", "") not in ("parameter", "constant"):
            return False
    return True


def move_before(values: list[SSAValue], place: Operation) -> bool:
    """Move what values come from before an operation of the same block.

    Returns:
        Whether it was possible: not if they come from the operation itself or lie in other blocks.
    """
    block = place.parent
    assert block is not None
    needed: dict[int, Operation] = {}
    for value in values:
        needed.update(_chain(value)[0])
    if id(place) in needed:
        return False
    if any(op.parent is not block for op in needed.values()):
        return False
    later = []
    op = place.next_op
    while op is not None:
        if id(op) in needed:
            later.append(op)
        op = op.next_op
    for one in later:
        one.detach()
        block.insert_op_before(one, place)
    return True


def near(found: float, number: float, relative: float) -> bool:
    """Return whether two numbers are relatively close.

    They differ by a part of the second at most.
    """
    return math.isclose(found, number, rel_tol=0.0, abs_tol=relative * abs(number))
