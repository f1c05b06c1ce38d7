"""Operations of the library that do nothing, or chains of them that are one."""

from __future__ import annotations

from ttnn.compiler.asm.module import Module
from ttnn.compiler.asm.xdsl_adapter import Attribute, DenseArrayBase, IntegerType, SSAValue
from ttnn.compiler.dialects.operations import TableOp, make
from ttnn.compiler.dialects.rules import shape_of
from ttnn.compiler.passes.base import insert_before, owner_of
from ttnn.compiler.passes.later_build import ints
from ttnn.compiler.passes.rewriting import Result

__all__ = ["casts", "permute_of_units", "permutes", "reshapes", "same_type"]


def same_type(module: Module, op: TableOp) -> Result:
    """An operation whose result has the type of its operand does nothing."""
    del module
    return [op.inputs[0]] if op.inputs[0].type == op.results[0].type else None


def _before(op: TableOp) -> TableOp | None:
    """Return the operation of the same name that makes the operand, or None."""
    owner = owner_of(op.inputs[0])
    return owner if isinstance(owner, TableOp) and owner.name == op.name else None


def _again(
    module: Module, op: TableOp, operand: SSAValue, name: str | None = None, **changes: Attribute
) -> list[SSAValue]:
    """Return the result of an operation of the same type of result, of another operand."""
    old = op.properties if name is None else {}
    made = make(
        name or op.name,
        module.epoch,
        [operand],
        [op.results[0].type],
        {**old, **changes},
        attributes=dict(op.attributes),
        location=op.location,
    )
    insert_before(op, made)
    return list(made.results)


def casts(module: Module, op: TableOp) -> Result:
    """Of two casts in a row the second counts, if nobody else needs the first."""
    first = _before(op)
    if first is None or not first.results[0].has_one_use():
        return None
    return _again(module, op, first.inputs[0])


def reshapes(module: Module, op: TableOp) -> Result:
    """Of two reshapes in a row the second counts."""
    first = _before(op)
    if first is None or _is_changed(first.results[0], op):
        return None
    return _again(module, op, first.inputs[0], shape=ints(shape_of(op.results[0])))


_WRITERS = (
    *("deallocate", "update_cache", "fill_cache", "paged_update_cache", "paged_fill_cache", "adamw", "generic"),
    "batch_norm_training",
)


def _is_changed(value: SSAValue, but: TableOp) -> bool:
    """Return whether somebody else changes a tensor in place or frees it."""
    names = {f"ttnn.{name}" for name in _WRITERS}
    return any(use.operation.name in names for use in value.uses if use.operation is not but)


def permutes(module: Module, op: TableOp) -> Result:
    """Two permutations in a row are one, if nobody else needs the first."""
    order = tuple(op.get("permutation"))
    if order == tuple(range(len(order))) and op.inputs[0].type == op.results[0].type:
        return [op.inputs[0]]
    first = _before(op)
    if first is None or not first.results[0].has_one_use():
        return None
    before = first.get("permutation")
    joined = DenseArrayBase.from_list(IntegerType(64), [before[i] for i in order])
    return _again(module, op, first.inputs[0], permutation=joined)


def permute_of_units(module: Module, op: TableOp) -> Result:
    """A permutation that moves only dimensions of size one is a reshape."""
    shape, order = shape_of(op.inputs[0]), op.get("permutation")
    moved = [i for i in order if shape[i] != 1]
    if moved != sorted(moved):
        return None
    return _again(module, op, op.inputs[0], "ttnn.reshape", shape=ints(shape_of(op.results[0])))
