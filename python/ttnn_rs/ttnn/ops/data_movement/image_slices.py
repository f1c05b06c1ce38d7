"""Slices of images: from a tensor into shards, and back.

Source: tt-metal `ttnn/cpp/ttnn/operations/experimental`, `padded_slice` and `slice_write`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ttnn.base.enums import TILE_SIZE, DataType, Layout, TensorMemoryLayout
from ttnn.base.exceptions import DTypeError, LayoutError, MemoryConfigError, ParameterError, ShapeError
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, MemoryConfig
from ttnn.base.tensor_spec import TensorSpec
from ttnn.operation.domain import Operand
from ttnn.operation.signature import FLOAT, INT_SEQUENCE, MEMORY_CONFIG, TENSOR, Param, Signature
from ttnn.ops._programs.common import INPUT_TENSOR, on_device, same_device
from ttnn.ops._programs.element_map import copy_into, strides_of
from ttnn.ops._programs.movement import move, register_movement
from ttnn.ops._programs.windows import write_into
from ttnn.ops.data_movement.indexed import as_rows, place
from ttnn.ops.data_movement.layout import tilize_padded, untilized
from ttnn.ops.data_movement.permute import moved_to
from ttnn.ops.data_movement.reshape import reshaped
from ttnn.ops.data_movement.slice import sliced
from ttnn.tensor.tensor import Tensor


def _up(size: int) -> int:
    return -(-size // TILE_SIZE) * TILE_SIZE


def _in_rows(name: str, tensor: Tensor) -> Tensor:
    return untilized(name, tensor, DRAM_MEMORY_CONFIG) if tensor.spec.layout is Layout.TILE else as_rows(tensor)


def _padded_slice(
    input_tensor: Tensor,
    padded_slice_start: Sequence[int],
    padded_slice_end: Sequence[int],
    padded_slice_step: Sequence[int] | None,
    memory_config: MemoryConfig,
    output_tensor: Tensor | None,
    _pad_value: float | None,
) -> Tensor:
    name = "ttnn.experimental.padded_slice"
    on_device(name, input_tensor)
    spec = input_tensor.spec
    if spec.shape.rank != 4:
        raise ShapeError(
            f"{name}: input_tensor has shape {spec.shape}; it must be of rank 4.",
            vendor="Only 4D tensors are supported for padded_slice",
        )
    if any(count != 1 for count in padded_slice_step or ()):
        raise ParameterError(
            f"{name}: padded_slice_step is {list(padded_slice_step or ())}; only steps of 1 exist. Use ttnn.slice.",
            vendor="Steps != 1 are not supported for padded_slice.",
        )
    shards = memory_config.shard_spec
    if not memory_config.is_sharded() or shards is None:
        raise MemoryConfigError(
            f"{name}: memory_config is {memory_config}; it must name shards.",
            vendor="Output Memory Config must be sharded. Use slice for non-sharded outputs.",
        )
    if not spec.memory_config.interleaved:
        raise MemoryConfigError(
            f"{name}: input_tensor is sharded; use ttnn.to_memory_config(..., ttnn.DRAM_MEMORY_CONFIG).",
            vendor=" padded_slice does not support sharded inputs.",
        )
    rows = _in_rows(name, input_tensor)
    part = sliced(name, rows, list(padded_slice_start), list(padded_slice_end), padded_slice_step)
    if part is input_tensor and shards.shape[1] == spec.shape[3]:
        return place(name, part, memory_config, output_tensor)
    batch, height, width, channels = tuple(part.spec.shape)
    count, wide = batch * height * width, shards.shape[1]
    flat = reshaped(name, part, (1, 1, count, channels))
    tall = shards.shape[0]
    held = {TensorMemoryLayout.HEIGHT_SHARDED: (count, wide), TensorMemoryLayout.WIDTH_SHARDED: (tall, channels)}
    full = held.get(memory_config.memory_layout, (count, channels))
    if full[0] > count or full[1] > channels:
        target = TensorSpec.of((1, 1, *full), flat.spec.dtype, Layout.ROW_MAJOR, DRAM_MEMORY_CONFIG)
        window = [(0, size) for size in flat.spec.shape]
        flat = move(flat, target, strides=strides_of(tuple(flat.spec.shape)), window=window)
    return place(name, flat, memory_config, output_tensor)


def _check_written(name: str, input_tensor: Tensor, output_tensor: Tensor, begin: Sequence[int]) -> None:
    """Refuse tensors that the program for shards does not support."""
    of, into = input_tensor.spec, output_tensor.spec
    if not into.memory_config.interleaved:
        raise MemoryConfigError(
            f"{name}: output_tensor is sharded; use ttnn.DRAM_MEMORY_CONFIG.",
            vendor="Slice Write currently doesn't support sharded output tensors.",
        )
    if of.memory_config.interleaved:
        return
    if of.layout is not into.layout:
        raise LayoutError(
            f"{name}: input_tensor is sharded in {of.layout.name}, output_tensor in {into.layout.name}; layouts must "
            "be equal.",
            vendor=f"Slice write expects output tensor to be in TILE layout, got {into.layout.cpp_name}",
        )
    if begin[-1]:
        raise ShapeError(
            f"{name}: the slice begins at channel {begin[-1]}; shards are written from channel 0 on.",
            vendor=f"slice_write expects output start for the last dimension to be 0. Got {begin[-1]}",
        )
    if of.layout is Layout.TILE and begin[-2] % TILE_SIZE:
        raise ShapeError(
            f"{name}: the slice begins at column {begin[-2]}; in tiles it must be a multiple of {TILE_SIZE}.",
            vendor="Slice write expects output start for the second last dimension to be a multiple of tile height",
        )


def _write_shards(
    name: str, input_tensor: Tensor, output_tensor: Tensor, begin: Sequence[int], shape: Sequence[int]
) -> None:
    """Write pixels from shard rows into a slice.

    Shards may have more channels and more rows than the slice.
    """
    *leading, width, channels = shape
    if input_tensor.spec.layout is Layout.TILE:
        width, channels = _up(width), _up(channels)
    dims = tuple(input_tensor.spec.shape)
    if dims[:2] == (1, 1):
        count = width
        for size in leading:
            count *= size
        # Full tiles: the padding of the slice's columns is written, too.
        taken = [1, 1, count, channels]
        if dims[2] < count or dims[3] < channels:
            raise ShapeError(
                f"{name}: input_tensor has {dims[2]} pixels of {dims[3]} channels; the slice has {count} of {channels}."
            )
        input_tensor = sliced(name, input_tensor, [0] * 4, taken, memory_config=DRAM_MEMORY_CONFIG)
        input_tensor = reshaped(name, input_tensor, (*leading, width, channels))
    write_into(input_tensor, output_tensor, begin)


def _write_steps(
    name: str, rows: Tensor, output: Tensor, begin: Sequence[int], step: Sequence[int], counts: Sequence[int]
) -> None:
    """Write rows to every `step`-th place from `begin` on."""
    dims = tuple(output.spec.shape)
    wanted = [count * every for count, every in zip(counts, step, strict=True)]
    held = [min(size, limit - first) for size, limit, first in zip(wanted, dims, begin, strict=True)]
    region = TensorSpec.of(tuple(wanted), output.spec.dtype, Layout.ROW_MAJOR, DRAM_MEMORY_CONFIG)
    strides = strides_of(dims)
    offset = sum(first * stride for first, stride in zip(begin, strides, strict=True))
    around = move(output, region, strides=strides, offset=offset, window=[(0, size) for size in held])
    # The first of each group of `step` elements is written.
    groups = [size for pair in zip(counts, step, strict=True) for size in pair]
    around = reshaped(name, around, groups)
    if around.buffer is output.buffer:
        around = moved_to(around, DRAM_MEMORY_CONFIG)
    firsts = [size for count in counts for size in (count, 1)]
    write_into(reshaped(name, rows, firsts), around, [0] * len(groups))
    around = reshaped(name, around, wanted)
    write_into(sliced(name, around, [0] * len(held), held), output, begin)


def _slice_write(
    input_tensor: Tensor, output_tensor: Tensor, start: Sequence[int], end: Sequence[int], step: Sequence[int]
) -> Tensor:
    name = "ttnn.experimental.slice_write"
    device = on_device(name, input_tensor)
    same_device(name, device, output_tensor, "output_tensor")
    of, into = input_tensor.spec, output_tensor.spec
    rank = into.shape.rank
    lengths = {len(start), len(end), len(step), of.shape.rank}
    if lengths != {rank} or not rank:
        raise ShapeError(
            f"{name}: input_tensor is {of.shape}, output_tensor {into.shape}, with start={list(start)}, "
            f"end={list(end)} and step={list(step)}; all ranks must be equal.",
            vendor="Ranks of input tensor, output_tensor, slice start and slice end should be equal.",
        )
    if any(count < 1 for count in step):
        raise ShapeError(f"{name}: step={list(step)} must be positive.")
    begin = [int(first) for first in start]
    if any(not 0 <= first <= last <= limit for first, last, limit in zip(begin, end, into.shape, strict=True)):
        raise ShapeError(
            f"{name}: the slice from {begin} to {list(end)} is not within output_tensor, {into.shape}.",
            vendor="must be less than or equal to the shape of the tensor",
        )
    shape = [-(-(last - first) // every) for first, last, every in zip(begin, end, step, strict=True)]
    if of.dtype is not into.dtype:
        raise DTypeError(
            f"{name}: input_tensor is {of.dtype.name}, output_tensor {into.dtype.name}; they must be equal.",
            vendor="Input & output should have the same dtype",
        )
    if 0 in shape:
        return output_tensor
    steps = any(count != 1 for count in step)
    _check_written(name, input_tensor, output_tensor, begin)
    sharded = not of.memory_config.interleaved
    if sharded and steps:
        raise ParameterError(
            f"{name}: step={list(step)}; shards are written in steps of 1.",
            vendor="Step is not supported for sharded slice_write operation",
        )
    if shape != list(of.shape) and not (sharded and tuple(of.shape)[:2] == (1, 1) and rank == 4):
        raise ShapeError(
            f"{name}: input_tensor is {of.shape}; the slice of output_tensor is {shape}.",
            vendor=f"Size of the slice being written {shape} should match the size of the input tensor {of.shape}",
        )
    if input_tensor.buffer is output_tensor.buffer:
        # Rows are read before others of them are written.
        input_tensor = moved_to(input_tensor, DRAM_MEMORY_CONFIG)
    if sharded:
        _write_shards(name, input_tensor, output_tensor, begin, shape)
        return output_tensor
    rows, target = _in_rows(name, input_tensor), _in_rows(name, output_tensor)
    if steps:
        _write_steps(name, rows, target, begin, step, shape)
    else:
        write_into(rows, target, begin)
    if into.layout is Layout.TILE:
        # The official program converts all of the output to rows, and back.
        copy_into(tilize_padded(name, target), output_tensor)
    return output_tensor


_IMAGE_TYPES: Final = (DataType.BFLOAT16, DataType.FLOAT32, DataType.INT32, DataType.UINT32, DataType.UINT16)

slice_write = register_movement(
    "experimental.slice_write",
    (
        Signature(
            (
                INPUT_TENSOR,
                Param("output_tensor", TENSOR, doc="[...] of the same data type: what is written to."),
                Param("start", INT_SEQUENCE, doc="First index of every dimension.", example=[0, 0, 0, 0]),
                Param("end", INT_SEQUENCE, doc="End index (excluded).", example=[1, 1, 64, 128]),
                Param("step", INT_SEQUENCE, doc="Steps of every dimension.", example=[1, 1, 1, 1]),
            )
        ),
    ),
    _slice_write,
    "Write a tensor into a slice of another, and return that.\n"
    "Shape: [...], [...] -> [...].\n"
    "Shards of shape [1, 1, n * h * w, C] hold the pixels of the slice as rows. More channels than the slice has are "
    "left out.",
    dtypes=_IMAGE_TYPES,
    engine=("write_window",),
    raises=(
        ("ShapeError", "shapes and the slice do not fit."),
        ("DTypeError", "data types differ."),
        ("LayoutError", "the input is sharded, and its layout is not that of the output."),
        ("MemoryConfigError", "the output is sharded."),
        ("ParameterError", "shards are to be written in steps."),
    ),
    examples=(),
)
padded_slice = register_movement(
    "experimental.padded_slice",
    (
        Signature(
            (
                Param("input_tensor", TENSOR, doc="[N, H, W, C] on a device.", example=Operand((1, 8, 8, 32))),
                Param("padded_slice_start", INT_SEQUENCE, doc="First index of every dimension.", example=[0, 0, 0, 0]),
                Param("padded_slice_end", INT_SEQUENCE, doc="End index (excluded).", example=[1, 4, 8, 32]),
                Param("padded_slice_step", INT_SEQUENCE, None, doc="Only 1 exists.", example=[1, 1, 1, 1]),
            ),
            (
                Param("memory_config", MEMORY_CONFIG, doc="Shards of the output."),
                Param("output_tensor", TENSOR, None, doc="Preallocated output."),
                Param("pad_value", FLOAT, None, doc="Not looked at: channels beyond the input's hold zeros."),
            ),
        ),
    ),
    _padded_slice,
    "Return a slice of images, pixel sharded, channels padded to shard width.\n"
    "Shape: [N, H, W, C] -> [1, 1, n * h * w, C], row-major.",
    dtypes=(*_IMAGE_TYPES, DataType.BFLOAT8_B),
    engine=("move_elements",),
    composition=True,
    raises=(
        ("ShapeError", "the rank is not 4, or the slice is out of range."),
        ("ParameterError", "a step is not 1."),
        ("MemoryConfigError", "the input is sharded, or the output is not."),
        ("DTypeError", "`output_tensor` has another data type."),
    ),
    aliases=("padded_slice",),
    examples=(),
)
