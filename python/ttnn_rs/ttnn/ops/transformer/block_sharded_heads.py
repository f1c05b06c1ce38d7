"""Attention heads of block sharded projections.

Each batch has one row of cores, each core whole heads.

The columns of a core are groups: some queries, then their keys, then their values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from ttnn.base.core_range import CoreRange, CoreRangeSet
from ttnn.base.enums import TILE_SIZE, Layout, ShardOrientation, TensorMemoryLayout
from ttnn.base.exceptions import MemoryConfigError, ShapeError
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, MemoryConfig, ShardSpec
from ttnn.base.tensor_spec import TensorSpec
from ttnn.ops._programs.common import allocate, on_device
from ttnn.ops._programs.windows import copy_tiles
from ttnn.ops.data_movement.permute import permuted
from ttnn.ops.transformer.head_programs import head_size
from ttnn.tensor.tensor import Tensor


def block_shards(name: str, label: str, tensor: Tensor) -> tuple[ShardSpec, CoreRange]:
    """Return a tensor's block shards and their core rectangle.

    Raises:
        MemoryConfigError: it is not block sharded.
        ShapeError: there is not one row of cores for every batch.
    """
    config = tensor.spec.memory_config
    if config.memory_layout is not TensorMemoryLayout.BLOCK_SHARDED or config.shard_spec is None:
        raise MemoryConfigError(
            f"{name}: {label} is in {config}; shard it in blocks, with a row of cores for every batch.",
            vendor="Operands to TM must be sharded",
        )
    spec = config.shard_spec
    cores = spec.grid.bounding_box()
    high, wide = cores.end.y + 1, cores.end.x + 1
    if spec.orientation is not ShardOrientation.ROW_MAJOR:
        high, wide = wide, high
    batch, width = tensor.spec.shape[0], tensor.spec.shape[-1]
    if batch != high or width % (wide * TILE_SIZE):
        raise ShapeError(
            f"{name}: {label} of shape {tensor.spec.shape} on {high}x{wide} cores must be [{high}, 1, S, W] with W a "
            f"multiple of {wide * TILE_SIZE}.",
            vendor=f"Batch size {batch} must be equal to num cores {high}",
        )
    return spec, cores


def _place(like: tuple[ShardSpec, CoreRange], config: MemoryConfig, shape: Sequence[int]) -> MemoryConfig:
    """Return the heads' memory config: equal row counts per core."""
    spec, cores = like
    count = CoreRangeSet([cores]).num_cores()
    batch, heads, rows, width = shape
    shards = ShardSpec(spec.grid, [batch * heads * rows // count, width], spec.orientation)
    return MemoryConfig(config.memory_layout, config.buffer_type, shards)


def heads_of_kind(
    name: str,
    source: Tensor,
    heads: tuple[int, int],
    size: int,
    columns: tuple[int, int],
    config: MemoryConfig,
    like: tuple[ShardSpec, CoreRange],
    *,
    transposed: bool = False,
) -> Tensor:
    """Return the heads of one kind.

    Args:
        name: The operator.
        source: [B, 1, S, W].
        heads: Groups, and heads of each.
        size: Columns of a head.
        columns: The first of a group, and those of a group.
        config: Memory config of the result; its shards follow from `like`.
        like: Shards of the input.
        transposed: Rows and columns are exchanged.
    """
    spec = source.spec
    batch, rows = spec.shape[0], spec.padded_shape[-2]
    groups, each = heads
    shape = (batch, groups * each, rows, size)
    swapped = (*shape[:2], size, rows)
    place = _place(like, config, swapped if transposed else shape)
    output = allocate(
        TensorSpec.of(shape, spec.dtype, Layout.TILE, DRAM_MEMORY_CONFIG if transposed else place),
        on_device(name, source),
    )
    high, wide, across = rows // TILE_SIZE, spec.shape[-1] // TILE_SIZE, size // TILE_SIZE
    copy_tiles(
        source,
        output,
        shape=(batch, groups, each, high, across),
        strides=(high * wide, columns[1] // TILE_SIZE, across, wide, 1),
        offset=columns[0] // TILE_SIZE,
    )
    return permuted(name, output, [0, 1, 3, 2], place, 0.0) if transposed else output


def split_in_groups(
    name: str,
    source: Tensor,
    groups: int,
    heads: tuple[int, int, int],
    memory_config: MemoryConfig | None,
    *,
    transposed: bool,
) -> tuple[Tensor, Tensor, Tensor]:
    """Return queries, keys and values of a block projection, height sharded.

    Args:
        name: The operator.
        source: [B, S, W] or [B, 1, S, W].
        groups: Groups of columns.
        heads: Queries, keys and values of a group.
        memory_config: HEIGHT_SHARDED; its shards follow from those of `source`.
        transposed: Keys are [B, heads, D, S].

    Raises:
        MemoryConfigError: `source` is not block sharded, or the output not sharded by height.
        ShapeError: batches are not rows of cores, or columns no heads of full tiles.
    """
    shards = block_shards(name, "the input", source)
    config = memory_config or source.spec.memory_config
    if config.memory_layout is not TensorMemoryLayout.HEIGHT_SHARDED:
        raise MemoryConfigError(
            f"{name}: memory_config is {config}; heads are sharded by height.",
            vendor=f"Output memory config layout must be HEIGHT_SHARDED but got {config.memory_layout}",
        )
    width = source.spec.shape[-1]
    q, k, v = (groups * each for each in heads)
    vendor = f"Flattened hidden dimension {width} must be a multiple of the combined Q {q}, K {k} and V {v} heads"
    size = head_size(name, "the input", width, q + k + v, vendor)
    part: Callable[..., Tensor] = partial(heads_of_kind, name, source, config=config, like=shards, size=size)
    group = sum(heads) * size
    return (
        part(heads=(groups, heads[0]), columns=(0, group)),
        part(heads=(groups, heads[1]), columns=(heads[0] * size, group), transposed=transposed),
        part(heads=(groups, heads[2]), columns=((heads[0] + heads[1]) * size, group)),
    )
