"""Convolutions of any order of dimensions, rank, groups, dilation and padding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ttnn.compiler.importers.builder.padding import between, edges
from ttnn.compiler.importers.builder.steps import Steps, refuse
from ttnn.compiler.importers.builder.types import element_of, shape_of
from ttnn.compiler.ir.xdsl_adapter import SSAValue

__all__ = ["Convolution", "convolve"]


@dataclass(frozen=True)
class Convolution:
    """A convolution.

    Attributes:
        input: Dimensions of the input: batch, features, then the spatial ones.
        kernel: Dimensions of the kernel: output features, input features, then the spatial ones.
        output: Dimensions of the output, as of the input.
        strides: Steps of the window.
        padding: Counts before and after each spatial dimension; negative ones cut off.
        input_dilation: Distances of the input's elements.
        kernel_dilation: Distances of the kernel's elements.
        reversal: Whether the kernel is reversed along each spatial dimension.
        groups: Groups of features.
        batch_groups: Groups of the batch, which become groups of features.
    """

    input: tuple[int, ...]
    kernel: tuple[int, ...]
    output: tuple[int, ...]
    strides: tuple[int, ...]
    padding: tuple[tuple[int, int], ...]
    input_dilation: tuple[int, ...]
    kernel_dilation: tuple[int, ...]
    reversal: tuple[bool, ...] = ()
    groups: int = 1
    batch_groups: int = 1


def convolve(steps: Steps, x: SSAValue, w: SSAValue, conv: Convolution) -> SSAValue:
    """Return a convolution; the kernel is not reversed unless `reversal` says so."""
    b, rank = steps.b, len(conv.strides)
    if rank > 3:
        refuse(f"over {rank} dimensions has no TTIR operation")
    batch, feature, *spatial = conv.input
    x = steps.permute(x, [batch, *spatial, feature])
    w = steps.permute(w, conv.kernel)
    reversed_dims = [2 + i for i, one in enumerate(conv.reversal) if one]
    if reversed_dims:
        w = b.reverse(w, dimensions=reversed_dims)
    groups = conv.groups
    if conv.batch_groups > 1:
        x, groups = _batch_groups(steps, x, conv.batch_groups), conv.batch_groups
    fill = steps.splat(0, x, ())
    x = between(steps, x, fill, [0, *(one - 1 for one in conv.input_dilation), 0])
    padding = [list(one) for one in conv.padding]
    cut = [[0, 0] for _ in padding]
    for i, pair in enumerate(padding):
        for side, count in enumerate(pair):
            if count < 0 and conv.strides[i] == 1:
                # With steps of one, rows without padding are those that the cut removes.
                cut[i][side], pair[side] = -count, 0
    if min((one for pair in padding for one in pair), default=0) < 0:
        low, high = ([0, *(min(0, pair[side]) for pair in padding), 0] for side in (0, 1))
        x = edges(steps, x, fill, low, high)
        padding = [[max(0, one) for one in pair] for pair in padding]
    y = _native(steps, x, w, conv, padding, groups)
    order = [0] * (rank + 2)
    for at, dim in enumerate([conv.output[0], *conv.output[2:], conv.output[1]]):
        order[dim] = at
    y = steps.permute(y, order)
    begins, ends = [0] * (rank + 2), list(shape_of(y))
    for dim, (before, after) in zip(conv.output[2:], cut, strict=True):
        begins[dim], ends[dim] = before, ends[dim] - after
    return steps.slice(y, begins, ends)


def _batch_groups(steps: Steps, x: SSAValue, groups: int) -> SSAValue:
    """Return an input whose groups of the batch are groups of features."""
    batch, *spatial, features = shape_of(x)
    rank = len(spatial)
    x = steps.reshape(x, [groups, batch // groups, *spatial, features])
    x = steps.permute(x, [1, *range(2, 2 + rank), 0, 2 + rank])
    return steps.reshape(x, [batch // groups, *spatial, groups * features])


def _native(
    steps: Steps, x: SSAValue, w: SSAValue, conv: Convolution, padding: Sequence[Sequence[int]], groups: int
) -> SSAValue:
    """Return a convolution with features last, by the operation of its rank."""
    rank = len(conv.strides)
    if rank == 3:
        return _volume(steps, x, w, conv, padding, groups)
    # Lines and points are images of which a dimension has size one.
    shape, kernel = shape_of(x), shape_of(w)
    ones = [1] * (2 - rank)
    x = steps.reshape(x, [*shape[:-1], *ones, shape[-1]])
    w = steps.reshape(w, [*kernel, *ones])
    windows = [*zip(conv.strides, conv.kernel_dilation, padding, strict=True), *((1, 1, (0, 0)) for _ in ones)]
    y = _image(steps, x, w, windows, groups)
    found = shape_of(y)
    return steps.reshape(y, [*found[: 1 + rank], found[-1]])


def _image(
    steps: Steps, x: SSAValue, w: SSAValue, windows: Sequence[tuple[int, int, Sequence[int]]], groups: int
) -> SSAValue:
    """Return a convolution over images.

    Over lines if one dimension of image and kernel has size one.

    Args:
        steps: The function.
        x: Image, features last.
        w: Kernel.
        windows: Step, dilation and padding for each dimension.
        groups: Groups of features.
    """
    shape, kernel = shape_of(x), shape_of(w)
    thin = [i for i in range(2) if shape[1 + i] == kernel[2 + i] == 1 and not any(windows[i][2])]
    if len(thin) != 1:
        (sh, dh, (top, bottom)), (sw, dw, (left, right)) = windows
        image: SSAValue = steps.b.conv2d(
            x, w, None, stride=[sh, sw], padding=[top, left, bottom, right], dilation=[dh, dw], groups=groups
        )
        return image
    other = 1 - thin[0]
    stride, dilation, pads = windows[other]
    line = steps.reshape(x, [shape[0], shape[1 + other], shape[3]])
    short = steps.reshape(w, [*kernel[:2], kernel[2 + other]])
    y: SSAValue = steps.b.conv1d(line, short, None, stride=stride, padding=list(pads), dilation=dilation, groups=groups)
    found = shape_of(y)
    sizes = [found[1], 1] if other == 0 else [1, found[1]]
    return steps.reshape(y, [found[0], *sizes, found[2]])


def _volume(
    steps: Steps, x: SSAValue, w: SSAValue, conv: Convolution, padding: Sequence[Sequence[int]], groups: int
) -> SSAValue:
    """Return a convolution over volumes.

    Its operation has equal padding on both sides, and no dilation.
    """
    fill = steps.splat(0, w, ())
    w = between(steps, w, fill, [0, 0, *(one - 1 for one in conv.kernel_dilation)])
    if any(low != high for low, high in padding):
        low, high = ([0, *(pair[side] for pair in padding), 0] for side in (0, 1))
        x, padding = edges(steps, x, steps.splat(0, x, ()), low, high), [(0, 0)] * 3
    made: SSAValue = steps.b.conv3d(
        x, w, None, stride=list(conv.strides), padding=[one[0] for one in padding], groups=groups
    )
    assert element_of(made) == element_of(x)
    return made
