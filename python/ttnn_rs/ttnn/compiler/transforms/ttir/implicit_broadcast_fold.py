"""Broadcasts in elementwise operations: folded, and filled tensors."""

from __future__ import annotations

from ttnn.compiler.dialects.kinds import i32_array
from ttnn.compiler.dialects.operations import TableOp
from ttnn.compiler.dialects.verify.common import broadcast_shape, shape_of
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.xdsl_adapter import SSAValue
from ttnn.compiler.transforms.rewriting import pattern, rewrite
from ttnn.compiler.transforms.traits import has, named
from ttnn.compiler.transforms.ttir.build import i64s, new, tensor_like
from ttnn.compiler.transforms.ttir.canonical.registry import FOLDS
from ttnn.compiler.transforms.ttir.moves import implicit_broadcast, made_by, plain_tensors, remade, users

__all__ = ["fold_full", "run"]


def _with_inputs(module: Module, op: TableOp, inputs: list[SSAValue]) -> SSAValue:
    """Return an elementwise operation of other inputs, broadcast if smaller.

    If they have not its whole shape.
    """
    shape = broadcast_shape([shape_of(value) for value in inputs])
    target = shape_of(op.results[0])
    assert shape is not None
    value = remade(module, op, op, inputs, tensor_like(op.results[0].type, shape))
    if shape == target:
        return value
    ones = (1,) * (len(target) - len(shape)) + shape
    factors = [size if one == 1 else 1 for one, size in zip(ones, target, strict=True)]
    return new(module, op, "broadcast", [value], target, broadcast_dimensions=i64s(factors))


def _folded(module: Module, op: TableOp) -> list[SSAValue] | None:
    if not plain_tensors(op):
        return None
    inputs = []
    for value in op.inputs:
        broadcast = made_by(value, "ttir.broadcast")
        inputs.append(broadcast.inputs[0] if broadcast is not None and implicit_broadcast(broadcast) else value)
    ranks = {len(shape_of(value)) for value in inputs}
    if inputs == list(op.inputs) or max(ranks) != len(shape_of(op.results[0])):
        return None
    return [_with_inputs(module, op, inputs)]


def run(module: Module) -> None:
    """Fold broadcasts into elementwise operations.

    Dimensions that no input has are broadcast afterwards.
    """
    rewrite(module, [*FOLDS, pattern(_folded, *named("ttir", "elementwise"))], backwards=True)


def fold_full(module: Module) -> None:
    """Reduce filled tensors to one element for repeating users.

    Only operations that repeat it read them.
    """
    rewrite(module, [*FOLDS, pattern(_scalar, "full", "zeros", "ones")], backwards=True)


def _scalar(module: Module, op: TableOp) -> list[SSAValue] | None:
    shape = shape_of(op.results[0])
    readers = users(op.results[0])
    if all(size == 1 for size in shape) or not plain_tensors(op):
        return None
    if not all(isinstance(one, TableOp) and has(one, "elementwise") and plain_tensors(one) for one in readers):
        return None
    ones = [1] * len(shape)
    small = remade(module, op, op, [], tensor_like(op.results[0].type, ones), shape=i32_array(ones))
    for reader in dict.fromkeys(readers):
        assert isinstance(reader, TableOp)
        inputs = [small if value is op.results[0] else value for value in reader.inputs]
        reader.results[0].replace_all_uses_with(_with_inputs(module, reader, inputs))
    return [small]
