"""Heads of a projection that is sharded by width: every core has the queries of one head of keys, that and the values.

Source: tt-metal `ttnn/cpp/ttnn/operations/experimental/transformer/nlp_create_qkv_heads`.
"""

from __future__ import annotations

from ttnn.base.enums import TILE_SIZE, Layout, ShardOrientation, TensorMemoryLayout
from ttnn.base.exceptions import MemoryConfigError, ParameterError
from ttnn.base.memory_config import MemoryConfig, ShardSpec
from ttnn.base.tensor_spec import TensorSpec
from ttnn.base.work_split import num_cores_to_corerangeset
from ttnn.ops._programs.common import allocate, on_device
from ttnn.ops._programs.windows import copy_tiles, tile_grid
from ttnn.tensor.tensor import Tensor


def split_shards(
    name: str,
    source: Tensor,
    apart: Tensor | None,
    heads: tuple[int, int],
    size: int,
    transposed: bool,
    memory_config: MemoryConfig | None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Return queries, keys and values, each head in a shard of its own.

    Args:
        name: The operator.
        source: [B, 1, S, W], sharded by width.
        apart: Keys and values of every core, if they are not in `source`.
        heads: Heads of the queries, and of keys and of values.
        size: Columns of a head.
        transposed: Whether keys are to be transposed, which the program does not do.
        memory_config: HEIGHT_SHARDED or BLOCK_SHARDED; its shards follow from the heads.

    Raises:
        MemoryConfigError: a place that the program does not take.
        ParameterError: keys are to be transposed, or queries do not divide among keys.
    """
    queries, groups = heads
    if transposed:
        raise ParameterError(
            f"{name}: input is sharded; pass transpose_k_heads=False.", vendor="Transpose K heads must be false"
        )
    if queries % groups:
        raise ParameterError(f"{name}: num_heads={queries} must be a multiple of num_kv_heads={groups}.")
    each = queries // groups
    for label, tensor, columns in (
        ("input", source, each if apart is not None else each + 2),
        *([] if apart is None else [("input_kv", apart, 2)]),
    ):
        _check_shards(name, label, tensor, groups, columns * size)
    if memory_config is None or not memory_config.is_sharded():
        place = None if memory_config is None else memory_config.memory_layout
        raise MemoryConfigError(
            f"{name}: input is sharded, memory_config is {place}; heads are sharded by height or in blocks.",
            vendor=f"Output memory config must be sharded and not WIDTH_SHARDED but got memory_layout: {place}",
        )
    if memory_config.memory_layout is TensorMemoryLayout.WIDTH_SHARDED:
        place = memory_config.memory_layout
        raise MemoryConfigError(
            f"{name}: memory_config is {place.name}; heads are sharded by height or in blocks.",
            vendor=f"Output memory config must be sharded and not WIDTH_SHARDED but got memory_layout: {place}",
        )
    query = _heads(name, source, (groups, each), 0, size, memory_config)
    if apart is None:
        key, value = (_heads(name, source, (groups, 1), each + part, size, memory_config) for part in (0, 1))
    else:
        key, value = (_heads(name, apart, (groups, 1), part, size, memory_config) for part in (0, 1))
    return query, key, value


def _check_shards(name: str, label: str, tensor: Tensor, groups: int, width: int) -> None:
    config = tensor.spec.memory_config
    shards = config.shard_spec
    right = (
        config.memory_layout is TensorMemoryLayout.WIDTH_SHARDED
        and shards is not None
        and shards.orientation is ShardOrientation.ROW_MAJOR
        and shards.num_cores() == groups
        and shards.shape[1] == width
    )
    if not right:
        raise MemoryConfigError(
            f"{name}: {label} is in {config}; of a sharded projection each of {groups} cores has {width} columns, "
            "row by row: WIDTH_SHARDED.",
            vendor=f"Shard spec shape[1] ({None if shards is None else shards.shape[1]}) must equal {width}",
        )


def _heads(name: str, source: Tensor, heads: tuple[int, int], first: int, size: int, config: MemoryConfig) -> Tensor:
    """Return heads that every core has from the first one on."""
    spec, device = source.spec, on_device(name, source)
    groups, each = heads
    grid = device.compute_with_storage_grid_size()
    if groups * each > grid.x * grid.y:
        raise ParameterError(
            f"{name}: {groups * each} heads do not fit on {grid.x * grid.y} cores, a head on each.",
            vendor=f"Number of Q heads ({groups * each}) must be <= number of cores ({grid.x * grid.y})",
        )
    cores = num_cores_to_corerangeset(groups * each, grid, row_wise=True)
    shards = ShardSpec(cores, [TILE_SIZE, size], ShardOrientation.ROW_MAJOR)
    place = MemoryConfig(config.memory_layout, config.buffer_type, shards)
    batch, rows = spec.shape[0], spec.shape[-2]
    output = allocate(TensorSpec.of((batch, groups * each, rows, size), spec.dtype, Layout.TILE, place), device)
    height, width = tile_grid(source)[-2:]
    across = size // TILE_SIZE
    copy_tiles(
        source,
        output,
        shape=(batch, groups, each, height, across),
        strides=(height * width, width // groups, across, width, 1),
        offset=first * across,
    )
    return output
