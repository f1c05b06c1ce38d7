"""`ttnn.experimental.intimg`: integral images, sums of everything above and to the left.

Source: tt-metal `ttnn/cpp/ttnn/operations/experimental/reduction/integral_image`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from ttnn.base.enums import TILE_SIZE, DataType, Layout
from ttnn.base.exceptions import DTypeError, LayoutError, ShapeError
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG
from ttnn.base.tensor_spec import TensorSpec
from ttnn.golden import reduction as golden
from ttnn.operation.accuracy import no_bound
from ttnn.operation.registry import Op, register
from ttnn.operation.signature import Signature
from ttnn.ops._programs.common import INPUT_TENSOR, allocate, full_tiles, is_empty, on_device
from ttnn.ops._programs.element_map import copy_into
from ttnn.ops._programs.pipeline import COLUMNS, ROWS, Pipeline
from ttnn.ops._programs.windows import write_into
from ttnn.ops.data_movement.slice import sliced
from ttnn.tensor.tensor import Tensor

_NAME: Final = "ttnn.experimental.intimg"
_DTYPES: Final = (DataType.BFLOAT16, DataType.FLOAT32)
_BLOCK: Final = 48
"""Matrices added up before the total so far is added."""
_HIFI4: Final = 4
Shape3 = tuple[int, int, int]


def _pipeline(shape: Shape3, axis: int, dtype: DataType) -> Pipeline:
    return Pipeline(shape, axis, dtype, dtype is DataType.FLOAT32, _HIFI4)


@lru_cache(maxsize=64)
def _down(shape: Shape3, dtype: DataType) -> Pipeline:
    """Return running sums of matrices, from 0.

    Each is packed and read back.
    """
    program = _pipeline(shape, 0, dtype)
    first = program.eltwise("add", program.tensor(dtype), program.constant(dtype, 0), dtype)
    program.copy(program.scan(first, dtype, by="add"), dtype, output=0)
    return program


@lru_cache(maxsize=64)
def _added(shape: Shape3, other: Shape3, broadcast: str, dtype: DataType) -> Pipeline:
    """Return the sum with a matrix, or a row per matrix."""
    program = _pipeline(shape, ROWS, dtype)
    program.eltwise("add", program.tensor(dtype), program.tensor(dtype, other, broadcast), dtype, output=0)
    return program


@lru_cache(maxsize=64)
def _within_tiles(shape: Shape3, dtype: DataType) -> Pipeline:
    """Return the running sums of 32 rows."""
    program = _pipeline(shape, COLUMNS, dtype)
    program.running_sum(program.tensor(dtype), dtype, output=0)
    return program


def _tensor(shape: Shape3, like: Tensor) -> Tensor:
    return allocate(TensorSpec.of(shape, like.spec.dtype, Layout.TILE, DRAM_MEMORY_CONFIG), on_device(_NAME, like))


def _part(tensor: Tensor, starts: Shape3, ends: Shape3) -> Tensor:
    return sliced(_NAME, tensor, list(starts), list(ends), memory_config=DRAM_MEMORY_CONFIG)


def _along_matrices(source: Tensor, shape: Shape3) -> Tensor:
    """Return the running sums of the matrices of a tensor."""
    count, rows, columns = shape
    dtype, result, total = source.spec.dtype, _tensor(shape, source), None
    for first in range(0, count, _BLOCK):
        last = min(first + _BLOCK, count)
        block = (last - first, rows, columns)
        sums = _tensor(block, source)
        _down(block, dtype).run([_part(source, (first, 0, 0), (last, rows, columns))], [sums])
        if total is not None:
            moved = _tensor(block, source)
            _added(block, (1, rows, columns), "none", dtype).run([sums, total], [moved])
            sums = moved
        total = _part(sums, (last - first - 1, 0, 0), block)
        write_into(sums, result, [first, 0, 0])
    return result


def _along_rows(source: Tensor, shape: Shape3) -> Tensor:
    """Return running sums of every matrix's rows.

    Within tiles first, then tile by tile.
    """
    count, rows, columns = shape
    dtype = source.spec.dtype
    tiles = (count * rows // TILE_SIZE, TILE_SIZE, columns)
    spec = TensorSpec.of(tiles, dtype, Layout.TILE, DRAM_MEMORY_CONFIG)
    sums = _tensor(tiles, source)
    _within_tiles(tiles, dtype).run([source._view(spec)], [sums])
    result = sums._view(TensorSpec.of(shape, dtype, Layout.TILE, DRAM_MEMORY_CONFIG))
    for row in range(TILE_SIZE, rows, TILE_SIZE):
        above = _part(result, (0, row - 1, 0), (count, row, columns))
        own = _part(result, (0, row, 0), (count, row + TILE_SIZE, columns))
        moved = _tensor((count, TILE_SIZE, columns), source)
        program = _added((count, TILE_SIZE, columns), (count, 1, columns), "row", dtype)
        program.run([own, above], [moved])
        write_into(moved, result, [0, row, 0])
    return result


def _intimg(input_tensor: Tensor) -> Tensor:
    device = on_device(_NAME, input_tensor)
    spec = input_tensor.spec
    if spec.layout is not Layout.TILE:
        raise LayoutError(
            f"{_NAME}: input_tensor is row-major; convert it with ttnn.to_layout(..., ttnn.TILE_LAYOUT).",
            vendor=f"only tile layout is supported, {spec.layout} was provided instead",
        )
    if spec.dtype not in _DTYPES:
        raise DTypeError(
            f"{_NAME}: input_tensor is {spec.dtype.name}; it must be BFLOAT16 or FLOAT32.",
            vendor=f"only bf16 and fp32 dtypes are supported, {spec.dtype.cpp_name} was provided instead",
        )
    full_tiles(_NAME, input_tensor)
    if spec.shape.rank != 4 or spec.shape[0] != 1:
        raise ShapeError(
            f"{_NAME}: input_tensor has shape {spec.shape}; it must be [1, H, W, C].",
            vendor=f"intimg supports only 4D tensors, the input tensor has {spec.shape.rank} instead"
            if spec.shape.rank != 4
            else f"intimg supports only one batch, found {spec.shape[0]} instead",
        )
    output = allocate(spec, device)
    if is_empty(spec):
        return output
    _, count, rows, columns = tuple(spec.padded_shape)
    shape = (count, rows, columns)
    source = input_tensor._view(TensorSpec.of(shape, spec.dtype, Layout.TILE, spec.memory_config))
    if not spec.memory_config.interleaved:
        source, given = _tensor(shape, input_tensor), input_tensor
        copy_into(given, source)
    result = _along_rows(_along_matrices(source, shape), shape)
    copy_into(result._view(TensorSpec.of(spec.shape, spec.dtype, Layout.TILE, DRAM_MEMORY_CONFIG)), output)
    return output


intimg = register(
    Op(
        name="experimental.intimg",
        signatures=(Signature((INPUT_TENSOR,)),),
        run=_intimg,
        doc="Return the integral image: cumulative sums over rows and columns per channel.\n"
        "Shape: [1, H, W, C] -> [1, H, W, C].\n"
        "Sums are packed to the data type of the input after every step; the FPU reads float32 as TF32.",
        source="tt-metal `ttnn/cpp/ttnn/operations/experimental/reduction/integral_image`",
        dtypes=_DTYPES,
        layouts=(Layout.TILE,),
        golden=golden.intimg,
        accuracy=no_bound("for rounding grows with the image"),
        engine=("Pipeline",),
        raises=(
            ("ShapeError", "the input is not [1, H, W, C]."),
            ("LayoutError", "the input is row-major."),
            ("DTypeError", "the input is neither bfloat16 nor float32."),
        ),
        examples=lambda shape, layout: ((),) if len(shape) == 4 and shape[0] == 1 else (),
    )
)
