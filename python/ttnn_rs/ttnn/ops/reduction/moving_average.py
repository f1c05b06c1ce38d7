"""Exponential moving averages of rows.

Source: tt-metal `ttnn/cpp/ttnn/operations/reduction/accumulation/ema`, tt-llk `ckernel_sfpu_ema.h`.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, Final

from ttnn.base.compute_config import FIDELITY_NUMBER, WormholeComputeKernelConfig
from ttnn.base.core_range import CoreGrid
from ttnn.base.enums import DataType, Layout, MathFidelity
from ttnn.base.exceptions import DTypeError, LayoutError, ParameterError, ShapeError
from ttnn.base.memory_config import MemoryConfig
from ttnn.base.tensor_spec import TensorSpec
from ttnn.golden import reduction as golden
from ttnn.operation.accuracy import no_bound
from ttnn.operation.registry import Op, register
from ttnn.operation.signature import COMPUTE_KERNEL_CONFIG, FLOAT, TENSOR, Param, Signature, instance_kind
from ttnn.ops._programs.common import (
    MEMORY_CONFIG_OPTION,
    allocate,
    as_float,
    full_tiles,
    is_empty,
    on_device,
    take_output,
)
from ttnn.ops._programs.pipeline import ROWS, Pipeline, rounded
from ttnn.tensor.tensor import Tensor

_NAME: Final = "ttnn.ema"
_BF16: Final = DataType.BFLOAT16


@lru_cache(maxsize=64)
def _program(shape: tuple[int, ...], alpha: float, wide: bool) -> Pipeline:
    """Return the program: each row's average, packed between two transpositions."""
    program = Pipeline(shape, ROWS, _BF16, wide, FIDELITY_NUMBER[MathFidelity.HiFi4])
    average = program.moving_average(program.tensor(_BF16), _BF16, (alpha, rounded(1.0 - alpha)))
    program.copy(average, _BF16, output=0)
    return program


def _check(tensor: Tensor) -> None:
    spec = tensor.spec
    if spec.dtype is not _BF16:
        raise DTypeError(
            f"{_NAME}: input_tensor is {spec.dtype.name}; typecast it to bfloat16.",
            vendor=f"Input tensor must be BFLOAT16, got: {spec.dtype.cpp_name}",
        )
    if spec.layout is not Layout.TILE:
        raise LayoutError(
            f"{_NAME}: input_tensor is row-major; convert it with ttnn.to_layout(..., ttnn.TILE_LAYOUT).",
            vendor=f"Input tensor must have TILE layout, got: {spec.layout.cpp_name}",
        )
    if spec.shape.rank != 4 or spec.shape[0] != 1:
        raise ShapeError(
            f"{_NAME}: input_tensor has shape {spec.shape}; it must be [1, B, C, T].",
            vendor=f"EMA input must be 4D [1, B, C, T], got rank {spec.shape.rank}"
            if spec.shape.rank != 4
            else f"EMA expects leading dimension to be 1, got {spec.shape[0]}",
        )
    full_tiles(_NAME, tensor)


def _ema(
    input_tensor: Tensor,
    alpha: float,
    out: Tensor | None,
    core_grid: CoreGrid | None,
    memory_config: MemoryConfig | None,
    compute_kernel_config: WormholeComputeKernelConfig | None,
) -> Tensor:
    device = on_device(_NAME, input_tensor)
    _check(input_tensor)
    if math.isnan(alpha):
        raise ParameterError(f"{_NAME}: alpha is NaN.", vendor="EMA alpha must be a valid number, got NaN")
    weight = as_float(_NAME, alpha, "alpha")
    spec = input_tensor.spec
    if out is not None:
        out = take_output(_NAME, out, spec.shape._dims, Layout.TILE, device)
        if out.spec.dtype is not _BF16:
            raise DTypeError(
                f"{_NAME}: out is {out.spec.dtype.name}; it must be BFLOAT16.",
                vendor=f"Output tensor must be BFLOAT16, got: {out.spec.dtype.cpp_name}",
            )
    place = memory_config or spec.memory_config
    output = out or allocate(TensorSpec.of(spec.shape, _BF16, Layout.TILE, place), device)
    if not is_empty(spec):
        wide = compute_kernel_config is None or compute_kernel_config.fp32_dest_acc_en
        _program(tuple(spec.shape), rounded(weight), wide).run([input_tensor], [output])
    return output


def _examples(shape: tuple[int, ...], layout: Layout) -> tuple[tuple[Any, ...], ...]:
    return ((0.25,),) if len(shape) == 4 and shape[0] == 1 and layout is Layout.TILE else ()


ema = register(
    Op(
        name="ema",
        signatures=(
            Signature(
                (
                    Param("input_tensor", TENSOR, doc="[1, B, C, T] on a device, bfloat16: samples along T."),
                    Param("alpha", FLOAT, doc="Weight of the average so far.", example=0.25),
                ),
                (
                    Param("out", TENSOR, None, doc="Preallocated output, of the input's shape."),
                    Param(
                        "core_grid",
                        instance_kind("ttnn.CoreGrid", CoreGrid),
                        None,
                        doc="Cores that share the channels, which changes time only.",
                    ),
                    MEMORY_CONFIG_OPTION,
                    Param("compute_kernel_config", COMPUTE_KERNEL_CONFIG, None, doc="Dst width. Default: 32 bits."),
                ),
            ),
        ),
        run=_ema,
        doc="Return `y[t] = alpha * y[t - 1] + (1 - alpha) * x[t]` along the last dimension, `y` being 0 before.\n"
        "Shape: [1, B, C, T] -> [1, B, C, T]. The average stays in FP32 from sample to sample.",
        source="tt-metal `ttnn/cpp/ttnn/operations/reduction/accumulation/ema`",
        dtypes=(_BF16,),
        layouts=(Layout.TILE,),
        golden=golden.ema,
        accuracy=no_bound("for samples that cancel leave the rounding errors of larger averages"),
        engine=("Pipeline",),
        raises=(
            ("DTypeError", "the input, or `out`, is not bfloat16."),
            ("LayoutError", "the input is row-major."),
            ("ShapeError", "the shape is not [1, B, C, T]."),
            ("ParameterError", "`alpha` is NaN."),
        ),
        examples=_examples,
    )
)
