"""Checks and tile copies that operators on attention heads share.

Tiles are copied as they are; keys may be transposed.

Source: tt-metal `ttnn/cpp/ttnn/operations/transformer` and `ttnn/cpp/ttnn/operations/experimental/transformer`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

from ttnn.base.core_range import CoreCoord, CoreRangeSet
from ttnn.base.enums import TILE_SIZE, BufferType, DataType, Layout, ShardOrientation, TensorMemoryLayout
from ttnn.base.exceptions import (
    DTypeError,
    LayoutError,
    MemoryConfigError,
    ParameterError,
    ShapeError,
    UnsupportedError,
)
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, MemoryConfig, ShardSpec
from ttnn.base.tensor_spec import TensorSpec
from ttnn.base.work_split import num_cores_to_corerangeset
from ttnn.operation.accuracy import bit_exact
from ttnn.operation.domain import Operand
from ttnn.operation.registry import Op
from ttnn.operation.signature import INTEGER, TENSOR, Param, instance_kind
from ttnn.ops._programs.common import (
    allocate,
    full_tiles,
    is_empty,
    on_device,
)
from ttnn.ops._programs.windows import copy_tiles, tile_grid
from ttnn.ops.data_movement.concat import TENSORS
from ttnn.ops.data_movement.permute import permuted
from ttnn.tensor.tensor import Tensor

_DTYPES: Final = (DataType.BFLOAT16, DataType.FLOAT32, DataType.BFLOAT8_B, DataType.BFLOAT4_B)


_SPLIT: Final = "ttnn.transformer.split_query_key_value_and_split_heads"


Heads = tuple[Tensor, Tensor, Tensor]


EXPERIMENTAL: Final = "tt-metal `ttnn/cpp/ttnn/operations/experimental/transformer`"


def checked(name: str, tensor: Tensor, label: str, rank: int) -> None:
    """Raise unless the tensor is tiled floating point of this rank."""
    on_device(name, tensor, label)
    spec = tensor.spec
    if spec.shape.rank != rank:
        raise ShapeError(
            f"{name}: {label} has shape {spec.shape}; it must be of rank {rank}.",
            vendor=f"Invalid input tensor: expected {rank} dimensions, but found {spec.shape.rank}.",
        )
    if spec.dtype not in _DTYPES:
        raise DTypeError(
            f"{name}: {label} is {spec.dtype.name}; heads are floating point.", vendor="Unsupported data format"
        )
    if spec.layout is not Layout.TILE:
        raise LayoutError(
            f"{name}: {label} is row-major; convert it with ttnn.to_layout(..., ttnn.TILE_LAYOUT).",
            vendor=f"Input tensor layout must be TILE but got {spec.layout.cpp_name}",
        )
    full_tiles(name, tensor, label)


def heads_of(
    source: Tensor, first: int, heads: int, size: int, memory_config: MemoryConfig | None, *, transposed: bool = False
) -> Tensor:
    """Return `heads` heads of `size` columns from column `first` on.

    Shape: [B, S, W] -> [B, heads, S, size], or [B, heads, size, S].
    """
    spec = source.spec
    batch, rows = spec.shape[0], spec.shape[-2]
    place = memory_config or (spec.memory_config if spec.memory_config.interleaved else DRAM_MEMORY_CONFIG)
    kept = DRAM_MEMORY_CONFIG if transposed else place
    target = TensorSpec.of((batch, heads, rows, size), spec.dtype, Layout.TILE, kept)
    output = allocate(target, on_device(_SPLIT, source))
    if not is_empty(target):
        height, width = tile_grid(source)[-2:]
        across = size // TILE_SIZE
        copy_tiles(
            source,
            output,
            shape=(batch, heads, height, across),
            strides=(height * width, across, width, 1),
            offset=first // TILE_SIZE,
        )
    return permuted(_SPLIT, output, [0, 1, 3, 2], place, 0.0) if transposed else output


def spec_of_heads(name: str, source: Tensor, count: int, size: int, config: MemoryConfig) -> TensorSpec:
    """Return the spec of sharded heads.

    Each core has a row of tiles of one head.

    Raises:
        ParameterError: there are more heads than cores.
        MemoryConfigError: the heads have more rows.
    """
    spec = source.spec
    grid = on_device(name, source).compute_with_storage_grid_size()
    if count > grid.x * grid.y:
        raise ParameterError(
            f"{name}: {count} heads do not fit on {grid.x * grid.y} cores, a head on each.",
            vendor=f"Number of Q heads ({count}) must be <= number of cores ({grid.x * grid.y})",
        )
    cores = num_cores_to_corerangeset(count, grid, row_wise=True)
    shards = ShardSpec(cores, [TILE_SIZE, size], ShardOrientation.ROW_MAJOR)
    place = MemoryConfig(config.memory_layout, config.buffer_type, shards)
    return TensorSpec.of((spec.shape[0], count, spec.shape[-2], size), spec.dtype, Layout.TILE, place)


def head_size(name: str, label: str, width: int, heads: int, vendor: str) -> int:
    """Return the columns of a head.

    Raises:
        ShapeError: columns do not divide into heads of full tiles.
    """
    size = width // heads
    if size * heads != width or size % TILE_SIZE or not size:
        raise ShapeError(
            f"{name}: {width} columns of {label} do not divide into {heads} heads of full tiles.", vendor=vendor
        )
    return size


def not_sharded(name: str, config: MemoryConfig | None) -> None:
    """Raise MemoryConfigError for a sharded output."""
    if config is not None and config.is_sharded():
        raise MemoryConfigError(
            f"{name}: memory_config is sharded; use ttnn.DRAM_MEMORY_CONFIG or ttnn.L1_MEMORY_CONFIG.",
            vendor=f"Sharded output memory config is not supported for {name.rpartition('.')[2]}",
        )


def checked_interleaved(name: str, tensor: Tensor, config: MemoryConfig | None) -> MemoryConfig:
    """Return the memory config of a result.

    Raises:
        UnsupportedError: the input is sharded.
        MemoryConfigError: the result is to be sharded.
    """
    if not tensor.spec.memory_config.interleaved:
        raise UnsupportedError(
            f"{name}: sharded inputs are not implemented; move it with ttnn.sharded_to_interleaved.", "unimplemented"
        )
    place = config or tensor.spec.memory_config
    if place.is_sharded():
        raise MemoryConfigError(
            f"{name}: memory_config is sharded; use ttnn.DRAM_MEMORY_CONFIG or ttnn.L1_MEMORY_CONFIG.",
            vendor=f"Output memory config layout must be INTERLEAVED but got {place.memory_layout}",
        )
    return place


def no_outputs(name: str, outputs: object) -> None:
    """Raise UnsupportedError for preallocated outputs."""
    if outputs is not None:
        raise UnsupportedError(f"{name}: preallocated outputs are not implemented; leave them out.", "unimplemented")


def heads_of_fixed_size(
    name: str,
    queries: int,
    groups: int,
    size: int,
    transposed: bool,
    source: Tensor,
    memory_config: MemoryConfig | None,
    outputs: object = None,
) -> Heads:
    """Return heads of fixed number and size from [B, 1, S, W]."""
    checked(name, source, "input", 4)
    not_sharded(name, memory_config)
    no_outputs(name, outputs)
    width = (queries + 2 * groups) * size
    if source.spec.shape[1] != 1 or source.spec.shape[3] != width:
        raise ShapeError(
            f"{name}: input has shape {source.spec.shape}; it must be [B, 1, S, {width}].",
            vendor="Unsupported input shape",
        )
    first, second = queries * size, (queries + groups) * size
    return (
        heads_of(source, 0, queries, size, memory_config),
        heads_of(source, first, groups, size, memory_config, transposed=transposed),
        heads_of(source, second, groups, size, memory_config),
    )


def _shards_of_joined(name: str, source: Tensor, place: MemoryConfig) -> MemoryConfig:
    """Return the memory config of concatenated height sharded heads.

    Heads stay on their core.

    Raises:
        MemoryConfigError: the heads are interleaved, sharded otherwise, or the output is to be sharded by height.
    """
    spec = source.spec
    config, rows = spec.memory_config, spec.padded_shape[-2]
    shards = config.shard_spec
    if shards is None:
        raise MemoryConfigError(
            f"{name}: memory_config is {place}; the result of an interleaved tensor is interleaved.",
            vendor=f"Output memory config layout must be INTERLEAVED but got {place.memory_layout}",
        )
    height, width = shards.shape
    if width != spec.padded_shape[-1] or height % rows or spec.padded_shape[1] % (height // rows):
        raise MemoryConfigError(
            f"{name}: shards of {height}x{width} are not whole heads of {rows}x{spec.padded_shape[-1]}.",
            vendor=f"Input tensor shard height ({height}) must be divisible by padded height ({rows})",
        )
    if place.memory_layout is TensorMemoryLayout.HEIGHT_SHARDED:
        raise MemoryConfigError(
            f"{name}: memory_config is {place}; heads side by side are interleaved or sharded in blocks or by width.",
            vendor=f"Output memory config layout must not be HEIGHT_SHARDED but got {place.memory_layout}",
        )
    heads = height // rows
    return MemoryConfig(
        place.memory_layout, place.buffer_type, ShardSpec(shards.grid, [rows, width * heads], shards.orientation)
    )


def heads_joined(name: str, source: Tensor, memory_config: MemoryConfig | None, leading: tuple[int, ...]) -> Tensor:
    """Return concatenated heads. Shape: [B, H, S, D] -> [*leading, S, H * D]."""
    spec = source.spec
    batch, heads, rows, size = tuple(spec.shape)
    place = memory_config or (spec.memory_config if spec.memory_config.interleaved else DRAM_MEMORY_CONFIG)
    if place.is_sharded():
        place = _shards_of_joined(name, source, place)
    target = TensorSpec.of((*leading, rows, heads * size), spec.dtype, Layout.TILE, place)
    output = allocate(target, on_device(name, source))
    if not is_empty(target):
        height, width = tile_grid(source)[-2:]
        tiles = height * width
        copy_tiles(source, output, shape=(batch, height, heads, width), strides=(heads * tiles, width, tiles, 1))
    return output


def in_cores(cores: CoreRangeSet, shape: Sequence[int], layout: TensorMemoryLayout) -> MemoryConfig:
    """Return row-major shards of `shape` in the L1 of `cores`."""
    return MemoryConfig(layout, BufferType.L1, ShardSpec(cores, list(shape), ShardOrientation.ROW_MAJOR))


def row_major_cores(name: str, count: int, source: Tensor) -> CoreRangeSet:
    """Return the first `count` cores of the device, row by row."""
    return num_cores_to_corerangeset(count, on_device(name, source).compute_with_storage_grid_size(), True)


declare = partial(
    Op, dtypes=_DTYPES, layouts=(Layout.TILE,), accuracy=bit_exact(), engine=("write_window",), numerics="movement"
)


EXPERIMENTAL_ERRORS: Final = (
    ("ShapeError", "the shape is another."),
    ("LayoutError", "the input is row-major, or holds block floats that cannot be moved."),
    ("DTypeError", "the input is not floating point."),
    ("MemoryConfigError", "the memory config of the input or the output is not supported."),
    ("ParameterError", "an argument is out of range."),
    ("UnsupportedError", "outputs are preallocated."),
)


GRID: Final = Param(
    "compute_with_storage_grid_size",
    instance_kind("ttnn.CoreCoord", CoreCoord),
    doc="Cores that work; time only.",
    example=CoreCoord(8, 8),
)


OUTPUTS: Final = Param("output_tensors", TENSORS, None, doc="Not supported.")


OUTPUT: Final = Param("output_tensor", TENSOR, None, doc="Not supported.")


def projection(label: str, shape: tuple[int, ...]) -> Param:
    """Return the parameter for queries, keys and values side by side."""
    return Param(
        label, TENSOR, doc="[B, 1, S, W] on a device: queries, keys and values side by side.", example=Operand(shape)
    )


INTERLEAVED_ERRORS: Final = (
    ("ShapeError", "columns do not divide into heads of full tiles, or the shape is another."),
    ("LayoutError", "an input is row-major."),
    ("DTypeError", "an input is not floating point."),
    ("MemoryConfigError", "the output is to be sharded."),
    ("UnsupportedError", "an input is sharded, or outputs are preallocated."),
)
NUM_HEADS: Final = Param("num_heads", INTEGER, doc="Heads of the queries.", example=2)
