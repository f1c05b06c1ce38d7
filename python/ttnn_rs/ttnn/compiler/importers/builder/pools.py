"""Reductions over windows: maxima, minima, sums, and cumulative ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ttnn.compiler.importers.builder.padding import between, edges
from ttnn.compiler.importers.builder.steps import Steps, refuse
from ttnn.compiler.importers.builder.types import element_of, lowest, shape_of
from ttnn.compiler.ir.xdsl_adapter import SSAValue

__all__ = ["Windows", "pool"]


@dataclass(frozen=True)
class Windows:
    """Windows over all dimensions of a value.

    Sizes, steps, distances of elements of both, and padding.
    """

    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    dilation: tuple[int, ...]
    base_dilation: tuple[int, ...]
    padding: tuple[tuple[int, int], ...]

    @property
    def moving(self) -> list[int]:
        """Dimensions along which something happens."""
        return [
            i
            for i, size in enumerate(self.sizes)
            if size > 1 or self.strides[i] > 1 or any(self.padding[i]) or self.base_dilation[i] > 1
        ]


def cumulative(shape: Sequence[int], windows: Windows) -> tuple[int, bool] | None:
    """Return the dimension of cumulative sums, and whether they run backwards.

    Else None.
    """
    if any(one != 1 for one in (*windows.strides, *windows.dilation, *windows.base_dilation)):
        return None
    moving = windows.moving
    if not moving:
        ones = [i for i, size in enumerate(shape) if size == 1]
        return (ones[0], False) if ones else None
    if len(moving) != 1:
        return None
    dim = moving[0]
    size = shape[dim]
    if windows.sizes[dim] != size:
        return None
    sides = {(size - 1, 0): False, (0, size - 1): True}
    return (dim, sides[windows.padding[dim]]) if windows.padding[dim] in sides else None


def pool(steps: Steps, value: SSAValue, kind: str, windows: Windows) -> SSAValue:
    """Return a reduction over windows.

    Args:
        steps: The function.
        value: The value.
        kind: `max`, `min`, `sum` or `prod`.
        windows: The windows.
    """
    b = steps.b
    running = cumulative(shape_of(value), windows)
    if running is not None and kind in ("sum", "prod"):
        dim, backwards = running
        given = b.reverse(value, dimensions=[dim]) if backwards else value
        made: SSAValue = b.op({"sum": "cumsum", "prod": "cumprod"}[kind], given, dim=dim)
        return b.reverse(made, dimensions=[dim]) if backwards else made
    if kind == "min":
        return steps.one(b.neg(pool(steps, b.neg(value), "max", windows)))
    if kind == "prod":
        refuse("of products over windows has no TTIR operation")
    fill = steps.splat(0 if kind == "sum" else lowest(element_of(value)), value, ())
    value = between(steps, value, fill, [one - 1 for one in windows.base_dilation])
    windows = replace(windows, base_dilation=(1,) * len(windows.sizes))
    moving = windows.moving
    # Windows are products of intervals: pairs of dimensions, one after another.
    for at in range(0, len(moving), 2):
        value = _images(steps, value, kind, windows, moving[at : at + 2], fill)
    return value


def _images(
    steps: Steps, value: SSAValue, kind: str, windows: Windows, dims: Sequence[int], fill: SSAValue
) -> SSAValue:
    """Return windows over one or two dimensions.

    Those become height and width of images.
    """
    shape = shape_of(value)
    rest = [i for i in range(len(shape)) if i not in dims]
    pads = [windows.padding[i] for i in dims]
    if any(
        min(pair) < 0 or max(pair) > windows.sizes[i] // 2 or kind == "sum" for pair, i in zip(pads, dims, strict=True)
    ):
        low, high = [0] * len(shape), [0] * len(shape)
        for pair, i in zip(pads, dims, strict=True):
            low[i], high[i] = pair
        value, pads = edges(steps, value, fill, low, high), [(0, 0)] * len(dims)
        shape = shape_of(value)
    order = [*rest[:-1], *dims, *rest[-1:]]
    batch = math.prod(shape[i] for i in rest[:-1])
    channels = math.prod(shape[i] for i in rest[-1:])
    image = steps.permute(value, order)
    ones = [1] * (2 - len(dims))
    image = steps.reshape(image, [batch, *(shape[i] for i in dims), *ones, channels])
    (top, bottom), (left, right) = list(pads) + [(0, 0) for _ in ones]
    kernel = [*(windows.sizes[i] for i in dims), *ones]
    dilation = [*(windows.dilation[i] for i in dims), *ones]
    if kind == "sum" and any(one > 1 for one in dilation):
        refuse("of sums over dilated windows has no TTIR operation")
    entries = {
        "kernel": kernel,
        "stride": [*(windows.strides[i] for i in dims), *ones],
        "dilation": dilation,
        "padding": [top, left, bottom, right],
        "ceil_mode": False,
    }
    if kind == "sum":
        found: SSAValue = steps.b.avg_pool2d(image, count_include_pad=True, **entries)
        found = steps.b.multiply(found, steps.splat(math.prod(kernel), found))
    else:
        found = steps.b.max_pool2d(image, **entries)
    height, width = shape_of(found)[1:3]
    sizes = [height, width][: len(dims)]
    found = steps.reshape(found, [*(shape[i] for i in rest[:-1]), *sizes, *(shape[i] for i in rest[-1:])])
    back = [0] * len(shape)
    for position, dim in enumerate(order):
        back[dim] = position
    return steps.permute(found, back)
