"""`ttnn.batch_norm`: channels normalized by given or own statistics.

These are the mean and the variance.

The SFPU computes; only stores round between its steps. The FPU does for bfloat16 in a 16-bit Dst.
Source: tt-metal `ttnn/cpp/ttnn/operations/normalization/batch_norm`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Any, Final

from ttnn.base.compute_config import FIDELITY_NUMBER, WormholeComputeKernelConfig, wide_fidelity
from ttnn.base.enums import DataType, Layout, MathFidelity
from ttnn.base.exceptions import DTypeError, LayoutError, MemoryConfigError, ParameterError, ShapeError
from ttnn.base.memory_config import MemoryConfig
from ttnn.base.tensor_spec import TensorSpec
from ttnn.golden import normalization as golden
from ttnn.operation.accuracy import no_bound
from ttnn.operation.registry import Op, register
from ttnn.operation.signature import BOOLEAN, COMPUTE_KERNEL_CONFIG, FLOAT, TENSOR, Param, Signature
from ttnn.ops._programs.common import (
    MEMORY_CONFIG_OPTION,
    allocate,
    as_float,
    full_tiles,
    is_empty,
    on_device,
    same_device,
    take_output,
)
from ttnn.ops._programs.element_map import copy_into
from ttnn.ops._programs.pipeline import ROWS, Chain, Operand, Pipeline, bits, rounded
from ttnn.ops.eltwise.binary import multiply, subtract
from ttnn.ops.eltwise.unary.math import square
from ttnn.ops.reduction.generic import mean
from ttnn.tensor.tensor import Tensor

_NAME: Final = "ttnn.batch_norm"
_DTYPES: Final = (DataType.BFLOAT16, DataType.FLOAT32)
_WIDE: Final = DataType.FLOAT32
Settings = tuple[int, bool]
"""Fidelity and Dst width."""


def _on_fpu(dtype: DataType, settings: Settings) -> bool:
    """Return whether the FPU computes: bfloat16 in a 16-bit Dst."""
    return dtype is DataType.BFLOAT16 and not settings[1]


def _step(
    program: Pipeline, on_fpu: bool, op: str, a: Operand, b: Operand, dtype: DataType, chain: Chain = (), **options: Any
) -> Operand:
    """Add a pass on the FPU or the SFPU."""
    if on_fpu:
        return program.eltwise(op, a, b, dtype, chain, **options)
    return program.sfpu((f"{op}_binary", "default"), a, b, dtype, chain, **options)


@lru_cache(maxsize=256)
def _program(
    shape: tuple[int, ...], dtype: DataType, eps: float, has_weight: bool, has_bias: bool, settings: Settings
) -> Pipeline:
    """Return the program on x, mean, variance, and optional weight, bias."""
    fidelity, dst32 = settings
    program = Pipeline(shape, ROWS, dtype, dst32, fidelity, direct=True)
    # What stays in Dst keeps its width.
    kept = _WIDE if dst32 else dtype
    channel = (1, shape[1], 1, 1)
    x, middle, variance = (program.tensor(dtype, of, how) for of, how in ((shape, None), *[(channel, "scalar")] * 2))
    step = partial(_step, program, _on_fpu(dtype, settings))
    root = step("add", variance, program.constant(dtype, bits(eps)), dtype, [("rsqrt", "default")])
    steps = [("sub", middle), ("mul", root)]
    if has_weight:
        steps.append(("mul", program.tensor(dtype, channel, "scalar")))
    if has_bias:
        steps.append(("add", program.tensor(dtype, channel, "scalar")))
    for number, (op, other) in enumerate(steps, 1):
        if number < len(steps):
            x = step(op, x, other, kept)
        else:
            step(op, x, other, dtype, output=0)
    return program


@lru_cache(maxsize=64)
def _update_program(
    shape: tuple[int, ...], count: int, dtype: DataType, momentum: float, settings: Settings
) -> Pipeline:
    """Return the program of `(1 - momentum) * old + momentum * new` for some statistics."""
    fidelity, dst32 = settings
    program = Pipeline(shape, ROWS, dtype, dst32, fidelity, direct=True)
    kept = _WIDE if dst32 else dtype
    step = partial(_step, program, _on_fpu(dtype, settings))
    share = program.constant(dtype, bits(momentum))
    for number in range(count):
        old, new = program.tensor(dtype), program.tensor(dtype)
        # The rest is subtracted on the device, from a number of the data type.
        rest = step("sub", program.constant(dtype, bits(1.0)), share, kept)
        first = step("mul", rest, old, kept)
        second = step("mul", share, new, kept)
        program.sfpu(("add_binary", "default"), first, second, dtype, output=number)
    return program


def _of_channel(label: str, tensor: Tensor, like: Tensor) -> Tensor:
    same_device(_NAME, on_device(_NAME, like), tensor, label)
    spec = tensor.spec
    if tuple(spec.shape) != (1, like.spec.shape[1], 1, 1):
        raise ShapeError(
            f"{_NAME}: {label} has shape {spec.shape}; an input of {like.spec.shape} takes "
            f"[1, {like.spec.shape[1]}, 1, 1]."
        )
    if spec.dtype is not like.spec.dtype or spec.layout is not Layout.TILE:
        raise DTypeError(
            f"{_NAME}: {label} is {spec.dtype.name} in {spec.layout.name}_LAYOUT; it must be {like.spec.dtype.name} "
            "in TILE_LAYOUT, as the input."
        )
    full_tiles(_NAME, tensor, label)
    return tensor


def _check_parameters(input: Tensor, given: dict[str, Tensor]) -> None:
    """Refuse statistics, weight and bias of several data types, ranks or layouts.

    Raises:
        DTypeError: their data types differ.
        ShapeError: one of them, or the input, is not of rank 4.
        MemoryConfigError: the input is sharded.
        LayoutError: the mean is row-major.
    """
    first = next(iter(given.values()), input)
    for label, tensor in given.items():
        on_device(_NAME, tensor, label)
        if tensor.spec.dtype is not first.spec.dtype:
            raise DTypeError(
                f"{_NAME}: {label} is {tensor.spec.dtype.name}, another one {first.spec.dtype.name}.",
                vendor=f"batch_norm: {label} dtype ({tensor.spec.dtype.cpp_name}) must match other parameter tensors "
                f"dtype ({first.spec.dtype.cpp_name})",
            )
    for label, tensor in (("input", input), *given.items()):
        if tensor.spec.shape.rank != 4:
            raise ShapeError(
                f"{_NAME}: {label} has shape {tensor.spec.shape}; it must be of rank 4.",
                vendor="batch_norm supports tensors of rank 4",
            )
    if not input.spec.memory_config.interleaved:
        raise MemoryConfigError(f"{_NAME}: input is sharded.", vendor="Input tensor must be interleaved")
    mean_of_batch = given.get("running_mean")
    if mean_of_batch is not None and mean_of_batch.spec.layout is not Layout.TILE and input.spec.layout is Layout.TILE:
        raise LayoutError(f"{_NAME}: running_mean is row-major.", vendor="batch_mean tensor must be tilized")


def _update(pairs: Sequence[tuple[Tensor, Tensor]], momentum: float, settings: Settings) -> None:
    """Move running statistics towards those of a batch, in place."""
    spec = pairs[0][0].spec
    results = [allocate(old.spec, on_device(_NAME, old)) for old, _ in pairs]
    program = _update_program(tuple(spec.shape), len(pairs), spec.dtype, momentum, settings)
    program.run([tensor for pair in pairs for tensor in pair], results)
    for (old, _), result in zip(pairs, results, strict=True):
        copy_into(result, old)


def _mean(tensor: Tensor, config: WormholeComputeKernelConfig | None) -> Tensor:
    """Return the mean of every channel, image by image first."""
    of_images = mean(tensor, [2, 3], True, compute_kernel_config=config)
    result: Tensor = mean(of_images, 0, True, compute_kernel_config=config)
    return result


def _batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    eps: float,
    momentum: float,
    weight: Tensor | None,
    bias: Tensor | None,
    output: Tensor | None,
    memory_config: MemoryConfig | None,
    compute_kernel_config: WormholeComputeKernelConfig | None,
) -> Tensor:
    device = on_device(_NAME, input, "input")
    spec, config = input.spec, compute_kernel_config
    if spec.shape.rank < 4:
        raise ShapeError(
            f"{_NAME}: input has shape {spec.shape}; it must be [N, C, H, W].",
            vendor=f"batch_norm not supported for tensors with rank < 4. (rank={spec.shape.rank})",
        )
    if not training and (running_mean is None or running_var is None):
        raise ParameterError(
            f"{_NAME}: running_mean and running_var must be given unless training=True.",
            vendor="running_mean and running_var must be defined in evaluation mode",
        )
    given = {"running_mean": running_mean, "running_var": running_var, "weight": weight, "bias": bias}
    _check_parameters(input, {label: tensor for label, tensor in given.items() if tensor is not None})
    if memory_config is not None:
        spec.with_memory_config(memory_config)
    if spec.dtype not in _DTYPES:
        raise DTypeError(f"{_NAME}: input is {spec.dtype.name}; use BFLOAT16 or FLOAT32.")
    if spec.layout is not Layout.TILE:
        raise LayoutError(f"{_NAME}: input is row-major; convert it with ttnn.to_layout(..., ttnn.TILE_LAYOUT).")
    full_tiles(_NAME, input, "input")
    for label, tensor in given.items():
        if tensor is not None:
            _of_channel(label, tensor, input)
    place = memory_config or spec.memory_config
    if output is not None:
        output = take_output(_NAME, output, spec.shape._dims, Layout.TILE, device, dtype=spec.dtype)
    target = output or allocate(TensorSpec.of(spec.shape, spec.dtype, Layout.TILE, place), device)
    if is_empty(spec):
        return target
    fidelity = wide_fidelity(device.arch())
    if config is not None and config.math_fidelity is not MathFidelity.Invalid:
        fidelity = config.math_fidelity
    settings = (FIDELITY_NUMBER[fidelity], config is None or config.fp32_dest_acc_en)
    if training:
        middle = _mean(input, config)
        variance = _mean(square(subtract(input, middle)), config)
    else:
        assert running_mean is not None
        assert running_var is not None
        middle, variance = running_mean, running_var
    shape = tuple(spec.shape)
    program = _program(
        shape, spec.dtype, rounded(as_float(_NAME, eps, "eps")), weight is not None, bias is not None, settings
    )
    operands = [input, middle, variance, *(tensor for tensor in (weight, bias) if tensor is not None)]
    result = target if output is None else allocate(spec, device)
    program.run(operands, [result])
    if training and not (running_mean is None and running_var is None):
        pairs = [] if running_mean is None else [(running_mean, middle)]
        if running_var is not None:
            # The running variance is that of a sample: divided by one element less.
            elements = spec.shape.volume() // spec.shape[1]
            sample = elements / (elements - 1) if elements > 1 else math.inf
            pairs.append((running_var, multiply(variance, rounded(sample))))
        _update(pairs, as_float(_NAME, momentum, "momentum"), settings)
    if output is not None:
        copy_into(result, output)
    return target


def _channel(name: str, doc: str) -> Param:
    return Param(name, TENSOR, None, doc=f"[1, C, 1, 1]: {doc}")


def _training(shape: tuple[int, ...], layout: Layout) -> tuple[tuple[Any, ...], ...]:
    return (({"training": True},),) if len(shape) == 4 and layout is Layout.TILE and 0 not in shape else ()


batch_norm = register(
    Op(
        name="batch_norm",
        signatures=(
            Signature(
                (Param("input", TENSOR, doc="[N, C, H, W] on a device."),),
                (
                    _channel("running_mean", "the mean; in training it is moved towards that of the batch."),
                    _channel(
                        "running_var", "the variance; in training it is moved towards the sample variance of the batch."
                    ),
                    Param("training", BOOLEAN, False, doc="Use mean and variance of the batch.", example=True),
                    Param("eps", FLOAT, 1e-5, doc="Added to the variance."),
                    Param("momentum", FLOAT, 0.1, doc="Weight of the batch in running statistics."),
                    _channel("weight", "factors."),
                    _channel("bias", "added at the end."),
                    Param("output", TENSOR, None, doc="Preallocated output, of the input's shape."),
                    MEMORY_CONFIG_OPTION,
                    Param(
                        "compute_kernel_config",
                        COMPUTE_KERNEL_CONFIG,
                        None,
                        doc="Math fidelity and Dst width. Default: HiFi3 (HiFi4 on Blackhole) and 32 bits.",
                    ),
                ),
            ),
        ),
        run=_batch_norm,
        doc="Return `(x - mean) / sqrt(variance + eps)` of every channel, times `weight`, plus `bias`.\n"
        "Shape: [N, C, H, W] -> [N, C, H, W].",
        source="tt-metal `ttnn/cpp/ttnn/operations/normalization/batch_norm`",
        dtypes=_DTYPES,
        layouts=(Layout.TILE,),
        golden=golden.batch_norm,
        accuracy=no_bound("for the mean is subtracted"),
        engine=("Pipeline",),
        raises=(
            ("ParameterError", "statistics are missing, and `training` is False."),
            ("ShapeError", "the rank is not 4, or a channel tensor is not [1, C, 1, 1]."),
            ("DTypeError", "a tensor is neither bfloat16 nor float32, or not as the input."),
            ("LayoutError", "the input is row-major."),
        ),
        examples=_training,
    )
)
