"""Cores of a pooling, and the memory config of its result.

Source: tt-metal `ttnn/cpp/ttnn/operations/pool/generic` (`Pool2D::compute_output_specs`) and `pool/pool_utils.cpp`
(`determine_pool_config_for_auto_shard`).
"""

from __future__ import annotations

from dataclasses import dataclass

from ttnn.base.core_range import CoreCoord
from ttnn.base.enums import TILE_SIZE, DataType, Layout, ShardOrientation, TensorMemoryLayout
from ttnn.base.memory_config import MemoryConfig, ShardSpec
from ttnn.base.tile import tile_bytes
from ttnn.ops._programs.common import on_device
from ttnn.ops._programs.sticks import divided
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
    down, across = _cores(memory, shards)
    high, wide = (TILE_SIZE, TILE_SIZE) if layout is Layout.TILE else (1, TILE_SIZE // 2)
    shape = (_share(rows, down, high), _share(channels, across, wide))
    return MemoryConfig(
        memory.memory_layout, memory.buffer_type, ShardSpec(shards.grid, shape, ShardOrientation.ROW_MAJOR)
    )


def _cores(memory: MemoryConfig, shards: ShardSpec) -> tuple[int, int]:
    """Return how many cores divide a sharded tensor's rows and channels."""
    cores, box = shards.grid.num_cores(), shards.grid.bounding_box().grid_size()
    if memory.memory_layout is TensorMemoryLayout.WIDTH_SHARDED:
        return 1, cores
    if memory.memory_layout is TensorMemoryLayout.BLOCK_SHARDED:
        return (box.x, box.y) if shards.orientation is ShardOrientation.COL_MAJOR else (box.y, box.x)
    return cores, 1


@dataclass(frozen=True)
class IndexedPool:
    """A max pooling with indices, divided over cores.

    Args:
        rows: Pixels of the result.
        channels: Its channels.
        window: Pixels of a window.
        wide: Whether indices have 32 bits.
        tiled: Whether the input, or the result, has tiles.
        dtype: Of the result.
        layout: Of the result.
        table_in_dram: Whether the tables of window positions are stored in DRAM.
    """

    rows: int
    channels: int
    window: int
    wide: bool
    tiled: bool
    dtype: DataType
    layout: Layout
    table_in_dram: bool

    def chunk(self, tensor: Tensor, scheme: TensorMemoryLayout | None) -> int:
        """Return the most sticks that the kernel compares at once.

        A core whose last tile of channels is at most half full compares 16, others 32.
        """
        memory = tensor.spec.memory_config
        if memory.shard_spec is not None:
            across = _cores(memory, memory.shard_spec)[1]
        else:
            across = self._divided(scheme, on_device("ttnn.max_pool2d", tensor).compute_with_storage_grid_size())
        return self._chunk(across)

    def _chunk(self, across: int) -> int:
        last = self.channels // across % TILE_SIZE
        return TILE_SIZE // 2 if 0 < last <= TILE_SIZE // 2 else TILE_SIZE

    def _divided(self, scheme: TensorMemoryLayout | None, grid: CoreCoord) -> int:
        """Return the cores that divide the channels.

        Of a kind of shards, or of the one with the smallest buffers.
        """
        unit = TILE_SIZE if self.tiled else TILE_SIZE // 2
        parts, cores = -(-self.channels // unit), grid.x * grid.y
        rows = -(-self.rows // (TILE_SIZE if self.layout is Layout.TILE else 1))
        blocks = _common_divisor(grid.x, parts, -(-self.channels // TILE_SIZE))
        kinds = {
            TensorMemoryLayout.HEIGHT_SHARDED: (divided(rows, cores), 1),
            TensorMemoryLayout.WIDTH_SHARDED: (1, _common_divisor(cores, parts)),
            TensorMemoryLayout.BLOCK_SHARDED: (divided(rows, grid.y), blocks),
        }
        if scheme in kinds:
            return kinds[scheme][1]
        bytes_ = {kind: self._buffers(kind, *kinds[kind]) for kind in kinds}
        high, wide, block = bytes_.values()
        if high > wide:
            best = TensorMemoryLayout.BLOCK_SHARDED if wide > block else TensorMemoryLayout.WIDTH_SHARDED
        else:
            best = TensorMemoryLayout.BLOCK_SHARDED if high > block else TensorMemoryLayout.HEIGHT_SHARDED
        return kinds[best][1]

    def _buffers(self, kind: TensorMemoryLayout, down: int, across: int) -> int:
        """Return a core's bytes of circular buffers that depend on the division."""
        index, tile = 4 if self.wide else 2, TILE_SIZE * TILE_SIZE
        high = self.rows if kind is TensorMemoryLayout.WIDTH_SHARDED else _share(self.rows, down, TILE_SIZE)
        wide = _share(self.channels, across, TILE_SIZE)
        # A window of several chunks has two more tiles of indices.
        size = 2 * index * tile if self.window > self._chunk(across) else 0
        if self.layout is Layout.TILE:
            pages, page = high * wide // tile, tile_bytes(self.dtype)
            size += -(-self.channels // (across * TILE_SIZE)) * tile * 2
        else:
            pages, page = high * -(-self.channels // (across * TILE_SIZE // 2)), TILE_SIZE // 2 * 2
        size += pages * (page + TILE_SIZE // 2 * index)
        return size + (6 * high + 2 if self.table_in_dram else 0)


def _common_divisor(most: int, *numbers: int) -> int:
    """Return the largest divisor of some numbers, up to `most`."""
    return next(count for count in range(most, 0, -1) if not any(number % count for number in numbers))


def _share(extent: int, cores: int, unit: int) -> int:
    """Return an extent's division over cores, in whole units."""
    return -(-extent // (cores * unit)) * unit
