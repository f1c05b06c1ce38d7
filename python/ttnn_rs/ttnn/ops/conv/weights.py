"""Weights and bias of a convolution in the form of its matmul.

Source: tt-metal `ttnn/cpp/ttnn/operations/conv/conv2d/prepare_conv2d_weights`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ttnn.base.enums import TILE_SIZE, DataType, Layout
from ttnn.base.exceptions import DTypeError, ShapeError
from ttnn.device.lifecycle import MeshDevice
from ttnn.ops._programs.common import FLOATS, values_on_host
from ttnn.tensor import conversion
from ttnn.tensor.tensor import Tensor

ALIGNMENT: Final = 8
"""Channels of a row-major pixel are padded to multiples of 16 bytes."""


@dataclass(frozen=True)
class Kernel:
    """A kernel window with the inner matmul order of its elements.

    Blocks of the inner dimension have a row of the window, or all of it, of the channels of one shard.
    """

    in_channels: int
    out_channels: int
    height: int
    width: int
    groups: int
    shards: int = 1
    """Channel shards, in turn for each kernel row."""
    alignment: int = ALIGNMENT
    """Channels of a shard are padded to a multiple."""
    whole: bool = False
    """A block has the whole window."""
    divided: int = 1
    """Parts of a core's channels; first parts come first."""

    @property
    def channels(self) -> int:
        """Channels of a pixel in a block."""
        return -(-self.in_channels // (self.alignment * self.shards)) * self.alignment

    @property
    def block(self) -> int:
        """Elements of a block of the inner dimension: full tiles."""
        pixels = self.width * (self.height if self.whole else 1)
        return -(-pixels * self.channels // TILE_SIZE) * TILE_SIZE

    @property
    def inner(self) -> int:
        """Elements of the inner dimension."""
        return (1 if self.whole else self.height) * self.shards * self.block

    def column(self, row: int, column: int, shard: int = 0) -> int:
        """Return where a pixel's channels of a shard begin."""
        if self.whole:
            return shard * self.block + (row * self.width + column) * self.channels
        return (row * self.shards + shard) * self.block + column * self.channels

    @property
    def firsts(self) -> list[int]:
        """First channel of each shard."""
        cores = self.shards // self.divided
        return [(shard % cores * self.divided + shard // cores) * self.channels for shard in range(self.shards)]

    def parts(self) -> Iterator[tuple[int, int, int]]:
        """Yield shards with their first channel and number of channels."""
        for shard, first in enumerate(self.firsts):
            if first < self.in_channels:
                yield shard, first, min(self.channels, self.in_channels - first)


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
    values = np.asarray(values_on_host(name, weight, "weight_tensor"), np.float32).reshape(expected)
    outs = kernel.out_channels // kernel.groups
    window = np.zeros((kernel.height, kernel.width, kernel.in_channels, kernel.out_channels), np.float32)
    for group in range(kernel.groups):
        of_group = slice(group * outs, (group + 1) * outs)
        window[:, :, group * each : (group + 1) * each, of_group] = values[of_group].transpose(2, 3, 1, 0)
    matrix = np.zeros((kernel.inner, kernel.out_channels), np.float32)
    for shard, first, count in kernel.parts():
        for i in range(kernel.height):
            for j in range(kernel.width):
                begin = kernel.column(i, j, shard)
                matrix[begin : begin + count] = window[i, j, first : first + count]
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
    values = np.asarray(values_on_host(name, bias, "bias_tensor"), np.float32).reshape(1, 1, 1, out_channels)
    return _tiled(values, dtype or bias.spec.dtype, device)


def _floating(name: str, label: str, tensor: Tensor) -> None:
    if tensor.spec.dtype not in FLOATS:
        raise DTypeError(f"{name}: {label} is {tensor.spec.dtype.name}; it must be floating point.")


def _tiled(values: np.ndarray[Any, np.dtype[np.float32]], dtype: DataType, device: MeshDevice | None) -> Tensor:
    host = Tensor(values, dtype, None, Layout.TILE)
    return host if device is None else conversion.to_device(host, device)


def _on(tensor: Tensor, device: MeshDevice) -> Tensor:
    return tensor if tensor._device is device else conversion.to_device(tensor, device)
