"""Reductions over windows."""

from __future__ import annotations

from typing import Final

from ttnn.compiler.importers.builder import element_of, shape_of
from ttnn.compiler.importers.builder.pools import Windows, pool
from ttnn.compiler.importers.builder.types import is_bool
from ttnn.compiler.importers.stablehlo.reduce import combine
from ttnn.compiler.importers.stablehlo.reducers import combiners
from ttnn.compiler.importers.stablehlo.scope import Scope, refuse, trailing
from ttnn.compiler.importers.stablehlo.view import View
from ttnn.compiler.ir.xdsl_adapter import SSAValue

__all__ = ["ROWS", "windows_of"]


def windows_of(view: View, rank: int) -> Windows:
    """Return the windows of an operation."""
    ones = [1] * rank
    return Windows(
        sizes=tuple(view.ints("window_dimensions", ones)),
        strides=tuple(view.ints("window_strides", ones)),
        dilation=tuple(view.ints("window_dilations", ones)),
        base_dilation=tuple(view.ints("base_dilations", ones)),
        padding=tuple(view.pairs("padding", rank)),
    )


def _reduce_window(scope: Scope, view: View) -> list[SSAValue]:
    values = scope.operands(view)
    count = len(values) // 2
    kinds = combiners(view.op.regions[0].blocks[0])
    if kinds is None or not set(kinds) <= {"sum", "max", "min", "prod"} or any(trailing(one) for one in view.types):
        refuse("with this body has no TTIR operation")
    results = []
    for kind, value, initial in zip(kinds, values[:count], values[count:], strict=True):
        if is_bool(element_of(value)):
            refuse("of booleans has no TTIR operation")
        found = pool(scope, value, kind, windows_of(view, len(shape_of(value))))
        results.append(combine(scope, kind, found, initial))
    return results


ROWS: Final = {"stablehlo.reduce_window": _reduce_window}
