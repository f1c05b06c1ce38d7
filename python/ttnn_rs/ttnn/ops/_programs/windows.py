"""Copies into a part of a tensor, keeping the rest.

They are tile by tile in tiled tensors, element by element in row-major ones.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ttnn.base.enums import TILE_SIZE, Layout
from ttnn.ops._programs.element_map import copy_into, in_rows, like_in_rows, strides_of
from ttnn.runtime import engine_steps
from ttnn.tensor.tensor import Tensor

_WORD_BYTES = 4


def tile_grid(tensor: Tensor) -> tuple[int, ...]:
    """Return the shape in tiles, for rank 2 or more."""
    *leading, height, width = tensor.spec.shape._dims
    return (*leading, -(-height // TILE_SIZE), -(-width // TILE_SIZE))


def copy_tiles(
    source: Tensor,
    output: Tensor,
    *,
    shape: Sequence[int],
    strides: Sequence[int],
    offset: int = 0,
    window: Sequence[tuple[int, int]] | None = None,
) -> None:
    """Copy whole tiles.

    Args:
        source: Tiled, of the output's data type.
        output: Tiled, another buffer.
        shape: Tiles of the output, in any number of dimensions.
        strides: In tiles of the source, per dimension of `shape`.
        offset: First tile taken.
        window: (first, count) per dimension of the output that is written. Default: all of it.
    """
    words = source.spec.page_bytes // _WORD_BYTES
    assert source.buffer is not None
    assert output.buffer is not None
    engine_steps.write_window(
        source.buffer,
        output.buffer,
        element_bytes=_WORD_BYTES,
        width=words,
        shape=[*shape, words],
        window=[*(window or [(0, size) for size in shape]), (0, words)],
        offset=offset * words,
        strides=[*(stride * words for stride in strides), 1],
    )


def copy_rows(
    source: Tensor,
    output: Tensor,
    *,
    shape: Sequence[int],
    strides: Sequence[int],
    offset: int = 0,
    window: Sequence[tuple[int, int]] | None = None,
) -> None:
    """Copy elements of row-major tensors; arguments as in `copy_tiles`, in elements."""
    # What the window leaves out of rows that pages cut keeps its elements.
    rows, target = in_rows(source), like_in_rows(output) if window is None else in_rows(output)
    assert rows.buffer is not None
    assert target.buffer is not None
    width = (1, *source.spec.shape._dims)[-1]
    engine_steps.write_window(
        rows.buffer,
        target.buffer,
        element_bytes=source.spec.page_bytes // max(1, source.spec._page_shape[1]),
        width=width,
        shape=list(shape),
        window=list(window or [(0, size) for size in shape]),
        offset=offset,
        strides=list(strides),
    )
    if target is not output:
        copy_into(target, output)


def in_whole_tiles(sizes: Sequence[int]) -> bool:
    """Return True if consecutive pieces of these sizes start at tile boundaries."""
    return all(size % TILE_SIZE == 0 for size in sizes[:-1])


def write_into(source: Tensor, output: Tensor, starts: Sequence[int]) -> None:
    """Copy a tensor into an equally typed one, from an index.

    Layout and data type of both are the same.

    In tiles, the index begins a tile, and the source ends with a tile or with the output.
    """
    if math.prod(source.spec.shape._dims) == 0:
        return
    dims = source.spec.shape._dims
    if source.spec.layout is Layout.TILE:
        grid, into = tile_grid(source), tile_grid(output)
        first = [*starts[:-2], starts[-2] // TILE_SIZE, starts[-1] // TILE_SIZE]
        window = list(zip(first, grid, strict=True))
        copy_tiles(source, output, shape=into, strides=strides_of(grid), window=window)
    else:
        window = list(zip(starts, dims, strict=True))
        copy_rows(source, output, shape=output.spec.shape._dims, strides=strides_of(dims), window=window)
