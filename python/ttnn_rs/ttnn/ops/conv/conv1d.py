"""Convolutions of rows: those of images of height 1.

Source: tt-metal `ttnn/cpp/ttnn/operations/conv`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ttnn.base.compute_config import WormholeComputeKernelConfig
from ttnn.base.conv_config import Conv2dConfig, Op2DSliceConfig
from ttnn.base.enums import DataType, Layout
from ttnn.base.exceptions import ParameterError
from ttnn.base.memory_config import MemoryConfig
from ttnn.device.lifecycle import MeshDevice
from ttnn.golden import conv as golden
from ttnn.operation.accuracy import no_bound
from ttnn.operation.domain import Operand
from ttnn.operation.registry import Op, register
from ttnn.operation.signature import INT_OR_INTS, INTEGER, TENSOR, Param, Signature
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
from ttnn.ops.conv.window import window_of
from ttnn.ops.data_movement.reshape import reshaped
from ttnn.tensor.tensor import Tensor


def _conv1d(
    input_tensor: Tensor,
    weight_tensor: Tensor,
    device: MeshDevice | None,
    in_channels: int,
    out_channels: int,
    batch_size: int,
    input_length: int,
    kernel_size: int,
    stride: int,
    padding: Sequence[int] | int,
    dilation: int,
    groups: int,
    dtype: DataType | None,
    bias_tensor: Tensor | None,
    conv_config: Conv2dConfig | None,
    compute_config: WormholeComputeKernelConfig | None,
    memory_config: MemoryConfig | None,
    slice_config: Op2DSliceConfig | None,
    return_output_dim: bool,
    return_weights_and_bias: bool,
) -> Tensor | tuple[object, ...]:
    name = "ttnn.conv1d"
    ends = [padding, padding] if isinstance(padding, int) else list(padding)
    if len(ends) not in (1, 2):
        raise ParameterError(f"{name}: padding is {list(ends)}; it must be an integer, or [left, right].")
    sizes = (batch_size, 1, input_length, in_channels, out_channels)
    if input_tensor.spec.shape.rank == 3:
        # Rows of channels without the height of images.
        rows = tuple(input_tensor.spec.shape)
        input_tensor = reshaped(name, input_tensor, (rows[0], 1, *rows[1:]))
    window = window_of(name, sizes, (1, kernel_size), (1, stride), (0, 0, ends[0], ends[-1]), (1, dilation), groups)
    window = placed(window, input_tensor, weight_tensor, device, conv_config)
    output, weights, bias = convolution(
        name,
        input_tensor,
        weight_tensor,
        device,
        window,
        dtype,
        bias_tensor,
        conv_config,
        compute_config,
        memory_config,
    )
    return results(
        output,
        window.out_width,
        (weights, bias),
        with_size=return_output_dim,
        with_weights=return_weights_and_bias,
    )


def _examples_1d(shape: tuple[int, ...], layout: Layout) -> tuple[tuple[Any, ...], ...]:
    if len(shape) != 4 or shape[1] != 1 or 0 in shape or shape[2] < 3:
        return ()
    weight = Operand((8, shape[3], 3), 1, dtype=DataType.BFLOAT16, layout=Layout.ROW_MAJOR)
    call = {
        "in_channels": shape[3],
        "out_channels": 8,
        "batch_size": shape[0],
        "input_length": shape[2],
        "kernel_size": 3,
    }
    return ((weight, call), (weight, call | {"padding": 1}))


conv1d = register(
    Op(
        name="conv1d",
        signatures=(
            Signature(
                (
                    PIXELS,
                    Param(
                        "weight_tensor",
                        TENSOR,
                        doc="[O, C / groups, k] on the host or a device, or prepared weights.",
                        example=Operand((32, 128, 3), 1, dtype=DataType.BFLOAT16, layout=Layout.ROW_MAJOR),
                    ),
                ),
                (
                    DEVICE_PARAM,
                    *CHANNELS,
                    Param("input_length", INTEGER, doc="L.", example=64),
                    Param("kernel_size", INTEGER, doc="k.", example=3),
                    Param("stride", INTEGER, 1, doc="Stride of the kernel window.", example=2),
                    Param(
                        "padding",
                        INT_OR_INTS,
                        0,
                        doc="Zeros around the row: on both sides, or [left, right].",
                        example=1,
                    ),
                    Param("dilation", INTEGER, 1, doc="Dilation of the kernel window.", example=2),
                    *OPTIONS,
                ),
            ),
        ),
        run=_conv1d,
        doc="Return the convolution of rows with `weight_tensor`, plus `bias_tensor`.\n"
        f"Shape: [1, 1, N * L, C] or [N, L, C], [O, C / groups, k] -> [1, 1, N * OL, O].\n{NOTE}",
        source="tt-metal `ttnn/cpp/ttnn/operations/conv`",
        dtypes=DTYPES,
        layouts=(Layout.TILE, Layout.ROW_MAJOR),
        golden=golden.conv1d,
        accuracy=no_bound("for sums are kept in bfloat16"),
        engine=("matmul", "write_window", "move_elements", "fill"),
        raises=ERRORS,
        examples=_examples_1d,
    )
)
