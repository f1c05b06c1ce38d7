"""Bodies of reductions, scatters and sorts: what they compute."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any, Final

from ttnn.compiler.importers.stablehlo.view import View
from ttnn.compiler.ir.attributes import DenseAttr
from ttnn.compiler.ir.operations import written_name
from ttnn.compiler.ir.xdsl_adapter import Block, BlockArgument, SSAValue

__all__ = ["combiners", "evaluate", "single"]

_COMPARE: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "EQ": operator.eq,
    "NE": operator.ne,
    "LT": operator.lt,
    "LE": operator.le,
    "GT": operator.gt,
    "GE": operator.ge,
}
_STEPS: Final[dict[str, Callable[..., Any]]] = {
    "stablehlo.add": operator.add,
    "stablehlo.subtract": operator.sub,
    "stablehlo.multiply": operator.mul,
    "stablehlo.maximum": max,
    "stablehlo.minimum": min,
    "stablehlo.and": operator.and_,
    "stablehlo.or": operator.or_,
    "stablehlo.xor": operator.xor,
    "stablehlo.not": lambda a: not a,
    "stablehlo.negate": operator.neg,
    "stablehlo.abs": abs,
    "stablehlo.select": lambda p, a, b: a if p else b,
    "stablehlo.convert": lambda a: a,
    "stablehlo.reshape": lambda a: a,
}


class _Unknown(Exception):
    """A body with an operation that is not evaluated."""


def _number(view: View) -> Any:
    """Return the number in a constant of one element, or None."""
    constant = view.attribute("value")
    found: Any = constant.elements() if isinstance(constant, DenseAttr) else ()
    return found[0].item() if len(found) == 1 else None


def _outside(value: SSAValue) -> Any:
    """Return the number of a constant outside of a body, else None."""
    op = value.owner
    return _number(View(op)) if not isinstance(op, Block) and written_name(op) == "stablehlo.constant" else None


def evaluate(block: Block, arguments: Sequence[Any]) -> list[Any] | None:
    """Return what a body of scalars computes.

    None if it has other operations.
    """
    values: dict[SSAValue, Any] = dict(zip(block.args, arguments, strict=True))
    for op in block.ops:
        name = written_name(op)
        if name == "stablehlo.return":
            return [values[one] for one in op.operands]
        given = [values[one] if one in values else _outside(one) for one in op.operands]
        view = View(op)
        if name == "stablehlo.constant":
            number = _number(view)
            if number is None:
                return None
            values[op.results[0]] = number
        elif any(one is None for one in given):
            return None
        elif name == "stablehlo.compare":
            values[op.results[0]] = _COMPARE[view.word("comparison_direction")](*given)
        elif name in _STEPS:
            values[op.results[0]] = _STEPS[name](*given)
        else:
            return None
    return None


_KINDS: Final = {
    "stablehlo.add": "sum",
    "stablehlo.multiply": "prod",
    "stablehlo.maximum": "max",
    "stablehlo.minimum": "min",
    "stablehlo.and": "and",
    "stablehlo.or": "or",
    "stablehlo.xor": "xor",
}


def _kind(value: SSAValue, first: BlockArgument, second: BlockArgument) -> str | None:
    """Return the one operation of both arguments that a value is."""
    if value is second:
        return "new"
    if value is first:
        return "old"
    op = value.owner
    if isinstance(op, Block) or set(op.operands) != {first, second} or len(op.operands) != 2:
        return None
    return _KINDS.get(written_name(op))


def combiners(block: Block) -> list[str] | None:
    """Return what a body does to each pair of its arguments.

    `sum`, `prod`, `max`, `min`, `and`, `or`, `xor`, `new` or `old`; None if it does something else.
    """
    end = block.last_op
    assert end is not None
    count = len(end.operands)
    found = [_kind(one, block.args[i], block.args[count + i]) for i, one in enumerate(end.operands)]
    return None if any(one is None for one in found) else [one for one in found if one is not None]


def single(block: Block) -> str | None:
    """Return what a body of one pair of arguments does, or None."""
    found = combiners(block)
    return found[0] if found is not None and len(found) == 1 else None


_PAIRS: Final = ((1, 2, 0, 1), (2, 1, 0, 1), (2, 2, 0, 1), (2, 2, 1, 0), (1, 2, 1, 0), (2, 1, 1, 0), (-3, 2, 5, 4))


def extreme_with_index(block: Block) -> str | None:
    """Return `max` or `min` if a body keeps its first index.

    None for others.

    Found by its results on pairs of values and indices that decide between all of these.
    """
    if len(block.args) != 4:
        return None
    kinds = {"max", "min"}
    for a, b, i, j in _PAIRS:
        floats = evaluate(block, [a, i, b, j])
        if floats is None:
            return None
        for kind in tuple(kinds):
            better = a > b if kind == "max" else a < b
            wanted = (a, min(i, j)) if a == b else ((a, i) if better else (b, j))
            if tuple(floats) != wanted:
                kinds.discard(kind)
    return kinds.pop() if len(kinds) == 1 else None


_SAMPLES: Final = (-math.inf, -2.5, -1.0, 0.0, 1.0, 3.0, math.inf)


def sorted_by(block: Block, floats: Sequence[bool]) -> tuple[int, bool] | None:
    """Return by which operand a comparator sorts, and whether it descends.

    Else None.

    Found by its results on values of all operands.
    """
    count = len(block.args) // 2
    for key in range(count):
        values = _SAMPLES if floats[key] else (-3, -1, 0, 2, 7)
        orders = {False, True}
        for a in values:
            for b in values:
                for other in (0, 1):
                    arguments = [
                        (a, b)[side] if i == key else other * (1 - side) for i in range(count) for side in (0, 1)
                    ]
                    found = evaluate(block, arguments)
                    if found is None:
                        return None
                    orders = {one for one in orders if bool(found[0]) == ((a > b) if one else (a < b))}
        if len(orders) == 1:
            return key, orders.pop()
    return None
