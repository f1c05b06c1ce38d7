"""Input tile pieces of a reshaped tile.

Source: tt-metal `data_movement/reshape_view/device/reshape_tiled_program_factory.cpp`, whose host code makes this map
and gives it to the kernels as a tensor.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ttnn.profiler.operand import TILE, Operand

_FACE: Final = 16
ENTRY_BYTES: Final = 16
"""Bytes of a map piece: tile, offsets and length, 32 bits each."""


class TilePieces(NamedTuple):
    """The pieces of one tile of the result.

    Attributes:
        tiles: Tiles of the operand that it copies pieces from.
        pieces: Pieces: elements that are adjacent in both tiles.
        most: Pieces of the tile that has most of them.
        aligned: Pieces whose two addresses agree in the last 4 bits.
        elements: Elements of all pieces.
    """

    tiles: int
    pieces: int
    most: int
    aligned: int
    elements: int

    @property
    def entries(self) -> int:
        """Map entries: each tile has the maximum piece count."""
        return self.tiles * self.most


def tile_pieces(source: Operand, output: Operand, page: int) -> TilePieces:
    """Return how a tile of the result is put together."""
    height, width = output.logical[-2:]
    columns, rows = -(-width // TILE), -(-height // TILE)
    matrix, inside = divmod(page, rows * columns)
    top, left = (TILE * at for at in divmod(inside, columns))
    y, x = np.mgrid[top : min(top + TILE, height), left : min(left + TILE, width)]
    flat = ((matrix * height + y) * width + x).ravel()
    there = _offset(y, x).ravel()
    height, width = source.logical[-2:]
    matrix, inside = np.divmod(flat, height * width)
    y, x = np.divmod(inside, width)
    tile = (matrix * -(-height // TILE) + y // TILE) * -(-width // TILE) + x // TILE
    here = _offset(y, x)
    joined = (np.diff(tile) == 0) & (np.diff(here) == 1) & (np.diff(there) == 1)
    starts = np.flatnonzero(np.concatenate(([True], ~joined)))
    _, counts = np.unique(tile[starts], return_counts=True)
    shift = (here[starts] - there[starts]) * output.element_bytes % ENTRY_BYTES
    return TilePieces(len(counts), len(starts), int(counts.max()), int((shift == 0).sum()), len(flat))


def map_entries(tiles: list[TilePieces]) -> int:
    """Return each map page's entries, as the longest.

    It is then lengthened.
    """
    most = max(tile.entries for tile in tiles)
    return most + most % ENTRY_BYTES


def spread(units: int, count: int) -> list[int]:
    """Return at most `count` numbers below `units`, evenly spread."""
    return sorted({i * units // count for i in range(count)})


def _offset(y: NDArray[np.int64], x: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the offset of elements in their tile, face by face."""
    face: NDArray[np.int64] = (y % TILE // _FACE) * 2 + x % TILE // _FACE
    return face * _FACE * _FACE + y % _FACE * _FACE + x % _FACE
