"""Memory config of a pooling result.

Source: tt-metal `ttnn/cpp/ttnn/operations/pool/generic` (`Pool2D::compute_output_specs`).
"""

from __future__ import annotations

from ttnn.base.enums import TILE_SIZE, Layout, ShardOrientation, TensorMemoryLayout
from ttnn.base.memory_config import MemoryConfig, ShardSpec
from ttnn.tensor.tensor import Tensor


def result_place(
    tensor: Tensor, memory_config: MemoryConfig | None, rows: int, channels: int, layout: Layout = Layout.ROW_MAJOR
) -> MemoryConfig | None:
    """Return the result's memory config: requested, or the input's shard cores.

    Args:
        tensor: The input.
        memory_config: What the call asks for.
        rows: Pixels of the result.
        channels: Its channels.
        layout: Its layout: shards of tiles are made of whole ones, those of rows of 16 channels.
    """
    memory = tensor.spec.memory_config
    shards = memory.shard_spec
    if memory_config is not None or shards is None:
        return memory_config
    cores, box = shards.grid.num_cores(), shards.grid.bounding_box().grid_size()
    down, across = cores, 1
    if memory.memory_layout is TensorMemoryLayout.WIDTH_SHARDED:
        down, across = 1, cores
    elif memory.memory_layout is TensorMemoryLayout.BLOCK_SHARDED:
        down, across = box.y, box.x
        if shards.orientation is ShardOrientation.COL_MAJOR:
            down, across = across, down
    high, wide = (TILE_SIZE, TILE_SIZE) if layout is Layout.TILE else (1, TILE_SIZE // 2)
    shape = (_share(rows, down, high), _share(channels, across, wide))
    return MemoryConfig(
        memory.memory_layout, memory.buffer_type, ShardSpec(shards.grid, shape, ShardOrientation.ROW_MAJOR)
    )


def _share(extent: int, cores: int, unit: int) -> int:
    """Return an extent's division over cores, in whole units."""
    return -(-extent // (cores * unit)) * unit
