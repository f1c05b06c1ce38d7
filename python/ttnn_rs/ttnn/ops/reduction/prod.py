"""`prod`: the product of all elements, or along one dimension.

A product runs tile by tile in Dst: the running tile goes back to the FPU, which cuts it to the significand of its
operands (bfloat16, or TF32 for float32), and is multiplied by the next tile. Dst has 32 bits, but for bfloat16 along a
dimension. The official package multiplies the 1024 elements of the last tile of everything on the host, in the data
type, in the order of its bytes; so does this one.
Source: tt-metal `ttnn/cpp/ttnn/operations/reduction/prod`; TT-NN docs of the operator.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import ml_dtypes
import numpy as np

from ttnn.base.compute_config import FIDELITY_NUMBER, wide_fidelity
from ttnn.base.enums import BLOCK_FLOATS, FORMAT_CODE, TILE_SIZE, DataType, Layout
from ttnn.base.exceptions import DTypeError, LayoutError, MemoryConfigError, ShapeError, UnsupportedError
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, MemoryConfig
from ttnn.base.tensor_spec import TensorSpec
from ttnn.golden import reduction as golden
from ttnn.operation.accuracy import no_bound
from ttnn.operation.registry import Op, register
from ttnn.operation.signature import BOOLEAN, INT_SEQUENCE, INTEGER, TENSOR, Param, Signature
from ttnn.ops._programs.common import (
    FLOATS,
    INPUT_TENSOR,
    MEMORY_CONFIG_OPTION,
    allocate,
    dimension,
    full_tiles,
    is_empty,
    on_device,
    take_output,
    values_on_host,
)
from ttnn.ops._programs.element_map import copy_into
from ttnn.ops._programs.sfpu_chain import apply_chain
from ttnn.ops.data_movement.layout import tilize_padded
from ttnn.ops.data_movement.permute import moved_to, permuted
from ttnn.ops.data_movement.reshape import reshaped
from ttnn.ops.reduction.program import filled
from ttnn.runtime import engine_steps
from ttnn.tensor.tensor import Tensor

_NAME: Final = "ttnn.prod"
_FEW: Final = 64
"""Elements of a row-major matrix that the engine multiplies in place."""


def _check(tensor: Tensor) -> None:
    """Refuse data types and places that the official validation refuses.

    Raises:
        DTypeError: integers.
        MemoryConfigError: a sharded tensor.
    """
    on_device(_NAME, tensor, vendor="Operands need to be on device!")
    full_tiles(_NAME, tensor)
    spec = tensor.spec
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
        raise DTypeError(
            f"{_NAME}: input_tensor is {spec.dtype.name}; typecast it to a floating point type.", vendor=sentence
        )
    if not spec.memory_config.interleaved:
        layout = spec.memory_config.memory_layout
        raise MemoryConfigError(
            f"{_NAME}: input_tensor is {layout.name}; move it with ttnn.to_memory_config first.",
            vendor=f"Memory layout must be INTERLEAVED, got: {layout}",
        )


def _prod(input_tensor: Tensor, dim: int | None, keepdim: bool, memory_config: MemoryConfig | None) -> Tensor:
    on_device(_NAME, input_tensor)
    spec = input_tensor.spec
    rank = spec.shape.rank
    place = memory_config or spec.memory_config
    if spec.memory_config.is_sharded() and spec.layout is not Layout.TILE:
        # It is put into tiles first, shard by shard.
        TensorSpec.of(spec.shape, spec.dtype, Layout.TILE, spec.memory_config)
    _check(input_tensor)
    if dim is None:
        return _of_everything(input_tensor, [1] * rank if keepdim else [], place)
    axis = dimension(_NAME, dim, rank or 1)
    return _in_place(_along(input_tensor, axis, keepdim), place)


def _in_place(tensor: Tensor, place: MemoryConfig) -> Tensor:
    """Return a tensor in a place; itself if it is there."""
    return tensor if tensor.spec.memory_config == place else moved_to(tensor, place)


# Everything


def _of_everything(source: Tensor, shape: Sequence[int], place: MemoryConfig) -> Tensor:
    """Return the product of all elements, in a one-element shape."""
    spec, device = source.spec, on_device(_NAME, source)
    value = 1.0 if is_empty(spec) else _on_host(_last_tile(source))
    target = TensorSpec.of(shape, spec.dtype, Layout.TILE, place)
    one = np.full(tuple(shape), value, np.float32)
    return Tensor(one, spec.dtype, None, Layout.TILE).to(device, target.memory_config)


def _last_tile(source: Tensor) -> Tensor:
    """Return the element-wise product of all tiles, padding being 1."""
    spec, device = source.spec, on_device(_NAME, source)
    if spec.shape.rank < 2:
        source = reshaped(_NAME, source, (1,) * (2 - spec.shape.rank) + spec.shape._dims)
    square = (TILE_SIZE, TILE_SIZE)
    code, fidelity = FORMAT_CODE[spec.dtype], _wide_fidelity(device)
    if _of_few(spec):
        # The program tilizes them first. Its tiles have their place in memory, but what is in them is known.
        tiles = allocate(TensorSpec.of(spec.shape, spec.dtype, Layout.TILE, spec.memory_config), device)
        tile = allocate(TensorSpec.of(square, spec.dtype, Layout.TILE, DRAM_MEMORY_CONFIG), device)
        assert source.buffer is not None
        assert tile.buffer is not None
        matrix = (spec.shape[-2], spec.shape[-1])
        engine_steps.product(source.buffer, tile.buffer, format=code, matrix=matrix, fidelity=fidelity)
        del tiles
        return tile
    if spec.layout is Layout.ROW_MAJOR:
        source = tilize_padded(_NAME, source, pad_value=1.0)
    else:
        source = filled(source, 1.0, DRAM_MEMORY_CONFIG)
    if source.spec.num_pages == 1:
        # There is nothing to multiply, but the tile goes through Dst as the first of several does.
        copied = apply_chain(_NAME, source, [], memory_config=DRAM_MEMORY_CONFIG)
        return copied._view(TensorSpec.of(square, spec.dtype, Layout.TILE, DRAM_MEMORY_CONFIG))
    tile = allocate(TensorSpec.of(square, spec.dtype, Layout.TILE, DRAM_MEMORY_CONFIG), device)
    assert source.buffer is not None
    assert tile.buffer is not None
    engine_steps.product(source.buffer, tile.buffer, format=code, fidelity=fidelity)
    return tile


def _wide_fidelity(device: Any) -> int:
    """Return the phases of a product in a 32-bit Dst."""
    return FIDELITY_NUMBER[wide_fidelity(device.arch())]


def _fidelity(spec: TensorSpec, device: Any) -> int:
    """Return the phases of a product along a dimension."""
    return 4 if spec.dtype is DataType.BFLOAT16 else _wide_fidelity(device)


def _of_few(spec: TensorSpec) -> bool:
    """Return True for row-major matrices of a few elements, more than one."""
    if spec.layout is not Layout.ROW_MAJOR or spec.shape.rank < 3:
        return False
    *leading, height, width = spec.shape._dims
    return math.prod(leading) > 1 and height <= TILE_SIZE and width <= TILE_SIZE and height * width <= _FEW


def _on_host(tile: Tensor) -> float:
    """Return the product of a tile's elements, face after face.

    In bfloat16 for bfloat16, else in FP32.
    """
    kind = ml_dtypes.bfloat16 if tile.spec.dtype is DataType.BFLOAT16 else np.float32
    rows = np.asarray(values_on_host("ttnn.prod", tile, "input_tensor"), np.float32).reshape(2, 16, 2, 16)
    with np.errstate(all="ignore"):
        return float(np.multiply.accumulate(rows.transpose(0, 2, 1, 3).reshape(-1).astype(kind))[-1])


# One dimension


def _along(source: Tensor, axis: int, keepdim: bool) -> Tensor:
    """Return the product along a dimension."""
    spec, device = source.spec, on_device(_NAME, source)
    dims = spec.shape._dims or (1,)
    rest = [size for place, size in enumerate(dims) if place != axis]
    shape = [*dims[:axis], 1, *dims[axis + 1 :]] if keepdim else rest
    if not spec.shape._dims:
        shape = []
    if spec.layout is Layout.ROW_MAJOR:
        source = tilize_padded(_NAME, reshaped(_NAME, source, dims))
    if is_empty(spec) or not all(dims):
        return _ones(shape, spec, device)
    matrix = tuple([1] * (2 - len(rest)) + rest)
    if axis < len(dims) - 2:
        product = _of_leading(source, rest, dims[axis], math.prod(dims[:axis]))
    elif spec.dtype in BLOCK_FLOATS and len(dims) <= 2 and dims[axis] == 1:
        # Exchanging dimensions moves nothing here, so that padding stays in its group.
        product = _of_leading(_exchanged(source, dims, axis), matrix, 1, 1)
    else:
        product = _of_lines(source, dims, axis, matrix)
    return reshaped(_NAME, product, shape)


def _of_leading(source: Tensor, shape: Sequence[int], length: int, outer: int) -> Tensor:
    """Return the product along a leading dimension.

    It has this length, with `outer` indices before it.
    """
    spec, device = source.spec, on_device(_NAME, source)
    output = allocate(TensorSpec.of(shape, spec.dtype, Layout.TILE, DRAM_MEMORY_CONFIG), device)
    assert source.buffer is not None
    assert output.buffer is not None
    leading = (length, spec.num_pages // (outer * length))
    code, fidelity = FORMAT_CODE[spec.dtype], _fidelity(spec, device)
    engine_steps.product(source.buffer, output.buffer, format=code, leading=leading, fidelity=fidelity)
    return output


def _exchanged(source: Tensor, dims: Sequence[int], axis: int) -> Tensor:
    """Return a tensor as a matrix along an `axis` of length 1.

    The tensor has one or two dimensions, and the matrix comes after that one.
    """
    order = [axis, *(place for place in range(len(dims)) if place != axis)]
    moved = permuted(_NAME, reshaped(_NAME, source, dims), order, DRAM_MEMORY_CONFIG, 0.0)
    return reshaped(_NAME, moved, (1, 1, math.prod(dims)))


def _of_lines(source: Tensor, dims: Sequence[int], axis: int, matrix: Sequence[int]) -> Tensor:
    """Return row or column products of matrices, in a given shape.

    Those of a matrix are in a row.

    Every element is multiplied for itself. The program exchanges dimensions first, and bfloat16 passes through Dst on
    the way if columns become rows. Block floats share exponents along the products, so that they are packed after the
    exchange; if there is nothing but a matrix, its tiles are transposed and packed with their padding before.
    """
    spec, device = source.spec, on_device(_NAME, source)
    height, width = (1, *dims)[-2:]
    down = len(dims) > 1 and axis == len(dims) - 2
    output = allocate(TensorSpec.of(matrix, spec.dtype, Layout.TILE, DRAM_MEMORY_CONFIG), device)
    assert source.buffer is not None
    assert output.buffer is not None
    transposed = len(dims) > 1 and not down
    flush = transposed and (spec.dtype is DataType.BFLOAT16 or (spec.dtype in BLOCK_FLOATS and len(dims) == 2))
    lines = (math.prod(matrix[:-2]), matrix[-2], height, width, down, flush)
    code, fidelity = FORMAT_CODE[spec.dtype], _fidelity(spec, device)
    engine_steps.product(source.buffer, output.buffer, format=code, lines=lines, fidelity=fidelity)
    return output


def _ones(shape: Sequence[int], like: TensorSpec, device: Any) -> Tensor:
    """Return the product of no elements: ones."""
    output = allocate(TensorSpec.of(shape, like.dtype, Layout.TILE, DRAM_MEMORY_CONFIG), device)
    if not is_empty(output.spec):
        assert output.buffer is not None
        engine_steps.fill(output.buffer, format=FORMAT_CODE[like.dtype], value=1.0)
    return output


def _prod_into(
    input_tensor: Tensor, output_tensor: Tensor, dims: Sequence[int], memory_config: MemoryConfig | None
) -> Tensor:
    _check(input_tensor)
    spec = input_tensor.spec
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
    shape = [1 if axis in axes else size for axis, size in enumerate(spec.shape._dims)]
    take_output(_NAME, output_tensor, shape, Layout.TILE, on_device(_NAME, input_tensor))
    if output_tensor.spec.dtype is not spec.dtype:
        raise DTypeError(f"{_NAME}: output_tensor is {output_tensor.spec.dtype.name}, the input is {spec.dtype.name}.")
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
                    Param("dim", INTEGER, None, doc="Dimension to reduce. Default: all."),
                    Param("keepdim", BOOLEAN, False, doc="Whether to keep the reduced dimensions with size 1."),
                ),
                (MEMORY_CONFIG_OPTION,),
            ),
            Signature(
                (
                    INPUT_TENSOR,
                    Param("output_tensor", TENSOR, doc="Preallocated output, with the reduced dimensions kept."),
                ),
                (Param("dims", INT_SEQUENCE, doc="Dimensions to reduce, before the last two."), MEMORY_CONFIG_OPTION),
                run=_prod_into,
            ),
        ),
        run=_prod,
        doc=(
            "Return the product of elements of `input_tensor`, along `dim` or all.\n"
            "Shape: [..., H, W] -> [..., H] for `dim` -1, or [..., H, 1] with `keepdim`; [] over all dimensions.\n"
            "The output is in TILE_LAYOUT. An empty product is 1. Each product is truncated to the significand of the "
            "FPU's operands: bfloat16, or TF32 for float32. The elements of the last tile are multiplied on the host, "
            "each product rounded to nearest: in bfloat16, or in float32 for other data types (an assumption for "
            "block floats)."
        ),
        source="tt-metal `ttnn/cpp/ttnn/operations/reduction/prod`",
        dtypes=FLOATS,
        layouts=(Layout.TILE, Layout.ROW_MAJOR),
        golden=golden.prod,
        accuracy=no_bound("for every factor rounds the product once more: the error grows with their number"),
        engine=("product", "move_elements", "fill"),
        raises=(
            ("DTypeError", "integer data types are not supported."),
            ("ShapeError", "a dimension is out of range, or named twice."),
            ("MemoryConfigError", "the input is sharded."),
            ("StorageError", "the input is on the host."),
        ),
        examples=(),
    )
)
