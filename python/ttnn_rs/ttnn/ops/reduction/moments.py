"""Variance and standard deviation: two passes over the elements, on the SFPU.

Source: tt-metal `ttnn/cpp/ttnn/operations/reduction/generic`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Any, Final, Literal, NamedTuple

from ttnn.base.compute_config import FIDELITY_NUMBER, WormholeComputeKernelConfig
from ttnn.base.core_range import CoreRangeSet
from ttnn.base.enums import FORMAT_CODE, TILE_SIZE, DataType, Layout, MathFidelity
from ttnn.base.exceptions import DTypeError
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, MemoryConfig
from ttnn.base.tensor_spec import TensorSpec, require_allocatable
from ttnn.golden import reduction as golden
from ttnn.operation.accuracy import no_bound
from ttnn.operation.registry import FastOperation, Op, register
from ttnn.operation.signature import BOOLEAN, COMPUTE_KERNEL_CONFIG, FLOAT, INT_OR_INTS, Param, Signature
from ttnn.ops._programs.common import (
    INPUT_TENSOR,
    MEMORY_CONFIG_OPTION,
    SUB_CORE_GRIDS_OPTION,
    allocate,
    as_float,
    full_tiles,
    is_empty,
    on_device,
)
from ttnn.ops._programs.pipeline import COLUMNS, ROWS, Pipeline, Step, matrices, rounded, scalar_chain
from ttnn.ops.data_movement.layout import tilize_padded
from ttnn.ops.data_movement.permute import moved_to, permuted
from ttnn.ops.data_movement.reshape import reshaped
from ttnn.ops.reduction.generic import reduced_axes, reduced_place, stated_fidelity
from ttnn.runtime import engine_steps
from ttnn.tensor.tensor import Tensor

Kind = Literal["std", "var"]
_DTYPES: Final = (DataType.BFLOAT16, DataType.FLOAT32, DataType.BFLOAT8_B)


class _Setting(NamedTuple):
    """Settings of a call.

    Attributes:
        kind: What is computed.
        correction: Divide by N - 1.
        scalar: Factor of the result.
        fidelity: Phases of the FPU, which computes nothing here.
        dst32: 32-bit Dst.
    """

    kind: Kind
    correction: bool
    scalar: float
    fidelity: int
    dst32: bool

    @property
    def name(self) -> str:
        """The operator, for errors."""
        return f"ttnn.{self.kind}"


@lru_cache(maxsize=256)
def _program(setting: _Setting, shape: tuple[int, ...], axis: int, dtype: DataType, count: int) -> Pipeline:
    """Return the program along rows, columns or whole matrices.

    Columns of matrices have variances of their own, which are joined: `count` is that of all elements.
    """
    program = Pipeline(shape, axis, dtype, setting.dst32, setting.fidelity, direct=True)
    along = shape[axis] if axis >= COLUMNS else shape[-2]
    divisor = count - 1 if setting.correction else count
    chain: list[Step] = [("sqrt", "accurate")] if setting.kind == "std" else []
    if setting.scalar != 1.0:
        chain += scalar_chain("mul_unary", setting.scalar)
    # The sum of squared distances of a column is divided by its length at once, that of all columns by the rest.
    share = 1 if axis >= COLUMNS else along
    squares = rounded(share / divisor) if divisor else math.inf
    mean = rounded(1.0 / along)
    program.moment("variance", program.tensor(dtype), dtype, mean=mean, squares=squares, chain=chain, output=(0, 0, 1))
    return program


def _run(setting: _Setting, source: Tensor, axis: int, shape: Sequence[int], count: int) -> Tensor:
    """Run the program on a tiled tensor and reshape the result."""
    spec = source.spec
    program = _program(setting, tuple(spec.shape), axis, spec.dtype, count)
    target = TensorSpec.of(shape, spec.dtype, Layout.TILE, DRAM_MEMORY_CONFIG)
    output = allocate(target, on_device(setting.name, source))
    program.run([source], [output])
    return output


def _along(setting: _Setting, source: Tensor, axes: list[int]) -> Tensor:
    """Return the row-major result as a tensor of a tiled shape.

    Args:
        setting: What the call asks for.
        source: In tiles, or in rows that are put into tiles when they lie as the program wants them.
        axes: Ascending.
    """
    name = setting.name
    spec = source.spec
    rank = spec.shape.rank
    shape = list(spec.shape)
    reduced = [1 if axis in axes else size for axis, size in enumerate(shape)]
    if len(axes) > 1:
        # The last two of them become matrices; one element of the result is made of all matrices of the others.
        kept = [axis for axis in range(rank) if axis not in axes]
        order = [*kept, *axes]
        if order != list(range(rank)):
            source = permuted(name, source, order, DRAM_MEMORY_CONFIG, 0.0)
        if source.spec.layout is not Layout.TILE:
            source = tilize_padded(name, source)
        count = math.prod(shape[axis] for axis in axes)
        return _run(setting, source, matrices(len(kept)), [shape[axis] for axis in kept] + [1] * len(axes), count)
    (axis,) = axes
    if spec.layout is not Layout.TILE and (rank > 2 or (axis == rank - 1 and shape[axis] < TILE_SIZE)):
        # Rows and columns give the same, whatever is beside them: as a single matrix they fill the fewest tiles.
        outer, length, inner = math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1 :])
        if axis == rank - 1 and length >= TILE_SIZE:
            return _along(setting, reshaped(name, source, (outer, length)), [1])
        if outer > 1 and length > 1:
            source = reshaped(name, source, (outer, length, inner))
            source = permuted(name, source, (1, 0, 2), DRAM_MEMORY_CONFIG, 0.0)
        return _along(setting, reshaped(name, source, (length, outer * inner)), [0])
    if axis < rank - 2:
        # Another dimension becomes the height.
        order = list(range(rank))
        order[axis], order[-2] = order[-2], order[axis]
        result = _along(setting, permuted(name, source, order, DRAM_MEMORY_CONFIG, 0.0), [rank - 2])
        return permuted(name, result, order, DRAM_MEMORY_CONFIG, 0.0)
    if spec.layout is not Layout.TILE:
        source = tilize_padded(name, source)
    return _run(setting, source, ROWS if axis == rank - 1 else COLUMNS, reduced, shape[axis])


def _moments(
    kind: Kind,
    input_tensor: Tensor,
    dim: int | Sequence[int] | None,
    keepdim: bool,
    memory_config: MemoryConfig | None,
    compute_kernel_config: WormholeComputeKernelConfig | None,
    scalar: float,
    correction: bool,
    _sub_core_grids: CoreRangeSet | None,
) -> Tensor:
    name = f"ttnn.{kind}"
    device = on_device(name, input_tensor)
    spec = input_tensor.spec
    dims = tuple(spec.shape)
    axes = reduced_axes(name, dim, len(dims))
    if memory_config is not None and spec.layout is not Layout.TILE:
        # The tiles are made in this place, too.
        require_allocatable(TensorSpec.of(spec.shape, spec.dtype, Layout.TILE, memory_config))
    place = reduced_place(name, spec, axes, keepdim, memory_config)
    tensor = input_tensor
    if spec.layout is not Layout.TILE and not (spec.memory_config.interleaved and spec.dtype in _DTYPES):
        tensor = tilize_padded(name, input_tensor)
    if spec.dtype not in _DTYPES:
        raise DTypeError(
            f"{name}: input_tensor is {spec.dtype.name}; typecast it to a floating point type first.",
            vendor="Only FLOAT32, BFLOAT16, and BFLOAT8_B are supported for Std/Var reduction - got "
            f"{spec.dtype.cpp_name}",
        )
    full_tiles(name, tensor)
    shape = [1 if axis in axes else size for axis, size in enumerate(dims) if keepdim or axis not in axes]
    if not dims or is_empty(spec):
        output = allocate(TensorSpec.of(shape, spec.dtype, Layout.TILE, place), device)
        if not is_empty(output.spec):
            assert output.buffer is not None
            engine_steps.fill(output.buffer, format=FORMAT_CODE[spec.dtype], value=math.nan)
        return output
    if len(dims) == 1:
        tensor, axes = reshaped(name, tensor, (1, *dims)), [1]
    if compute_kernel_config is None:
        fidelity, dst32 = FIDELITY_NUMBER[MathFidelity.HiFi4], True
    else:
        fidelity = stated_fidelity(name, compute_kernel_config)
        dst32 = compute_kernel_config.fp32_dest_acc_en
    # What is scaled are the elements.
    factor = rounded(as_float(name, scalar, "scalar"))
    setting = _Setting(kind, correction, abs(factor) if kind == "std" else rounded(factor * factor), fidelity, dst32)
    result = reshaped(name, _along(setting, tensor, axes), shape)
    return result if result.spec.memory_config == place else moved_to(result, place)


def _examples(shape: tuple[int, ...], _layout: Layout) -> tuple[tuple[Any, ...], ...]:
    if len(shape) < 2 or min(shape) < 2:
        return ()
    return ((), (-1,), (-2, True), (0,))


def _register(kind: Kind, what: str) -> FastOperation:
    return register(
        Op(
            name=kind,
            signatures=(
                Signature(
                    (
                        INPUT_TENSOR,
                        Param("dim", INT_OR_INTS, None, doc="Dimensions to reduce. Default: all.", example=-1),
                        Param("keepdim", BOOLEAN, False, doc="Whether to keep the reduced dimensions with size 1."),
                    ),
                    (
                        MEMORY_CONFIG_OPTION,
                        Param(
                            "compute_kernel_config",
                            COMPUTE_KERNEL_CONFIG,
                            None,
                            doc="Dst width. Default: 32 bits. No field decides more, for the SFPU computes.",
                        ),
                        Param("scalar", FLOAT, 1.0, doc="Multiplier of the elements."),
                        Param("correction", BOOLEAN, True, doc="Divide by N - 1 instead of N."),
                        SUB_CORE_GRIDS_OPTION,
                    ),
                ),
            ),
            run=partial(_moments, kind),
            doc=f"Return the {what} along `dim`.\n"
            "Shape: [..., D, ...] -> [..., ...], or [..., 1, ...] with `keepdim`.\n"
            "The last two of several dimensions form matrices, whose columns are reduced first and then joined.",
            source="tt-metal `ttnn/cpp/ttnn/operations/reduction/generic`",
            dtypes=_DTYPES,
            layouts=(Layout.TILE, Layout.ROW_MAJOR),
            golden=getattr(golden, kind),
            accuracy=no_bound("for the mean is subtracted"),
            engine=("Pipeline",),
            raises=(
                ("DTypeError", "the input is not floating point."),
                ("ShapeError", "a dimension is out of range, or named twice."),
            ),
            examples=_examples,
        )
    )


std = _register("std", "standard deviation")
var = _register("var", "variance")
