"""`ttnn` tensor types that differ in one property.

Shape, data type, layout, place.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

from ttnn.compiler.dialects.attributes import EnumAttr, GridAttr, TileType, TTNNLayoutAttr, data_type, element_of
from ttnn.compiler.dialects.ttcore.algebra import collapsed_map, physical_shape, shard_shape, tiled_shape
from ttnn.compiler.ir.affine import constant
from ttnn.compiler.ir.xdsl_adapter import (
    AffineMap,
    Attribute,
    IntegerType,
    MemRefType,
    NoneAttr,
    SSAValue,
    TensorType,
    VerifyException,
)
from ttnn.compiler.transforms.ttnn.layout.layouts import layout_of, with_layout

__all__ = [
    "HOST",
    "SHARDED",
    "element_word",
    "is_block_format",
    "layout_from",
    "on_host",
    "retyped",
    "tensor_layout",
    "tile_padded",
]

#: Memory layout of tensors of the host: they have none.
HOST: Final = "none"
SHARDED: Final = frozenset({"height_sharded", "width_sharded", "block_sharded", "nd_sharded"})


def is_block_format(word: str) -> bool:
    """Return whether a data type has shared exponents and tiles.

    Elements of such tensors are tiles.
    """
    return word.startswith("bfp_")


def tensor_layout(value: SSAValue) -> TTNNLayoutAttr:
    """Return the layout of a value.

    Raises:
        VerifyException: It has none.
    """
    layout = layout_of(value.type)
    if layout is None:
        raise VerifyException("expected tensors with a ttnn layout; run ttnn-layout first")
    return layout


def tile_padded(shape: Sequence[int]) -> tuple[int, ...]:
    """Return a shape whose last two sizes are multiples of 32."""
    return (*shape[:-2], *(-(-size // 32) * 32 for size in shape[-2:]))


def on_host(layout: TTNNLayoutAttr) -> bool:
    """Return whether a tensor lies in the memory of the host."""
    return layout.space == "system_memory"


def layout_from(
    layout: TTNNLayoutAttr,
    shape: Sequence[int],
    *,
    dtype: str | None = None,
    tiled: bool | None = None,
    space: str | None = None,
    memory: str | None = None,
    grid: tuple[int, ...] | None = None,
    reshaped: bool = True,
) -> TTNNLayoutAttr:
    """Return a layout that differs from another one where something is given.

    Args:
        layout: The layout to start from.
        shape: Shape of the tensor.
        dtype: Word of the data type.
        tiled: Whether the memref is of tiles.
        space: Word of the buffer type. On the host there is no memory layout; on the device it is interleaved if the
            layout to start from has none.
        memory: Word of the memory layout, or `HOST`.
        grid: The grid of cores.
        reshaped: Whether the shape is another one than the layout was made for.
    """
    word, tiles = dtype or layout.dtype, layout.tiled if tiled is None else tiled
    where = space or layout.space
    arranged = memory if memory is not None else layout.mem_layout or "interleaved"
    if where == "system_memory" or arranged == HOST:
        where, arranged = "system_memory", HOST
    kept = (where, arranged) == (layout.space, layout.mem_layout or HOST)
    cores = grid if grid is not None else layout.grid.shape if kept or arranged in SHARDED else (1, 1)
    # Tiles are laid out after padding: rows and columns count in whole tiles.
    sizes = tile_padded(shape) if tiles else tuple(shape)
    linear = layout.linear
    stale = reshaped or tiles != layout.tiled
    if stale or len(linear.results) != len(cores) or linear.num_dims != len(shape):
        # A scalar lies at the origin of one tile.
        linear = collapsed_map(sizes, len(cores)) if sizes else AffineMap(0, 0, (constant(0), constant(0)))
    element: Attribute = TileType("ttcore", 32, 32, word) if tiles else element_of(word)
    if where == "l1" and arranged == "interleaved":
        physical = physical_shape(linear, sizes) if sizes else (1, 1)
        units = math.prod(tiled_shape(physical) if tiles else physical)
        shard = (1,) * (len(cores) - 1) + (-(-units // math.prod(cores)),)
    else:
        shard = shard_shape(linear, sizes, cores) if sizes else (1, 1)
        shard = tiled_shape(shard) if tiles else shard
    memref = MemRefType(element, shard, NoneAttr(), EnumAttr("ttnn.buffer_type", where))
    same = cores == layout.grid.shape
    grid_attr = layout.grid if same else GridAttr("ttcore", cores)
    # Ranges of cores are of one place and one grid.
    rest = layout.rest if kept and same else ()
    return TTNNLayoutAttr(linear, grid_attr, memref, None if arranged == HOST else arranged, rest)


def retyped(
    type_: Attribute,
    *,
    shape: Sequence[int] | None = None,
    dtype: str | None = None,
    tiled: bool | None = None,
    space: str | None = None,
    memory: str | None = None,
    grid: tuple[int, ...] | None = None,
) -> TensorType[Any]:
    """Return a changed tensor type; see `layout_from`."""
    assert isinstance(type_, TensorType)
    sizes = tuple(type_.get_shape()) if shape is None else tuple(shape)
    layout = layout_of(type_)
    element = type_.element_type
    if isinstance(element, IntegerType) and element.width.data > 1 and (dtype, tiled, space) != (None, None, None):
        # Conversions name the sign of integers.
        element = element_of(element_word(type_))
    if dtype is not None and dtype != element_word(type_):
        element = TileType("ttcore", 32, 32, dtype) if is_block_format(dtype) else element_of(dtype)
    plain = TensorType(element, sizes, type_.encoding)
    if layout is None:
        return plain
    made = layout_from(
        layout, sizes, dtype=dtype, tiled=tiled, space=space, memory=memory, grid=grid, reshaped=shape is not None
    )
    return with_layout(plain, made)


def element_word(type_: Attribute) -> str:
    """Return a tensor's data type, by layout or element type."""
    layout = layout_of(type_)
    if layout is not None:
        return layout.dtype
    assert isinstance(type_, TensorType)
    return data_type(type_.element_type)
