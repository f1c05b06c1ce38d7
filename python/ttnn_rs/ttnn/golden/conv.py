"""Reference functions of convolutions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ttnn.golden.eltwise.unary import activated


def _sides(padding: Sequence[int] | int) -> tuple[int, int, int, int]:
    values = [padding, padding] if isinstance(padding, int) else list(padding)
    if len(values) == 2:
        return values[0], values[0], values[1], values[1]
    return values[0], values[1], values[2], values[3]


_TILE, _CHANNELS, _MOST = 32, 8, 16
"""Tile size, channel alignment and largest shard count of prepared weights."""


def _kernel(
    weight: ArrayLike, out_channels: int, of_group: int, size: Sequence[int], groups: int
) -> NDArray[np.float64]:
    """Return weights [O, C / groups, kh, kw], which may be prepared.

    Prepared: [1, 1, K, O], groups as blocks of zeros, of shards of channels one after the other for each kernel row.
    """
    values: NDArray[np.float64] = np.asarray(weight, np.float64)
    high, wide = size
    shape = (out_channels, of_group, high, wide)
    if values.shape == shape:
        return values
    found = None
    for shards in range(1, _MOST + 1):
        channels = -(-of_group * groups // (_CHANNELS * shards)) * _CHANNELS
        row = -(-wide * channels // _TILE) * _TILE
        if values.shape != (1, 1, high * shards * row, out_channels):
            continue
        rows = values.reshape(high, shards, row, out_channels)
        pixels = rows[:, :, : wide * channels].reshape(high, shards, wide, channels, out_channels)
        pixels = pixels.transpose(0, 2, 1, 3, 4).reshape(high, wide, shards * channels, out_channels)
        # Where the padding is not zero, the order is that of other shards.
        padded = not rows[:, :, wide * channels :].any() and not pixels[:, :, of_group * groups :].any()
        if found is not None and not padded:
            continue
        found = np.empty(shape)
        outs = out_channels // groups
        for group in range(groups):
            of_outputs = slice(group * outs, (group + 1) * outs)
            part = pixels[:, :, group * of_group : (group + 1) * of_group, of_outputs]
            found[of_outputs] = part.transpose(3, 2, 0, 1)
        if padded:
            break
    return values.reshape(shape) if found is None else found


def conv2d(
    x: ArrayLike,
    weight: ArrayLike,
    *,
    in_channels: int,
    out_channels: int,
    batch_size: int,
    input_height: int,
    input_width: int,
    kernel_size: Sequence[int],
    stride: Sequence[int] = (1, 1),
    padding: Sequence[int] = (0, 0),
    dilation: Sequence[int] = (1, 1),
    groups: int = 1,
    bias_tensor: ArrayLike | None = None,
    conv_config: Any = None,
    **_: Any,
) -> NDArray[np.float64]:
    """Return the convolution as [1, 1, N * OH * OW, O].

    Of [1, 1, N * H * W, C] with [O, C / groups, kh, kw].

    Weights may be prepared.
    """
    images = np.asarray(x, np.float64).reshape(batch_size, input_height, input_width, -1)[..., :in_channels]
    kernel = _kernel(weight, out_channels, in_channels // groups, kernel_size, groups)
    top, bottom, left, right = _sides(padding)
    images = np.pad(images, ((0, 0), (top, bottom), (left, right), (0, 0)))
    out, each, high, wide = kernel.shape
    spread = [dilation[0] * (high - 1) + 1, dilation[1] * (wide - 1) + 1]
    windows = np.lib.stride_tricks.sliding_window_view(images, spread, axis=(1, 2))
    windows = windows[:, :: stride[0], :: stride[1], :, :: dilation[0], :: dilation[1]]
    batch, rows, columns = windows.shape[:3]
    parts = windows.reshape(batch, rows, columns, groups, each, high, wide)
    kernels = kernel.reshape(groups, out // groups, each, high, wide)
    product = np.einsum("nyxgchw,gochw->nyxgo", parts, kernels, optimize=True)
    return _finished(product.reshape(1, 1, -1, out), bias_tensor, conv_config)


def _finished(product: NDArray[np.float64], bias: ArrayLike | None, config: Any) -> NDArray[np.float64]:
    """Return a matmul with bias and the configuration's fused activation."""
    biased = product if bias is None else product + np.asarray(bias, np.float64).reshape(-1)
    activation = getattr(config, "activation", None)
    return activated(biased, () if activation is None else (activation,))


def conv1d(
    x: ArrayLike,
    weight: ArrayLike,
    *,
    input_length: int,
    kernel_size: int,
    stride: int = 1,
    padding: Sequence[int] | int = 0,
    dilation: int = 1,
    **options: Any,
) -> NDArray[np.float64]:
    """Return the convolution of [1, 1, N * L, C] and weights.

    The weights are [O, C / groups, k].
    """
    sides = [padding, padding] if isinstance(padding, int) else list(padding)
    return conv2d(
        x,
        weight,
        input_height=1,
        input_width=input_length,
        kernel_size=(1, kernel_size),
        stride=(1, stride),
        padding=(0, 0, sides[0], sides[-1]),
        dilation=(1, dilation),
        **options,
    )


def conv_transpose2d(
    x: ArrayLike,
    weight: ArrayLike,
    *,
    in_channels: int,
    out_channels: int,
    batch_size: int,
    input_height: int,
    input_width: int,
    kernel_size: Sequence[int],
    stride: Sequence[int] = (1, 1),
    padding: Sequence[int] = (0, 0),
    output_padding: Sequence[int] = (0, 0),
    dilation: Sequence[int] = (1, 1),
    groups: int = 1,
    bias_tensor: ArrayLike | None = None,
    mirror_kernel: bool = True,
    conv_config: Any = None,
    **_: Any,
) -> NDArray[np.float64]:
    """Return the transposed convolution of [1, 1, N * H * W, C].

    With [C, O / groups, kh, kw].

    Weights may be prepared: those of the convolution that computes it, mirrored if they were to be.
    """
    images = np.asarray(x, np.float64).reshape(batch_size, input_height, input_width, -1)[..., :in_channels]
    each, (high, wide), of_group = out_channels // groups, kernel_size, in_channels // groups
    kernel: NDArray[np.float64] = np.asarray(weight, np.float64)
    if kernel.shape == (in_channels, each, high, wide):
        kernel = kernel.reshape(groups, of_group, each, high, wide)
        if not mirror_kernel:
            kernel = kernel[..., ::-1, ::-1]
    else:
        of_outputs = _kernel(kernel, out_channels, of_group, kernel_size, groups)
        kernel = of_outputs.reshape(groups, each, of_group, high, wide).transpose(0, 2, 1, 3, 4)[..., ::-1, ::-1]
    top, bottom, left, right = _sides(padding)
    rows = (input_height - 1) * stride[0] + dilation[0] * (high - 1) + 1 + output_padding[0]
    columns = (input_width - 1) * stride[1] + dilation[1] * (wide - 1) + 1 + output_padding[1]
    full = np.zeros((batch_size, rows, columns, groups, each))
    parts = images.reshape(batch_size, input_height, input_width, groups, -1)
    for i in range(high):
        for j in range(wide):
            product = np.einsum("nyxgc,gco->nyxgo", parts, kernel[..., i, j])
            down = slice(i * dilation[0], i * dilation[0] + (input_height - 1) * stride[0] + 1, stride[0])
            across = slice(j * dilation[1], j * dilation[1] + (input_width - 1) * stride[1] + 1, stride[1])
            full[:, down, across] += product
    cut = full[:, top : rows - bottom, left : columns - right]
    return _finished(cut.reshape(1, 1, -1, groups * each), bias_tensor, conv_config)


def prepare_conv3d_weights(
    weight: ArrayLike, *, groups: int = 1, alignment: int = 32, **options: int
) -> NDArray[np.float64]:
    """Return weights as rows of channel blocks, kernel positions and channels.

    The channels are those of a block.
    """
    values = np.asarray(weight, np.float64)
    outputs, of_group, *kernel = values.shape
    channels = -(-of_group * groups // alignment) * alignment
    dense = np.zeros((outputs, channels, *kernel))
    for group, part in enumerate(np.split(values, groups)):
        each = outputs // groups
        dense[group * each : (group + 1) * each, group * of_group : (group + 1) * of_group] = part
    block = options.get("C_in_block") or channels
    blocks = dense.transpose(2, 3, 4, 1, 0).reshape(*kernel, channels // block, block, outputs)
    result: NDArray[np.float64] = blocks.transpose(3, 0, 1, 2, 4, 5).reshape(-1, outputs)
    return result


def conv3d(
    x: ArrayLike,
    weight: ArrayLike,
    *,
    kernel_size: Sequence[int],
    bias_tensor: ArrayLike | None = None,
    config: Any = None,
    stride: Sequence[int] = (1, 1, 1),
    padding: Sequence[int] = (0, 0, 0),
    dilation: Sequence[int] = (1, 1, 1),
    padding_mode: str = "zeros",
    groups: int = 1,
    **_: object,
) -> NDArray[np.float64]:
    """Return the convolution of volumes [N, T, H, W, C].

    The weights may be prepared.
    """
    values, matrix = np.asarray(x, np.float64), np.asarray(weight, np.float64)
    block = getattr(config, "C_in_block", 0) or values.shape[-1]
    if matrix.ndim == 5:
        matrix = prepare_conv3d_weights(matrix, groups=groups)
    elif block < values.shape[-1]:
        # One block of channels after the other, each with all places of the window.
        parts = matrix.reshape(-1, math.prod(kernel_size), block, matrix.shape[-1])
        matrix = parts.transpose(1, 0, 2, 3).reshape(matrix.shape)
    steps = dilation if config is None or tuple(dilation) != (1, 1, 1) else config.dilation
    sides = ((0, 0), *((pad, pad) for pad in padding), (0, 0))
    volume = np.pad(values, sides, mode="edge" if padding_mode == "replicate" else "constant")
    covered = [by * (k - 1) + 1 for by, k in zip(steps, kernel_size, strict=True)]
    windows = np.lib.stride_tricks.sliding_window_view(volume, covered, axis=(1, 2, 3))
    windows = windows[:, :: stride[0], :: stride[1], :: stride[2], :, :: steps[0], :: steps[1], :: steps[2]]
    rows = windows.transpose(0, 1, 2, 3, 5, 6, 7, 4).reshape(*windows.shape[:4], -1)
    result: NDArray[np.float64] = rows @ matrix
    return result if bias_tensor is None else result + np.asarray(bias_tensor, np.float64).reshape(-1)
