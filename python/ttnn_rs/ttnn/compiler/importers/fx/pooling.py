"""Pooling; means are products with constant matrices, dimension by dimension."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

from ttnn.compiler.importers.builder import scalar, shape_of
from ttnn.compiler.importers.builder.padding import edges
from ttnn.compiler.importers.builder.pools import Windows, pool
from ttnn.compiler.importers.builder.steps import refuse
from ttnn.compiler.importers.fx.convolution import numbers
from ttnn.compiler.importers.fx.scope import Arguments, Row, Scope
from ttnn.compiler.ir.xdsl_adapter import SSAValue

__all__ = ["ROWS", "adaptive", "means", "product_along"]

_PLACES: Final = 64
"""Limit of the places of a window whose largest is located."""


def _windows(
    shape: Sequence[int],
    result: Sequence[int],
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
) -> Windows:
    """Return the windows over the last dimensions.

    Those of `ceil_mode` reach further past the end.
    """
    rank, lead = len(kernel), len(shape) - len(kernel)
    pads = []
    for i in range(rank):
        reach = (result[lead + i] - 1) * stride[i] + dilation[i] * (kernel[i] - 1) + 1
        pads.append((padding[i], max(-shape[lead + i], reach - shape[lead + i] - padding[i])))
    ones = (1,) * lead
    return Windows(
        sizes=(*ones, *kernel),
        strides=(*ones, *stride),
        dilation=(*ones, *dilation),
        base_dilation=(1,) * len(shape),
        padding=(*((0, 0) for _ in range(lead)), *pads),
    )


def _given(a: Arguments, rank: int) -> tuple[list[int], list[int], list[int]]:
    kernel = numbers(a.kernel_size, rank)
    return kernel, numbers(a.stride or kernel, rank), numbers(a.padding, rank)


def _max(rank: int, several: bool) -> Row:
    def row(s: Scope, a: Arguments) -> Any:
        kernel, stride, padding = _given(a, rank)
        dilation = numbers(a.dilation, rank)
        x = a.self
        if several and 1 in a.used:
            return _with_places(s, x, a.shape, kernel, stride, padding, dilation)
        made = _lifted(
            s,
            x,
            rank,
            lambda one, shape: pool(s, one, "max", _windows(shape_of(one), shape, kernel, stride, padding, dilation)),
            a.shape,
        )
        return [made, None] if several else made

    return row


def _with_places(
    s: Scope,
    x: SSAValue,
    result: Sequence[int],
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
) -> list[SSAValue]:
    """Return the largest elements of windows and their places in the image.

    Each place of the window is compared with the largest one before it: the first of equal ones counts.
    """
    import numpy as np

    b, shape, rank = s.b, shape_of(x), len(kernel)
    lead, sizes = len(shape) - rank, shape_of(x)[len(shape) - rank :]
    if math.prod(sizes) > 1 << 24 or math.prod(kernel) > _PLACES:
        refuse(f"with indices, of windows of {list(kernel)} in {list(sizes)}, has no TTIR operation")
    steps = zip(result[lead:], stride, dilation, kernel, strict=True)
    ends = [(n - 1) * step + d * (k - 1) + 1 for n, step, d, k in steps]
    high = [max(0, end - size - pad) for end, size, pad in zip(ends, sizes, padding, strict=True)]
    low = [0] * lead + list(padding)
    wide = edges(s, x, s.splat(-math.inf, x, ()), low, [0] * lead + high)
    word = scalar("f32")

    def flat(starts: Sequence[Any]) -> SSAValue:
        """Return places in the flat image from those in each dimension."""
        places = np.zeros([1] * len(shape))
        for i, (size, line) in enumerate(zip(sizes, starts, strict=True)):
            places = places * size + line.reshape([-1 if j == lead + i else 1 for j in range(len(shape))])
        return s.expand(b.constant(places, word), result)

    lines = [step * np.arange(n) - pad for n, step, pad in zip(result[lead:], stride, padding, strict=True)]
    # The first place of a window that is no padding.
    place = flat([line + d * np.ceil(np.maximum(-line, 0) / d) for line, d in zip(lines, dilation, strict=True)])
    best = s.splat(-math.inf, x, result)
    for offset in np.ndindex(*kernel):
        begins = [one * d for one, d in zip(offset, dilation, strict=True)]
        stops = [begin + (n - 1) * step + 1 for begin, n, step in zip(begins, result[lead:], stride, strict=True)]
        part = s.slice(wide, [0] * lead + begins, [*shape[:lead], *stops], [1] * lead + list(stride))
        here = flat([line + begin for line, begin in zip(lines, begins, strict=True)])
        larger = b.gt(part, best)
        best, place = b.where(larger, part, best), b.where(larger, here, place)
    return [best, s.cast(place, scalar("si32"))]


def _lifted(s: Scope, x: SSAValue, rank: int, function: Any, shape: Sequence[int]) -> SSAValue:
    """Return a function of batches of images, also of a single one."""
    if len(shape_of(x)) == rank + 1:
        made = function(s.reshape(x, [1, *shape_of(x)]), [1, *shape])
        return s.reshape(made, shape)
    found: SSAValue = function(x, shape)
    return found


def _average(rank: int) -> Row:
    def row(s: Scope, a: Arguments) -> SSAValue:
        kernel, stride, padding = _given(a, rank)
        counted = a.count_include_pad is not False

        def averaged(x: SSAValue, shape: Sequence[int]) -> SSAValue:
            made, lead = s.wide(x), len(shape) - rank
            for i in range(rank):
                matrix = means(
                    shape_of(x)[lead + i], shape[lead + i], kernel[i], stride[i], padding[i], counted=counted
                )
                if a.divisor_override:
                    matrix = (matrix != 0).astype(float)
                made = product_along(s, made, matrix, lead + i)
            return s.times(made, 1 / a.divisor_override) if a.divisor_override else made

        return s.cast(_lifted(s, a.self, rank, averaged, a.shape), a.element)

    return row


def means(size: int, result: int, kernel: int, stride: int, padding: int, *, counted: bool) -> Any:
    """Return the matrix of means over windows of a line.

    Rows are old places, columns new ones.

    Windows count the padding if it is asked, but not what is behind it.
    """
    import numpy as np

    matrix = np.zeros((size, result))
    for i in range(result):
        begin = i * stride - padding
        end = min(begin + kernel, size + padding)
        inner = max(begin, 0), min(end, size)
        matrix[inner[0] : inner[1], i] = 1 / ((end - begin) if counted else (inner[1] - inner[0]))
    return matrix


def _adaptive(rank: int) -> Row:
    def row(s: Scope, a: Arguments) -> SSAValue:
        x = s.wide(a.self)
        sizes = list(a.shape[-rank:])
        for i, wanted in enumerate(sizes):
            x = _part(s, x, len(shape_of(x)) - rank + i, wanted)
        return s.cast(x, a.element)

    return row


def _part(s: Scope, x: SSAValue, dim: int, wanted: int) -> SSAValue:
    """Return means of nearly equal parts of a dimension."""
    shape = shape_of(x)
    size = shape[dim]
    if size == wanted:
        return x
    if size % wanted == 0:
        parts = s.reshape(x, [*shape[:dim], wanted, size // wanted, *shape[dim + 1 :]])
        return s.reduce("mean", parts, [dim + 1])
    return product_along(s, x, adaptive(size, wanted), dim)


def adaptive(size: int, wanted: int) -> Any:
    """Return the matrix of means over nearly equal parts.

    Rows are old places, columns new ones.
    """
    import numpy as np

    matrix = np.zeros((size, wanted))
    for i in range(wanted):
        begin, end = i * size // wanted, math.ceil((i + 1) * size / wanted)
        matrix[begin:end, i] = 1 / (end - begin)
    return matrix


def product_along(s: Scope, x: SSAValue, matrix: Any, dim: int) -> SSAValue:
    """Return the product of a constant matrix with a dimension.

    Rows are old places, columns new ones.
    """
    rank = len(shape_of(x))
    order = [*(i for i in range(rank) if i != dim), dim]
    made = s.matmul(s.permute(x, order), s.b.constant(matrix, scalar("f32")))
    return s.permute(made, [order.index(i) for i in range(rank)])


def _adaptive_max(rank: int) -> Row:
    def row(s: Scope, a: Arguments) -> Any:
        if 1 in a.used:
            refuse("with indices has no TTIR operation")
        x = a.self
        lead = len(shape_of(x)) - rank
        for i, wanted in enumerate(a.shape[-rank:]):
            shape = shape_of(x)
            dim = lead + i
            if shape[dim] % wanted:
                refuse("of parts that are not equal has no TTIR operation")
            x = s.reshape(x, [*shape[:dim], wanted, shape[dim] // wanted, *shape[dim + 1 :]])
            x = s.reduce("max", x, [dim + 1])
        return [x, None]

    return row


ROWS: Final[dict[str, Row]] = {
    **{f"aten.avg_pool{rank}d": _average(rank) for rank in (1, 2, 3)},
    **{f"aten.max_pool{rank}d": _max(rank, several=False) for rank in (1, 2, 3)},
    **{f"aten.max_pool{rank}d_with_indices": _max(rank, several=True) for rank in (1, 2, 3)},
    **{f"aten.adaptive_avg_pool{rank}d": _adaptive(rank) for rank in (1, 2, 3)},
    **{f"aten._adaptive_avg_pool{rank}d": _adaptive(rank) for rank in (2, 3)},
    **{f"aten.adaptive_max_pool{rank}d": _adaptive_max(rank) for rank in (1, 2, 3)},
}
