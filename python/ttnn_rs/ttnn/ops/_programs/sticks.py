"""Images as sticks, the channels of a pixel, and their pooling operators.

Source: tt-metal `ttnn/cpp/ttnn/operations/pool`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ttnn.base.compute_config import FIDELITY_NUMBER, WormholeComputeKernelConfig
from ttnn.base.enums import FORMAT_CODE, DataType, Layout, MathFidelity
from ttnn.base.exceptions import DTypeError, ParameterError, ShapeError
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, MemoryConfig
from ttnn.base.tensor_spec import TensorSpec
from ttnn.base.tile import element_size
from ttnn.ops._programs.common import allocate, on_device
from ttnn.ops._programs.element_map import copy_into, in_rows
from ttnn.ops.data_movement.layout import tilize_padded, untilized
from ttnn.runtime import engine_steps
from ttnn.tensor.tensor import Tensor

_MOST: Final = 1 << 31
Indices = npt.NDArray[np.int32]


POOLED: Final = (DataType.BFLOAT16, DataType.BFLOAT8_B)
"""Data types of images whose pixels are compared or added."""


def pixels(name: str, tensor: Tensor, count: int, channels: int, dtypes: Sequence[DataType] = POOLED) -> Tensor:
    """Return an image as row-major rows of channels.

    Raises:
        ShapeError: it has another number of pixels or channels.
        DTypeError: it has none of the data types.
    """
    on_device(name, tensor)
    spec = tensor.spec
    if spec.dtype not in dtypes:
        raise DTypeError(f"{name}: input_tensor is {spec.dtype.name}; typecast it to bfloat16 first.")
    shape = tuple(spec.shape)
    if len(shape) < 2 or math.prod(shape[:-1]) != count or shape[-1] != channels or not count * channels:
        raise ShapeError(
            f"{name}: input_tensor has shape {list(shape)}; it must have {count} pixels of {channels} channels.",
            vendor=f"Input tensor must have {count} sticks of {channels} channels",
        )
    is_tiled = spec.layout is Layout.TILE
    return in_rows(untilized(name, tensor, DRAM_MEMORY_CONFIG) if is_tiled else tensor)


def pooled(
    name: str,
    rows: Tensor,
    shape: tuple[int, ...],
    sticks: Indices,
    weights: Sequence[Sequence[float]] = (),
    which: Sequence[int] | npt.NDArray[Any] = (),
    *,
    dst32: bool = False,
    compute: WormholeComputeKernelConfig | None = None,
    memory_config: MemoryConfig | None = None,
    layout: Layout = Layout.ROW_MAJOR,
) -> Tensor:
    """Return the maximum or the weighted sum of sticks for every output.

    Args:
        name: The operator.
        rows: Sticks, row-major, in bfloat16; sums of float32 are possible as well.
        shape: Shape of the result.
        sticks: [outputs, window]: numbers of sticks, -1 where there is none.
        weights: Rows of weights, each truncated to bfloat16; none for the largest.
        which: The row of weights of every output.
        dst32: Sums are kept in 32 bits.
        compute: Compute configuration; HiFi4 without one.
        memory_config: Memory config of the result. Default: interleaved in DRAM.
        layout: Layout of the result.
    """
    device = on_device(name, rows)
    fidelity = MathFidelity.HiFi4
    if compute is not None:
        if compute.math_fidelity is not MathFidelity.Invalid:
            fidelity = compute.math_fidelity
        dst32 = dst32 or compute.fp32_dest_acc_en
    dtype = rows.spec.dtype
    output = allocate(TensorSpec.of(shape, dtype, Layout.ROW_MAJOR, DRAM_MEMORY_CONFIG), device)
    assert rows.buffer is not None
    assert output.buffer is not None
    engine_steps.pool_sticks(
        rows.buffer,
        output.buffer,
        format=FORMAT_CODE[dtype],
        channels=shape[-1],
        window=sticks.shape[1],
        sticks=np.ascontiguousarray(sticks, np.int32).reshape(-1),
        weights=[weight for row in weights for weight in row],
        rows=np.asarray(which, np.uint32),
        dst32=dst32,
        fidelity=FIDELITY_NUMBER[fidelity],
    )
    return placed(name, output, memory_config, layout)


def copied(
    name: str,
    rows: Tensor,
    shape: tuple[int, ...],
    sticks: Indices,
    *,
    memory_config: MemoryConfig | None = None,
    layout: Layout = Layout.ROW_MAJOR,
) -> Tensor:
    """Return sticks by their numbers, unchanged."""
    dtype = rows.spec.dtype
    output = allocate(TensorSpec.of(shape, dtype, Layout.ROW_MAJOR, DRAM_MEMORY_CONFIG), on_device(name, rows))
    assert rows.buffer is not None
    assert output.buffer is not None
    engine_steps.copy_sticks(
        rows.buffer,
        output.buffer,
        sticks=np.ascontiguousarray(sticks, np.int32).reshape(-1),
        bytes=shape[-1] * element_size(dtype),
    )
    return placed(name, output, memory_config, layout)


def placed(name: str, rows: Tensor, memory_config: MemoryConfig | None, layout: Layout) -> Tensor:
    """Return a row-major result in its layout and memory config.

    Without one, in DRAM.
    """
    target = memory_config or DRAM_MEMORY_CONFIG
    output = tilize_padded(name, rows) if layout is Layout.TILE else rows
    if output.spec.memory_config == target:
        return output
    moved = allocate(output.spec.with_memory_config(target), on_device(name, rows))
    copy_into(output, moved)
    return moved


@dataclass(frozen=True)
class Axis:
    """A window along one dimension of an image."""

    extent: int
    size: int
    stride: int
    before: int
    after: int
    dilation: int = 1
    ceil: bool = False

    @property
    def outputs(self) -> int:
        """Window positions.

        With `ceil`, also one that begins inside and ends outside.
        """
        free = self.extent + self.before + self.after - self.dilation * (self.size - 1) - 1
        count = (-(-free // self.stride) if self.ceil else free // self.stride) + 1
        beyond = self.ceil and (count - 1) * self.stride >= self.extent + self.before
        return count - 1 if beyond else count

    def places(self) -> Indices:
        """Return the positions of every window, -1 outside the image: [outputs, size]."""
        found = self.positions()
        return np.where((found >= 0) & (found < self.extent), found, -1).astype(np.int32)

    def positions(self) -> npt.NDArray[np.int64]:
        """Return the positions of every window, also outside the image: [outputs, size]."""
        first = np.arange(self.outputs)[:, None] * self.stride - self.before
        return first + np.arange(self.size)[None, :] * self.dilation

    def counted(self) -> npt.NDArray[np.int64]:
        """Return each pooling window's number of positions in the image or padding."""
        first = np.arange(self.outputs) * self.stride - self.before
        end = np.minimum(first + self.size, self.extent + self.after)
        return end - first


def windows(batch: int, rows: Indices, columns: Indices, extent: tuple[int, int]) -> Indices:
    """Return the sticks of the windows of images: [batch * rows * columns, size]."""
    height, width = extent
    pairs = rows[:, None, :, None] * width + columns[None, :, None, :]
    outside = (rows[:, None, :, None] < 0) | (columns[None, :, None, :] < 0)
    image = np.where(outside, -1, pairs).reshape(rows.shape[0] * columns.shape[0], -1)
    shifts = np.arange(batch)[:, None, None] * height * width
    every = np.where(image[None] < 0, -1, image[None] + shifts)
    return every.reshape(-1, image.shape[1]).astype(np.int32)


def divided(parts: int, most: int) -> int:
    """Return how many of `most` cores divide some parts.

    Less than one core's share is padding.
    """
    for count in range(min(most, parts), 1, -1):
        share = -(-parts // count)
        if share * count - parts < share:
            return count
    return 1


def positive(name: str, label: str, values: Sequence[int], *, least: int = 1, count: int = 2) -> list[int]:
    """Return numbers, or refuse them.

    Raises:
        ParameterError: there are not as many, or one is too small.
    """
    found = [int(value) for value in values]
    if len(found) != count or not all(least <= value < _MOST for value in found):
        raise ParameterError(f"{name}: {label} is {list(values)}; it must be {count} numbers from {least} on.")
    return found


def sides(name: str, padding: Sequence[int]) -> list[int]:
    """Return padding as top, bottom, left, right."""
    if len(padding) == 2:
        height, width = positive(name, "padding", padding, least=0)
        return [height, height, width, width]
    return positive(name, "padding", padding, least=0, count=4)


def as_words(values: Any) -> list[list[float]]:
    """Return rows of weights as lists of floats."""
    return [[float(weight) for weight in row] for row in values]
