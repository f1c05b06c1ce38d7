"""Layer norm of rows split over devices.

Its statistics are means and variances.

A device finds mean and variance of its part as layer norm's option `use_welford` does. Those of all devices are joined
step by step on the SFPU.

Source: tt-metal `ttnn/cpp/ttnn/operations/experimental/transformer/dit_layernorm_pre_all_gather` and
`dit_layernorm_post_all_gather`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from ttnn.base.compute_config import WormholeComputeKernelConfig
from ttnn.base.enums import TILE_SIZE, DataType, Layout
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
from ttnn.operation.domain import Operand
from ttnn.operation.registry import Op, register
from ttnn.operation.signature import DATA_TYPE, FLOAT, TENSOR, Param, Signature
from ttnn.ops._programs.common import (
    INPUT_TENSOR,
    MEMORY_CONFIG_OPTION,
    allocate,
    full_tiles,
    is_empty,
    on_device,
    same_device,
)
from ttnn.ops.data_movement.slice import sliced
from ttnn.ops.normalization import norm_welford
from ttnn.ops.normalization.norm import (
    BIAS,
    DTYPES,
    RELATIVE,
    WEIGHT,
    check_reciprocals,
    compute_config,
    numerics,
    operands,
)
from ttnn.tensor.tensor import Tensor


def _checked(name: str, tensor: Tensor) -> None:
    on_device(name, tensor)
    spec = tensor.spec
    if spec.layout is not Layout.TILE:
        raise LayoutError(
            f"{name}: input_tensor is row-major; convert it with ttnn.to_layout(..., ttnn.TILE_LAYOUT).",
            vendor="Only tilized inputs supported.",
        )
    if not spec.memory_config.interleaved:
        raise MemoryConfigError(
            f"{name}: input_tensor is sharded; move it with ttnn.to_memory_config.",
            vendor="Only interleaved inputs supported.",
        )
    if spec.dtype not in DTYPES:
        raise DTypeError(
            f"{name}: input_tensor is {spec.dtype.name}; it must be floating point.",
            vendor="Input data format not supported.",
        )
    if spec.shape.rank != 4:
        raise ShapeError(f"{name}: input_tensor has shape {spec.shape}; it must be of rank 4.")
    full_tiles(name, tensor)


def _pre(
    input_tensor: Tensor,
    recip_tensor: Tensor,
    dtype: DataType,
    compute_kernel_config: WormholeComputeKernelConfig | None,
    memory_config: MemoryConfig | None,
) -> Tensor:
    name = "ttnn.experimental.dit_layernorm_pre_allgather"
    _checked(name, input_tensor)
    check_reciprocals(name, input_tensor, recip_tensor)
    if dtype not in DTYPES:
        raise DTypeError(f"{name}: dtype is {dtype.name}; statistics are floating point.")
    spec = input_tensor.spec
    norm = numerics(name, input_tensor, compute_kernel_config, 0.0, centers=True, dst32=False)
    place = memory_config or spec.memory_config
    out = TensorSpec.of((*tuple(spec.shape)[:-1], 2 * TILE_SIZE), dtype, Layout.TILE, place)
    output = allocate(out, on_device(name, input_tensor))
    if not is_empty(spec):
        program = norm_welford.statistics(tuple(spec.shape), replace(norm, out_dtype=dtype))
        program.run([input_tensor], [output])
    return output


def _check_stats(name: str, tensor: Tensor, stats: Tensor) -> int:
    """Return how many devices gave statistics.

    Raises:
        ShapeError: they do not fit the input.
        LayoutError: they are row-major.
        DTypeError: they are no bfloat16.
    """
    same_device(name, on_device(name, tensor), stats, "stats")
    spec, given = tensor.spec, stats.spec
    if given.layout is not Layout.TILE:
        raise LayoutError(f"{name}: stats is row-major.", vendor="Stats tensor must have TILE layout")
    if given.dtype not in DTYPES:
        raise DTypeError(
            f"{name}: stats is {given.dtype.name}.", vendor="Stats tensor must be BF16, BF8_B, or FLOAT32."
        )
    if given.dtype is DataType.FLOAT32:
        raise UnsupportedError(
            f"{name}: stats is FLOAT32; how it enters the SFPU is not published. Use dtype=ttnn.bfloat16 in "
            "ttnn.experimental.dit_layernorm_pre_allgather.",
            "untested",
        )
    columns = (0, *given.shape)[-1]
    if tuple(given.shape)[:-1] != tuple(spec.shape)[:-1] or columns == 0 or columns % (2 * TILE_SIZE):
        raise ShapeError(
            f"{name}: stats has shape {list(given.shape)}; an input of {list(spec.shape)} takes its rows, with "
            f"{2 * TILE_SIZE} columns for each device.",
            vendor="Stats inner dimension must be multiple of 64 (two tiles)",
        )
    full_tiles(name, stats, "stats")
    return int(columns) // (2 * TILE_SIZE)


def _check_parameters(name: str, weight: Tensor | None, bias: Tensor | None) -> None:
    if (weight is None) != (bias is None):
        missing = "bias" if bias is None else "weight"
        raise ParameterError(
            f"{name}: {missing} is missing; weight and bias go together.",
            vendor="Beta must be provided when gamma is provided.",
        )


def _is_batched(name: str, label: str, tensor: Tensor | None, like: Tensor) -> bool:
    """Return whether weights or bias have a row for every matrix.

    Raises:
        ShapeError: they have rows for another number of matrices.
        LayoutError: they are row-major.
        DTypeError: they are not floating point.
    """
    if tensor is None or tensor.spec.shape.rank < 3 or tensor.spec.shape[-3] == 1:
        return False
    same_device(name, on_device(name, like), tensor, label)
    spec, shape = tensor.spec, tuple(like.spec.shape)
    matrices = shape[0] * shape[1]
    if spec.layout is not Layout.TILE:
        raise LayoutError(f"{name}: {label} with a row for every matrix must be in TILE_LAYOUT.")
    if spec.dtype not in DTYPES:
        raise DTypeError(f"{name}: {label} is {spec.dtype.name}; it must be floating point.")
    if tuple(spec.shape)[-3:] != (matrices, 1, shape[-1]) or math.prod(spec.shape) != matrices * shape[-1]:
        raise ShapeError(
            f"{name}: {label} has shape {list(spec.shape)}; an input of {list(shape)} takes "
            f"[{matrices}, 1, {shape[-1]}] or one row."
        )
    full_tiles(name, tensor, label)
    return True


def _post(
    input_tensor: Tensor,
    stats: Tensor,
    epsilon: float,
    weight: Tensor | None,
    bias: Tensor | None,
    memory_config: MemoryConfig | None,
    compute_kernel_config: WormholeComputeKernelConfig | None,
    dtype: DataType | None,
) -> Tensor:
    name = "ttnn.experimental.dit_layernorm_post_allgather"
    _checked(name, input_tensor)
    devices = _check_stats(name, input_tensor, stats)
    _check_parameters(name, weight, bias)
    spec, device = input_tensor.spec, on_device(name, input_tensor)
    out_dtype = dtype or spec.dtype
    if out_dtype not in DTYPES:
        raise DTypeError(f"{name}: dtype is {out_dtype.name}; the result is floating point.")
    norm = numerics(name, input_tensor, compute_kernel_config, epsilon, centers=True, dst32=False)
    norm = replace(norm, out_dtype=out_dtype, older_root=True)
    parameters = (("weight", weight), ("bias", bias))
    batched = [_is_batched(name, label, tensor, input_tensor) for label, tensor in parameters]
    given = [None if batched[0] else weight, None if batched[1] else bias]
    inputs, norm = operands(name, norm, input_tensor, None, *given)
    if weight is not None and batched[0]:
        inputs.insert(1, weight)
        norm = replace(norm, weight=weight.spec.dtype)
    if bias is not None and batched[1]:
        inputs.append(bias)
        norm = replace(norm, bias=bias.spec.dtype)
    norm = replace(norm, batched=(batched[0], batched[1]))
    output = allocate(TensorSpec.of(spec.shape, out_dtype, Layout.TILE, memory_config or spec.memory_config), device)
    if is_empty(spec):
        return output
    rows = (*tuple(spec.shape)[:-1], TILE_SIZE)
    parts = [
        sliced(name, stats, [0, 0, 0, first], [*rows[:-1], first + TILE_SIZE], memory_config=DRAM_MEMORY_CONFIG)
        for first in range(0, 2 * TILE_SIZE * devices, TILE_SIZE)
    ]
    joined = [allocate(TensorSpec.of(rows, norm.kept, Layout.TILE), device) for _ in range(2)]
    norm_welford.joined(rows, norm, stats.spec.dtype, devices, spec.shape[-1]).run(parts, joined)
    norm_welford.from_mean(tuple(spec.shape), norm).run([inputs[0], *joined, *inputs[1:]], [output])
    for tensor in (*parts, *joined):
        tensor.deallocate(True)
    return output


def _tiled(shape: tuple[int, ...], layout: Layout) -> bool:
    return len(shape) == 4 and layout is Layout.TILE and 0 not in shape


def _pre_examples(shape: tuple[int, ...], layout: Layout) -> tuple[tuple[Any, ...], ...]:
    table = Operand((1, max(shape[-1:] or (1,))), dtype=DataType.FLOAT32, layout=Layout.ROW_MAJOR)
    return ((table,),) if _tiled(shape, layout) else ()


def _post_examples(shape: tuple[int, ...], layout: Layout) -> tuple[tuple[Any, ...], ...]:
    stats = Operand((*shape[:-1], 4 * TILE_SIZE), dtype=DataType.BFLOAT16, between=(0.5, 1.5))
    return ((stats,),) if _tiled(shape, layout) else ()


_COMPUTE: Final = compute_config("HiFi4, a 16-bit Dst and an approximate inverse root")
_ERRORS: Final = (
    ("DTypeError", "a tensor is not floating point."),
    ("LayoutError", "a tensor is row-major."),
    ("MemoryConfigError", "the input is sharded."),
    ("ShapeError", "shapes do not fit, or the input is not of rank 4."),
)


def _entry(name: str, doc: str, signature: Signature, run: Callable[..., Tensor], examples: Any, **more: Any) -> None:
    register(
        Op(
            name=f"experimental.{name}",
            signatures=(signature,),
            run=run,
            doc=doc,
            source="tt-metal `ttnn/cpp/ttnn/operations/experimental/transformer`",
            dtypes=(DataType.BFLOAT16, DataType.BFLOAT8_B),
            layouts=(Layout.TILE,),
            golden=getattr(golden, name),
            accuracy=RELATIVE,
            engine=("Pipeline",),
            examples=examples,
            **more,
        )
    )


_entry(
    "dit_layernorm_pre_allgather",
    "Return every row's mean and variance, in columns 0 and 32.\n"
    "Shape: [N, C, H, W], [..., W] -> [N, C, H, 64].\n"
    "Both are rounded to bfloat16 before `dtype`.",
    Signature(
        (
            INPUT_TENSOR,
            Param(
                "recip_tensor",
                TENSOR,
                doc="1 / 1, 1 / 2, ... as float32, from `create_layer_norm_reciprocals`. The kernel does not need it.",
                example=Operand((1, 128), dtype=DataType.FLOAT32, layout=Layout.ROW_MAJOR),
            ),
        ),
        (
            Param("dtype", DATA_TYPE, DataType.BFLOAT16, doc="Data type of the statistics."),
            _COMPUTE,
            MEMORY_CONFIG_OPTION,
        ),
    ),
    _pre,
    _pre_examples,
    raises=_ERRORS,
)
_entry(
    "dit_layernorm_post_allgather",
    "Return the layer norm of a device's row parts, from all statistics.\n"
    "Shape: [N, C, H, W], [N, C, H, 64 * devices] -> [N, C, H, W].",
    Signature(
        (
            INPUT_TENSOR,
            Param(
                "stats",
                TENSOR,
                doc="What `dit_layernorm_pre_allgather` gave on every device, side by side.",
                example=Operand((1, 1, 64, 128), between=(0.5, 1.5)),
            ),
        ),
        (
            Param("epsilon", FLOAT, 1e-5, doc="Added to the variance, truncated to bfloat16."),
            replace(WEIGHT, doc=f"{WEIGHT.doc} [N * C, 1, W] has a row for every matrix."),
            replace(BIAS, doc=f"{BIAS.doc} [N * C, 1, W] has a row for every matrix."),
            MEMORY_CONFIG_OPTION,
            _COMPUTE,
            Param("dtype", DATA_TYPE, None, doc="Data type of the output. Default: that of the input."),
        ),
    ),
    _post,
    _post_examples,
    raises=(*_ERRORS, ("ParameterError", "`weight` without `bias`, or `bias` without `weight`.")),
)
