"""Permutations of dimensions: the chip's program per order, and its bits.

Tiles are copied where only leading dimensions change. Where rows and columns are transposed, the unpacker
transposes tiles and they are packed again. Everything else moves rows, for which block floats become bfloat16 and are
cast back.
Source: tt-metal `ttnn/cpp/ttnn/operations/data_movement`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, Final

from ttnn.base.enums import BLOCK_FLOATS, FORMAT_CODE, DataType, Layout, TensorMemoryLayout
from ttnn.base.exceptions import LayoutError, ShapeError
from ttnn.base.memory_config import MemoryConfig, ShardSpec
from ttnn.base.tensor_spec import TensorSpec
from ttnn.base.tile import DEFAULT_TILE
from ttnn.golden import data_movement as golden
from ttnn.operation.signature import (
    FLOAT,
    INT_SEQUENCE,
    INTEGER,
    TENSOR,
    Param,
    Signature,
)
from ttnn.ops._programs.common import (
    INPUT_TENSOR,
    MEMORY_CONFIG_OPTION,
    allocate,
    dimension,
    is_empty,
    on_device,
)
from ttnn.ops._programs.element_map import copy_into, move_into, strides_of
from ttnn.ops._programs.moved_shards import of_moved
from ttnn.ops._programs.movement import move, register_movement
from ttnn.runtime import engine_steps
from ttnn.tensor.tensor import Tensor

_WORD_BYTES = 4


def permuted(
    name: str, source: Tensor, order: Sequence[int], memory_config: MemoryConfig | None, pad_value: float
) -> Tensor:
    """Return a device tensor with permuted dimensions; itself if nothing changes."""
    device = on_device(name, source)
    spec = source.spec
    order = list(order)
    rank = len(order)
    config = memory_config or spec.memory_config
    if memory_config is None and config.shard_spec is not None and order != list(range(rank)):
        config = MemoryConfig(config.memory_layout, config.buffer_type)
    if order != list(range(rank)):
        config = of_moved(spec, [spec.shape[axis] for axis in order], config, device)
    if order == list(range(rank)):
        return source if config == spec.memory_config else moved_to(source, config)
    tiles = spec.layout is Layout.TILE and spec.tile == DEFAULT_TILE and not is_empty(spec)
    if tiles and order[-2:] == [rank - 2, rank - 1]:
        return _with_tiles_moved(source, order, config)
    if tiles and order[-2:] == [rank - 1, rank - 2] and spec.dtype in BLOCK_FLOATS:
        return _with_block_floats_transposed(source, order, config)
    dims = tuple(spec.shape)
    strides = strides_of(dims)
    target = TensorSpec.of([dims[axis] for axis in order], spec.dtype, spec.layout, config, spec.tile)
    # Rows and columns are transposed by the unpacker; all other permutations copy rows or faces.
    through_dst = spec.dtype is DataType.BFLOAT16 and order[-1] != rank - 1
    if spec.layout is Layout.ROW_MAJOR and not is_empty(spec):
        joined = _joined(dims, tuple(order))
        short = min(dims[-1], dims[order[-1]]) == 1
        if short and len(joined[0]) < rank and config.interleaved and spec.memory_config.interleaved:
            return _in_longer_rows(source, target, joined, through_dst)
    return move(source, target, strides=[strides[axis] for axis in order], pad_value=pad_value, through_dst=through_dst)


def _joined(dims: tuple[int, ...], order: tuple[int, ...]) -> tuple[list[int], list[int]]:
    """Return an equal permutation with adjacent dimensions merged.

    Dimensions of size 1 are left out.
    """
    kept = [axis for axis in order if dims[axis] != 1]
    places = sorted(kept)
    groups: list[list[int]] = []
    for axis in kept:
        if groups and places.index(axis) == places.index(groups[-1][-1]) + 1:
            groups[-1].append(axis)
        else:
            groups.append([axis])
    ascending = sorted(groups)
    return [math.prod(dims[axis] for axis in group) for group in ascending], [ascending.index(g) for g in groups]


def _in_longer_rows(
    source: Tensor, target: TensorSpec, joined: tuple[list[int], list[int]], through_dst: bool
) -> Tensor:
    """Return a row-major tensor permuted with fewer dimensions.

    Rows would have a single element otherwise.
    """
    dims, order = joined
    if len(dims) < 2:
        return move(source, target, through_dst=through_dst)
    spec = source.spec
    rows = move(source, TensorSpec.of(dims, spec.dtype, spec.layout, spec.memory_config))
    strides = strides_of(tuple(dims))
    shape = [dims[axis] for axis in order]
    moved = move(
        rows,
        TensorSpec.of(shape, spec.dtype, spec.layout, target.memory_config),
        strides=[strides[axis] for axis in order],
        through_dst=through_dst,
    )
    return move(moved, target)


def moved_to(source: Tensor, memory_config: MemoryConfig) -> Tensor:
    """Return a copy of a device tensor in another place."""
    assert source._device is not None
    output = allocate(source.spec.with_memory_config(memory_config), source._device)
    copy_into(source, output)
    return output


def _with_tiles_moved(source: Tensor, order: Sequence[int], memory_config: MemoryConfig) -> Tensor:
    """Return the tensor with its matrices permuted.

    Pages are copied as they are, padding included.
    """
    spec, device = source.spec, source._device
    assert device is not None
    dims = [spec.shape[axis] for axis in order]
    output = allocate(TensorSpec.of(dims, spec.dtype, Layout.TILE, memory_config), device)
    assert source.buffer is not None
    assert output.buffer is not None
    # The engine sees rows of 32-bit words, one per tile.
    words = spec.page_bytes // _WORD_BYTES
    leading = list(spec.shape)[:-2]
    tiles = spec.num_pages // math.prod(leading)
    strides = strides_of([*leading, tiles, words])
    code = FORMAT_CODE[DataType.UINT32]
    engine_steps.move_elements(
        source.buffer,
        output.buffer,
        formats=(code, code),
        in_shape=[*leading, tiles, words],
        out_shape=[*dims[:-2], tiles, words],
        strides=[strides[axis] for axis in order],
        offset=0,
        in_tile=None,
        out_tile=None,
    )
    return output


def _with_block_floats_transposed(source: Tensor, order: Sequence[int], memory_config: MemoryConfig) -> Tensor:
    """Return the tensor with every matrix transposed.

    Its tiles pass through Dst and are packed into new groups.

    Padding is transposed like the rest, because it counts for the shared exponents.
    """
    spec, device = source.spec, source._device
    assert device is not None
    height, width = tuple(spec.padded_shape)[-2:]
    whole = [*list(spec.shape)[:-2], height, width]
    strides = strides_of(whole)
    dims = [whole[axis] for axis in order]
    view = source._view(TensorSpec.of(whole, spec.dtype, Layout.TILE, spec.memory_config))
    plain = allocate(TensorSpec.of(dims, DataType.BFLOAT16, Layout.TILE), device)
    packed = allocate(TensorSpec.of(dims, spec.dtype, Layout.TILE, memory_config), device)
    move_into(view, plain, strides=[strides[axis] for axis in order], through_dst=True, result=packed)
    shape = [spec.shape[axis] for axis in order]
    return packed._view(TensorSpec.of(shape, spec.dtype, Layout.TILE, memory_config))


def _permute(input_tensor: Tensor, dims: Sequence[int], memory_config: MemoryConfig | None, pad_value: float) -> Tensor:
    name = "ttnn.permute"
    rank = input_tensor.spec.shape.rank
    if len(dims) != rank:
        raise ShapeError(
            f"{name}: dims={list(dims)} has {len(dims)} entries, input_tensor has rank {rank}.",
            vendor="The number of dimensions in the tensor input does not match the length of the desired ordering",
        )
    order = [dimension(name, axis, rank, "dims") for axis in dims]
    if len(set(order)) != rank:
        raise ShapeError(f"{name}: dims={list(dims)} names a dimension twice.")
    return permuted(name, input_tensor, order, memory_config, pad_value)


def _permute_positional(input_tensor: Tensor, dims: Sequence[int], pad_value: float) -> Tensor:
    return _permute(input_tensor, dims, None, pad_value)


def _transpose(
    input_tensor: Tensor, dim1: int, dim2: int, memory_config: MemoryConfig | None, pad_value: float
) -> Tensor:
    name = "ttnn.transpose"
    rank = input_tensor.spec.shape.rank
    first, second = dimension(name, dim1, rank, "dim1"), dimension(name, dim2, rank, "dim2")
    order = list(range(rank))
    order[first], order[second] = second, first
    place = _place_of_transposed(input_tensor.spec, {first, second}, memory_config)
    return permuted(name, input_tensor, order, place, pad_value)


def _place_of_transposed(spec: TensorSpec, dims: set[int], given: MemoryConfig | None) -> MemoryConfig:
    """Return a transposed tensor's memory config.

    Without shards in `given`, the input's shards are transposed.
    """
    if given is not None and not (given.is_sharded() and given.shard_spec is None and given.nd_shard_spec is None):
        return given
    config, shards, rank = spec.memory_config, spec.memory_config.shard_spec, spec.shape.rank
    if given is not None and (shards is None or given.memory_layout is not config.memory_layout):
        return given
    if shards is None or 0 in tuple(spec.shape):
        return config
    layout, (high, wide) = config.memory_layout, shards.shape
    rows, columns = spec.padded_shape[-2], spec.padded_shape[-1]
    if dims == {rank - 2, rank - 1}:
        if math.prod(tuple(spec.shape)[:-2]) == 1 and wide == columns:
            layout, high, wide = TensorMemoryLayout.WIDTH_SHARDED, wide, high
        else:
            high, wide = high * columns // rows, wide * rows // columns
    elif dims == {rank - 3, rank - 2} and spec.layout is Layout.TILE:
        channels, height = spec.shape[-3], spec.tile.tile_shape[0]
        padded = -(-channels // height) * height
        high = high * spec.shape[-2] * padded // (rows * channels)
    return MemoryConfig(layout, config.buffer_type, ShardSpec(shards.grid, [high, wide], shards.orientation))


def _transpose_positional(input_tensor: Tensor, dim1: int, dim2: int, pad_value: float) -> Tensor:
    return _transpose(input_tensor, dim1, dim2, None, pad_value)


_PAD_VALUE: Final = Param("pad_value", FLOAT, 0.0, doc="Value of the output's tile padding.")


def _orders(shape: tuple[int, ...], _layout: Layout) -> Iterator[tuple[Any, ...]]:
    rank = len(shape)
    yield (tuple(reversed(range(rank))),)
    if rank >= 3:
        yield ((1, 0, *range(2, rank)),)
        yield ((*range(1, rank), 0),)


permute = register_movement(
    "permute",
    (
        Signature(
            (INPUT_TENSOR, Param("dims", INT_SEQUENCE, doc="Permutation of the dimensions.")),
            (MEMORY_CONFIG_OPTION, _PAD_VALUE),
        ),
        Signature(
            (INPUT_TENSOR, Param("dims", INT_SEQUENCE, doc="Permutation of the dimensions."), _PAD_VALUE),
            run=_permute_positional,
        ),
    ),
    _permute,
    "Return `input_tensor` with its dimensions permuted to the order `dims`.\n"
    "Shape: [d0, d1, ...] -> [d[dims[0]], d[dims[1]], ...].",
    golden=golden.permute,
    raises=(("ShapeError", "`dims` is not a permutation of all dimensions."),),
    examples=_orders,
)


_DIMS: Final = (
    INPUT_TENSOR,
    Param("dim1", INTEGER, doc="First dimension."),
    Param("dim2", INTEGER, doc="Second dimension."),
)


transpose = register_movement(
    "transpose",
    (
        Signature(_DIMS, (MEMORY_CONFIG_OPTION, _PAD_VALUE)),
        Signature((*_DIMS, _PAD_VALUE), run=_transpose_positional),
    ),
    _transpose,
    "Return `input_tensor` with the dimensions `dim1` and `dim2` transposed.\n"
    "Shape: [..., H, W] -> [..., W, H] for -2 and -1.",
    golden=golden.transpose,
    raises=(("ShapeError", "a dimension is out of range."),),
    examples=lambda shape, _: ((-2, -1), (0, 1)) if len(shape) >= 2 else (),
)


def _transpose_rm(input: Tensor) -> Tensor:
    name = "ttnn.experimental.transpose_rm"
    on_device(name, input, "input")
    spec = input.spec
    if spec.layout is not Layout.ROW_MAJOR:
        raise LayoutError(f"{name}: input is in tiles; use ttnn.transpose(input, -2, -1).")
    if spec.shape.rank < 2:
        raise ShapeError(f"{name}: input has shape {spec.shape}; it must be of rank 2 or more.")
    rank = spec.shape.rank
    return permuted(name, input, [*range(rank - 2), rank - 1, rank - 2], None, 0.0)


transpose_rm = register_movement(
    "experimental.transpose_rm",
    (Signature((Param("input", TENSOR, doc="[..., H, W] in rows on a device."),)),),
    _transpose_rm,
    "Return a row-major tensor with its last two dimensions transposed.\nShape: [..., H, W] -> [..., W, H].",
    dtypes=(DataType.BFLOAT16, DataType.FLOAT32, DataType.INT32, DataType.UINT32, DataType.UINT16, DataType.UINT8),
    layouts=(Layout.ROW_MAJOR,),
    golden=golden.transpose_rm,
    raises=(("LayoutError", "the input is in tiles."), ("ShapeError", "the rank is below 2.")),
    examples=lambda shape, layout: ((),) if len(shape) >= 2 else (),
)
