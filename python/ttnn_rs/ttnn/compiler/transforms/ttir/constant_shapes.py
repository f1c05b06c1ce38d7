"""Reshapes and broadcasts of constants, folded or moved.

Folded into the constant, or moved to it from the other operand.
"""

from __future__ import annotations

import math

from ttnn.compiler.dialects.operations import TableOp
from ttnn.compiler.dialects.verify.parts import shape_of
from ttnn.compiler.ir.attributes import DenseAttr
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.xdsl_adapter import SSAValue, TensorType
from ttnn.compiler.transforms.base import owner_of
from ttnn.compiler.transforms.rewriting import pattern, rewrite
from ttnn.compiler.transforms.traits import elementwise
from ttnn.compiler.transforms.ttir.build import tensor_like, typed
from ttnn.compiler.transforms.ttir.canonical.registry import FOLDS
from ttnn.compiler.transforms.ttir.moves import made_by, move, plain_tensors, remade, users

__all__ = ["fold_into_constants", "move_to_constants"]

_SHAPED = ("ttir.reshape", "ttir.broadcast")
_READERS = frozenset(f"ttir.{name}" for name in ("add", "subtract", "multiply", "div", "pow", "broadcast"))


def _source(value: SSAValue) -> TableOp | None:
    """Return a reshaped and broadcast value's constant, or None."""
    owner = owner_of(value)
    while isinstance(owner, TableOp) and owner.name in _SHAPED and not owner.n_outs:
        owner = owner_of(owner.inputs[0])
    return owner if isinstance(owner, TableOp) and owner.name == "ttir.constant" else None


def _folded(module: Module, op: TableOp) -> list[SSAValue] | None:
    """Return the constant that a reshape or broadcast of one number makes."""
    readers = users(op.results[0])
    if op.name == "ttir.reshape" and not all(reader.name in _READERS for reader in readers):
        return None
    constant = _source(op.inputs[0])
    value = constant.properties.get("value") if constant is not None else None
    type_ = op.results[0].type
    if not isinstance(value, DenseAttr) or not isinstance(type_, TensorType):
        return None
    if not value.splat and math.prod(value.type.get_shape()) != 1:
        return None
    return [typed(module, op, "constant", [], type_, value=DenseAttr(type_, value.data, splat=True))]


def fold_into_constants(module: Module) -> None:
    """Replace reshaped, broadcast uniform constants by new-shape constants."""
    rewrite(module, [*FOLDS, pattern(_folded, "reshape", "broadcast")], backwards=True)


def _moved(module: Module, op: TableOp) -> list[SSAValue] | None:
    """Return `op(reshape(x), c)` as `reshape(op(x, reshape(c)))`."""
    if not plain_tensors(op) or len(op.inputs) != 2:
        return None
    for i, value in enumerate(op.inputs):
        reshaped, other = made_by(value, "ttir.reshape"), op.inputs[1 - i]
        if reshaped is None or _source(value) is not None or _source(other) is None:
            continue
        shape, inner = shape_of(value), shape_of(reshaped.inputs[0])
        if len(users(value)) != 1 or shape_of(other) != shape or shape_of(op.results[0]) != shape:
            return None
        inputs = [reshaped.inputs[0], move(module, op, "reshape", other, inner)]
        result = remade(module, op, op, inputs if i == 0 else inputs[::-1], tensor_like(op.results[0].type, inner))
        return [move(module, op, "reshape", result, shape)]
    return None


def move_to_constants(module: Module) -> None:
    """Reshape constants instead of the tensors that meet them in elementwise operations."""
    rewrite(module, [*FOLDS, pattern(_moved, *elementwise(2))], backwards=True)
