"""`tensor[...]`: ints, slices and one ellipsis, as PyTorch reads them."""

from __future__ import annotations

import operator
from types import EllipsisType
from typing import Any, TypeVar

import numpy as np

from ttnn.base.exceptions import ArgumentError, IndexRangeError, ShapeError
from ttnn.base.tensor_spec import TensorSpec
from ttnn.tensor import host_buffer
from ttnn.tensor.dunders import operation
from ttnn.tensor.storage import TensorStorage

_T = TypeVar("_T", bound=TensorStorage)


def get_item(tensor: _T, index: Any) -> _T:
    """Return the part at `index`; int-indexed dimensions are dropped.

    On the host, block floats are packed again: a part that does not begin at a multiple of 16 columns gets other
    neighbours to share exponents with, so its values may be rounded again.

    Raises:
        IndexRangeError: an int outside of its dimension, or more indices than dimensions.
        ShapeError: two ellipses, or a step other than 1 on the host.
        ArgumentError: an index of another kind.
    """
    dims = tuple(tensor.shape)
    indices = _expanded(index, len(dims))
    bounds = [_bounds(dim, entry, dims[dim]) for dim, entry in enumerate(indices)]
    dropped = [dim for dim, entry in enumerate(indices) if not isinstance(entry, slice)]
    if tensor._device is None:
        return tensor._by_parts("Tensor[]", lambda part: _on_host(part, bounds, dropped))
    return _on_device(tensor, bounds, dropped)


def _expanded(index: Any, rank: int) -> list[Any]:
    """Return one entry for each dimension."""
    entries = list(index) if isinstance(index, tuple) else [index]
    for entry in entries:
        if isinstance(entry, bool) or not isinstance(entry, int | slice | EllipsisType | np.integer):
            sentence = f"Tensor[]: an index must be an int, a slice or ..., got {entry!r}"
            if entry is None:
                raise ArgumentError(sentence, vendor="'NoneType' object is not iterable")
            raise ArgumentError(sentence)
    dots = [place for place, entry in enumerate(entries) if entry is Ellipsis]
    if len(dots) > 1:
        raise ShapeError(
            "Tensor[]: two ellipses are ambiguous",
            vendor="Only one ellipsis ('...') is allowed in a slice.",
        )
    named = len(entries) - len(dots)
    if named > rank:
        raise IndexRangeError(
            f"Tensor[]: {named} indices for {rank} dimensions",
            vendor=f"Too many indices for tensor of dimension {rank}",
        )
    place = dots[0] if dots else len(entries)
    return [*entries[:place], *[slice(None)] * (rank - named), *entries[place + 1 :]]


def _bounds(dim: int, entry: Any, size: int) -> tuple[int, int, int]:
    """Return (start, end, step) of one dimension."""
    if isinstance(entry, slice):
        try:
            start, end, step = entry.indices(size)
        except TypeError:
            raise ArgumentError(f"Tensor[]: start, stop and step of a slice must be ints, got {entry}") from None
        except ValueError:
            raise ShapeError("Tensor[]: the step of a slice must not be 0") from None
        if step < 0:
            raise ShapeError(f"Tensor[]: the step of a slice must be positive, got {step}")
        return start, max(start, end), step
    number = operator.index(entry)
    positive = number + size if number < 0 else number
    if not 0 <= positive < size:
        raise IndexRangeError(
            f"Tensor[]: index {number} does not exist",
            vendor=f"Index {number} (converted to {positive}) is out of bounds for dimension {dim} of size {size}",
        )
    return positive, positive + 1, 1


def _on_host(tensor: _T, bounds: list[tuple[int, int, int]], dropped: list[int]) -> _T:
    if any(step != 1 for _, _, step in bounds):
        raise ShapeError(
            "Tensor[]: slices of host tensors have step 1; move the tensor to a device, or index its numpy array",
            vendor="Host tensors cannot be accessed with non-unit stride",
        )
    values = tensor._values("Tensor[]")
    part = values[tuple(start if dim in dropped else slice(start, end) for dim, (start, end, _) in enumerate(bounds))]
    # A single element comes out as a scalar; the shape is what is wanted.
    part = np.asarray(part, dtype=values.dtype)
    spec = TensorSpec.of(part.shape, tensor.dtype, tensor.layout, tile=tensor.tile)
    return type(tensor)._on_host(spec, host_buffer.pack(part.copy(order="C"), spec, where="Tensor[]"))


def _on_device(tensor: _T, bounds: list[tuple[int, int, int]], dropped: list[int]) -> _T:
    starts, ends, steps = (list(column) for column in zip(*bounds, strict=True)) if bounds else ([], [], [])
    part: _T = operation("slice")(tensor, starts, ends, steps) if bounds else tensor
    for gone, dim in enumerate(dropped):
        part = operation("squeeze")(part, dim - gone)
    return part
