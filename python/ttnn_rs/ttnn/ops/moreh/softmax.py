"""Softmax, softmin and log-softmax of the moreh family.

Results between the passes have the data type of the input, and with a 32-bit Dst that of Dst.

Source: tt-metal `ttnn/cpp/ttnn/operations/moreh/moreh_softmax`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from ttnn.base.compute_config import WormholeComputeKernelConfig
from ttnn.base.enums import DataType, Layout
from ttnn.base.exceptions import DTypeError, ParameterError, UnsupportedError
from ttnn.base.memory_config import MemoryConfig
from ttnn.base.op_enums import MorehSoftmaxOp, MorehSoftmaxOpParallelizationStrategy
from ttnn.base.tensor_spec import TensorSpec
from ttnn.base.tile import tile_bytes
from ttnn.golden import moreh as golden
from ttnn.operation.accuracy import no_bound
from ttnn.operation.registry import FastOperation, Op, register
from ttnn.operation.signature import INTEGER, TENSOR, Param, Signature, instance_kind
from ttnn.ops._programs.common import (
    INPUT_TENSOR,
    MEMORY_CONFIG_OPTION,
    allocate,
    dimension,
    is_empty,
    on_device,
    take_output,
)
from ttnn.ops._programs.element_map import copy_into
from ttnn.ops.moreh.checks import COMPUTE, numerics_of
from ttnn.ops.moreh.reductions import check_input
from ttnn.ops.moreh.strategy import is_large
from ttnn.ops.normalization.softmax_programs import Form, Numerics, channel, general
from ttnn.tensor.tensor import Tensor

_FORMS: Final[dict[MorehSoftmaxOp, Form]] = {
    MorehSoftmaxOp.SOFTMAX: "softmax",
    MorehSoftmaxOp.SOFTMIN: "softmin",
    MorehSoftmaxOp.LOGSOFTMAX: "logsoftmax",
}


def _softmax(
    default: MorehSoftmaxOp,
    input_tensor: Tensor,
    dim: int,
    output_tensor: Tensor | None,
    op: MorehSoftmaxOp,
    strategy: MorehSoftmaxOpParallelizationStrategy,
    memory_config: MemoryConfig | None,
    compute_kernel_config: WormholeComputeKernelConfig | None,
) -> Tensor:
    name = f"ttnn.moreh_{_FORMS[default]}"
    check_input(name, input_tensor, (DataType.BFLOAT16, DataType.BFLOAT8_B, DataType.FLOAT32))
    if op is not default:
        raise ParameterError(f"{name}: op={op} is another operator; call ttnn.moreh_{_FORMS[op]}.")
    spec, device = input_tensor.spec, on_device(name, input_tensor)
    rank = max(spec.shape.rank, 1)
    axis = dimension(name, dim, rank) - rank
    if output_tensor is not None:
        output_tensor = take_output(name, output_tensor, spec.shape._dims, Layout.TILE, device, dtype=spec.dtype)
    place = memory_config or spec.memory_config
    target = output_tensor or allocate(TensorSpec.of(spec.shape, spec.dtype, Layout.TILE, place), device)
    numerics = numerics_of(spec.dtype, compute_kernel_config)
    if spec.dtype is DataType.FLOAT32 and not numerics.dst32:
        raise DTypeError(
            f"{name}: FLOAT32 needs a 32-bit Dst; pass a compute_kernel_config with fp32_dest_acc_en=True.",
            vendor="FP32 destination accumulation must be enabled when input tensor has FLOAT32 data type.",
        )
    shape = (1, 1, *spec.shape)[-max(rank, 2) :]
    form = _FORMS[default]
    large = is_large(name, strategy.name, shape, axis, device, partial(_l1_bytes, numerics))
    if is_empty(spec):
        return target
    if axis < -2:
        program = channel(shape, axis + rank, numerics, form)
    elif large and form == "softmin":
        raise UnsupportedError(
            f"{name}: the kernel of large tensors takes exp(-x) for the last tile of a line and exp(max - x) for the "
            "others; that is not modelled. Split the tensor."
        )
    else:
        program = general(shape, axis, numerics, numerics.between, form, large)
    result = target if output_tensor is None else allocate(spec, device)
    program.run([input_tensor], [result])
    if output_tensor is not None:
        copy_into(result, output_tensor)
    return target


def _l1_bytes(numerics: Numerics, tiles: int) -> int:
    """Return the small program's circular buffer bytes for a line length."""
    return (2 * tiles + 2) * tile_bytes(numerics.dtype) + (2 * tiles + 3) * tile_bytes(numerics.between)


def _examples(shape: tuple[int, ...], layout: Layout) -> tuple[tuple[Any, ...], ...]:
    return tuple((dim,) for dim in range(-min(len(shape), 3), 0)) if layout is Layout.TILE else ()


def _register(op: MorehSoftmaxOp, what: str, reference: Callable[..., Any]) -> FastOperation:
    return register(
        Op(
            name=f"moreh_{_FORMS[op]}",
            signatures=(
                Signature(
                    (INPUT_TENSOR, Param("dim", INTEGER, doc="Dimension of the function.", example=-1)),
                    (
                        Param("output_tensor", TENSOR, None, doc="Preallocated output, of the input's shape."),
                        Param("op", instance_kind("ttnn.MorehSoftmaxOp", MorehSoftmaxOp), op, doc="This operator."),
                        Param(
                            "strategy",
                            instance_kind(
                                "ttnn.MorehSoftmaxOpParallelizationStrategy", MorehSoftmaxOpParallelizationStrategy
                            ),
                            MorehSoftmaxOpParallelizationStrategy.NONE,
                            doc="Whether lines are added by the kernel of small or of large tensors.",
                        ),
                        MEMORY_CONFIG_OPTION,
                        COMPUTE,
                    ),
                ),
            ),
            run=partial(_softmax, op),
            doc=f"Return {what} along `dim`.\nShape: [..., H, W] -> [..., H, W].",
            source="tt-metal `ttnn/cpp/ttnn/operations/moreh/moreh_softmax`",
            dtypes=(DataType.BFLOAT16, DataType.BFLOAT8_B),
            layouts=(Layout.TILE,),
            golden=reference,
            accuracy=no_bound("for the error grows with the exponent"),
            engine=("Pipeline",),
            raises=(
                ("DTypeError", "the data type is not supported."),
                ("LayoutError", "the input is row-major."),
                ("ShapeError", "`dim` is out of range."),
                ("ParameterError", "`op` is another operator, or `strategy` is for another dimension."),
            ),
            examples=_examples,
        )
    )


moreh_softmax = _register(MorehSoftmaxOp.SOFTMAX, "the softmax `exp(x) / sum(exp(x))`", golden.moreh_softmax)
moreh_softmin = _register(MorehSoftmaxOp.SOFTMIN, "the softmin `exp(-x) / sum(exp(-x))`", golden.moreh_softmin)
moreh_logsoftmax = _register(
    MorehSoftmaxOp.LOGSOFTMAX, "the log-softmax `x - log(sum(exp(x)))`", golden.moreh_logsoftmax
)
