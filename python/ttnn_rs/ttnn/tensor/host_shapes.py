"""Shape changes of tensors on the host: reshaping, padding, parts, shards."""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import index as operator_index
from typing import Any, TypeVar

import numpy as np

from ttnn.base.core_range import CoreLike
from ttnn.base.enums import Layout
from ttnn.base.exceptions import ArgumentError, LayoutError, ShapeError
from ttnn.base.shape import ShapeLike, as_dims
from ttnn.base.tensor_spec import TensorSpec
from ttnn.tensor import host_buffer, transfer
from ttnn.tensor.host_buffer import Array
from ttnn.tensor.storage import TensorStorage

_T = TypeVar("_T", bound=TensorStorage)


def several_unknown(sentence: str, dims: Sequence[int]) -> ShapeError:
    """Return the error about a shape with more than one -1."""
    used = "".join(f"{size}," for size in dims)
    vendor = f"Shape cannot have more than 1 elements that is set to -1! Shape used: ({used})"
    return ShapeError(sentence, vendor=vendor)


def resolve_shape(operator: str, tensor: TensorStorage, shape: ShapeLike) -> tuple[int, ...]:
    """Return `shape` with any -1 replaced according to the volume.

    Raises:
        ShapeError: the volumes differ, or there is more than one -1.
    """
    try:
        dims = [operator_index(size) for size in shape]
    except TypeError:
        raise ArgumentError(f"{operator}: shape must be a sequence of ints, got {shape!r}") from None
    volume = tensor.logical_volume()
    if dims.count(-1) > 1:
        raise several_unknown(f"{operator}: {dims} has more than one -1", dims)
    if -1 in dims:
        rest = math.prod(size for size in dims if size != -1)
        dims[dims.index(-1)] = volume // rest if rest else 0
    wanted = as_dims(dims)
    if math.prod(wanted) != volume:
        raise ShapeError(
            f"{operator}: {tensor.shape} has {volume} elements, {list(wanted)} has {math.prod(wanted)}",
            vendor="Invalid arguments to reshape",
        )
    return wanted


def reshaped(tensor: _T, dims: tuple[int, ...]) -> _T:
    """Return a host tensor with another shape of the same volume."""
    spec = TensorSpec.of(dims, tensor.dtype, tensor.layout, tile=tensor.tile)
    host = tensor._require_parts("Tensor.reshape")
    if tensor.layout is Layout.ROW_MAJOR and tensor._spec.raw_bytes == spec.raw_bytes:
        return tensor._like_topology(type(tensor)._on_host(spec, host))
    return tensor._repacked(spec, "Tensor.reshape")


def padded(tensor: _T, shape: ShapeLike, input_start: ShapeLike, pad_value: float) -> _T:
    """Return a host tensor of the same logical shape, padded to `shape`.

    The padded shape has the values at `input_start`, and `pad_value` around them. The logical shape names its first
    elements, as in TT-NN.
    """
    _require_row_major(tensor, "Tensor.pad")
    dims, start = as_dims(shape), as_dims(input_start)
    return tensor._by_parts("Tensor.pad", lambda one: _padded(one, dims, start, pad_value))


def _padded(tensor: _T, dims: tuple[int, ...], start: tuple[int, ...], pad_value: float) -> _T:
    values = _with_padding(tensor, "Tensor.pad", len(dims))
    _check_box(tensor, "Tensor.pad", dims, start, [a + b for a, b in zip(start, values.shape, strict=False)])
    if not isinstance(pad_value, int | float | np.number):
        raise ArgumentError(f"Tensor.pad: pad_value must be a number, got {pad_value!r}")
    full = np.full(dims, _element(pad_value, values.dtype))
    full[tuple(slice(a, a + b) for a, b in zip(start, values.shape, strict=True))] = values
    whole = _same_kind(tensor, full)
    spec = TensorSpec.of(tensor.shape, tensor.dtype, tensor.layout, tile=tensor.tile, padded_shape=dims)
    return type(tensor)._on_host(spec, whole._require_host("Tensor.pad"))


def _element(value: float, dtype: np.dtype[Any]) -> Any:
    """Return a padding value's element.

    It is the smallest integer for NaN and infinity.
    """
    if dtype.kind in "iu":
        return np.array(int(value) if math.isfinite(value) else np.iinfo(dtype).min).astype(dtype)
    return np.array(value).astype(dtype)


def part(tensor: _T, start: ShapeLike, end: ShapeLike) -> _T:
    """Return a slice of a host tensor's padded shape.

    From `start` to `end` (excluded).
    """
    _require_row_major(tensor, "Tensor.unpad")
    first, last = as_dims(start), as_dims(end)
    return tensor._by_parts("Tensor.unpad", lambda one: _part(one, first, last))


def _part(tensor: _T, first: tuple[int, ...], last: tuple[int, ...]) -> _T:
    values = _with_padding(tensor, "Tensor.unpad", len(first))
    _check_box(tensor, "Tensor.unpad", values.shape, first, last)
    return _same_kind(tensor, values[tuple(map(slice, first, last))])


def _with_padding(tensor: TensorStorage, operator: str, rank: int) -> Array:
    """Return padded values, of rank 2 at least if `rank` is set.

    Vectors and scalars have a lower rank otherwise.
    """
    values = host_buffer.unpack_padded(tensor._require_host(operator), tensor._spec)
    return values.reshape((1,) * (rank - values.ndim) + values.shape) if values.ndim < rank <= 2 else values


def shard(tensor: _T, core: CoreLike | int) -> _T:
    """Return a core's shard as a host tensor [1, 1, H, W]."""
    tensor._require_device("Tensor.extract_shard", "the tensor")
    row, column = transfer.shard_of_core(tensor._spec, core)
    shards = tensor._spec.memory_config.shard_spec
    assert shards is not None
    height, width = shards.shape

    def cut(host: _T) -> _T:
        values = host_buffer.unpack_padded(host._require_host("Tensor.extract_shard"), host._spec)
        matrix = values.reshape(tensor._spec.physical_shape)
        held = matrix[row * height : (row + 1) * height, column * width : (column + 1) * width]
        full = np.zeros((1, 1, height, width), dtype=values.dtype)
        full[0, 0, : held.shape[0], : held.shape[1]] = held
        return _same_kind(tensor, full)

    return tensor._to_host("Tensor.extract_shard")._by_parts("Tensor.extract_shard", cut)


def _require_row_major(tensor: TensorStorage, operator: str) -> None:
    tensor._require_parts(operator)
    if tensor.layout is not Layout.ROW_MAJOR:
        raise LayoutError(
            f"{operator}: the tensor is in {tensor.layout.name} layout",
            vendor="Tensor layout must be ROW_MAJOR for padding",
        )


def _check_box(
    tensor: TensorStorage, operator: str, dims: Sequence[int], start: Sequence[int], end: Sequence[int]
) -> None:
    inside = all(0 <= a <= b <= size for a, b, size in zip(start, end, dims, strict=False))
    rank = max(tensor.padded_shape.rank, len(dims) if len(dims) <= 2 else 0)
    if not (len(dims) == len(start) == len(end) == rank and inside):
        raise ShapeError(
            f"{operator}: {list(start)} to {list(end)} does not lie inside of {list(dims)}, or has another rank "
            f"than {tensor.shape}"
        )


def _same_kind(tensor: _T, values: Array) -> _T:
    spec = TensorSpec.of(values.shape, tensor.dtype, tensor.layout, tile=tensor.tile)
    return type(tensor)._on_host(spec, host_buffer.pack(np.ascontiguousarray(values).reshape(values.shape), spec))
