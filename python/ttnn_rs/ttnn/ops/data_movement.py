"""Operators that give elements another place and change none: reshape, slice, pad, permute and their relatives.

Bits move unchanged, except where the chip's program takes the way through the compute engine (bfloat16 transposes of
rows and columns, and slices of tiled tensors that do not start on a tile). Source: operator programs, section 11.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

from ttnn import golden
from ttnn.exceptions import ShapeError, UnsupportedError, fatal
from ttnn.memory_config import MemoryConfig
from ttnn.ops.accuracy import bit_exact
from ttnn.ops.arguments import (
    BOOLEAN,
    FILL_VALUE,
    FLOAT,
    INT_OR_INTS,
    INT_SEQUENCE,
    INTEGER,
    PADDING,
    RESHAPE_MODE,
    SHAPE_LIKE,
    TENSOR,
    Param,
    Signature,
)
from ttnn.ops.common import (
    INPUT_TENSOR,
    MEMORY_CONFIG_OPTION,
    OUTPUT_TENSOR_OPTION,
    SUB_CORE_GRIDS_OPTION,
    allocate,
    dimension,
    on_device,
    take_output,
)
from ttnn.ops.movement import copy_into, move, move_into, strides_of
from ttnn.ops.registry import Op, register
from ttnn.shape import Shape, ShapeLike, as_dims
from ttnn.tensor import Tensor
from ttnn.tensor_spec import TensorSpec
from ttnn.types import DataType, Layout, TileReshapeMapMode

_SOURCE: Final = 'TT-NN docs "ttnn.{}"; operator programs, section 11'
_ALL: Final = (
    DataType.BFLOAT16,
    DataType.FLOAT32,
    DataType.BFLOAT8_B,
    DataType.BFLOAT4_B,
    DataType.INT32,
    DataType.UINT32,
    DataType.UINT16,
    DataType.UINT8,
)
_LAYOUTS: Final = (Layout.TILE, Layout.ROW_MAJOR)


def _resolved(name: str, volume: int, shape: Sequence[int]) -> tuple[int, ...]:
    """Return `shape` with its -1 replaced by what is left of `volume`."""
    dims = tuple(int(size) for size in shape)
    unknown = [axis for axis, size in enumerate(dims) if size == -1]
    if len(unknown) > 1 or any(size < -1 for size in dims):
        raise ShapeError(f"{name}: {list(dims)} may have one -1 and no other negative size.")
    known = math.prod(size for size in dims if size != -1)
    if unknown and known and volume % known == 0:
        dims = tuple(volume // known if size == -1 else size for size in dims)
    if -1 in dims or math.prod(dims) != volume:
        raise fatal(
            ShapeError,
            f"{name}: a tensor of {volume} elements cannot have the shape {list(dims)}.",
            "Invalid arguments to reshape",
        )
    return dims


def _is_view(spec: TensorSpec, shape: tuple[int, ...]) -> bool:
    """Whether the pages of `shape` are the pages of `spec`, in the same order."""
    old_height, old_width = (1, 1, *spec.shape)[-2:]
    new_height, new_width = (1, 1, *shape)[-2:]
    if spec.memory_config.is_sharded() or old_width != new_width:
        return tuple(spec.shape) == shape
    if spec.layout is not Layout.TILE:
        return True
    tile_height = spec.tile.tile_shape[0]
    return old_height == new_height or (old_height % tile_height == 0 and new_height % tile_height == 0)


def _viewed(source: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Return a tensor of another shape over the same pages."""
    spec = source._spec
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
    """Return the elements of `source` in their order with another shape; a view where pages allow it."""
    spec = source._spec
    dims = _resolved(name, spec.shape.volume(), shape)
    if source._device is None:
        return source._reshape_on_host(dims)
    on_device(name, source)
    in_place = memory_config is None or memory_config == spec.memory_config
    if in_place and _is_view(spec, dims):
        return _viewed(source, dims)
    target = TensorSpec.of(dims, spec.dtype, spec.layout, memory_config or spec.memory_config, spec.tile)
    return move(source, target, pad_value=pad_value or 0.0)


def _reshape(
    input_tensor: Tensor,
    shape: ShapeLike,
    memory_config: MemoryConfig | None,
    pad_value: float | None,
    _reshape_tile_mode: TileReshapeMapMode,
    _sub_core_grids: None,
    _skip_padding_fill: bool,
) -> Tensor:
    return reshaped("ttnn.reshape", input_tensor, tuple(shape), memory_config, pad_value)


def _reshape_padded(
    input_tensor: Tensor,
    logical_shape: ShapeLike,
    padded_shape: ShapeLike,
    memory_config: MemoryConfig | None,
    pad_value: float | None,
    _reshape_tile_mode: TileReshapeMapMode,
    _sub_core_grids: None,
    _skip_padding_fill: bool,
) -> Tensor:
    name = "ttnn.reshape"
    spec = input_tensor._spec
    dims = _resolved(name, spec.shape.volume(), tuple(logical_shape))
    expected = TensorSpec.of(dims, spec.dtype, spec.layout, tile=spec.tile).padded_shape
    if expected != Shape(padded_shape):
        raise UnsupportedError(
            f"{name}: padded_shape is {padded_shape}; only the layout's own is supported, {expected}."
        )
    return reshaped(name, input_tensor, dims, memory_config, pad_value)


def _view(input_tensor: Tensor, shape: ShapeLike) -> Tensor:
    name = "ttnn.view"
    spec = input_tensor._spec
    dims = _resolved(name, spec.shape.volume(), tuple(shape))
    if input_tensor._device is None:
        return input_tensor._reshape_on_host(dims)
    on_device(name, input_tensor)
    if not _is_view(spec, dims):
        raise ShapeError(
            f"{name}: {spec.shape} cannot be seen as {list(dims)} without moving elements in {spec.layout.name}; the "
            "last dimension must stay (and in tiles the one before it, or both be multiples of 32). Use ttnn.reshape."
        )
    return _viewed(input_tensor, dims)


def _squeeze(input_tensor: Tensor, dim: int | Sequence[int] | None) -> Tensor:
    name = "ttnn.squeeze"
    dims = tuple(input_tensor._spec.shape)
    if dim is None:
        axes = set(range(len(dims)))
    else:
        axes = {dimension(name, axis, len(dims)) for axis in ([dim] if isinstance(dim, int) else dim)}
    kept = [size for axis, size in enumerate(dims) if axis not in axes or size != 1]
    return reshaped(name, input_tensor, kept)


def _unsqueeze(input_tensor: Tensor, dim: int) -> Tensor:
    name = "ttnn.unsqueeze"
    dims = list(input_tensor._spec.shape)
    axis = dimension(name, dim, len(dims) + 1)
    return reshaped(name, input_tensor, [*dims[:axis], 1, *dims[axis:]])


def _unsqueeze_to_4d(tensor: Tensor) -> Tensor:
    name = "ttnn.unsqueeze_to_4D"
    dims = tuple(tensor._spec.shape)
    if len(dims) > 4:
        raise ShapeError(f"{name}: the tensor has rank {len(dims)}, more than 4.")
    return reshaped(name, tensor, (1,) * (4 - len(dims)) + dims)


def _permuted(
    name: str, source: Tensor, order: Sequence[int], memory_config: MemoryConfig | None, pad_value: float
) -> Tensor:
    on_device(name, source)
    spec = source._spec
    dims = tuple(spec.shape)
    in_place = memory_config is None or memory_config == spec.memory_config
    if list(order) == list(range(len(dims))):
        return source if in_place else moved_to(source, memory_config or spec.memory_config)
    strides = strides_of(dims)
    shape = [dims[axis] for axis in order]
    target = TensorSpec.of(shape, spec.dtype, spec.layout, memory_config or spec.memory_config, spec.tile)
    # Rows and columns are exchanged by the unpacker; all other orders are reads and writes of whole rows or faces.
    through_dst = spec.dtype is DataType.BFLOAT16 and order[-1] != len(dims) - 1
    return move(source, target, strides=[strides[axis] for axis in order], pad_value=pad_value, through_dst=through_dst)


def moved_to(source: Tensor, memory_config: MemoryConfig) -> Tensor:
    """Return a copy of a device tensor in another place."""
    assert source._device is not None
    output = allocate(source._spec.with_memory_config(memory_config), source._device)
    copy_into(source, output)
    return output


def _permute(input_tensor: Tensor, dims: Sequence[int], memory_config: MemoryConfig | None, pad_value: float) -> Tensor:
    name = "ttnn.permute"
    rank = input_tensor._spec.shape.rank
    if len(dims) != rank:
        raise fatal(
            ShapeError,
            f"{name}: dims={list(dims)} has {len(dims)} entries, input_tensor has rank {rank}.",
            "The number of dimensions in the tensor input does not match the length of the desired ordering",
        )
    order = [dimension(name, axis, rank, "dims") for axis in dims]
    if len(set(order)) != rank:
        raise ShapeError(f"{name}: dims={list(dims)} names a dimension twice.")
    return _permuted(name, input_tensor, order, memory_config, pad_value)


def _permute_positional(input_tensor: Tensor, dims: Sequence[int], pad_value: float) -> Tensor:
    return _permute(input_tensor, dims, None, pad_value)


def _transpose(
    input_tensor: Tensor, dim1: int, dim2: int, memory_config: MemoryConfig | None, pad_value: float
) -> Tensor:
    name = "ttnn.transpose"
    rank = input_tensor._spec.shape.rank
    first, second = dimension(name, dim1, rank, "dim1"), dimension(name, dim2, rank, "dim2")
    order = list(range(rank))
    order[first], order[second] = second, first
    return _permuted(name, input_tensor, order, memory_config, pad_value)


def _transpose_positional(input_tensor: Tensor, dim1: int, dim2: int, pad_value: float) -> Tensor:
    return _transpose(input_tensor, dim1, dim2, None, pad_value)


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
        ShapeError: ranks differ, an end lies outside, or a range runs backwards.
    """
    device = on_device(name, source)
    spec = source._spec
    dims = tuple(spec.shape)
    rank = len(dims)
    steps = [1] * rank if steps is None else [int(step) for step in steps]
    if not len(starts) == len(ends) == len(steps) == rank:
        raise ShapeError(
            f"{name}: start, end and step need {rank} entries for {spec.shape}, got {len(starts)}, {len(ends)} and "
            f"{len(steps)}."
        )
    if any(step < 1 for step in steps):
        raise ShapeError(f"{name}: steps={steps} must be positive.")
    begin = [int(start) + size if start < 0 else int(start) for start, size in zip(starts, dims, strict=True)]
    end = [int(stop) + size if stop < 0 else int(stop) for stop, size in zip(ends, dims, strict=True)]
    _check_range(name, spec, begin, end)
    shape = [max(0, -(-(stop - start) // step)) for start, stop, step in zip(begin, end, steps, strict=True)]
    if output_tensor is not None:
        output_tensor = take_output(name, output_tensor, shape, spec.layout, device)
    elif tuple(shape) == dims and memory_config in (None, spec.memory_config):
        return source
    in_strides = strides_of(dims)
    strides = [stride * step for stride, step in zip(in_strides, steps, strict=True)]
    offset = sum(start * stride for start, stride in zip(begin, in_strides, strict=True))
    fill = pad_value or 0.0
    through_dst = spec.dtype is DataType.BFLOAT16 and _leaves_tiles(spec, begin, steps)
    if output_tensor is not None:
        return move_into(source, output_tensor, strides=strides, offset=offset, pad_value=fill, through_dst=through_dst)
    target = TensorSpec.of(shape, spec.dtype, spec.layout, memory_config or spec.memory_config, spec.tile)
    return move(source, target, strides=strides, offset=offset, pad_value=fill, through_dst=through_dst)


def _check_range(name: str, spec: TensorSpec, begin: Sequence[int], end: Sequence[int]) -> None:
    rank = spec.shape.rank
    padded = tuple(spec.padded_shape)[-rank:]
    tile = [*[1] * (rank - 2), *spec.tile.tile_shape][-rank:]
    for axis, (start, stop) in enumerate(zip(begin, end, strict=True)):
        size = spec.shape[axis]
        if stop > size:
            # The official text names the end rounded up to whole tiles, and the padded size.
            named = -(-stop // tile[axis]) * tile[axis] if spec.layout is Layout.TILE else stop
            raise fatal(
                ShapeError,
                f"{name}: dimension {axis} of {spec.shape} ends at {size}, the slice at {stop}.",
                f"Ends {named} must be less than or equal to the shape of the tensor {padded[axis]}",
            )
        if start < 0 or start > stop:
            raise ShapeError(f"{name}: dimension {axis} of {spec.shape} is sliced from {start} to {stop}.")


def _leaves_tiles(spec: TensorSpec, begin: Sequence[int], steps: Sequence[int]) -> bool:
    """Whether a slice of a tiled tensor cannot be made of whole tiles and therefore runs through rows."""
    if spec.layout is not Layout.TILE:
        return False
    height, width = spec.tile.tile_shape
    row, column = (0, 0, *begin)[-2:]
    return row % height != 0 or column % width != 0 or any(step != 1 for step in steps[-2:])


def _slice(
    input_tensor: Tensor,
    starts: Sequence[int],
    ends: Sequence[int],
    steps: Sequence[int] | None,
    memory_config: MemoryConfig | None,
    output_tensor: Tensor | None,
    pad_value: float | None,
    _sub_core_grids: None,
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
    _sub_core_grids: None,
) -> Tensor:
    name = "ttnn.slice"
    for label, tensor in (("start", starts), ("end", ends)):
        rank = tensor._spec.shape.rank
        if rank != 1:
            raise fatal(
                ShapeError,
                f"{name}: the {label} tensor is {tensor._spec.shape}; it holds one index per dimension.",
                f"The {label} tensor for slicing must be in 1D shape, but got {rank}D",
            )
    if slice_dim is not None or num_devices is not None:
        raise UnsupportedError(f"{name}: slice_dim and num_devices are for several devices, which do not exist here.")
    begin, end = starts.to_list(), ends.to_list()
    return sliced(name, input_tensor, begin, end, steps, memory_config, output_tensor, pad_value)


def _padded(
    name: str,
    source: Tensor,
    widths: Sequence[tuple[int, int]],
    value: float,
    memory_config: MemoryConfig | None,
) -> Tensor:
    on_device(name, source)
    spec = source._spec
    dims = tuple(spec.shape)
    if any(before < 0 or after < 0 for before, after in widths):
        raise ShapeError(f"{name}: padding={[list(pair) for pair in widths]} must not be negative.")
    if spec.layout is Layout.TILE and any(before for before, _ in widths):
        raise fatal(
            ShapeError,
            f"{name}: padding={[list(pair) for pair in widths]} puts elements before the first of a tiled tensor; "
            "convert it with ttnn.to_layout(..., ttnn.ROW_MAJOR_LAYOUT).",
            "ttnn.pad: on device tile padding does not support front padding",
        )
    shape = [before + size + after for size, (before, after) in zip(dims, widths, strict=True)]
    target = TensorSpec.of(shape, spec.dtype, spec.layout, memory_config or spec.memory_config, spec.tile)
    window = [(before, size) for size, (before, _) in zip(dims, widths, strict=True)]
    return move(source, target, strides=strides_of(dims), window=window, pad_value=value)


def _pad(
    input_tensor: Tensor,
    padding: Sequence[Sequence[int]],
    value: float,
    _use_multicore: bool,
    memory_config: MemoryConfig | None,
    _sub_core_grids: None,
) -> Tensor:
    name = "ttnn.pad"
    rank = input_tensor._spec.shape.rank
    if len(padding) > rank or any(len(pair) != 2 for pair in padding):
        raise ShapeError(
            f"{name}: padding={[list(pair) for pair in padding]} needs (before, after) for at most the {rank} "
            f"dimensions of {input_tensor._spec.shape}."
        )
    widths = [(0, 0)] * (rank - len(padding)) + [(int(before), int(after)) for before, after in padding]
    return _padded(name, input_tensor, widths, value, memory_config)


def _pad_to(
    input_tensor: Tensor,
    output_padded_shape: Sequence[int],
    input_tensor_start: Sequence[int],
    value: float,
    _use_multicore: bool,
    memory_config: MemoryConfig | None,
    _sub_core_grids: None,
) -> Tensor:
    name = "ttnn.pad"
    dims = tuple(input_tensor._spec.shape)
    out, start = as_dims(Shape(output_padded_shape)), as_list(input_tensor_start)
    if not len(out) == len(start) == len(dims):
        raise ShapeError(
            f"{name}: output_padded_shape={list(out)} and input_tensor_start={start} need {len(dims)} entries."
        )
    widths = [(first, total - first - size) for size, total, first in zip(dims, out, start, strict=True)]
    return _padded(name, input_tensor, widths, value, memory_config)


_PAD_VALUE: Final = Param("pad_value", FLOAT, 0.0, doc="What tile padding of the result holds.")
_RESHAPE_OPTIONS: Final = (
    MEMORY_CONFIG_OPTION,
    Param("pad_value", FILL_VALUE, None, none=True, doc="What tile padding of a moved result holds. Default: 0."),
    Param("reshape_tile_mode", RESHAPE_MODE, TileReshapeMapMode.CACHE, doc="Changes time only."),
    SUB_CORE_GRIDS_OPTION,
    Param("skip_padding_fill", BOOLEAN, False, modelled=False),
)
_MULTICORE: Final = Param("use_multicore", BOOLEAN, True, doc="Changes time only.")


def _op(name: str, signatures: tuple[Signature, ...], run: Any, doc: str, reference: Any, **more: Any) -> Any:
    """Register a data movement operator."""
    return register(
        Op(
            name=name,
            signatures=signatures,
            run=run,
            doc=doc,
            source=_SOURCE.format(name),
            dtypes=_ALL,
            layouts=_LAYOUTS,
            golden=reference,
            accuracy=bit_exact(),
            engine=("move_elements",),
            numerics="movement",
            **more,
        )
    )


_NEW_SHAPE: Final = Param("shape", INT_SEQUENCE, doc="The new shape; one size may be -1.")

reshape = _op(
    "reshape",
    (
        Signature((INPUT_TENSOR, Param("shape", SHAPE_LIKE, doc=_NEW_SHAPE.doc)), _RESHAPE_OPTIONS),
        Signature(
            (
                INPUT_TENSOR,
                Param("logical_shape", SHAPE_LIKE, doc=_NEW_SHAPE.doc),
                Param("padded_shape", SHAPE_LIKE, doc="Must be the padded shape that the layout gives."),
            ),
            _RESHAPE_OPTIONS,
            run=_reshape_padded,
        ),
        Signature((INPUT_TENSOR, _NEW_SHAPE), _RESHAPE_OPTIONS),
    ),
    _reshape,
    "Return the elements in their order with another shape: a view of the same pages where they allow it.",
    golden.reshape,
    raises=(("ShapeError", "the number of elements differs."),),
)

view = _op(
    "view",
    (Signature((INPUT_TENSOR, _NEW_SHAPE)), Signature((INPUT_TENSOR, Param("shape", SHAPE_LIKE, doc=_NEW_SHAPE.doc)))),
    _view,
    "Return a tensor of another shape over the same pages.",
    golden.reshape,
    raises=(("ShapeError", "elements would have to move."),),
)

squeeze = _op(
    "squeeze",
    (Signature((INPUT_TENSOR, Param("dim", INT_OR_INTS, None, none=True, doc="Dimensions to drop. Default: all."))),),
    _squeeze,
    "Return the tensor without its dimensions of size 1, or without those that `dim` names and that have size 1.",
    golden.squeeze,
)

unsqueeze = _op(
    "unsqueeze",
    (Signature((INPUT_TENSOR, Param("dim", INTEGER, doc="Where the new dimension goes."))),),
    _unsqueeze,
    "Return the tensor with a new dimension of size 1.",
    golden.unsqueeze,
)

unsqueeze_to_4D = _op(  # noqa: N816 - the official name
    "unsqueeze_to_4D",
    (Signature((Param("tensor", TENSOR, doc="Rank at most 4."),)),),
    _unsqueeze_to_4d,
    "Return the tensor with leading dimensions of size 1 up to rank 4.",
    golden.unsqueeze_to_4d,
)

permute = _op(
    "permute",
    (
        Signature(
            (INPUT_TENSOR, Param("dims", INT_SEQUENCE, doc="Order of the dimensions.")),
            (MEMORY_CONFIG_OPTION, _PAD_VALUE),
        ),
        Signature(
            (INPUT_TENSOR, Param("dims", INT_SEQUENCE, doc="Order of the dimensions."), _PAD_VALUE),
            run=_permute_positional,
        ),
    ),
    _permute,
    "Return the tensor with its dimensions in the order `dims`.",
    golden.permute,
    raises=(("ShapeError", "`dims` is not an order of all dimensions."),),
)

_DIMS: Final = (
    INPUT_TENSOR,
    Param("dim1", INTEGER, doc="One dimension."),
    Param("dim2", INTEGER, doc="The other."),
)
transpose = _op(
    "transpose",
    (
        Signature(_DIMS, (MEMORY_CONFIG_OPTION, _PAD_VALUE)),
        Signature((*_DIMS, _PAD_VALUE), run=_transpose_positional),
    ),
    _transpose,
    "Return the tensor with two dimensions exchanged.",
    golden.transpose,
)

_SLICE_OPTIONS: Final = (
    MEMORY_CONFIG_OPTION,
    OUTPUT_TENSOR_OPTION,
    Param("pad_value", FLOAT, None, none=True, doc="What tile padding of the result holds. Default: 0."),
)
slice = _op(
    "slice",
    (
        Signature(
            (
                INPUT_TENSOR,
                Param("starts", TENSOR, doc="First indices, counted from the end if negative."),
                Param("ends", TENSOR, doc="Indices after the last ones."),
                Param("slice_step", INT_SEQUENCE, None, none=True, doc="Distances."),
            ),
            (
                *_SLICE_OPTIONS,
                Param("slice_dim", INTEGER, None, none=True, doc="Only with tensors."),
                Param("num_devices", INTEGER, None, none=True, doc="Only with tensors."),
                SUB_CORE_GRIDS_OPTION,
            ),
            run=_slice_by_tensors,
        ),
        Signature(
            (
                INPUT_TENSOR,
                Param("starts", INT_SEQUENCE),
                Param("ends", INT_SEQUENCE),
                Param("steps", INT_SEQUENCE, doc="Distances."),
            ),
            (*_SLICE_OPTIONS, SUB_CORE_GRIDS_OPTION),
        ),
        Signature(
            (
                INPUT_TENSOR,
                Param("slice_start", INT_SEQUENCE, doc="As starts."),
                Param("slice_end", INT_SEQUENCE, doc="As ends."),
                Param("slice_step", INT_SEQUENCE, None, none=True),
            ),
            (*_SLICE_OPTIONS, SUB_CORE_GRIDS_OPTION),
        ),
    ),
    _slice,
    "Return the elements from the start indices up to the end indices, with steps.",
    golden.slice_,
    raises=(("ShapeError", "an index is out of range."),),
)

pad = _op(
    "pad",
    (
        Signature(
            (
                INPUT_TENSOR,
                Param("padding", PADDING, doc="(before, after) for the last dimensions."),
                Param("value", FLOAT, doc="What the new elements hold."),
            ),
            (_MULTICORE, MEMORY_CONFIG_OPTION, SUB_CORE_GRIDS_OPTION),
        ),
        Signature(
            (
                INPUT_TENSOR,
                Param("output_padded_shape", INT_SEQUENCE, doc="Shape of the result."),
                Param("input_tensor_start", INT_SEQUENCE, doc="Where the input begins in it."),
                Param("value", FLOAT),
            ),
            (_MULTICORE, MEMORY_CONFIG_OPTION, SUB_CORE_GRIDS_OPTION),
            run=_pad_to,
        ),
    ),
    _pad,
    "Return the tensor with elements of one value added around it. Tiled tensors grow at their ends only.",
    golden.pad,
    raises=(("ShapeError", "a padding is negative, or in front of a tiled tensor."),),
)
