"""The matmul after transposes, for automatic choice and checks."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ttnn.base.enums import DataType, TensorMemoryLayout

from .configs import ComputeConfig
from .specs import FULL_TILE, Chip, Operand, Placement, TileShape, tile_bytes, up


def bias_rows(bias: Operand) -> int:
    """Return the number of logical rows of a bias."""
    return bias.shape[-2] if len(bias.shape) > 1 else 1


@dataclass(frozen=True)
class Problem:
    """One multiplication `[.., M, K] x [.., K, N]`.

    Args:
        a: Left operand, already transposed if that was asked for.
        b: Right operand, likewise.
        bias: The bias if it is fused into the program.
        out_dtype: Data type of the result.
        out: The requested memory config of the result.
        compute: Compute configuration.
        chip: Chip and the state of its L1 before the output is allocated.
        transpose_a: Whether `a` is stored transposed (costs a buffer).
        out_tile: Tiles of the result.
    """

    a: Operand
    b: Operand
    bias: Operand | None
    out_dtype: DataType
    out: Placement
    compute: ComputeConfig
    chip: Chip
    transpose_a: bool = False
    out_tile: TileShape = FULL_TILE

    @property
    def m(self) -> int:
        """Rows of one matrix A, padded, in elements."""
        return self.a.padded[-2]

    @property
    def n(self) -> int:
        """Columns of one matrix B, padded, in elements."""
        return self.b.padded[-1]

    @property
    def mt(self) -> int:
        """Rows of one matrix A in tiles."""
        return up(self.m, self.a.tile[0])

    @property
    def kt(self) -> int:
        """Inner dimension in tiles."""
        return up(self.a.padded[-1], self.a.tile[1])

    @property
    def nt(self) -> int:
        """Columns of one matrix B in tiles."""
        return up(self.n, self.b.tile[1])

    @property
    def product_tile(self) -> TileShape:
        """Tile in which blocks of the result are counted."""
        return (self.a.tile[0], self.b.tile[1])

    @property
    def full_tiles(self) -> bool:
        """Return True if all tiles are 32x32."""
        return FULL_TILE == self.a.tile == self.b.tile == self.out_tile

    @property
    def batch_a(self) -> int:
        """Matrices in A."""
        return math.prod(self.a.padded[:-2])

    @property
    def batch_b(self) -> int:
        """Matrices in B."""
        return math.prod(self.b.padded[:-2])

    @property
    def bias_is_row(self) -> bool:
        """Return True if a fused bias is a single row.

        A bias of several rows is added tile by tile.
        """
        return self.bias is None or bias_rows(self.bias) == 1

    @property
    def in_dram(self) -> bool:
        """Return True if A, B and the output are all in DRAM."""
        return self.a.placement.in_dram and self.b.placement.in_dram and self.out.in_dram

    @property
    def interleaved(self) -> bool:
        """Return True if A, B and the output are all interleaved."""
        return self.a.placement.interleaved and self.b.placement.interleaved and self.out.interleaved

    @property
    def out_line(self) -> str:
        """`row` or `column` for a block sharded one-row or one-column output.

        It is empty for others; the row or column has several cores.
        """
        shard = self.out.shard
        if self.out.layout is not TensorMemoryLayout.BLOCK_SHARDED or shard is None or shard.box.cores == 1:
            return ""
        if shard.box.rows == 1:
            return "row"
        return "column" if shard.box.columns == 1 else ""

    def l1_estimate(self, m: int, n: int, k: int) -> int:
        """Return the official L1 estimate for blocks of m, n, k tiles."""
        a_bytes = self.a.tile_bytes
        shard = self.a.placement.shard
        a_shard_w = shard.width_t if shard is not None else 0
        partial_bytes = 4096 if self.compute.fp32 else max(2048, tile_bytes(self.out_dtype))
        total = 2 * m * k * a_bytes + 2 * n * k * self.b.tile_bytes + m * n * (a_bytes + partial_bytes)
        total += m * a_shard_w * a_bytes
        if self.bias is not None:
            total += n * self.bias.tile_bytes
        if self.transpose_a:
            total += m * (a_shard_w if self.a.placement.sharded else 2 * k) * a_bytes
        return total

    def fits_l1(self, m: int, n: int, k: int) -> bool:
        """Return whether blocks of this size are estimated to fit L1."""
        return self.l1_estimate(m, n, k) < self.chip.l1_free
