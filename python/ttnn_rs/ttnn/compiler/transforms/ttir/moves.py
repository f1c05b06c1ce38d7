"""Movement operations without computation: permutations, reshapes, and their properties."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ttnn.compiler.dialects.operations import TableOp, make
from ttnn.compiler.dialects.verify.parts import shape_of
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.xdsl_adapter import Attribute, NoneAttr, Operation, SSAValue, TensorType
from ttnn.compiler.transforms.base import insert_before, owner_of
from ttnn.compiler.transforms.ttir.build import i64s, ints, tensor_like, typed

__all__ = [
    "MOVES",
    "implicit_broadcast",
    "inverse_move",
    "inverse_order",
    "made_by",
    "matching_dim",
    "move",
    "permuted",
    "plain_tensors",
    "reduced_dims",
    "reduced_shape",
    "remade",
    "same_move",
    "slice_bounds",
    "users",
]

MOVES = frozenset({"ttir.permute", "ttir.reshape", "ttir.transpose", "ttir.rearrange"})
"""The operations that change the place of elements only."""

_IMPLICIT_RANK = 6
"""TT-NN's elementwise operations repeat at most six last dimensions.

They repeat their operands along them.
"""


def users(value: SSAValue) -> list[Operation]:
    """Return the operations that use a value, once for each use."""
    return [use.operation for use in value.uses]


def made_by(value: SSAValue, name: str) -> TableOp | None:
    """Return a value's named operation without given output.

    The operation that makes the value.
    """
    owner = owner_of(value)
    return owner if isinstance(owner, TableOp) and owner.name == name and not owner.n_outs else None


def plain_tensors(op: TableOp) -> bool:
    """Return whether an operation is a plain one-result one.

    It has one result, no given output, and only tensors without a layout.
    """
    return (
        len(op.results) == 1
        and not op.n_outs
        and all(
            isinstance(value.type, TensorType) and isinstance(value.type.encoding, NoneAttr)
            for value in (*op.inputs, op.results[0])
        )
    )


def same_move(first: Operation | None, second: Operation | None) -> bool:
    """Return whether two permutations or reshapes are equal.

    Reshapes are equal if they have one shape.
    """
    if not isinstance(first, TableOp) or not isinstance(second, TableOp) or first.name != second.name:
        return False
    if first.name == "ttir.permute":
        return bool(first.get("permutation") == second.get("permutation"))
    return first.name == "ttir.reshape" and shape_of(first.results[0]) == shape_of(second.results[0])


def permuted(values: Sequence[int], order: Sequence[int]) -> list[int]:
    """Return values in the order of a permutation."""
    return [values[i] for i in order]


def inverse_order(order: Sequence[int]) -> list[int]:
    """Return the permutation that undoes one."""
    return sorted(range(len(order)), key=order.__getitem__)


def move(module: Module, place: TableOp, name: str, value: SSAValue, numbers: Sequence[int]) -> SSAValue:
    """Insert a permutation or reshape before `place`; return its result."""
    if name == "permute":
        type_ = tensor_like(value.type, permuted(shape_of(value), numbers))
        return typed(module, place, name, [value], type_, permutation=i64s(numbers))
    return typed(module, place, name, [value], tensor_like(value.type, numbers), shape=ints(numbers))


def inverse_move(module: Module, place: TableOp, moved: TableOp, value: SSAValue) -> SSAValue:
    """Return a value with a permutation or reshape undone."""
    if moved.name == "ttir.permute":
        return move(module, place, "permute", value, inverse_order(moved.get("permutation")))
    return move(module, place, "reshape", value, shape_of(moved.inputs[0]))


def implicit_broadcast(op: TableOp) -> bool:
    """Return whether elementwise operations can do a broadcast themselves."""
    return all(factor == 1 for factor in op.get("broadcast_dimensions")[:-_IMPLICIT_RANK])


def matching_dim(source: Sequence[int], target: Sequence[int], dim: int) -> int | None:
    """Return a reshape's result dimension equal to input's, or None.

    It has the elements of a dimension of its input.

    It has the same size, and as many elements follow each of its places.
    """
    after = math.prod(source[dim + 1 :])
    for i in reversed(range(len(target))):
        rest = math.prod(target[i + 1 :])
        if rest > after:
            return None
        if rest == after and target[i] == source[dim]:
            return i
    return None


def remade(
    module: Module, place: TableOp, op: TableOp, inputs: Sequence[SSAValue], type_: Attribute, **properties: Attribute
) -> SSAValue:
    """Insert an operation like `op`, with changes; return its result.

    It has other inputs, result type and attributes, and is before `place`.
    """
    new = make(
        op.name,
        module.version,
        inputs,
        [type_],
        {**op.properties, **properties},
        attributes=dict(op.attributes),
        location=op.location,
    )
    insert_before(place, new)
    value: SSAValue = new.results[0]
    return value


def reduced_dims(op: TableOp) -> list[int]:
    """Return the dimensions that a reduction reduces, counted from the front."""
    rank = len(shape_of(op.inputs[0]))
    dims = op.get("dim_arg")
    return list(range(rank)) if dims is None else [dim % rank for dim in dims]


def reduced_shape(shape: Sequence[int], dims: Sequence[int], keep: bool) -> list[int]:
    """Return a shape after a reduction of some dimensions."""
    return [1 if i in dims else size for i, size in enumerate(shape) if keep or i not in dims]


def slice_bounds(op: TableOp) -> list[tuple[int, int, int]]:
    """Return a slice's begin, end and step per dimension.

    Negative ones are counted from the end.
    """
    triples = zip(op.get("begins"), op.get("ends"), op.get("step"), shape_of(op.inputs[0]), strict=True)
    return [(b + size if b < 0 else b, e + size if e < 0 else e, s) for b, e, s, size in triples]
