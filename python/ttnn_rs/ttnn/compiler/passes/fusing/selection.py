"""Selections: the first elements of a sorted dimension, and positions of a cache that are overwritten."""

from __future__ import annotations

import math

from ttnn.compiler.asm.module import Module
from ttnn.compiler.asm.xdsl_adapter import BlockArgument, IntegerAttr, IntegerType, Signedness, SSAValue
from ttnn.compiler.dialects.kinds import i32_attr
from ttnn.compiler.dialects.operations import TableOp, make
from ttnn.compiler.dialects.rules import shape_of
from ttnn.compiler.passes.base import insert_before, owner_of, replace
from ttnn.compiler.passes.fusing.parts import users
from ttnn.compiler.passes.later_build import tensor_like, typed
from ttnn.compiler.passes.rewriting import Result

__all__ = ["cache", "topk"]


def topk(module: Module, op: TableOp) -> Result:
    """The first or last k elements of a sorted dimension are those of topk."""
    cuts: list[TableOp | None] = []
    for result in op.results:
        found = users(result)
        one = found[0] if len(found) == 1 and result.has_one_use() else None
        if found and (not isinstance(one, TableOp) or one.name != "ttir.slice_static"):
            return None
        cuts.append(one if isinstance(one, TableOp) else None)
    given = [one for one in cuts if one is not None]
    if not given or any(one.get(name) != given[0].get(name) for one in given for name in ("begins", "ends", "step")):
        return None
    shape = shape_of(op.inputs[0])
    dim = op.get("dim") % len(shape)
    begins, ends = given[0].get("begins"), given[0].get("ends")
    if any(step != 1 for step in given[0].get("step")):
        return None
    if any(i != dim and (begins[i], ends[i]) != (0, size) for i, size in enumerate(shape)):
        return None
    if begins[dim] == 0:
        k, largest = ends[dim], bool(op.get("descending"))
    elif ends[dim] == shape[dim]:
        # The last ones in order are the largest of an ascending sort, but topk gives them in the other order.
        k, largest = shape[dim] - begins[dim], not op.get("descending")
        if k != 1:
            return None
    else:
        return None
    size = [k if i == dim else one for i, one in enumerate(shape)]
    integers = tensor_like(op.results[1].type, size)
    if not op.results[1].uses:
        integers = type(integers)(IntegerType(32, Signedness.SIGNED), size)
    flag = IntegerType(1)
    made = make(
        "ttir.topk",
        module.epoch,
        list(op.inputs),
        [tensor_like(op.inputs[0].type, size), integers],
        {
            "k": i32_attr(k),
            "dim": i32_attr(dim),
            "largest": IntegerAttr(int(largest), flag),
            "sorted": IntegerAttr(1, flag),
        },
        location=op.location,
    )
    insert_before(op, made)
    for one, value in zip(cuts, made.results, strict=True):
        if one is not None:
            replace(one, [value])
    # Nobody uses the sort any more: the driver erases it.
    return True


def _is_line(shape: tuple[int, ...]) -> bool:
    return sum(size != 1 for size in shape) <= 1


def cache(module: Module, op: TableOp) -> Result:
    """A scatter to positions of a cache [batch, heads, length, size] that are an argument updates or fills it."""
    target, indices, update = op.group("input")[0], op.group("scatter_indices")[0], op.group("update")[0]
    full, part, shape = shape_of(target), shape_of(update), shape_of(indices)
    if len(full) != 4 or len(part) != 4 or (*full[:2], full[3]) != (*part[:2], part[3]):
        return None
    count = part[2]
    grid = shape == (*part, 4)
    if not grid and not (_is_line(shape) and math.prod(shape) == count):
        return None
    positions = _positions(indices, count)
    if positions is None or len(shape_of(positions)) != 1:
        return None
    entries = {"batch_offset": i32_attr(0)}
    if count != 1:
        return [typed(module, op, "fill_cache", [target, update], op.results[0].type, **entries)]
    return [typed(module, op, "update_cache", [target, update, positions], op.results[0].type, **entries)]


def _positions(value: SSAValue, count: int) -> SSAValue | None:
    """Return the argument with one position for each row that indices come from, or None."""
    rest, seen = [value], set()
    while rest:
        one = rest.pop(0)
        owner = owner_of(one)
        if owner is None:
            shape = shape_of(one)
            if isinstance(one, BlockArgument) and _is_line(shape) and math.prod(shape) == count:
                return one
        elif id(owner) not in seen:
            seen.add(id(owner))
            rest += owner.operands
    return None
