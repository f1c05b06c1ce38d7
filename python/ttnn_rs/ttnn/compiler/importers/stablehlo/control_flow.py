"""Calls, branches and loops.

They are written out where they are used, or segments of the plan.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ttnn.compiler.importers.builder import shape_of
from ttnn.compiler.importers.builder.segments import branch, loop
from ttnn.compiler.importers.stablehlo.scope import Scope, refuse
from ttnn.compiler.importers.stablehlo.view import View
from ttnn.compiler.ir.operations import written_name
from ttnn.compiler.ir.xdsl_adapter import Block, SSAValue

__all__ = ["ROWS", "UNROLLED"]

UNROLLED: Final = 20_000
"""Most operations of a loop that is written out, rounds counted."""
_SELECTED: Final = 64
"""Most operations of branches that are all computed."""


def _call(scope: Scope, view: View) -> list[SSAValue]:
    return scope.call(view.symbol("callee"), scope.operands(view))


def _chosen(scope: Scope, condition: SSAValue, first: list[SSAValue], second: list[SSAValue]) -> list[SSAValue]:
    """Return the values of a branch by a condition: both were computed."""
    results = []
    for one, other in zip(first, second, strict=True):
        if one is other:
            results.append(one)
            continue
        shape = shape_of(one)
        results.append(scope.select(scope.broadcast(condition, shape), one, other))
    return results


def _free(blocks: Sequence[Block]) -> list[SSAValue]:
    """Return the values that blocks take from outside."""
    inside: set[SSAValue] = set()
    found: dict[SSAValue, None] = {}
    for block in blocks:
        inside.update(block.args)
        for op in block.walk():
            inside.update(op.results)
            inside.update(one for region in op.regions for part in region.blocks for one in part.args)
        for op in block.walk():
            found.update(dict.fromkeys(one for one in op.operands if one not in inside))
    return list(found)


def _is_large(blocks: Sequence[Block]) -> bool:
    """Return whether only the branch that is taken should run."""
    operations = [op for block in blocks for op in block.walk()]
    return len(operations) > _SELECTED or any(written_name(op) == "stablehlo.while" for op in operations)


def _branch(scope: Scope, index: SSAValue, blocks: Sequence[Block]) -> list[SSAValue]:
    free = _free(blocks)
    functions = [scope.outlined("branch", block, [], free) for block in blocks]
    return branch(scope.b, index, functions, scope.variables(free))


def _if(scope: Scope, view: View) -> list[SSAValue]:
    (condition,) = scope.operands(view)
    known = scope.integers([condition])
    blocks = [region.blocks[0] for region in view.op.regions]
    if known is not None:
        return scope.run(blocks[0 if known[0] else 1], [])
    if scope.segments and _is_large(blocks):
        return _branch(scope, condition, blocks)
    return _chosen(scope, condition, scope.run(blocks[0], []), scope.run(blocks[1], []))


def _case(scope: Scope, view: View) -> list[SSAValue]:
    """Import `case`; an index out of range chooses the last branch."""
    (index,) = scope.operands(view)
    blocks = [region.blocks[0] for region in view.op.regions]
    known = scope.integers([index])
    if known is not None:
        return scope.run(blocks[known[0] if 0 <= known[0] < len(blocks) else -1], [])
    if scope.segments and _is_large(blocks):
        return _branch(scope, index, blocks)
    results = scope.run(blocks[-1], [])
    for number in reversed(range(len(blocks) - 1)):
        condition = scope.b.eq(index, scope.splat(number, index))
        results = _chosen(scope, condition, scope.run(blocks[number], []), results)
    return results


def _size(block: Block) -> int:
    return max(1, sum(1 for _ in block.walk()))


def _while(scope: Scope, view: View) -> list[SSAValue]:
    first = values = scope.operands(view)
    condition, body = (region.blocks[0] for region in view.op.regions)
    limit, operations, rounds = scope.limit if scope.segments else UNROLLED, _size(body), 0
    while True:
        (found,) = scope.run(condition, values)
        known = scope.integers([found])
        if known is not None and not known[0]:
            return values
        rounds += 1
        if known is None or rounds * operations > limit:
            break
        values = scope.run(body, values)
    if not scope.segments:
        what = (
            "a number of rounds that is no constant" if known is None else f"more than {limit} operations in its rounds"
        )
        refuse(f"with {what} has no TTIR operation")
    free = _free([condition, body])
    types = [one.type for one in first]
    test, step = (scope.outlined(what, block, types, free) for what, block in (("while", condition), ("do", body)))
    return loop(scope.b, test, step, [*first, *scope.variables(free)])


ROWS: Final = {
    "func.call": _call,
    "stablehlo.case": _case,
    "stablehlo.if": _if,
    "stablehlo.while": _while,
}
