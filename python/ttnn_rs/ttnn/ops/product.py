"""`prod`: the product of all elements, or along one dimension.

The product of everything runs tile by tile through Dst: the running tile goes back to the matrix unit, which cuts it
to the significand of its operands (bfloat16, or TF32 for float32), and is multiplied by the next tile. The official
package multiplies the 1024 elements of the last tile on the host, in the data type, in the order of its bytes; so does
this one. Along a dimension the same chain starts with 1.0 and keeps bfloat16 in a 16-bit Dst, for float32 as well.
Source: operator programs, section 3; TT-NN docs of the operator.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import ml_dtypes
import numpy as np

from ttnn import _engine, golden
from ttnn.exceptions import DTypeError, LayoutError, MemoryConfigError, ShapeError, UnsupportedError, fatal
from ttnn.memory_config import DRAM_MEMORY_CONFIG, MemoryConfig
from ttnn.ops.accuracy import no_bound
from ttnn.ops.arguments import BOOLEAN, INT_SEQUENCE, INTEGER, TENSOR, Param, Signature
from ttnn.ops.common import (
    FLOATS,
    INPUT_TENSOR,
    MEMORY_CONFIG_OPTION,
    allocate,
    arch_number,
    dimension,
    full_tiles,
    is_empty,
    on_device,
    take_output,
)
from ttnn.ops.layout import tilize_padded
from ttnn.ops.movement import copy_into
from ttnn.ops.permutation import moved_to, permuted
from ttnn.ops.reduce_program import filled
from ttnn.ops.registry import Op, register
from ttnn.ops.reshape import reshaped
from ttnn.ops.unary import apply_chain
from ttnn.tensor import Tensor
from ttnn.tensor_spec import TensorSpec
from ttnn.types import BLOCK_FLOATS, FORMAT_CODE, TILE_SIZE, DataType, Layout

_NAME: Final = "ttnn.prod"
_BFLOAT16: Final = 0xFFFF0000
"""The part of an FP32 word that the matrix unit takes of Dst if its operands are bfloat16."""


def _check(tensor: Tensor) -> None:
    """Refuse data types and places that the official validation refuses.

    Raises:
        DTypeError: integers.
        MemoryConfigError: a sharded tensor.
    """
    on_device(_NAME, tensor, vendor="Operands need to be on device!")
    full_tiles(_NAME, tensor)
    spec = tensor._spec
    if spec.dtype not in FLOATS:
        bytes_ = spec.dtype in (DataType.UINT8, DataType.INT8)
        sentence = (
            "Error - unsupported data type for prod, expected BFLOAT16, FLOAT32, BFLOAT8_B or BFLOAT4_B but got "
            f"{spec.dtype.cpp_name}."
        )
        if bytes_ and spec.layout is Layout.ROW_MAJOR:
            sentence = "Can only tilize bfloat16/float32 or int32/uint32/uint16 or fp8_e4m3 tensors"
        elif bytes_ and tuple(spec.shape)[-2:] != tuple(spec.padded_shape)[-2:]:
            sentence = f"Unsupported datatype {spec.dtype.cpp_name}"
        raise fatal(
            DTypeError, f"{_NAME}: input_tensor is {spec.dtype.name}; typecast it to a floating point type.", sentence
        )
    if not spec.memory_config.interleaved:
        layout = spec.memory_config.memory_layout
        raise fatal(
            MemoryConfigError,
            f"{_NAME}: input_tensor is {layout.name}; move it with ttnn.to_memory_config first.",
            f"Memory layout must be INTERLEAVED, got: {layout}",
        )


def _prod(input_tensor: Tensor, dim: int | None, keepdim: bool, memory_config: MemoryConfig | None) -> Tensor:
    _check(input_tensor)
    rank = input_tensor._spec.shape.rank
    place = memory_config or input_tensor._spec.memory_config
    if dim is None:
        return _of_everything(input_tensor, [1] * rank if keepdim else [], place)
    axis = dimension(_NAME, dim, rank or 1)
    return _in_place(_along(input_tensor, axis, keepdim), place)


def _in_place(tensor: Tensor, place: MemoryConfig) -> Tensor:
    """Return a tensor in a place; itself if it is there."""
    return tensor if tensor._spec.memory_config == place else moved_to(tensor, place)


def _multiply(a: Tensor, b: Tensor | float, output: Tensor, *, fidelity: int, dst32: bool) -> None:
    """Multiply two tensors of one shape on the matrix unit, a in SrcA."""
    assert a._buffer is not None
    assert output._buffer is not None
    assert a._device is not None
    tensor = isinstance(b, Tensor)
    other = b._spec.dtype if isinstance(b, Tensor) else a._spec.dtype
    if not tensor and other is not DataType.FLOAT32:
        other = DataType.BFLOAT16
    shape = a._spec.shape._dims
    _engine.binary(
        a._buffer,
        b._buffer if isinstance(b, Tensor) else None,
        output._buffer,
        formats=(FORMAT_CODE[a._spec.dtype], FORMAT_CODE[other], FORMAT_CODE[output._spec.dtype]),
        op="mul",
        engine="fpu",
        scalar=None if isinstance(b, Tensor) else b,
        scalar_is_lhs=False,
        shape_a=shape,
        shape_b=shape if tensor else (),
        shape_out=shape,
        tiled=True,
        fidelity=fidelity,
        dst32=dst32,
        arch=arch_number(a._device),
    )


# Everything


def _of_everything(source: Tensor, shape: Sequence[int], place: MemoryConfig) -> Tensor:
    """Return the product of all elements, as a tensor of the given shape, which has one element."""
    spec, device = source._spec, on_device(_NAME, source)
    value = 1.0 if is_empty(spec) else _on_host(_last_tile(source))
    target = TensorSpec.of(shape, spec.dtype, Layout.TILE, place)
    one = np.full(tuple(shape), value, np.float32)
    return Tensor(one, spec.dtype, None, Layout.TILE).to(device, target.memory_config)


def _last_tile(source: Tensor) -> Tensor:
    """Return the element-wise product of all tiles, padding being 1."""
    spec, device = source._spec, on_device(_NAME, source)
    if spec.shape.rank < 2:
        source = reshaped(_NAME, source, (1,) * (2 - spec.shape.rank) + spec.shape._dims)
    if spec.layout is Layout.ROW_MAJOR:
        source = tilize_padded(_NAME, source, pad_value=1.0)
    else:
        source = filled(source, 1.0, DRAM_MEMORY_CONFIG)
    count = source._spec.num_pages
    one = _tiles_spec(1, source._spec, DRAM_MEMORY_CONFIG)
    tile = allocate(one, device)
    _copy_tiles(source, 0, tile)
    if count == 1:
        return tile
    fidelity = 3 if arch_number(device) == 0 else 4
    single = TensorSpec.of(one.shape, DataType.FLOAT32, Layout.TILE, DRAM_MEMORY_CONFIG)
    running = apply_chain(_NAME, tile, [], dtype=DataType.FLOAT32)
    words = TensorSpec.of(one.shape, DataType.INT32, Layout.TILE, DRAM_MEMORY_CONFIG)
    product = allocate(single, device)
    for index in range(1, count):
        _copy_tiles(source, index, tile)
        if spec.dtype is not DataType.FLOAT32:
            cut = running._view(words)
            apply_chain(_NAME, cut, [("bitwise_and", "int32", [_BFLOAT16])], output_tensor=cut, integers=True)
        last = index == count - 1
        output = allocate(one, device) if last else product
        _multiply(running, tile, output, fidelity=fidelity, dst32=True)
        running, product = output, running
    return running


def _tiles_spec(count: int, like: TensorSpec, place: MemoryConfig | None = None) -> TensorSpec:
    return TensorSpec.of((count * TILE_SIZE, TILE_SIZE), like.dtype, Layout.TILE, place or like.memory_config)


def _copy_tiles(source: Tensor, first: int, target: Tensor) -> None:
    """Fill `target` with consecutive tiles of `source`, padding included."""
    spec, target_spec = (_tiles_spec(tensor._spec.num_pages, tensor._spec) for tensor in (source, target))
    assert source._buffer is not None
    assert target._buffer is not None
    _engine.move_elements(
        source._buffer,
        target._buffer,
        formats=(FORMAT_CODE[spec.dtype], FORMAT_CODE[target_spec.dtype]),
        in_shape=spec.shape._dims,
        out_shape=target_spec.shape._dims,
        strides=[TILE_SIZE, 1],
        offset=first * TILE_SIZE * TILE_SIZE,
        in_tile=(TILE_SIZE, TILE_SIZE),
        out_tile=(TILE_SIZE, TILE_SIZE),
    )


def _on_host(tile: Tensor) -> float:
    """Return the product of a tile's elements: in bfloat16 for bfloat16, else in FP32, face after face."""
    kind = ml_dtypes.bfloat16 if tile._spec.dtype is DataType.BFLOAT16 else np.float32
    rows = np.asarray(tile.to_numpy(), np.float32).reshape(2, 16, 2, 16)
    with np.errstate(all="ignore"):
        product = kind(1.0)
        for value in rows.transpose(0, 2, 1, 3).reshape(-1).astype(kind):
            product = kind(product * value)
    return float(product)


# One dimension


def _along(source: Tensor, axis: int, keepdim: bool) -> Tensor:
    """Return the product along a dimension."""
    spec, device = source._spec, on_device(_NAME, source)
    dims = spec.shape._dims or (1,)
    rest = [size for place, size in enumerate(dims) if place != axis]
    shape = [*dims[:axis], 1, *dims[axis + 1 :]] if keepdim else rest
    if not spec.shape._dims:
        shape = []
    if spec.layout is Layout.ROW_MAJOR:
        source = tilize_padded(_NAME, reshaped(_NAME, source, dims))
    if is_empty(spec) or not all(dims):
        return _ones(shape, spec, device)
    rank = len(dims)
    if rank > 3 and axis >= rank - 2 and spec.dtype not in BLOCK_FLOATS:
        # Every element is multiplied for itself; seen as rows, all dimensions but the last two need less tile padding.
        # Block floats are left in their groups.
        dims = (math.prod(dims[:-2]), *dims[-2:])
        axis -= rank - 3
        rest = [size for place, size in enumerate(dims) if place != axis]
    # The factors, one after the other: matrices of at least rank 2 behind the dimension that goes.
    order = [axis, *(place for place in range(len(dims)) if place != axis)]
    source = permuted(_NAME, reshaped(_NAME, source, dims), order, DRAM_MEMORY_CONFIG, 0.0)
    matrix = tuple([1] * (2 - len(rest)) + rest)
    source = reshaped(_NAME, source, (dims[axis], *matrix))
    pages = source._spec.num_pages // dims[axis]
    factor_spec = TensorSpec.of(matrix, spec.dtype, Layout.TILE, DRAM_MEMORY_CONFIG)
    factor = allocate(factor_spec, device)
    product, spare = allocate(factor_spec, device), allocate(factor_spec, device)
    for index in range(dims[axis]):
        _copy_tiles(source, index * pages, factor)
        other: Tensor | float = product if index else 1.0
        _multiply(factor, other, spare, fidelity=4, dst32=False)
        product, spare = spare, product
    return reshaped(_NAME, product, shape)


def _ones(shape: Sequence[int], like: TensorSpec, device: Any) -> Tensor:
    """Return the product of nothing."""
    output = allocate(TensorSpec.of(shape, like.dtype, Layout.TILE, DRAM_MEMORY_CONFIG), device)
    if not is_empty(output._spec):
        assert output._buffer is not None
        _engine.fill(output._buffer, format=FORMAT_CODE[like.dtype], value=1.0)
    return output


def _prod_into(
    input_tensor: Tensor, output_tensor: Tensor, dims: Sequence[int], memory_config: MemoryConfig | None
) -> Tensor:
    _check(input_tensor)
    spec = input_tensor._spec
    rank = spec.shape.rank
    axes = [dimension(_NAME, int(dim), rank or 1, "dims") for dim in dims]
    if not axes or len(set(axes)) != len(axes):
        raise ShapeError(f"{_NAME}: dims={list(dims)} names no dimension, or one twice.")
    if any(axis >= rank - 2 for axis in axes):
        raise UnsupportedError(
            f"{_NAME}: dims={list(dims)} names rows or columns of {spec.shape}; with output_tensor the official "
            "program takes the dimensions before them. Pass dim."
        )
    if spec.layout is not Layout.TILE:
        raise LayoutError(f"{_NAME}: input_tensor is {spec.layout.name}; with output_tensor it is in TILE_LAYOUT.")
    if memory_config not in (None, output_tensor.memory_config()):
        raise MemoryConfigError(
            f"{_NAME}: memory_config is {memory_config}, but output_tensor lives in {output_tensor.memory_config()}."
        )
    shape = [1 if axis in axes else size for axis, size in enumerate(spec.shape._dims)]
    take_output(_NAME, output_tensor, shape, Layout.TILE, on_device(_NAME, input_tensor))
    if output_tensor._spec.dtype is not spec.dtype:
        raise DTypeError(f"{_NAME}: output_tensor is {output_tensor._spec.dtype.name}, the input is {spec.dtype.name}.")
    result = input_tensor
    for axis in sorted(axes, reverse=True):
        result = _along(result, axis, True)
    copy_into(result, output_tensor)
    return output_tensor


prod = register(
    Op(
        name="prod",
        signatures=(
            Signature(
                (
                    INPUT_TENSOR,
                    Param("dim", INTEGER, None, none=True, doc="The dimension that goes. Default: all of them."),
                    Param("keepdim", BOOLEAN, False, doc="Keep reduced dimensions with size 1."),
                ),
                (MEMORY_CONFIG_OPTION,),
            ),
            Signature(
                (INPUT_TENSOR, Param("output_tensor", TENSOR, doc="Takes the result, in which dimensions are kept.")),
                (Param("dims", INT_SEQUENCE, doc="The dimensions that go, before the last two."), MEMORY_CONFIG_OPTION),
                run=_prod_into,
            ),
        ),
        run=_prod,
        doc=(
            "Return the product of all elements, or along one dimension, in TILE_LAYOUT; 1 where there is nothing to "
            "multiply. Products are cut or rounded to bfloat16 one after the other; along a dimension those of "
            "float32, too. The elements of the last tile are multiplied on the host, each product rounded to nearest: "
            "in bfloat16, in FP32 for the other types (that of block floats is an assumption)."
        ),
        source="operator programs, section 3",
        dtypes=FLOATS,
        layouts=(Layout.TILE, Layout.ROW_MAJOR),
        golden=golden.prod,
        accuracy=no_bound("for every factor rounds the product once more: the error grows with their number"),
        engine=("binary", "unary", "move_elements", "fill"),
        raises=(
            ("DTypeError", "the input holds integers."),
            ("ShapeError", "a dimension is out of range, or named twice."),
            ("MemoryConfigError", "the input is sharded."),
            ("StorageError", "the input is on the host."),
        ),
    )
)
