"""Kernel windows of convolutions: size, stride, padding, dilation.

Source: tt-metal `ttnn/cpp/ttnn/operations/conv`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ttnn.base.exceptions import ParameterError
from ttnn.ops.conv.weights import Kernel

MOST: Final = 1 << 31
"""No size of an image has more elements."""


@dataclass(frozen=True)
class Window:
    """A kernel window: size, stride, padding, dilation."""

    batch: int
    height: int
    width: int
    kernel: Kernel
    stride: tuple[int, int]
    padding: tuple[int, int, int, int]
    dilation: tuple[int, int]
    spread: tuple[int, int] = (1, 1)
    """Spacing of input pixels in rows and columns, zeros between them."""

    def _places(self, extent: int, size: int, axis: int) -> int:
        before, after = self.padding[2 * axis : 2 * axis + 2]
        return (extent + before + after - self.dilation[axis] * (size - 1) - 1) // self.stride[axis] + 1

    @property
    def out_height(self) -> int:
        """Rows of the output."""
        return self._places(self.height, self.kernel.height, 0)

    @property
    def out_width(self) -> int:
        """Columns of the output."""
        return self._places(self.width, self.kernel.width, 1)

    @property
    def rows(self) -> int:
        """Pixels of the output."""
        return self.batch * self.out_height * self.out_width

    def inside(self, place: int, axis: int) -> tuple[int, int, int]:
        """Return output start, count and input start of a window element."""
        extent, outs = ((self.height, self.out_height), (self.width, self.out_width))[axis]
        shift = place * self.dilation[axis] - self.padding[2 * axis]
        stride = self.stride[axis]
        first = max(0, -(shift // stride))
        last = min(outs - 1, (extent - 1 - shift) // stride)
        return first, max(0, last - first + 1), first * stride + shift


def pair(name: str, label: str, values: Sequence[int], least: int) -> tuple[int, int]:
    """Return two numbers, or refuse them."""
    found = tuple(int(value) for value in values)
    if len(found) != 2 or not all(least <= value < MOST for value in found):
        raise ParameterError(f"{name}: {label} is {list(values)}; it must be two numbers from {least} on.")
    return found[0], found[1]


def sides(name: str, padding: Sequence[int]) -> tuple[int, int, int, int]:
    """Return padding as top, bottom, left, right."""
    found = [int(value) for value in padding]
    if len(found) == 2:
        found = [found[0], found[0], found[1], found[1]]
    if len(found) != 4 or not all(0 <= value < MOST for value in found):
        raise ParameterError(
            f"{name}: padding is {list(padding)}; it must be [height, width] or [top, bottom, left, right]."
        )
    return found[0], found[1], found[2], found[3]


def window_of(
    name: str,
    sizes: tuple[int, int, int, int, int],
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    groups: int,
) -> Window:
    """Return a convolution's window.

    `sizes` are batch, height, width, and channels in and out.

    Raises:
        ParameterError: sizes are not positive, do not divide into groups, or the window does not fit the image.
    """
    batch, height, width, in_channels, out_channels = sizes
    if not all(0 < value < MOST for value in sizes):
        raise ParameterError(f"{name}: batch, image and channels are {list(sizes)}; they must be positive.")
    if groups < 1 or in_channels % groups or out_channels % groups:
        raise ParameterError(
            f"{name}: {in_channels} and {out_channels} channels do not divide into groups={groups}.",
            vendor=f"in_channels ({in_channels}) and out_channels ({out_channels}) must be divisible by groups "
            f"({groups})",
        )
    high, wide = pair(name, "kernel_size", kernel_size, 1)
    window = Window(
        batch,
        height,
        width,
        Kernel(in_channels, out_channels, high, wide, groups),
        pair(name, "stride", stride, 1),
        sides(name, padding),
        pair(name, "dilation", dilation, 1),
    )
    if window.out_height < 1 or window.out_width < 1:
        raise ParameterError(
            f"{name}: a kernel window of {high}x{wide}, dilated by {list(window.dilation)}, does not fit an image of "
            f"{height}x{width} padded by {list(window.padding)}."
        )
    return window
