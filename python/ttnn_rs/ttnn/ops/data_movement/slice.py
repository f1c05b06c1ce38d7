"""`ttnn.slice`: the elements of a range in every dimension.

Bits move unchanged, except where the slice of a tiled bfloat16 tensor does not start on a tile: it passes through Dst.
Source: TT-NN docs "ttnn.slice".
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, Final

from ttnn.base.core_range import CoreRangeSet
from ttnn.base.enums import BLOCK_FLOATS, DataType, Layout
from ttnn.base.exceptions import ParameterError, ShapeError
from ttnn.base.memory_config import MemoryConfig
from ttnn.base.shape import ShapeLike
from ttnn.base.tensor_spec import TensorSpec
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
    OUTPUT_TENSOR_OPTION,
    SUB_CORE_GRIDS_OPTION,
    dimension,
    list_on_host,
    on_device,
    take_output,
)
from ttnn.ops._programs.element_map import move_into, strides_of
from ttnn.ops._programs.moved_shards import of_slice
from ttnn.ops._programs.movement import move, register_movement
from ttnn.tensor.tensor import Tensor


def sliced(
    name: str,
    source: Tensor,
    starts: Sequence[int],
    ends: Sequence[int],
    steps: Sequence[int] | None = None,
    memory_config: MemoryConfig | None = None,
    output_tensor: Tensor | None = None,
    pad_value: float | None = None,
) -> Tensor:
    """Return every `steps`-th element from `starts` up to `ends`.

    Raises:
        ShapeError: ranks differ, an end is outside, or a range is reversed.
        ParameterError: a step is not positive.
    """
    device = on_device(name, source)
    spec = source.spec
    dims = tuple(spec.shape)
    rank = len(dims)
    steps = [1] * rank if steps is None else [int(step) for step in steps]
    if not len(starts) == len(ends) == len(steps) == rank:
        raise ShapeError(
            f"{name}: start, end and step need {rank} entries for {spec.shape}, got {len(starts)}, {len(ends)} and "
            f"{len(steps)}.",
            vendor=f"Input rank {rank} and begins {len(starts)} must have the same size"
            if len(starts) != rank
            else f"Start {len(starts)} and end {len(ends)} must have the same size"
            if len(starts) != len(ends)
            else f"Step {len(steps)} must have the same size as start {len(starts)} and end",
        )
    if any(step < 1 for step in steps):
        raise ParameterError(f"{name}: steps={steps} must be positive.")
    begin = [int(start) + size if start < 0 else int(start) for start, size in zip(starts, dims, strict=True)]
    end = [int(stop) + size if stop < 0 else int(stop) for stop, size in zip(ends, dims, strict=True)]
    _check_range(name, spec, begin, end)
    shape = [max(0, -(-(stop - start) // step)) for start, stop, step in zip(begin, end, steps, strict=True)]
    if output_tensor is not None:
        output_tensor = take_output(name, output_tensor, shape, spec.layout, device, dtype=spec.dtype)
    elif tuple(shape) == dims and memory_config in (None, spec.memory_config):
        return source
    in_strides = strides_of(dims)
    strides = [stride * step for stride, step in zip(in_strides, steps, strict=True)]
    offset = sum(start * stride for start, stride in zip(begin, in_strides, strict=True))
    fill = pad_value or 0.0
    # A whole tensor is only moved.
    in_rows = tuple(shape) != dims and _leaves_tiles(spec, begin, steps)
    through_dst = spec.dtype is DataType.BFLOAT16 and in_rows
    if output_tensor is not None:
        return move_into(source, output_tensor, strides=strides, offset=offset, pad_value=fill, through_dst=through_dst)
    place = of_slice(spec, shape, memory_config, device)
    # Rows of block floats are bfloat16, and tiles of these rows stay so; a result without elements has no rows.
    dtype = DataType.BFLOAT16 if in_rows and spec.dtype in BLOCK_FLOATS and 0 not in shape else spec.dtype
    target = TensorSpec.of(shape, dtype, spec.layout, place, spec.tile)
    return move(source, target, strides=strides, offset=offset, pad_value=fill, through_dst=through_dst)


def _check_range(name: str, spec: TensorSpec, begin: Sequence[int], end: Sequence[int]) -> None:
    rank = spec.shape.rank
    padded = tuple(spec.padded_shape)[-rank:]
    tile = [*[1] * (rank - 2), *spec.tile.tile_shape][-rank:]
    for axis, (start, stop) in enumerate(zip(begin, end, strict=True)):
        size = spec.shape[axis]
        if stop > size:
            # The official text names the end rounded up to full tiles, and the padded size.
            named = -(-stop // tile[axis]) * tile[axis] if spec.layout is Layout.TILE else stop
            raise ShapeError(
                f"{name}: dimension {axis} of {spec.shape} ends at {size}, the slice at {stop}.",
                vendor=f"Ends {named} must be less than or equal to the shape of the tensor {padded[axis]}",
            )
        if start < 0 or start > stop:
            raise ShapeError(f"{name}: dimension {axis} of {spec.shape} is sliced from {start} to {stop}.")


def _leaves_tiles(spec: TensorSpec, begin: Sequence[int], steps: Sequence[int]) -> bool:
    """Return True if a tiled slice is converted to rows.

    It cannot be copied tile by tile, has steps, or one dimension.
    """
    if spec.layout is not Layout.TILE:
        return False
    height, width = spec.tile.tile_shape
    row, column = (0, 0, *begin)[-2:]
    return len(begin) == 1 or row % height != 0 or column % width != 0 or any(step != 1 for step in steps)


def _slice(
    input_tensor: Tensor,
    starts: Sequence[int],
    ends: Sequence[int],
    steps: Sequence[int] | None,
    memory_config: MemoryConfig | None,
    output_tensor: Tensor | None,
    pad_value: float | None,
    _sub_core_grids: CoreRangeSet | None,
) -> Tensor:
    return sliced(
        "ttnn.slice", input_tensor, as_list(starts), as_list(ends), steps, memory_config, output_tensor, pad_value
    )


def as_list(values: ShapeLike) -> list[int]:
    """Return the entries of a shape or a sequence."""
    return [int(value) for value in values]


def _slice_by_tensors(
    input_tensor: Tensor,
    starts: Tensor,
    ends: Tensor,
    steps: Sequence[int] | None,
    memory_config: MemoryConfig | None,
    output_tensor: Tensor | None,
    pad_value: float | None,
    slice_dim: int | None,
    num_devices: int | None,
    _sub_core_grids: CoreRangeSet | None,
) -> Tensor:
    name = "ttnn.slice"
    for label, tensor in (("start", starts), ("end", ends)):
        rank = tensor.spec.shape.rank
        if rank != 1:
            raise ShapeError(
                f"{name}: the {label} tensor is {tensor.spec.shape}; it holds one index per dimension.",
                vendor=f"The {label} tensor for slicing must be in 1D shape, but got {rank}D",
            )
    begin = [int(value) for value in list_on_host(name, starts, "the start tensor")]
    end = [int(value) for value in list_on_host(name, ends, "the end tensor")]
    if slice_dim is not None or num_devices is not None:
        end = _ends_of_parts(name, input_tensor, begin, slice_dim, num_devices)
    return sliced(name, input_tensor, begin, end, steps, memory_config, output_tensor, pad_value)


def _ends_of_parts(
    name: str, tensor: Tensor, begin: Sequence[int], slice_dim: int | None, parts: int | None
) -> list[int]:
    """Return the ends of a slice given as one of several parts.

    Along other dimensions it is full.

    Raises:
        ParameterError: one of both numbers is missing.
        ShapeError: the parts do not divide the dimension.
    """
    shape = list(tensor.spec.shape)
    if slice_dim is None or parts is None:
        raise ParameterError(
            f"{name}: slice_dim={slice_dim} and num_devices={parts} go together.",
            vendor="slice_dim and num_devices must be provided for device-only tensor args slice",
        )
    axis = dimension(name, slice_dim, len(shape), "slice_dim")
    if parts < 1 or shape[axis] % parts:
        raise ShapeError(
            f"{name}: dimension {slice_dim} of {tensor.spec.shape} does not divide into num_devices={parts} parts.",
            vendor=f"Input dimension {axis} (size={shape[axis]}) must be evenly divisible by num_devices ({parts})",
        )
    if len(begin) == len(shape):
        shape[axis] = begin[axis] + shape[axis] // parts
    return shape


def _examples(shape: tuple[int, ...], _layout: Layout) -> Iterator[tuple[Any, ...]]:
    rank = len(shape)
    if rank and math.prod(shape):
        yield [0] * rank, [max(1, size // 2) for size in shape]
        yield [size // 2 for size in shape], list(shape), [2] * rank


_SLICE_OPTIONS: Final = (
    MEMORY_CONFIG_OPTION,
    OUTPUT_TENSOR_OPTION,
    Param("pad_value", FLOAT, None, doc="Value of the output's tile padding. Default: 0."),
)


slice = register_movement(
    "slice",
    (
        Signature(
            (
                INPUT_TENSOR,
                Param("starts", TENSOR, doc="Start index of each dimension. Negative indices count from the end."),
                Param("ends", TENSOR, doc="End index of each dimension, not included."),
                Param("slice_step", INT_SEQUENCE, None, doc="Step of each dimension."),
            ),
            (
                *_SLICE_OPTIONS,
                Param(
                    "slice_dim", INTEGER, None, doc="With `num_devices`: the dimension that is cut; others are full."
                ),
                Param("num_devices", INTEGER, None, doc="Into how many slices of one size `slice_dim` divides."),
                SUB_CORE_GRIDS_OPTION,
            ),
            run=_slice_by_tensors,
        ),
        Signature(
            (
                INPUT_TENSOR,
                Param("starts", INT_SEQUENCE),
                Param("ends", INT_SEQUENCE),
                Param("steps", INT_SEQUENCE, doc="Step of each dimension."),
            ),
            (*_SLICE_OPTIONS, SUB_CORE_GRIDS_OPTION),
        ),
        Signature(
            (
                INPUT_TENSOR,
                Param("slice_start", INT_SEQUENCE, doc="Same as `starts`."),
                Param("slice_end", INT_SEQUENCE, doc="Same as `ends`."),
                Param("slice_step", INT_SEQUENCE, None),
            ),
            (*_SLICE_OPTIONS, SUB_CORE_GRIDS_OPTION),
        ),
    ),
    _slice,
    "Return the elements from `starts` to `ends` (excluded), with `steps`.\n"
    "Shape: [d0, d1, ...] -> [ceil((ends[0] - starts[0]) / steps[0]), ...]. Block floats become BFLOAT16 if the slice\n"
    "does not start on a tile, has steps, or has one dimension.",
    golden=golden.slice_,
    raises=(
        ("ShapeError", "an index is out of range, or parts do not divide the dimension."),
        ("ParameterError", "one of `slice_dim` and `num_devices` is missing."),
        ("DTypeError", "`output_tensor` has another data type."),
    ),
    examples=_examples,
)
