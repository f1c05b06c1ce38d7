"""Tensors in plans: pages, their size, and their location."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ttnn.base.enums import BufferType, DataType, Layout
from ttnn.base.exceptions import ArgumentError
from ttnn.base.tile import tile_bytes

if TYPE_CHECKING:
    from ttnn.base.tensor_spec import TensorSpec

TILE: Final = 32
_BYTES: Final = {"FLOAT32": 4, "INT32": 4, "UINT32": 4, "BFLOAT16": 2, "UINT16": 2, "UINT8": 1, "INT8": 1}
_DIMENSION: Final = re.compile(r"(\d+)\[(\d+)\]")


@dataclass(frozen=True)
class Operand:
    """A tensor of a device operation.

    Args:
        padded: Four dimensions as stored.
        logical: Four dimensions of its elements.
        tiled: Whether it is in tiles.
        dtype: Name of the data type.
        buffer: "DRAM" or "L1".
        memory: "INTERLEAVED", "HEIGHT_SHARDED", "WIDTH_SHARDED", "BLOCK_SHARDED" or "ND_SHARDED".
        shard: Height and width of a shard in elements, if it is known.
        grid: Columns and rows of the shards' cores, if they are known.
    """

    padded: tuple[int, ...]
    logical: tuple[int, ...]
    tiled: bool
    dtype: str
    buffer: str
    memory: str = "INTERLEAVED"
    shard: tuple[int, int] | None = None
    grid: tuple[int, int] | None = None
    shard_cores: int = 0

    @property
    def sharded(self) -> bool:
        """Return True if cores hold shards of it."""
        return self.memory != "INTERLEAVED"

    @property
    def local(self) -> bool:
        """Return True if its shards are in the L1 of cores."""
        return self.sharded and self.buffer == "L1"

    @property
    def place(self) -> str:
        """Location that a plan reads and writes."""
        return "dram" if self.buffer == "DRAM" else "l1"

    @property
    def element_bytes(self) -> int:
        """Size of an element of a type that has one."""
        return _BYTES.get(self.dtype, 2)

    @property
    def rows(self) -> int:
        """Rows of the padded matrix."""
        return math.prod(self.padded[:-1])

    @property
    def width(self) -> int:
        """Padded columns."""
        return self.padded[-1]

    @property
    def page_bytes(self) -> int:
        """Size of a tile, or of a row."""
        if self.tiled:
            return tile_bytes(DataType[self.dtype], TILE, TILE)
        width = self.shard[1] if self.shard is not None else self.width
        return width * self.element_bytes

    @property
    def tile_rows(self) -> int:
        """Rows of tiles."""
        return -(-self.rows // TILE)

    @property
    def tile_columns(self) -> int:
        """Columns of tiles."""
        return -(-self.width // TILE)

    @property
    def tiles(self) -> int:
        """Tiles of the padded matrix, whatever its layout is."""
        return self.tile_rows * self.tile_columns

    @property
    def pages(self) -> int:
        """Tiles or rows."""
        return self.tiles if self.tiled else self.rows

    @property
    def bytes(self) -> int:
        """Size of all pages."""
        return self.pages * self.page_bytes

    @property
    def shard_pages(self) -> int:
        """Pages of a shard.

        Raises:
            ArgumentError: the shards are not known.
        """
        if self.shard is None:
            raise ArgumentError("the operand's shards are not known")
        height, width = self.shard
        return -(-height // TILE) * -(-width // TILE) if self.tiled else height

    def __str__(self) -> str:
        sizes = "x".join(map(str, self.padded))
        layout = "TILE" if self.tiled else "ROW_MAJOR"
        return f"{sizes} {self.dtype} {layout} {self.buffer}_{self.memory}"


def from_spec(spec: TensorSpec) -> Operand:
    """Return the operand of a tensor's specification."""
    padded, logical = _four(tuple(spec.padded_shape)), _four(tuple(spec.shape))
    place = spec.memory_config
    shard = grid = None
    cores = 0
    if place.shard_spec is not None:
        height, width = place.shard_spec.shape
        shard, cores = (height, width), place.shard_spec.num_cores()
        box = place.shard_spec.grid.bounding_box()
        grid = (box.end.x - box.start.x + 1, box.end.y - box.start.y + 1)
    elif place.nd_shard_spec is not None:
        sizes = tuple(place.nd_shard_spec.shard_shape)
        shard, cores = (math.prod(sizes[:-1]), sizes[-1]), place.nd_shard_spec.num_cores()
    buffer = "DRAM" if place.buffer_type is BufferType.DRAM else "L1"
    tiled = spec.layout is Layout.TILE
    return Operand(padded, logical, tiled, spec.dtype.name, buffer, place.memory_layout.name, shard, grid, cores)


def from_profile(text: str, shard: tuple[int, int] | None = None, cores: int = 0) -> Operand:
    """Return the operand that a profiler's row names, for example "1[1]x1[1]x32[19]x64[64]|TILE|BFLOAT16|DEV_0_L1_...".

    Args:
        text: Dimensions, layout, data type and place.
        shard: The shards, which the row has elsewhere.
        cores: Cores with shards.
    """
    sizes, layout, dtype, place = text.split("|")
    pairs = [(int(padded), int(logical)) for padded, logical in _DIMENSION.findall(sizes)]
    _, _, buffer, memory = place.split("_", 3)
    return Operand(
        tuple(padded for padded, _ in pairs),
        tuple(logical for _, logical in pairs),
        layout == "TILE",
        dtype,
        buffer,
        memory,
        shard if memory != "INTERLEAVED" else None,
        None,
        cores,
    )


def _four(sizes: tuple[int, ...]) -> tuple[int, ...]:
    """Return four dimensions, padded with 1 or joined.

    Joined: the product of those that are too many.
    """
    if len(sizes) > 4:
        return (math.prod(sizes[:-3]), *sizes[-3:])
    return (1,) * (4 - len(sizes)) + sizes
