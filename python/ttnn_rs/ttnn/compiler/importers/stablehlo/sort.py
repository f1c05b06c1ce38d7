"""Sorts, of one or several values by one key."""

from __future__ import annotations

from typing import Final

from ttnn.compiler.importers.builder import element_of, shape_of, tensor
from ttnn.compiler.importers.builder.orders import order_of, taken
from ttnn.compiler.importers.builder.types import is_float, is_integer, width_of
from ttnn.compiler.importers.stablehlo.reduce import counts_along
from ttnn.compiler.importers.stablehlo.reducers import sorted_by
from ttnn.compiler.importers.stablehlo.scope import Scope, refuse
from ttnn.compiler.importers.stablehlo.view import View
from ttnn.compiler.ir.xdsl_adapter import IntegerType, SSAValue

__all__ = ["ROWS"]


def _sort(scope: Scope, view: View) -> list[SSAValue]:
    values = scope.operands(view)
    rank = len(shape_of(values[0]))
    dim = view.get("dimension", -1) % max(1, rank)
    found = sorted_by(view.op.regions[0].blocks[0], [is_float(element_of(one)) for one in values])
    if found is None:
        refuse("with this comparator has no TTIR operation")
    key, descending = found
    if is_integer(element_of(values[key])) and width_of(element_of(values[key])) > 16:
        why = "of integers beyond 16 bits has no TTIR operation"
        return scope.island(view, "sort", values, why, dimension=dim, key=key, descending=int(descending))
    shape = shape_of(values[key])
    if scope.segments and getattr(element_of(values[key]), "name", "") == "f32":
        places = order_of(scope, values[key], dim, shape[dim], largest=descending)
        return [
            scope.cast(places, element_of(one)) if counts_along(one, dim) else taken(scope, one, places, dim)
            for one in values
        ]
    types = [tensor(shape, element_of(values[key])), tensor(shape, IntegerType(32))]
    entries = {"dim": dim, "descending": descending, "stable": bool(view.get("is_stable", False))}
    ordered, indices = scope.b.sort(values[key], types=types, **entries)
    results = []
    for i, one in enumerate(values):
        if i == key:
            results.append(ordered)
        elif counts_along(one, dim):
            results.append(scope.cast(indices, element_of(one)))
        else:
            results.append(taken(scope, one, indices, dim) if scope.segments else scope.b.gather(one, indices, dim=dim))
    return results


ROWS: Final = {"stablehlo.sort": _sort}
