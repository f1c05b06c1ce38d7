"""Memory config of an element-wise result with shards.

An operand or the requested memory config is sharded.

A result that is larger than its operand by broadcasting has shards that are larger in the same ratio, on the same
cores. A sharded memory config without shards gets those of the first sharded operand, or all cores of the device.
Source: tt-metal `ttnn/cpp/ttnn/operations/eltwise/binary_ng/device`, `ttnn/cpp/ttnn/operations/eltwise/ternary/device`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ttnn.base.core_range import CoreCoord, CoreRange, CoreRangeSet
from ttnn.base.enums import TILE_SIZE, BufferType, Layout, ShardOrientation, TensorMemoryLayout
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, MemoryConfig, ShardSpec
from ttnn.base.tensor_spec import TensorSpec
from ttnn.device.lifecycle import MeshDevice


def of_two(
    a: TensorSpec, b: TensorSpec, shape: tuple[int, ...], memory_config: MemoryConfig | None, device: MeshDevice
) -> MemoryConfig | None:
    """Return the result's memory config from two operands.

    None: that of the first.

    Args:
        a: The first operand.
        b: The second operand.
        shape: The result's shape.
        memory_config: What the caller asks for.
        device: Has all of them.
    """
    first, second = a.memory_config, b.memory_config
    if a.layout is not Layout.TILE:
        return memory_config
    if memory_config is not None:
        if not _without_shards(memory_config):
            return memory_config
        like = next((spec for spec in (a, b) if spec.memory_config.shard_spec is not None), None)
        return _everywhere(memory_config, a, shape, device) if like is None else grown(like, shape)
    if first.interleaved and second.interleaved:
        return None
    shards_a, shards_b = first.shard_spec, second.shard_spec
    if shards_b is not None:
        if shards_a is None:
            by_b = first.interleaved and first.buffer_type is BufferType.DRAM
        else:
            by_b = len(shards_b.grid.ranges()) > len(shards_a.grid.ranges())
        if by_b:
            return grown(b, shape)
    return None if shards_a is None else grown(a, shape)


def of_three(
    specs: Sequence[TensorSpec], shape: tuple[int, ...], memory_config: MemoryConfig | None, device: MeshDevice
) -> MemoryConfig | None:
    """Return the result's memory config from up to three operands.

    None: that of the first.

    Without `memory_config` the operand with the most cores decides.

    Args:
        specs: The operands that are tensors.
        shape: The result's shape.
        memory_config: What the caller asks for.
        device: Has all of them.
    """
    sharded = [spec for spec in specs if spec.memory_config.shard_spec is not None]
    if memory_config is None:
        return grown(max(sharded, key=_cores), shape) if sharded else None
    if not _without_shards(memory_config):
        return memory_config
    if not sharded:
        return _everywhere(memory_config, specs[0], shape, device)
    shards = grown(sharded[0], shape).shard_spec
    return MemoryConfig(memory_config.memory_layout, memory_config.buffer_type, shards)


def _without_shards(place: MemoryConfig) -> bool:
    return place.is_sharded() and place.shard_spec is None and place.nd_shard_spec is None


def _cores(spec: TensorSpec) -> int:
    shards = spec.memory_config.shard_spec
    assert shards is not None
    return shards.num_cores()


def _sides(spec: TensorSpec, shape: Sequence[int]) -> tuple[int, int]:
    """Return height and width of a padded shape.

    Leading dimensions are part of the height.
    """
    padded = TensorSpec.of(shape, spec.dtype, spec.layout, DRAM_MEMORY_CONFIG).padded_shape
    *heights, width = (1, *padded)
    return math.prod(heights), width


def grown(spec: TensorSpec, shape: tuple[int, ...]) -> MemoryConfig:
    """Return an operand's memory config, with shards grown to a shape."""
    place = spec.memory_config
    if spec.shape._dims == shape:
        return place
    shards = place.shard_spec
    if shards is None:
        return place
    before, after = _sides(spec, spec.shape._dims), _sides(spec, shape)
    cut = [max(size * to // at, TILE_SIZE) for size, at, to in zip(shards.shape, before, after, strict=True) if at]
    return MemoryConfig(
        place.memory_layout, place.buffer_type, ShardSpec(shards.grid, (cut[0], cut[1]), shards.orientation)
    )


def _everywhere(place: MemoryConfig, spec: TensorSpec, shape: tuple[int, ...], device: MeshDevice) -> MemoryConfig:
    """Return a sharded place with shards on all cores of the device."""
    grid = device.compute_with_storage_grid_size()
    height, width = _sides(spec, shape)

    def part(size: int, count: int) -> int:
        return math.ceil(math.ceil(size / count) / TILE_SIZE) * TILE_SIZE

    rows, columns = {
        TensorMemoryLayout.HEIGHT_SHARDED: (grid.x * grid.y, 1),
        TensorMemoryLayout.WIDTH_SHARDED: (1, grid.x * grid.y),
    }.get(place.memory_layout, (grid.y, grid.x))
    cut = (part(height, rows) if rows > 1 else height, part(width, columns) if columns > 1 else width)
    cores = CoreRangeSet([CoreRange(CoreCoord(0, 0), CoreCoord(grid.x - 1, grid.y - 1))])
    return MemoryConfig(place.memory_layout, place.buffer_type, ShardSpec(cores, cut, ShardOrientation.ROW_MAJOR))
