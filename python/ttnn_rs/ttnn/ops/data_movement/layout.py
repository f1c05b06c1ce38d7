"""Between row-major and tiled layout.

bfloat16, and what block floats become, passes through the compute engine, which turns denormals and -0 into +0 and NaN
into infinity; float32 and integers keep their bits. Source: tt-metal `ttnn/cpp/ttnn/operations/data_movement`.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from typing import Any, Final

from ttnn._engine import refuse_program
from ttnn.base.core_range import CoreRangeSet
from ttnn.base.enums import BLOCK_FLOATS, TILE_SIZE, DataType, Layout, TensorMemoryLayout
from ttnn.base.exceptions import DTypeError, LayoutError, MemoryConfigError, ShapeError, UnsupportedError
from ttnn.base.memory_config import MemoryConfig, ShardSpec
from ttnn.base.shape import Shape
from ttnn.base.tensor_spec import TensorSpec
from ttnn.base.tile import DEFAULT_TILE, Tile
from ttnn.golden import data_movement as golden
from ttnn.operation.signature import (
    BOOLEAN,
    DATA_TYPE,
    FILL_VALUE,
    FLOAT,
    LAYOUT,
    SHAPE_LIKE,
    TENSOR,
    TILE,
    Param,
    Signature,
)
from ttnn.ops._programs.common import (
    INPUT_TENSOR,
    MEMORY_CONFIG_OPTION,
    SUB_CORE_GRIDS_OPTION,
    as_float,
    on_device,
    sub_core_grids_of_interleaved,
)
from ttnn.ops._programs.element_map import strides_of
from ttnn.ops._programs.movement import move, register_movement
from ttnn.ops._programs.typecast import cast
from ttnn.tensor.tensor import Tensor

_log: Final = logging.getLogger("ttnn")
_TILIZED: Final = (
    DataType.BFLOAT16,
    DataType.FLOAT32,
    DataType.INT32,
    DataType.UINT32,
    DataType.UINT16,
    DataType.FP8_E4M3,
)


def _tilized(
    operator: str,
    source: Tensor,
    *,
    memory_config: MemoryConfig | None = None,
    dtype: DataType | None = None,
    tile: Tile = DEFAULT_TILE,
    pad_value: float = 0.0,
) -> Tensor:
    """Return a row-major tensor in tiles, padded up to them with `pad_value`."""
    spec = source.spec
    dtype = dtype or spec.dtype
    if dtype is not spec.dtype and not (spec.dtype is DataType.BFLOAT16 and dtype in BLOCK_FLOATS):
        # The packer of the tilize program converts; between 16 and 32 bits that is a cast of its own.
        tilized = _tilized(operator, source, memory_config=memory_config, tile=tile, pad_value=pad_value)
        return cast(operator, tilized, dtype)
    memory_config = _tiled_memory(operator, memory_config or spec.memory_config, spec, memory_config is None)
    memory_config = _padded_shards(spec, memory_config, spec.shape._dims, tile)
    target = TensorSpec.of(spec.shape, dtype, Layout.TILE, memory_config, tile)
    return move(source, target, pad_value=pad_value, through_dst=spec.dtype is DataType.BFLOAT16)


def _tiled_memory(operator: str, config: MemoryConfig, spec: TensorSpec, inherited: bool) -> MemoryConfig:
    shards = config.shard_spec
    if inherited and shards is not None and (shards.shape[0] % 32 or shards.shape[1] % 32):
        raise MemoryConfigError(
            f"{operator}: the input's shards of {shards.shape} are not made of tiles; pass a memory_config for "
            f"{spec.shape}.",
            vendor=f"Physical shard shape ({shards.shape[0]}, {shards.shape[1]}) must be tile {{32, 32}} sized!",
        )
    return config


def _padded_shards(spec: TensorSpec, config: MemoryConfig, shape: tuple[int, ...], tile: Tile) -> MemoryConfig:
    """Return a memory config with the input's cores.

    It is sharded but names no cores; shards grow to full tiles.
    """
    place, given = spec.memory_config, spec.memory_config.shard_spec
    unnamed = config.is_sharded() and config.shard_spec is None and config.nd_shard_spec is None
    if not unnamed or given is None or config.memory_layout is not place.memory_layout:
        return config
    *heights, width = (1, *TensorSpec.of(shape, spec.dtype, Layout.TILE, tile=tile).padded_shape)
    rows = {
        TensorMemoryLayout.WIDTH_SHARDED: math.prod(heights),
        TensorMemoryLayout.HEIGHT_SHARDED: -(-math.prod(heights) // given.num_cores()),
    }.get(place.memory_layout, given.shape[0])
    across = width if place.memory_layout is TensorMemoryLayout.HEIGHT_SHARDED else given.shape[1]
    size = [-(-side // unit) * unit for side, unit in zip((rows, across), tile.tile_shape, strict=True)]
    return MemoryConfig(config.memory_layout, config.buffer_type, ShardSpec(given.grid, size, given.orientation))


def tilize_padded(
    operator: str,
    source: Tensor,
    *,
    memory_config: MemoryConfig | None = None,
    dtype: DataType | None = None,
    pad_value: float = 0.0,
) -> Tensor:
    """Return a row-major device tensor in tiles, whatever its shape.

    Raises:
        DTypeError: no tilize program supports its data type.
    """
    if source.spec.dtype not in _TILIZED:
        raise DTypeError(
            f"{operator}: input_tensor is {source.spec.dtype.name}, which cannot be tilized.",
            vendor="Can only tilize bfloat16/float32 or int32/uint32/uint16 or fp8_e4m3 tensors",
        )
    return _tilized(operator, source, memory_config=memory_config, dtype=dtype, pad_value=pad_value)


def untilized(
    operator: str, source: Tensor, memory_config: MemoryConfig | None = None, shape: Sequence[int] | None = None
) -> Tensor:
    """Return a tiled device tensor in rows.

    Block floats become bfloat16. `shape` cuts it further.
    """
    if shape is None and source.spec.is_padded_further:
        shape = tuple(source.spec.shape)
    source = _with_all_padding(source)
    on_device(operator, source)
    spec = source.spec
    dtype = DataType.BFLOAT16 if spec.dtype in BLOCK_FLOATS else spec.dtype
    out_shape = tuple(spec.shape) if shape is None else tuple(shape)
    if shape is not None and memory_config is not None:
        memory_config = _cut_shards(spec, memory_config, out_shape)
    target = TensorSpec.of(out_shape, dtype, Layout.ROW_MAJOR, memory_config or spec.memory_config)
    strides = None
    if shape is not None:
        strides = strides_of(tuple(spec.shape))
    return move(source, target, strides=strides, through_dst=dtype is DataType.BFLOAT16)


def _cut_shards(spec: TensorSpec, config: MemoryConfig, shape: tuple[int, ...]) -> MemoryConfig:
    """Return shards for the rest of a sharded tensor.

    The program divides it again over the cores of the input.
    """
    given = spec.memory_config.shard_spec
    if given is None or not config.is_sharded() or config.nd_shard_spec is not None or not shape:
        return config
    if config.shard_spec is None and config.memory_layout is not spec.memory_config.memory_layout:
        return config
    rows = math.prod(shape[:-1])
    if spec.memory_config.memory_layout is TensorMemoryLayout.HEIGHT_SHARDED:
        height = spec.tile.tile_shape[0]
        each = -(-rows // given.num_cores())
        size = [-(-each // height) * height, shape[-1]]
    else:
        size = [rows, given.shape[1]]
    cut = ShardSpec(given.grid, size, given.orientation)
    return MemoryConfig(config.memory_layout, config.buffer_type, cut)


def _to_layout(
    tensor: Tensor,
    layout: Layout,
    dtype: DataType | None,
    memory_config: MemoryConfig | None,
    _sub_core_grids: CoreRangeSet | None,
    pad_value: float,
) -> Tensor:
    name = "ttnn.to_layout"
    spec = tensor.spec
    if layout not in (Layout.TILE, Layout.ROW_MAJOR):
        raise LayoutError(f"{name}: layout is {layout.name}; TILE and ROW_MAJOR exist.")
    if spec.layout is layout:
        for option, given, current in (
            ("dtype", dtype, spec.dtype),
            ("memory_config", memory_config, spec.memory_config),
        ):
            if given is not None and given != current:
                # Each call warns.
                refuse_program("it warns")
                _log.warning("%s: the tensor is already in %s, so %s is not changed.", name, layout.name, option)
        return tensor
    if tensor._device is None:
        if memory_config is not None:
            raise UnsupportedError(f"{name}: a host tensor has no memory_config; move it with ttnn.to_device.")
        target = TensorSpec.of(spec.shape, dtype or spec.dtype, layout, spec.memory_config, spec.tile)
        return tensor._repacked(target, name, pad_value)
    on_device(name, _with_all_padding(tensor), "tensor")
    if layout is Layout.TILE:
        if spec.dtype is DataType.UINT8:
            return tilize_padded(name, tensor)
        return _tilized(name, tensor, memory_config=memory_config, dtype=dtype, pad_value=pad_value)
    if dtype is not None and dtype is not spec.dtype:
        raise DTypeError(f"{name}: the tensor is {spec.dtype.name}; use ttnn.typecast for {dtype.name}.")
    return untilized(name, tensor, memory_config)


def _tilize(
    input_tensor: Tensor,
    memory_config: MemoryConfig | None,
    dtype: DataType | None,
    _use_multicore: bool,
    _use_low_perf: bool,
    tile: Tile,
    _sub_core_grids: CoreRangeSet | None,
) -> Tensor:
    name = "ttnn.tilize"
    on_device(name, input_tensor)
    spec = input_tensor.spec
    if spec.layout is not Layout.ROW_MAJOR:
        raise LayoutError(f"{name}: input_tensor is already in TILE_LAYOUT.", vendor="Can only tilize row major data")
    height, width = (1, 1, *spec.padded_shape)[-2:]
    tile_height, tile_width = tile.tile_shape
    if width % tile_width:
        raise ShapeError(
            f"{name}: {spec.shape} is not a multiple of the tile size; use ttnn.tilize_with_zero_padding.",
            vendor=f"Input tensor width ({width}) must be divisible by tile width ({tile_width})",
        )
    if height % tile_height:
        raise ShapeError(
            f"{name}: {spec.shape} has a height that is not a multiple of {tile_height}; use "
            "ttnn.tilize_with_zero_padding.",
            vendor=f"Input tensor height ({height}) must be divisible by tile height ({tile_height})",
        )
    if spec.dtype not in _TILIZED:
        return tilize_padded(name, input_tensor)
    return _tilized(name, input_tensor, memory_config=memory_config, dtype=dtype, tile=tile)


def _tilize_with_zero_padding(
    input_tensor: Tensor,
    memory_config: MemoryConfig | None,
    output_dtype: DataType | None,
    _use_multicore: bool,
    _sub_core_grids: CoreRangeSet | None,
) -> Tensor:
    name = "ttnn.tilize_with_zero_padding"
    on_device(name, input_tensor)
    if input_tensor.spec.layout is Layout.TILE:
        return input_tensor
    return tilize_padded(name, input_tensor, memory_config=memory_config, dtype=output_dtype)


def _tilize_with_val_padding(
    input_tensor: Tensor,
    output_tensor_shape: Shape | Sequence[int],
    pad_value: float,
    memory_config: MemoryConfig | None,
    dtype: DataType | None,
    _use_multicore: bool,
    _sub_core_grids: CoreRangeSet | None,
) -> Tensor:
    name = "ttnn.tilize_with_val_padding"
    on_device(name, input_tensor)
    spec = input_tensor.spec
    if spec.layout is Layout.TILE:
        raise LayoutError(f"{name}: input_tensor is already in TILE_LAYOUT.", vendor="Can only tilize row major data")
    wanted = TensorSpec.of(spec.shape, spec.dtype, Layout.TILE).padded_shape
    padding = as_float(name, pad_value, "pad_value")
    if tuple(output_tensor_shape) != tuple(wanted):
        return _tilized_further(name, input_tensor, tuple(output_tensor_shape), padding, memory_config, dtype)
    return tilize_padded(name, input_tensor, memory_config=memory_config, dtype=dtype, pad_value=padding)


def _tilized_further(
    name: str,
    source: Tensor,
    padded: tuple[int, ...],
    pad_value: float,
    memory_config: MemoryConfig | None,
    dtype: DataType | None,
) -> Tensor:
    """Return a row-major tensor tiled with more padding than needed.

    Raises:
        ShapeError: the padded shape is smaller somewhere, of another rank or not made of tiles.
    """
    spec = source.spec
    shape = tuple(spec.shape)
    fits = len(padded) == len(shape) >= 2 and all(size <= whole for size, whole in zip(shape, padded, strict=True))
    if not fits or padded[-1] % TILE_SIZE or padded[-2] % TILE_SIZE or 0 in shape:
        raise ShapeError(
            f"{name}: output_tensor_shape is {list(padded)}; it must be at least {list(shape)}, with a height and a "
            f"width that are multiples of {TILE_SIZE}."
        )
    place = _tiled_memory(name, memory_config or spec.memory_config, spec, memory_config is None)
    place = _padded_shards(spec, place, padded, DEFAULT_TILE)
    target = TensorSpec.of(padded, spec.dtype, Layout.TILE, place)
    window = [(0, size) for size in shape]
    through = spec.dtype is DataType.BFLOAT16
    tiles = move(source, target, strides=strides_of(shape), window=window, pad_value=pad_value, through_dst=through)
    if dtype is not None and dtype is not spec.dtype:
        tiles = cast(name, tiles, dtype)
    whole = tiles.spec
    return tiles._view(TensorSpec.of(shape, whole.dtype, whole.layout, whole.memory_config, whole.tile, padded))


def _with_all_padding(source: Tensor) -> Tensor:
    """Return tiles with extra padding viewed as elements.

    Other tensors are returned as they are.
    """
    spec = source.spec
    if not spec.is_padded_further:
        return source
    return source._view(TensorSpec.of(spec.padded_shape, spec.dtype, spec.layout, spec.memory_config, spec.tile))


def _untilize(
    input_tensor: Tensor, memory_config: MemoryConfig | None, _use_multicore: bool, _sub_core_grids: CoreRangeSet | None
) -> Tensor:
    name = "ttnn.untilize"
    on_device(name, _with_all_padding(input_tensor))
    _needs_tiles(name, input_tensor)
    return untilized(name, input_tensor, memory_config)


def _untilize_of_old(
    input_tensor: Tensor,
    memory_config: MemoryConfig | None,
    use_multicore: bool,
    _use_pack_untilize: bool,
    sub_core_grids: CoreRangeSet | None,
) -> Tensor:
    return _untilize(input_tensor, memory_config, use_multicore, sub_core_grids)


def _untilize_with_unpadding(
    input_tensor: Tensor,
    output_tensor_end: Shape | Sequence[int],
    memory_config: MemoryConfig | None,
    _use_multicore: bool,
    _sub_core_grids: CoreRangeSet | None,
) -> Tensor:
    name = "ttnn.untilize_with_unpadding"
    input_tensor = _with_all_padding(input_tensor)
    on_device(name, input_tensor)
    _needs_tiles(name, input_tensor)
    shape = input_tensor.spec.shape
    ends = tuple(output_tensor_end)
    if len(ends) != shape.rank or any(not 0 <= end < size for end, size in zip(ends, shape, strict=True)):
        raise ShapeError(
            f"{name}: output_tensor_end={list(ends)} must name the last index of every dimension of {shape}."
        )
    return untilized(name, input_tensor, memory_config, [end + 1 for end in ends])


def _untilize_with_unpadding_of_old(
    input_tensor: Tensor,
    output_tensor_end: Shape | Sequence[int],
    memory_config: MemoryConfig | None,
    use_multicore: bool,
    _use_pack_untilize: bool,
    sub_core_grids: CoreRangeSet | None,
) -> Tensor:
    return _untilize_with_unpadding(input_tensor, output_tensor_end, memory_config, use_multicore, sub_core_grids)


def _needs_tiles(name: str, tensor: Tensor) -> None:
    if tensor.spec.layout is not Layout.TILE:
        raise LayoutError(f"{name}: input_tensor is already row-major.", vendor="Can only untilize tile major data")


_MULTICORE: Final = Param("use_multicore", BOOLEAN, True, doc="Changes the time only, not the result.")
_PACK: Final = Param(
    "use_pack_untilize", BOOLEAN, doc="An argument of earlier versions; changes the time only, not the result."
)
_TILIZE_CORES: Final = sub_core_grids_of_interleaved("Sharded tilize does not support sub core grid specification")
_UNTILIZE_CORES: Final = sub_core_grids_of_interleaved("Sharded untilize does not support sub core grid specification")
_DTYPE: Final = Param("dtype", DATA_TYPE, None, doc="Data type of the output. Default: that of the input.")
_PADDED_WITH: Final = Param("pad_value", FILL_VALUE, doc="Value of the padding.")
_FLOATS_AND_INTS: Final = (
    DataType.BFLOAT16,
    DataType.FLOAT32,
    DataType.INT32,
    DataType.UINT32,
    DataType.UINT16,
)

to_layout = register_movement(
    "to_layout",
    (
        Signature(
            (
                Param("tensor", TENSOR, doc="[..., H, W], on the host or a device."),
                Param("layout", LAYOUT, doc="Layout of the output: TILE_LAYOUT or ROW_MAJOR_LAYOUT."),
                _DTYPE,
                MEMORY_CONFIG_OPTION,
                SUB_CORE_GRIDS_OPTION,
                Param("pad_value", FLOAT, 0.0, doc="Value of the tile padding."),
            ),
        ),
    ),
    _to_layout,
    "Return `tensor` in `layout`, values unchanged.\n"
    "Shape: [..., H, W] -> [..., H, W].\n"
    "It returns `tensor` itself if it already has the layout. bfloat8_b and bfloat4_b become bfloat16 in "
    "ROW_MAJOR_LAYOUT.",
    dtypes=(*_FLOATS_AND_INTS, DataType.BFLOAT8_B, DataType.BFLOAT4_B),
    golden=golden.identity,
    raises=(("DTypeError", "`dtype` differs from that of the input for ROW_MAJOR_LAYOUT."),),
    examples=((Layout.TILE,), (Layout.ROW_MAJOR,)),
)


def _fills_tiles(shape: tuple[int, ...]) -> bool:
    return len(shape) >= 2 and math.prod(shape) > 0 and shape[-1] % TILE_SIZE == shape[-2] % TILE_SIZE == 0


def _padded_shapes(shape: tuple[int, ...], _layout: Layout) -> tuple[tuple[Any, ...], ...]:
    padded = list(TensorSpec.of(shape, DataType.BFLOAT16, Layout.TILE).padded_shape)
    return ((padded, 3.0),) if len(padded) == len(shape) else ()


tilize = register_movement(
    "tilize",
    (
        Signature(
            (INPUT_TENSOR,),
            (
                MEMORY_CONFIG_OPTION,
                _DTYPE,
                _MULTICORE,
                Param("use_low_perf", BOOLEAN, False, doc="Changes the time only, not the result."),
                Param("tile", TILE, DEFAULT_TILE, doc="Tile of the output."),
                _TILIZE_CORES,
            ),
        ),
    ),
    _tilize,
    "Return `input_tensor` in TILE_LAYOUT, values unchanged.\n"
    "Shape: [..., H, W] -> [..., H, W], with H and W multiples of 32.",
    dtypes=_FLOATS_AND_INTS,
    layouts=(Layout.ROW_MAJOR,),
    golden=golden.identity,
    raises=(
        ("LayoutError", "the input is tiled."),
        ("ShapeError", "H or W is not a multiple of the tile's."),
        ("DTypeError", "the data type cannot be tilized."),
    ),
    examples=lambda shape, _: ((),) if _fills_tiles(shape) else (),
)

tilize_with_zero_padding = register_movement(
    "tilize_with_zero_padding",
    (
        Signature(
            (INPUT_TENSOR,),
            (
                MEMORY_CONFIG_OPTION,
                Param("output_dtype", DATA_TYPE, None, doc=_DTYPE.doc),
                _MULTICORE,
                _TILIZE_CORES,
            ),
        ),
    ),
    _tilize_with_zero_padding,
    "Return `input_tensor` in TILE_LAYOUT, padded with zeros to full tiles.\n"
    "Shape: [..., H, W] -> [..., H, W]; the padded shape is [..., ceil(H / 32) * 32, ceil(W / 32) * 32].",
    dtypes=_FLOATS_AND_INTS,
    layouts=(Layout.ROW_MAJOR, Layout.TILE),
    golden=golden.identity,
    raises=(("DTypeError", "the data type cannot be tilized."),),
)

tilize_with_val_padding = register_movement(
    "tilize_with_val_padding",
    (
        Signature(
            (
                INPUT_TENSOR,
                Param(
                    "output_tensor_shape",
                    SHAPE_LIKE,
                    doc="Padded shape of the output: H and W are multiples of 32.",
                ),
                _PADDED_WITH,
            ),
            (MEMORY_CONFIG_OPTION, _DTYPE, _MULTICORE, _TILIZE_CORES),
        ),
    ),
    _tilize_with_val_padding,
    "Return `input_tensor` in TILE_LAYOUT, padded with `pad_value` to `output_tensor_shape`.\n"
    "Shape: [..., H, W] -> [..., H, W].\n"
    "With more padding than full tiles need, the output supports only the transfer to the host and untilize.",
    dtypes=_FLOATS_AND_INTS,
    layouts=(Layout.ROW_MAJOR,),
    golden=golden.identity,
    raises=(
        ("LayoutError", "the input is tiled."),
        ("ShapeError", "`output_tensor_shape` is smaller than the input, of another rank or not made of tiles."),
        ("DTypeError", "the data type cannot be tilized."),
    ),
    examples=_padded_shapes,
)

untilize = register_movement(
    "untilize",
    (
        Signature((INPUT_TENSOR,), (MEMORY_CONFIG_OPTION, _MULTICORE, SUB_CORE_GRIDS_OPTION)),
        Signature(
            (INPUT_TENSOR,), (MEMORY_CONFIG_OPTION, _MULTICORE, _PACK, SUB_CORE_GRIDS_OPTION), run=_untilize_of_old
        ),
    ),
    _untilize,
    "Return `input_tensor` in ROW_MAJOR_LAYOUT, without its tile padding.\n"
    "Shape: [..., H, W] -> [..., H, W].\n"
    "bfloat8_b and bfloat4_b become bfloat16.",
    dtypes=(*_FLOATS_AND_INTS, DataType.BFLOAT8_B, DataType.BFLOAT4_B),
    layouts=(Layout.TILE,),
    golden=golden.identity,
    raises=(("LayoutError", "the input is row-major."),),
)

untilize_with_unpadding = register_movement(
    "untilize_with_unpadding",
    (
        Signature(
            (
                INPUT_TENSOR,
                Param("output_tensor_end", SHAPE_LIKE, doc="Last index of the output along each dimension, included."),
            ),
            (MEMORY_CONFIG_OPTION, _MULTICORE, _UNTILIZE_CORES),
        ),
        Signature(
            (INPUT_TENSOR, Param("output_tensor_end", SHAPE_LIKE)),
            (MEMORY_CONFIG_OPTION, _MULTICORE, _PACK, _UNTILIZE_CORES),
            run=_untilize_with_unpadding_of_old,
        ),
    ),
    _untilize_with_unpadding,
    "Return `input_tensor` in ROW_MAJOR_LAYOUT, cropped to `output_tensor_end`.\n"
    "Shape: [..., H, W] -> [..., end[-2] + 1, end[-1] + 1].",
    dtypes=(*_FLOATS_AND_INTS, DataType.BFLOAT8_B, DataType.BFLOAT4_B),
    layouts=(Layout.TILE,),
    raises=(("LayoutError", "the input is row-major."), ("ShapeError", "an index is out of range.")),
    examples=(),
)
