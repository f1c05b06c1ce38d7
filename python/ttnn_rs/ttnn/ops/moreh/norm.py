"""Norms of the moreh family and the gradient of a norm.

Source: tt-metal `ttnn/cpp/ttnn/operations/moreh/moreh_abs_pow`, `moreh_norm`, `moreh_norm_backward`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Any, Final

from ttnn.base.enums import Layout
from ttnn.base.exceptions import ParameterError, ShapeError, UnsupportedError
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, MemoryConfig
from ttnn.base.tensor_spec import TensorSpec
from ttnn.golden import moreh as golden
from ttnn.operation.accuracy import no_bound
from ttnn.operation.domain import Operand as Example
from ttnn.operation.registry import declare
from ttnn.operation.signature import BOOLEAN, FLOAT, INT_OR_INTS, TENSOR, Param, Signature
from ttnn.ops._programs.common import MEMORY_CONFIG_OPTION, allocate, dimension, is_empty, on_device
from ttnn.ops._programs.pipeline import COLUMNS, ROWS, Chain, Pipeline, bits, rounded
from ttnn.ops.data_movement.reshape import reshaped
from ttnn.ops.moreh.checks import BF16, COMPUTE, Compute, Result, check_operand, check_shape, numerics_of
from ttnn.ops.moreh.power import Power, power
from ttnn.ops.moreh.reductions import along, settings_of
from ttnn.ops.normalization.softmax_programs import Numerics
from ttnn.tensor.tensor import Tensor

Dims = int | Sequence[int] | None
_ABS: Final[Chain] = [("abs", "default")]
_NEG: Final = ("neg", "default")


def _check(name: str, label: str, tensor: Tensor, first: Tensor | None = None) -> None:
    short = name.removeprefix("ttnn.")
    sentences = (
        f"{short} {label} need to be on device!",
        f"{short} {label} only supports TILE layout.",
        f"{short} {label} only supports specific data types. [BFLOAT16]",
    )
    check_operand(name, label, tensor, None if first is None else on_device(name, first, "input"), vendor=sentences)


def _matrix(shape: Sequence[int]) -> tuple[int, ...]:
    """Return a shape of rank 2 or more."""
    return (*(1 for _ in range(2 - len(shape))), *shape)


@lru_cache(maxsize=256)
def _abs_pow_program(shape: tuple[int, ...], by: Power, numerics: Numerics) -> Pipeline:
    program = numerics.pipeline(shape, ROWS)
    magnitude = program.copy(program.tensor(BF16), numerics.wide, _ABS, padding="zero")
    power(program, magnitude, by, numerics, BF16, output=0)
    return program


@lru_cache(maxsize=256)
def _ordinal_program(shape: tuple[int, ...], axis: int, p: float, numerics: Numerics) -> Pipeline:
    """Return the count of nonzero elements, largest or smallest magnitude."""
    program, wide = numerics.pipeline(shape, axis), numerics.wide
    x, inner = program.tensor(BF16), axis in (ROWS, COLUMNS)
    if p == 0:
        counted = program.copy(x, wide, [("unary_ne", "default", [bits(0.0)])], padding="zero" if inner else None)
        total = program.fold(counted, wide, by="add")
        if inner:
            total = program.sum([(total, 0, 1)], (BF16, bits(1.0)), wide)
        program.copy(total, BF16, output=(0, 0, 1))
        return program
    smallest = p < 0
    sign = [_NEG] if smallest else []
    # Padding is infinite for the smallest, and 0 for the largest magnitude.
    padding = None if not inner else "-inf" if smallest and shape[axis] % 32 else "zero"
    found = program.copy(x, wide, [*_ABS, *sign], padding=padding)
    largest = program.max(found, wide) if inner else program.fold(found, wide, by=("binary_max", "default"))
    program.copy(largest, BF16, sign, output=(0, 0, 1))
    return program


def _abs_pow(
    input: Tensor, p: float, output: Tensor | None, memory_config: MemoryConfig | None, compute_kernel_config: Compute
) -> Tensor:
    return powered("ttnn.moreh_abs_pow", input, p, output, memory_config, compute_kernel_config)


def powered(
    name: str, input: Tensor, p: float, output: Tensor | None, memory_config: MemoryConfig | None, config: Compute
) -> Tensor:
    """Return magnitudes to the power p, in `output` if given."""
    _check(name, "input", input)
    spec, device = input.spec, on_device(name, input, "input")
    if output is not None:
        _check(name, "output", output, input)
    by = Power.of(name, p)
    result = Result(name, tuple(spec.shape), BF16, memory_config or spec.memory_config, device, output)
    if not is_empty(spec):
        program = _abs_pow_program(_matrix(tuple(spec.shape)), by, numerics_of(BF16, config))
        program.run([input], [result.written])
    return result.tensor()


def _axes(name: str, dim: Dims, rank: int) -> list[int]:
    """Return the dimensions, last first; all if none are given."""
    named = [dim] if isinstance(dim, int) else list(range(rank)) if dim is None or not dim else list(dim)
    axes = sorted((dimension(name, int(axis), rank) for axis in named), reverse=True)
    if len(set(axes)) != len(axes):
        raise ShapeError(f"{name}: dim={named} names a dimension twice.")
    return axes


def _ordinal(source: Tensor, axis: int, p: float, config: Compute) -> Tensor:
    """Return the norm of order 0 or infinity along a dimension.

    The dimension has size 1 then.
    """
    device = on_device("moreh_norm", source)
    shape = tuple(source.spec.shape)
    rank = len(shape)
    line = {rank - 1: ROWS, rank - 2: COLUMNS}.get(axis, axis)
    reduced = tuple(1 if index == axis else size for index, size in enumerate(shape))
    output = allocate(TensorSpec.of(reduced, BF16, Layout.TILE, DRAM_MEMORY_CONFIG), device)
    _ordinal_program(shape, line, p, numerics_of(BF16, config)).run([source], [output])
    return output


def _norm(
    input: Tensor,
    p: float,
    dim: Dims,
    keepdim: bool,
    output: Tensor | None,
    memory_config: MemoryConfig | None,
    compute_kernel_config: Compute,
) -> Tensor:
    name = "ttnn.moreh_norm"
    _check(name, "input", input)
    spec, device = input.spec, on_device(name, input, "input")
    rank = spec.shape.rank
    if rank < 2 or is_empty(spec):
        raise ShapeError(f"{name}: input has shape {spec.shape}; it must be of rank 2 or more, with elements.")
    if math.isnan(p):
        raise ParameterError(f"{name}: p={p} is not the order of a norm.")
    axes = _axes(name, dim, rank)
    ordinal = p == 0 or math.isinf(p)
    if ordinal and not keepdim and any(axis >= rank - 2 for axis in axes):
        raise UnsupportedError(
            f"{name}: p={p} along rows or columns with keepdim=False: the official program gives the output the size "
            "of the input and leaves most of it unwritten. Pass keepdim=True."
        )
    inner = (rank - 2, rank - 1)
    kept = [keepdim or axis in inner or axis not in axes for axis in range(rank)]
    shape = tuple(1 if axis in axes else size for axis, size in enumerate(spec.shape) if kept[axis])
    result = Result(name, shape, BF16, memory_config or spec.memory_config, device, output)
    step, settings = input, settings_of(compute_kernel_config)
    if not ordinal:
        step = powered(name, step, p, None, DRAM_MEMORY_CONFIG, compute_kernel_config)
    for number, axis in enumerate(axes):
        # Numbers of elements are added up after the first dimension.
        if ordinal and (number == 0 or p != 0):
            step = _ordinal(step, axis, p, compute_kernel_config)
        else:
            step = along(step, axis, None, settings)
    if not ordinal:
        step = powered(name, step, rounded(1.0 / rounded(p)), None, DRAM_MEMORY_CONFIG, compute_kernel_config)
    return result.take(reshaped(name, step, shape))


@lru_cache(maxsize=256)
def _backward_program(
    shape: tuple[int, ...], kept: tuple[int, ...], powers: tuple[Power, Power], numerics: Numerics
) -> Pipeline:
    """Return the gradient from input, norm and norm gradient."""
    program, wide = numerics.pipeline(shape, ROWS), numerics.wide
    by, less = powers
    x, y, dy = program.tensor(BF16), program.tensor(BF16, kept), program.tensor(BF16, kept)
    sign = program.copy(x, wide, [("sign", "default")])
    part = power(program, x, less, numerics, wide, rest=by, before=_ABS)
    part = program.eltwise("mul", part, y, wide)
    part = program.eltwise("mul", part, dy, wide)
    inverse = [("recip", "approx" if numerics.approximate else "accurate")]
    scale = power(program, y, by, numerics, wide, behind=inverse)
    part = program.eltwise("mul", part, scale, wide)
    program.eltwise("mul", sign, part, BF16, output=0)
    return program


def _norm_backward(
    input: Tensor,
    output: Tensor,
    output_grad: Tensor,
    p: float,
    dim: Dims,
    keepdim: bool,
    input_grad: Tensor | None,
    memory_config: MemoryConfig | None,
    compute_kernel_config: Compute,
) -> Tensor:
    name = "ttnn.moreh_norm_backward"
    _check(name, "input", input)
    spec, device = input.spec, on_device(name, input, "input")
    rank = spec.shape.rank
    if rank < 2:
        raise ShapeError(f"{name}: input has shape {spec.shape}; it must be of rank 2 or more.")
    axes = _axes(name, dim, rank)
    shape = tuple(spec.shape)
    kept = tuple(1 if axis in axes else size for axis, size in enumerate(shape))
    given = []
    for label, tensor in (("output", output), ("output_grad", output_grad)):
        _check(name, label, tensor, input)
        if keepdim:
            check_shape(name, label, tensor, kept)
        if tensor.spec.shape.volume() != math.prod(kept):
            raise ShapeError(f"{name}: {label} has shape {tensor.spec.shape}; it must be {list(kept)}.")
        given.append(reshaped(name, tensor, kept))
    powers = (Power.of(name, p), Power.of(name, rounded(rounded(p) - 1.0)))
    result = Result(name, shape, BF16, memory_config or spec.memory_config, device, input_grad)
    if not is_empty(spec):
        program = _backward_program(shape, kept, powers, numerics_of(BF16, compute_kernel_config))
        program.run([input, *given], [result.written])
    return result.tensor()


_P: Final = Param("p", FLOAT, doc="The exponent.", example=2.0)
_OUTPUT: Final = Param("output", TENSOR, None, doc="Preallocated output.")
_KEEPDIM: Final = Param(
    "keepdim", BOOLEAN, False, doc="Keep reduced leading dimensions with size 1; others are always kept."
)
_DIM: Final = Param("dim", INT_OR_INTS, None, doc="Dimensions of the norm. Default: all.", example=-1)
_declare: Final = partial(
    declare,
    dtypes=(BF16,),
    layouts=(Layout.TILE,),
    engine=("Pipeline",),
    raises=(
        ("DTypeError", "a tensor is not bfloat16."),
        ("LayoutError", "a tensor is row-major."),
        ("ShapeError", "`dim` is out of range, or shapes do not fit."),
        ("ParameterError", "`p` is not finite where it has to be."),
    ),
)


def _dims(shape: tuple[int, ...], layout: Layout) -> tuple[tuple[Any, ...], ...]:
    if len(shape) < 2 or 0 in shape or layout is not Layout.TILE:
        return ()
    return tuple((2.0, {"dim": dim, "keepdim": True}) for dim in range(-len(shape), 0))


moreh_abs_pow = _declare(
    "moreh_abs_pow",
    (
        Signature(
            (Param("input", TENSOR, doc="[..., H, W] on a device."), _P), (_OUTPUT, MEMORY_CONFIG_OPTION, COMPUTE)
        ),
    ),
    _abs_pow,
    "Return `|x| ** p`: repeated products for the exponent rounded down, times `exp(log(|x|) * rest)`.\n"
    "Shape: [..., H, W] -> [..., H, W].",
    source="tt-metal `ttnn/cpp/ttnn/operations/moreh/moreh_abs_pow`",
    golden=golden.moreh_abs_pow,
    accuracy=no_bound("for products round to bfloat16"),
    examples=lambda shape, layout: ((2.0,), (2.5,)) if layout is Layout.TILE else (),
)
moreh_norm = _declare(
    "moreh_norm",
    (
        Signature(
            (Param("input", TENSOR, doc="[..., H, W] on a device."), _P),
            (_DIM, _KEEPDIM, _OUTPUT, MEMORY_CONFIG_OPTION, COMPUTE),
        ),
    ),
    _norm,
    "Return the p-norm along `dim`: `sum(|x| ** p) ** (1 / p)`.\nFor p = 0, the number of elements that are not 0; "
    "for an infinite p, the largest or smallest magnitude.\n"
    "Shape: [..., D, ...] -> [..., ...]; H and W stay with size 1.",
    source="tt-metal `ttnn/cpp/ttnn/operations/moreh/moreh_norm`",
    golden=golden.moreh_norm,
    accuracy=no_bound("for every addition rounds to bfloat16"),
    examples=_dims,
)
moreh_norm_backward = _declare(
    "moreh_norm_backward",
    (
        Signature(
            (
                Param("input", TENSOR, doc="[..., H, W]: operand of the norm."),
                Param("output", TENSOR, doc="The norm.", example=Example((1, 1, 64, 1))),
                Param("output_grad", TENSOR, doc="The gradient of the norm.", example=Example((1, 1, 64, 1), 2)),
                _P,
            ),
            (
                _DIM,
                Param("keepdim", BOOLEAN, False, doc="Whether reduced dimensions were kept; both shapes are accepted."),
                Param("input_grad", TENSOR, None, doc="Preallocated output."),
                MEMORY_CONFIG_OPTION,
                COMPUTE,
            ),
        ),
    ),
    _norm_backward,
    "Return the gradient of a p-norm: `sign(x) * |x| ** (p - 1) * y * dy / y ** p`.\n"
    "Shape: [..., H, W], [..., H, 1], [..., H, 1] -> [..., H, W].",
    source="tt-metal `ttnn/cpp/ttnn/operations/moreh/moreh_norm_backward`",
    golden=golden.moreh_norm_backward,
    accuracy=no_bound("for products round to bfloat16"),
    examples=(),
)
# `output` is an operand.
moreh_norm_backward.output_tensor_kwarg_names = ("input_grad",)
