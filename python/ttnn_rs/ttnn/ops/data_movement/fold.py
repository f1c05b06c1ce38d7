"""Blocks of pixels as channels, and halves of rows.

Source: tt-metal `ttnn/cpp/ttnn/operations/data_movement/fold` and `experimental/transformer/rotate_half`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

from ttnn.base.compute_config import FIDELITY_NUMBER
from ttnn.base.core_range import CoreCoord, CoreRange, CoreRangeSet
from ttnn.base.enums import TILE_SIZE, BufferType, DataType, Layout, MathFidelity, ShardOrientation, TensorMemoryLayout
from ttnn.base.exceptions import (
    DTypeError,
    MemoryConfigError,
    ParameterError,
    ShapeError,
)
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, L1_MEMORY_CONFIG, MemoryConfig, ShardSpec
from ttnn.base.shape import Shape
from ttnn.base.tensor_spec import TensorSpec
from ttnn.golden import data_movement as golden
from ttnn.operation.accuracy import max_ulp
from ttnn.operation.domain import Operand
from ttnn.operation.signature import (
    BOOLEAN,
    CORE_RANGE_SET,
    INT_SEQUENCE,
    INTEGER,
    MEMORY_CONFIG,
    SHAPE_LIKE,
    TENSOR,
    Param,
    Signature,
)
from ttnn.ops._programs.common import FLOATS, MEMORY_CONFIG_OPTION, allocate, full_tiles, is_empty, on_device
from ttnn.ops._programs.element_map import strides_of
from ttnn.ops._programs.movement import move, register_movement
from ttnn.ops._programs.pipeline import ROWS, Pipeline, bits
from ttnn.ops.data_movement.indexed import as_rows
from ttnn.ops.data_movement.layout import tilize_padded, untilized
from ttnn.ops.data_movement.permute import moved_to, permuted
from ttnn.ops.data_movement.reshape import reshaped
from ttnn.ops.data_movement.slice import sliced
from ttnn.tensor.tensor import Tensor

_MOST: Final = 1 << 16


def _rows(source: Tensor, shape: Sequence[int]) -> TensorSpec:
    return TensorSpec.of(shape, source.spec.dtype, Layout.ROW_MAJOR, DRAM_MEMORY_CONFIG)


def _around(name: str, padding: Sequence[int]) -> list[int]:
    """Return padding as top, bottom, left, right, and channels before and after."""
    given = [int(count) for count in padding]
    if len(given) not in (2, 4, 6) or any(not 0 <= count < _MOST for count in given):
        raise ParameterError(f"{name}: padding={given} must be 2, 4 or 6 non-negative integers.")
    if len(given) == 2:
        return [given[0], given[0], given[1], given[1], 0, 0]
    return given + [0] * (6 - len(given))


def _widened(source: Tensor, widths: Sequence[tuple[int, int]]) -> Tensor:
    """Return a row-major tensor with zeros around it."""
    dims = tuple(source.spec.shape)
    shape = [before + size + after for size, (before, after) in zip(dims, widths, strict=True)]
    window = [(before, size) for size, (before, _) in zip(dims, widths, strict=True)]
    return move(source, _rows(source, shape), strides=strides_of(dims), window=window)


def _blocks(name: str, source: Tensor, down: int, across: int) -> Tensor:
    """Return folded row-major images.

    [N, H, W, C] -> [N, H / down, W / across, down * across * C].
    """
    batch, height, width, channels = tuple(source.spec.shape)
    if height % down or width % across:
        raise ShapeError(
            f"{name}: {height} rows and {width} columns do not divide into blocks of {down} x {across}.",
            vendor="Fold: Input height must be divisible by stride_h.",
        )
    line = width * channels
    # The columns of a block are neighbours, and so are their channels.
    shape = (batch, height // down, width // across, down, across * channels)
    strides = (height * line, down * line, across * channels, line, 1)
    moved = move(source, _rows(source, shape), strides=strides)
    return reshaped(name, moved, (batch, height // down, width // across, down * across * channels))


def _fold(
    input: Tensor,
    stride_h: int,
    stride_w: int,
    use_transpose_as_fold: bool,
    output_shape: Shape | None,
    padding: Sequence[int],
    grid_size: CoreRangeSet | None,
    override_memory_config: MemoryConfig | None,
    collapse_output: bool,
) -> Tensor:
    name = "ttnn.fold"
    on_device(name, input, "input")
    spec = input.spec
    if spec.shape.rank != 4 or 0 in tuple(spec.shape):
        raise ShapeError(f"{name}: input has shape {spec.shape}; it must be [N, H, W, C] with elements.")
    if not (0 < stride_h < _MOST and 0 < stride_w < _MOST):
        raise ParameterError(f"{name}: stride_h={stride_h} and stride_w={stride_w} must be positive.")
    _folds(name, spec)
    top, bottom, left, right, front, back = _around(name, padding)
    if use_transpose_as_fold and spec.memory_config.is_sharded():
        folded = _transposed_shards(name, input, (stride_h, stride_w), output_shape, (back, top, left))
        return moved_to(folded, override_memory_config or _rows_of_cores(folded, spec, grid_size))
    if use_transpose_as_fold:
        return _transposed(name, input, (stride_h, stride_w), output_shape, (back, top, left))
    rows = untilized(name, input, DRAM_MEMORY_CONFIG) if spec.layout is Layout.TILE else as_rows(input)
    if any((top, bottom, left, right, front, back)):
        rows = _widened(rows, [(0, 0), (top, bottom), (left, right), (front, back)])
    folded = _blocks(name, rows, stride_h, stride_w)
    batch, height, width, channels = tuple(folded.spec.shape)
    if output_shape is not None and list(output_shape) != [batch, height, width, channels]:
        raise ShapeError(f"{name}: output_shape={list(output_shape)}; the output is {folded.spec.shape}.")
    if collapse_output:
        folded = reshaped(name, folded, (1, 1, batch * height * width, channels))
    target = spec.memory_config
    if target.shard_spec is not None:
        cores = target.shard_spec.grid
        lines = -(-batch * height * width // cores.num_cores())
        shards = ShardSpec(cores, [lines, channels], target.shard_spec.orientation)
        target = MemoryConfig(TensorMemoryLayout.HEIGHT_SHARDED, BufferType.L1, shards)
    return folded if folded.spec.memory_config == target else moved_to(folded, target)


def _folds(name: str, spec: TensorSpec) -> None:
    """Refuse shards of another kind than rows."""
    layout = spec.memory_config.memory_layout
    if spec.memory_config.is_sharded() and layout is not TensorMemoryLayout.HEIGHT_SHARDED:
        raise MemoryConfigError(
            f"{name}: input is {layout.name}; shard it by height.",
            vendor="fold op does not support non height-sharding!",
        )


def _transposed(
    name: str, source: Tensor, strides: tuple[int, int], output_shape: Shape | None, more: tuple[int, int, int]
) -> Tensor:
    """Return folded [N, C, H, W] images, padded to multiples of 32."""
    dims = tuple(source.spec.shape)
    rows = untilized(name, source, DRAM_MEMORY_CONFIG) if source.spec.layout is Layout.TILE else as_rows(source)
    sizes = [dims[1] + more[0], dims[2] + more[1], dims[3] + more[2]]
    full = [sizes[0], *(-(-size // TILE_SIZE) * TILE_SIZE for size in sizes[1:])]
    padded = _widened(rows, [(0, 0), *((0, total - own) for total, own in zip(full, dims[1:], strict=True))])
    images = permuted(name, padded, [0, 2, 3, 1], DRAM_MEMORY_CONFIG, 0.0)
    folded = _blocks(name, images, *strides)
    if output_shape is not None:
        batch, width, height, channels = (int(size) for size in output_shape)
        folded = sliced(name, folded, [0] * 4, [batch, width, height, channels])
    return moved_to(folded, L1_MEMORY_CONFIG)


def _transposed_shards(
    name: str, source: Tensor, strides: tuple[int, int], output_shape: Shape | None, around: tuple[int, int, int]
) -> Tensor:
    """Return folded [N, C, H, W] images, equally padded on both sides."""
    channels, high, wide = around
    rows = untilized(name, source, DRAM_MEMORY_CONFIG) if source.spec.layout is Layout.TILE else as_rows(source)
    images = permuted(
        name, _widened(rows, [(0, 0), (0, channels), (high, high), (wide, wide)]), [0, 2, 3, 1], DRAM_MEMORY_CONFIG, 0.0
    )
    dims = tuple(images.spec.shape)
    whole = [dims[0], *(size // stride * stride for size, stride in zip(dims[1:3], strides, strict=True)), dims[3]]
    if 0 in whole:
        raise ShapeError(f"{name}: {dims[1]} rows and {dims[2]} columns are less than a block of {strides}.")
    folded = _blocks(name, sliced(name, images, [0] * 4, whole), *strides)
    if output_shape is not None:
        folded = sliced(name, folded, [0] * 4, [int(size) for size in output_shape])
    return folded


def _rows_of_cores(folded: Tensor, spec: TensorSpec, grid: CoreRangeSet | None) -> MemoryConfig:
    """Return shards with equal rows per core.

    Four cores in a square unless cores are given.
    """
    given = spec.memory_config.shard_spec
    cores = grid or CoreRangeSet([CoreRange(CoreCoord(0, 0), CoreCoord(1, 1))])
    *leading, channels = tuple(folded.spec.shape)
    shards = ShardSpec(
        cores,
        [-(-math.prod(leading) // cores.num_cores()), channels],
        ShardOrientation.ROW_MAJOR if given is None else given.orientation,
    )
    return MemoryConfig(TensorMemoryLayout.HEIGHT_SHARDED, BufferType.L1, shards)


def _rotate_half(input: Tensor, memory_config: MemoryConfig | None) -> Tensor:
    name = "ttnn.experimental.rotate_half"
    on_device(name, input, "input")
    spec = input.spec
    if spec.dtype not in FLOATS:
        raise DTypeError(f"{name}: input is {spec.dtype.name}; typecast it to bfloat16 first.")
    dims = tuple(spec.shape)
    if len(dims) < 2 or not dims[-1] or dims[-1] % (2 * TILE_SIZE):
        raise ShapeError(
            f"{name}: input has {dims[-1] if dims else 0} columns; they must be a multiple of {2 * TILE_SIZE}.",
            vendor="Input X dim must be divisible into tiles",
        )
    target = memory_config or spec.memory_config
    if not (spec.memory_config.interleaved and target.interleaved):
        raise MemoryConfigError(
            f"{name}: input or output is sharded; use ttnn.DRAM_MEMORY_CONFIG.",
            vendor="RotateHalf does not currently support sharding",
        )
    full_tiles(name, input, "input")
    if spec.layout is not Layout.TILE:
        input = tilize_padded(name, input)
    output = allocate(TensorSpec.of(dims, spec.dtype, Layout.TILE, target), on_device(name, input))
    if not is_empty(spec):
        _halves_exchanged(dims, spec.dtype).run([input], [output])
    return output


@lru_cache(maxsize=64)
def _halves_exchanged(shape: tuple[int, ...], dtype: DataType) -> Pipeline:
    """Return the program that exchanges column halves and negates one.

    That is the new first half. It multiplies in a 16-bit Dst, before which FLOAT32 is truncated to bfloat16; the other
    half is copied.
    """
    program = Pipeline(shape, ROWS, dtype, False, FIDELITY_NUMBER[MathFidelity.HiFi4])
    half = program.length // 2
    minus_one = program.constant(DataType.BFLOAT16, bits(-1.0))
    program.eltwise("mul", program.rotated(dtype, half), minus_one, dtype, until=half, output=0)
    return program


_IMAGE_TYPES: Final = (DataType.BFLOAT16, DataType.FLOAT32, DataType.INT32, DataType.UINT32, DataType.UINT16)


def _fold_examples(shape: tuple[int, ...], layout: Layout) -> tuple[tuple[Any, ...], ...]:
    if len(shape) != 4 or 0 in shape or shape[1] % 2 or shape[2] % 2:
        return ((1, 1),) if len(shape) == 4 and 0 not in shape else ()
    return ((2, 2), (1, 2))


fold = register_movement(
    "fold",
    (
        Signature(
            (
                Param("input", TENSOR, doc="[N, H, W, C] on a device.", example=Operand((2, 8, 8, 32))),
                Param("stride_h", INTEGER, doc="Rows of a block.", example=2),
                Param("stride_w", INTEGER, doc="Columns of a block.", example=2),
                Param(
                    "use_transpose_as_fold",
                    BOOLEAN,
                    False,
                    doc="The input is [N, C, H, W]. If it is interleaved, it is padded behind, and to tiles; if it "
                    "is sharded, rows and columns are padded on both sides.",
                ),
                Param("output_shape", SHAPE_LIKE, None, doc="Shape of the output, which is cut to it with the option."),
                Param(
                    "padding",
                    INT_SEQUENCE,
                    [0, 0],
                    doc="Zeros around: rows, columns; or before and after each.",
                    example=[2, 2],
                ),
                Param(
                    "grid_size",
                    CORE_RANGE_SET,
                    None,
                    doc="Cores of the result of shards that are transposed. Default: 2 x 2. Ignored in other calls, as "
                    "in the official operator.",
                ),
                Param(
                    "override_memory_config",
                    MEMORY_CONFIG,
                    None,
                    doc="Memory config of the result of transposed shards. Ignored in other calls, as in the official "
                    "operator.",
                ),
                Param("collapse_output", BOOLEAN, False, doc="Return [1, 1, N * H * W, C]."),
            )
        ),
    ),
    _fold,
    "Return images whose blocks of pixels are channels.\n"
    "Shape: [N, H, W, C] -> [N, H / h, W / w, h * w * C], row-major.",
    golden=golden.fold,
    golden_of_shards=golden.fold_of_shards,
    dtypes=(*_IMAGE_TYPES, DataType.BFLOAT8_B, DataType.BFLOAT4_B),
    engine=("move_elements",),
    composition=True,
    raises=(
        ("ShapeError", "the rank is not 4, or blocks do not divide the image."),
        ("ParameterError", "strides or padding are out of range."),
        ("MemoryConfigError", "the input is sharded otherwise than by height."),
    ),
    examples=_fold_examples,
)
rotate_half = register_movement(
    "experimental.rotate_half",
    (Signature((Param("input", TENSOR, doc="[..., H, W] on a device."),), (MEMORY_CONFIG_OPTION,)),),
    _rotate_half,
    "Return the negated second column half, then the first, in tiles.\n"
    "float32: the negated half is truncated to bfloat16, as on the device.\nShape: [..., H, W] -> [..., H, W].",
    golden=golden.rotate_half,
    dtypes=FLOATS,
    accuracy=max_ulp((DataType.BFLOAT16, 0), (DataType.FLOAT32, 2**16), (DataType.BFLOAT8_B, 0)),
    engine=("Pipeline",),
    numerics="exact",
    raises=(
        ("DTypeError", "the input holds integers."),
        ("ShapeError", "W is not a multiple of 64."),
        ("MemoryConfigError", "a tensor is sharded."),
    ),
    examples=lambda shape, layout: ((),) if len(shape) >= 2 and 0 not in shape and shape[-1] % 64 == 0 else (),
)
