"""Memory config of an element-wise result with shards.

An operand or the requested memory config is sharded.

A result that is larger than its operand by broadcasting has shards that are larger in the same ratio, on the same
cores. A sharded memory config without shards gets those of the first sharded operand, or all cores of the device.
Source: tt-metal `ttnn/cpp/ttnn/operations/eltwise/binary_ng/device`, `ttnn/cpp/ttnn/operations/eltwise/ternary/device`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from ttnn.base.core_range import CoreCoord, CoreRange, CoreRangeSet
from ttnn.base.enums import ELEMENT_BYTES, TILE_SIZE, BufferType, Layout, ShardOrientation, TensorMemoryLayout
from ttnn.base.exceptions import MemoryConfigError
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, MemoryConfig, ShardSpec
from ttnn.base.tensor_spec import TensorSpec
from ttnn.base.work_split import num_cores_to_corerangeset
from ttnn.device.lifecycle import MeshDevice


def of_one(spec: TensorSpec, memory_config: MemoryConfig, device: MeshDevice) -> MemoryConfig:
    """Return the memory config of a function of one tensor, with shards.

    A sharded one without shards gets those of the operand, each at least a tile high and wide, else shards of its own.
    The kind (height, width, block) is that which the caller asks for.

    Args:
        spec: The operand.
        memory_config: What the caller asks for.
        device: Has the operand.

    Raises:
        MemoryConfigError: an empty tensor that has no such shards.
    """
    if not without_shards(memory_config):
        return memory_config
    shards = spec.memory_config.shard_spec
    if shards is None:
        shards = own_shards(spec, memory_config.memory_layout, device, "Unary")
    else:
        shards = ShardSpec(shards.grid, [max(size, TILE_SIZE) for size in shards.shape], shards.orientation)
    return MemoryConfig(memory_config.memory_layout, memory_config.buffer_type, shards)


def own_shards(spec: TensorSpec, layout: TensorMemoryLayout, device: MeshDevice, caller: str) -> ShardSpec:
    """Return the shards of a tensor over the grid.

    Rows are cut where pages are aligned in L1.
    """
    tiled = spec.layout is Layout.TILE
    shards = over_grid(spec.padded_shape, layout, device, caller, unit=TILE_SIZE if tiled else 1)
    width = spec.padded_shape[-1] if spec.padded_shape.rank else 1
    if tiled or layout is not TensorMemoryLayout.WIDTH_SHARDED or width == 0:
        return shards
    grid = device.compute_with_storage_grid_size()
    cores, size = grid.x * grid.y, ELEMENT_BYTES[spec.dtype]
    wanted = next((n for n in range(cores, 0, -1) if width % n == 0 and width // n * size % _L1_ALIGNMENT == 0), None)
    part = _up(-(-width // cores), TILE_SIZE) if wanted is None else width // wanted
    set_of_cores = num_cores_to_corerangeset(-(-width // part), grid, row_wise=True)
    return ShardSpec(set_of_cores, (shards.shape[0], part), shards.orientation)


_L1_ALIGNMENT: Final = 16


def over_grid(
    padded: Sequence[int],
    layout: TensorMemoryLayout,
    device: MeshDevice,
    caller: str,
    *,
    orientation: ShardOrientation = ShardOrientation.ROW_MAJOR,
    unit: int = TILE_SIZE,
) -> ShardSpec:
    """Return even shards of a padded shape.

    They are on as many cores as they fill.

    Args:
        padded: The shape; leading dimensions are part of the height.
        layout: Which dimensions are cut.
        device: Its grid is divided; block shards follow the rows and columns of the grid.
        caller: Name in errors.
        orientation: Order of the cores.
        unit: Height and width of a shard are multiples of it.

    Raises:
        MemoryConfigError: the tensor is empty and no shards fit it.
    """
    *heights, width = (1, *padded)
    height = math.prod(heights)
    grid = device.compute_with_storage_grid_size()
    cores, row_wise = grid.x * grid.y, orientation is ShardOrientation.ROW_MAJOR
    by_height, by_width = (layout is kind for kind in _LINES)
    if height == 0 or width == 0:
        if not ((by_height and width) or (by_width and height)):
            raise MemoryConfigError(
                f"an empty tensor of {height}x{width} has no {layout.name} shards.",
                vendor=f"{caller}: zero-volume specless-sharded is only representable for HEIGHT_SHARDED + non-zero "
                f"width or WIDTH_SHARDED + non-zero height; got layout={layout.value}, h={height}, w={width}.",
            )
        return ShardSpec(
            num_cores_to_corerangeset(1, grid), [max(_up(s, unit), unit) for s in (height, width)], orientation
        )
    across = (grid.x, grid.y) if row_wise else (grid.y, grid.x)
    rows = 1 if by_width else cores if by_height else across[1]
    columns = 1 if by_height else cores if by_width else across[0]
    shard = _up(-(-height // rows), unit), _up(-(-width // columns), unit)
    used = -(-height // shard[0]), -(-width // shard[1])
    if by_height or by_width:
        set_of_cores = num_cores_to_corerangeset(used[0] * used[1], grid, row_wise)
    else:
        x, y = (used[1], used[0]) if row_wise else used
        set_of_cores = CoreRangeSet([CoreRange(CoreCoord(0, 0), CoreCoord(x - 1, y - 1))])
    return ShardSpec(set_of_cores, shard, orientation)


def trimmed_to_used(spec: TensorSpec, place: MemoryConfig) -> MemoryConfig:
    """Return block shards without empty rows and columns of cores.

    Args:
        spec: The tensor.
        place: Its memory config; returned as it is unless block-sharded over one rectangle.
    """
    shards = place.shard_spec
    if shards is None or place.memory_layout is not TensorMemoryLayout.BLOCK_SHARDED or shards.grid.size() != 1:
        return place
    start, size = shards.grid.bounding_box().start, shards.grid.bounding_box().grid_size()
    height, width = spec.physical_shape
    used = -(-height // shards.shape[0]), -(-width // shards.shape[1])
    columns, rows = reversed(used) if shards.orientation is ShardOrientation.ROW_MAJOR else used
    end = CoreCoord(start.x + min(columns, size.x) - 1, start.y + min(rows, size.y) - 1)
    cores = CoreRangeSet([CoreRange(start, end)])
    return MemoryConfig(place.memory_layout, place.buffer_type, ShardSpec(cores, shards.shape, shards.orientation))


_LINES: Final = (TensorMemoryLayout.HEIGHT_SHARDED, TensorMemoryLayout.WIDTH_SHARDED)


def _up(size: int, multiple: int) -> int:
    return -(-size // multiple) * multiple


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
    sharded = [spec for spec in (a, b) if spec.memory_config.shard_spec is not None]
    if memory_config is not None:
        if not without_shards(memory_config):
            return memory_config
        # That of a sharded operand, whatever kind of shards is asked for.
        return grown(sharded[0], shape) if sharded else _completed(memory_config, (), a, shape, device)
    if not sharded or a.layout is not Layout.TILE:
        return None
    first, second = a.memory_config, b.memory_config
    if second.shard_spec is None:
        return grown(a, shape)
    if first.shard_spec is None:
        by_b = first.interleaved and first.buffer_type is BufferType.DRAM
        return grown(b, shape) if by_b else None
    return grown(max(a, b, key=_cores), shape)


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
    if not without_shards(memory_config):
        return memory_config
    return _completed(memory_config, sharded, specs[0], shape, device)


def _completed(
    place: MemoryConfig, sharded: Sequence[TensorSpec], like: TensorSpec, shape: tuple[int, ...], device: MeshDevice
) -> MemoryConfig:
    """Return a sharded memory config with shards.

    They are those of the first sharded operand, else of its own.
    """
    if sharded:
        shards = _scaled(sharded[0], shape)
    else:
        result = TensorSpec.of(shape, like.dtype, like.layout, DRAM_MEMORY_CONFIG)
        shards = own_shards(result, place.memory_layout, device, "BinaryNg")
    return MemoryConfig(place.memory_layout, place.buffer_type, shards)


def without_shards(place: MemoryConfig) -> bool:
    """Return whether a memory config is sharded and names no cores."""
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
    if spec.shape._dims == shape or place.shard_spec is None:
        return place
    return MemoryConfig(place.memory_layout, place.buffer_type, _scaled(spec, shape))


def _scaled(spec: TensorSpec, shape: tuple[int, ...]) -> ShardSpec:
    """Return an operand's shards, scaled to the result.

    They are in the ratio of its padded shape to that of the result; at least a tile.
    """
    shards = spec.memory_config.shard_spec
    assert shards is not None
    before, after = _sides(spec, spec.shape._dims), _sides(spec, shape)
    cut = [
        max(size * to // at, TILE_SIZE) if at else size
        for size, at, to in zip(shards.shape, before, after, strict=True)
    ]
    return ShardSpec(shards.grid, cut, shards.orientation)
