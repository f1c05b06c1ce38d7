"""Images sampled at the points of a grid.

Source: tt-metal `ttnn/cpp/ttnn/operations/pool/grid_sample`.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ttnn.base.compute_config import FIDELITY_NUMBER, WormholeComputeKernelConfig
from ttnn.base.enums import (
    FORMAT_CODE,
    BufferType,
    DataType,
    Layout,
    MathFidelity,
    ShardOrientation,
    TensorMemoryLayout,
)
from ttnn.base.exceptions import DTypeError, LayoutError, ParameterError, ShapeError
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, MemoryConfig, ShardSpec
from ttnn.base.tensor_spec import TensorSpec
from ttnn.base.work_split import split_work_to_cores
from ttnn.golden import pool as golden
from ttnn.operation.accuracy import no_bound
from ttnn.operation.domain import Operand
from ttnn.operation.registry import Op, register
from ttnn.operation.signature import BOOLEAN, COMPUTE_KERNEL_CONFIG, MEMORY_CONFIG, TENSOR, Param, Signature
from ttnn.ops._programs.common import INPUT_TENSOR, allocate, is_empty, on_device, same_device
from ttnn.ops._programs.element_map import in_rows
from ttnn.ops._programs.sticks import Indices, as_words, pooled
from ttnn.ops._programs.windows import write_into
from ttnn.ops.data_movement.permute import moved_to
from ttnn.ops.data_movement.reshape import reshaped
from ttnn.ops.pool.prepared_grid import NUMBERS, Words, prepared_words
from ttnn.ops.pool.upsample import MODE
from ttnn.runtime import engine_steps
from ttnn.tensor.tensor import Tensor

_NAME: Final = "ttnn.grid_sample"
_FLOATS: Final = (DataType.BFLOAT16, DataType.FLOAT32)
_CHANNELS: Final = 32


def _check(input_tensor: Tensor, grid: Tensor, mode: str, prepared: bool) -> int:
    """Return the number of points in a row of the grid.

    Raises:
        DTypeError: a data type is not taken.
        LayoutError: a tensor is tiled.
        ShapeError: shapes do not fit.
    """
    for label, tensor in (("input_tensor", input_tensor), ("grid", grid)):
        spec = tensor.spec
        word = "Input" if label == "input_tensor" else "Grid"
        if spec.dtype is DataType.BFLOAT8_B:
            raise DTypeError(
                f"{_NAME}: {label} is BFLOAT8_B; typecast it to bfloat16 first.",
                vendor="Only TILE layout is supported for BFLOAT8_B dtype!",
            )
        if spec.dtype not in _FLOATS:
            raise DTypeError(
                f"{_NAME}: {label} is {spec.dtype.name}; typecast it to bfloat16 first.",
                vendor=f"{word} tensor must be BFLOAT16 or FLOAT32",
            )
        if spec.layout is not Layout.ROW_MAJOR:
            raise LayoutError(
                f"{_NAME}: {label} is tiled; convert it with ttnn.to_layout(..., ttnn.ROW_MAJOR_LAYOUT).",
                vendor=f"{word} tensor must be ROW_MAJOR layout",
            )
        if spec.shape.rank != 4:
            raise ShapeError(
                f"{_NAME}: {label} has shape {spec.shape}; it must be of rank 4.", vendor=f"{word} tensor must be 4D"
            )
    if prepared and grid.spec.dtype is not DataType.BFLOAT16:
        raise DTypeError(
            f"{_NAME}: grid is {grid.spec.dtype.name}; a prepared grid is bfloat16.",
            vendor="Precomputed grid tensor must be BFLOAT16",
        )
    batch, _, _, channels = tuple(input_tensor.spec.shape)
    of_grid = tuple(grid.spec.shape)
    if of_grid[0] != batch:
        raise ShapeError(
            f"{_NAME}: input_tensor has {batch} images, grid points for {of_grid[0]}.", vendor="Batch size mismatch"
        )
    if channels % _CHANNELS:
        raise ShapeError(
            f"{_NAME}: input_tensor has {channels} channels; they must be a multiple of {_CHANNELS}.",
            vendor="Input tensor last dimension must be divisible by TILE_WIDTH",
        )
    numbers = NUMBERS[mode] if prepared else 2
    if not of_grid[3] or of_grid[3] % numbers:
        kind = "Precomputed" if prepared else "Standard"
        raise ShapeError(
            f"{_NAME}: rows of grid have {of_grid[3]} values; each point has {numbers}.",
            vendor=f"{kind} grid tensor last dimension must be a multiple of {numbers}",
        )
    return of_grid[3] // numbers


def _place(
    input_tensor: Tensor, grid: Tensor, mode: str, memory_config: MemoryConfig | None, spread: tuple[int, int]
) -> MemoryConfig:
    """Return the output's memory config.

    Shards over the cores of a sharded grid, or over all for "nearest".

    Args:
        input_tensor: Images.
        grid: Points.
        mode: "bilinear" or "nearest".
        memory_config: What the caller asks for.
        spread: By how much a row of the grid has more rows and more channels in the output.
    """
    held = grid.spec.memory_config
    target = memory_config or (held if held.is_sharded() else DRAM_MEMORY_CONFIG)
    if not held.is_sharded() and (target.shard_spec is not None or (mode == "bilinear" and target.interleaved)):
        return target
    shards = held.shard_spec
    if shards is not None:
        cores, orientation, points = shards.grid, shards.orientation, shards.shape[0]
    else:
        _, rows, columns, _ = tuple(grid.spec.shape)
        device = on_device(_NAME, input_tensor)
        _, cores, _, _, points, _ = split_work_to_cores(device.compute_with_storage_grid_size(), rows * columns)
        points, orientation = points * grid.spec.shape[0], ShardOrientation.ROW_MAJOR
    size = [points * spread[0], input_tensor.spec.shape[3] * spread[1]]
    return MemoryConfig(TensorMemoryLayout.HEIGHT_SHARDED, BufferType.L1, ShardSpec(cores, size, orientation))


def _sticks(words: Words, extent: tuple[int, int, int]) -> tuple[Indices, list[list[float]]]:
    """Return sticks and weights of "bilinear" points: [points, 4] each.

    Args:
        words: [images, points, 6].
        extent: Images, rows and columns.
    """
    images, height, width = extent
    rows, columns = (words[..., part].view(np.int16).astype(np.int64) for part in (0, 1))
    first = np.arange(images)[:, None] * height * width
    sticks = []
    for down in (0, 1):
        for across in (0, 1):
            row, column = rows + down, columns + across
            inside = (row >= 0) & (row < height) & (column >= 0) & (column < width)
            sticks.append(np.where(inside, first + row * width + column, -1))
    weights = (words[..., 2:].astype(np.uint32) << 16).view(np.float32)
    found = np.stack(sticks, -1).reshape(-1, 4).astype(np.int32)
    kept = np.where(found < 0, np.float32(0.0), weights.reshape(-1, 4))
    return found, as_words(kept)


def _copied(input_tensor: Tensor, words: Words, shape: tuple[int, ...]) -> Tensor:
    """Return pixels of prepared "nearest" points, zeros outside."""
    device = on_device(_NAME, input_tensor)
    images, height, width, channels = tuple(input_tensor.spec.shape)
    rows, columns = (words[..., part].view(np.int16).astype(np.int64) for part in (0, 1))
    outside = (rows == -1) | (columns == -1)
    inside = (rows >= 0) & (rows < height) & (columns >= 0) & (columns < width)
    if not (outside | inside).all():
        raise ParameterError(
            f"{_NAME}: grid has pixels outside of the {height}x{width} image; the device would read whatever lies "
            "there."
        )
    count = images * height * width
    # The last row of the table is what lies outside.
    of = TensorSpec.of((1, 1, count + 1, channels), input_tensor.spec.dtype, Layout.ROW_MAJOR, DRAM_MEMORY_CONFIG)
    table = allocate(of, device)
    assert table.buffer is not None
    engine_steps.fill(table.buffer, format=FORMAT_CODE[of.dtype], value=0.0)
    write_into(reshaped(_NAME, input_tensor, (1, 1, count, channels)), table, [0, 0, 0, 0])
    numbers = np.where(outside, count, np.arange(images)[:, None] * height * width + rows * width + columns)
    named = Tensor(numbers.reshape(1, -1).astype(np.uint32), DataType.UINT32, device, Layout.ROW_MAJOR)
    output = allocate(TensorSpec.of(shape, of.dtype, Layout.ROW_MAJOR, DRAM_MEMORY_CONFIG), device)
    assert named.buffer is not None
    assert output.buffer is not None
    engine_steps.gather_rows(
        named.buffer,
        table.buffer,
        output.buffer,
        format=FORMAT_CODE[DataType.UINT32],
        sizes=(1, numbers.size),
        tiled=None,
    )
    return output


def _sampled(
    input_tensor: Tensor,
    grid: Tensor,
    shape: tuple[int, ...],
    align_corners: bool,
    compute: WormholeComputeKernelConfig | None,
) -> Tensor:
    """Return images sampled at points whose weights the program computes."""
    device = on_device(_NAME, input_tensor)
    _, height, width, channels = tuple(input_tensor.spec.shape)
    dtype = input_tensor.spec.dtype
    output = allocate(TensorSpec.of(shape, dtype, Layout.ROW_MAJOR, DRAM_MEMORY_CONFIG), device)
    fidelity, dst32 = MathFidelity.HiFi4, False
    if compute is not None:
        dst32 = compute.fp32_dest_acc_en
        if compute.math_fidelity is not MathFidelity.Invalid:
            fidelity = compute.math_fidelity
    images = in_rows(input_tensor)
    points = in_rows(reshaped(_NAME, grid, (*shape[:3], 2), DRAM_MEMORY_CONFIG))
    assert images.buffer is not None
    assert points.buffer is not None
    assert output.buffer is not None
    engine_steps.grid_sample(
        images.buffer,
        points.buffer,
        output.buffer,
        formats=(FORMAT_CODE[dtype], FORMAT_CODE[grid.spec.dtype]),
        channels=channels,
        image=(height, width),
        points=shape[1] * shape[2],
        align_corners=align_corners,
        dst32=dst32,
        fidelity=FIDELITY_NUMBER[fidelity],
    )
    return output


def _grid_sample(
    input_tensor: Tensor,
    grid: Tensor,
    mode: str,
    padding_mode: str,
    align_corners: bool,
    use_precomputed_grid: bool,
    batch_output_channels: bool,
    memory_config: MemoryConfig | None,
    compute_kernel_config: WormholeComputeKernelConfig | None,
) -> Tensor:
    device = on_device(_NAME, input_tensor)
    same_device(_NAME, device, grid, "grid")
    if mode not in NUMBERS:
        raise ParameterError(f"{_NAME}: mode is {mode!r}; it must be 'bilinear' or 'nearest'.")
    if padding_mode != "zeros":
        raise ParameterError(
            f"{_NAME}: padding_mode is {padding_mode!r}; it must be 'zeros'.",
            vendor="Only zeros padding mode is currently supported",
        )
    if mode == "nearest" and not use_precomputed_grid:
        raise ParameterError(
            f"{_NAME}: mode='nearest' requires use_precomputed_grid=True and a grid of ttnn.prepare_grid_sample_grid.",
            vendor="use_precomputed_grid = false is not supported with mode = 'nearest'. Please use precomputed grid "
            "with nearest mode.",
        )
    many = _check(input_tensor, grid, mode, use_precomputed_grid)
    if batch_output_channels and many == 1:
        raise ParameterError(
            f"{_NAME}: batch_output_channels=True joins the channels of several points in a row; grid has one.",
            vendor="batch_output_channels=True requires grid batching factor K > 1.",
        )
    batch, height, width, channels = tuple(input_tensor.spec.shape)
    _, rows, columns, _ = tuple(grid.spec.shape)
    each = (batch, rows, columns * many, channels)
    shape = (batch, rows, columns, channels * many) if batch_output_channels else each
    target = _place(input_tensor, grid, mode, memory_config, (1, many) if batch_output_channels else (many, 1))
    if 0 in each:
        return allocate(TensorSpec.of(shape, input_tensor.spec.dtype, Layout.ROW_MAJOR, target), device)
    if is_empty(input_tensor.spec):
        raise ShapeError(f"{_NAME}: input_tensor has shape {input_tensor.spec.shape}; it has no pixels.")
    if use_precomputed_grid:
        words = np.ascontiguousarray(prepared_words(_NAME, grid)).reshape(batch, -1, NUMBERS[mode])
        if mode == "nearest":
            output = _copied(in_rows(input_tensor), words, each)
        else:
            sticks, weights = _sticks(words, (batch, height, width))
            which = list(range(len(weights)))
            images = in_rows(input_tensor)
            output = pooled(_NAME, images, each, sticks, weights, which, compute=compute_kernel_config)
    else:
        output = _sampled(input_tensor, grid, each, align_corners, compute_kernel_config)
    if batch_output_channels:
        output = reshaped(_NAME, output, shape)
    return output if target == DRAM_MEMORY_CONFIG else moved_to(output, target)


def _examples(shape: tuple[int, ...], layout: Layout) -> tuple[tuple[Any, ...], ...]:
    if len(shape) != 4 or 0 in shape or shape[3] % _CHANNELS or layout is not Layout.ROW_MAJOR:
        return ()
    return ((Operand((shape[0], 3, 5, 2), dtype=DataType.FLOAT32, between=(-0.9, 0.9)),),)


grid_sample = register(
    Op(
        name="grid_sample",
        signatures=(
            Signature(
                (
                    Param(
                        INPUT_TENSOR.name,
                        TENSOR,
                        doc="[N, H, W, C] in bfloat16 or float32 on a device, row-major.",
                        example=Operand((1, 8, 8, 32), layout=Layout.ROW_MAJOR),
                    ),
                    Param(
                        "grid",
                        TENSOR,
                        doc="[N, h, w, 2 * K] in float32 or bfloat16, row-major: K times x and y, from -1 to 1 across "
                        "the image; or what `ttnn.prepare_grid_sample_grid` makes of it.",
                        example=Operand((1, 4, 5, 2), 3, DataType.FLOAT32, Layout.ROW_MAJOR, (-1.2, 1.2)),
                    ),
                ),
                (
                    Param(
                        "mode",
                        MODE,
                        "bilinear",
                        doc="'bilinear', or 'nearest' with a prepared grid.",
                        example="nearest",
                    ),
                    Param("padding_mode", MODE, "zeros", doc="'zeros': padding outside an image.", example="border"),
                    Param("align_corners", BOOLEAN, False, doc="-1 and 1 are the centres of the outer pixels."),
                    Param("use_precomputed_grid", BOOLEAN, False, doc="The grid is one of `prepare_grid_sample_grid`."),
                    Param(
                        "batch_output_channels", BOOLEAN, False, doc="The K points of a row are channels, not columns."
                    ),
                    Param(
                        "memory_config",
                        MEMORY_CONFIG,
                        None,
                        doc="Of the output. Default: that of a sharded grid, else DRAM.",
                    ),
                    Param("compute_kernel_config", COMPUTE_KERNEL_CONFIG, None, doc="Fidelity of the sums."),
                ),
            ),
        ),
        run=_grid_sample,
        doc="Return images sampled at grid points by bilinear interpolation.\n"
        "Shape: [N, H, W, C], [N, h, w, 2 * K] -> [N, h, w * K, C], or [N, h, w, C * K] with `batch_output_channels`.\n"
        'The output is sharded over the cores of a sharded grid, and over all cores for "nearest".\n'
        "Positions and weights are computed in float32; weights are then truncated to bfloat16. A 16-bit Dst, "
        "the default, truncates float32 pixels, too.",
        source="tt-metal `ttnn/cpp/ttnn/operations/pool/grid_sample`",
        dtypes=_FLOATS,
        layouts=(Layout.ROW_MAJOR,),
        golden=golden.grid_sample,
        accuracy=no_bound("for weights are truncated to bfloat16"),
        engine=("grid_sample",),
        raises=(
            ("ShapeError", "shapes do not fit, or channels are no multiple of 32."),
            ("LayoutError", "a tensor is tiled."),
            ("DTypeError", "input or grid is neither bfloat16 nor float32."),
            ("ParameterError", "`mode` or `padding_mode` is unknown, or options do not go together."),
        ),
        examples=_examples,
    )
)
