"""Layout arithmetic: offsets, physical, shard and tiled shapes, strides, sizes, padding.

A layout is a linear map from indices of the tensor to coordinates of a physical box, a grid of cores that cuts the box
into shards, and the format of a shard. Functions here take these parts as plain data. Source: tt-mlir, "Tensor Layout"
(docs/src/specs/tensor-layout.md).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ttnn.base.exceptions import LayoutError, ShapeError
from ttnn.compiler.dialects.ttcore.affine import AffineExpr, AffineMap, constant, dimensions, strides

__all__ = [
    "DATA_TYPES",
    "Region",
    "collapsed_map",
    "element_bytes",
    "padding",
    "physical_shape",
    "shard_shape",
    "size_bytes",
    "stride",
    "tile_bytes",
    "tiled_shape",
]

#: Bits of an element, and bits of an exponent that 16 elements share, of each data type of `#tt.supportedDataTypes`.
DATA_TYPES: Final[dict[str, tuple[int, int]]] = {
    "f32": (32, 0),
    "f16": (16, 0),
    "bf16": (16, 0),
    "bfp_f8": (8, 8),
    "bfp_bf8": (8, 8),
    "bfp_f4": (4, 8),
    "bfp_bf4": (4, 8),
    "bfp_f2": (2, 8),
    "bfp_bf2": (2, 8),
    "u32": (32, 0),
    "u16": (16, 0),
    "u8": (8, 0),
    "si32": (32, 0),
    "i1": (8, 0),
}
_SHARING: Final = 16


def element_bytes(data_type: str) -> int:
    """Return the bytes of one element.

    Raises:
        LayoutError: The type has no element of whole bytes, or is unknown.
    """
    bits, shared = _format(data_type)
    if shared:
        raise LayoutError(
            f"an element of {data_type} has no size of its own: 16 elements share an exponent. Use tiles."
        )
    return bits // 8


def tile_bytes(data_type: str, height: int = 32, width: int = 32, *, exponents: bool = False) -> int:
    """Return the bytes of one tile.

    Args:
        data_type: A word of `DATA_TYPES`.
        height: Rows of the tile.
        width: Columns of the tile.
        exponents: Count the shared exponents of block formats, as tiles in memory do; the compiler of 2024-09
            does not.

    Raises:
        LayoutError: The data type is unknown.
    """
    bits, shared = _format(data_type)
    elements = height * width
    return elements * bits // 8 + (elements // _SHARING * shared // 8 if exponents else 0)


def _format(data_type: str) -> tuple[int, int]:
    if data_type not in DATA_TYPES:
        raise LayoutError(f"data type {data_type!r} is unknown; there are {', '.join(DATA_TYPES)}.")
    return DATA_TYPES[data_type]


def collapsed_map(shape: Sequence[int], grid_rank: int, intervals: Sequence[tuple[int, int]] = ((0, -1),)) -> AffineMap:
    """Return the linear map that joins ranges of dimensions.

    Args:
        shape: Logical shape of the tensor.
        grid_rank: Results that the map has at least: constant zeros are put in front of fewer.
        intervals: Half-open ranges of dimensions; negative ends count from the rank. Each range becomes one result
            with row-major strides of the logical sizes, each other dimension a result of its own. Empty ranges have no
            effect.

    Raises:
        LayoutError: Ranges outside of the rank, out of order or overlapping; more results than the grid's rank.
    """
    rank = len(shape)
    dims = dimensions(rank)
    results: list[AffineExpr] = []
    position = 0
    for begin, end in intervals:
        first, last = (edge + rank if edge < 0 else edge for edge in (begin, end))
        if first == last:
            continue
        if not position <= first < last <= rank:
            raise LayoutError(
                f"collapse interval ({begin}, {end}) of a tensor of rank {rank}: intervals must be within the rank, "
                "in order, and do not overlap."
            )
        results += dims[position:first]
        joined: AffineExpr | None = None
        for dim, step in zip(dims[first:last], strides(shape[first:last]), strict=True):
            if step == 0:  # Tensors without elements; text has no such terms.
                continue
            term = dim if step == 1 else dim * step
            joined = term if joined is None else joined + term
        assert joined is not None
        results.append(joined)
        position = last
    results += dims[position:]
    if len(results) > grid_rank:
        raise LayoutError(
            f"a tensor of rank {rank} collapses to {len(results)} dimensions, the grid has {grid_rank}. "
            "Collapse more dimensions or use a grid of that rank."
        )
    return AffineMap(rank, 0, tuple([constant(0)] * (grid_rank - len(results)) + results))


def physical_shape(linear: AffineMap, shape: Sequence[int]) -> tuple[int, ...]:
    """Return a tensor's physical box: last coordinates plus one."""
    _check_rank(linear, shape)
    if 0 in shape:
        return (0,) * len(linear.results)
    last = linear.eval([size - 1 for size in shape], ())
    return tuple(coordinate + 1 for coordinate in last)


def shard_shape(linear: AffineMap, shape: Sequence[int], grid: Sequence[int]) -> tuple[int, ...]:
    """Return each core's element capacity.

    It is the physical shape over the grid, rounded up.

    Raises:
        LayoutError: The map has not as many results as the grid dimensions.
    """
    physical = physical_shape(linear, shape)
    if len(physical) != len(grid):
        raise LayoutError(f"a map with {len(physical)} results on a grid of rank {len(grid)}: they must be equal.")
    return tuple(-(-size // cores) for size, cores in zip(physical, grid, strict=True))


def tiled_shape(shard: Sequence[int], tile: Sequence[int] = (32, 32)) -> tuple[int, ...]:
    """Return a shard's shape in tiles, rounded up.

    Its last two sizes are divided by those of a tile.

    Raises:
        LayoutError: A shard of rank 1 has no rows to put into tiles.
    """
    if len(shard) < 2:
        raise LayoutError(f"a shard of shape {tuple(shard)} has no two dimensions for tiles of {tile[0]}x{tile[1]}.")
    return (*shard[:-2], -(-shard[-2] // tile[0]), -(-shard[-1] // tile[1]))


def stride(linear: AffineMap, shape: Sequence[int]) -> tuple[int, ...]:
    """Return strides in the physical box, in elements."""
    physical = physical_shape(linear, shape)
    steps = strides(physical)
    origin = [0] * len(shape)
    base = linear.eval(origin, ())
    found = []
    for dim in range(len(shape)):
        point = list(origin)
        point[dim] = 1
        moved = linear.eval(point, ())
        found.append(sum((after - before) * step for before, after, step in zip(base, moved, steps, strict=True)))
    return tuple(found)


def size_bytes(memory_map: AffineMap, physical: Sequence[int], unit_bytes: int) -> int:
    """Return a buffer's bytes in each of its memories.

    Args:
        memory_map: Maps physical indices to (chip, y, x, offset).
        physical: Shape of the buffer in units.
        unit_bytes: Bytes of an element or a tile.
    """
    if 0 in physical:
        return 0
    *_, offset = memory_map.eval([size - 1 for size in physical], ())
    return int(offset + 1) * unit_bytes


@dataclass(frozen=True)
class Region:
    """An unused half-open box in a core's shard.

    Attributes:
        core: Coordinates in the grid.
        begin: First indices in the shard.
        end: Indices after the last.
    """

    core: tuple[int, ...]
    begin: tuple[int, ...]
    end: tuple[int, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes of the box."""
        return tuple(end - begin for begin, end in zip(self.begin, self.end, strict=True))


def padding(
    linear: AffineMap, shape: Sequence[int], grid: Sequence[int], tile: Sequence[int] | None = None
) -> list[Region]:
    """Return each core's padding as disjoint boxes.

    Along each dimension the slots after the last element.

    Slots between the elements, which a map with gaps leaves, are not boxes and are not listed.

    Args:
        linear: Maps tensor indices to physical ones.
        shape: Logical shape.
        grid: Cores per dimension.
        tile: Sizes of a tile if shards are in tiles: then they are padded to whole tiles.

    Raises:
        LayoutError: The map does not fit the grid.
    """
    physical = physical_shape(linear, shape)
    shard = shard_shape(linear, shape, grid)
    room = list(shard)
    if tile is not None:
        blocks = tiled_shape(shard, tile)
        room[-2:] = [blocks[-2] * tile[0], blocks[-1] * tile[1]]
    regions = []
    for index in range(math.prod(grid)):
        core = tuple(index // step % size for step, size in zip(strides(grid), grid, strict=True))
        used = [
            min(max(size - place * extent, 0), extent)
            for size, place, extent in zip(physical, core, shard, strict=True)
        ]
        for dim in range(len(room)):
            # Along the dimensions before this one only the used part is left, so that no slot is in two boxes.
            begin = [0] * len(room)
            end = [*used[:dim], *room[dim:]]
            begin[dim] = used[dim]
            region = Region(core, tuple(begin), tuple(end))
            if all(size > 0 for size in region.shape):
                regions.append(region)
    return regions


def _check_rank(linear: AffineMap, shape: Sequence[int]) -> None:
    if linear.num_dims != len(shape):
        raise ShapeError(
            f"a map of {linear.num_dims} dimensions for a tensor of rank {len(shape)}: they must be equal."
        )
