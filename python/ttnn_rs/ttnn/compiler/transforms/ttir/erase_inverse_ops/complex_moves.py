"""Permutations and reshapes in last-two-dimension steps.

Each step exchanges the last two dimensions only, or leaves the last one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ttnn.compiler.dialects.verify.parts import shape_of
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.xdsl_adapter import SSAValue, UnitAttr
from ttnn.compiler.transforms.base import owner_of, replace, table_ops
from ttnn.compiler.transforms.ttir.moves import inverse_order, move, permuted, plain_tensors

__all__ = ["split_permutes", "split_reshapes", "steps"]


def _swap(rank: int) -> list[int]:
    return [*range(rank - 2), rank - 1, rank - 2]


def steps(order: Sequence[int]) -> list[list[int]]:
    """Return the permutations that one after the other are `order`.

    Each exchanges the last two dimensions or leaves the last one where it is; there are three at most.
    """
    order, rank = list(order), len(order)
    if rank < 2 or order[-1] == rank - 1 or order == _swap(rank):
        return [order]
    # The dimension that becomes the last one is brought beside it, exchanged with it, and the rest is put in order.
    if order[-2] == rank - 1:
        before = [*order[:-2], order[-1], rank - 1]
    else:
        before = list(range(rank))
        before[order[-1]], before[-2] = before[-2], before[order[-1]]
    exchanged = permuted(before, _swap(rank))
    after = permuted(inverse_order(exchanged), order)
    return [one for one in (before, _swap(rank), after) if one != list(range(rank))]


def split_permutes(module: Module) -> None:
    """Split permutations; the steps are marked `decomposed`."""
    for op in table_ops(module.op, "ttir."):
        if op.name != "ttir.permute" or not plain_tensors(op):
            continue
        found = steps(op.get("permutation"))
        if len(found) == 1:
            continue
        value: SSAValue = op.inputs[0]
        for order in found:
            value = move(module, op, "permute", value, order)
            owner = owner_of(value)
            assert owner is not None
            owner.attributes["decomposed"] = UnitAttr()
        replace(op, [value])


def _swapped(shape: Sequence[int]) -> list[int]:
    return permuted(shape, _swap(len(shape)))


def _ones(shape: Sequence[int]) -> int:
    """Return how many dimensions of one a shape begins with."""
    return next((i for i, size in enumerate(shape) if size != 1), len(shape))


def _turned(before: Sequence[int], after: Sequence[int]) -> list[int] | None:
    """Return a reshape's intermediate last-two exchange shape, or None.

    None if it needs none.

    One of the two is one, so the exchange moves no element.
    """
    if not before or not after:
        return None
    if [n for n in before if n != 1] != [n for n in after if n != 1]:
        return [math.prod(before), 1] if _ones(after) > _ones(before) and before[-1] == 1 else None
    if (before[-1] == 1) == (after[-1] == 1):
        return None
    if before[-1] != 1:
        if len(after) > 1 and after[-2] != 1:
            return _swapped(after)
        return list(before) if len(before) > 1 and before[-2] == 1 else [*before[:-1], 1, before[-1]]
    if len(before) > 1 and before[-2] != 1:
        return list(before)
    return _swapped(after) if len(after) > 1 and after[-2] == 1 else [*after, 1]


def split_reshapes(module: Module) -> None:
    """Split reshapes that move ones between end and front."""
    for op in table_ops(module.op, "ttir."):
        if op.name != "ttir.reshape" or not plain_tensors(op):
            continue
        after = shape_of(op.results[0])
        turned = _turned(shape_of(op.inputs[0]), after)
        if turned is None:
            continue
        value: SSAValue = op.inputs[0]
        if tuple(turned) != shape_of(value):
            value = move(module, op, "reshape", value, turned)
        value = move(module, op, "permute", value, _swap(len(turned)))
        if shape_of(value) != after:
            value = move(module, op, "reshape", value, after)
        replace(op, [value])
