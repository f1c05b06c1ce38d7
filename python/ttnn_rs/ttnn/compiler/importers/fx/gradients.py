"""Backward operations."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final

from ttnn.compiler.importers.builder import element_of, scalar, shape_of
from ttnn.compiler.importers.builder.padding import edges
from ttnn.compiler.importers.builder.steps import refuse
from ttnn.compiler.importers.builder.types import is_bool
from ttnn.compiler.importers.fx.convolution import numbers, transposed
from ttnn.compiler.importers.fx.losses import weights
from ttnn.compiler.importers.fx.movement import part
from ttnn.compiler.importers.fx.normalization import along
from ttnn.compiler.importers.fx.pooling import adaptive, means, product_along
from ttnn.compiler.importers.fx.scope import Arguments, Row, Scope
from ttnn.compiler.importers.fx.unary import tanh
from ttnn.compiler.ir.xdsl_adapter import SSAValue

__all__ = ["ROWS"]


def _elementwise(function: Callable[..., SSAValue], *names: str) -> Row:
    """Return the row of a gradient times a function.

    Of an input, or of a result, computed in float32.
    """

    def row(s: Scope, a: Arguments) -> SSAValue:
        gradient = a.grad_output if a.grad_output is not None else a.grad
        given = [getattr(a, one) for one in names]
        values = [s.wide(one) if isinstance(one, SSAValue) and not is_bool(element_of(one)) else one for one in given]
        return s.cast(s.b.multiply(s.wide(gradient), function(s, *values)), a.element)

    return row


def _sigmoid(s: Scope, y: SSAValue) -> SSAValue:
    made: SSAValue = s.b.multiply(y, s.plus(s.b.neg(y), 1))
    return made


def _tanh(s: Scope, y: SSAValue) -> SSAValue:
    return s.plus(s.b.neg(s.b.multiply(y, y)), 1)


def _threshold(s: Scope, x: SSAValue, threshold: float) -> SSAValue:
    return s.cast(s.b.gt(x, s.number(threshold, x)), scalar("f32"))


def _gelu(s: Scope, x: SSAValue, approximate: str) -> SSAValue:
    b = s.b
    if approximate == "tanh":
        factor = math.sqrt(2 / math.pi)
        square = b.multiply(x, x)
        inner = s.times(b.multiply(x, s.plus(s.times(square, 0.044715), 1)), factor)
        bent = tanh(s, inner)
        slope = b.multiply(
            s.plus(b.neg(b.multiply(bent, bent)), 1), s.times(s.plus(s.times(square, 0.134145), 1), factor)
        )
        return s.one(b.add(s.times(s.plus(bent, 1), 0.5), s.times(b.multiply(x, slope), 0.5)))
    share = s.times(s.plus(b.erf(s.times(x, math.sqrt(0.5))), 1), 0.5)
    density = s.times(b.exp(s.times(b.multiply(x, x), -0.5)), 1 / math.sqrt(2 * math.pi))
    return s.one(b.add(share, b.multiply(x, density)))


def _silu(s: Scope, x: SSAValue) -> SSAValue:
    y = s.b.sigmoid(x)
    made: SSAValue = s.b.multiply(y, s.plus(s.b.multiply(x, s.plus(s.b.neg(y), 1)), 1))
    return made


def _leaky(s: Scope, x: SSAValue, slope: float) -> SSAValue:
    return s.plus(s.times(_threshold(s, x, 0), 1 - slope), slope)


def _between(s: Scope, x: SSAValue, low: float, high: float) -> SSAValue:
    inside = s.b.logical_and(s.b.gt(x, s.number(low, x)), s.b.lt(x, s.number(high, x)))
    return s.cast(inside, scalar("f32"))


def _softmax(s: Scope, a: Arguments) -> SSAValue:
    gradient, y = s.wide(a.grad_output), s.wide(a.output)
    dims = [s.dim(a.dim, len(shape_of(y)))]
    total = s.reduce("sum", s.b.multiply(gradient, y), dims, keep=True)
    return s.cast(s.b.multiply(y, s.b.subtract(gradient, total)), a.element)


def _log_softmax(s: Scope, a: Arguments) -> SSAValue:
    gradient, y = s.wide(a.grad_output), s.wide(a.output)
    dims = [s.dim(a.dim, len(shape_of(y)))]
    total = s.reduce("sum", gradient, dims, keep=True)
    return s.cast(s.b.subtract(gradient, s.b.multiply(s.b.exp(y), total)), a.element)


def _nll(s: Scope, a: Arguments) -> SSAValue:
    x = s.wide(a.self)
    shape = shape_of(x)
    rank = len(shape)
    at = min(1, rank - 1)
    every = weights(s, a.target, a.weight, a.ignore_index, shape[at], rank)
    gradient = s.wide(a.grad_output)
    if not a.reduction:
        have = shape_of(gradient)
        gradient = s.reshape(gradient, [*have[:at], 1, *have[at:]])
    else:
        gradient = s.reshape(gradient, [1] * rank)
        if a.reduction == 1:
            gradient = s.b.div(gradient, s.reshape(s.wide(a.total_weight), [1] * rank))
    return s.cast(s.b.neg(s.b.multiply(every, gradient)), a.element)


def _mse(s: Scope, a: Arguments) -> SSAValue:
    rest = s.b.subtract(s.wide(a.self), s.wide(a.target))
    count = math.prod(shape_of(rest)) if a.reduction == 1 else 1
    gradient = s.wide(a.grad_output)
    if not shape_of(gradient):
        gradient = s.reshape(gradient, [1] * len(shape_of(rest)))
    return s.cast(s.times(s.b.multiply(rest, gradient), 2 / count), a.element)


def _embedding(s: Scope, a: Arguments) -> SSAValue:
    """Import the sum of gradients by row.

    It is a product with the one-hot rows of positions.
    """
    import numpy as np

    gradient = s.wide(a.grad_output)
    count, width = math.prod(shape_of(a.indices)), shape_of(gradient)[-1]
    index = s.reshape(a.indices, [1, count])
    rows = s.b.constant(np.arange(a.num_weights).reshape(-1, 1), element_of(index))
    ones = s.cast(s.b.eq(rows, index), scalar("f32"))
    if a.padding_idx >= 0:
        kept = s.cast(s.b.ne(rows, s.number(a.padding_idx, rows)), scalar("f32"))
        ones = s.b.multiply(ones, kept)
    if a.scale_grad_by_freq:
        refuse("scaled by frequency has no TTIR operation")
    return s.cast(s.matmul(ones, s.reshape(gradient, [count, width])), a.element)


def _normal_gradient(s: Scope, gradient: SSAValue, scaled: SSAValue, factor: SSAValue, dims: list[int]) -> SSAValue:
    """Return the gradient through (x - mean) * factor along dimensions.

    `scaled` is the result of that expression.
    """
    first = s.reduce("mean", gradient, dims, keep=True)
    second = s.reduce("mean", s.b.multiply(gradient, scaled), dims, keep=True)
    rest = s.b.subtract(s.b.subtract(gradient, first), s.b.multiply(scaled, second))
    made: SSAValue = s.b.multiply(factor, rest)
    return made


def _layer_norm(s: Scope, a: Arguments) -> list[SSAValue | None]:
    gradient, x = s.wide(a.grad_out), s.wide(a.input)
    rank = len(shape_of(x))
    lead = rank - len(a.normalized_shape)
    dims, outer = list(range(lead, rank)), list(range(lead))
    scaled = s.b.multiply(s.b.subtract(x, s.wide(a.mean)), s.wide(a.rstd))
    inner = gradient if a.weight is None else s.b.multiply(gradient, s.wide(a.weight))
    results: list[SSAValue | None] = [None, None, None]
    if a.output_mask[0]:
        results[0] = s.cast(_normal_gradient(s, inner, scaled, s.wide(a.rstd), dims), element_of(a.input))
    if a.output_mask[1]:
        results[1] = s.cast(s.reduce("sum", s.b.multiply(gradient, scaled), outer), element_of(a.weight))
    if a.output_mask[2]:
        results[2] = s.cast(s.reduce("sum", gradient, outer), element_of(a.bias or a.weight))
    return results


def _batch_norm(s: Scope, a: Arguments) -> list[SSAValue | None]:
    gradient, x = s.wide(a.grad_out), s.wide(a.input)
    shape = shape_of(x)
    rank = len(shape)
    dims = [0, *range(2, rank)]
    if a.train:
        center, factor = along(s, a.save_mean, 1, rank), along(s, a.save_invstd, 1, rank)
    else:
        center = along(s, a.running_mean, 1, rank)
        factor = s.b.rsqrt(s.plus(along(s, a.running_var, 1, rank), a.eps))
    scaled = s.b.multiply(s.b.subtract(x, center), factor)
    inner = gradient if a.weight is None else s.b.multiply(gradient, along(s, a.weight, 1, rank))
    results: list[SSAValue | None] = [None, None, None]
    if a.output_mask[0]:
        made = _normal_gradient(s, inner, scaled, factor, dims) if a.train else s.b.multiply(inner, factor)
        results[0] = s.cast(made, element_of(a.input))
    if a.output_mask[1]:
        results[1] = s.reduce("sum", s.b.multiply(gradient, scaled), dims)
    if a.output_mask[2]:
        results[2] = s.reduce("sum", gradient, dims)
    return results


def _group_norm(s: Scope, a: Arguments) -> list[SSAValue | None]:
    gradient, x = s.wide(a.grad_out), s.wide(a.input)
    shape = shape_of(x)
    rank, groups = len(shape), a.group
    parts = [shape[0], groups, math.prod(shape[1:]) // groups]
    factor = s.reshape(s.wide(a.rstd), [shape[0], groups, 1])
    center = s.reshape(s.wide(a.mean), [shape[0], groups, 1])
    scaled = s.b.multiply(s.b.subtract(s.reshape(x, parts), center), factor)
    inner = gradient if a.weight is None else s.b.multiply(gradient, along(s, a.weight, 1, rank))
    dims = [0, *range(2, rank)]
    results: list[SSAValue | None] = [None, None, None]
    if a.output_mask[0]:
        made = _normal_gradient(s, s.reshape(inner, parts), scaled, factor, [2])
        results[0] = s.cast(s.reshape(made, shape), element_of(a.input))
    if a.output_mask[1]:
        results[1] = s.reduce("sum", s.b.multiply(gradient, s.reshape(scaled, shape)), dims)
    if a.output_mask[2]:
        results[2] = s.reduce("sum", gradient, dims)
    return results


def _convolution(s: Scope, a: Arguments) -> list[SSAValue | None]:
    if a.transposed:
        refuse("of transposed convolutions has no TTIR operation")
    gradient, x, w = s.wide(a.grad_output), s.wide(a.input), s.wide(a.weight)
    rank = len(shape_of(w)) - 2
    if rank > 2:
        refuse("over volumes has no TTIR operation")
    stride, padding = numbers(a.stride, rank), numbers(a.padding, rank)
    dilation = numbers(a.dilation, rank)
    results: list[SSAValue | None] = [None, None, None]
    if a.output_mask[0]:
        extra = []
        for i in range(rank):
            reach = (shape_of(gradient)[2 + i] - 1) * stride[i] + dilation[i] * (shape_of(w)[2 + i] - 1) + 1
            extra.append(shape_of(x)[2 + i] + 2 * padding[i] - reach)
        made = transposed(s, gradient, w, stride, padding, dilation, extra, a.groups)
        results[0] = s.cast(made, element_of(a.input))
    if a.output_mask[1]:
        results[1] = s.cast(
            _weight_gradient(s, gradient, x, w, stride, padding, dilation, a.groups), element_of(a.weight)
        )
    if a.output_mask[2]:
        results[2] = s.cast(s.reduce("sum", gradient, [0, *range(2, rank + 2)]), element_of(a.weight))
    return results


def _weight_gradient(
    s: Scope,
    gradient: SSAValue,
    x: SSAValue,
    w: SSAValue,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    groups: int,
) -> SSAValue:
    """Return the gradient of a kernel.

    Each place of the kernel is a product over batch and image.
    """
    batch, features, *image = shape_of(gradient)
    inner = shape_of(x)[1] // groups
    rank = len(image)
    kernel = shape_of(w)[2:]
    low = [0, 0, *padding]
    x = edges(s, x, s.splat(0, x, ()), low, low)
    count = batch * math.prod(image)
    order = [1, 0, *range(2, rank + 2)]
    rows = s.reshape(s.permute(gradient, order), [groups, features // groups, count])
    columns = []
    for place in range(math.prod(kernel)):
        at: list[int] = []
        rest = place
        for size in reversed(kernel):
            at.insert(0, rest % size)
            rest //= size
        begins = [0, 0, *(i * d for i, d in zip(at, dilation, strict=True))]
        ends = [*shape_of(x)[:2]]
        ends += [b + (n - 1) * t + 1 for b, n, t in zip(begins[2:], image, stride, strict=True)]
        piece = s.slice(x, begins, ends, [1, 1, *stride])
        piece = s.reshape(s.permute(piece, order), [groups, inner, count])
        columns.append(piece)
    table = s.concat(columns, 1) if len(columns) > 1 else columns[0]
    found = s.matmul(rows, s.swap(table))
    found = s.reshape(found, [features, math.prod(kernel), inner])
    return s.reshape(s.permute(found, [0, 2, 1]), [features, inner, *kernel])


def _mean_gradient(s: Scope, a: Arguments) -> SSAValue:
    """Import the gradient of an average pool.

    Products with the transposed matrices of means.
    """
    rank = 2
    kernel = numbers(a.kernel_size, rank)
    stride, padding = numbers(a.stride or kernel, rank), numbers(a.padding, rank)
    made = s.wide(a.grad_output)
    shape = shape_of(a.self)
    lead = len(shape) - rank
    for i in range(rank):
        wanted = shape_of(made)[lead + i]
        matrix = means(shape[lead + i], wanted, kernel[i], stride[i], padding[i], counted=bool(a.count_include_pad))
        if a.divisor_override:
            matrix = (matrix != 0).astype(float)
        made = product_along(s, made, matrix.T, lead + i)
    if a.divisor_override:
        made = s.times(made, 1 / a.divisor_override)
    return s.cast(made, a.element)


def _adaptive_gradient(s: Scope, a: Arguments) -> SSAValue:
    made = s.wide(a.grad_output)
    shape = shape_of(a.self)
    for dim in (len(shape) - 2, len(shape) - 1):
        wanted = shape_of(made)[dim]
        if wanted != shape[dim]:
            made = product_along(s, made, adaptive(shape[dim], wanted).T, dim)
    return s.cast(made, a.element)


def _slice(s: Scope, a: Arguments) -> SSAValue:
    """Import the gradient of a slice: it lies in zeros."""
    shape = list(a.input_sizes)
    dim = s.dim(a.dim, len(shape))
    begin, end, step = slice(a.start, a.end, a.step).indices(shape[dim])
    pieces: list[SSAValue] = []
    gap = list(shape)

    def zeros(count: int) -> SSAValue:
        gap[dim] = count
        return s.splat(0, a.grad_output, gap)

    if step == 1:
        pieces = [zeros(begin)] if begin else []
        pieces.append(a.grad_output)
        if end < shape[dim]:
            pieces.append(zeros(shape[dim] - end))
        return s.concat(pieces, dim)
    at = 0
    for i, place in enumerate(range(begin, end, step)):
        if place > at:
            pieces.append(zeros(place - at))
        pieces.append(part(s, a.grad_output, dim, i, i + 1))
        at = place + 1
    if at < shape[dim]:
        pieces.append(zeros(shape[dim] - at))
    return s.concat(pieces, dim)


def _select(s: Scope, a: Arguments) -> SSAValue:
    shape = list(a.input_sizes)
    dim = s.dim(a.dim, len(shape))
    index = a.index % shape[dim]
    middle = s.reshape(a.grad_output, [*shape[:dim], 1, *shape[dim + 1 :]])
    pieces = []
    for count, value in ((index, None), (1, middle), (shape[dim] - index - 1, None)):
        if count:
            pieces.append(value if value is not None else s.splat(0, middle, [*shape[:dim], count, *shape[dim + 1 :]]))
    return s.concat(pieces, dim)


ROWS: Final[dict[str, Row]] = {
    "aten._adaptive_avg_pool2d_backward": _adaptive_gradient,
    "aten._log_softmax_backward_data": _log_softmax,
    "aten._softmax_backward_data": _softmax,
    "aten.avg_pool2d_backward": _mean_gradient,
    "aten.convolution_backward": _convolution,
    "aten.embedding_dense_backward": _embedding,
    "aten.gelu_backward": _elementwise(_gelu, "self", "approximate"),
    "aten.hardtanh_backward": _elementwise(_between, "self", "min_val", "max_val"),
    "aten.leaky_relu_backward": _elementwise(_leaky, "self", "negative_slope"),
    "aten.mse_loss_backward": _mse,
    "aten.native_batch_norm_backward": _batch_norm,
    "aten.native_group_norm_backward": _group_norm,
    "aten.native_layer_norm_backward": _layer_norm,
    "aten.nll_loss2d_backward": _nll,
    "aten.nll_loss_backward": _nll,
    "aten.select_backward": _select,
    "aten.sigmoid_backward": _elementwise(_sigmoid, "output"),
    "aten.silu_backward": _elementwise(_silu, "self"),
    "aten.slice_backward": _slice,
    "aten.tanh_backward": _elementwise(_tanh, "output"),
    "aten.threshold_backward": _elementwise(_threshold, "self", "threshold"),
}
