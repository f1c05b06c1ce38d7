"""Tensors joined along a dimension, and repeated: concat, stack, repeat, expand, repeat_interleave.

Tiles and rows are copied as they are. Where a piece does not begin on a tile, the tensors pass through rows, as on the
chip. Block floats become bfloat16 there: `concat` and `stack` return BFLOAT16, `repeat` and `expand` cast back.
Source: tt-metal `ttnn/cpp/ttnn/operations/data_movement`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

from ttnn.base.core_range import CoreRangeSet
from ttnn.base.enums import BLOCK_FLOATS, TILE_SIZE, DataType, Layout
from ttnn.base.exceptions import DTypeError, LayoutError, MemoryConfigError, ParameterError, ShapeError
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, MemoryConfig
from ttnn.base.shape import ShapeLike
from ttnn.base.tensor_spec import TensorSpec
from ttnn.base.tile import DEFAULT_TILE
from ttnn.golden import data_movement as golden
from ttnn.operation.domain import Operand
from ttnn.operation.registry import find
from ttnn.operation.signature import INT_SEQUENCE, INTEGER, SHAPE_LIKE, TENSOR, Kind, Param, Signature
from ttnn.ops._programs.common import (
    INPUT_TENSOR,
    MEMORY_CONFIG_OPTION,
    OUTPUT_TENSOR_OPTION,
    SUB_CORE_GRIDS_OPTION,
    agreed_dtype,
    allocate,
    dimension,
    on_device,
    same_device,
    take_output,
)
from ttnn.ops._programs.element_map import copy_into, like_in_rows, strides_of
from ttnn.ops._programs.moved_shards import of_repeated
from ttnn.ops._programs.movement import register_movement
from ttnn.ops._programs.typecast import cast
from ttnn.ops._programs.windows import copy_rows, copy_tiles, in_whole_tiles, tile_grid, write_into
from ttnn.ops.data_movement.layout import tilize_padded, untilized
from ttnn.ops.data_movement.permute import moved_to, permuted
from ttnn.ops.data_movement.reshape import reshaped
from ttnn.ops.data_movement.slice import sliced
from ttnn.tensor.tensor import Tensor

TENSORS: Final = Kind(
    "collections.abc.Sequence[ttnn.Tensor]",
    lambda value: isinstance(value, list | tuple) and all(isinstance(item, Tensor) for item in value),
    "Sequence[Tensor]",
)


def _in_rows(tensor: Tensor) -> DataType:
    """Return the data type of a tensor's rows."""
    dtype = tensor.spec.dtype
    return DataType.BFLOAT16 if dtype in BLOCK_FLOATS else dtype


def _different(name: str, tensors: Sequence[Tensor]) -> DTypeError:
    names = ", ".join(tensor.spec.dtype.name for tensor in tensors)
    return DTypeError(f"{name}: data types differ: {names}.", vendor="All Tensors should have same dtypes.")


def _checked(name: str, tensors: Sequence[Tensor], dim: int) -> int:
    """Return the dimension along which tensors are joined.

    Raises:
        ParameterError: there is no tensor.
        ShapeError: another dimension differs.
        DTypeError: data types of rows differ.
    """
    if not tensors:
        raise ParameterError(
            f"{name}: no tensors to concatenate.", vendor="expected a non-empty vector of input tensors"
        )
    first = tensors[0]
    device = on_device(name, first, "tensors")
    axis = dimension(name, dim, first.spec.shape.rank)
    dims = first.spec.shape._dims
    for tensor in tensors[1:]:
        same_device(name, device, tensor, "a tensor")
        of = tensor.spec.shape._dims
        if len(of) != len(dims) or any(a != b for i, (a, b) in enumerate(zip(of, dims, strict=True)) if i != axis):
            raise ShapeError(
                f"{name}: shapes {first.spec.shape} and {tensor.spec.shape} differ in more than dimension {axis}.",
                vendor="All dimensions must be the same size except for the dimension along which the contenation is "
                "taking place.",
            )
    if len({_in_rows(tensor) for tensor in tensors}) > 1:
        raise _different(name, tensors)
    if len({tensor.spec.memory_config.is_sharded() for tensor in tensors}) > 1 and (
        first.spec.layout is Layout.ROW_MAJOR or first.spec.shape.rank > 4
    ):
        raise MemoryConfigError(
            f"{name}: some of the tensors are sharded and some interleaved; move them with ttnn.to_memory_config.",
            vendor="All tensors must be sharded or all must be interleaved",
        )
    return axis


def _default_place(tensor: Tensor) -> MemoryConfig:
    """Return the memory config of a result of another shape.

    That of an interleaved input, else DRAM.
    """
    config = tensor.spec.memory_config
    return config if config.interleaved else DRAM_MEMORY_CONFIG


def joined(
    name: str,
    tensors: Sequence[Tensor],
    dim: int,
    memory_config: MemoryConfig | None = None,
    output_tensor: Tensor | None = None,
) -> Tensor:
    """Return tensors concatenated along a dimension."""
    axis = _checked(name, tensors, dim)
    first = tensors[0]
    spec, device = first.spec, on_device(name, first)
    place = memory_config or DRAM_MEMORY_CONFIG
    if len(tensors) == 1 and output_tensor is None:
        return first if first.spec.memory_config == (memory_config or place) else moved_to(first, place)
    if len({tensor.spec.layout for tensor in tensors}) > 1:
        tensors = [tensor if tensor.spec.layout is Layout.TILE else tilize_padded(name, tensor) for tensor in tensors]
    layout = tensors[0].spec.layout
    sizes = [tensor.spec.shape[axis] for tensor in tensors]
    shape = list(spec.shape)
    shape[axis] = sum(sizes)
    if output_tensor is not None:
        output_tensor = take_output(name, output_tensor, shape, layout, device, dtype=spec.dtype)
    tiled = layout is Layout.TILE
    inner = axis >= len(shape) - 2
    default_tiles = all(tensor.spec.tile == DEFAULT_TILE for tensor in tensors)
    if tiled and (len(shape) < 2 or not default_tiles or (inner and not in_whole_tiles(sizes))):
        rows = joined(name, [untilized(name, tensor, DRAM_MEMORY_CONFIG) for tensor in tensors], axis)
        tiles = tilize_padded(name, rows)
        if output_tensor is not None:
            if spec.dtype in BLOCK_FLOATS:
                tiles = cast("ttnn.typecast", tiles, spec.dtype)
            copy_into(tiles, output_tensor)
            return output_tensor
        return tiles if tiles.spec.memory_config == place else moved_to(tiles, place)
    if len({tensor.spec.dtype for tensor in tensors}) > 1:
        raise _different(name, tensors)
    output = output_tensor or allocate(TensorSpec.of(shape, spec.dtype, layout, place), device)
    whole = output
    # Pages that are parts of rows are written at the end, all at once.
    output = like_in_rows(whole)
    starts = [0] * len(shape)
    for tensor, size in zip(tensors, sizes, strict=True):
        write_into(tensor, output, starts)
        starts[axis] += size
    if output is not whole:
        copy_into(output, whole)
    return whole


def _concat(
    tensors: Sequence[Tensor],
    dim: int,
    memory_config: MemoryConfig | None,
    output_tensor: Tensor | None,
    groups: int,
    _sub_core_grids: CoreRangeSet | None,
) -> Tensor:
    name = "ttnn.concat"
    axis = _checked(name, tensors, dim)
    if groups < 1:
        raise ParameterError(f"{name}: groups={groups} must be positive.")
    if groups == 1:
        return joined(name, tensors, axis, memory_config, output_tensor)
    if any(tensor.spec.shape[axis] % groups for tensor in tensors):
        sizes = [tensor.spec.shape[axis] for tensor in tensors]
        raise ShapeError(f"{name}: sizes {sizes} of dimension {axis} must be multiples of groups={groups}.")
    pieces = []
    for group in range(groups):
        for tensor in tensors:
            dims = tensor.spec.shape._dims
            starts, ends, size = [0] * len(dims), list(dims), dims[axis] // groups
            starts[axis], ends[axis] = group * size, (group + 1) * size
            pieces.append(sliced(name, tensor, starts, ends, memory_config=_default_place(tensor)))
    return joined(name, pieces, axis, memory_config or _default_place(tensors[0]), output_tensor)


def _stack(input_tensors: Sequence[Tensor], dim: int) -> Tensor:
    name = "ttnn.stack"
    if not input_tensors:
        raise ParameterError(f"{name}: no tensors to stack.")
    rank = input_tensors[0].spec.shape.rank
    axis = dimension(name, dim, rank + 1)
    raised = []
    for tensor in input_tensors:
        if tensor.spec.shape != input_tensors[0].spec.shape:
            raise ShapeError(
                f"{name}: shapes {input_tensors[0].spec.shape} and {tensor.spec.shape} differ.",
                vendor="All dimensions must be the same size except for the dimension along which the contenation is "
                "taking place.",
            )
        if tensor.spec.layout is not input_tensors[0].spec.layout:
            raise LayoutError(
                f"{name}: some of the tensors are ROW_MAJOR and some TILE; convert them with ttnn.to_layout.",
                vendor="All Tensors should have same layouts.",
            )
        dims = list(tensor.spec.shape)
        raised.append(reshaped(name, tensor, (*dims[:axis], 1, *dims[axis:])))
    return joined(name, raised, axis)


def repeated(
    name: str,
    source: Tensor,
    counts: Sequence[int],
    memory_config: MemoryConfig | None = None,
    output_tensor: Tensor | None = None,
) -> Tensor:
    """Return a tensor repeated along each dimension.

    Further counts are of new leading dimensions; fewer are those of the last dimensions.
    """
    device = on_device(name, source)
    if any(count < 0 for count in counts):
        raise ShapeError(f"{name}: repeat_dims={list(counts)} must not be negative.")
    counts = [*[1] * (source.spec.shape.rank - len(counts)), *counts]
    if len(counts) > source.spec.shape.rank:
        source = reshaped(name, source, (*[1] * (len(counts) - source.spec.shape.rank), *source.spec.shape))
    spec, dims = source.spec, source.spec.shape._dims
    shape = [size * count for size, count in zip(dims, counts, strict=True)]
    place = of_repeated(spec, counts, memory_config, device)
    if output_tensor is not None:
        output_tensor = take_output(name, output_tensor, shape, spec.layout, device, dtype=spec.dtype)
    elif all(count == 1 for count in counts):
        return source if spec.memory_config == place else moved_to(source, place)
    tiled = spec.layout is Layout.TILE
    cut = any(count != 1 and size % TILE_SIZE for size, count in zip(dims[-2:], counts[-2:], strict=True))
    if tiled and (len(dims) < 2 or spec.tile != DEFAULT_TILE or cut):
        tiles = tilize_padded(name, repeated(name, untilized(name, source, DRAM_MEMORY_CONFIG), counts))
        if spec.dtype in BLOCK_FLOATS:
            tiles = cast("ttnn.typecast", tiles, spec.dtype)
        if output_tensor is not None:
            copy_into(tiles, output_tensor)
            return output_tensor
        return tiles if tiles.spec.memory_config == place else moved_to(tiles, place)
    output = output_tensor or allocate(TensorSpec.of(shape, spec.dtype, spec.layout, place), device)
    if not math.prod(shape):
        return output
    sizes = tile_grid(source) if tiled else dims
    # Every dimension is one of copies and one of what is copied.
    strides = strides_of(sizes)
    pairs = [pair for count, size in zip(counts, sizes, strict=True) for pair in (count, size)]
    steps = [step for stride in strides for step in (0, stride)]
    if tiled:
        copy_tiles(source, output, shape=pairs, strides=steps)
        return output
    # Copies within a row are written one after the other, into whole rows.
    target = like_in_rows(output)
    for number in range(counts[-1] if dims else 1):
        window = [(0, size) for size in (*pairs[:-2], dims[-1])]
        window[-1] = (number * dims[-1], dims[-1])
        copy_rows(source, target, shape=[*pairs[:-2], shape[-1]], strides=[*steps[:-2], 1], window=window)
    if target is not output:
        copy_into(target, output)
    return output


def _repeat(
    input_tensor: Tensor, repeat_dims: ShapeLike, memory_config: MemoryConfig | None, output_tensor: Tensor | None
) -> Tensor:
    counts = [int(count) for count in repeat_dims]
    return repeated("ttnn.repeat", input_tensor, counts, memory_config, output_tensor)


def _why_not_expanded(dims: Sequence[int], wanted: Sequence[int]) -> str:
    """Return the official sentence about a refused expansion, or empty.

    It is empty if the tensor expands to the shape.
    """
    added = len(wanted) - len(dims)
    if added < 0:
        return "Output rank must be >= input rank for expand"
    for axis in range(len(wanted) - 1, -1, -1):
        size = wanted[axis]
        if axis < added:
            if size < 0:
                return f"Leading dimension must be non-negative (got {size}); it has no corresponding input dimension"
        elif size not in (-1, dims[axis - added]):
            if size < 0:
                return f"Expand dimension size must be -1 or non-negative (got {size})"
            if dims[axis - added] != 1:
                return "Only size 1 dimensions can be expanded in the output shape"
    return ""


def _expand(input_tensor: Tensor, output_shape: Sequence[int], memory_config: MemoryConfig | None) -> Tensor:
    name = "ttnn.expand"
    on_device(name, input_tensor)
    dims, wanted = list(input_tensor.spec.shape), [int(size) for size in output_shape]
    padded = [1] * (len(wanted) - len(dims)) + dims
    vendor = _why_not_expanded(dims, wanted)
    if vendor:
        raise ShapeError(
            f"{name}: a tensor of shape {dims} does not expand to {wanted}; only dimensions of size 1 do.",
            vendor=vendor,
        )
    counts = [1 if want in (-1, size) else want for want, size in zip(wanted, padded, strict=True)]
    return repeated(name, input_tensor, counts, memory_config)


def _repeat_interleave(input_tensor: Tensor, repeats: int, dim: int, memory_config: MemoryConfig | None) -> Tensor:
    return each_repeated("ttnn.repeat_interleave", input_tensor, repeats, dim, memory_config)


def each_repeated(
    name: str, input_tensor: Tensor, repeats: int, dim: int, memory_config: MemoryConfig | None
) -> Tensor:
    """Return a tensor with every slice along a dimension repeated in place."""
    on_device(name, input_tensor)
    rank = input_tensor.spec.shape.rank
    axis = dimension(name, dim, rank)
    if repeats < 1:
        raise ParameterError(f"{name}: repeats={repeats} must be positive.")
    order = list(range(rank))
    place = memory_config or _default_place(input_tensor)
    source = input_tensor
    if axis == rank - 1 and rank > 1:
        # Elements of a row are rows of the transposed tensor.
        order[-1], order[-2] = order[-2], order[-1]
        source, axis = permuted(name, source, order, DRAM_MEMORY_CONFIG, 0.0), rank - 2
    dims = list(source.spec.shape)
    raised = reshaped(name, source, (*dims[: axis + 1], 1, *dims[axis + 1 :]))
    counts = [1] * len(dims)
    counts.insert(axis + 1, repeats)
    dims[axis] *= repeats
    result = reshaped(name, repeated(name, raised, counts), dims)
    if order != list(range(rank)):
        result = permuted(name, result, order, place, 0.0)
    return result if result.spec.memory_config == place else moved_to(result, place)


ONLY_ROWS: Final = (DataType.UINT8,)
"""No program tilizes bytes, which pieces of tiles need."""
_GROUPS: Final = Param("groups", INTEGER, 1, doc="Each tensor is cut into so many parts, which are joined in turns.")
_TENSORS: Final = Param("tensors", TENSORS, doc="Tensors on a device, equal in all dimensions but `dim`.")


def _repeats(shape: tuple[int, ...], _layout: Layout) -> tuple[tuple[Any, ...], ...]:
    rank = len(shape)
    return ((((2,) * rank),), ((3, *[1] * rank),)) if rank else ()


def _interleaved(shape: tuple[int, ...], _layout: Layout) -> tuple[tuple[Any, ...], ...]:
    return ((2, 0), (3, -1)) if shape else ()


concat = register_movement(
    "concat",
    (
        Signature(
            (_TENSORS, Param("dim", INTEGER, 0, doc="Dimension along which they are joined.", example=-1)),
            (MEMORY_CONFIG_OPTION, OUTPUT_TENSOR_OPTION, _GROUPS, SUB_CORE_GRIDS_OPTION),
        ),
    ),
    _concat,
    "Return tensors joined along `dim`.\nShape: [..., D1, ...], [..., D2, ...] -> [..., D1 + D2, ...].\n"
    "Block floats become BFLOAT16 if a tensor does not end on a tile along `dim`.",
    golden=golden.concat,
    engine=("write_window",),
    raises=(
        ("ShapeError", "another dimension than `dim` differs, or `groups` does not divide it."),
        ("DTypeError", "data types differ."),
        ("ParameterError", "there is no tensor, or `groups` is not positive."),
    ),
    examples=lambda shape, _: ((Operand(shape), -1), (Operand(shape), Operand(shape, 2), 0)) if shape else (),
    only_rows=ONLY_ROWS,
)

stack = register_movement(
    "stack",
    (
        Signature(
            (
                Param("input_tensors", TENSORS, doc="Tensors of one shape on a device."),
                Param("dim", INTEGER, doc="Index of the new dimension.", example=0),
            )
        ),
    ),
    _stack,
    "Return tensors joined along a new dimension `dim`.\nShape: n of [..., D, ...] -> [..., n, D, ...].",
    golden=golden.stack,
    engine=("write_window",),
    composition=True,
    raises=(("ShapeError", "shapes differ."), ("DTypeError", "data types differ."), ("ParameterError", "no tensor.")),
    examples=lambda shape, _: ((Operand(shape), 0), (Operand(shape), -1)) if shape else (),
    only_rows=ONLY_ROWS,
)

repeat = register_movement(
    "repeat",
    (
        Signature(
            (
                INPUT_TENSOR,
                Param("repeat_dims", SHAPE_LIKE, doc="How often along each dimension.", example=[2, 1, 1, 2]),
            ),
            (
                MEMORY_CONFIG_OPTION,
                Param("optional_output_tensor", TENSOR, None, doc="Preallocated output, of the output's shape."),
            ),
        ),
    ),
    _repeat,
    "Return `input_tensor` repeated along each dimension.\nShape: [d0, d1, ...] -> [r0 * d0, r1 * d1, ...].",
    golden=golden.repeat,
    engine=("write_window",),
    raises=(
        ("ShapeError", "`repeat_dims` has too few entries, or a negative one."),
        ("DTypeError", "`optional_output_tensor` has another data type."),
    ),
    examples=_repeats,
    only_rows=ONLY_ROWS,
)

expand = register_movement(
    "expand",
    (
        Signature(
            (
                INPUT_TENSOR,
                Param(
                    "output_shape", INT_SEQUENCE, doc="Shape of the output; -1 keeps a size.", example=[2, -1, -1, -1]
                ),
            ),
            (MEMORY_CONFIG_OPTION,),
        ),
    ),
    _expand,
    "Return `input_tensor` with dimensions of size 1 repeated.\nShape: [..., 1, ...] -> [..., D, ...].",
    golden=golden.expand,
    engine=("write_window",),
    raises=(("ShapeError", "a dimension that is not 1 would change."),),
    examples=lambda shape, _: (((2, *shape),), ((*[-1] * len(shape),),)) if shape else (),
    only_rows=ONLY_ROWS,
)

repeat_interleave = register_movement(
    "repeat_interleave",
    (
        Signature(
            (
                INPUT_TENSOR,
                Param("repeats", INTEGER, doc="Number of repeats of each element."),
                Param("dim", INTEGER, doc="Dimension along which elements are repeated.", example=1),
            ),
            (MEMORY_CONFIG_OPTION,),
        ),
    ),
    _repeat_interleave,
    "Return `input_tensor` with each element repeated along `dim`.\nShape: [..., D, ...] -> [..., repeats * D, ...].",
    golden=golden.repeat_interleave,
    engine=("write_window",),
    raises=(("ShapeError", "`dim` is out of range."), ("ParameterError", "`repeats` is not positive.")),
    examples=_interleaved,
    only_rows=ONLY_ROWS,
)


_LARGEST_BROADCAST: Final = 4


def _broadcast_to(
    input: Tensor, output_shape: Sequence[int], memory_config: MemoryConfig | None, output: Tensor | None
) -> Tensor:
    name, dims = "ttnn.experimental.broadcast_to", tuple(output_shape)
    rank = input.spec.shape.rank
    if not rank <= len(dims) <= _LARGEST_BROADCAST:
        raise ShapeError(
            f"{name}: output_shape {list(dims)} has rank {len(dims)}; expected {rank} to {_LARGEST_BROADCAST} for an "
            f"input of {input.shape}."
        )
    for label, place in (("input", input.spec.memory_config), ("output", memory_config)):
        if place is not None and place.is_sharded():
            raise MemoryConfigError(
                f"{name}: {label} is sharded; its memory configuration must be interleaved.",
                vendor=f"bcast_to: Invalid {label} memory config. {label.capitalize()} sharding not supported",
            )
    if output is not None:
        agreed_dtype(name, input.spec.dtype, output, input.spec.dtype)
        if memory_config is not None and memory_config != output.spec.memory_config:
            raise MemoryConfigError(
                f"{name}: memory_config is {memory_config}, but output is in {output.spec.memory_config}."
            )
        take_output(name, output, dims, input.spec.layout, on_device(name, input))
    result: Tensor = find("ttnn.expand")(input, list(dims), memory_config=memory_config)
    if output is None:
        return result
    copied: Tensor = find("ttnn.copy")(result, output)
    return copied


broadcast_to = register_movement(
    "experimental.broadcast_to",
    (
        Signature(
            (
                Param("input", TENSOR, doc="[..., H, W] on a device."),
                Param("output_shape", INT_SEQUENCE, doc="Shape of the output.", example=[2, 1, 64, 128]),
            ),
            (MEMORY_CONFIG_OPTION, Param("output", TENSOR, None, doc="Preallocated output, of the output's shape.")),
        ),
    ),
    _broadcast_to,
    "Return `input` with dimensions of size 1 repeated.\nShape: [..., 1, ...] -> [..., D, ...].",
    golden=golden.broadcast_to,
    raises=(
        ("ShapeError", "a dimension that is not 1 would change, or a rank is above 4."),
        ("DTypeError", "`output` has another data type."),
        ("MemoryConfigError", "the input or the output is sharded."),
    ),
    composition=True,
    examples=lambda shape, _: (((2, *shape),),) if 0 < len(shape) < _LARGEST_BROADCAST else (),
    only_rows=ONLY_ROWS,
)
