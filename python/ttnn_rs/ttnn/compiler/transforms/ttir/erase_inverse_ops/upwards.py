"""Moving permutations and reshapes from results to operands.

A move goes up if all users of the result are that same move. Source of what goes through which operation:
`lib/Dialect/TTIR/Transforms/EraseInverseOps` of tt-mlir.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from ttnn.compiler.dialects.kinds import si32_attr
from ttnn.compiler.dialects.operations import TableOp
from ttnn.compiler.dialects.verify.parts import shape_of
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.xdsl_adapter import SSAValue
from ttnn.compiler.transforms.rewriting import Pattern, pattern
from ttnn.compiler.transforms.traits import elementwise, named
from ttnn.compiler.transforms.ttir.build import i64s, ints, tensor_like
from ttnn.compiler.transforms.ttir.moves import (
    implicit_broadcast,
    inverse_order,
    matching_dim,
    move,
    permuted,
    plain_tensors,
    reduced_dims,
    reduced_shape,
    remade,
    same_move,
    slice_bounds,
    users,
)

__all__ = ["BROADCASTS", "UPWARDS", "reshaped_slice"]

_BROADCAST: Final = 5
"""Most dimensions that operators broadcast."""

Upwards = Callable[[Module, TableOp, TableOp], "SSAValue | None"]
"""Function of an operation and its result's move.

The value of that move, made by moves of the operands, or None.
"""

_HIGH_RANK = 6


def joins_high_rank(op: TableOp) -> bool:
    """Return whether a reshape leaves rank six or more.

    Those stay, they have no inverse as a rule.
    """
    before, after = len(shape_of(op.inputs[0])), len(shape_of(op.results[0]))
    return op.name == "ttir.reshape" and before >= _HIGH_RANK and after < before


def _elementwise(module: Module, op: TableOp, moved: TableOp) -> SSAValue | None:
    shape = shape_of(op.results[0])
    if moved.name == "ttir.reshape":
        if any(shape_of(value) != shape for value in op.inputs):
            return None
        numbers: Sequence[int] = shape_of(moved.results[0])
    else:
        if any(len(shape_of(value)) != len(shape) for value in op.inputs):
            return None
        numbers = moved.get("permutation")
    inputs = [move(module, op, moved.name[5:], value, numbers) for value in op.inputs]
    return remade(module, op, op, inputs, tensor_like(op.results[0].type, shape_of(moved.results[0])))


def _permute_concat(module: Module, op: TableOp, moved: TableOp) -> SSAValue | None:
    order = list(moved.get("permutation"))
    inputs = [move(module, op, "permute", value, order) for value in op.inputs]
    dim = order.index(op.get("dim") % len(order))
    return remade(module, op, op, inputs, moved.results[0].type, dim=si32_attr(dim))


def _reshape_concat(module: Module, op: TableOp, moved: TableOp) -> SSAValue | None:
    shape, target = shape_of(op.results[0]), shape_of(moved.results[0])
    dim = op.get("dim") % len(shape)
    found = matching_dim(shape, target, dim)
    if found is None:
        return None
    inputs = []
    for value in op.inputs:
        size = list(target)
        size[found] = shape_of(value)[dim]
        inputs.append(move(module, op, "reshape", value, size))
    return remade(module, op, op, inputs, moved.results[0].type, dim=si32_attr(found))


def _permute_slice(module: Module, op: TableOp, moved: TableOp) -> SSAValue | None:
    order = moved.get("permutation")
    value = move(module, op, "permute", op.inputs[0], order)
    bounds = {name: ints(permuted(op.get(name), order)) for name in ("begins", "ends", "step")}
    return remade(module, op, op, [value], moved.results[0].type, **bounds)


def _equal_tail(first: Sequence[int], second: Sequence[int]) -> int:
    """Return how many of the last dimensions of two shapes are equal."""
    count = 0
    while count < min(len(first), len(second)) and first[-1 - count] == second[-1 - count]:
        count += 1
    return count


def cut_tail(op: TableOp, moved: TableOp) -> int | None:
    """Return a slice's cut last dimensions; None if reshapes change them.

    A reshape before or after it.
    """
    whole = [(0, size, 1) for size in shape_of(op.inputs[0])]
    cut = [i for i, (one, all_) in enumerate(zip(slice_bounds(op), whole, strict=True)) if one != all_]
    before, after = shape_of(moved.inputs[0]), shape_of(moved.results[0])
    if not cut or before == after:
        return None
    tail = len(whole) - cut[0]
    return tail if tail <= _equal_tail(before, after) else None


def reshaped_slice(module: Module, place: TableOp, op: TableOp, value: SSAValue, tail: int) -> SSAValue:
    """Return the slice of a leading-dimension variant.

    It differs from the slice's input in dimensions before the last `tail` only.
    """
    shape = shape_of(value)
    front = len(shape) - tail
    bounds = {
        "begins": ints([0] * front + list(op.get("begins"))[-tail:]),
        "ends": ints([*shape[:front], *op.get("ends")[-tail:]]),
        "step": ints([1] * front + list(op.get("step"))[-tail:]),
    }
    size = [*shape[:front], *shape_of(op.results[0])[-tail:]]
    return remade(module, place, op, [value], tensor_like(op.results[0].type, size), **bounds)


def _reshape_slice(module: Module, op: TableOp, moved: TableOp) -> SSAValue | None:
    tail = cut_tail(op, moved)
    if tail is None:
        return None
    target = shape_of(moved.results[0])
    size = [*target[: len(target) - tail], *shape_of(op.inputs[0])[-tail:]]
    return reshaped_slice(module, op, op, move(module, op, "reshape", op.inputs[0], size), tail)


def _permute_reduce(module: Module, op: TableOp, moved: TableOp) -> SSAValue | None:
    dims, keep = reduced_dims(op), op.get("keep_dim")
    if op.name == "ttir.argmax" and len(dims) != 1:
        return None
    order = list(moved.get("permutation"))
    if not keep:
        # Dimensions that go stay where they are; the others are permuted among themselves.
        rest = [i for i in range(len(shape_of(op.inputs[0]))) if i not in dims]
        small, order = order, list(range(len(rest) + len(dims)))
        for place, source in zip(rest, small, strict=True):
            order[place] = rest[source]
    value = move(module, op, "permute", op.inputs[0], order)
    places = inverse_order(order)
    return remade(module, op, op, [value], moved.results[0].type, dim_arg=ints([places[dim] for dim in dims]))


def mapped_dims(source: Sequence[int], target: Sequence[int], dims: Sequence[int]) -> list[int] | None:
    """Return a reshape's dimensions for some inputs; None if missing.

    Each of them once.
    """
    found = [matching_dim(source, target, dim) for dim in dims]
    return None if None in found else list(dict.fromkeys(dim for dim in found if dim is not None))


def _reshape_reduce(module: Module, op: TableOp, moved: TableOp) -> SSAValue | None:
    shape, target = shape_of(op.inputs[0]), shape_of(moved.results[0])
    dims = reduced_dims(op)
    # What is reduced has one element, so the reduction keeps all of them.
    if not op.get("keep_dim") or any(shape[dim] != 1 for dim in dims):
        return None
    found = mapped_dims(shape, target, dims)
    if not found:
        return None
    value = move(module, op, "reshape", op.inputs[0], target)
    type_ = tensor_like(op.results[0].type, reduced_shape(target, found, True))
    return remade(module, op, op, [value], type_, dim_arg=ints(found))


def _reshape_softmax(module: Module, op: TableOp, moved: TableOp) -> SSAValue | None:
    shape, target = shape_of(op.inputs[0]), shape_of(moved.results[0])
    dim = matching_dim(shape, target, op.get("dimension") % len(shape))
    if dim is None:
        return None
    value = move(module, op, "reshape", op.inputs[0], target)
    return remade(module, op, op, [value], moved.results[0].type, dimension=si32_attr(dim))


def _reshape_rms_norm(module: Module, op: TableOp, moved: TableOp) -> SSAValue | None:
    shape, target = shape_of(op.inputs[0]), shape_of(moved.results[0])
    normalized = op.get("normalized_shape")
    if not shape or not target or shape[-1] != target[-1] or (normalized is not None and len(normalized) != 1):
        return None
    rows = {op.inputs[0], *(op.group("residual") if op.name == "ttir.distributed_rms_norm" else ())}
    inputs = [move(module, op, "reshape", one, target) if one in rows else one for one in op.inputs]
    return remade(module, op, op, inputs, moved.results[0].type)


def _split_broadcast(before: Sequence[int], factors: Sequence[int], target: Sequence[int]) -> list[bool] | None:
    """Return a reshaped broadcast's repeated dimensions; None if mixed.

    Mixed: one has data and repeats both.

    From the right, the elements of the broadcast fall into runs of dimensions with data and runs that repeat it.
    """
    runs: list[list[int]] = []
    for size, factor in zip(before, factors, strict=True):
        repeats = factor > 1
        if size > 1 and repeats:
            return None
        if size * factor > 1 and runs and runs[-1][1] == repeats:
            runs[-1][0] *= size * factor
        elif size * factor > 1:
            runs.append([size * factor, repeats])
    out = [False] * len(target)
    for i in reversed(range(len(target))):
        if target[i] == 1:
            continue
        if not runs or runs[-1][0] % target[i]:
            return None
        runs[-1][0] //= target[i]
        out[i] = bool(runs[-1][1])
        if runs[-1][0] == 1:
            runs.pop()
    return None if runs else out


def _reshape_broadcast(module: Module, op: TableOp, moved: TableOp) -> SSAValue | None:
    target = shape_of(moved.results[0])
    if not implicit_broadcast(op) or len(target) > _BROADCAST:
        return None
    repeats = _split_broadcast(shape_of(op.inputs[0]), op.get("broadcast_dimensions"), target)
    if repeats is None:
        return None
    size = [1 if repeat else n for n, repeat in zip(target, repeats, strict=True)]
    factors = [n if repeat else 1 for n, repeat in zip(target, repeats, strict=True)]
    value = move(module, op, "reshape", op.inputs[0], size)
    return remade(module, op, op, [value], moved.results[0].type, broadcast_dimensions=i64s(factors))


def _permute_broadcast(module: Module, op: TableOp, moved: TableOp) -> SSAValue | None:
    if not implicit_broadcast(op):
        return None
    order = moved.get("permutation")
    value = move(module, op, "permute", op.inputs[0], order)
    factors = i64s(permuted(op.get("broadcast_dimensions"), order))
    return remade(module, op, op, [value], moved.results[0].type, broadcast_dimensions=factors)


_BROADCASTS: dict[tuple[str, str], Upwards] = {
    ("reshape", "broadcast"): _reshape_broadcast,
    ("permute", "broadcast"): _permute_broadcast,
}
_ALL: dict[tuple[str, str], Upwards] = {
    **{(name, op): _elementwise for name in ("permute", "reshape") for op in elementwise(1, 2)},
    **_BROADCASTS,
    ("permute", "concat"): _permute_concat,
    ("reshape", "concat"): _reshape_concat,
    ("permute", "slice_static"): _permute_slice,
    ("reshape", "slice_static"): _reshape_slice,
    **{("permute", op): _permute_reduce for op in named("ttir", "reduction")},
    **{("reshape", op): _reshape_reduce for op in named("ttir", "reduction")},
    ("reshape", "rms_norm"): _reshape_rms_norm,
    ("reshape", "distributed_rms_norm"): _reshape_rms_norm,
    ("reshape", "softmax"): _reshape_softmax,
}


def _pattern(table: dict[tuple[str, str], Upwards]) -> Pattern:
    """Return the pattern that finds result moves in a table.

    It starts from an operation.

    What it makes stands where the operation stood, so that operations keep their order.
    """

    def move_upwards(module: Module, op: TableOp) -> list[SSAValue] | None:
        if not plain_tensors(op):
            return None
        same = users(op.results[0])
        moved = same[0] if same else None
        if not isinstance(moved, TableOp) or not plain_tensors(moved) or joins_high_rank(moved):
            return None
        upwards = table.get((moved.name[5:], op.name[5:]))
        if upwards is None or not all(same_move(moved, one) and one.parent is op.parent for one in same):
            return None
        value = upwards(module, op, moved)
        if value is None:
            return None
        for one in same:
            one.results[0].replace_all_uses_with(value)
            one.detach()
            one.erase()
        return [value]

    return pattern(move_upwards, *sorted({op for _, op in table}))


UPWARDS = _pattern(_ALL)
BROADCASTS = _pattern(_BROADCASTS)
