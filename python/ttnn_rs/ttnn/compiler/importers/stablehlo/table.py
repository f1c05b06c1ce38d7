"""All rows: names of operations, and the functions that import them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from ttnn.compiler.importers.stablehlo import (
    chlo,
    collectives,
    compare,
    complex_numbers,
    composites,
    constants,
    control_flow,
    convert,
    convolution,
    custom_calls,
    dynamic,
    elementwise,
    gather,
    integers,
    linear_algebra,
    movement,
    normalization,
    padding,
    products,
    quantization,
    random,
    reduce,
    scatter,
    select_and_scatter,
    sort,
    windows,
)
from ttnn.compiler.importers.stablehlo.scope import Scope
from ttnn.compiler.importers.stablehlo.view import View

__all__ = ["ROWS", "Row"]

Row: TypeAlias = Callable[[Scope, View], Any]
"""Function that appends an operation and returns its value or values."""

_FAMILIES: Final = (
    chlo,
    collectives,
    compare,
    complex_numbers,
    composites,
    constants,
    control_flow,
    convert,
    convolution,
    custom_calls,
    dynamic,
    elementwise,
    gather,
    integers,
    linear_algebra,
    movement,
    normalization,
    padding,
    products,
    quantization,
    random,
    reduce,
    scatter,
    select_and_scatter,
    sort,
    windows,
)

ROWS: Final[dict[str, Row]] = {name: row for family in _FAMILIES for name, row in family.ROWS.items()}
