"""All rows: names of aten operations, and the functions that import them."""

from __future__ import annotations

from typing import Final

from ttnn.compiler.importers.fx import (
    attention,
    binary,
    compare,
    convolution,
    creation,
    gradients,
    indexing,
    losses,
    movement,
    normalization,
    orders,
    pooling,
    products,
    reductions,
    resize,
    unary,
)
from ttnn.compiler.importers.fx.scope import Row

__all__ = ["ROWS"]

_FAMILIES: Final = (
    attention,
    binary,
    compare,
    convolution,
    creation,
    gradients,
    indexing,
    losses,
    movement,
    normalization,
    orders,
    pooling,
    products,
    reductions,
    resize,
    unary,
)

ROWS: Final[dict[str, Row]] = {name: row for family in _FAMILIES for name, row in family.ROWS.items()}
