"""Operands and chip as plain data, with conversions.

They are converted from and to the public classes.

A decision about a program reads only plain data, so that a test can make, print and compare it without a device. Sizes
called `..._t` are in tiles, all others in elements or bytes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from ttnn.base.core_range import CoreCoord, CoreRange, CoreRangeSet
from ttnn.base.enums import Arch, BufferType, DataType, Layout, ShardOrientation, TensorMemoryLayout
from ttnn.base.memory_config import MemoryConfig, ShardSpec
from ttnn.base.tensor_spec import TensorSpec
from ttnn.base.tile import Tile
from ttnn.base.tile import tile_bytes as bytes_of_tile

TILE = 32


SHARDED_LAYOUTS = frozenset(
    {TensorMemoryLayout.HEIGHT_SHARDED, TensorMemoryLayout.WIDTH_SHARDED, TensorMemoryLayout.BLOCK_SHARDED}
)


def up(a: int, b: int) -> int:
    """Return `a / b` rounded up."""
    return -(-a // b)


TileShape = tuple[int, int]
"""Height and width of a tile."""


FULL_TILE: TileShape = (TILE, TILE)


def tile_bytes(dtype: DataType, tile: TileShape = FULL_TILE) -> int:
    """Return one tile's bytes in L1, with block floats' shared exponents."""
    return bytes_of_tile(dtype, *tile)


@dataclass(frozen=True)
class CoreBox:
    """A rectangle of logical cores, both corners included."""

    x0: int
    y0: int
    x1: int
    y1: int

    @property
    def columns(self) -> int:
        """Cores side by side."""
        return self.x1 - self.x0 + 1

    @property
    def rows(self) -> int:
        """Cores on top of each other."""
        return self.y1 - self.y0 + 1

    @property
    def cores(self) -> int:
        """Cores in the rectangle."""
        return self.columns * self.rows

    def __str__(self) -> str:
        return f"[{self.x0}-{self.y0} - {self.x1}-{self.y1}]"


Cores = tuple[CoreBox, ...]
"""A set of cores as disjoint rectangles."""


def cores_text(cores: Cores) -> str:
    """Return the set as the official package prints it: `{[0-0 - 7-7]}`."""
    return "{" + ", ".join(map(str, cores)) + "}"


def first_cores(count: int, grid: tuple[int, int], *, row_major: bool) -> Cores:
    """Return a grid's first `count` cores: full rows and a rest.

    The grid starts at (0, 0); columns instead of rows if requested.
    """
    columns, rows = grid
    line = columns if row_major else rows
    full, rest = divmod(count, line)
    boxes = []
    if full:
        boxes.append((0, 0, line - 1, full - 1))
    if rest:
        boxes.append((0, full, rest - 1, full))
    if row_major:
        return tuple(CoreBox(*box) for box in boxes)
    return tuple(CoreBox(y0, x0, y1, x1) for x0, y0, x1, y1 in boxes)


def bounding_box(cores: Cores) -> CoreBox:
    """Return the smallest rectangle around a set of cores."""
    return CoreBox(
        min(box.x0 for box in cores),
        min(box.y0 for box in cores),
        max(box.x1 for box in cores),
        max(box.y1 for box in cores),
    )


@dataclass(frozen=True)
class Shard:
    """A shard spec: shape of one shard in elements, and the cores."""

    height: int
    width: int
    cores: Cores
    col_major: bool = False
    tile: TileShape = field(default=FULL_TILE, compare=False)
    """Tile of the sharded tensor."""

    @property
    def box(self) -> CoreBox:
        """Bounding box of the cores."""
        return bounding_box(self.cores)

    @property
    def num_cores(self) -> int:
        """Number of cores."""
        return sum(box.cores for box in self.cores)

    @property
    def height_t(self) -> int:
        """Height in tiles."""
        return up(self.height, self.tile[0])

    @property
    def width_t(self) -> int:
        """Width in tiles."""
        return up(self.width, self.tile[1])


@dataclass(frozen=True)
class Placement:
    """A memory configuration: interleaved or sharded, DRAM or L1."""

    layout: TensorMemoryLayout = TensorMemoryLayout.INTERLEAVED
    buffer: BufferType = BufferType.DRAM
    shard: Shard | None = None

    @property
    def interleaved(self) -> bool:
        """Return True if pages are interleaved over the banks."""
        return self.layout is TensorMemoryLayout.INTERLEAVED

    @property
    def sharded(self) -> bool:
        """Return True if the tensor is sharded over cores."""
        return not self.interleaved

    @property
    def in_dram(self) -> bool:
        """Return True if the pages are in DRAM."""
        return self.buffer is BufferType.DRAM

    def __str__(self) -> str:
        text = f"{self.layout.name}/{self.buffer.name}"
        if self.shard is not None:
            order = " column-major" if self.shard.col_major else ""
            text += f" {self.shard.height}x{self.shard.width} on {cores_text(self.shard.cores)}{order}"
        return text


@dataclass(frozen=True)
class Operand:
    """A tensor's properties that the program choice depends on."""

    shape: tuple[int, ...]
    padded: tuple[int, ...]
    dtype: DataType
    layout: Layout = Layout.TILE
    placement: Placement = Placement()
    tile: TileShape = FULL_TILE

    @property
    def volume(self) -> int:
        """Number of logical elements."""
        return math.prod(self.shape)

    @property
    def tile_bytes(self) -> int:
        """Bytes of one tile."""
        return tile_bytes(self.dtype, self.tile)

    def transposed(self) -> Operand:
        """Return the operand with its last two dimensions transposed."""
        return Operand(
            (*self.shape[:-2], self.shape[-1], self.shape[-2]),
            (*self.padded[:-2], self.padded[-1], self.padded[-2]),
            self.dtype,
            self.layout,
            self.placement,
            (self.tile[1], self.tile[0]),
        )

    def with_shape(self, shape: tuple[int, ...], padded: tuple[int, ...]) -> Operand:
        """Return the operand under another shape."""
        return Operand(shape, padded, self.dtype, self.layout, self.placement, self.tile)

    @property
    def batch(self) -> int:
        """Product of all dimensions but the last two."""
        return math.prod(self.shape[:-2])


@dataclass(frozen=True)
class Chip:
    """State of the chip and its L1 for the program choice."""

    grid: tuple[int, int]
    l1_bytes: int
    l1_first_free: int
    arch: Arch = Arch.WORMHOLE_B0
    dram_banks: int = 12
    l1_lowest_tensor: int | None = None
    """Lowest L1 address that a tensor occupies, None if there is none."""

    @property
    def l1_end(self) -> int:
        """Address that the buffers of a program must not overlap."""
        return self.l1_bytes if self.l1_lowest_tensor is None else self.l1_lowest_tensor

    @property
    def l1_free(self) -> int:
        """Bytes between the first free L1 address and the lowest tensor."""
        return self.l1_end - self.l1_first_free


def core_boxes(cores: CoreRangeSet) -> Cores:
    """Return a set of cores as rectangles."""
    return tuple(CoreBox(r.start.x, r.start.y, r.end.x, r.end.y) for r in cores.ranges())


def core_range_set(cores: Cores) -> CoreRangeSet:
    """Return rectangles of cores as a set."""
    return CoreRangeSet([CoreRange(CoreCoord(box.x0, box.y0), CoreCoord(box.x1, box.y1)) for box in cores])


def placement_of(config: MemoryConfig, tile: TileShape = FULL_TILE) -> Placement:
    """Return a memory configuration as plain data, for given tiles."""
    spec = config.shard_spec
    shard = None
    if spec is not None:
        height, width = spec.shape
        shard = Shard(height, width, core_boxes(spec.grid), spec.orientation is ShardOrientation.COL_MAJOR, tile)
    return Placement(config.memory_layout, config.buffer_type, shard)


def memory_config_of(placement: Placement) -> MemoryConfig:
    """Return the memory configuration of a placement."""
    shard = placement.shard
    if shard is None:
        return MemoryConfig(placement.layout, placement.buffer)
    orientation = ShardOrientation.COL_MAJOR if shard.col_major else ShardOrientation.ROW_MAJOR
    return MemoryConfig(
        placement.layout,
        placement.buffer,
        ShardSpec(core_range_set(shard.cores), (shard.height, shard.width), orientation),
    )


def operand_of(spec: TensorSpec) -> Operand:
    """Return a tensor specification as plain data."""
    height, width = spec.tile.tile_shape
    return Operand(
        tuple(spec.shape),
        tuple(spec.padded_shape),
        spec.dtype,
        spec.layout,
        placement_of(spec.memory_config, (height, width)),
        (height, width),
    )


def spec_of(operand: Operand) -> TensorSpec:
    """Return the specification of a result.

    Raises:
        MemoryConfigError: its shards do not fit its shape or cores.
    """
    memory_config = memory_config_of(operand.placement)
    return TensorSpec.of(operand.shape, operand.dtype, operand.layout, memory_config, Tile(operand.tile))
