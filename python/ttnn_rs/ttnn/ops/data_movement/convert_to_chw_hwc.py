"""Images in shards with their channels first or last.

Source: tt-metal `ttnn/cpp/ttnn/operations/experimental/cnn`.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from ttnn.base.enums import BLOCK_FLOATS, TILE_SIZE, BufferType, DataType, Layout, TensorMemoryLayout
from ttnn.base.exceptions import DTypeError, LayoutError, MemoryConfigError, ShapeError, UnsupportedError
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, MemoryConfig, ShardSpec
from ttnn.base.tensor_spec import TensorSpec
from ttnn.golden import data_movement as golden
from ttnn.operation.accuracy import bit_exact
from ttnn.operation.registry import Op, register
from ttnn.operation.signature import DATA_TYPE, TENSOR, Param, Signature
from ttnn.ops._programs.common import MEMORY_CONFIG_OPTION, allocate, full_tiles, on_device
from ttnn.ops._programs.element_map import move_into
from ttnn.tensor.tensor import Tensor

_FIRST: Final = "ttnn.experimental.convert_to_chw"
_LAST: Final = "ttnn.experimental.convert_to_hwc"
_L1_ALIGNMENT = 16
_BYTES: Final = {DataType.BFLOAT16: 2, DataType.FLOAT32: 4}
_DTYPE: Final = Param("dtype", DATA_TYPE, None, doc="Data type of the output. Default: that of the input.")


def _sharded(name: str, tensor: Tensor, layout: TensorMemoryLayout, word: str) -> ShardSpec:
    """Return the shards of a tensor.

    Raises:
        MemoryConfigError: it is placed in another way.
    """
    config = tensor.spec.memory_config
    if config.memory_layout is not layout or config.shard_spec is None:
        raise MemoryConfigError(
            f"{name}: input is in {config}; shard it by {word}.",
            vendor=f"Input tensor must be {word} sharded"
            if config.is_sharded()
            else "Input tensor must be sharded to infer output memory config",
        )
    return config.shard_spec


def _rank_4(name: str, tensor: Tensor) -> tuple[int, ...]:
    shape = tuple(tensor.spec.shape)
    if len(shape) != 4 or shape[0] != 1:
        raise ShapeError(
            f"{name}: input has shape {list(shape)}; it must be of rank 4 and begin with 1.",
            vendor=f"Input shape must be rank 4 (was rank {len(shape)})",
        )
    return shape


def _few_channels(name: str, channels: int) -> None:
    if not 0 < channels <= TILE_SIZE:
        raise ShapeError(
            f"{name}: input has {channels} channels; there may be 1 to {TILE_SIZE}.",
            vendor=f"C must be less than or equal to 32 (was {channels})",
        )


def _row_major_dtype(name: str, dtype: DataType) -> None:
    if dtype not in _BYTES:
        raise DTypeError(f"{name}: the output is row-major; it cannot be {dtype.name}. Pass dtype=ttnn.bfloat16.")


def _output_dtype(name: str, given: DataType, dtype: DataType | None) -> DataType:
    """Return the row-major output's data type.

    It is that of the input, except for block floats.
    """
    result = dtype or given
    _row_major_dtype(name, result)
    if result is not given and not (result is DataType.BFLOAT16 and given in BLOCK_FLOATS):
        raise UnsupportedError(
            f"{name}: input is {given.name}, dtype {result.name}; that conversion is not implemented. Leave dtype out, "
            "and use ttnn.typecast.",
            "unimplemented",
        )
    return result


def _to_first(input: Tensor, dtype: DataType | None) -> Tensor:
    device = on_device(_FIRST, input)
    full_tiles(_FIRST, input)
    spec = input.spec
    if spec.layout is not Layout.TILE or spec.dtype not in (*_BYTES, *BLOCK_FLOATS):
        raise LayoutError(f"{_FIRST}: input is {spec.dtype.name} in {spec.layout.name}; it must be floats in tiles.")
    shards = _sharded(_FIRST, input, TensorMemoryLayout.HEIGHT_SHARDED, "height")
    _, images, pixels, channels = _rank_4(_FIRST, input)
    _few_channels(_FIRST, channels)
    if images != 1 or pixels % TILE_SIZE or shards.shape[0] % TILE_SIZE:
        raise ShapeError(
            f"{_FIRST}: input of shape {spec.shape} in shards of {shards.shape} must be [1, 1, HW, C], both of whose "
            f"heights are multiples of {TILE_SIZE}.",
            vendor="HW must be divisible by tile size",
        )
    result = _output_dtype(_FIRST, spec.dtype, dtype)
    place = MemoryConfig(
        TensorMemoryLayout.WIDTH_SHARDED,
        spec.memory_config.buffer_type,
        ShardSpec(shards.grid, [channels, shards.shape[0]], shards.orientation),
    )
    output = allocate(TensorSpec.of((1, 1, channels, pixels), result, Layout.ROW_MAJOR, place), device)
    # Tiles are transposed by the unpacker.
    bf16 = result is DataType.BFLOAT16
    return move_into(input, output, strides=[0, 0, 1, channels], through_dst=bf16)


def _aligned(channels: int, spec: TensorSpec) -> int:
    """Return channels rounded up to what a copy in L1 needs."""
    unit = _L1_ALIGNMENT // _BYTES[spec.dtype]
    return -(-channels // unit) * unit


def _to_last(input: Tensor, memory_config: MemoryConfig | None, dtype: DataType | None) -> Tensor:
    device = on_device(_LAST, input)
    spec = input.spec
    if spec.layout is not Layout.ROW_MAJOR:
        raise LayoutError(
            f"{_LAST}: input is in tiles; convert it with ttnn.to_layout(..., ttnn.ROW_MAJOR_LAYOUT).",
            vendor="Input tensor must be in row-major layout",
        )
    _row_major_dtype(_LAST, spec.dtype)
    shards = _sharded(_LAST, input, TensorMemoryLayout.WIDTH_SHARDED, "width")
    _, images, channels, pixels = _rank_4(_LAST, input)
    _few_channels(_LAST, channels)
    wide = _aligned(channels, spec)
    place = memory_config
    if place is None and spec.memory_config.buffer_type is BufferType.DRAM:
        raise MemoryConfigError(
            f"{_LAST}: input is in DRAM; pass memory_config for an output in L1.",
            vendor="When input tensor is in DRAM, output memory_config must be explicitly specified",
        )
    if place is None:
        place = MemoryConfig(
            TensorMemoryLayout.HEIGHT_SHARDED,
            spec.memory_config.buffer_type,
            ShardSpec(shards.grid, [images * shards.shape[1], wide], shards.orientation),
        )
    if place.memory_layout is not TensorMemoryLayout.HEIGHT_SHARDED or place.shard_spec is None:
        raise MemoryConfigError(
            f"{_LAST}: memory_config is {place}; the output is sharded by height.",
            vendor="Output tensor must be height sharded",
        )
    if place.shard_spec.shape[1] % wide:
        raise MemoryConfigError(
            f"{_LAST}: shards of the output have {place.shard_spec.shape[1]} columns; they must be a multiple of "
            f"{wide}, the channels rounded up.",
            vendor=f"Output shard width must be rounded up to next multiple of {wide} to satisfy alignment constraints "
            f"(width was {place.shard_spec.shape[1]})",
        )
    result = _output_dtype(_LAST, spec.dtype, dtype)
    rows = images * pixels
    flat = input._view(TensorSpec.of((images, channels, pixels), spec.dtype, Layout.ROW_MAJOR, spec.memory_config))
    output = allocate(TensorSpec.of((1, 1, rows, wide), result, Layout.ROW_MAJOR, place), device)
    plain = TensorSpec.of((images, pixels, wide), result, Layout.ROW_MAJOR, DRAM_MEMORY_CONFIG)
    moved = move_into(
        flat,
        allocate(plain, device),
        strides=[channels * pixels, 1, pixels],
        window=[(0, images), (0, pixels), (0, channels)],
        through_dst=result is DataType.BFLOAT16,
    )
    return move_into(moved, output)


_entry = partial(
    Op,
    source="tt-metal `ttnn/cpp/ttnn/operations/experimental/cnn`",
    accuracy=bit_exact(),
    engine=("move_elements",),
    numerics="movement",
    examples=(),
    raises=(
        ("ShapeError", "the shape is another, or there are more than 32 channels."),
        ("LayoutError", "the layout is another."),
        ("DTypeError", "the output cannot have the data type in rows."),
        ("MemoryConfigError", "input or output are placed in another way."),
        ("UnsupportedError", "`dtype` is another than that of the input."),
    ),
)

convert_to_chw = register(
    _entry(
        name="experimental.convert_to_chw",
        signatures=(Signature((Param("input", TENSOR, doc="[1, 1, HW, C] in tiles, sharded by height."),), (_DTYPE,)),),
        run=_to_first,
        doc="Return a channels-first image, row-major and width sharded on equal cores.\n"
        "Shape: [1, 1, HW, C] -> [1, 1, C, HW].",
        dtypes=(DataType.BFLOAT16, DataType.FLOAT32, DataType.BFLOAT8_B),
        layouts=(Layout.TILE,),
        golden=golden.convert_to_chw,
    )
)
convert_to_hwc = register(
    _entry(
        name="experimental.convert_to_hwc",
        signatures=(
            Signature(
                (Param("input", TENSOR, doc="[1, B, C, HW] in rows, sharded by width."),),
                (MEMORY_CONFIG_OPTION, _DTYPE),
            ),
        ),
        run=_to_last,
        doc="Return images with their channels last, row-major and sharded by height.\n"
        "Shape: [1, B, C, HW] -> [1, 1, B * HW, C2], where C2 is C rounded up to 16 bytes. Padding is 0 here; "
        "the device leaves it unspecified.",
        dtypes=(DataType.BFLOAT16, DataType.FLOAT32),
        layouts=(Layout.ROW_MAJOR,),
        golden=golden.convert_to_hwc,
    )
)
