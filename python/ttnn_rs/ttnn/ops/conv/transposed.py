"""Transposed convolutions.

Images have zeros between their pixels and are convolved with the mirrored kernel.

Source: tt-metal `ttnn/cpp/ttnn/operations/conv/conv_transpose2d`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ttnn.base.compute_config import WormholeComputeKernelConfig
from ttnn.base.conv_config import Conv2dConfig, Op2DSliceConfig
from ttnn.base.enums import DataType, Layout
from ttnn.base.exceptions import ParameterError, ShapeError
from ttnn.base.memory_config import MemoryConfig
from ttnn.device.lifecycle import MeshDevice
from ttnn.golden import conv as golden
from ttnn.operation.accuracy import no_bound
from ttnn.operation.domain import Operand
from ttnn.operation.registry import Op, register
from ttnn.operation.signature import BOOLEAN, INT_SEQUENCE, INTEGER, TENSOR, Param, Signature
from ttnn.ops._programs.common import values_on_host
from ttnn.ops.conv.conv2d import (
    CHANNELS,
    DEVICE_PARAM,
    DTYPES,
    ERRORS,
    NOTE,
    OPTIONS,
    PIXELS,
    convolution,
    placed,
    results,
)
from ttnn.ops.conv.weights import Kernel, is_prepared
from ttnn.ops.conv.window import MOST, Window, pair, sides
from ttnn.tensor.tensor import Tensor

_NAME: Final = "ttnn.conv_transpose2d"


def turned(weight: Tensor, kernel: Kernel, *, mirrored: bool) -> Tensor:
    """Return weights of a transposed convolution as those of a convolution.

    [C, O / groups, kh, kw] -> [O, C / groups, kh, kw].
    """
    if is_prepared(weight, kernel):
        return weight
    shape = tuple(weight.spec.shape)
    groups = kernel.groups
    ins, outs = kernel.in_channels // groups, kernel.out_channels // groups
    expected = (kernel.in_channels, outs, kernel.height, kernel.width)
    if shape != expected:
        raise ShapeError(
            f"{_NAME}: weight_tensor has shape {list(shape)}, it must be {list(expected)}, or prepared weights.",
            vendor=f"Weight tensor shape must be {list(expected)}",
        )
    # On the host, as weights are prepared there.
    values = np.asarray(values_on_host(_NAME, weight, "weight_tensor"), np.float32).reshape(
        groups, ins, outs, kernel.height, kernel.width
    )
    swapped = values.transpose(0, 2, 1, 3, 4).reshape(kernel.out_channels, ins, kernel.height, kernel.width)
    if mirrored:
        swapped = swapped[..., ::-1, ::-1]
    return Tensor(np.ascontiguousarray(swapped), weight.spec.dtype, None, Layout.ROW_MAJOR)


def window_of(
    sizes: tuple[int, int, int, int, int],
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    output_padding: Sequence[int],
    dilation: Sequence[int],
    groups: int,
) -> Window:
    """Return the window of the convolution that computes a transposed one."""
    batch, height, width, in_channels, out_channels = sizes
    if not all(0 < value < MOST for value in sizes):
        raise ParameterError(f"{_NAME}: batch, image and channels are {list(sizes)}; they must be positive.")
    if groups < 1 or in_channels % groups or out_channels % groups:
        raise ParameterError(
            f"{_NAME}: {in_channels} and {out_channels} channels do not divide into groups={groups}.",
            vendor=f"in_channels ({in_channels}) and out_channels ({out_channels}) must be divisible by groups "
            f"({groups})",
        )
    size, step = pair(_NAME, "kernel_size", kernel_size, 1), pair(_NAME, "stride", stride, 1)
    spread, more = pair(_NAME, "dilation", dilation, 1), pair(_NAME, "output_padding", output_padding, 0)
    around = sides(_NAME, padding)
    if any(extra >= max(one, other) for extra, one, other in zip(more, step, spread, strict=True)):
        raise ParameterError(
            f"{_NAME}: output_padding={list(more)} must be less than the stride {list(step)} or the dilation "
            f"{list(spread)}."
        )
    ends = []
    for axis in (0, 1):
        reach = spread[axis] * (size[axis] - 1)
        # After the last pixel there are zeros of its own.
        after = reach - around[2 * axis + 1] + more[axis] - (step[axis] - 1)
        ends += [reach - around[2 * axis], after]
    before = (ends[0], ends[1], ends[2], ends[3])
    kernel = Kernel(in_channels, out_channels, *size, groups)
    window = Window(batch, height * step[0], width * step[1], kernel, (1, 1), before, spread, step)
    if window.out_height < 1 or window.out_width < 1:
        raise ParameterError(f"{_NAME}: padding={list(around)} leaves nothing of the output.")
    return window


def _conv_transpose2d(
    input_tensor: Tensor,
    weight_tensor: Tensor,
    device: MeshDevice | None,
    in_channels: int,
    out_channels: int,
    batch_size: int,
    input_height: int,
    input_width: int,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    output_padding: Sequence[int],
    dilation: Sequence[int],
    groups: int,
    dtype: DataType | None,
    bias_tensor: Tensor | None,
    conv_config: Conv2dConfig | None,
    compute_config: WormholeComputeKernelConfig | None,
    memory_config: MemoryConfig | None,
    _dram_slice_config: Op2DSliceConfig | None,
    mirror_kernel: bool,
    return_output_dim: bool,
    return_weights_and_bias: bool,
) -> Tensor | tuple[object, ...]:
    sizes = (batch_size, input_height, input_width, in_channels, out_channels)
    window = window_of(sizes, kernel_size, stride, padding, output_padding, dilation, groups)
    window = placed(window, input_tensor, weight_tensor, device, conv_config)
    output, weights, bias = convolution(
        _NAME,
        input_tensor,
        turned(weight_tensor, window.kernel, mirrored=mirror_kernel),
        device,
        window,
        dtype,
        bias_tensor,
        conv_config,
        compute_config,
        memory_config,
    )
    size = (window.out_height, window.out_width)
    return results(output, size, (weights, bias), with_size=return_output_dim, with_weights=return_weights_and_bias)


def _examples(shape: tuple[int, ...], layout: Layout) -> tuple[tuple[Any, ...], ...]:
    if len(shape) != 4 or 0 in shape:
        return ()
    weight = Operand((shape[3], 8, 3, 3), 1, dtype=DataType.BFLOAT16, layout=Layout.ROW_MAJOR)
    call = {
        "in_channels": shape[3],
        "out_channels": 8,
        "batch_size": shape[0],
        "input_height": shape[1],
        "input_width": shape[2],
        "kernel_size": [3, 3],
    }
    return ((weight, call), (weight, call | {"stride": [2, 2], "padding": [1, 1], "output_padding": [1, 1]}))


_OPTIONS: Final = {param.name: param for param in OPTIONS}
_SLICES: Final = Param(
    "dram_slice_config",
    _OPTIONS["slice_config"].kind,
    None,
    doc="Slices of the image that go through L1; time only.",
)
_BEFORE: Final = ("groups", "dtype", "bias_tensor", "conv_config", "compute_config", "memory_config")
_AFTER: Final = ("return_output_dim", "return_weights_and_bias")

conv_transpose2d = register(
    Op(
        name="conv_transpose2d",
        signatures=(
            Signature(
                (
                    PIXELS,
                    Param(
                        "weight_tensor",
                        TENSOR,
                        doc="[C, O / groups, kh, kw] on the host or a device, or prepared weights.",
                        example=Operand((128, 32, 3, 3), 1, dtype=DataType.BFLOAT16, layout=Layout.ROW_MAJOR),
                    ),
                ),
                (
                    DEVICE_PARAM,
                    *CHANNELS,
                    Param("input_height", INTEGER, doc="H.", example=8),
                    Param("input_width", INTEGER, doc="W.", example=8),
                    Param("kernel_size", INT_SEQUENCE, doc="[kh, kw].", example=[3, 3]),
                    Param("stride", INT_SEQUENCE, [1, 1], doc="Steps of the output.", example=[2, 2]),
                    Param(
                        "padding",
                        INT_SEQUENCE,
                        [0, 0],
                        doc="Rows and columns cut off: [height, width] or [top, bottom, left, right].",
                        example=[1, 1],
                    ),
                    Param(
                        "output_padding", INT_SEQUENCE, [0, 0], doc="More rows and columns at the end.", example=[1, 1]
                    ),
                    Param("dilation", INT_SEQUENCE, [1, 1], doc="Dilation of the kernel window.", example=[2, 2]),
                    *(_OPTIONS[name] for name in _BEFORE),
                    _SLICES,
                    Param("mirror_kernel", BOOLEAN, True, doc="False if the weights are mirrored already."),
                    *(_OPTIONS[name] for name in _AFTER),
                ),
            ),
        ),
        run=_conv_transpose2d,
        doc="Return the transposed convolution of images with `weight_tensor`, plus `bias_tensor`.\n"
        f"Shape: [1, 1, N * H * W, C], [C, O / groups, kh, kw] -> [1, 1, N * OH * OW, O].\n{NOTE}",
        source="tt-metal `ttnn/cpp/ttnn/operations/conv/conv_transpose`",
        dtypes=DTYPES,
        layouts=(Layout.TILE, Layout.ROW_MAJOR),
        golden=golden.conv_transpose2d,
        accuracy=no_bound("for sums are kept in bfloat16"),
        engine=("matmul", "write_window", "move_elements", "fill"),
        raises=ERRORS,
        examples=_examples,
    )
)
