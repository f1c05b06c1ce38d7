"""Selections: top elements, and overwritten cache positions.

The first elements of a sorted dimension.
"""

from __future__ import annotations

from ttnn.compiler.dialects.kinds import i32_attr
from ttnn.compiler.dialects.operations import TableOp, make
from ttnn.compiler.dialects.verify.parts import shape_of
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.xdsl_adapter import BlockArgument, IntegerAttr, IntegerType, Signedness
from ttnn.compiler.transforms.base import insert_before, replace
from ttnn.compiler.transforms.rewriting import Result
from ttnn.compiler.transforms.ttir.build import reshape, tensor_like, typed
from ttnn.compiler.transforms.ttir.cache_positions import cache_positions, known_integers
from ttnn.compiler.transforms.ttir.fusing.parts import users

__all__ = ["cache", "topk"]


def topk(module: Module, op: TableOp) -> Result:
    """First or last k sorted elements are those of topk."""
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
        module.version,
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


def cache(module: Module, op: TableOp) -> Result:
    """A scatter to cache positions updates or fills the cache.

    [batch, heads, length, size]; it is filled from the start.

    One row goes to any position. Several rows fill the cache if their positions are known to count from zero, and if
    they are whole tiles, as the library writes those. The official pass asks for neither, nor for one batch.
    """
    positions = cache_positions(op)
    if positions is None or shape_of(op.results[0])[0] != 1:
        return None
    target, update = op.group("input")[0], op.group("update")[0]
    entries, count = {"batch_offset": i32_attr(0)}, shape_of(update)[2]
    if count == 1:
        if not isinstance(positions, BlockArgument):
            return None
        if shape_of(positions) != (1,):
            positions = reshape(module, op, positions, (1,))
        return [typed(module, op, "update_cache", [target, update, positions], op.results[0].type, **entries)]
    numbers = known_integers(positions)
    if count % 32 or numbers is None or numbers.reshape(-1).tolist() != list(range(count)):
        return None
    return [typed(module, op, "fill_cache", [target, update], op.results[0].type, **entries)]
