"""Layer norm and RMS norm over the last dimension.

Source: tt-metal `ttnn/cpp/ttnn/operations/normalization/layernorm` and `rmsnorm`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Final

from ttnn.base.compute_config import FIDELITY_NUMBER, WormholeComputeKernelConfig
from ttnn.base.enums import TILE_SIZE, DataType, Layout, MathFidelity, ShardOrientation, TensorMemoryLayout
from ttnn.base.exceptions import DTypeError, LayoutError, MemoryConfigError, ParameterError, ShapeError
from ttnn.base.memory_config import MemoryConfig
from ttnn.base.program_config import LayerNormDefaultProgramConfig, LayerNormShardedMultiCoreProgramConfig
from ttnn.base.tensor_spec import TensorSpec
from ttnn.golden import normalization as golden
from ttnn.operation.accuracy import Accuracy
from ttnn.operation.registry import Op, register
from ttnn.operation.signature import COMPUTE_KERNEL_CONFIG, FLOAT, TENSOR, Param, Signature, instance_kind
from ttnn.ops._programs.common import (
    INPUT_TENSOR,
    MEMORY_CONFIG_OPTION,
    allocate,
    as_float,
    full_tiles,
    is_empty,
    on_device,
    same_device,
    warn_of_first_row,
)
from ttnn.ops._programs.element_map import copy_into
from ttnn.ops._programs.movement import move
from ttnn.ops._programs.pipeline import rounded
from ttnn.ops.data_movement.layout import tilize_padded, untilized
from ttnn.ops.normalization import norm_programs, norm_welford
from ttnn.ops.normalization.norm_programs import Blocks, FunctionStep, Norm, blocks_of
from ttnn.tensor.tensor import Tensor

DTYPES: Final = (DataType.BFLOAT16, DataType.FLOAT32, DataType.BFLOAT8_B)
NormProgramConfig = LayerNormDefaultProgramConfig | LayerNormShardedMultiCoreProgramConfig


def numerics(
    name: str, tensor: Tensor, config: WormholeComputeKernelConfig | None, epsilon: float, *, centers: bool, dst32: bool
) -> Norm:
    """Return a norm program's settings from operand and compute configuration.

    The operand is the first one.

    Without one: HiFi4, and a 32-bit Dst where `dst32` says so; the inverse root is approximate beside a 16-bit one.
    """
    fidelity, approximate = MathFidelity.HiFi4, not dst32
    if config is not None:
        fidelity = config.math_fidelity
        fidelity = MathFidelity.HiFi4 if fidelity is MathFidelity.Invalid else fidelity
        approximate, dst32 = config.math_approx_mode, config.fp32_dest_acc_en
    return Norm(
        dtype=tensor.spec.dtype,
        out_dtype=tensor.spec.dtype,
        fidelity=FIDELITY_NUMBER[fidelity],
        approximate=approximate,
        dst32=dst32,
        epsilon=rounded(as_float(name, epsilon, "epsilon")),
        centers=centers,
    )


def floating_point(name: str, tensor: Tensor) -> None:
    """Refuse an input that no kernel supports.

    Raises:
        DTypeError: it is an integer tensor, or bfloat4_b.
    """
    dtype = tensor.spec.dtype
    if dtype not in DTYPES:
        raise DTypeError(
            f"{name}: input_tensor is {dtype.name}; typecast it to bfloat16, float32 or bfloat8_b first.",
            vendor=f"Input tensor must be FLOAT32, BFLOAT16, or BFLOAT8_B, got: {dtype.cpp_name}",
        )


def _refusal(label: str, spec: TensorSpec, like: TensorSpec) -> str:
    """Return the official operator's message about weights or bias of another shape."""
    greek = "Gamma" if label == "weight" else "Beta"
    padded, volume = spec.padded_shape, math.prod(spec.padded_shape)
    if spec.layout is Layout.TILE:
        if padded[-1] == like.padded_shape[-1] and spec.shape[-1] >= like.shape[-1]:
            return f"{greek} tensor height must equal tile height ({TILE_SIZE}), got: {padded[-2]}"
        name = greek.lower()
        return (
            f"Input and {name} padded widths must match and {name} logical width must be >= input logical width "
            f"(otherwise valid input columns would be multiplied by {name} padding). Got input: logical[-1]="
            f"{like.shape[-1]} padded[-1]={like.padded_shape[-1]} vs {name}: logical[-1]={spec.shape[-1]} "
            f"padded[-1]={padded[-1]}"
        )
    if label == "weight":
        return (
            "Gamma's last padded dim needs to equal tile width and gamma's volume needs to align with last padded dim "
            f"of input. Error with gamma.value().padded_shape(): {padded}, tile_width: {TILE_SIZE}, "
            f"gamma.value().physical_volume(): {volume}, a.padded_shape(): {like.padded_shape}"
        )
    return (
        f"Beta tensor dimensions must align with input tensor. Got beta padded shape: {padded[-1]}, physical volume: "
        f"{volume}, input padded shape: {like.padded_shape[-1]}, tile_width: {TILE_SIZE}"
    )


def row_of_weights(name: str, label: str, tensor: Tensor, like: Tensor) -> Tensor:
    """Return weights or bias as a tile row, first row used.

    Raises:
        DTypeError: they are not floating point.
        ShapeError: they have another width than the input, or several rows that are not those of one tile.
    """
    same_device(name, on_device(name, like), tensor, label)
    spec, width = tensor.spec, like.spec.shape[-1]
    if spec.dtype not in DTYPES:
        raise DTypeError(f"{name}: {label} is {spec.dtype.name}; it must be floating point.")
    full_tiles(name, tensor, label)
    shape = tuple(spec.shape)
    rows, volume = (1, *shape)[-2], math.prod(shape)
    tiled, padded = spec.layout is Layout.TILE, like.spec.padded_shape[-1]
    if tiled:
        # More columns than the input's count as padding.
        fits = (TILE_SIZE, *spec.padded_shape)[-2:] == (TILE_SIZE, padded) and shape[-1] >= width
    else:
        fits = shape[-1:] == (TILE_SIZE,) and volume == padded
    if not fits:
        raise ShapeError(
            f"{name}: {label} has shape {list(shape)}; an input of width {width} takes [1, {width}] in TILE_LAYOUT, or "
            f"rows of {TILE_SIZE} in ROW_MAJOR_LAYOUT.",
            vendor=_refusal(label, spec, like.spec),
        )
    if not tiled:
        # Rows of 32, one for every tile.
        row = allocate(TensorSpec.of((1, volume), spec.dtype, Layout.ROW_MAJOR), on_device(name, tensor, label))
        copy_into(tensor, row)
        tensor = row
    if tiled and volume > shape[-1]:
        warn_of_first_row(name, label, shape)
    if tiled and volume > shape[-1] * rows:
        tensor = move(tensor, TensorSpec.of((1, shape[-1]), spec.dtype, Layout.TILE), strides=[shape[-1], 1])
    if tensor.spec.layout is not Layout.TILE:
        tensor = tilize_padded(name, tensor)
    return tensor


def operands(
    name: str, norm: Norm, tensor: Tensor, residual: Tensor | None, weight: Tensor | None, bias: Tensor | None
) -> tuple[list[Tensor], Norm]:
    """Return the norm's tensors and its settings with their data types.

    Optional tensors have data types of their own.
    """
    inputs = [tensor]
    if residual is not None:
        same_device(name, on_device(name, tensor), residual, "residual_input_tensor")
        if residual.spec.shape != tensor.spec.shape:
            raise ShapeError(
                f"{name}: residual_input_tensor has shape {residual.spec.shape}, input_tensor {tensor.spec.shape}; "
                "they must be equal."
            )
        if residual.spec.layout is not Layout.TILE or residual.spec.dtype not in DTYPES:
            raise LayoutError(f"{name}: residual_input_tensor must be floating point in TILE_LAYOUT.")
        full_tiles(name, residual, "residual_input_tensor")
        inputs.append(residual)
        norm = replace(norm, residual=residual.spec.dtype)
    if weight is not None:
        inputs.append(row_of_weights(name, "weight", weight, tensor))
        if bias is not None and bias.spec.layout is not weight.spec.layout:
            raise LayoutError(
                f"{name}: weight is {weight.spec.layout.name} and bias {bias.spec.layout.name}; convert one of them.",
                vendor="Gamma and beta must have the same layout!",
            )
        norm = replace(norm, weight=inputs[-1].spec.dtype)
    if bias is not None:
        inputs.append(row_of_weights(name, "bias", bias, tensor))
        norm = replace(norm, bias=inputs[-1].spec.dtype)
    return inputs, norm


def _refuse_welford(name: str) -> None:
    """Refuse Welford's form where the package has none.

    Raises:
        ParameterError: always.
    """
    raise ParameterError(
        f"{name}: program_config.use_welford=True; only layer norm has this form. Leave it at False.",
        vendor="Welford's algorithm is not supported for RMSNorm",
    )


def check_reciprocals(name: str, tensor: Tensor, reciprocals: Tensor) -> None:
    """Refuse a table of reciprocals that is none.

    Raises:
        DTypeError: it is not float32.
        ShapeError: it has fewer numbers than a row.
    """
    same_device(name, on_device(name, tensor), reciprocals, "recip_tensor")
    spec = reciprocals.spec
    if spec.dtype is not DataType.FLOAT32:
        raise DTypeError(f"{name}: recip_tensor is {spec.dtype.name}; it must be FLOAT32.")
    memory = tensor.spec.memory_config
    width = tensor.spec.shape[-1] if memory.shard_spec is None else memory.shard_spec.shape[1]
    if not spec.shape.rank or spec.shape[-1] < min(width, tensor.spec.shape[-1]):
        raise ShapeError(f"{name}: recip_tensor has shape {spec.shape}; it must have {width} columns or more.")


def _target(name: str, spec: TensorSpec, memory_config: MemoryConfig | None) -> MemoryConfig:
    """Return the memory config of the result.

    Requested shards without cores are those of the input.

    Raises:
        MemoryConfigError: the input is height-sharded, or the result of a sharded input is not sharded like it.
    """
    own = spec.memory_config
    target = own if memory_config is None else memory_config
    if not own.is_sharded():
        return target
    if own.memory_layout is TensorMemoryLayout.HEIGHT_SHARDED:
        raise MemoryConfigError(
            f"{name}: input_tensor is HEIGHT_SHARDED; its rows need no cores in common, use an interleaved tensor.",
            vendor="Height sharded inputs are not supported.",
        )
    if not target.is_sharded():
        raise MemoryConfigError(
            f"{name}: input_tensor is sharded, memory_config is not; the result must be sharded, too.",
            vendor="Sharded inputs require sharded outputs.",
        )
    if target.shard_spec is None and target.nd_shard_spec is None and own.shard_spec is not None:
        target = MemoryConfig(target.memory_layout, target.buffer_type, own.shard_spec)
    return target


def shard_blocks(name: str, tensor: Tensor, config: LayerNormShardedMultiCoreProgramConfig | None) -> Blocks:
    """Return the division of a sharded tensor's rows over cores.

    Raises:
        ParameterError: the tensor is not sharded, or the configuration does not fit its shards.
    """
    spec = tensor.spec
    memory = spec.memory_config
    shard = memory.shard_spec
    if shard is None:
        raise ParameterError(f"{name}: a sharded program needs a sharded input; shard it, or leave program_config out.")
    tiles = -(-spec.shape[-1] // TILE_SIZE)
    width = -(-shard.shape[1] // TILE_SIZE)
    if config is not None and config.block_w != width:
        raise ParameterError(
            f"{name}: program_config.block_w is {config.block_w}, but a shard is {width} tiles wide.",
            vendor="block_w must equal to shard width in tiles",
        )
    box = shard.grid.bounding_box()
    grid = (box.end.x - box.start.x + 1, box.end.y - box.start.y + 1)
    if shard.orientation is ShardOrientation.COL_MAJOR:
        grid = (grid[1], grid[0])
    one_row = memory.memory_layout is TensorMemoryLayout.WIDTH_SHARDED
    return blocks_of(tiles, width, grid, one_row=one_row)


def normalized(
    input_tensor: Tensor,
    epsilon: float,
    weight: Tensor | None,
    bias: Tensor | None,
    residual_input_tensor: Tensor | None,
    memory_config: MemoryConfig | None,
    program_config: NormProgramConfig | None,
    compute_kernel_config: WormholeComputeKernelConfig | None,
    recip_tensor: Tensor | None = None,
    *,
    name: str,
    centers: bool,
    takes_rows: bool | None = None,
    activation: tuple[FunctionStep, ...] = (),
) -> Tensor:
    """Return the norm of rows, by the program of the memory config.

    Args:
        input_tensor: What is normalized, after `residual_input_tensor` is added to it.
        epsilon: Added to the variance.
        weight: Factors of columns.
        bias: Added to columns.
        residual_input_tensor: Added first.
        memory_config: Memory config of the result.
        program_config: How sharded rows are split over cores.
        compute_kernel_config: Math fidelity, Dst width and approximation.
        recip_tensor: Reciprocals of counts, of which Welford's form needs the last.
        name: The operator.
        centers: Whether the mean is subtracted.
        takes_rows: Whether the operator supports row-major tensors; by default if the mean is subtracted.
        activation: SFPU functions of the result in Dst.

    Raises:
        TtnnError: operands or options do not fit the program.
    """
    device = on_device(name, input_tensor)
    given = input_tensor.spec
    in_rows = given.layout is not Layout.TILE
    width = (1, *given.shape)[-1]
    if in_rows and not (centers if takes_rows is None else takes_rows):
        raise LayoutError(
            f"{name}: input_tensor is row-major; convert it with ttnn.to_layout(..., ttnn.TILE_LAYOUT).",
            vendor="ttnn::rms_norm does not support ROW_MAJOR input tensors. Use TILE layout.",
        )
    if in_rows and width % TILE_SIZE:
        raise LayoutError(
            f"{name}: a row-major input_tensor must have whole tiles in its rows, its width is {width}.",
            vendor=f"ROW_MAJOR input requires W ({width}) to be a multiple of tile width ({TILE_SIZE})",
        )
    floating_point(name, input_tensor)
    welford = program_config is not None and program_config.use_welford
    if welford and not centers:
        _refuse_welford(name)
    if recip_tensor is not None:
        check_reciprocals(name, input_tensor, recip_tensor)
    if is_empty(given):
        return allocate(given.with_memory_config(memory_config or given.memory_config), device)
    tensor = tilize_padded(name, input_tensor) if in_rows else input_tensor
    full_tiles(name, tensor)
    spec = tensor.spec
    target = _target(name, spec, memory_config)
    norm = numerics(name, tensor, compute_kernel_config, epsilon, centers=centers, dst32=centers)
    norm = replace(norm, activation=activation)
    inputs, norm = operands(name, norm, tensor, residual_input_tensor, weight, bias)
    shape = (1, 1, *spec.shape)[-max(spec.shape.rank, 2) :]
    if program_config is not None:
        norm = replace(norm, older_root=program_config.legacy_rsqrt)
    config = program_config if isinstance(program_config, LayerNormShardedMultiCoreProgramConfig) else None
    if config is not None or spec.memory_config.is_sharded():
        of_shards = norm_welford.sharded if welford else norm_programs.sharded
        program = of_shards(shape, norm, shard_blocks(name, tensor, config))
    elif welford:
        program = norm_welford.interleaved(shape, norm)
    elif norm_programs.is_large(norm, -(-width // TILE_SIZE)):
        program = norm_programs.large(shape, norm)
    else:
        program = norm_programs.interleaved(shape, norm)
    output = allocate(TensorSpec.of(spec.shape, spec.dtype, Layout.TILE, target), device)
    program.run(inputs, [output])
    return untilized(name, output, target) if in_rows else output


_layer_norm: Final[Callable[..., Tensor]] = partial(normalized, name="ttnn.layer_norm", centers=True)
_rms_norm: Final[Callable[..., Tensor]] = partial(normalized, name="ttnn.rms_norm", centers=False)


EPSILON: Final = Param("epsilon", FLOAT, 1e-12, doc="Added to the variance, truncated to bfloat16.")
WEIGHT: Final = Param(
    "weight",
    TENSOR,
    None,
    doc="[1, W], or [W / 32, 32] in ROW_MAJOR_LAYOUT: factors of columns. "
    "Of up to 32 rows in TILE_LAYOUT only the first counts, for every row of the input.",
)
BIAS: Final = Param("bias", TENSOR, None, doc="Of the shape of `weight`: added to columns.")
RESIDUAL: Final = Param("residual_input_tensor", TENSOR, None, doc="Of the shape of the input; added to it first.")
PROGRAM_CONFIG: Final = Param(
    "program_config",
    instance_kind(
        "ttnn.LayerNormDefaultProgramConfig | ttnn.LayerNormShardedMultiCoreProgramConfig",
        LayerNormDefaultProgramConfig,
        LayerNormShardedMultiCoreProgramConfig,
    ),
    None,
    doc="How a sharded row is split over cores, which decides the order of sums; whether statistics have Welford's "
    "form, and the inverse root that of older kernels. `legacy_reduction` changes no bit. Default: by the shards.",
)


def compute_config(default: str) -> Param:
    """Return the compute configuration parameter with its `default`.

    `default` states the configuration if there is none.
    """
    return Param(
        "compute_kernel_config",
        COMPUTE_KERNEL_CONFIG,
        None,
        doc=f"Math fidelity, Dst width and approximation. Default: {default}.",
    )


RELATIVE: Final = Accuracy({DataType.BFLOAT8_B: 8}, reason="for the error is relative to the largest element of a row")
_RECIPROCALS: Final = Param(
    "recip_tensor", TENSOR, None, doc="From `create_layer_norm_reciprocals`; the statistics need the last of them only."
)
_LAYER_NORM_DEFAULT: Final = "HiFi4 and a 32-bit Dst"
_RMS_NORM_DEFAULT: Final = "HiFi4, a 16-bit Dst and an approximate inverse root"
ERRORS: Final = (
    ("DTypeError", "the input is not floating point."),
    ("ShapeError", "weights, bias or residual do not fit the input."),
    ("ParameterError", "`program_config` does not fit the shards, or asks RMS norm for Welford's form."),
)


def rows_examples(shape: tuple[int, ...], layout: Layout) -> tuple[tuple[Any, ...], ...]:
    """Return generated test calls for whole-tile rows in both layouts."""
    return ((),) if shape and (layout is Layout.TILE or shape[-1] % TILE_SIZE == 0) else ()


def _tiled_only(shape: tuple[int, ...], layout: Layout) -> tuple[tuple[Any, ...], ...]:
    return ((),) if shape and layout is Layout.TILE else ()


declare = partial(Op, dtypes=DTYPES, accuracy=RELATIVE, engine=("Pipeline",))
_OPTIONS: Final = (EPSILON, WEIGHT, BIAS, RESIDUAL, MEMORY_CONFIG_OPTION, PROGRAM_CONFIG)

layer_norm = register(
    declare(
        name="layer_norm",
        signatures=(Signature((INPUT_TENSOR,), (*_OPTIONS, compute_config(_LAYER_NORM_DEFAULT), _RECIPROCALS)),),
        run=_layer_norm,
        doc="Return `(x - mean) / sqrt(variance + epsilon)` over the last dimension of `x = input_tensor + "
        "residual_input_tensor`, times `weight`, plus `bias`.\n"
        "Shape: [..., H, W] -> [..., H, W].",
        source="tt-metal `ttnn/cpp/ttnn/operations/normalization/layernorm`",
        layouts=(Layout.TILE, Layout.ROW_MAJOR),
        golden=golden.layer_norm,
        raises=(*ERRORS, ("LayoutError", "the input is row-major and its width is not a multiple of 32.")),
        examples=rows_examples,
    )
)

rms_norm = register(
    declare(
        name="rms_norm",
        signatures=(Signature((INPUT_TENSOR,), (*_OPTIONS, compute_config(_RMS_NORM_DEFAULT))),),
        run=_rms_norm,
        doc="Return `x / sqrt(mean(x ** 2) + epsilon)` over the last dimension of `x = input_tensor + "
        "residual_input_tensor`, times `weight`, plus `bias`.\n"
        "Shape: [..., H, W] -> [..., H, W].",
        source="tt-metal `ttnn/cpp/ttnn/operations/normalization/rmsnorm`",
        layouts=(Layout.TILE,),
        golden=golden.rms_norm,
        raises=(*ERRORS, ("LayoutError", "the input is row-major.")),
        examples=_tiled_only,
    )
)
