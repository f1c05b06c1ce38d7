"""Slices of tall tensors, one after the other in shards and back.

Source: tt-metal `ttnn/cpp/ttnn/operations/data_movement/sharded_partial`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ttnn.base.core_range import CoreCoord, CoreRangeSet
from ttnn.base.enums import TILE_SIZE, DataType, Layout, ShardOrientation, TensorMemoryLayout
from ttnn.base.exceptions import (
    DTypeError,
    LayoutError,
    MemoryConfigError,
    ParameterError,
    ShapeError,
    UnsupportedError,
)
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, MemoryConfig
from ttnn.golden import data_movement as golden
from ttnn.operation.domain import Operand
from ttnn.operation.signature import (
    CORE_COORD_OR_SET,
    DATA_TYPE,
    INT_SEQUENCE,
    INTEGER,
    MEMORY_LAYOUT,
    ORIENTATION,
    TENSOR,
    Param,
    Signature,
)
from ttnn.ops._programs.common import MEMORY_CONFIG_OPTION, full_tiles, on_device, same_device
from ttnn.ops._programs.movement import register_movement
from ttnn.ops._programs.windows import write_into
from ttnn.ops.data_movement.placement import interleaved_to_sharded
from ttnn.ops.data_movement.reshape import reshaped
from ttnn.ops.data_movement.slice import sliced
from ttnn.tensor.tensor import Tensor

_MOVED: Final = (DataType.BFLOAT16, DataType.FLOAT32, DataType.BFLOAT8_B)


def _rows(name: str, tensor: Tensor, num_slices: int, slice_index: int) -> tuple[int, int, int]:
    """Return rows of all matrices, rows of a slice, and columns."""
    spec = tensor.spec
    if spec.layout is not Layout.TILE:
        raise LayoutError(f"{name}: tensors must be tiled; convert them with ttnn.to_layout(..., ttnn.TILE_LAYOUT).")
    if spec.dtype not in _MOVED:
        raise DTypeError(f"{name}: the tensor is {spec.dtype.name}; use {', '.join(dtype.name for dtype in _MOVED)}.")
    if not 0 <= slice_index < num_slices:
        raise ParameterError(
            f"{name}: slice_index={slice_index} is out of range for {num_slices} slices.",
            vendor="Slice index and num_slices don't match",
        )
    shape = tuple(spec.shape)
    if len(shape) != 4:
        raise ShapeError(f"{name}: the tensor has shape {list(shape)}; it must be of rank 4.")
    rows = shape[0] * shape[1] * shape[2]
    if rows % (num_slices * TILE_SIZE) or shape[2] % TILE_SIZE or not rows or not shape[3]:
        raise ShapeError(
            f"{name}: {rows} rows of shape {list(shape)} do not divide into {num_slices} slices of full tiles.",
            vendor="Total height of tensor must be divisible by num_slices",
        )
    return rows, rows // num_slices, shape[3]


def _to_shards(
    input_tensor: Tensor,
    grid: CoreCoord | CoreRangeSet,
    shard_shape: Sequence[int],
    num_slices: int,
    slice_index: int,
    shard_scheme: TensorMemoryLayout,
    shard_orientation: ShardOrientation,
    output_dtype: DataType | None,
) -> Tensor:
    name = "ttnn.interleaved_to_sharded_partial"
    on_device(name, input_tensor)
    rows, height, width = _rows(name, input_tensor, num_slices, slice_index)
    if not input_tensor.spec.memory_config.interleaved:
        raise MemoryConfigError(f"{name}: input_tensor is sharded already; use ttnn.reshard.")
    flat = reshaped(name, input_tensor, (1, 1, rows, width))
    first = slice_index * height
    ends = [1, 1, first + height, width]
    part = sliced(name, flat, [0, 0, first, 0], ends, memory_config=DRAM_MEMORY_CONFIG)
    shards: Tensor = interleaved_to_sharded(
        part, grid, list(shard_shape), shard_scheme, shard_orientation, output_dtype=output_dtype
    )
    return shards


def _to_interleaved(
    input_tensor: Tensor,
    cache_tensor: Tensor,
    num_slices: int,
    slice_index: int,
    _memory_config: MemoryConfig | None,
    output_dtype: DataType | None,
) -> Tensor:
    name = "ttnn.sharded_to_interleaved_partial"
    device = on_device(name, input_tensor)
    same_device(name, device, cache_tensor, "cache_tensor")
    full_tiles(name, input_tensor)
    full_tiles(name, cache_tensor, "cache_tensor")
    rows, height, width = _rows(name, cache_tensor, num_slices, slice_index)
    spec = input_tensor.spec
    if output_dtype not in (None, cache_tensor.spec.dtype) or spec.dtype is not cache_tensor.spec.dtype:
        raise UnsupportedError(
            f"{name}: input_tensor is {spec.dtype.name}, cache_tensor {cache_tensor.spec.dtype.name}; a conversion is "
            "not implemented.",
            "unimplemented",
        )
    shape = tuple(spec.shape)
    if spec.layout is not Layout.TILE or len(shape) != 4 or shape[2] % TILE_SIZE:
        raise ShapeError(f"{name}: input_tensor has shape {list(shape)}; it must be tiled, of rank 4 and full tiles.")
    if (shape[0] * shape[1] * shape[2], shape[3]) != (height, width):
        raise ShapeError(
            f"{name}: input_tensor has shape {list(shape)}; a slice of cache_tensor has {height} rows of {width}."
        )
    if not cache_tensor.spec.memory_config.interleaved:
        raise MemoryConfigError(f"{name}: cache_tensor is sharded; use ttnn.DRAM_MEMORY_CONFIG.")
    source = reshaped(name, input_tensor, (1, 1, height, width), DRAM_MEMORY_CONFIG)
    write_into(source, _flat(name, cache_tensor, rows, width), [0, 0, slice_index * height, 0])
    return cache_tensor


def _flat(name: str, cache: Tensor, rows: int, width: int) -> Tensor:
    """Return the cache as one matrix in the same memory."""
    return reshaped(name, cache, (1, 1, rows, width))


_SLICES: Final = (
    Param("num_slices", INTEGER, doc="Into how many slices the rows divide.", example=2),
    Param("slice_index", INTEGER, doc="Which of them.", example=1),
)
_ERRORS: Final = (
    ("ShapeError", "the rows do not divide into slices of full tiles."),
    ("ParameterError", "the slice is out of range."),
    ("LayoutError", "a tensor is row-major."),
    ("DTypeError", "a tensor holds integers."),
    ("MemoryConfigError", "a memory config is not supported, or shards do not fit."),
)

interleaved_to_sharded_partial = register_movement(
    "interleaved_to_sharded_partial",
    (
        Signature(
            (
                Param(
                    "input_tensor",
                    TENSOR,
                    doc="[N, C, H, W] on a device, interleaved.",
                    example=Operand((1, 1, 128, 64)),
                ),
                Param("grid", CORE_COORD_OR_SET, doc="Cores of the shards.", example=CoreCoord(1, 2)),
                Param("shard_shape", INT_SEQUENCE, doc="Rows and columns of a shard.", example=[32, 64]),
                *_SLICES,
                Param(
                    "shard_scheme",
                    MEMORY_LAYOUT,
                    doc="How shards divide the slice.",
                    example=TensorMemoryLayout.HEIGHT_SHARDED,
                ),
                Param("shard_orientation", ORIENTATION, doc="Order of the cores.", example=ShardOrientation.ROW_MAJOR),
            ),
            (Param("output_dtype", DATA_TYPE, None, doc="Data type of the output. Default: that of the input."),),
        ),
    ),
    _to_shards,
    "Return a slice of the rows of all matrices in shards.\nShape: [N, C, H, W] -> [1, 1, N * C * H / slices, W].",
    golden=golden.interleaved_to_sharded_partial,
    dtypes=_MOVED,
    layouts=(Layout.TILE,),
    engine=("move_elements", "copy_pages"),
    composition=True,
    raises=_ERRORS,
    examples=(),
)
sharded_to_interleaved_partial = register_movement(
    "sharded_to_interleaved_partial",
    (
        Signature(
            (
                Param("input_tensor", TENSOR, doc="[n, c, h, W]: a slice.", example=Operand((1, 1, 64, 64), 2)),
                Param("cache_tensor", TENSOR, doc="[N, C, H, W]: receives the rows.", example=Operand((1, 1, 128, 64))),
                *_SLICES,
            ),
            (
                Param(
                    MEMORY_CONFIG_OPTION.name,
                    MEMORY_CONFIG_OPTION.kind,
                    None,
                    doc="Ignored: the result is in the cache's memory config.",
                ),
                Param("output_dtype", DATA_TYPE, None, doc="Data type of the cache.", example=DataType.FLOAT32),
            ),
        ),
    ),
    _to_interleaved,
    "Write a slice of rows into a tensor, and return that.\nShape: [n, c, h, W], [N, C, H, W] -> [N, C, H, W].",
    golden=golden.sharded_to_interleaved_partial,
    dtypes=_MOVED,
    layouts=(Layout.TILE,),
    engine=("write_window",),
    composition=True,
    raises=(*_ERRORS, ("UnsupportedError", "data types differ.")),
    examples=(),
)
