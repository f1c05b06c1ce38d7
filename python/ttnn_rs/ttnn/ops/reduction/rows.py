"""Row-major tensors packed into few tiles for reductions.

No bit of these reductions depends on the tile of an element.

The device's programs pad every matrix to whole tiles, so that rows of two elements fill 2 of 1024 places. The largest
and the smallest datum, wrapping sums, and sums of tiles datum by datum are the same in other matrices.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from typing import Final

from ttnn.base.enums import TILE_SIZE, DataType, Layout
from ttnn.base.memory_config import MemoryConfig
from ttnn.base.tensor_spec import TensorSpec
from ttnn.ops._programs.movement import move
from ttnn.ops.data_movement.layout import tilize_padded, untilized
from ttnn.ops.data_movement.permute import permuted
from ttnn.ops.data_movement.reshape import reshaped
from ttnn.tensor.tensor import Tensor

_LONGEST_ROW: Final = 1024
"""Columns of the matrices that elements are put into."""

Step = Callable[[Tensor, int], Tensor]
"""Reduces a tiled matrix's last dimension, or the first of three.

The result of a row does not depend on the others. The second argument is the dimension's number in the whole tensor.
"""

Reduce = Callable[[Tensor, Sequence[int]], Tensor]
"""Reduces dimensions of a tensor in tiles; they keep the size 1."""


def _tiles(height: int, width: int) -> int:
    return -(-height // TILE_SIZE) * -(-width // TILE_SIZE)


@lru_cache(maxsize=1024)
def _sides(count: int) -> tuple[int, int]:
    """Return height and width of a matrix that needs fewest tiles.

    It has so many elements.
    """
    widths = [width for width in range(1, min(count, _LONGEST_ROW) + 1) if count % width == 0]
    width = min(widths, key=lambda width: (_tiles(count // width, width), -width))
    return count // width, width


@dataclass(frozen=True)
class _Way:
    """A way to reduce the middle one of three dimensions.

    Args:
        shape: Of the tensor that is tilized.
        axes: What is reduced of it.
        exchanged: Whether the first two dimensions change places first.
    """

    shape: tuple[int, ...]
    axes: tuple[int, ...]
    exchanged: bool = False

    @property
    def cost(self) -> int:
        """Elements in tiles, and elements moved one row at a time."""
        tiles = math.prod(self.shape[:-2]) * _tiles(*self.shape[-2:])
        return tiles * TILE_SIZE**2 + (32 * math.prod(self.shape) if self.exchanged else 0)


def _ways(outer: int, length: int, inner: int, only_leading: bool) -> list[_Way]:
    exchanged = _Way((length, *_sides(outer * inner)), (0,), exchanged=outer > 1)
    ways = [exchanged, _Way((outer, length, *_sides(inner)), (1,))]
    if only_leading:
        return ways
    if inner > 1:
        return [*ways, _Way((outer, length, inner), (1,))]
    return [_Way((outer, length), (1,)), _Way((outer, *_sides(length)), (1, 2)), *ways]


def compacted(
    name: str,
    source: Tensor,
    axes: Sequence[int],
    reduce: Reduce,
    memory_config: MemoryConfig,
    *,
    pad_value: float,
    only_leading: bool = False,
) -> Tensor:
    """Return a row-major tensor reduced, in rows; dimensions become 1.

    Args:
        name: Operator, for errors.
        source: The tensor.
        axes: Ascending.
        reduce: Called for one or two neighbouring dimensions at a time, from the last one on.
        memory_config: Where intermediate tensors live.
        pad_value: What padding holds.
        only_leading: The order of the elements of a row or column counts: every step reduces one leading dimension.
    """
    shape = list(source.spec.shape)
    kept = [1 if axis in axes else size for axis, size in enumerate(shape)]
    result = source
    # Neighbours that are reduced are one dimension, and what has one element belongs to any neighbour.
    sizes = [(size, axis in axes) for axis, size in enumerate(shape) if size != 1]
    if not any(reduced for _, reduced in sizes):
        sizes.insert(0, (1, True))
    runs = [(reduced, math.prod(size for size, _ in run)) for reduced, run in groupby(sizes, key=lambda item: item[1])]
    for number in reversed(range(len(runs))):
        if not runs[number][0]:
            continue
        outer, length, inner = (
            math.prod(size for _, size in part)
            for part in (runs[:number], runs[number : number + 1], runs[number + 1 :])
        )
        way = min(_ways(outer, length, inner, only_leading), key=lambda way: way.cost)
        if way.exchanged:
            result = permuted(name, reshaped(name, result, (outer, length, inner)), (1, 0, 2), memory_config, 0.0)
        tiles = tilize_padded(name, reshaped(name, result, way.shape), memory_config=memory_config, pad_value=pad_value)
        result = untilized(name, reduce(tiles, way.axes))
        runs[number] = (False, 1)
    return reshaped(name, result, kept)


def as_matrix(name: str, source: Tensor) -> Tensor:
    """Return a row-major tensor's elements as a matrix with fewest tiles."""
    return reshaped(name, source, _sides(source.spec.shape.volume()))


def one_by_one(
    source: Tensor, shape: Sequence[int], axes: Sequence[int], rows: Step, columns: Step, memory_config: MemoryConfig
) -> Tensor:
    """Return a row-major tensor reduced by dimension, last first, in tiles.

    Columns, of which every dimension but the last is made, fill the tiles.

    Args:
        source: All rows as one matrix.
        shape: Of the tensor.
        axes: Ascending.
        rows: Reduces the last dimension.
        columns: Reduces another one.
        memory_config: Where intermediate tensors live.

    Returns:
        The elements in row-major order, as one or more matrices in tiles.
    """
    dims = list(shape)
    result = source
    for axis in reversed(axes):
        outer, length, inner = math.prod(dims[:axis]), dims[axis], math.prod(dims[axis + 1 :])
        if axis == len(dims) - 1:
            result = rows(_in_tiles(result, (outer, length), (length, 1), memory_config), axis)
        else:
            result = columns(_columns(result, (outer, length, inner), memory_config), axis)
        dims[axis] = 1
    return result


def _columns(source: Tensor, sizes: tuple[int, int, int], memory_config: MemoryConfig) -> Tensor:
    """Return [outer, length, inner] as tiled [length, height, width].

    Height and width are arbitrary.
    """
    outer, length, inner = sizes
    height, width = _sides(outer * inner)
    spec = source.spec
    if length == 1 and spec.layout is Layout.TILE and spec.shape.rank == 3 and spec.shape[0] == 1:
        return source
    if outer > 1 and inner > 1:
        rows = TensorSpec.of((length, outer, inner), spec.dtype, Layout.ROW_MAJOR, memory_config)
        source = move(source, rows, strides=(inner, length * inner, 1))
        strides = (outer * inner, width, 1)
    else:
        step = length if inner == 1 else 1
        strides = (inner, width * step, step)
    return _in_tiles(source, (length, height, width), strides, memory_config)


def _in_tiles(source: Tensor, shape: Sequence[int], strides: Sequence[int], memory_config: MemoryConfig) -> Tensor:
    spec = source.spec
    target = TensorSpec.of(shape, spec.dtype, Layout.TILE, memory_config)
    # Tilizing passes through Dst, which changes bfloat16 denormals and -0.
    return move(source, target, strides=strides, through_dst=spec.dtype is DataType.BFLOAT16)
