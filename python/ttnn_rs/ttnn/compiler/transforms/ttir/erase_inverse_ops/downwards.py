"""Moving permutations and reshapes from operands to results.

A move goes down if nobody else uses it and each other operand has the same move, or costs nothing to move back: a
constant, or a value that is computed from parameters once. Source of what goes through which operation:
`lib/Dialect/TTIR/Transforms/EraseInverseOps` of tt-mlir.
"""

from __future__ import annotations

from collections.abc import Callable

from ttnn.compiler.dialects.kinds import si32_attr
from ttnn.compiler.dialects.operations import TableOp
from ttnn.compiler.dialects.verify.parts import shape_of
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.xdsl_adapter import SSAValue
from ttnn.compiler.transforms.base import owner_of
from ttnn.compiler.transforms.constant_paths import ConstantPaths
from ttnn.compiler.transforms.rewriting import Pattern, pattern
from ttnn.compiler.transforms.traits import elementwise, has, named
from ttnn.compiler.transforms.ttir.build import ints, tensor_like
from ttnn.compiler.transforms.ttir.erase_inverse_ops.upwards import (
    cut_tail,
    joins_high_rank,
    mapped_dims,
    reshaped_slice,
)
from ttnn.compiler.transforms.ttir.moves import (
    inverse_move,
    inverse_order,
    matching_dim,
    move,
    permuted,
    plain_tensors,
    reduced_dims,
    reduced_shape,
    remade,
    same_move,
    users,
)

__all__ = ["downwards"]

Downwards = Callable[[Module, TableOp, TableOp], "SSAValue | None"]
"""Function of an operation and an operand's move.

The operation's result as the move of a new one, or None.
"""


def _inputs(module: Module, op: TableOp, moved: TableOp) -> list[SSAValue]:
    return [
        moved.inputs[0] if owner_of(value) is moved else inverse_move(module, op, moved, value) for value in op.inputs
    ]


def _again(module: Module, op: TableOp, moved: TableOp, value: SSAValue) -> SSAValue:
    """Return a value after the move that was an operand's."""
    numbers = moved.get("permutation") if moved.name == "ttir.permute" else shape_of(op.results[0])
    return move(module, op, moved.name[5:], value, numbers)


def _elementwise(module: Module, op: TableOp, moved: TableOp) -> SSAValue | None:
    shape = shape_of(op.results[0])
    if moved.name == "ttir.reshape":
        if any(shape_of(value) != shape for value in op.inputs):
            return None
        size = list(shape_of(moved.inputs[0]))
    else:
        if any(len(shape_of(value)) != len(shape) for value in op.inputs):
            return None
        size = permuted(shape, inverse_order(moved.get("permutation")))
    value = remade(module, op, op, _inputs(module, op, moved), tensor_like(op.results[0].type, size))
    return _again(module, op, moved, value)


def _permute_concat(module: Module, op: TableOp, moved: TableOp) -> SSAValue | None:
    order = moved.get("permutation")
    dim = order[op.get("dim") % len(order)]
    size = permuted(shape_of(op.results[0]), inverse_order(order))
    type_ = tensor_like(op.results[0].type, size)
    value = remade(module, op, op, _inputs(module, op, moved), type_, dim=si32_attr(dim))
    return _again(module, op, moved, value)


def _permute_slice(module: Module, op: TableOp, moved: TableOp) -> SSAValue | None:
    back = inverse_order(moved.get("permutation"))
    bounds = {name: ints(permuted(op.get(name), back)) for name in ("begins", "ends", "step")}
    type_ = tensor_like(op.results[0].type, permuted(shape_of(op.results[0]), back))
    return _again(module, op, moved, remade(module, op, op, [moved.inputs[0]], type_, **bounds))


def _reshape_slice(module: Module, op: TableOp, moved: TableOp) -> SSAValue | None:
    tail = cut_tail(op, moved)
    if tail is None:
        return None
    return _again(module, op, moved, reshaped_slice(module, op, op, moved.inputs[0], tail))


def _permute_reduce(module: Module, op: TableOp, moved: TableOp) -> SSAValue | None:
    dims, keep = reduced_dims(op), op.get("keep_dim")
    if op.name == "ttir.argmax" and len(dims) != 1:
        return None
    order = list(moved.get("permutation"))
    inner = [order[dim] for dim in dims]
    size = reduced_shape(shape_of(moved.inputs[0]), inner, keep)
    type_ = tensor_like(op.results[0].type, size)
    value = remade(module, op, op, [moved.inputs[0]], type_, dim_arg=ints(inner))
    if not keep:
        rest = [one for i, one in enumerate(order) if i not in dims]
        order = [sorted(rest).index(one) for one in rest]
    return move(module, op, "permute", value, order)


def _reshape_reduce(module: Module, op: TableOp, moved: TableOp) -> SSAValue | None:
    source = shape_of(moved.inputs[0])
    whole = op.get("dim_arg") is None
    dims = list(range(len(source))) if whole else mapped_dims(shape_of(op.inputs[0]), source, reduced_dims(op))
    if not dims:
        return None
    size = reduced_shape(source, dims, op.get("keep_dim"))
    type_ = tensor_like(op.results[0].type, size)
    value = remade(module, op, op, [moved.inputs[0]], type_, dim_arg=ints(dims))
    return _again(module, op, moved, value)


def _reshape_softmax(module: Module, op: TableOp, moved: TableOp) -> SSAValue | None:
    shape, source = shape_of(op.inputs[0]), shape_of(moved.inputs[0])
    dim = matching_dim(shape, source, op.get("dimension") % len(shape))
    if dim is None:
        return None
    type_ = tensor_like(op.results[0].type, source)
    value = remade(module, op, op, [moved.inputs[0]], type_, dimension=si32_attr(dim))
    return _again(module, op, moved, value)


_ALL: dict[tuple[str, str], Downwards] = {
    **{(name, op): _elementwise for name in ("permute", "reshape") for op in elementwise(1, 2)},
    ("permute", "concat"): _permute_concat,
    ("permute", "slice_static"): _permute_slice,
    ("reshape", "slice_static"): _reshape_slice,
    **{("permute", op): _permute_reduce for op in named("ttir", "reduction")},
    **{("reshape", op): _reshape_reduce for op in named("ttir", "reduction")},
    ("reshape", "softmax"): _reshape_softmax,
}


def downwards(constant: ConstantPaths) -> Pattern:
    """Return the pattern that finds moves among operands.

    It starts from an operation.

    Args:
        constant: Whether a value is computed from parameters only.
    """

    def free(value: SSAValue, moved: TableOp) -> bool:
        owner = owner_of(value)
        creates = owner is not None and has(owner, "creates") and not has(owner, "effects", "memory")
        return same_move(owner, moved) or creates or constant(value)

    def move_downwards(module: Module, op: TableOp) -> list[SSAValue] | None:
        if not plain_tensors(op) or not op.results[0].uses:
            return None
        for operand in op.inputs:
            moved = owner_of(operand)
            if not isinstance(moved, TableOp) or not plain_tensors(moved):
                continue
            rule = _ALL.get((moved.name[5:], op.name[5:]))
            if rule is None or joins_high_rank(moved) or len(users(operand)) > 1 or constant(operand):
                continue
            if not all(free(value, moved) for value in op.inputs):
                continue
            value = rule(module, op, moved)
            if value is not None:
                return [value]
        return None

    return pattern(move_downwards, *sorted({op for _, op in _ALL}))
