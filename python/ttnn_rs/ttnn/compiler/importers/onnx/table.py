"""All rows.

Domains and names of operators, and the functions that import them.
"""

from __future__ import annotations

from typing import Final

from ttnn.compiler.importers.onnx import (
    binary,
    control_flow,
    indexing,
    movement,
    normalization,
    products,
    quantization,
    recurrent,
    reductions,
    resize,
    unary,
    windows,
)
from ttnn.compiler.importers.onnx.scope import Row

__all__ = ["ROWS"]

_FAMILIES: Final = (
    binary,
    control_flow,
    indexing,
    movement,
    normalization,
    products,
    quantization,
    recurrent,
    reductions,
    resize,
    unary,
    windows,
)

ROWS: Final[dict[tuple[str, str], Row]] = {name: row for family in _FAMILIES for name, row in family.ROWS.items()}
