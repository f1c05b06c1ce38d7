"""Columns joined to images with added overlaps, the inverse of unfolding.

Source: tt-metal `ttnn/cpp/ttnn/operations/moreh/moreh_fold`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ttnn.base.enums import DataType, Layout
from ttnn.base.exceptions import DTypeError, LayoutError, ParameterError, ShapeError
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, MemoryConfig
from ttnn.base.tensor_spec import TensorSpec
from ttnn.golden import moreh as golden
from ttnn.operation.accuracy import no_bound
from ttnn.operation.domain import Operand as Example
from ttnn.operation.registry import declare, find
from ttnn.operation.signature import INT_SEQUENCE, TENSOR, Param, Signature
from ttnn.ops._programs.common import MEMORY_CONFIG_OPTION, on_device, take_output
from ttnn.ops._programs.element_map import copy_into
from ttnn.ops._programs.movement import move
from ttnn.ops.data_movement.reshape import reshaped
from ttnn.ops.moreh.scalars import cut_to_bfloat16
from ttnn.tensor.tensor import Tensor

_NAME: Final = "ttnn.moreh_fold"
Pair = tuple[int, int]


def _pair(label: str, values: Sequence[int], least: int) -> Pair:
    if len(values) != 2:
        raise ParameterError(
            f"{_NAME}: {label}={list(values)}; it requires two integers, for height and width.",
            vendor=f"Fold: {label} takes 2 elements",
        )
    first, second = map(int, values)
    if min(first, second) < least:
        raise ParameterError(f"{_NAME}: {label}={list(values)}; values below {least} are invalid.")
    return first, second


def _placed(
    source: Tensor, images: int, block: int, kernels: int, places: Pair, size: Pair, first: Pair, stride: Pair
) -> Tensor:
    """Return images with one kernel position's elements, else 0.

    Args:
        source: [N, C * kernels, L] in rows.
        images: N * C.
        block: Which place of the kernel.
        kernels: Places of a kernel.
        places: Positions of the kernel, down and across.
        size: Height and width of the images.
        first: Coordinate at the first position; before the image if negative.
        stride: Steps between positions.
    """
    down, across = places
    length = down * across
    dtype = source.spec.dtype
    spread = TensorSpec.of((images, down, stride[0], across, stride[1]), dtype, Layout.ROW_MAJOR, DRAM_MEMORY_CONFIG)
    stuffed = move(
        source,
        spread,
        strides=[kernels * length, across, 0, 1, 0],
        offset=block * length,
        window=[(0, images), (0, down), (0, 1), (0, across), (0, 1)],
    )
    height, width = down * stride[0], across * stride[1]
    starts = [max(0, at) for at in first]
    ends = [min(limit, at + extent) for limit, at, extent in zip(size, first, (height, width), strict=True)]
    counts = [max(0, end - start) for start, end in zip(starts, ends, strict=True)]
    skipped = [start - at for start, at in zip(starts, first, strict=True)]
    target = TensorSpec.of((images, *size), dtype, Layout.TILE, DRAM_MEMORY_CONFIG)
    if 0 in counts:
        starts, counts, skipped = [0, 0], [0, 0], [0, 0]
    return move(
        reshaped(_NAME, stuffed, (images, height, width)),
        target,
        strides=[height * width, width, 1],
        offset=skipped[0] * width + skipped[1],
        window=[(0, images), *zip(starts, counts, strict=True)],
    )


def _fold(
    input: Tensor,
    output: Tensor | None,
    output_size: Sequence[int],
    kernel_size: Sequence[int],
    dilation: Sequence[int],
    padding: Sequence[int],
    stride: Sequence[int],
    memory_config: MemoryConfig | None,
) -> Tensor:
    device = on_device(_NAME, input, "input")
    spec = input.spec
    if spec.layout is not Layout.ROW_MAJOR:
        raise LayoutError(
            f"{_NAME}: input is tiled; convert it with ttnn.to_layout(..., ttnn.ROW_MAJOR_LAYOUT).",
            vendor="Fold: only support input in ROW_MAJOR",
        )
    if spec.dtype not in (DataType.BFLOAT16, DataType.FLOAT32):
        raise DTypeError(f"{_NAME}: input is {spec.dtype.name}; it must be BFLOAT16 or FLOAT32.")
    size, kernel = _pair("output_size", output_size, 1), _pair("kernel_size", kernel_size, 1)
    apart, around = _pair("dilation", dilation, 1), _pair("padding", padding, 0)
    steps = _pair("stride", stride, 1)
    shape = tuple(spec.shape)
    if len(shape) not in (2, 3):
        raise ShapeError(
            f"{_NAME}: input has shape {list(shape)}; it must be [C * kernels, L] or [N, C * kernels, L].",
            vendor="Fold: Only support 3D or 2D input tensor",
        )
    reach = [size[i] + 2 * around[i] - apart[i] * (kernel[i] - 1) - 1 for i in range(2)]
    places = (reach[0] // steps[0] + 1, reach[1] // steps[1] + 1)
    kernels, length = kernel[0] * kernel[1], places[0] * places[1]
    if min(reach) < 0 or shape[-1] != length or shape[-2] % kernels or 0 in shape:
        raise ShapeError(
            f"{_NAME}: input has shape {list(shape)}; the kernel has {kernels} elements and {length} positions, so it "
            f"must be [..., C * {kernels}, {length}].",
            vendor="Fold: Invalid input tensor size",
        )
    channels = shape[-2] // kernels
    result_shape = (*shape[:-2], channels, *size)
    if output is not None:
        take_output(_NAME, output, result_shape, Layout.ROW_MAJOR, device, dtype=spec.dtype)
    images = (shape[0] if len(shape) == 3 else 1) * channels
    add, typecast = find("ttnn.add"), find("ttnn.typecast")
    total: Tensor | None = None
    for block in range(kernels):
        at = (block // kernel[1], block % kernel[1])
        first = (at[0] * apart[0] - around[0], at[1] * apart[1] - around[1])
        placed = _placed(input, images, block, kernels, places, size, first, steps)
        part: Tensor = placed if spec.dtype is DataType.FLOAT32 else typecast(placed, DataType.FLOAT32)
        total = part if total is None else add(total, part)
    assert total is not None
    if spec.dtype is DataType.BFLOAT16:
        total = cut_to_bfloat16(total)
    place = memory_config or spec.memory_config
    rows = move(total, TensorSpec.of(result_shape, spec.dtype, Layout.ROW_MAJOR, place))
    if output is None:
        return rows
    copy_into(rows, output)
    return output


def _two(name: str, default: tuple[int, int], doc: str, example: list[int]) -> Param:
    return Param(name, INT_SEQUENCE, default, doc=doc, example=example)


moreh_fold = declare(
    "moreh_fold",
    (
        Signature(
            (
                Param(
                    "input",
                    TENSOR,
                    doc="[N, C * kernels, L] or [C * kernels, L] in rows.",
                    example=Example((2, 12, 30), 0, layout=Layout.ROW_MAJOR),
                ),
                Param("output", TENSOR, None, doc="Preallocated output."),
                Param("output_size", INT_SEQUENCE, doc="Height and width of the images.", example=[6, 7]),
                Param("kernel_size", INT_SEQUENCE, doc="Height and width of the kernel.", example=[2, 2]),
                _two("dilation", (1, 1), "Distance of the elements of the kernel.", [2, 2]),
                _two("padding", (0, 0), "Rows and columns around the image that are left out.", [1, 1]),
                _two("stride", (1, 1), "Steps between positions of the kernel.", [2, 2]),
                MEMORY_CONFIG_OPTION,
            )
        ),
    ),
    _fold,
    "Return images of added overlapping blocks, as in `torch.nn.functional.fold`.\n"
    "Shape: [N, C * KH * KW, L] -> [N, C, H, W]. Sums of bfloat16 are truncated to bfloat16.",
    source="tt-metal `ttnn/cpp/ttnn/operations/moreh/moreh_fold`",
    dtypes=(DataType.BFLOAT16, DataType.FLOAT32),
    layouts=(Layout.ROW_MAJOR,),
    golden=golden.moreh_fold,
    accuracy=no_bound("for up to as many elements as the kernel has are added"),
    engine=("move_elements",),
    composition=True,
    raises=(
        ("DTypeError", "the data type is not supported."),
        ("LayoutError", "the input is tiled."),
        ("ShapeError", "the input does not fit the kernel."),
        ("ParameterError", "a pair has another length, or a value is too small."),
    ),
    examples=(),
)
