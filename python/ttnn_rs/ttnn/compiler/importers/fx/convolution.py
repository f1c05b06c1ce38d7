"""Convolutions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ttnn.compiler.importers.builder import shape_of
from ttnn.compiler.importers.builder.convolutions import Convolution, convolve
from ttnn.compiler.importers.builder.padding import edges
from ttnn.compiler.importers.builder.steps import refuse
from ttnn.compiler.importers.fx.normalization import along
from ttnn.compiler.importers.fx.scope import Arguments, Row, Scope
from ttnn.compiler.ir.xdsl_adapter import SSAValue

__all__ = ["ROWS", "numbers", "transposed"]


def numbers(given: Any, count: int) -> list[int]:
    """Return one number for each dimension; a single one holds for all."""
    found = [given] if isinstance(given, int) else list(given)
    return found * count if len(found) == 1 else found


def _padding(given: Any, kernel: Sequence[int], dilation: Sequence[int]) -> list[tuple[int, int]]:
    """Return the padding before and after each dimension.

    `same` puts the odd one after.
    """
    if given == "valid":
        return [(0, 0) for _ in kernel]
    if given == "same":
        totals = [d * (k - 1) for k, d in zip(kernel, dilation, strict=True)]
        return [(one // 2, one - one // 2) for one in totals]
    return [(one, one) for one in numbers(given, len(kernel))]


def _convolution(s: Scope, a: Arguments) -> SSAValue:
    x, w = a.input, a.weight
    s.need_float(x)
    rank = len(shape_of(w)) - 2
    single = len(shape_of(x)) == rank + 1
    if single:
        x = s.reshape(x, [1, *shape_of(x)])
    kernel = shape_of(w)[2:]
    stride, dilation = numbers(a.stride, rank), numbers(a.dilation, rank)
    flipped = bool(a.transposed) or "transpose" in str(a.operation)
    if flipped:
        pads = numbers(a.padding, rank)
        y = transposed(s, x, w, stride, pads, dilation, numbers(a.output_padding, rank), a.groups)
    else:
        y = plain(s, x, w, stride, _padding(a.padding, kernel, dilation), dilation, a.groups)
    if a.bias is not None:
        y = s.b.add(y, s.cast(along(s, a.bias, 1, rank + 2), a.element))
    return s.reshape(y, a.shape) if single else y


def plain(
    s: Scope,
    x: SSAValue,
    w: SSAValue,
    stride: Sequence[int],
    padding: Sequence[tuple[int, int]],
    dilation: Sequence[int],
    groups: int,
) -> SSAValue:
    """Return a convolution, features second.

    Over volumes it is the sum of the convolutions with the kernel's planes.
    """
    rank = len(stride)
    if rank == 3:
        return _volume(s, x, w, stride, padding, dilation, groups)
    order = tuple(range(rank + 2))
    return convolve(
        s,
        x,
        w,
        Convolution(
            input=order,
            kernel=order,
            output=order,
            strides=tuple(stride),
            padding=tuple(padding),
            input_dilation=(1,) * rank,
            kernel_dilation=tuple(dilation),
            groups=groups,
        ),
    )


def _volume(
    s: Scope,
    x: SSAValue,
    w: SSAValue,
    stride: Sequence[int],
    padding: Sequence[tuple[int, int]],
    dilation: Sequence[int],
    groups: int,
) -> SSAValue:
    low, high = ([0, 0, pair, 0, 0] for pair in padding[0])
    x = edges(s, x, s.splat(0, x, ()), low, high)
    batch, channels, depth, *image = shape_of(x)
    planes = (depth - dilation[0] * (shape_of(w)[2] - 1) - 1) // stride[0] + 1
    total = None
    for i in range(shape_of(w)[2]):
        begin = i * dilation[0]
        ends = [batch, channels, begin + (planes - 1) * stride[0] + 1, *image]
        part = s.slice(x, [0, 0, begin, 0, 0], ends, [1, 1, stride[0], 1, 1])
        part = s.reshape(s.permute(part, [0, 2, 1, 3, 4]), [batch * planes, channels, *image])
        kernel = s.slice(w, [0, 0, i, 0, 0], [*shape_of(w)[:2], i + 1, *shape_of(w)[3:]])
        kernel = s.reshape(kernel, [*shape_of(w)[:2], *shape_of(w)[3:]])
        made = plain(s, part, kernel, stride[1:], padding[1:], dilation[1:], groups)
        total = made if total is None else s.b.add(total, made)
    assert total is not None
    _, features, *sizes = shape_of(total)
    return s.permute(s.reshape(total, [batch, planes, features, *sizes]), [0, 2, 1, 3, 4])


def transposed(
    s: Scope,
    x: SSAValue,
    w: SSAValue,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    extra: Sequence[int],
    groups: int,
) -> SSAValue:
    """Return a transposed convolution.

    It is a convolution of the spread input with the reversed kernel.
    """
    inner, outer, *kernel = shape_of(w)
    rank = len(kernel)
    if groups > 1:
        # [groups * in, out, ..] -> [groups * out, in, ..]
        w = s.reshape(w, [groups, inner // groups, outer, *kernel])
        w = s.permute(w, [0, 2, 1, *range(3, 3 + rank)])
        w = s.reshape(w, [groups * outer, inner // groups, *kernel])
        order = tuple(range(rank + 2))
    else:
        order = (1, 0, *range(2, rank + 2))
    pads = []
    for i in range(rank):
        side = dilation[i] * (kernel[i] - 1) - padding[i]
        pads.append((side, side + extra[i]))
    every = tuple(range(rank + 2))
    if rank > 3:
        refuse(f"over {rank} dimensions has no TTIR operation")
    return convolve(
        s,
        x,
        w,
        Convolution(
            input=every,
            kernel=order,
            output=every,
            strides=(1,) * rank,
            padding=tuple(pads),
            input_dilation=tuple(stride),
            kernel_dilation=tuple(dilation),
            reversal=(True,) * rank,
            groups=groups,
        ),
    )


_NAMES: Final = (
    "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "convolution",
)  # fmt: skip

ROWS: Final[dict[str, Row]] = {f"aten.{name}": _convolution for name in _NAMES}
