"""`ttnn` operations without effect, or chains equal to one."""

from __future__ import annotations

from ttnn.compiler.dialects.operations import TableOp, make
from ttnn.compiler.dialects.verify.parts import shape_of
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.xdsl_adapter import Attribute, DenseArrayBase, IntegerType, SSAValue
from ttnn.compiler.transforms.base import insert_before, owner_of
from ttnn.compiler.transforms.rewriting import Result
from ttnn.compiler.transforms.traits import written
from ttnn.compiler.transforms.ttir.build import ints
from ttnn.compiler.transforms.ttnn.layout.types import element_word

__all__ = [
    "cast_and_back",
    "casts",
    "layouts",
    "permute_of_units",
    "permutes",
    "repeated_right",
    "reshapes",
    "same_type",
]

_WIDER = {
    "bf16": ("f32",),
    "f16": ("f32",),
    "u8": ("u16", "u32", "si32", "f32", "bf16"),
    "u16": ("u32", "si32", "f32"),
}
"""Data types that hold all numbers of a data type."""


def same_type(module: Module, op: TableOp) -> Result:
    """An operation whose result has the type of its operand does nothing."""
    del module
    return [op.inputs[0]] if op.inputs[0].type == op.results[0].type else None


def _before(op: TableOp) -> TableOp | None:
    """Return the operand's operation of equal name, or None."""
    owner = owner_of(op.inputs[0])
    return owner if isinstance(owner, TableOp) and owner.name == op.name else None


def _again(
    module: Module, op: TableOp, operand: SSAValue, name: str | None = None, **changes: Attribute
) -> list[SSAValue]:
    """Return the operation's result for another operand, same result type."""
    old = op.properties if name is None else {}
    made = make(
        name or op.name,
        module.version,
        [operand],
        [op.results[0].type],
        {**old, **changes},
        attributes=dict(op.attributes),
        location=op.location,
    )
    insert_before(op, made)
    return list(made.results)


def casts(module: Module, op: TableOp) -> Result:
    """Keep the second of consecutive casts, if the first is unshared."""
    first = _before(op)
    if first is None or not first.results[0].has_one_use():
        return None
    return _again(module, op, first.inputs[0])


def layouts(module: Module, op: TableOp) -> Result:
    """Keep the second of consecutive layout changes, if exact.

    If the first rounds nothing that the second keeps.
    """
    first = _before(op)
    if first is None or not first.results[0].has_one_use() or _is_changed(first.inputs[0], first):
        return None
    before, between, after = map(element_word, (first.inputs[0].type, first.results[0].type, op.results[0].type))
    if between not in (before, after) and not (before == after and between in _WIDER.get(before, ())):
        return None
    return _again(module, op, first.inputs[0], op.name, **op.properties)


def cast_and_back(module: Module, op: TableOp) -> Result:
    """A layout change undoing a widening cast uses its source."""
    cast = owner_of(op.inputs[0])
    if not isinstance(cast, TableOp) or cast.name != "ttnn.typecast" or _is_changed(cast.inputs[0], cast):
        return None
    before, between, after = map(element_word, (cast.inputs[0].type, cast.results[0].type, op.results[0].type))
    if before != after or between not in _WIDER.get(before, ()):
        return None
    op.operands[0] = cast.inputs[0]
    return True


def repeated_right(module: Module, op: TableOp) -> Result:
    """A matmul's repeated second operand is repeated by itself.

    Along the second of four dimensions, if the first is of size one.
    """
    del module
    repeat = owner_of(op.inputs[1])
    if not isinstance(repeat, TableOp) or repeat.name != "ttnn.repeat" or _is_changed(repeat.inputs[0], repeat):
        return None
    left, right, whole = map(shape_of, (op.inputs[0], repeat.inputs[0], repeat.results[0]))
    fits = len(left) == len(right) == 4 and right[:2] == (1, 1)
    if not fits or (1, left[1], *right[2:]) != tuple(whole) or left[0] != 1 or left[1] == 1:
        return None
    op.operands[1] = repeat.inputs[0]
    return True


def reshapes(module: Module, op: TableOp) -> Result:
    """Keep the second of two consecutive reshapes."""
    first = _before(op)
    if first is None or _is_changed(first.results[0], op):
        return None
    return _again(module, op, first.inputs[0], shape=ints(shape_of(op.results[0])))


def _is_changed(value: SSAValue, but: TableOp) -> bool:
    """Return whether somebody else changes a tensor in place or frees it."""
    users = (use.operation for use in value.uses if use.operation is not but)
    return any(written(user) or user.name in ("ttnn.deallocate", "ttnn.generic") for user in users)


def permutes(module: Module, op: TableOp) -> Result:
    """Consecutive permutations are one, unless the first is shared."""
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
