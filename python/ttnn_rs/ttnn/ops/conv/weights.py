"""Weights and bias of a convolution in the form of its matmul.

Source: tt-metal `ttnn/cpp/ttnn/operations/conv/conv2d/prepare_conv2d_weights`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ttnn.base.enums import TILE_SIZE, DataType, Layout
from ttnn.base.exceptions import DTypeError, ShapeError
from ttnn.device.lifecycle import MeshDevice
from ttnn.ops._programs.common import FLOATS
from ttnn.tensor import conversion
from ttnn.tensor.tensor import Tensor

_ALIGNMENT = 8
"""Channels of a row-major pixel are padded to multiples of 16 bytes."""


@dataclass(frozen=True)
class Kernel:
    """A kernel window with the inner matmul order of its elements."""

    in_channels: int
    out_channels: int
    height: int
    width: int
    groups: int

    @property
    def channels(self) -> int:
        """Channels of a pixel in the product."""
        return -(-self.in_channels // _ALIGNMENT) * _ALIGNMENT

    @property
    def row(self) -> int:
        """Elements of a row of the window: full tiles."""
        return -(-self.width * self.channels // TILE_SIZE) * TILE_SIZE

    @property
    def inner(self) -> int:
        """Elements of the inner dimension."""
        return self.height * self.row

    def column(self, row: int, column: int) -> int:
        """Return where the channels of a pixel of the window begin."""
        return row * self.row + column * self.channels


def is_prepared(weight: Tensor, kernel: Kernel) -> bool:
    """Return True if a tensor is a prepared weight of this kernel."""
    spec = weight.spec
    return spec.layout is Layout.TILE and tuple(spec.shape) == (1, 1, kernel.inner, kernel.out_channels)


def prepared_weights(
    name: str, weight: Tensor, kernel: Kernel, dtype: DataType | None, device: MeshDevice | None
) -> Tensor:
    """Return weights as a tiled matrix [1, 1, K, O].

    They are [O, C / groups, kh, kw]; groups become blocks of zeros.

    Raises:
        ShapeError: they do not fit the convolution.
        DTypeError: they are integers.
    """
    _floating(name, "weight_tensor", weight)
    if is_prepared(weight, kernel):
        return weight if device is None else _on(weight, device)
    shape = tuple(weight.spec.shape)
    each = kernel.in_channels // kernel.groups
    if len(shape) == 3:
        shape = (*shape[:2], 1, shape[2])
    expected = (kernel.out_channels, each, kernel.height, kernel.width)
    if shape != expected:
        raise ShapeError(
            f"{name}: weight_tensor has shape {list(shape)}, it must be {list(expected)}, or prepared weights.",
            vendor=f"Weight tensor shape must be {list(expected)}",
        )
    values = np.asarray(weight.to_numpy(), np.float32).reshape(expected)
    matrix = np.zeros((kernel.inner, kernel.out_channels), np.float32)
    outs = kernel.out_channels // kernel.groups
    for group in range(kernel.groups):
        of_group = slice(group * outs, (group + 1) * outs)
        for i in range(kernel.height):
            for j in range(kernel.width):
                first = kernel.column(i, j) + group * each
                matrix[first : first + each, of_group] = values[of_group, :, i, j].T
    return _tiled(matrix[None, None], dtype or weight.spec.dtype, device)


def prepared_bias(
    name: str, bias: Tensor, out_channels: int, dtype: DataType | None, device: MeshDevice | None
) -> Tensor:
    """Return a tiled bias [1, 1, 1, O], on `device` if set.

    Raises:
        ShapeError: it has another number of channels.
        DTypeError: it is an integer tensor.
    """
    _floating(name, "bias_tensor", bias)
    shape = tuple(bias.spec.shape)
    if shape[-1:] != (out_channels,) or bias.spec.shape.volume() != out_channels:
        raise ShapeError(f"{name}: bias_tensor has shape {list(shape)}; it must be [1, 1, 1, {out_channels}].")
    if bias.spec.layout is Layout.TILE:
        return bias if device is None else _on(bias, device)
    values = np.asarray(bias.to_numpy(), np.float32).reshape(1, 1, 1, out_channels)
    return _tiled(values, dtype or bias.spec.dtype, device)


def _floating(name: str, label: str, tensor: Tensor) -> None:
    if tensor.spec.dtype not in FLOATS:
        raise DTypeError(f"{name}: {label} is {tensor.spec.dtype.name}; it must be floating point.")


def _tiled(values: np.ndarray[Any, np.dtype[np.float32]], dtype: DataType, device: MeshDevice | None) -> Tensor:
    host = Tensor(values, dtype, None, Layout.TILE)
    return host if device is None else conversion.to_device(host, device)


def _on(tensor: Tensor, device: MeshDevice) -> Tensor:
    return tensor if tensor._device is device else conversion.to_device(tensor, device)
