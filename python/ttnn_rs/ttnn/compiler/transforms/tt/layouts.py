"""Layouts of 2024-09: `#tt.layout` attributes on tensors, made and changed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ttnn.compiler.dialects.attributes import (
    EnumAttr,
    GridAttr,
    LayoutAttr,
    TileType,
    data_type,
    element_of,
)
from ttnn.compiler.dialects.ttcore.algebra import collapsed_map, shard_shape, tiled_shape
from ttnn.compiler.ir.xdsl_adapter import Attribute, MemRefType, NoneAttr, TensorType

__all__ = [
    "layout_of",
    "new_layout",
    "space_attr",
    "tile_of",
    "tt_data_type",
    "with_element",
    "with_encoding",
    "with_grid",
    "with_space",
]


def space_attr(word: str) -> EnumAttr:
    """Return a memory space of 2024-09."""
    return EnumAttr("tt.memory_space", word)


def tt_data_type(element: Attribute) -> str:
    """Return the word of a data type; 2024-09 has no signed integers."""
    word = data_type(element)
    return {"si32": "u32"}.get(word, word)


def tile_of(element: Attribute) -> TileType:
    """Return the 32 x 32 tile of an element type."""
    return TileType("tt", 32, 32, tt_data_type(element))


def scalar_of(element: Attribute) -> Attribute:
    """Return the scalar type of an element or tile."""
    return element_of(element.dtype) if isinstance(element, TileType) else element


def _memref(linear: Any, shape: tuple[int, ...], grid: tuple[int, ...], element: Attribute, space: Attribute) -> Any:
    shard = shard_shape(linear, shape, grid)
    if isinstance(element, TileType):
        shard = tiled_shape(shard, (element.height, element.width))
    return MemRefType(element, shard, NoneAttr(), space)


def new_layout(
    type_: TensorType[Any],
    space: str,
    grid: tuple[int, ...],
    *,
    element: Attribute | None = None,
    mem_layout: str = "none",
) -> LayoutAttr:
    """Return a default-collapsed layout of a tensor type on a grid."""
    shape = tuple(type_.get_shape())
    linear = collapsed_map(shape, len(grid))
    memref = _memref(linear, shape, grid, element or type_.element_type, space_attr(space))
    return LayoutAttr(linear, "undef", GridAttr("tt", grid), memref, mem_layout)


def layout_of(type_: Attribute) -> LayoutAttr | None:
    """Return the layout of a tensor type, or None."""
    encoding = type_.encoding if isinstance(type_, TensorType) else None
    return encoding if isinstance(encoding, LayoutAttr) else None


def with_encoding(type_: Attribute, layout: Attribute) -> TensorType[Any]:
    """Return a tensor type with another layout."""
    assert isinstance(type_, TensorType)
    return TensorType(type_.element_type, type_.get_shape(), layout)


def with_grid(layout: LayoutAttr, shape: tuple[int, ...], grid: tuple[int, ...]) -> LayoutAttr:
    """Return a layout on another grid."""
    linear = collapsed_map(shape, len(grid))
    memref = _memref(linear, shape, grid, layout.element, layout.memref.memory_space)
    return replace(layout, linear=linear, grid=GridAttr("tt", grid), memref=memref)


def with_element(layout: LayoutAttr, shape: tuple[int, ...], element: Attribute) -> LayoutAttr:
    """Return a layout with another element or tile type."""
    memref = _memref(layout.linear, shape, layout.grid.shape, element, layout.memref.memory_space)
    return replace(layout, memref=memref)


def with_space(layout: LayoutAttr, space: str) -> LayoutAttr:
    """Return a layout in another memory space.

    Host memory has no memory layout.
    """
    mem_layout = layout.mem_layout if space in ("dram", "l1") else "none"
    new = MemRefType(layout.element, layout.memref.get_shape(), NoneAttr(), space_attr(space))
    return replace(layout, memref=new, mem_layout=mem_layout)
