"""What the choice of a matmul program is made of: operands, chip, configurations, and the decided program.

Everything here is plain data without a device, so that every decision can be made, printed and compared in a test
without one. Sizes called `..._t` or named after a program configuration are in tiles, all others in elements or bytes.

Source: docs of TT-NN, "matmul program configurations".
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import Enum

from ttnn.base.enums import (
    Arch,
    BufferType,
    DataType,
    Layout,
    MathFidelity,
    TensorMemoryLayout,
    UnaryOpType,
)
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
    """Return the bytes of one tile in L1; block floats carry shared exponents."""
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
    """Return the first `count` cores of a grid that starts at (0, 0), in full rows (or columns) and a rest."""
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
    """Of the tensor that has the shards."""

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
        """Whether pages go round the banks."""
        return self.layout is TensorMemoryLayout.INTERLEAVED

    @property
    def sharded(self) -> bool:
        """Whether the tensor is cut over cores."""
        return not self.interleaved

    @property
    def in_dram(self) -> bool:
        """Whether the pages are in DRAM."""
        return self.buffer is BufferType.DRAM

    def __str__(self) -> str:
        text = f"{self.layout.name}/{self.buffer.name}"
        if self.shard is not None:
            order = " column-major" if self.shard.col_major else ""
            text += f" {self.shard.height}x{self.shard.width} on {cores_text(self.shard.cores)}{order}"
        return text


@dataclass(frozen=True)
class Operand:
    """A tensor as far as the choice of a program looks at it."""

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
    """What the choice of a program knows of the chip and of its L1 at this moment."""

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


@dataclass(frozen=True)
class Activation:
    """A unary operator with its parameters, as `UnaryWithParam` holds it."""

    op: UnaryOpType
    params: tuple[float, ...] = ()


@dataclass(frozen=True)
class ComputeConfig:
    """The compute kernel configuration in force."""

    fidelity: MathFidelity
    approx: bool
    fp32: bool
    l1_acc: bool
    full_sync: bool = False

    @property
    def dst_tiles(self) -> int:
        """Tiles that a subblock may hold. Full sync would allow twice as many; the official check does not."""
        return 4 if self.fp32 else 8

    def __str__(self) -> str:
        return (
            f"{self.fidelity.name}, Dst {32 if self.fp32 else 16} bit, packer_l1_acc={self.l1_acc}, "
            f"math_approx_mode={self.approx}, dst_full_sync_en={self.full_sync}"
        )


class Kind(Enum):
    """The program families. The value is the name of the program configuration."""

    MULTI_CORE = "MatmulMultiCoreProgramConfig"
    REUSE = "MatmulMultiCoreReuseProgramConfig"
    MCAST_2D = "MatmulMultiCoreReuseMultiCastProgramConfig"
    MCAST_1D = "MatmulMultiCoreReuseMultiCast1DProgramConfig"
    DRAM_SHARDED = "MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig"
    BATCHED_DRAM_SHARDED = "MatmulMultiCoreReuseMultiCastBatchedDRAMShardedProgramConfig"


FACTORIES = {
    Kind.MULTI_CORE: "MatmulMultiCoreProgramFactory",
    Kind.REUSE: "MatmulMultiCoreReuseOptimizedProgramFactory",
    Kind.MCAST_2D: "MatmulMultiCoreReuseMcast2DProgramFactory",
    Kind.MCAST_1D: "MatmulMultiCoreReuseMcast1DProgramFactory",
    Kind.DRAM_SHARDED: "MatmulMultiCoreReuseMultiCastDRAMShardedProgramFactory",
    Kind.BATCHED_DRAM_SHARDED: "MatmulMultiCoreReuseBatchedHSDRAMShardedProgramFactory",
}
"""Names of the official program factories, for reports that are compared with the official ones."""


@dataclass(frozen=True)
class ProgramConfig:
    """One program configuration of any family; fields that a family does not have keep their defaults."""

    kind: Kind
    grid: tuple[int, int] = (0, 0)
    in0_block_w: int = 0
    out_subblock_h: int = 0
    out_subblock_w: int = 0
    out_block_h: int = 0
    out_block_w: int = 0
    per_core_m: int = 0
    per_core_n: int = 0
    transpose_mcast: bool = False
    fuse_batch: bool = False
    mcast_in0: bool = False
    gather_in0: bool = False
    untilize_out: bool = False
    fused_activation: Activation | None = None
    unmodelled: tuple[str, ...] = ()
    """Options that were given and that this package does not model."""

    def fields(self) -> dict[str, object]:
        """Return the fields that this family has, in the order of its constructor."""
        blocks: dict[str, object] = {"in0_block_w": self.in0_block_w}
        subblocks = {"out_subblock_h": self.out_subblock_h, "out_subblock_w": self.out_subblock_w}
        out_blocks = {"out_block_h": self.out_block_h, "out_block_w": self.out_block_w}
        per_core = {"per_core_M": self.per_core_m, "per_core_N": self.per_core_n}
        activation = {"fused_activation": self.fused_activation.op.name if self.fused_activation else None}
        if self.kind is Kind.MULTI_CORE:
            return {}
        if self.kind in (Kind.DRAM_SHARDED, Kind.BATCHED_DRAM_SHARDED):
            return {**blocks, **per_core, **(activation if self.fused_activation else {})}
        result: dict[str, object] = {"grid": list(self.grid), **blocks, **subblocks}
        if self.kind is Kind.REUSE:
            return {**result, **per_core}
        result |= {**out_blocks, **per_core}
        if self.kind is Kind.MCAST_2D:
            result |= {"transpose_mcast": self.transpose_mcast, "fuse_batch": self.fuse_batch}
        else:
            result |= {
                "fuse_batch": self.fuse_batch,
                "mcast_in0": self.mcast_in0,
                "gather_in0": self.gather_in0,
                "untilize_out": self.untilize_out,
            }
        return {**result, **activation}

    def __str__(self) -> str:
        return f"{self.kind.value}(" + ", ".join(f"{name}={value}" for name, value in self.fields().items()) + ")"
