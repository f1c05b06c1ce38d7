"""`moreh_sum_backward` and `moreh_mean_backward`: gradients of sums and means.

Source: tt-metal `ttnn/cpp/ttnn/operations/moreh`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Final

from ttnn.base.compute_config import WormholeComputeKernelConfig
from ttnn.base.enums import TILE_SIZE, DataType, Layout
from ttnn.base.exceptions import DTypeError, LayoutError, ShapeError
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, MemoryConfig
from ttnn.base.shape import Shape
from ttnn.base.tensor_spec import TensorSpec
from ttnn.golden import moreh as golden
from ttnn.operation.accuracy import bit_exact, no_bound
from ttnn.operation.domain import Operand
from ttnn.operation.registry import declare
from ttnn.operation.signature import BOOLEAN, COMPUTE_KERNEL_CONFIG, INT_OR_INTS, SHAPE_LIKE, TENSOR, Param, Signature
from ttnn.ops._programs.common import MEMORY_CONFIG_OPTION, allocate, on_device, same_device, take_output
from ttnn.ops._programs.element_map import copy_into, strides_of
from ttnn.ops._programs.movement import move
from ttnn.ops._programs.pipeline import ROWS, Pipeline, truncated
from ttnn.ops.moreh.reductions import Settings, settings_of
from ttnn.ops.reduction.generic import reduced_axes
from ttnn.tensor.tensor import Tensor


def _sum_backward(
    output_grad: Tensor,
    input: Tensor | None,
    dim: int | Sequence[int] | None,
    keepdim: bool,
    input_grad: Tensor | None,
    memory_config: MemoryConfig | None,
    _compute_kernel_config: WormholeComputeKernelConfig | None,
    name: str = "ttnn.moreh_sum_backward",
) -> Tensor:
    device = on_device(name, output_grad, "output_grad")
    like = input if input is not None else input_grad
    if like is None:
        raise ShapeError(
            f"{name}: neither input nor input_grad is given; one of them must define the shape.",
            vendor="either input or input_grad must have a value",
        )
    for label, tensor in (("input", input), ("input_grad", input_grad)):
        if tensor is not None:
            same_device(name, device, tensor, label)
    spec = output_grad.spec
    if spec.dtype is not DataType.BFLOAT16 or like.spec.dtype is not DataType.BFLOAT16:
        raise DTypeError(f"{name}: output_grad is {spec.dtype.name}, the input {like.spec.dtype.name}; use BFLOAT16.")
    if spec.layout is not Layout.TILE or like.spec.layout is not Layout.TILE:
        raise LayoutError(f"{name}: tensors must be tiled; convert them with ttnn.to_layout(..., ttnn.TILE_LAYOUT).")
    shape = tuple(like.spec.shape)
    rank = len(shape)
    axes = set(reduced_axes(name, None if isinstance(dim, Sequence) and not dim else dim, rank))
    reduced = tuple(1 if axis in axes else size for axis, size in enumerate(shape))
    given = tuple(spec.shape)
    # Official programs read the first row and column of tiles: a gradient may have them in full.
    tiles = tuple(TILE_SIZE if axis in axes and axis >= rank - 2 else size for axis, size in enumerate(reduced))
    forms = {kept: whole for whole in (tiles, reduced) for kept in (whole, _squeezed(whole, axes))}
    whole = forms.get(given, reduced)
    if given not in forms and (
        given != tuple(size for axis, size in enumerate(shape) if axis not in axes)
        and [size for size in given if size != 1] != [size for size in reduced if size != 1]
    ):
        kept = "with" if keepdim else "with or without"
        raise ShapeError(f"{name}: output_grad has shape {list(given)}; it must be {list(reduced)}, {kept} sizes of 1.")
    strides = [0 if axis in axes else stride for axis, stride in enumerate(strides_of(whole))]
    if input_grad is not None:
        target = take_output(name, input_grad, shape, Layout.TILE, device, dtype=spec.dtype)
        copy_into(_spread(output_grad, shape, strides, DRAM_MEMORY_CONFIG), target)
        return target
    return _spread(output_grad, shape, strides, memory_config or spec.memory_config)


def _squeezed(shape: Sequence[int], axes: set[int]) -> tuple[int, ...]:
    """Return a shape without its reduced leading dimensions."""
    return tuple(size for axis, size in enumerate(shape) if axis not in axes or axis >= len(shape) - 2)


def _mean_backward(
    output_grad: Tensor,
    dim: int | Sequence[int] | None,
    keepdim: bool,
    input_grad_shape: Shape | None,
    input_grad: Tensor | None,
    memory_config: MemoryConfig | None,
    compute_kernel_config: WormholeComputeKernelConfig | None,
) -> Tensor:
    name = "ttnn.moreh_mean_backward"
    device = on_device(name, output_grad, "output_grad")
    if input_grad is None and input_grad_shape is None:
        raise ShapeError(
            f"{name}: neither input_grad nor input_grad_shape is given; one of them must define the shape.",
            vendor="bad optional access",
        )
    shape = tuple(input_grad.spec.shape if input_grad is not None else input_grad_shape or ())
    like = allocate(TensorSpec.of(shape, DataType.BFLOAT16, Layout.TILE, DRAM_MEMORY_CONFIG), device)
    if input_grad is not None:
        take_output(name, input_grad, shape, Layout.TILE, device, dtype=DataType.BFLOAT16)
    axes = reduced_axes(name, dim, len(shape))
    spread = _sum_backward(output_grad, like, dim, keepdim, None, DRAM_MEMORY_CONFIG, None, name)
    count = math.prod(shape[axis] for axis in axes)
    place = memory_config or output_grad.spec.memory_config
    target = input_grad or allocate(TensorSpec.of(shape, DataType.BFLOAT16, Layout.TILE, place), device)
    if spread.spec.num_pages:
        scaled = allocate(spread.spec, device)
        _scaling(spread.spec.num_pages, count, settings_of(compute_kernel_config)).run([spread], [scaled])
        copy_into(scaled, target)
    return target


@lru_cache(maxsize=64)
def _scaling(tiles: int, count: int, settings: Settings) -> Pipeline:
    """Return the program that multiplies by 1 / count.

    Its reader truncates the factor to bfloat16.
    """
    fidelity, dst32 = settings
    program = Pipeline((32, 32 * tiles), ROWS, DataType.BFLOAT16, dst32, fidelity)
    factor = program.constant(DataType.BFLOAT16, truncated(1.0 / count))
    program.eltwise("mul", program.tensor(DataType.BFLOAT16), factor, DataType.BFLOAT16, output=0)
    return program


def _spread(source: Tensor, shape: Sequence[int], strides: Sequence[int], place: MemoryConfig) -> Tensor:
    """Return elements repeated along dimensions, through Dst.

    Each is added to 0 there.
    """
    target = TensorSpec.of(shape, DataType.BFLOAT16, Layout.TILE, place)
    return move(source, target, strides=strides, through_dst=True)


_declare: Final = partial(declare, source="tt-metal `ttnn/cpp/ttnn/operations/moreh`")


moreh_sum_backward = _declare(
    "moreh_sum_backward",
    (
        Signature(
            (Param("output_grad", TENSOR, doc="The gradient of the sum.", example=Operand((1, 1, 64, 1))),),
            (
                Param("input", TENSOR, None, doc="[..., H, W]: what was summed.", example=Operand((1, 1, 64, 128))),
                Param("dim", INT_OR_INTS, None, doc="Dimensions that were summed. Default: all.", example=-1),
                Param("keepdim", BOOLEAN, False, doc="Whether they were kept with size 1; both shapes are accepted."),
                Param("input_grad", TENSOR, None, doc="Preallocated output."),
                MEMORY_CONFIG_OPTION,
                Param("compute_kernel_config", COMPUTE_KERNEL_CONFIG, None, doc="Ignored: elements are copied."),
            ),
        ),
    ),
    _sum_backward,
    "Return the gradient of a sum: the broadcast output gradient.\nShape: [..., H, 1] -> [..., H, W].",
    dtypes=(DataType.BFLOAT16,),
    layouts=(Layout.TILE,),
    golden=golden.moreh_sum_backward,
    accuracy=bit_exact(),
    engine=("move_elements",),
    raises=(
        ("ShapeError", "shapes do not fit, or none is given."),
        ("DTypeError", "a tensor is not bfloat16."),
        ("LayoutError", "a tensor is row-major."),
    ),
    examples=(),
)


moreh_mean_backward = _declare(
    "moreh_mean_backward",
    (
        Signature(
            (Param("output_grad", TENSOR, doc="The gradient of the mean.", example=Operand((1, 1, 64, 1))),),
            (
                Param("dim", INT_OR_INTS, None, doc="Dimensions of the mean. Default: all.", example=-1),
                Param("keepdim", BOOLEAN, False, doc="Whether they were kept with size 1; both shapes are accepted."),
                Param("input_grad_shape", SHAPE_LIKE, None, doc="Shape of the output.", example=Shape([1, 1, 64, 128])),
                Param("input_grad", TENSOR, None, doc="Preallocated output.", example=Operand((1, 1, 64, 128))),
                MEMORY_CONFIG_OPTION,
                Param(
                    "compute_kernel_config",
                    COMPUTE_KERNEL_CONFIG,
                    None,
                    doc="Math fidelity and Dst width. Default: HiFi4, 16 bits.",
                ),
            ),
        ),
    ),
    _mean_backward,
    "Return a mean's gradient: the broadcast output gradient over the count.\n"
    "Shape: [..., H, 1] -> [..., H, W]. The factor is truncated to bfloat16.",
    dtypes=(DataType.BFLOAT16,),
    layouts=(Layout.TILE,),
    golden=golden.moreh_mean_backward,
    accuracy=no_bound("for the factor is truncated to bfloat16"),
    engine=("move_elements", "Pipeline"),
    raises=(
        ("ShapeError", "shapes do not fit, or none is given."),
        ("DTypeError", "a tensor is not bfloat16."),
        ("LayoutError", "a tensor is row-major."),
    ),
    examples=(),
)
