"""Padding: at the edges, between elements, and negative."""

from __future__ import annotations

from typing import Final

from ttnn.compiler.importers.builder.padding import edges, spread
from ttnn.compiler.importers.stablehlo.scope import Scope, trailing
from ttnn.compiler.importers.stablehlo.view import View
from ttnn.compiler.ir.xdsl_adapter import SSAValue

__all__ = ["ROWS"]


def _pad(scope: Scope, view: View) -> SSAValue:
    value, fill = scope.operands(view)[:2]
    low, high = view.ints("edge_padding_low"), view.ints("edge_padding_high")
    inner = view.ints("interior_padding")
    more = [0] * len(trailing(view.types[0]))
    if any(inner):
        outside = [max(0, one) for one in low], [max(0, one) for one in high]
        value = spread(scope, value, fill, outside[0] + more, outside[1] + more, inner + more)
        low, high = [min(0, one) for one in low], [min(0, one) for one in high]
    return edges(scope, value, fill, low + more, high + more)


ROWS: Final = {"stablehlo.pad": _pad}
