"""Memory config of results whose elements only move: slices, permutations, repetitions.

A sharded memory config without shards gets those of the operand in the ratio of the shapes, if the kind of sharding is
the same and the ratio leaves whole shards; else shards of its own over the grid.
Source: tt-metal `ttnn/cpp/ttnn/operations/data_movement`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ttnn.base.enums import TILE_SIZE, BufferType, Layout, ShardOrientation, TensorMemoryLayout
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, MemoryConfig, ShardSpec
from ttnn.base.tensor_spec import TensorSpec
from ttnn.device.lifecycle import MeshDevice
from ttnn.operation.result_shards import over_grid, own_shards, without_shards


def of_moved(spec: TensorSpec, shape: Sequence[int], place: MemoryConfig, device: MeshDevice) -> MemoryConfig:
    """Return `place` with shards for a result of `shape`.

    A memory config that has shards is returned as it is.

    Args:
        spec: The operand.
        shape: Logical shape of the result, which has the operand's layout.
        place: Memory config of the result.
        device: Has the operand.
    """
    if not without_shards(place):
        return place
    layout, padded = place.memory_layout, _padded(spec, shape)
    shards = exactly_scaled(spec, padded) if spec.memory_config.memory_layout is layout else None
    if shards is None:
        own = spec.memory_config.shard_spec
        orientation = ShardOrientation.ROW_MAJOR if own is None else own.orientation
        shards = over_grid(padded, layout, device, "Transpose", orientation=orientation)
    return MemoryConfig(layout, place.buffer_type, shards)


def exactly_scaled(spec: TensorSpec, padded: Sequence[int]) -> ShardSpec | None:
    """Return the operand's shards, scaled exactly to another padded shape.

    They are in the ratio of its padded shape to the other; None if a remainder is left. Shards of tiles
    have to be whole tiles.
    """
    shards = spec.memory_config.shard_spec
    if shards is None:
        return None
    sizes = []
    for size, before, after in zip(shards.shape, _sides(spec.padded_shape), _sides(padded), strict=True):
        if before == 0 or size * after % before:
            return None
        sizes.append(size * after // before)
    if spec.layout is Layout.TILE and any(size % TILE_SIZE for size in sizes):
        return None
    return ShardSpec(shards.grid, sizes, shards.orientation)


def of_slice(
    spec: TensorSpec, shape: Sequence[int], memory_config: MemoryConfig | None, device: MeshDevice
) -> MemoryConfig:
    """Return the memory config of a slice.

    The operand's cores share it evenly, if none is given.
    """
    if memory_config is not None:
        return of_moved(spec, shape, memory_config, device)
    place, shards = spec.memory_config, spec.memory_config.shard_spec
    if shards is None or len(shape) < 2:
        return place
    unit = TILE_SIZE if spec.layout is Layout.TILE else 1
    height, width = _sides(_padded(spec, shape))
    cores, box = shards.num_cores(), shards.grid.bounding_box().grid_size()
    rows, columns = {
        TensorMemoryLayout.HEIGHT_SHARDED: (cores, 1),
        TensorMemoryLayout.WIDTH_SHARDED: (1, cores),
    }.get(place.memory_layout, (box.y, box.x))
    cut = [max(_up(-(-side // parts), unit), unit) for side, parts in ((height, rows), (width, columns))]
    return MemoryConfig(place.memory_layout, place.buffer_type, ShardSpec(shards.grid, cut, shards.orientation))


def of_pieces(
    spec: TensorSpec, sizes: Sequence[int], axis: int, memory_config: MemoryConfig | None, device: MeshDevice
) -> MemoryConfig:
    """Return the memory config of equal pieces of a tensor.

    It is interleaved DRAM if shards do not divide into them.
    """
    place = spec.memory_config if memory_config is None else memory_config
    if place.interleaved or (memory_config is not None and not without_shards(place)):
        return place
    padded = list(spec.padded_shape)[-spec.shape.rank :]
    if len(set(sizes)) > 1 or padded[axis] % len(sizes):
        return DRAM_MEMORY_CONFIG
    padded[axis] //= len(sizes)
    if memory_config is not None:
        return of_moved(spec, padded, place, device)
    shards = exactly_scaled(spec, padded)
    return DRAM_MEMORY_CONFIG if shards is None else MemoryConfig(place.memory_layout, place.buffer_type, shards)


def of_repeated(
    spec: TensorSpec, counts: Sequence[int], memory_config: MemoryConfig | None, device: MeshDevice
) -> MemoryConfig:
    """Return the memory config of a repeated tensor.

    The operand's shards grow where each core repeats what it holds; else they are new ones.

    Args:
        spec: The operand, of the rank of `counts`.
        counts: Repetitions of each dimension.
        memory_config: What the caller asks for; the operand's kind of sharding if None.
        device: Has the operand.
    """
    own = spec.memory_config
    place = memory_config or (MemoryConfig(own.memory_layout, own.buffer_type) if own.is_sharded() else own)
    if not without_shards(place):
        return place
    shape = [size * count for size, count in zip(spec.shape, counts, strict=True)]
    shards = _repeated_in_place(spec, counts) if own.memory_layout is place.memory_layout else None
    if shards is None:
        result = TensorSpec.of(shape, spec.dtype, spec.layout, DRAM_MEMORY_CONFIG)
        shards = own_shards(result, place.memory_layout, device, "Repeat")
    return MemoryConfig(place.memory_layout, place.buffer_type, shards)


def _repeated_in_place(spec: TensorSpec, counts: Sequence[int]) -> ShardSpec | None:
    """Return the shards if every core repeats what it holds, else None.

    Every core has to hold whole groups of what is repeated.
    """
    shards, padded, rank = spec.memory_config.shard_spec, tuple(spec.padded_shape), len(counts)
    if shards is None or spec.memory_config.buffer_type is not BufferType.L1 or rank < 2 or padded != tuple(spec.shape):
        return None
    if 0 in padded:
        return None
    height, width = shards.shape
    if _sides(padded)[0] % height or padded[-1] % width:
        return None
    grows = [1, 1]
    for axis, count in enumerate(counts):
        group = math.prod(padded[axis:-1])
        if count > 1 and axis < rank - 1 and height % group:
            return None
        grows[axis == rank - 1] *= count
    return ShardSpec(shards.grid, [height * grows[0], width * grows[1]], shards.orientation)


def _padded(spec: TensorSpec, shape: Sequence[int]) -> tuple[int, ...]:
    """Return a shape as the operand's layout pads it."""
    return tuple(TensorSpec.of(shape, spec.dtype, spec.layout, DRAM_MEMORY_CONFIG, spec.tile).padded_shape)


def _sides(padded: Sequence[int]) -> tuple[int, int]:
    *heights, width = (1, *padded)
    return math.prod(heights), width


def _up(size: int, multiple: int) -> int:
    return -(-size // multiple) * multiple
