"""Matrix products."""

from __future__ import annotations

from typing import Final

from ttnn.compiler.importers.builder import element_of
from ttnn.compiler.importers.builder.types import is_float
from ttnn.compiler.importers.stablehlo.scope import Scope, refuse, trailing
from ttnn.compiler.importers.stablehlo.view import View
from ttnn.compiler.ir.xdsl_adapter import SSAValue

__all__ = ["ROWS"]


def _dot(
    scope: Scope, view: View, batch: tuple[list[int], list[int]], contracted: tuple[list[int], list[int]]
) -> SSAValue:
    a, b = scope.operands(view)
    if trailing(view.op.operands[0].type):
        refuse("of complex numbers has no TTIR operation")
    type_ = scope.type(view.types[0])
    if not is_float(element_of(a)) or not is_float(element_of(type_)):
        refuse("of integers has no TTIR operation")
    a, b = scope.cast(a, element_of(type_)), scope.cast(b, element_of(type_))
    made: SSAValue = scope.b.dot_general(
        a,
        b,
        batch_dims_lhs=batch[0],
        contract_dims_lhs=contracted[0],
        batch_dims_rhs=batch[1],
        contract_dims_rhs=contracted[1],
        types=[type_],
    )
    return made


def _dot_general(scope: Scope, view: View) -> SSAValue:
    numbers = view.fields("dot_dimension_numbers")
    sides = ("lhs", "rhs")
    batch = [numbers.get(f"{side}_batching_dimensions", []) for side in sides]
    contracted = [numbers.get(f"{side}_contracting_dimensions", []) for side in sides]
    return _dot(scope, view, (batch[0], batch[1]), (contracted[0], contracted[1]))


def _plain_dot(scope: Scope, view: View) -> SSAValue:
    """Import `dot`: contraction of the last dimension with the first one."""
    rank = len(view.op.operands[0].type.get_shape())  # type: ignore[attr-defined]
    return _dot(scope, view, ([], []), ([rank - 1], [0]))


ROWS: Final = {"stablehlo.dot_general": _dot_general, "stablehlo.dot": _plain_dot}
