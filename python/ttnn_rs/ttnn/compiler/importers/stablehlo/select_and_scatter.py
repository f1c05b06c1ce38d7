"""Gradients of pools.

Each window gives its value to the element that it selected.
"""

from __future__ import annotations

import itertools
import math
from typing import Final

from ttnn.compiler.importers.builder import shape_of
from ttnn.compiler.importers.builder.padding import between, edges
from ttnn.compiler.importers.stablehlo.reducers import evaluate, single
from ttnn.compiler.importers.stablehlo.scope import Scope, refuse
from ttnn.compiler.importers.stablehlo.view import View
from ttnn.compiler.importers.stablehlo.windows import windows_of
from ttnn.compiler.ir.xdsl_adapter import Block, SSAValue

__all__ = ["ROWS"]

_POSITIONS: Final = 1024
"""Limit of the elements of a window.

Each element is some operations.
"""


def _largest(block: Block) -> bool | None:
    """Return whether a selection takes the larger value, ties the first.

    None for others.
    """
    results = [evaluate(block, pair) for pair in ((1.0, 2.0), (2.0, 1.0), (2.0, 2.0))]
    words = [bool(one[0]) if one is not None else None for one in results]
    return {(False, True): True, (True, False): False}.get((words[0], words[1])) if words[2] else None  # type: ignore[arg-type]


def _select_and_scatter(scope: Scope, view: View) -> SSAValue:
    value, source, initial = scope.operands(view)
    select, combine = (region.blocks[0] for region in view.op.regions)
    large = _largest(select)
    if large is None or single(combine) != "sum":
        refuse("with these bodies has no TTIR operation")
    b, shape = scope.b, shape_of(value)
    windows = windows_of(view, len(shape))
    if math.prod(windows.sizes) > _POSITIONS:
        refuse(f"with windows of more than {_POSITIONS} elements has no TTIR operation")
    low = [pair[0] for pair in windows.padding]
    high = [pair[1] for pair in windows.padding]
    outside = scope.splat(-math.inf if large else math.inf, value, ())
    wide = edges(scope, value, outside, low, high)
    best = None
    views = []
    for offset in itertools.product(*(range(size) for size in windows.sizes)):
        ends = [o + (n - 1) * s + 1 for o, n, s in zip(offset, shape_of(source), windows.strides, strict=True)]
        part = scope.slice(wide, offset, ends, windows.strides)
        views.append((offset, part))
        best = part if best is None else (b.maximum if large else b.minimum)(best, part)
    zero = scope.splat(0, source)
    total = taken = None
    for offset, part in views:
        chosen = b.eq(part, best)
        if taken is not None:
            chosen, taken = b.logical_and(chosen, b.logical_not(taken)), b.logical_or(taken, chosen)
        else:
            taken = chosen
        given = b.where(chosen, source, zero)
        # Back to the places that the windows of this offset had.
        spread = between(scope, given, scope.splat(0, given, ()), [one - 1 for one in windows.strides])
        after = [n - o - m for n, o, m in zip(shape_of(wide), offset, shape_of(spread), strict=True)]
        term = edges(scope, spread, scope.splat(0, given, ()), list(offset), after)
        total = term if total is None else b.add(total, term)
    assert total is not None
    found = scope.slice(total, low, [begin + size for begin, size in zip(low, shape, strict=True)])
    known = scope.splat_of(initial)
    if known is not None and known == 0:
        return found
    made: SSAValue = b.add(found, scope.broadcast(initial, shape))
    return made


ROWS: Final = {"stablehlo.select_and_scatter": _select_and_scatter}
