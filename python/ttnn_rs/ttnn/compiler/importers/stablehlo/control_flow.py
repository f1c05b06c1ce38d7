"""Calls, branches and loops: written out where they are used."""

from __future__ import annotations

from typing import Final

from ttnn.compiler.importers.builder import shape_of
from ttnn.compiler.importers.stablehlo.scope import Scope, refuse
from ttnn.compiler.importers.stablehlo.view import View
from ttnn.compiler.ir.xdsl_adapter import Block, SSAValue

__all__ = ["ROWS"]

_LIMIT: Final = 20_000
"""Limit of operations in the rounds of a loop, together."""


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


def _if(scope: Scope, view: View) -> list[SSAValue]:
    (condition,) = scope.operands(view)
    known = scope.integers([condition])
    blocks = [region.blocks[0] for region in view.op.regions]
    if known is not None:
        return scope.run(blocks[0 if known[0] else 1], [])
    return _chosen(scope, condition, scope.run(blocks[0], []), scope.run(blocks[1], []))


def _case(scope: Scope, view: View) -> list[SSAValue]:
    """Import `case`; an index out of range chooses the last branch."""
    (index,) = scope.operands(view)
    blocks = [region.blocks[0] for region in view.op.regions]
    known = scope.integers([index])
    if known is not None:
        return scope.run(blocks[known[0] if 0 <= known[0] < len(blocks) else -1], [])
    results = scope.run(blocks[-1], [])
    for number in reversed(range(len(blocks) - 1)):
        condition = scope.b.eq(index, scope.splat(number, index))
        results = _chosen(scope, condition, scope.run(blocks[number], []), results)
    return results


def _size(block: Block) -> int:
    return max(1, sum(1 for _ in block.walk()))


def _while(scope: Scope, view: View) -> list[SSAValue]:
    values = scope.operands(view)
    condition, body = (region.blocks[0] for region in view.op.regions)
    operations, rounds = _size(body), 0
    while True:
        (found,) = scope.run(condition, values)
        known = scope.integers([found])
        if known is None:
            refuse("with a number of rounds that is no constant has no TTIR operation")
        if not known[0]:
            return values
        rounds += 1
        if rounds * operations > _LIMIT:
            refuse(f"with more than {_LIMIT} operations in its rounds has no TTIR operation")
        values = scope.run(body, values)


ROWS: Final = {
    "func.call": _call,
    "stablehlo.case": _case,
    "stablehlo.if": _if,
    "stablehlo.while": _while,
}
