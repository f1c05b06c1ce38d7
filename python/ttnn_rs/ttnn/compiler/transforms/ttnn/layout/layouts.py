"""Layouts of the later versions: `#ttnn.ttnn_layout` on tensors."""

from __future__ import annotations

from typing import Any

from ttnn.compiler.dialects.attributes import (
    EnumAttr,
    GridAttr,
    ShapeAttr,
    TileType,
    TTNNLayoutAttr,
    data_type,
)
from ttnn.compiler.dialects.ttcore.algebra import collapsed_map, shard_shape, tiled_shape
from ttnn.compiler.ir.affine import constant
from ttnn.compiler.ir.xdsl_adapter import AffineMap, Attribute, MemRefType, NoneAttr, TensorType

__all__ = ["layout_of", "new_layout", "shape_attr", "with_layout"]


def new_layout(type_: TensorType[Any], *, space: str = "dram", tiled: bool = True) -> TTNNLayoutAttr:
    """Return a one-core-grid layout: device interleaved, host none."""
    shape = tuple(type_.get_shape())
    rank = 2
    if tiled:
        # Rows and columns are laid out after padding, in whole tiles.
        shape = (*shape[:-2], *(-(-size // 32) * 32 for size in shape[-2:]))
    # A scalar lies at the origin of one tile.
    linear = collapsed_map(shape, rank) if shape else AffineMap(0, 0, (constant(0), constant(0)))
    grid = (1,) * len(linear.results)
    shard = shard_shape(linear, shape, grid) if shape else (1, 1)
    element: Attribute = type_.element_type
    if tiled:
        element = TileType("ttcore", 32, 32, data_type(element))
        shard = tiled_shape(shard)
    memref = MemRefType(element, shard, NoneAttr(), EnumAttr("ttnn.buffer_type", space))
    device = space != "system_memory"
    return TTNNLayoutAttr(linear, GridAttr("ttcore", grid), memref, "interleaved" if device else None)


def layout_of(type_: Attribute) -> TTNNLayoutAttr | None:
    """Return the layout of a tensor type, or None."""
    encoding = type_.encoding if isinstance(type_, TensorType) else None
    return encoding if isinstance(encoding, TTNNLayoutAttr) else None


def with_layout(type_: Attribute, layout: Attribute) -> TensorType[Any]:
    """Return a tensor type with another layout."""
    assert isinstance(type_, TensorType)
    return TensorType(type_.element_type, type_.get_shape(), layout)


def shape_attr(shape: tuple[int, ...]) -> ShapeAttr:
    """Return `#ttnn.shape<...>`."""
    return ShapeAttr("ttnn.shape", shape)
