"""Weights of volume convolutions as matrices for multiplication with windows.

Source: tt-metal `ttnn/cpp/ttnn/operations/experimental/conv3d/prepare_conv3d_weights.cpp`.
"""

from __future__ import annotations

from typing import Final

from ttnn.base.enums import FORMAT_CODE, DataType, Layout
from ttnn.base.exceptions import DTypeError, LayoutError, ParameterError, ShapeError
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG
from ttnn.base.tensor_spec import TensorSpec
from ttnn.device.lifecycle import MeshDevice
from ttnn.ops._programs.common import allocate, on_device
from ttnn.ops._programs.element_map import strides_of
from ttnn.ops._programs.movement import move
from ttnn.ops._programs.windows import copy_rows
from ttnn.runtime import engine_steps
from ttnn.tensor.tensor import Tensor

ALIGNMENT: Final = 32


def prepared(name: str, weight: Tensor, groups: int, block: int, alignment: int, device: MeshDevice | None) -> Tensor:
    """Return weights as rows of channel blocks.

    [O, C / groups, kT, kH, kW] -> [blocks * kT * kH * kW * block, O].

    Raises:
        ShapeError: they are not of rank 5, or blocks do not divide the channels.
        DTypeError: they are not bfloat16 or float32.
        LayoutError: they are in tiles.
        ParameterError: a size is not positive, or there is no device.
    """
    spec = weight.spec
    device = device or weight._device
    if weight._device is not None:
        on_device(name, weight, "weight_tensor")
    if device is None:
        raise ParameterError(f"{name}: weight_tensor is on the host; pass the device of the result.")
    if spec.dtype not in (DataType.BFLOAT16, DataType.FLOAT32):
        raise DTypeError(f"{name}: weight_tensor is {spec.dtype.name}; it must be BFLOAT16 or FLOAT32.")
    if spec.layout is not Layout.ROW_MAJOR:
        raise LayoutError(
            f"{name}: weight_tensor is in tiles; convert it with ttnn.to_layout(..., ttnn.ROW_MAJOR_LAYOUT)."
        )
    if spec.shape.rank != 5 or 0 in tuple(spec.shape):
        raise ShapeError(f"{name}: weight_tensor has shape {spec.shape}; it must be [O, C / groups, kT, kH, kW].")
    if groups < 1 or alignment < 1 or block < 0:
        raise ParameterError(f"{name}: groups={groups} and alignment={alignment} must be positive, C_in_block={block}.")
    outputs, of_group, *kernel = tuple(spec.shape)
    if outputs % groups:
        raise ParameterError(f"{name}: {outputs} output channels do not divide into {groups} groups.")
    channels = -(-of_group * groups // alignment) * alignment
    block = block or channels
    if channels % block:
        raise ShapeError(
            f"{name}: blocks of {block} do not divide the {channels} input channels, with padding.",
            vendor="C_in_aligned must be divisible by C_in_block",
        )
    source = weight if weight._device is not None else weight.to(device)
    rows = allocate(
        TensorSpec.of((*kernel, channels, outputs), spec.dtype, Layout.ROW_MAJOR, DRAM_MEMORY_CONFIG), device
    )
    assert rows.buffer is not None
    engine_steps.fill(rows.buffer, format=FORMAT_CODE[spec.dtype], value=0.0)
    to_output, to_channel, *of_kernel = strides_of(tuple(spec.shape))
    each = outputs // groups
    for group in range(groups):
        copy_rows(
            source,
            rows,
            shape=(*kernel, channels, outputs),
            strides=(*of_kernel, to_channel, to_output),
            offset=group * each * to_output,
            window=(*((0, size) for size in kernel), (group * of_group, of_group), (group * each, each)),
        )
    count = channels // block
    steps = strides_of((*kernel, count, block, outputs))
    ordered = move(
        rows,
        TensorSpec.of((count, *kernel, block, outputs), spec.dtype, Layout.ROW_MAJOR, DRAM_MEMORY_CONFIG),
        strides=(steps[3], *steps[:3], *steps[4:]),
    )
    flat = (ordered.spec.shape.volume() // outputs, outputs)
    return ordered._view(TensorSpec.of(flat, spec.dtype, Layout.ROW_MAJOR, DRAM_MEMORY_CONFIG))
