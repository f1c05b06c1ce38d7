"""Group norm over rows and the channels of a group.

Source: tt-metal `ttnn/cpp/ttnn/operations/normalization/groupnorm`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

from ttnn.base.compute_config import FIDELITY_NUMBER, WormholeComputeKernelConfig
from ttnn.base.core_range import CoreGrid
from ttnn.base.enums import FORMAT_CODE, TILE_SIZE, Arch, DataType, Layout, MathFidelity, TensorMemoryLayout
from ttnn.base.exceptions import (
    DTypeError,
    LayoutError,
    MemoryConfigError,
    ParameterError,
    ShapeError,
    UnsupportedError,
)
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, MemoryConfig
from ttnn.base.tensor_spec import TensorSpec
from ttnn.golden import normalization as golden
from ttnn.operation.accuracy import no_bound
from ttnn.operation.domain import Operand
from ttnn.operation.registry import Op, register
from ttnn.operation.signature import (
    BOOLEAN,
    DATA_TYPE,
    FLOAT,
    INTEGER,
    LAYOUT,
    TENSOR,
    Param,
    Signature,
    instance_kind,
)
from ttnn.ops._programs.common import (
    INPUT_TENSOR,
    MEMORY_CONFIG_OPTION,
    allocate,
    as_float,
    full_tiles,
    on_device,
)
from ttnn.ops._programs.element_map import copy_into, move_into
from ttnn.ops._programs.pipeline import from_bits, rounded, truncated
from ttnn.ops.data_movement.layout import tilize_padded, untilized
from ttnn.ops.normalization.norm import compute_config, row_of_weights
from ttnn.runtime import engine_steps
from ttnn.tensor.tensor import Tensor

_NAME: Final = "ttnn.group_norm"
Blocks = list[tuple[int, int]]


_FLOATS: Final = (DataType.BFLOAT16, DataType.FLOAT32)


def _scaler(count: float, dtype: DataType) -> float:
    """Return 1 / sqrt(count) in FP32, truncated to the data type."""
    value = rounded(1.0 / rounded(math.sqrt(rounded(count))))
    return value if dtype is DataType.FLOAT32 else from_bits(truncated(value))


def _columns_of_cores(columns: int, channels: int, groups: int) -> int:
    """Return over how many cores the channels are split."""
    fits = (c for c in range(min(columns, groups), 0, -1) if channels // c % TILE_SIZE == 0 and groups % c == 0)
    return next(fits, 1)


def _grid(device_grid: tuple[int, int], batch: int, rows: int, channels: int, groups: int) -> tuple[int, int]:
    """Return the operator's grid for the tile rows.

    It is the widest, then the highest, whose cores divide them.
    """
    for x in range(device_grid[0], 0, -1):
        for y in range(device_grid[1], 0, -1):
            high = x // _columns_of_cores(x, channels, groups) * y
            if batch >= high or (batch * rows % high == 0 and high % batch == 0):
                return x, y
    return 1, 1


def _row_cores(grid: tuple[int, int], batch: int, rows: int, channels: int, groups: int) -> int:
    """Return how many cores share the rows of a batch.

    Raises:
        ParameterError: rows of tiles do not divide among the rows of cores.
    """
    high = grid[0] // _columns_of_cores(grid[0], channels, groups) * grid[1]
    if batch >= high:
        return 1
    if batch * rows % high:
        raise ParameterError(
            f"{_NAME}: {batch * rows} rows of tiles do not divide among {high} rows of cores; choose core_grid.",
            vendor=f"Tensor height ({batch * rows} tiles) must be divisible by the number of virtual rows ({high})",
        )
    if high % batch:
        raise ParameterError(f"{_NAME}: {high} rows of cores do not divide among {batch} batches; choose core_grid.")
    return high // batch


def _blocks_by_size(elements: int, grid: tuple[int, int], channels: int, groups: int) -> int:
    """Return a core's automatic row block count, from batch elements."""
    wide = _columns_of_cores(grid[0], channels, groups)
    wanted = min(256, elements // (256 * 256 * wide * (grid[0] // wide) * grid[1]))
    count = 1
    while count < wanted:
        count *= 2
    return count


def _blocks(rows: int, cores: int, count: int) -> Blocks:
    """Return every block's tile rows, in summation order.

    These are the rows of all cores, then the next.
    """
    each = rows // cores
    height = each // count if count > 0 else 0
    if height == 0:
        raise ParameterError(
            f"{_NAME}: num_out_blocks is {count}, but a core has {each} rows of tiles.",
            vendor=f"num_out_blocks ({count}) must not exceed the rows of tiles of a core ({each})",
        )
    edges = [(block * height, (block + 1) * height) for block in range(count)]
    edges += [(first, min(first + height, each)) for first in range(count * height, each, height)]
    return [(core * each + first, core * each + end) for first, end in edges for core in range(cores)]


def _shard_blocks(tensor: Tensor, rows: int) -> Blocks:
    """Return a batch's tile rows on every core of a sharded tensor."""
    spec = tensor.spec
    shard = spec.memory_config.shard_spec
    if shard is None or spec.memory_config.memory_layout is TensorMemoryLayout.WIDTH_SHARDED:
        raise UnsupportedError(
            f"{_NAME}: a tensor in {spec.memory_config.memory_layout.name}; shard it by height or in blocks."
        )
    height = min(-(-shard.shape[0] // TILE_SIZE), rows)
    if shard.shape[0] % TILE_SIZE or rows % height:
        raise ParameterError(
            f"{_NAME}: shards of {shard.shape[0]} rows; they must be full tiles, and as many in every batch."
        )
    return [(first, first + height) for first in range(0, rows, height)]


def _check(tensor: Tensor, groups: int, use_welford: bool) -> None:
    spec = tensor.spec
    place = spec.memory_config
    if place.memory_layout is TensorMemoryLayout.WIDTH_SHARDED:
        raise MemoryConfigError(
            f"{_NAME}: input_tensor is {place.memory_layout.name}; shard it by height or in blocks.",
            vendor="Unsupported memory layout: Input tensor cannot be width-sharded.",
        )
    if spec.shape.rank != 4:
        raise ShapeError(
            f"{_NAME}: input_tensor has shape {spec.shape}; it must be [N, 1, H * W, C].",
            vendor=f"Invalid tensor shape: Input tensor must have rank 4. (rank={spec.shape.rank})",
        )
    if groups < 1 or spec.shape[3] % groups:
        raise ParameterError(
            f"{_NAME}: {spec.shape[3]} channels do not divide into {groups} groups.",
            vendor=f"Invalid channel configuration: Number of channels ({spec.shape[3]}) must be divisible by the "
            f"number of groups ({groups}).",
        )
    if place.shard_spec is not None and place.shard_spec.shape[0] % TILE_SIZE:
        raise ParameterError(
            f"{_NAME}: shards of {place.shard_spec.shape[0]} rows; they must be full tiles.",
            vendor=f"shard height {place.shard_spec.shape[0]} must be divisible by tile height {TILE_SIZE}",
        )
    on_wormhole = on_device(_NAME, tensor).arch() is Arch.WORMHOLE_B0
    if spec.layout is Layout.ROW_MAJOR and not place.is_sharded() and not on_wormhole:
        raise LayoutError(
            f"{_NAME}: input_tensor is row-major and interleaved, which a Wormhole accepts; convert it with "
            "ttnn.to_layout(..., ttnn.TILE_LAYOUT).",
            vendor="group_norm: interleaved (non-sharded) input must be in TILE layout, got ROW_MAJOR. Convert the "
            "input with ttnn.to_layout(input, ttnn.TILE_LAYOUT) before calling group_norm. ROW_MAJOR is supported only "
            "for sharded inputs, or on Wormhole.",
        )
    if spec.dtype not in _FLOATS:
        raise DTypeError(
            f"{_NAME}: input_tensor is {spec.dtype.name}; typecast it to bfloat16 or float32 first.",
            vendor=f"Input tensor must be BFLOAT16 or FLOAT32, got: {spec.dtype.cpp_name}",
        )
    if spec.dtype is DataType.FLOAT32 and place.is_sharded():
        raise UnsupportedError(
            f"{_NAME}: input_tensor is FLOAT32 in shards. The formats between the steps of that program are not "
            "recorded; move it to ttnn.DRAM_MEMORY_CONFIG, or typecast it to bfloat16.",
            "unimplemented",
        )
    shape = tuple(spec.shape)
    if len(shape) != 4 or shape[1] != 1 or 0 in shape:
        raise ShapeError(
            f"{_NAME}: input_tensor has shape {list(shape)}; it must be [N, 1, H * W, C].",
            vendor=f"Input tensor shape must be 4D with second dimension 1, got {list(shape)}",
        )
    if use_welford and shape[2] % TILE_SIZE:
        raise UnsupportedError(
            f"{_NAME}: use_welford=True with {shape[2]} rows: which rows of the last tile count is not published. Pad "
            f"them to a multiple of {TILE_SIZE}, or leave use_welford out.",
            "unimplemented",
        )


def _row_of_factors(label: str, tensor: Tensor, like: Tensor, across: Sequence[int]) -> Tensor:
    """Return weights or bias as a tile row without core padding.

    Args:
        label: Which of them.
        tensor: The weights or the bias.
        like: The input.
        across: Over how many cores the channels may be divided, the likeliest first.
    """
    shape, channels = tuple(tensor.spec.shape), like.spec.shape[-1]
    rows = shape[-2] if len(shape) > 1 else 1
    given = math.prod(shape)
    in_rows = tensor.spec.layout is Layout.ROW_MAJOR and shape[-1:] == (TILE_SIZE,) and given == rows * TILE_SIZE
    if not in_rows or given <= -(-channels // TILE_SIZE) * TILE_SIZE:
        return row_of_weights(_NAME, label, tensor, like)
    # As many cores as leave every one of them so many rows of 32. 960 channels on 4 and on 8 cores have the same rows.
    parts = (count for count in (*across, *range(2, channels + 1)) if count > 0 and channels % count == 0)
    fits = (count for count in parts if -(-(channels // count) // TILE_SIZE) * TILE_SIZE * count == given)
    cores = next(fits, None)
    if cores is None:
        return row_of_weights(_NAME, label, tensor, like)
    dtype, device = tensor.spec.dtype, on_device(_NAME, like)
    flat = allocate(TensorSpec.of((cores, channels // cores), dtype, Layout.ROW_MAJOR), device)
    move_into(tensor, flat, strides=(given // cores, 1))
    row = allocate(TensorSpec.of((1, channels), dtype, Layout.TILE), device)
    return row_of_weights(_NAME, label, move_into(flat, row), like)


def _group_norm(
    input_tensor: Tensor,
    num_groups: int,
    epsilon: float,
    input_mask: Tensor | None,
    weight: Tensor | None,
    bias: Tensor | None,
    memory_config: MemoryConfig | None,
    _dtype: DataType | None,
    core_grid: CoreGrid | None,
    inplace: bool | None,
    output_layout: Layout | None,
    num_out_blocks: int | None,
    compute_kernel_config: WormholeComputeKernelConfig | None,
    negative_mask: Tensor | None,
    use_welford: bool,
) -> Tensor:
    device = on_device(_NAME, input_tensor)
    _check(input_tensor, num_groups, use_welford)
    full_tiles(_NAME, input_tensor)
    spec = input_tensor.spec
    batch, _, height, channels = tuple(spec.shape)
    rows, group = -(-height // TILE_SIZE), channels // num_groups
    is_sharded = spec.memory_config.is_sharded()
    if inplace and not is_sharded:
        raise ParameterError(
            f"{_NAME}: inplace=True, but input_tensor is interleaved; pass inplace=False.",
            vendor="inplace groupnorm not supported for unsharded tensors",
        )
    if is_sharded:
        blocks = _shard_blocks(input_tensor, rows)
        cores = len(blocks)
    else:
        if core_grid is not None:
            grid = (core_grid.x, core_grid.y)
        else:
            full = device.compute_with_storage_grid_size()
            grid = _grid((full.x, full.y), batch, rows, channels, num_groups)
        cores = _row_cores(grid, batch, rows, channels, num_groups)
        if num_out_blocks == -1:
            num_out_blocks = _blocks_by_size(rows * TILE_SIZE * channels, grid, channels, num_groups)
        # With Welford's form, a core goes on from block to block.
        blocks = _blocks(rows, cores, 1 if num_out_blocks is None or use_welford else num_out_blocks)
    tiled = input_tensor
    if spec.layout is not Layout.TILE:
        # The shards of rows need not be made of full tiles.
        tiled = tilize_padded(_NAME, input_tensor, memory_config=DRAM_MEMORY_CONFIG if is_sharded else None)
    across: tuple[int, ...] = () if core_grid is None else (core_grid.y, core_grid.x)
    shards = spec.memory_config.shard_spec
    if shards is not None:
        across = (-(-channels // shards.shape[1]),)
    parameters = [
        _row_of_factors(label, tensor, tiled, across)
        for label, tensor in (("weight", weight), ("bias", bias))
        if tensor is not None
    ]
    formats = iter([FORMAT_CODE[tensor.spec.dtype] for tensor in parameters])
    if is_sharded and inplace:
        memory_config = None
    target = memory_config or spec.memory_config
    layout = output_layout or spec.layout
    kept = target if layout is Layout.TILE else tiled.spec.memory_config
    output = allocate(TensorSpec.of(spec.shape, spec.dtype, Layout.TILE, kept), device)
    assert tiled.buffer is not None
    assert output.buffer is not None
    # What a core's rows count in a statistic; padding counts in part.
    datums = rows // cores * TILE_SIZE * group * (height / (rows * TILE_SIZE))
    # Statistics of two passes are kept in a 32-bit Dst, and so is float32.
    wide = use_welford or spec.dtype is DataType.FLOAT32
    fidelity, dst32, approximate = MathFidelity.HiFi4, wide, True
    if compute_kernel_config is not None:
        if compute_kernel_config.math_fidelity is not MathFidelity.Invalid:
            fidelity = compute_kernel_config.math_fidelity
        dst32, approximate = compute_kernel_config.fp32_dest_acc_en, compute_kernel_config.math_approx_mode
    engine_steps.group_norm(
        tiled.buffer,
        [tensor.buffer for tensor in parameters if tensor.buffer is not None],
        output.buffer,
        formats=(FORMAT_CODE[spec.dtype], FORMAT_CODE[spec.dtype]),
        parameter_formats=(
            None if weight is None else next(formats),
            None if bias is None else next(formats),
        ),
        batch=batch,
        rows=rows,
        used_rows=height % TILE_SIZE or TILE_SIZE,
        channels=channels,
        group=group,
        blocks=blocks,
        adds_tiles=is_sharded,
        welford=use_welford,
        local=_scaler(datums, spec.dtype),
        across=None if is_sharded and cores == 1 else _scaler(cores, spec.dtype),
        epsilon=from_bits(truncated(as_float(_NAME, epsilon, "epsilon"))),
        rsqrt=[("rsqrt", "approx" if approximate else "default")],
        fidelity=FIDELITY_NUMBER[fidelity],
        dst32=dst32,
    )
    result = output if layout is Layout.TILE else untilized(_NAME, output, target)
    in_place = is_sharded and inplace and layout is spec.layout
    if in_place and spec.layout is Layout.TILE:
        copy_into(result, input_tensor)
        return input_tensor
    return result


def _examples(shape: tuple[int, ...], layout: Layout) -> tuple[tuple[Any, ...], ...]:
    if len(shape) != 4 or shape[1] != 1 or 0 in shape:
        return ()
    return (({"num_groups": 1, "epsilon": 1e-5, "core_grid": CoreGrid(x=1, y=1), "inplace": False},),)


_ROW: Final = Operand((1, 1, 1, 64), between=(0.5, 2.0))

group_norm = register(
    Op(
        name="group_norm",
        signatures=(
            Signature(
                (INPUT_TENSOR,),
                (
                    Param("num_groups", INTEGER, doc="Groups of channels.", example=1),
                    Param("epsilon", FLOAT, 1e-12, doc="Added to the variance, truncated to bfloat16."),
                    Param("input_mask", TENSOR, None, doc="Which columns belong to a group; the operator knows."),
                    Param(
                        "weight",
                        TENSOR,
                        None,
                        doc="[1, C], or [C / 32, 32] in ROW_MAJOR_LAYOUT: factors. Of up to 32 rows in TILE_LAYOUT "
                        "only the first counts.",
                    ),
                    Param("bias", TENSOR, None, doc="Of the shape of `weight`: added at the end."),
                    MEMORY_CONFIG_OPTION,
                    Param(
                        "dtype",
                        DATA_TYPE,
                        None,
                        doc="Ignored, as in the official operator: results have the data type of the input.",
                    ),
                    Param(
                        "core_grid",
                        instance_kind("ttnn.CoreGrid", CoreGrid),
                        None,
                        doc="Cores, which decide in how many parts statistics are summed. Default: what fits.",
                    ),
                    Param(
                        "inplace",
                        BOOLEAN,
                        True,
                        doc="Write the result into a sharded input; `memory_config` is ignored.",
                        example=False,
                    ),
                    Param("output_layout", LAYOUT, None, doc="Layout of the result. Default: that of the input."),
                    Param("num_out_blocks", INTEGER, None, doc="Blocks of a core's rows; -1: by the size. Default: 1."),
                    compute_config("HiFi4, a 16-bit Dst (32 bits for float32) and an approximate inverse root"),
                    Param("negative_mask", TENSOR, None, doc="Where groups are not; the operator knows."),
                    Param(
                        "use_welford",
                        BOOLEAN,
                        False,
                        doc="Every row of tiles has its own mean and variance, and those are joined in FP32.",
                    ),
                ),
            ),
        ),
        run=_group_norm,
        doc="Return the group norm over rows and the channels of every group.\n"
        "`(x - mean) / sqrt(variance + epsilon)`, times `weight`, plus `bias`.\n"
        "Shape: [N, 1, H * W, C] -> [N, 1, H * W, C].",
        source="tt-metal `ttnn/cpp/ttnn/operations/normalization/groupnorm`",
        dtypes=_FLOATS,
        layouts=(Layout.TILE, Layout.ROW_MAJOR),
        golden=golden.group_norm,
        accuracy=no_bound("for the mean is subtracted"),
        engine=("group_norm", "move_elements"),
        raises=(
            ("ShapeError", "the input is not [N, 1, H * W, C], or weights have another width."),
            ("DTypeError", "the input is neither bfloat16 nor float32."),
            ("LayoutError", "the input is row-major and interleaved, on a Blackhole."),
            ("ParameterError", "channels do not divide into groups, rows not among cores, or `inplace` is not False."),
            ("UnsupportedError", "`use_welford` with rows that are not a multiple of 32, or unsupported shards."),
        ),
        examples=_examples,
    )
)
