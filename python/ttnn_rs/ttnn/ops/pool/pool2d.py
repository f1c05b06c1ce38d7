"""The largest and the mean of windows of images.

Source: tt-metal `ttnn/cpp/ttnn/operations/pool`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Final

import numpy as np

from ttnn.base.compute_config import WormholeComputeKernelConfig
from ttnn.base.conv_config import Op2DSliceConfig
from ttnn.base.enums import BLOCK_FLOATS, DataType, Layout, TensorMemoryLayout
from ttnn.base.exceptions import DTypeError, ParameterError, ShapeError
from ttnn.base.memory_config import MemoryConfig
from ttnn.golden import pool as golden
from ttnn.operation.accuracy import bit_exact, no_bound
from ttnn.operation.registry import Op, find, register
from ttnn.operation.signature import (
    BOOLEAN,
    COMPUTE_KERNEL_CONFIG,
    DATA_TYPE,
    INT_SEQUENCE,
    INTEGER,
    LAYOUT,
    MEMORY_CONFIG,
    MEMORY_LAYOUT,
    TENSOR,
    Param,
    Signature,
    instance_kind,
)
from ttnn.ops._programs.common import needs_tiles, on_device
from ttnn.ops._programs.pipeline import rounded
from ttnn.ops._programs.sticks import Axis, as_words, pixels, pooled, positive, sides, windows
from ttnn.ops._programs.typecast import cast
from ttnn.ops.pool.max_indices import has_wide_indices, largest_and_indices
from ttnn.ops.pool.placement import IndexedPool, result_place
from ttnn.tensor import conversion
from ttnn.tensor.tensor import Tensor

_FACE_ROWS: Final = 16
"""Sticks that one step sums."""


def _axes(
    name: str,
    sizes: tuple[int, int],
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    ceil_mode: bool,
) -> tuple[Axis, Axis]:
    high, wide = positive(name, "kernel_size", kernel_size)
    down, across = positive(name, "stride", stride)
    top, bottom, left, right = sides(name, padding)
    steps = positive(name, "dilation", dilation)
    if max(top, bottom) > high // 2 or max(left, right) > wide // 2:
        raise ParameterError(
            f"{name}: padding {list(padding)} is more than half of the kernel size {high}x{wide}.",
            vendor=f"Padding ({top}, {left}) must be at most half of the kernel size ({high}, {wide})",
        )
    axes = (
        Axis(sizes[0], high, down, top, bottom, steps[0], ceil_mode),
        Axis(sizes[1], wide, across, left, right, steps[1], ceil_mode),
    )
    if any(axis.outputs < 1 for axis in axes):
        raise ParameterError(
            f"{name}: a kernel window of {high}x{wide} does not fit an image of {sizes[0]}x{sizes[1]}."
        )
    return axes


def _sizes(name: str, batch: int, height: int, width: int, channels: int) -> None:
    positive(name, "batch_size, input_h, input_w and channels", (batch, height, width, channels), count=4)


def _output_type(name: str, dtype: DataType, layout: Layout) -> None:
    if dtype is not DataType.BFLOAT16 and dtype not in BLOCK_FLOATS:
        raise DTypeError(f"{name}: dtype is {dtype.name}; results are bfloat16 or block floats, typecast them.")
    needs_tiles(name, dtype, layout)


def _delivered(name: str, output: Tensor, dtype: DataType) -> Tensor:
    """Return a result in its type; block floats pack from bfloat16."""
    return output if output.spec.dtype is dtype else cast(name, output, dtype)


def _max_pool2d(
    input_tensor: Tensor,
    batch_size: int,
    input_h: int,
    input_w: int,
    channels: int,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    ceil_mode: bool,
    memory_config: MemoryConfig | None,
    dram_slice_config: Op2DSliceConfig | None,
    applied_shard_scheme: TensorMemoryLayout | None,
    deallocate_input: bool,
    reallocate_halo_output: bool,
    return_indices: bool,
    dtype: DataType,
    output_layout: Layout,
    config_tensor_in_dram: bool,
) -> Tensor | list[Tensor]:
    name = "ttnn.max_pool2d"
    _sizes(name, batch_size, input_h, input_w, channels)
    _output_type(name, dtype, output_layout)
    axes = _axes(name, (input_h, input_w), kernel_size, stride, padding, dilation, ceil_mode)
    rows = pixels(name, input_tensor, batch_size * input_h * input_w, channels)
    sticks = windows(batch_size, axes[0].places(), axes[1].places(), (input_h, input_w))
    shape = (1, 1, len(sticks), channels)
    memory_config = result_place(input_tensor, memory_config, len(sticks), channels, output_layout)
    indices = None
    if return_indices:
        tiled = Layout.TILE in (input_tensor.spec.layout, output_layout)
        wide, window = has_wide_indices(axes), axes[0].size * axes[1].size
        pool = IndexedPool(len(sticks), channels, window, wide, tiled, dtype, output_layout, config_tensor_in_dram)
        chunk = pool.chunk(input_tensor, applied_shard_scheme)
        output, indices = largest_and_indices(
            name, rows, sticks, axes, batch_size, channels, chunk, memory_config, output_layout
        )
    else:
        output = pooled(name, rows, shape, sticks, memory_config=memory_config, layout=output_layout)
    output = _delivered(name, output, dtype)
    if deallocate_input:
        conversion.deallocate(input_tensor)
    return output if indices is None else [output, indices]


def _means(
    name: str,
    rows: Tensor,
    axes: tuple[Axis, Axis],
    places: tuple[Any, Any],
    divisors: Any,
    batch: int,
    channels: int,
    **options: Any,
) -> Tensor:
    """Return the sums of windows over divisors, [OH, OW]."""
    sticks = windows(batch, *places, (axes[0].extent, axes[1].extent))
    size = sticks.shape[1]
    different, which = np.unique(np.asarray(divisors).reshape(-1), return_inverse=True)
    weights = [[rounded(1.0 / int(divisor))] * size for divisor in different]
    # One step sums the sticks of a face, of two where a core has no more than a tile of channels.
    steps = 2 if channels <= 2 * _FACE_ROWS else 1
    return pooled(
        name,
        rows,
        (1, 1, len(sticks), channels),
        sticks,
        as_words(weights),
        np.tile(which.reshape(-1), batch),
        dst32=size > steps * _FACE_ROWS,
        **options,
    )


def _avg_pool2d(
    input_tensor: Tensor,
    batch_size: int,
    input_h: int,
    input_w: int,
    channels: int,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
    memory_config: MemoryConfig | None,
    dram_slice_config: Op2DSliceConfig | None,
    applied_shard_scheme: TensorMemoryLayout | None,
    compute_kernel_config: WormholeComputeKernelConfig | None,
    deallocate_input: bool,
    reallocate_halo_output: bool,
    dtype: DataType,
    output_layout: Layout,
    config_tensor_in_dram: bool,
) -> Tensor:
    name = "ttnn.avg_pool2d"
    _sizes(name, batch_size, input_h, input_w, channels)
    _output_type(name, dtype, output_layout)
    axes = _axes(name, (input_h, input_w), kernel_size, stride, padding, (1, 1), ceil_mode)
    if divisor_override is not None and not 0 < divisor_override < 1 << 31:
        raise ParameterError(f"{name}: divisor_override is {divisor_override}; it must be positive.")
    rows = pixels(name, input_tensor, batch_size * input_h * input_w, channels)
    down, across = (axis.places() for axis in axes)
    if divisor_override is not None:
        divisors = np.full((len(down), len(across)), divisor_override)
    elif count_include_pad:
        divisors = axes[0].counted()[:, None] * axes[1].counted()[None, :]
    else:
        divisors = (down >= 0).sum(1)[:, None] * (across >= 0).sum(1)[None, :]
    pixels_out = batch_size * len(down) * len(across)
    memory_config = result_place(input_tensor, memory_config, pixels_out, channels, output_layout)
    output = _means(
        name,
        rows,
        axes,
        (down, across),
        np.maximum(divisors, 1),
        batch_size,
        channels,
        compute=compute_kernel_config,
        memory_config=memory_config,
        layout=output_layout,
    )
    output = _delivered(name, output, dtype)
    if deallocate_input:
        conversion.deallocate(input_tensor)
    return output


def _adaptive(extent: int, outputs: int) -> Any:
    """Return positions of windows dividing a dimension: [outputs, size].

    They are -1 where a window is shorter.
    """
    first = np.arange(outputs) * extent // outputs
    end = -(-(np.arange(1, outputs + 1) * extent) // outputs)
    size = int((end - first).max())
    found = first[:, None] + np.arange(size)[None, :]
    return np.where(found < end[:, None], found, -1).astype(np.int32)


def _adaptive_places(
    name: str, input_tensor: Tensor, sizes: tuple[int, int, int, int], output_size: Sequence[int]
) -> tuple[Tensor, tuple[Any, Any]]:
    batch, height, width, channels = sizes
    _sizes(name, *sizes)
    high, wide = positive(name, "output_size", output_size)
    if high > height or wide > width:
        raise ParameterError(f"{name}: output_size is {list(output_size)}, but the image is {height}x{width}.")
    rows = pixels(name, input_tensor, batch * height * width, channels)
    return rows, (_adaptive(height, high), _adaptive(width, wide))


def _adaptive_avg_pool2d(
    input_tensor: Tensor,
    batch_size: int,
    input_h: int,
    input_w: int,
    channels: int,
    output_size: Sequence[int],
    memory_config: MemoryConfig | None,
    dram_slice_config: Op2DSliceConfig | None,
    applied_shard_scheme: TensorMemoryLayout | None,
    compute_kernel_config: WormholeComputeKernelConfig | None,
    deallocate_input: bool,
    reallocate_output: bool,
) -> Tensor:
    name = "ttnn.adaptive_avg_pool2d"
    rows, places = _adaptive_places(name, input_tensor, (batch_size, input_h, input_w, channels), output_size)
    counts = [(of >= 0).sum(1) for of in places]
    axes = (Axis(input_h, 1, 1, 0, 0), Axis(input_w, 1, 1, 0, 0))
    pixels_out = batch_size * len(places[0]) * len(places[1])
    memory_config = result_place(input_tensor, memory_config, pixels_out, channels)
    output = _means(
        name,
        rows,
        axes,
        places,
        counts[0][:, None] * counts[1][None, :],
        batch_size,
        channels,
        compute=compute_kernel_config,
        memory_config=memory_config,
    )
    if deallocate_input:
        conversion.deallocate(input_tensor)
    return output


def _adaptive_max_pool2d(
    input_tensor: Tensor,
    batch_size: int,
    input_h: int,
    input_w: int,
    channels: int,
    output_size: Sequence[int],
    memory_config: MemoryConfig | None,
    dram_slice_config: Op2DSliceConfig | None,
    applied_shard_scheme: TensorMemoryLayout | None,
    deallocate_input: bool,
    reallocate_output: bool,
) -> Tensor:
    name = "ttnn.adaptive_max_pool2d"
    rows, places = _adaptive_places(name, input_tensor, (batch_size, input_h, input_w, channels), output_size)
    sticks = windows(batch_size, *places, (input_h, input_w))
    memory_config = result_place(input_tensor, memory_config, len(sticks), channels)
    output = pooled(name, rows, (1, 1, len(sticks), channels), sticks, memory_config=memory_config)
    if deallocate_input:
        conversion.deallocate(input_tensor)
    return output


def _global_avg_pool2d(input_tensor: Tensor, memory_config: MemoryConfig | None, _dtype: DataType | None) -> Tensor:
    name = "ttnn.global_avg_pool2d"
    on_device(name, input_tensor)
    shape = tuple(input_tensor.spec.shape)
    if not 2 <= len(shape) <= 4:
        raise ShapeError(
            f"{name}: input_tensor has shape {list(shape)}; it must be [N, H, W, C].",
            vendor=f"global_avg_pool2d expects rank 2, 3, or 4 input, got rank {len(shape)}",
        )
    shape = (1, 1, *shape)[-4:]
    rows = find("ttnn.reshape")(input_tensor, (shape[0], 1, shape[1] * shape[2], shape[3]))
    # The result is interleaved, in the buffer type of the request.
    buffer_type = (memory_config or input_tensor.spec.memory_config).buffer_type
    output: Tensor = find("ttnn.mean")(rows, 2, True, memory_config=MemoryConfig(buffer_type=buffer_type))
    return output


_INPUT: Final = Param("input_tensor", TENSOR, doc="[1, 1, N * H * W, C] or [N, H, W, C] on a device.")
_SIZES: Final = (
    Param("batch_size", INTEGER, doc="N.", example=1),
    Param("input_h", INTEGER, doc="H.", example=8),
    Param("input_w", INTEGER, doc="W.", example=8),
    Param("channels", INTEGER, doc="C.", example=128),
)
_WINDOW: Final = (
    Param("kernel_size", INT_SEQUENCE, doc="[kh, kw].", example=[3, 3]),
    Param("stride", INT_SEQUENCE, doc="Stride of the kernel window.", example=[2, 2]),
    Param("padding", INT_SEQUENCE, doc="[height, width] or [top, bottom, left, right].", example=[1, 1]),
)
_CEIL: Final = Param("ceil_mode", BOOLEAN, False, doc="Kernel windows may end past the image.")
_MEMORY: Final = Param(
    "memory_config",
    MEMORY_CONFIG,
    None,
    doc="Of the output. Default: on the cores of a sharded input, otherwise interleaved in DRAM.",
)
_PLACES: Final = (
    Param(
        "dram_slice_config",
        instance_kind("ttnn.Op2DSliceConfig", Op2DSliceConfig),
        None,
        doc="Slices of the image; time only.",
    ),
    Param(
        "applied_shard_scheme",
        MEMORY_LAYOUT,
        None,
        doc="How the image is split over cores: time, and which of equal elements has its index returned.",
    ),
)
_FREED: Final = Param("deallocate_input", BOOLEAN, False, doc="Free the input.")
_MOVED: Final = Param("reallocate_halo_output", BOOLEAN, True, doc="Time only.")
_TYPES: Final = (
    Param("dtype", DATA_TYPE, DataType.BFLOAT16, doc="bfloat16, or block floats in tiles."),
    Param("output_layout", LAYOUT, Layout.ROW_MAJOR, doc="Layout of the output."),
)
_TABLES: Final = Param("config_tensor_in_dram", BOOLEAN, False, doc="Time only.")
_COMPUTE: Final = Param("compute_kernel_config", COMPUTE_KERNEL_CONFIG, None, doc="Math fidelity and Dst width.")
_REALLOCATED: Final = Param("reallocate_output", BOOLEAN, True, doc="Time only.")


def _examples(call: tuple[Any, ...], shape: tuple[int, ...], layout: Layout) -> tuple[tuple[Any, ...], ...]:
    if len(shape) != 4 or 0 in shape:
        return ()
    return ((shape[0], shape[1], shape[2], shape[3], *call),)


declare = partial(
    Op,
    source="tt-metal `ttnn/cpp/ttnn/operations/pool`",
    dtypes=(DataType.BFLOAT16,),
    layouts=(Layout.TILE, Layout.ROW_MAJOR),
    engine=("pool_sticks", "move_elements"),
    raises=(
        ("ShapeError", "the input does not fit the sizes."),
        ("ParameterError", "a size is not positive, or the kernel window does not fit the image."),
        ("DTypeError", "the input is neither bfloat16 nor bfloat8_b, or the output is not bfloat16."),
    ),
)
_MEAN: Final = no_bound("for the divisor is truncated to bfloat16")
_SHAPE: Final = "Shape: [1, 1, N * H * W, C] -> [1, 1, N * OH * OW, C]."

max_pool2d = register(
    declare(
        name="max_pool2d",
        engine=("pool_sticks", "pool_largest", "move_elements"),
        signatures=(
            Signature(
                (
                    _INPUT,
                    *_SIZES,
                    *_WINDOW,
                    Param("dilation", INT_SEQUENCE, doc="Dilation of the kernel window.", example=[1, 1]),
                    _CEIL,
                ),
                (
                    _MEMORY,
                    *_PLACES,
                    _FREED,
                    _MOVED,
                    Param(
                        "return_indices",
                        BOOLEAN,
                        False,
                        doc="Return the pixels of the largest elements as well: UINT16, UINT32 beyond 65,535 pixels.",
                    ),
                    *_TYPES,
                    _TABLES,
                ),
            ),
        ),
        run=_max_pool2d,
        doc=f"Return the max pooling of images, channel by channel.\n{_SHAPE}\n"
        "Of several equal elements the index is the one that the official kernel finds: among the first eight, those "
        "with even positions in the window come first; of more than nine, the last eight.",
        golden=golden.max_pool2d,
        accuracy=bit_exact(),
        examples=partial(_examples, ([3, 3], [1, 1], [1, 1], [1, 1])),
    )
)

avg_pool2d = register(
    declare(
        name="avg_pool2d",
        signatures=(
            Signature(
                (
                    _INPUT,
                    *_SIZES,
                    *_WINDOW,
                    _CEIL,
                    Param("count_include_pad", BOOLEAN, True, doc="Padding counts in the divisor."),
                    Param(
                        "divisor_override",
                        INTEGER,
                        None,
                        doc="The divisor. Default: the kernel size.",
                        example=3,
                    ),
                ),
                (_MEMORY, *_PLACES, _COMPUTE, _FREED, _MOVED, *_TYPES, _TABLES),
            ),
        ),
        run=_avg_pool2d,
        doc=f"Return the average pooling of images, channel by channel.\n{_SHAPE}\n"
        "The reciprocal of the divisor is truncated to bfloat16.",
        golden=golden.avg_pool2d,
        accuracy=_MEAN,
        examples=partial(_examples, ([3, 3], [1, 1], [1, 1])),
    )
)

adaptive_avg_pool2d = register(
    declare(
        name="adaptive_avg_pool2d",
        signatures=(
            Signature(
                (_INPUT, *_SIZES, Param("output_size", INT_SEQUENCE, doc="[OH, OW].", example=[3, 3])),
                (_MEMORY, *_PLACES, _COMPUTE, _FREED, _REALLOCATED),
            ),
        ),
        run=_adaptive_avg_pool2d,
        doc=f"Return the adaptive average pooling of images to `output_size`.\n{_SHAPE}\n"
        "The reciprocal of the divisor is truncated to bfloat16.",
        golden=golden.adaptive_avg_pool2d,
        accuracy=_MEAN,
        examples=partial(_examples, ([1, 1],)),
    )
)

adaptive_max_pool2d = register(
    declare(
        name="adaptive_max_pool2d",
        signatures=(
            Signature(
                (_INPUT, *_SIZES, Param("output_size", INT_SEQUENCE, doc="[OH, OW].", example=[3, 3])),
                (_MEMORY, *_PLACES, _FREED, _REALLOCATED),
            ),
        ),
        run=_adaptive_max_pool2d,
        doc=f"Return the adaptive max pooling of images to `output_size`.\n{_SHAPE}",
        golden=golden.adaptive_max_pool2d,
        accuracy=bit_exact(),
        examples=partial(_examples, ([1, 1],)),
    )
)

global_avg_pool2d = register(
    Op(
        name="global_avg_pool2d",
        signatures=(
            Signature(
                (Param("input_tensor", TENSOR, doc="[N, H, W, C] on a device."),),
                (
                    _MEMORY,
                    Param("dtype", DATA_TYPE, None, doc="Ignored, as in the official operator."),
                ),
            ),
        ),
        run=_global_avg_pool2d,
        doc="Return the mean of every channel of images.\nShape: [N, H, W, C] -> [N, 1, 1, C].",
        source="tt-metal `ttnn/cpp/ttnn/operations/pool`",
        dtypes=(DataType.BFLOAT16, DataType.FLOAT32),
        layouts=(Layout.TILE,),
        golden=golden.global_avg_pool2d,
        accuracy=no_bound("for it is that of mean"),
        composition=True,
        raises=(
            ("ShapeError", "the rank is not 4."),
            ("DTypeError", "the input is an integer tensor, or bfloat4_b."),
        ),
        examples=lambda shape, layout: ((),) if len(shape) == 4 and layout is Layout.TILE and 0 not in shape else (),
    )
)
