"""Tile shapes: the page of a tiled tensor and its faces."""

from __future__ import annotations

import operator
from collections.abc import Sequence

from ttnn.base.enums import BLOCK_FLOATS, ELEMENT_BYTES, DataType
from ttnn.base.exceptions import ArgumentError, ShapeError

_FACE = 16
# Tiles that the chip's unpackers and packers support: at most two by two faces of at most 16x16.
TILE_SHAPES = frozenset({(32, 32), (16, 32), (32, 16), (16, 16), (8, 32), (4, 32), (2, 32), (1, 32), (8, 16)})
# Tiles that tensors are stored in, but that no kernel reads.
STORED_SHAPES = frozenset({(4, 16), (2, 16), (1, 16)})
_EXPONENT_SECTION_ALIGNMENT = 16
_MANTISSAS_PER_BYTE = {DataType.BFLOAT8_B: 1, DataType.BFLOAT4_B: 2}


class Tile:
    """A tile of `tile_shape` elements, in row-major faces to 16x16.

    With `transpose_tile`, rows and columns of a tile are exchanged where it is stored. Tiles of 4x16, 2x16 and 1x16 can
    be stored and read back; no kernel unpacks them.
    """

    __slots__ = ("_height", "_transpose", "_width")

    def __init__(self, tile_shape: Sequence[int] = (32, 32), transpose_tile: bool = False) -> None:
        try:
            height, width = (int(size) for size in tile_shape)
        except (TypeError, ValueError):
            raise ArgumentError(f"Tile(): tile_shape must be two ints (height, width), got {tile_shape!r}") from None
        if (height, width) not in TILE_SHAPES | STORED_SHAPES:
            choices = ", ".join(f"{h}x{w}" for h, w in sorted(TILE_SHAPES | STORED_SHAPES, reverse=True))
            raise ShapeError(
                f"Tile(): {height}x{width} is not a tile shape of this hardware. Choose one of {choices}.",
                vendor="Tile size is not valid for our hardware",
            )
        if not isinstance(transpose_tile, bool):
            raise ArgumentError(f"Tile(): transpose_tile must be True or False, got {transpose_tile!r}")
        if transpose_tile and height < _FACE:
            raise ShapeError(
                f"Tile(): transpose_tile=True needs tiles of 16 or 32 rows, got {height}x{width}.",
                vendor="Tile height must equal 16 or 32 in transpose mode",
            )
        self._height = height
        self._width = width
        self._transpose = transpose_tile

    @property
    def tile_shape(self) -> list[int]:
        """Return [height, width]."""
        return [self._height, self._width]

    @property
    def face_shape(self) -> list[int]:
        """Return [height, width] of one face."""
        return [min(self._height, _FACE), min(self._width, _FACE)]

    @property
    def num_faces(self) -> int:
        """Return how many faces the tile has: 1, 2 or 4."""
        return -(-self._height // _FACE) * -(-self._width // _FACE)

    @property
    def narrow_tile(self) -> int:
        """Return 1 if the tile is one face wide."""
        return int(self._width < 2 * _FACE)

    @property
    def partial_face(self) -> int:
        """Return 1 if the tile is lower than two faces."""
        return int(self._height < 2 * _FACE)

    @property
    def transpose_within_face(self) -> bool:
        """Return whether the elements of a face are stored transposed."""
        return self._transpose

    @property
    def transpose_of_faces(self) -> bool:
        """Return whether the faces are stored transposed."""
        return self._transpose

    def get_tile_size(self, dtype: DataType) -> int:
        """Return the bytes of one tile of `dtype`."""
        return tile_bytes(dtype, self._height, self._width)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tile):
            return NotImplemented
        return self._height == other._height and self._width == other._width and self._transpose == other._transpose

    def __hash__(self) -> int:
        return hash((self._height, self._width, self._transpose))

    def __repr__(self) -> str:
        return f"Tile with shape: [{self._height}, {self._width}]"

    def __reduce__(self) -> tuple[type[Tile], tuple[list[int], bool]]:
        return (Tile, (self.tile_shape, self._transpose))


def tile_bytes(dtype: DataType, height: int = 32, width: int = 32) -> int:
    """Return a tile's bytes.

    Mantissas, plus one exponent per face row for block floats.
    """
    elements = height * width
    if not isinstance(dtype, DataType) or dtype not in BLOCK_FLOATS:
        if not isinstance(dtype, DataType) or dtype not in ELEMENT_BYTES:
            raise ArgumentError(f"tile size: {dtype} has no tiles")
        return elements * ELEMENT_BYTES[dtype]
    exponents = elements // _FACE
    exponents += -exponents % _EXPONENT_SECTION_ALIGNMENT
    return exponents + elements // _MANTISSAS_PER_BYTE[dtype]


def tile_size(dtype: DataType) -> int:
    """Return the bytes of a 32x32 tile of `dtype`."""
    return tile_bytes(dtype)


def element_size(dtype: DataType) -> int:
    """Return the bytes of an element of a data type.

    Raises:
        ArgumentError: no data type, or block floats, whose elements are no bytes of their own.
    """
    if not isinstance(dtype, DataType) or dtype not in ELEMENT_BYTES or dtype in BLOCK_FLOATS:
        raise ArgumentError(f"element_size: {dtype} has no elements of integral bytes")
    return ELEMENT_BYTES[dtype]


def pad_to_tile_shape(unpadded_shape: Sequence[int]) -> list[int]:
    """Return a shape of rank 2 or more, padded to full tiles."""
    try:
        dims = [operator.index(size) for size in unpadded_shape]
    except TypeError:
        raise ArgumentError(f"pad_to_tile_shape: expected the sizes of a shape, got {unpadded_shape!r}") from None
    *outer, height, width = [1] * max(0, 2 - len(dims)) + dims
    return [*outer, height + -height % 32, width + -width % 32]


DEFAULT_TILE = Tile()
