"""Gathers."""

from __future__ import annotations

from typing import Final

from ttnn.compiler.importers.builder import shape_of
from ttnn.compiler.importers.builder.gathers import Gather, gather
from ttnn.compiler.importers.stablehlo.scope import Scope, refuse, trailing
from ttnn.compiler.importers.stablehlo.view import View
from ttnn.compiler.ir.xdsl_adapter import SSAValue

__all__ = ["ROWS"]


def _gather(scope: Scope, view: View) -> SSAValue:
    operand, indices = scope.operands(view)[:2]
    if trailing(view.types[0]):
        refuse("of complex numbers has no TTIR operation")
    numbers = view.fields("dimension_numbers")
    sizes = view.ints("slice_sizes")
    if view.name == "stablehlo.dynamic_gather":
        known = scope.constant(scope.operands(view)[2])
        if known is None:
            refuse("with slices of a size that is no constant has no TTIR operation")
        sizes = [int(one) for one in known]
    how = Gather(
        offset_dims=tuple(numbers.get("offset_dims", ())),
        collapsed=tuple(numbers.get("collapsed_slice_dims", ())),
        operand_batching=tuple(numbers.get("operand_batching_dims", ())),
        indices_batching=tuple(numbers.get("start_indices_batching_dims", ())),
        start_index_map=tuple(numbers.get("start_index_map", ())),
        index_vector_dim=numbers.get("index_vector_dim", 0),
        sizes=tuple(sizes),
    )
    return gather(scope, operand, indices, how, shape_of(scope.type(view.types[0])))


ROWS: Final = {"stablehlo.gather": _gather, "stablehlo.dynamic_gather": _gather}
