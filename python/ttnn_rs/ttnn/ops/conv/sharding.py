"""Channel shards of a convolution, and the order of its sums.

Cores of height shards have all channels. Those of block and width shards have some; a block of the matmul's inner
dimension then has the channels of one core.
Source: tt-metal `ttnn/cpp/ttnn/operations/conv/conv2d/device/kernels`; recorded programs of the official package.
"""

from __future__ import annotations

from dataclasses import replace

from ttnn.base.conv_config import Conv2dConfig
from ttnn.base.core_range import CoreCoord
from ttnn.base.enums import TILE_SIZE, Layout, TensorMemoryLayout
from ttnn.base.memory_config import MemoryConfig
from ttnn.ops._programs.sticks import divided
from ttnn.ops.conv.weights import ALIGNMENT, Kernel
from ttnn.ops.conv.window import Window


def sharded(
    window: Window, layout: Layout, memory_config: MemoryConfig, config: Conv2dConfig, grid: CoreCoord
) -> Kernel:
    """Return the kernel of a window with the shards of its channels.

    Args:
        window: How the window moves.
        layout: Of the input.
        memory_config: Of the input.
        config: The configuration of the call. It decides, then shards of the input.
        grid: Cores of the device.
    """
    kernel = window.kernel
    if (kernel.height, kernel.width) == window.stride == window.dilation == (1, 1) and not any(window.padding):
        # A matmul of the pixels.
        return kernel
    given = memory_config.memory_layout if memory_config.is_sharded() else None
    kind = config.shard_layout or given
    alignment = TILE_SIZE if layout is Layout.TILE else ALIGNMENT
    across = grid.y if config.transpose_shards else grid.x
    shards = divided(-(-kernel.in_channels // alignment), across)
    if kind is None:
        rows = -(-window.rows // TILE_SIZE)
        down = divided(rows, grid.x if config.transpose_shards else grid.y)
        of_results = divided(-(-kernel.out_channels // TILE_SIZE), across)
        # Blocks are chosen where they use more cores, at least a row of them, and several for the pixels.
        enough = down * max(shards, of_results) >= grid.x
        blocks = enough and down > 1 and down * shards > divided(rows, grid.x * grid.y)
        kind = TensorMemoryLayout.BLOCK_SHARDED if blocks else TensorMemoryLayout.HEIGHT_SHARDED
    if kind is TensorMemoryLayout.HEIGHT_SHARDED:
        return kernel
    width = None if given is not kind or memory_config.shard_spec is None else memory_config.shard_spec.shape[1]
    if kind is TensorMemoryLayout.WIDTH_SHARDED:
        parts = config.act_block_w_div
        tiles = -(-kernel.in_channels // TILE_SIZE)
        cores = -(-kernel.in_channels // width) if width else divided(tiles, grid.x * grid.y)
        aligned = ALIGNMENT if parts > 1 else TILE_SIZE
        return replace(kernel, shards=cores * parts, alignment=aligned, whole=True, divided=parts)
    if width:
        shards = -(-kernel.in_channels // width)
    return replace(kernel, shards=shards, alignment=alignment, whole=config.full_inner_dim)
