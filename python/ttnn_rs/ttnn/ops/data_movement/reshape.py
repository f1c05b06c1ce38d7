"""Reshapes: views where the pages allow it, moved elements otherwise.

Source: tt-metal `ttnn/cpp/ttnn/operations/data_movement`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, Final

from ttnn.base.core_range import CoreRangeSet
from ttnn.base.enums import Layout, TensorMemoryLayout, TileReshapeMapMode
from ttnn.base.exceptions import ShapeError, UnsupportedError
from ttnn.base.memory_config import MemoryConfig, ShardSpec
from ttnn.base.shape import Shape, ShapeLike
from ttnn.base.tensor_spec import TensorSpec
from ttnn.golden import data_movement as golden
from ttnn.operation.registry import find
from ttnn.operation.result_shards import trimmed_to_used
from ttnn.operation.signature import (
    BOOLEAN,
    FILL_VALUE,
    INT_OR_INTS,
    INT_SEQUENCE,
    INTEGER,
    RESHAPE_MODE,
    SHAPE_LIKE,
    TENSOR,
    Param,
    Signature,
)
from ttnn.ops._programs.common import (
    INPUT_TENSOR,
    MEMORY_CONFIG_OPTION,
    count_program,
    dimension,
    on_device,
    sub_core_grids_of_interleaved,
)
from ttnn.ops._programs.movement import move, register_movement
from ttnn.tensor import host_shapes
from ttnn.tensor.tensor import Tensor


def _resolved(name: str, volume: int, shape: Sequence[int]) -> tuple[int, ...]:
    """Return `shape` with its -1 replaced by what is left of `volume`."""
    dims = tuple(int(size) for size in shape)
    unknown = [axis for axis, size in enumerate(dims) if size == -1]
    if len(unknown) > 1 or any(size < -1 for size in dims):
        ours = f"{name}: {list(dims)} may have one -1 and no other negative size."
        raise host_shapes.several_unknown(ours, dims) if len(unknown) > 1 else ShapeError(ours)
    known = math.prod(size for size in dims if size != -1)
    if unknown and known and volume % known == 0:
        dims = tuple(volume // known if size == -1 else size for size in dims)
    if -1 in dims or math.prod(dims) != volume:
        raise ShapeError(
            f"{name}: a tensor of {volume} elements cannot have the shape {list(dims)}.",
            vendor="Invalid arguments to reshape",
        )
    return dims


def _is_view(spec: TensorSpec, shape: tuple[int, ...]) -> bool:
    """Return True if `shape` has the pages of `spec` in order."""
    old_height, old_width = (1, 1, *spec.shape)[-2:]
    new_height, new_width = (1, 1, *shape)[-2:]
    config = spec.memory_config
    if old_width != new_width or (config.is_sharded() and config.shard_spec is None):
        return tuple(spec.shape) == shape
    if spec.layout is not Layout.TILE:
        return True
    tile_height = spec.tile.tile_shape[0]
    return old_height == new_height or (old_height % tile_height == 0 and new_height % tile_height == 0)


def _same_tiles(spec: TensorSpec, shape: tuple[int, ...]) -> bool:
    """Return True for the same tiles but another number of elements.

    The shape differs in padding.
    """
    if spec.layout is not Layout.TILE or len(shape) < 2 or min(shape) < 1 or math.prod(shape) == spec.shape.volume():
        return False
    padded = TensorSpec.of(shape, spec.dtype, spec.layout, tile=spec.tile).padded_shape
    return padded[-1] == spec.padded_shape[-1] and padded.volume() == spec.padded_shape.volume()


def _shows_padding(tensor: Tensor, shape: tuple[int, ...]) -> bool:
    """Return True if a reshape may change the number of elements.

    It may with full tiles, or on host tensors.
    """
    spec = tensor.spec
    if not _same_tiles(spec, shape):
        return False
    height, width = spec.tile.tile_shape
    return tensor._device is None or (shape[-2] % height == 0 and shape[-1] % width == 0)


def _viewed(source: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Return a tensor of another shape over the same pages."""
    spec = source.spec
    if tuple(spec.shape) == shape:
        return source
    return source._view(TensorSpec.of(shape, spec.dtype, spec.layout, spec.memory_config, spec.tile))


def reshaped(
    name: str,
    source: Tensor,
    shape: Sequence[int],
    memory_config: MemoryConfig | None = None,
    pad_value: float | None = None,
) -> Tensor:
    """Return the elements of `source` in another shape.

    It is a view where pages allow it.
    """
    spec = source.spec
    if _shows_padding(source, tuple(shape)):
        return _viewed(source, tuple(shape))
    dims = _resolved(name, spec.shape.volume(), shape)
    if source._device is None:
        return host_shapes.reshaped(source, dims)
    on_device(name, source)
    in_place = memory_config is None or memory_config == spec.memory_config
    if in_place and _is_view(spec, dims):
        return _viewed(source, dims)
    plain = TensorSpec.of(dims, spec.dtype, spec.layout, tile=spec.tile)
    target = plain.with_memory_config(_shards_for(plain, memory_config or spec.memory_config))
    return move(source, target, pad_value=pad_value or 0.0)


def _shards_for(spec: TensorSpec, config: MemoryConfig) -> MemoryConfig:
    """Return a memory configuration whose shards divide another shape.

    They are on the same cores.
    """
    shards = config.shard_spec
    if shards is None:
        return config
    plain = spec.with_memory_config(MemoryConfig(TensorMemoryLayout.INTERLEAVED, config.buffer_type))
    if config.memory_layout is TensorMemoryLayout.BLOCK_SHARDED:
        place = plain.block_sharded(shards.grid.bounding_box(), shards.orientation).memory_config
        return trimmed_to_used(plain, place)
    if config.memory_layout is TensorMemoryLayout.HEIGHT_SHARDED:
        return plain.height_sharded(shards.grid, shards.orientation).memory_config
    return plain.width_sharded(shards.grid, shards.orientation).memory_config


def _reshape(
    input_tensor: Tensor,
    shape: ShapeLike,
    memory_config: MemoryConfig | None,
    pad_value: float | None,
    _reshape_tile_mode: TileReshapeMapMode,
    _sub_core_grids: CoreRangeSet | None,
    _skip_padding_fill: bool,
) -> Tensor:
    return _counted(input_tensor, reshaped("ttnn.reshape", input_tensor, tuple(shape), memory_config, pad_value))


def _counted(source: Tensor, result: Tensor) -> Tensor:
    """Return the result of a reshape; moved elements were a program."""
    if result._device is not None and result.buffer is not source.buffer:
        count_program(result._device, "reshape", source.spec, result.spec)
    return result


def _reshape_padded(
    input_tensor: Tensor,
    logical_shape: ShapeLike,
    padded_shape: ShapeLike,
    memory_config: MemoryConfig | None,
    pad_value: float | None,
    _reshape_tile_mode: TileReshapeMapMode,
    _sub_core_grids: CoreRangeSet | None,
    _skip_padding_fill: bool,
) -> Tensor:
    name = "ttnn.reshape"
    spec = input_tensor.spec
    dims = tuple(int(size) for size in logical_shape)
    tiles = _same_tiles(spec, dims)
    if not tiles:
        dims = _resolved(name, spec.shape.volume(), dims)
    expected = TensorSpec.of(dims, spec.dtype, spec.layout, tile=spec.tile).padded_shape
    if expected != Shape(padded_shape):
        raise UnsupportedError(
            f"{name}: padded_shape is {padded_shape}; only the layout's own is supported, {expected}."
        )
    if tiles:
        return _viewed(input_tensor, dims)
    return _counted(input_tensor, reshaped(name, input_tensor, dims, memory_config, pad_value))


def _view(input_tensor: Tensor, shape: ShapeLike) -> Tensor:
    name = "ttnn.view"
    spec = input_tensor.spec
    if _shows_padding(input_tensor, tuple(shape)):
        return _viewed(input_tensor, tuple(shape))
    dims = _resolved(name, spec.shape.volume(), tuple(shape))
    if input_tensor._device is None:
        return host_shapes.reshaped(input_tensor, dims)
    on_device(name, input_tensor)
    if not _is_view(spec, dims):
        place = _rows_of_shards(spec, dims)
        if place is not None:
            return move(input_tensor, TensorSpec.of(dims, spec.dtype, spec.layout, place))
        raise ShapeError(
            f"{name}: {spec.shape} cannot be viewed as {list(dims)} without moving elements in {spec.layout.name}; "
            "the last dimension must be kept (and in tiles the one before it, or both be multiples of 32). "
            "Use ttnn.reshape."
        )
    return _viewed(input_tensor, dims)


def _rows_of_shards(spec: TensorSpec, dims: tuple[int, ...]) -> MemoryConfig | None:
    """Return shards of the same elements in rows of another width.

    None if they do not divide into them.
    """
    config = spec.memory_config
    shards = config.shard_spec
    if shards is None or config.memory_layout is not TensorMemoryLayout.HEIGHT_SHARDED or not dims:
        return None
    held = shards.shape[0] * shards.shape[1]
    if spec.layout is not Layout.ROW_MAJOR or not dims[-1] or held % dims[-1]:
        return None
    cut = ShardSpec(shards.grid, [held // dims[-1], dims[-1]], shards.orientation)
    return MemoryConfig(config.memory_layout, config.buffer_type, cut)


def _squeeze(input_tensor: Tensor, dim: int | Sequence[int] | None) -> Tensor:
    name = "ttnn.squeeze"
    dims = tuple(input_tensor.spec.shape)
    if dim is None:
        axes = set(range(len(dims)))
    else:
        named = [dim] if isinstance(dim, int) else list(dim)
        if not dims and named in ([], [0], [-1]):
            return input_tensor
        counted = [dimension(name, axis, len(dims)) for axis in named]
        axes = set(counted)
        if len(axes) < len(counted):
            twice = next(axis for axis in counted if counted.count(axis) > 1)
            raise ShapeError(
                f"{name}: dim={named} names dimension {twice} twice.",
                vendor=f"dim {twice} appears multiple times in the list of dims",
            )
    kept = [size for axis, size in enumerate(dims) if axis not in axes or size != 1]
    return reshaped(name, input_tensor, kept)


def _unsqueeze(input_tensor: Tensor, dim: int) -> Tensor:
    name = "ttnn.unsqueeze"
    dims = list(input_tensor.spec.shape)
    axis = dimension(name, dim, len(dims) + 1)
    return reshaped(name, input_tensor, [*dims[:axis], 1, *dims[axis:]])


def _unsqueeze_to_4d(tensor: Tensor) -> Tensor:
    name = "ttnn.unsqueeze_to_4D"
    dims = tuple(tensor.spec.shape)
    if len(dims) > 4:
        raise ShapeError(f"{name}: the tensor has rank {len(dims)}, more than 4.")
    return reshaped(name, tensor, (1,) * (4 - len(dims)) + dims)


_RESHAPE_OPTIONS: Final = (
    MEMORY_CONFIG_OPTION,
    Param("pad_value", FILL_VALUE, None, doc="Value of the tile padding, if elements are moved. Default: 0."),
    Param("reshape_tile_mode", RESHAPE_MODE, TileReshapeMapMode.CACHE, doc="Changes the time only, not the result."),
    sub_core_grids_of_interleaved("Sharded reshape does not support sub core grid specification"),
    Param("skip_padding_fill", BOOLEAN, False, doc="Ignored: it allows any values in the tile padding."),
)

_NEW_SHAPE: Final = Param("shape", INT_SEQUENCE, doc="Shape of the output. One size may be -1: it is inferred.")


def _examples(shape: tuple[int, ...], _layout: Layout) -> Iterator[tuple[Any, ...]]:
    volume = math.prod(shape)
    yield from (((volume,),), ((1, 1, volume),))
    if volume:
        yield ((-1, shape[0]) if shape else (1, 1, 1),)


reshape = register_movement(
    "reshape",
    (
        Signature((INPUT_TENSOR, Param("shape", SHAPE_LIKE, doc=_NEW_SHAPE.doc)), _RESHAPE_OPTIONS),
        Signature(
            (
                INPUT_TENSOR,
                Param("logical_shape", SHAPE_LIKE, doc=_NEW_SHAPE.doc),
                Param("padded_shape", SHAPE_LIKE, doc="Padded shape. It must be that of the layout."),
            ),
            _RESHAPE_OPTIONS,
            run=_reshape_padded,
        ),
        Signature((INPUT_TENSOR, _NEW_SHAPE), _RESHAPE_OPTIONS),
    ),
    _reshape,
    "Return `input_tensor` with a new shape and elements in equal order.\n"
    "Shape: [..., H, W] -> [*shape], with as many elements.\n"
    "The output is a view of the same pages where page sizes allow it.",
    golden=golden.reshape,
    raises=(("ShapeError", "the number of elements differs."),),
    view=True,
    examples=_examples,
)

view = register_movement(
    "view",
    (Signature((INPUT_TENSOR, _NEW_SHAPE)), Signature((INPUT_TENSOR, Param("shape", SHAPE_LIKE, doc=_NEW_SHAPE.doc)))),
    _view,
    "Return a view of `input_tensor` with a new shape, sharing pages.\n"
    "Shape: [..., H, W] -> [*shape], with as many elements.",
    golden=golden.reshape,
    raises=(("ShapeError", "the new shape requires elements to be moved."),),
    view=True,
    examples=lambda shape, _: (((1, *shape) if len(shape) >= 2 else shape,),),
)

squeeze = register_movement(
    "squeeze",
    (
        Signature(
            (
                INPUT_TENSOR,
                Param("dim", INT_OR_INTS, None, doc="Dimensions to remove. Default: all of size 1."),
            )
        ),
    ),
    _squeeze,
    "Return `input_tensor` without its dimensions of size 1.\n"
    "Shape: [..., 1, W] -> [..., W].\n"
    "With `dim`, only the dimensions named there are removed, if their size is 1.",
    golden=golden.squeeze,
    raises=(("ShapeError", "a dimension does not exist, or is named twice."),),
    view=True,
    examples=lambda shape, _: ((), (0,)) if shape else ((),),
)

unsqueeze = register_movement(
    "unsqueeze",
    (Signature((INPUT_TENSOR, Param("dim", INTEGER, doc="Index of the new dimension."))),),
    _unsqueeze,
    "Return `input_tensor` with a new dimension of size 1 at index `dim`.\nShape: [H, W] -> [1, H, W] for `dim` 0.",
    golden=golden.unsqueeze,
    view=True,
    examples=((0,), (-1,)),
)

unsqueeze_to_4D = register_movement(  # noqa: N816 - the official name
    "unsqueeze_to_4D",
    (Signature((Param("tensor", TENSOR, doc="Tensor of rank at most 4."),)),),
    _unsqueeze_to_4d,
    "Return `tensor` as rank 4, with leading dimensions of size 1.\nShape: [H, W] -> [1, 1, H, W].",
    golden=golden.unsqueeze_to_4d,
    raises=(("ShapeError", "the rank is more than 4."),),
    view=True,
    examples=lambda shape, _: ((),) if len(shape) <= 4 else (),
)


def _reshape_on_device(
    input_tensor: Tensor, w: int, z: int, y: int, x: int, memory_config: MemoryConfig | None
) -> Tensor:
    result: Tensor = find("ttnn.reshape")(input_tensor, (w, z, y, x), memory_config=memory_config)
    return result


def _experimental_view(input_tensor: Tensor, shape: Sequence[int]) -> Tensor:
    result: Tensor = find("ttnn.view")(input_tensor, shape)
    return result


def _view_of_rank_4(input_tensor: Tensor, n: int, c: int, h: int, w: int) -> Tensor:
    return _experimental_view(input_tensor, (n, c, h, w))


def _rank_4(shape: tuple[int, ...], _layout: Layout) -> tuple[tuple[Any, ...], ...]:
    return (((1,) * (4 - len(shape)) + shape),) if len(shape) <= 4 else ()


_SIZES_OF_RANK_4: Final = (("N", 1), ("C", 1), ("H", 64), ("W", 128))

reshape_on_device = register_movement(
    "reshape_on_device",
    (
        Signature(
            (
                INPUT_TENSOR,
                *(
                    Param(name, INTEGER, doc="Size of a dimension.", example=size)
                    for name, size in (("W", 1), ("Z", 1), ("Y", 64), ("X", 128))
                ),
            ),
            (MEMORY_CONFIG_OPTION,),
        ),
    ),
    _reshape_on_device,
    "Return `input_tensor` reshaped to a shape of rank 4.\nShape: [..., H, W] -> [W, Z, Y, X].",
    golden=golden.reshape_to_sizes,
    raises=(("ShapeError", "the number of elements differs."),),
    view=True,
    composition=True,
    examples=_rank_4,
)

experimental_view = register_movement(
    "experimental.view",
    (
        Signature((INPUT_TENSOR, Param("shape", SHAPE_LIKE, doc=_NEW_SHAPE.doc, example=(1, 1, 64, 128)))),
        Signature(
            (
                INPUT_TENSOR,
                *(Param(name, INTEGER, doc="Size of a dimension.", example=size) for name, size in _SIZES_OF_RANK_4),
            ),
            run=_view_of_rank_4,
        ),
    ),
    _experimental_view,
    "Return a view of `input_tensor` with a new shape, sharing pages.\n"
    "Shape: [..., H, W] -> [*shape], with as many elements.",
    golden=golden.view,
    raises=(("ShapeError", "the new shape requires elements to be moved."),),
    view=True,
    composition=True,
    examples=lambda shape, _: (((1, *shape) if len(shape) >= 2 else shape,),),
)
