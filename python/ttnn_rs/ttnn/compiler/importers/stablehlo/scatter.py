"""Scatters."""

from __future__ import annotations

from typing import Final

from ttnn.compiler.importers.builder import element_of
from ttnn.compiler.importers.builder.scatters import Scatter, scatter
from ttnn.compiler.importers.builder.types import is_bool
from ttnn.compiler.importers.stablehlo.reducers import single
from ttnn.compiler.importers.stablehlo.scope import Scope, refuse, trailing
from ttnn.compiler.importers.stablehlo.view import View
from ttnn.compiler.ir.xdsl_adapter import SSAValue

__all__ = ["ROWS"]

_KINDS: Final = {"new": "invalid", "sum": "sum", "prod": "prod", "min": "min", "max": "max"}
_BOOLS: Final = {"new": "invalid", "or": "max", "sum": "max", "max": "max", "and": "min", "prod": "min", "min": "min"}


def _scatter(scope: Scope, view: View) -> SSAValue:
    values = scope.operands(view)
    if len(values) != 3 or trailing(view.types[0]):
        refuse("of several operands, or of complex numbers, has no TTIR operation")
    operand, indices, updates = values
    kind = single(view.op.regions[0].blocks[0])
    if kind == "old":
        return operand
    found = (_BOOLS if is_bool(element_of(operand)) else _KINDS).get(kind or "")
    if found is None:
        refuse("with this body has no TTIR operation")
    numbers = view.fields("scatter_dimension_numbers")
    how = Scatter(
        window=tuple(numbers.get("update_window_dims", ())),
        inserted=tuple(numbers.get("inserted_window_dims", ())),
        operand_batching=tuple(numbers.get("input_batching_dims", ())),
        indices_batching=tuple(numbers.get("scatter_indices_batching_dims", ())),
        dims=tuple(numbers.get("scatter_dims_to_operand_dims", ())),
        index_vector_dim=numbers.get("index_vector_dim", 0),
        kind=found,
    )
    return scatter(scope, operand, indices, updates, how)


ROWS: Final = {"stablehlo.scatter": _scatter}
