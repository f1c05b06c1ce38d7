"""Norms of rows split over devices, from gathered statistics.

Source: tt-metal `ttnn/cpp/ttnn/operations/normalization/layernorm_distributed`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Final

from ttnn.base.compute_config import WormholeComputeKernelConfig
from ttnn.base.core_range import CoreRange, CoreRangeSet
from ttnn.base.enums import FORMAT_CODE, TILE_SIZE, DataType, Layout
from ttnn.base.exceptions import DTypeError, LayoutError, ParameterError, ShapeError, UnsupportedError
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, MemoryConfig, ShardSpec
from ttnn.base.program_config import LayerNormShardedMultiCoreProgramConfig
from ttnn.base.tensor_spec import TensorSpec
from ttnn.golden import normalization as golden
from ttnn.operation.domain import Operand
from ttnn.operation.registry import Op, register
from ttnn.operation.signature import BOOLEAN, DATA_TYPE, TENSOR, Param, Signature
from ttnn.ops._programs.common import (
    INPUT_TENSOR,
    MEMORY_CONFIG_OPTION,
    allocate,
    full_tiles,
    is_empty,
    on_device,
    same_device,
)
from ttnn.ops._programs.element_map import copy_into
from ttnn.ops.normalization.norm import (
    BIAS,
    DTYPES,
    EPSILON,
    PROGRAM_CONFIG,
    RELATIVE,
    RESIDUAL,
    WEIGHT,
    NormProgramConfig,
    compute_config,
    numerics,
    operands,
    shard_blocks,
)
from ttnn.ops.normalization.norm_programs import Blocks, from_statistics, sharded_statistics, statistics
from ttnn.runtime import engine_steps
from ttnn.tensor.tensor import Tensor


def _checked(name: str, tensor: Tensor, config: WormholeComputeKernelConfig | None, sentence: str) -> None:
    on_device(name, tensor)
    spec = tensor.spec
    if spec.layout is not Layout.TILE:
        raise LayoutError(
            f"{name}: input_tensor is row-major; convert it with ttnn.to_layout(..., ttnn.TILE_LAYOUT).",
            vendor="FillPad should only be used for tile layout",
        )
    if spec.dtype not in DTYPES:
        if spec.dtype is DataType.UINT8 and name.endswith("pre_all_gather"):
            sentence = f"Unsupported datatype {spec.dtype.cpp_name}"
        raise DTypeError(f"{name}: input_tensor is {spec.dtype.name}; it must be floating point.", vendor=sentence)
    full_tiles(name, tensor)


def _needs_wide_dst(name: str, dtypes: list[DataType], config: WormholeComputeKernelConfig | None, vendor: str) -> None:
    if DataType.FLOAT32 in dtypes and (config is None or not config.fp32_dest_acc_en):
        raise DTypeError(
            f"{name}: float32 needs a 32-bit Dst; pass compute_kernel_config with fp32_dest_acc_en=True.", vendor=vendor
        )


def _shard_blocks(name: str, tensor: Tensor, config: NormProgramConfig | None) -> Blocks | None:
    """Return a sharded tensor's division of rows; None if interleaved.

    The rows are divided over cores.
    """
    if not tensor.spec.memory_config.is_sharded():
        return None
    return shard_blocks(name, tensor, config if isinstance(config, LayerNormShardedMultiCoreProgramConfig) else None)


def _on_first_core(name: str, tensor: Tensor, width: int) -> MemoryConfig:
    """Return a sharded tensor's statistics memory config: its first core."""
    memory = tensor.spec.memory_config
    shard = memory.shard_spec
    if shard is None or shard.shape[0] != TILE_SIZE:
        raise ParameterError(f"{name}: a sharded input_tensor must have shards of {TILE_SIZE} rows, got {shard}.")
    first = shard.grid.bounding_box().start
    cores = CoreRangeSet([CoreRange(first, first)])
    return MemoryConfig(
        memory.memory_layout, memory.buffer_type, ShardSpec(cores, (shard.shape[0], width), shard.orientation)
    )


_COMPARED: Final = ("batch sizes", "dim1", "dim2")


def _refuse_welford(name: str, config: NormProgramConfig | None) -> None:
    """Refuse means and variances as statistics.

    Raises:
        UnsupportedError: the program config asks for them.
    """
    if config is not None and config.use_welford:
        raise UnsupportedError(
            f"{name}: program_config.use_welford=True; combining such statistics of devices is not implemented. "
            "Leave it at False.",
            "unimplemented",
        )


def _statistics(
    input_tensor: Tensor,
    dtype: DataType,
    residual_input_tensor: Tensor | None,
    compute_kernel_config: WormholeComputeKernelConfig | None,
    program_config: NormProgramConfig | None,
    memory_config: MemoryConfig | None,
    # Options of time only.
    *_: object,
    name: str,
    centers: bool,
) -> Tensor:
    config = compute_kernel_config
    _refuse_welford(name, program_config)
    _checked(name, input_tensor, config, "Input data format not supported.")
    spec, device = input_tensor.spec, on_device(name, input_tensor)
    _needs_wide_dst(
        name,
        [spec.dtype],
        config,
        f"{name.removeprefix('ttnn.')} with Float32 input requires fp32_dest_acc_en=true in the compute kernel config; "
        "otherwise precision is silently lost in the unpacker format conversion.",
    )
    if dtype not in DTYPES:
        raise DTypeError(f"{name}: dtype is {dtype.name}; statistics are floating point.")
    norm = numerics(name, input_tensor, config, 0.0, centers=centers, dst32=False)
    inputs, norm = operands(name, norm, input_tensor, residual_input_tensor, None, None)
    shape = (1, 1, *spec.shape)[-max(spec.shape.rank, 2) :]
    width = 2 * TILE_SIZE if centers else TILE_SIZE
    blocks = _shard_blocks(name, input_tensor, program_config)
    place = memory_config or spec.memory_config
    if blocks is not None:
        dtype, place = DataType.BFLOAT16, _on_first_core(name, input_tensor, width)
    target = TensorSpec.of(
        (*shape[len(shape) - max(spec.shape.rank, 1) : -1], width),
        dtype,
        Layout.TILE,
        place,
    )
    output = allocate(target, device)
    if is_empty(spec):
        # Sums of nothing.
        if output.buffer is not None and not is_empty(target):
            engine_steps.fill(output.buffer, format=FORMAT_CODE[dtype], value=0.0)
        return output
    norm = replace(norm, out_dtype=dtype)
    if blocks is None:
        if target.num_pages:
            statistics(shape, norm).run(inputs, [output])
        return output
    outputs = [output]
    if residual_input_tensor is not None:
        # The sum replaces the input.
        outputs.append(allocate(spec.with_memory_config(DRAM_MEMORY_CONFIG), device))
    sharded_statistics(shape, norm, blocks).run(inputs, outputs)
    for total in outputs[1:]:
        copy_into(total, input_tensor)
    return output


def _from_statistics(
    input_tensor: Tensor,
    stats: Tensor,
    epsilon: float,
    weight: Tensor | None,
    bias: Tensor | None,
    memory_config: MemoryConfig | None,
    compute_kernel_config: WormholeComputeKernelConfig | None,
    program_config: NormProgramConfig | None,
    dtype: DataType | None,
    # Options of time only.
    *_: object,
    name: str,
    centers: bool,
) -> Tensor:
    config = compute_kernel_config
    _refuse_welford(name, program_config)
    spec, device = input_tensor.spec, on_device(name, input_tensor)
    sentence = f"Input tensor must be BFLOAT16, BFLOAT8_B, or FLOAT32, got: {spec.dtype.cpp_name}"
    _checked(name, input_tensor, config, sentence)
    same_device(name, device, stats, "stats")
    _needs_wide_dst(
        name,
        [spec.dtype, stats.spec.dtype],
        config,
        "FLOAT32 input/stats require fp32_dest_acc_en=true in the compute kernel config.",
    )
    each = 2 if centers else 1
    given = stats.spec
    tiles = -(-given.shape[-1] // TILE_SIZE) if given.shape.rank else 0
    if given.layout is not Layout.TILE or given.dtype not in DTYPES:
        raise DTypeError(f"{name}: stats must be floating point in TILE_LAYOUT.")
    # Rows of tiles are compared; rows within the last tile may differ.
    for axis, (what, mine, other) in enumerate(zip(_COMPARED, given.padded_shape, spec.padded_shape, strict=False)):
        if mine != other:
            raise ShapeError(
                f"{name}: stats has shape {list(given.shape)}, input_tensor {list(spec.shape)}; dimension {axis} must "
                "be equal.",
                vendor=f"Stats and input {what} must match, got stats: {mine} vs input: {other}",
            )
    full_tiles(name, stats, "stats")
    if tiles == 0 or tiles % each:
        raise ShapeError(f"{name}: stats has {tiles} columns of tiles; every device gives {each}.")
    norm = numerics(name, input_tensor, config, epsilon, centers=centers, dst32=False)
    inputs, norm = operands(name, norm, input_tensor, None, weight, bias)
    out_dtype = spec.dtype if dtype is None else dtype
    if out_dtype not in DTYPES:
        raise DTypeError(f"{name}: dtype is {out_dtype.name}; the result is floating point.")
    shape = (1, 1, *spec.shape)[-max(spec.shape.rank, 2) :]
    norm = replace(norm, out_dtype=out_dtype, older_root=bool(program_config and program_config.legacy_rsqrt))
    means = _shard_blocks(name, input_tensor, program_config) is not None
    if means and input_tensor.spec.dtype is DataType.BFLOAT8_B:
        raise UnsupportedError(
            f"{name}: shards of BFLOAT8_B are not implemented; the formats between the steps of their program are not "
            "checked. Typecast input_tensor to bfloat16, or move it to ttnn.DRAM_MEMORY_CONFIG.",
            "untested",
        )
    output = allocate(TensorSpec.of(spec.shape, out_dtype, Layout.TILE, memory_config or spec.memory_config), device)
    if is_empty(spec):
        return output
    if output.spec.num_pages:
        program = from_statistics(shape, norm, given.dtype, tiles, means=means)
        program.run([inputs[0], stats, *inputs[1:]], [output])
    return output


_layer_norm_pre: Final[Callable[..., Tensor]] = partial(
    _statistics, name="ttnn.layer_norm_pre_all_gather", centers=True
)
_rms_norm_pre: Final[Callable[..., Tensor]] = partial(_statistics, name="ttnn.rms_norm_pre_all_gather", centers=False)
_layer_norm_post: Final[Callable[..., Tensor]] = partial(
    _from_statistics, name="ttnn.layer_norm_post_all_gather", centers=True
)
_rms_norm_post: Final[Callable[..., Tensor]] = partial(
    _from_statistics, name="ttnn.rms_norm_post_all_gather", centers=False
)

_STATS_DTYPE: Final = Param("dtype", DATA_TYPE, DataType.BFLOAT16, doc="Data type of the statistics.")
_OUT_DTYPE: Final = Param("dtype", DATA_TYPE, None, doc="Data type of the output. Default: that of the input.")
_STATS: Final = Param(
    "stats",
    TENSOR,
    doc="Statistics of all devices side by side, in the order of the devices.",
    example=Operand((1, 1, 64, 64), between=(0.05, 0.15)),
)
_RECIPROCALS: Final = Param("recip_tensor", TENSOR, None, modelled=False)
_GRID: Final = Param("use_2d_core_grid", BOOLEAN, None, doc="How rows are split over cores, which changes time only.")
_FAST: Final = Param("fast_and_approximate_mode", BOOLEAN, False, modelled=False)
_COMPUTE: Final = compute_config("HiFi4, a 16-bit Dst and an approximate inverse root")
_ERRORS: Final = (
    ("DTypeError", "a tensor is not floating point, or float32 with a 16-bit Dst."),
    ("LayoutError", "the input is row-major."),
    ("ParameterError", "the input is sharded, and `program_config` does not fit its shards."),
)


def _tiled(shape: tuple[int, ...], layout: Layout) -> tuple[tuple[Any, ...], ...]:
    return ((),) if shape and layout is Layout.TILE else ()


def _with_stats(columns: int, shape: tuple[int, ...], layout: Layout) -> tuple[tuple[Any, ...], ...]:
    # Dimensions 1 and 2 of both are compared, whatever the rank.
    if len(shape) != 4 or shape[-1] < TILE_SIZE or layout is not Layout.TILE:
        return ()
    # Sums of squares outweigh the square of the mean.
    return ((Operand((*shape[:-1], columns * TILE_SIZE), between=(0.05, 0.15)),),)


def _entry(name: str, doc: str, signature: Signature, run: Callable[..., Tensor], reference: Callable[..., Any]) -> Op:
    takes_stats = name.endswith("post_all_gather")
    return Op(
        name=name,
        signatures=(signature,),
        run=run,
        doc=doc,
        source="tt-metal `ttnn/cpp/ttnn/operations/normalization/layernorm_distributed`",
        dtypes=(DataType.BFLOAT16, DataType.BFLOAT8_B),
        layouts=(Layout.TILE,),
        golden=reference,
        accuracy=RELATIVE,
        engine=("Pipeline",),
        raises=(
            *_ERRORS,
            ("ShapeError", f"`{'stats' if takes_stats else 'residual_input_tensor'}` does not fit the input."),
        ),
        examples=partial(_with_stats, 2 if "layer" in name else 1) if takes_stats else _tiled,
    )


layer_norm_pre_all_gather = register(
    _entry(
        "layer_norm_pre_all_gather",
        "Return the sum of squares and the sum of every row.\n"
        "They are in columns 0 and 32 of two tiles. Of a sharded input: the mean and the mean of squares, on its "
        "first core, and the residual is added in place.\n"
        "Shape: [..., H, W] -> [..., H, 64].",
        Signature(
            (INPUT_TENSOR,),
            (_STATS_DTYPE, RESIDUAL, _COMPUTE, PROGRAM_CONFIG, MEMORY_CONFIG_OPTION, _RECIPROCALS, _FAST),
        ),
        _layer_norm_pre,
        golden.layer_norm_pre_all_gather,
    )
)

rms_norm_pre_all_gather = register(
    _entry(
        "rms_norm_pre_all_gather",
        "Return every row's sum of squares, in column 0 of a tile.\nOf a sharded input: the mean of squares, on "
        "its first core, and the residual is added in place.\nShape: [..., H, W] -> [..., H, 32].",
        Signature(
            (INPUT_TENSOR,), (_STATS_DTYPE, RESIDUAL, _COMPUTE, PROGRAM_CONFIG, MEMORY_CONFIG_OPTION, _GRID, _FAST)
        ),
        _rms_norm_pre,
        golden.rms_norm_pre_all_gather,
    )
)

layer_norm_post_all_gather = register(
    _entry(
        "layer_norm_post_all_gather",
        "Return the layer norm of a device's row parts, from gathered statistics.\nShape: [..., H, W] -> [..., H, W].",
        Signature(
            (INPUT_TENSOR, _STATS),
            (EPSILON, WEIGHT, BIAS, MEMORY_CONFIG_OPTION, _COMPUTE, PROGRAM_CONFIG, _OUT_DTYPE),
        ),
        _layer_norm_post,
        golden.layer_norm_post_all_gather,
    )
)

rms_norm_post_all_gather = register(
    _entry(
        "rms_norm_post_all_gather",
        "Return the RMS norm of a device's row parts, from gathered statistics.\nShape: [..., H, W] -> [..., H, W].",
        Signature(
            (INPUT_TENSOR, _STATS),
            (EPSILON, WEIGHT, BIAS, MEMORY_CONFIG_OPTION, _COMPUTE, PROGRAM_CONFIG, _OUT_DTYPE, _GRID),
        ),
        _rms_norm_post,
        golden.rms_norm_post_all_gather,
    )
)
