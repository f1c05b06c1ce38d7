"""Convolutions and pooling: windows over the spatial dimensions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

from ttnn.compiler.importers.builder import element_of, scalar, shape_of
from ttnn.compiler.importers.builder.padding import between, edges
from ttnn.compiler.importers.builder.pools import Windows, pool
from ttnn.compiler.importers.builder.steps import refuse
from ttnn.compiler.importers.builder.types import is_float, lowest
from ttnn.compiler.importers.fx.convolution import plain, transposed
from ttnn.compiler.importers.fx.normalization import along
from ttnn.compiler.importers.fx.pooling import product_along
from ttnn.compiler.importers.onnx.scope import Node, Row, Scope
from ttnn.compiler.importers.onnx.types import FLOAT
from ttnn.compiler.ir.xdsl_adapter import SSAValue

__all__ = ["ROWS"]


def _numbers(a: Node, name: str, count: int, default: int) -> list[int]:
    found = a.attribute(name)
    made = [default] * count if found is None else [int(one) for one in found]
    if len(made) != count:
        refuse(f"has {len(made)} numbers as {name} for {count} spatial dimensions")
    return made


class _Frame:
    """Windows of a node.

    Sizes, steps, distances and padding for each spatial dimension.

    Attributes:
        counts: How many there are.
    """

    def __init__(self, a: Node, kernel: Sequence[int]) -> None:
        rank = len(kernel)
        self.sizes = a.shape()[2:]
        self.kernel = list(kernel)
        self.strides = _numbers(a, "strides", rank, 1)
        self.dilations = _numbers(a, "dilations", rank, 1)
        if min((*self.kernel, *self.strides, *self.dilations), default=1) < 1:
            refuse("has windows, steps or distances below 1")
        auto = a.attribute("auto_pad", "NOTSET")
        reach = [d * (k - 1) + 1 for k, d in zip(self.kernel, self.dilations, strict=True)]
        if auto in ("NOTSET", "VALID"):
            pads = _numbers(a, "pads", 2 * rank, 0) if auto == "NOTSET" else [0] * (2 * rank)
            self.low, self.high = pads[:rank], pads[rank:]
            self.counts = [self._count(i, reach[i], up=bool(a.attribute("ceil_mode", 0))) for i in range(rank)]
        elif auto in ("SAME_UPPER", "SAME_LOWER"):
            self.counts = [-(-size // step) for size, step in zip(self.sizes, self.strides, strict=True)]
            total = [
                max(0, (count - 1) * step + wide - size)
                for count, step, wide, size in zip(self.counts, self.strides, reach, self.sizes, strict=True)
            ]
            less, more = [one // 2 for one in total], [one - one // 2 for one in total]
            self.low, self.high = (less, more) if auto == "SAME_UPPER" else (more, less)
        else:
            refuse(f"has auto_pad = {auto}")

    def _count(self, i: int, reach: int, *, up: bool) -> int:
        rest = self.sizes[i] + self.low[i] + self.high[i] - reach
        step = self.strides[i]
        count = (-(-rest // step) if up else rest // step) + 1
        # A window that begins in the padding after the end is left out.
        if up and (count - 1) * step >= self.sizes[i] + self.low[i]:
            count -= 1
        if count < 1:
            refuse(f"has windows of {reach} in {self.sizes[i]} elements")
        return count

    @property
    def pads(self) -> list[tuple[int, int]]:
        """Padding before and after each dimension."""
        return list(zip(self.low, self.high, strict=True))

    def matrix(self, i: int, *, mean: str | None) -> Any:
        """Return the matrix of sums or means over windows.

        Args:
            i: The spatial dimension.
            mean: `all` counts the padding, `inside` does not; None is for sums.
        """
        import numpy as np

        size, made = self.sizes[i], np.zeros((self.sizes[i], self.counts[i]))
        for at in range(self.counts[i]):
            begin = at * self.strides[i] - self.low[i]
            places = [begin + k * self.dilations[i] for k in range(self.kernel[i])]
            inside = [one for one in places if 0 <= one < size]
            counted = inside if mean == "inside" else [one for one in places if one < size + self.high[i]]
            made[inside, at] = 1 / max(1, len(counted)) if mean else 1
        return made


def _convolution(s: Scope, a: Node) -> Any:
    x, w = a[0], a[1]
    s.need_float(x)
    kernel = shape_of(w)[2:]
    frame = _Frame(a, kernel)
    made = plain(s, x, w, frame.strides, frame.pads, frame.dilations, int(a.attribute("group", 1)))
    return _biased(s, a, made)


def _biased(s: Scope, a: Node, made: SSAValue) -> SSAValue:
    bias = a.optional(2)
    if bias is None:
        return made
    return s.one(s.b.add(made, s.cast(along(s, bias, 1, a.rank()), element_of(made))))


def _transposed(s: Scope, a: Node) -> Any:
    x, w = a[0], a[1]
    s.need_float(x)
    kernel, sizes = shape_of(w)[2:], a.shape()[2:]
    rank = len(kernel)
    strides, dilations = _numbers(a, "strides", rank, 1), _numbers(a, "dilations", rank, 1)
    extra = _numbers(a, "output_padding", rank, 0)
    pads = _numbers(a, "pads", 2 * rank, 0)
    low, high = pads[:rank], pads[rank:]
    auto, wanted = a.attribute("auto_pad", "NOTSET"), a.attribute("output_shape")
    if auto.startswith("SAME") and wanted is None:
        wanted = [size * step for size, step in zip(sizes, strides, strict=True)]
    if wanted is not None:
        wanted = list(wanted)[-rank:]
        for i in range(rank):
            full = strides[i] * (sizes[i] - 1) + extra[i] + dilations[i] * (kernel[i] - 1) + 1
            total = full - int(wanted[i])
            if total < 0:
                # The result is longer than the windows reach: zeros follow.
                extra[i], total = extra[i] - total, 0
            less, more = total // 2, total - total // 2
            low[i], high[i] = (less, more) if auto == "SAME_UPPER" else (more, less)
    groups = int(a.attribute("group", 1))
    if rank == 3:
        return _biased(
            s, a, _volume(s, x, w, strides, dilations, low, [h - e for h, e in zip(high, extra, strict=True)], groups)
        )
    moved = [one - two + three for one, two, three in zip(low, high, extra, strict=True)]
    return _biased(s, a, transposed(s, x, w, strides, low, dilations, moved, groups))


def _volume(
    s: Scope,
    x: SSAValue,
    w: SSAValue,
    strides: Sequence[int],
    dilations: Sequence[int],
    low: Sequence[int],
    high: Sequence[int],
    groups: int,
) -> SSAValue:
    """Return a transposed convolution over volumes."""
    inner, outer, *kernel = shape_of(w)
    w = s.reshape(w, [groups, inner // groups, outer, *kernel])
    w = s.reshape(s.permute(w, [0, 2, 1, 3, 4, 5]), [groups * outer, inner // groups, *kernel])
    w = s.aten("flip", FLOAT, self=w, dims=[2, 3, 4])
    x = between(s, x, s.splat(0, x, ()), [0, 0, *(one - 1 for one in strides)])
    reach = [d * (k - 1) for d, k in zip(dilations, kernel, strict=True)]
    pads = [(one - before, one - after) for one, before, after in zip(reach, low, high, strict=True)]
    return plain(s, x, w, [1, 1, 1], pads, dilations, groups)


def _max_pool(s: Scope, a: Node) -> Any:
    if a.wants(1):
        refuse("with positions among its results has no TTIR operation")
    x, frame = a[0], _Frame(a, [int(one) for one in a.attribute("kernel_shape")])
    lead = a.rank() - len(frame.kernel)
    pads = []
    for i, size in enumerate(frame.sizes):
        reach = (frame.counts[i] - 1) * frame.strides[i] + frame.dilations[i] * (frame.kernel[i] - 1) + 1
        pads.append((frame.low[i], max(-size, reach - size - frame.low[i])))
    ones = (1,) * lead
    windows = Windows(
        sizes=(*ones, *frame.kernel),
        strides=(*ones, *frame.strides),
        dilation=(*ones, *frame.dilations),
        base_dilation=(1,) * a.rank(),
        padding=(*((0, 0) for _ in range(lead)), *pads),
    )
    wide = x if is_float(element_of(x)) else s.cast(x, scalar("f32"))
    if max(frame.dilations) > 1:
        return s.cast(_shifted(s, wide, frame, pads), element_of(x))
    return s.cast(pool(s, wide, "max", windows), element_of(x))


def _shifted(s: Scope, x: SSAValue, frame: _Frame, pads: Sequence[tuple[int, int]]) -> SSAValue:
    """Return the largest elements of windows with distances."""
    rank = len(frame.kernel)
    low, high = ([0, 0, *(pair[side] for pair in pads)] for side in (0, 1))
    x = edges(s, x, s.splat(lowest(element_of(x)), x, ()), low, high)
    for i in range(rank):
        made = None
        for k in range(frame.kernel[i]):
            begins, ends, step = [0] * (2 + rank), list(shape_of(x)), [1] * (2 + rank)
            begins[2 + i], step[2 + i] = k * frame.dilations[i], frame.strides[i]
            ends[2 + i] = begins[2 + i] + (frame.counts[i] - 1) * frame.strides[i] + 1
            part = s.slice(x, begins, ends, step)
            made = part if made is None else s.one(s.b.maximum(made, part))
        assert made is not None
        x = made
    return x


def _average_pool(s: Scope, a: Node) -> Any:
    x, frame = s.wide(a[0]), _Frame(a, [int(one) for one in a.attribute("kernel_shape")])
    how = "all" if a.attribute("count_include_pad", 0) else "inside"
    for i in range(len(frame.kernel)):
        x = product_along(s, x, frame.matrix(i, mean=how), 2 + i)
    return s.cast(x, element_of(a[0]))


def _lp_pool(s: Scope, a: Node) -> Any:
    order, frame = int(a.attribute("p", 2)), _Frame(a, [int(one) for one in a.attribute("kernel_shape")])
    x = _powers(s, s.wide(a[0]), order)
    for i in range(len(frame.kernel)):
        x = product_along(s, x, frame.matrix(i, mean=None), 2 + i)
    return s.cast(_roots(s, x, order), element_of(a[0]))


def _powers(s: Scope, x: SSAValue, order: int) -> SSAValue:
    if order < 1 or order > 32:
        refuse(f"has p = {order}")
    size, made = s.b.abs(x), s.b.abs(x)
    for _ in range(order - 1):
        made = s.b.multiply(made, size)
    return s.one(made)


def _roots(s: Scope, x: SSAValue, order: int) -> SSAValue:
    if order == 1:
        return x
    return s.one(s.b.sqrt(x) if order == 2 else s.b.pow(x, s.number(1 / order, x)))


def _global(kind: str) -> Row:
    def row(s: Scope, a: Node) -> Any:
        dims = list(range(2, a.rank()))
        if not math.prod(a.shape()):
            refuse("of no elements has no value")
        if kind == "lp":
            order = int(a.attribute("p", 2))
            total = s.reduce("sum", _powers(s, s.wide(a[0]), order), dims, keep=True)
            return s.cast(_roots(s, total, order), element_of(a[0]))
        return s.reduce(kind, a[0], dims, keep=True)

    return row


ROWS: Final[dict[tuple[str, str], Row]] = {
    ("", "AveragePool"): _average_pool,
    ("", "Conv"): _convolution,
    ("", "ConvTranspose"): _transposed,
    ("", "GlobalAveragePool"): _global("mean"),
    ("", "GlobalLpPool"): _global("lp"),
    ("", "GlobalMaxPool"): _global("max"),
    ("", "LpPool"): _lp_pool,
    ("", "MaxPool"): _max_pool,
}
