"""Scale and zero point of quantization.

They are scalars, tensors of one element, or vectors along an axis.

Source: tt-metal `ttnn/cpp/ttnn/operations/eltwise/quantization/quantization.cpp`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from ttnn.base.enums import BLOCK_FLOATS, DataType, Layout
from ttnn.base.exceptions import DTypeError, LayoutError, ParameterError, ShapeError
from ttnn.operation.signature import INTEGER, NUMBER, TENSOR, Kind
from ttnn.ops._programs.common import INTEGERS, full_tiles, on_device, same_device
from ttnn.ops._programs.typecast import cast
from ttnn.ops.data_movement.reshape import reshaped
from ttnn.tensor.tensor import Tensor

SCALE: Final = Kind(
    "ttnn.Tensor | float", lambda value: TENSOR.accepts(value) or (NUMBER.accepts(value) and value is not True)
)
ZERO_POINT: Final = Kind("ttnn.Tensor | int", lambda value: TENSOR.accepts(value) or INTEGER.accepts(value))


@dataclass(frozen=True)
class Pair:
    """A scale and a zero point, and what errors call them."""

    scale: Tensor | float
    zero_point: Tensor | int
    labels: tuple[str, str] = ("scale", "zero_point")


def check_input(name: str, tensor: Tensor, *values: Tensor | float) -> None:
    """Refuse an input that no program of quantisation reads.

    Args:
        name: The operator, for errors.
        tensor: The input.
        values: Scales and zero points.

    Raises:
        LayoutError: it is row-major, and a scale or zero point a tensor.
        StorageError: it is on the host.
    """
    on_device(name, tensor)
    full_tiles(name, tensor)
    if any(isinstance(value, Tensor) for value in values):
        _check_tiles(name, "input_tensor", tensor)


def _check_tiles(name: str, label: str, tensor: Tensor) -> None:
    if tensor.spec.layout is not Layout.TILE:
        raise LayoutError(f"{name}: {label} is row-major; convert it with ttnn.to_layout(..., ttnn.TILE_LAYOUT).")


def check_scale(name: str, label: str, scale: Tensor, like: Tensor) -> None:
    """Refuse a scale of another kind.

    Raises:
        DTypeError: it holds integers or block floats.
        LayoutError: it is row-major.
        StorageError: it is elsewhere.
    """
    same_device(name, on_device(name, like), scale, label)
    dtype = scale.spec.dtype
    if dtype in INTEGERS:
        raise DTypeError(
            f"{name}: {label} is {dtype.name}; scales are floating point.",
            vendor="Quantization only takes floating-point number scales",
        )
    if dtype in BLOCK_FLOATS:
        raise DTypeError(
            f"{name}: {label} is {dtype.name}; typecast it to bfloat16 or float32.",
            vendor="Unsupported quantization scale data type",
        )
    _check_tiles(name, label, scale)


def check_zero_point(name: str, label: str, zero_point: Tensor, like: Tensor) -> None:
    """Refuse a zero point of another kind.

    Raises:
        DTypeError: it is not int32.
        LayoutError: it is row-major.
        StorageError: it is elsewhere.
    """
    same_device(name, on_device(name, like), zero_point, label)
    if zero_point.spec.dtype is not DataType.INT32:
        raise DTypeError(
            f"{name}: {label} is {zero_point.spec.dtype.name}; zero points are int32.",
            vendor="Quantization only takes int32 zero-points for now",
        )
    _check_tiles(name, label, zero_point)


def _is_one(tensor: Tensor) -> bool:
    return int(np.prod(tensor.spec.shape._dims, dtype=np.int64)) == 1


def check_of_tensor(name: str, pair: Pair, like: Tensor) -> None:
    """Refuse what a whole tensor cannot have as scale and zero point.

    Raises:
        ShapeError: a tensor has more than one element.
    """
    for label, value, check, words in (
        (pair.labels[0], pair.scale, check_scale, "scales"),
        (pair.labels[1], pair.zero_point, check_zero_point, "zero-points"),
    ):
        if not isinstance(value, Tensor):
            continue
        check(name, label, value, like)
        if not _is_one(value):
            raise ShapeError(
                f"{name}: {label} has shape {value.shape}; without axis it has one element.",
                vendor=f"Per-tensor quantization only takes scalar-tensor {words}",
            )


def check_axis(name: str, tensor: Tensor, axis: int) -> int:
    """Return an axis counted from the front.

    Raises:
        ShapeError: it is out of range.
    """
    rank = tensor.spec.shape.rank
    if not -rank <= axis < rank:
        raise ShapeError(
            f"{name}: axis={axis} is out of range for a tensor of rank {rank}.",
            vendor=f"Axis {axis} is outside the range [{-rank}, {rank - 1}]",
        )
    return axis % rank


def _check_vector(name: str, label: str, words: str, value: Tensor, extent: int) -> None:
    if value.spec.shape.rank != 1:
        raise ShapeError(
            f"{name}: {label} has shape {value.shape}; with axis it is a vector.",
            vendor=f"Per-channel quantization expects 1D {words} tensors",
        )
    if value.spec.shape[0] != extent:
        raise ShapeError(
            f"{name}: {label} has {value.spec.shape[0]} elements; the axis has {extent}.",
            vendor=f"Size of the {words} tensor doesn't match the size of the input tensor along the given axis",
        )


def tensors_of(name: str, pair: Pair) -> tuple[Tensor, Tensor]:
    """Return the two as tensors.

    Raises:
        ParameterError: one is a scalar.
    """
    for label, value, words in zip(pair.labels, (pair.scale, pair.zero_point), ("scale", "zero-point"), strict=True):
        if not isinstance(value, Tensor):
            raise ParameterError(
                f"{name}: {label} is the number {value}; with axis it is a vector on the device.",
                vendor=f"Per-channel quantization expects 1D {words} tensors",
            )
    assert isinstance(pair.scale, Tensor)
    assert isinstance(pair.zero_point, Tensor)
    return pair.scale, pair.zero_point


def check_of_channels(name: str, pair: Pair, like: Tensor, axis: int) -> tuple[Tensor, Tensor]:
    """Return scale and zero point of every index of an axis.

    Raises:
        ShapeError: they are no vectors of the axis' length.
    """
    scale, zero_point = tensors_of(name, pair)
    extent = like.spec.shape[axis]
    check_scale(name, pair.labels[0], scale, like)
    check_zero_point(name, pair.labels[1], zero_point, like)
    _check_vector(name, pair.labels[0], "scale", scale, extent)
    _check_vector(name, pair.labels[1], "zero-point", zero_point, extent)
    return scale, zero_point


def along(name: str, vector: Tensor, like: Tensor, axis: int, dtype: DataType) -> Tensor:
    """Return a vector reshaped to broadcast along one axis of `like`.

    It is in another data type.
    """
    shape = [1] * like.spec.shape.rank
    shape[axis] = like.spec.shape[axis]
    return reshaped(name, in_dtype(name, vector, dtype), tuple(shape))


def in_dtype(name: str, tensor: Tensor, dtype: DataType) -> Tensor:
    """Return a tensor in another data type; itself if it has it."""
    return tensor if tensor.spec.dtype is dtype else cast(name, tensor, dtype)
