"""Other orders of a tensor's dimensions: which program the chip runs for an order, and what that does to the bits.

Whole tiles are moved where only leading dimensions change. Where rows and columns are exchanged, the unpacker
transposes tiles and they are packed again. Everything else moves rows, for which block floats become bfloat16 and are
cast back.
Source: operator programs, section 11.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ttnn import _engine
from ttnn.base.enums import BLOCK_FLOATS, FORMAT_CODE, DataType, Layout
from ttnn.base.memory_config import MemoryConfig
from ttnn.base.tensor_spec import TensorSpec
from ttnn.base.tile import DEFAULT_TILE
from ttnn.ops._programs.common import allocate, is_empty, on_device
from ttnn.ops._programs.movement import copy_into, move, move_into, strides_of
from ttnn.tensor.tensor import Tensor

_WORD_BYTES = 4


def permuted(
    name: str, source: Tensor, order: Sequence[int], memory_config: MemoryConfig | None, pad_value: float
) -> Tensor:
    """Return a device tensor with its dimensions in another order; the tensor itself if nothing changes."""
    on_device(name, source)
    spec = source._spec
    order = list(order)
    rank = len(order)
    config = memory_config or spec.memory_config
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
    # Rows and columns are exchanged by the unpacker; all other orders are reads and writes of whole rows or faces.
    through_dst = spec.dtype is DataType.BFLOAT16 and order[-1] != rank - 1
    return move(source, target, strides=[strides[axis] for axis in order], pad_value=pad_value, through_dst=through_dst)


def moved_to(source: Tensor, memory_config: MemoryConfig) -> Tensor:
    """Return a copy of a device tensor in another place."""
    assert source._device is not None
    output = allocate(source._spec.with_memory_config(memory_config), source._device)
    copy_into(source, output)
    return output


def _with_tiles_moved(source: Tensor, order: Sequence[int], memory_config: MemoryConfig) -> Tensor:
    """Return the tensor with its matrices in another order: pages are copied as they are, padding included."""
    spec, device = source._spec, source._device
    assert device is not None
    dims = [spec.shape[axis] for axis in order]
    output = allocate(TensorSpec.of(dims, spec.dtype, Layout.TILE, memory_config), device)
    assert source._buffer is not None
    assert output._buffer is not None
    # The engine sees rows of 32-bit words, one per tile.
    words = spec.page_bytes // _WORD_BYTES
    leading = list(spec.shape)[:-2]
    tiles = spec.num_pages // math.prod(leading)
    strides = strides_of([*leading, tiles, words])
    code = FORMAT_CODE[DataType.UINT32]
    _engine.move_elements(
        source._buffer,
        output._buffer,
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
    """Return the tensor with every matrix transposed: its tiles pass through Dst and are packed into new groups.

    Padding is transposed like the rest, because it takes part in the shared exponents.
    """
    spec, device = source._spec, source._device
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
