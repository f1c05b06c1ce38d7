"""Block sizes and core division of a convolution's matmul.

Source: tt-metal `ttnn/cpp/ttnn/operations/conv/conv2d/conv2d_utils.cpp`, for shards of rows.
"""

from __future__ import annotations

from dataclasses import dataclass

from ttnn.base.conv_config import Conv2dConfig
from ttnn.base.enums import TILE_SIZE
from ttnn.base.tensor_spec import TensorSpec
from ttnn.ops._programs.sticks import divided
from ttnn.ops.conv.window import Window


@dataclass(frozen=True)
class ConvProgram:
    """The product of a convolution whose output pixels are divided over cores.

    Args:
        window: How the window moves.
        source: The input.
        weights: The weights as a matrix.
        with_bias: Whether a bias is added.
        config: The configuration of the call.
        dst32: Whether Dst is 32 bits wide.
        l1_accumulation: Whether the packer adds partial sums.
        chain: SFPU functions of the activation: name, whether approximate. The packer clips for RELU.
    """

    window: Window
    source: TensorSpec
    weights: TensorSpec
    with_bias: bool
    config: Conv2dConfig
    dst32: bool
    l1_accumulation: bool
    chain: tuple[tuple[str, bool], ...] = ()

    @property
    def inner(self) -> int:
        """Tiles along K of a block."""
        return self.window.kernel.block // TILE_SIZE

    @property
    def tile_rows(self) -> int:
        """Tile rows of the output."""
        return -(-self.window.rows // TILE_SIZE)

    @property
    def columns(self) -> int:
        """Tile columns of the output; every core has all of them."""
        return -(-self.window.kernel.out_channels // TILE_SIZE)

    def cores(self, most: int) -> int:
        """Return how many of `most` cores divide the tile rows."""
        return divided(self.tile_rows, most)

    def rows(self, cores: int) -> int:
        """Return the tile rows of one of so many cores."""
        return -(-self.tile_rows // cores)

    def block_rows(self, cores: int) -> int:
        """Return the tile rows of an activation block.

        Those of the configuration, else all of a core.
        """
        rows = self.rows(cores)
        wanted = self.config.act_block_h_override // TILE_SIZE
        return wanted if 0 < wanted < rows and rows % wanted == 0 else rows

    def subblock(self, cores: int) -> tuple[int, int]:
        """Return rows and columns of a block's part in Dst.

        It is the largest, of one row or of whole rows.
        """
        rows, columns, most = self.block_rows(cores), self.columns, 4 if self.dst32 else 8
        wide = [(1, width) for width in range(1, min(columns, most) + 1) if columns % width == 0]
        tall = [(height, columns) for height in range(1, most // columns + 1) if rows % height == 0]
        return max(wide + tall, key=lambda shape: shape[0] * shape[1])
