"""Gradients of softmax, softmin and log-softmax of the moreh family.

Source: tt-metal `ttnn/cpp/ttnn/operations/moreh/moreh_softmax_backward`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, Final

from ttnn.base.enums import DataType, Layout
from ttnn.base.exceptions import ParameterError, UnsupportedError
from ttnn.base.memory_config import MemoryConfig
from ttnn.base.op_enums import MorehSoftmaxBackwardOp, MorehSoftmaxBackwardOpParallelizationStrategy
from ttnn.golden import moreh as golden
from ttnn.operation.accuracy import no_bound
from ttnn.operation.domain import Operand as Example
from ttnn.operation.registry import FastOperation, declare
from ttnn.operation.signature import INTEGER, TENSOR, Param, Signature, instance_kind
from ttnn.ops._programs.common import MEMORY_CONFIG_OPTION, dimension, is_empty
from ttnn.ops._programs.pipeline import COLUMNS, ROWS, Chain, Operand, Pipeline, bits
from ttnn.ops.moreh.checks import BF16, COMPUTE, Compute, Result, check_operand, check_shape, numerics_of
from ttnn.ops.moreh.strategy import is_large
from ttnn.ops.normalization.softmax_programs import Form, Numerics
from ttnn.tensor.tensor import Tensor

_FORMS: Final[dict[MorehSoftmaxBackwardOp, Form]] = {
    MorehSoftmaxBackwardOp.SOFTMAX: "softmax",
    MorehSoftmaxBackwardOp.SOFTMIN: "softmin",
    MorehSoftmaxBackwardOp.LOGSOFTMAX: "logsoftmax",
}
_ONE: Final = (BF16, bits(1.0))
_SIGN: Final[dict[Form, Chain]] = {"softmax": (), "softmin": [("neg", "default")]}


def _total(program: Pipeline, dy: Operand, numerics: Numerics, large: bool) -> Operand:
    """Add the gradient's sum along rows or columns; padding counts 0."""
    wide, length = numerics.between, program.length
    masked = program.copy(dy, wide, padding="zero")
    if large:
        return program.sum([(program.fold(masked, wide, by="add"), 0, 1)], _ONE, wide)
    if length == 1:
        return program.sum(masked, _ONE, wide)
    first = program.sum([(dy, 0, length - 1)], _ONE, wide)
    last = program.sum([(masked, length - 1, length)], _ONE, wide)
    return program.eltwise("add", first, last, wide)


@lru_cache(maxsize=256)
def _inner(shape: tuple[int, ...], axis: int, numerics: Numerics, form: Form, large: bool) -> Pipeline:
    """Return the gradient along rows or columns.

    It follows from the output and its gradient.
    """
    program, wide = numerics.pipeline(shape, axis), numerics.between
    y, dy = program.tensor(numerics.dtype), program.tensor(numerics.dtype)
    if form == "logsoftmax":
        total = _total(program, dy, numerics, large)
        exps = program.copy(y, wide, [("exp", "accurate")])
        product = program.eltwise("mul", exps, total, wide)
        program.eltwise("sub", dy, product, numerics.dtype, output=0)
        return program
    product = program.eltwise("mul", y, dy, wide, padding="zero")
    if large:
        total = program.sum([(program.fold(product, wide, by="add"), 0, 1)], _ONE, wide)
    else:
        total = program.sum(product, _ONE, wide)
    distance = program.eltwise("sub", dy, total, wide)
    program.eltwise("mul", y, distance, numerics.dtype, _SIGN[form], output=0)
    return program


@lru_cache(maxsize=256)
def _leading(shape: tuple[int, ...], axis: int, numerics: Numerics, form: Form) -> Pipeline:
    """Return the gradient along a leading dimension, in ascending tile order."""
    program, wide = numerics.pipeline(shape, axis), numerics.between
    y, dy = program.tensor(numerics.dtype), program.tensor(numerics.dtype)
    if form == "logsoftmax":
        total = program.fold(dy, wide, by="add")
        exps = program.copy(y, wide, [("exp", "accurate")])
        product = program.eltwise("mul", total, exps, wide)
        program.eltwise("sub", dy, product, numerics.dtype, output=0)
        return program
    total = program.fold(program.eltwise("mul", y, dy, wide), wide, by="add")
    distance = program.eltwise("sub", dy, total, wide)
    program.eltwise("mul", distance, y, numerics.dtype, _SIGN[form], output=0)
    return program


def _backward(
    default: MorehSoftmaxBackwardOp,
    output_tensor: Tensor,
    output_grad_tensor: Tensor,
    dim: int,
    input_grad_tensor: Tensor | None,
    op: MorehSoftmaxBackwardOp,
    strategy: MorehSoftmaxBackwardOpParallelizationStrategy,
    memory_config: MemoryConfig | None,
    compute_kernel_config: Compute,
) -> Tensor:
    form = _FORMS[default]
    name = f"ttnn.moreh_{form}_backward"
    place = "Operands to softmax need to be on device!"
    taken = (BF16, DataType.BFLOAT8_B)
    device = check_operand(
        name,
        "output_tensor",
        output_tensor,
        None,
        taken,
        vendor=(place, "Output to softmax must be tilized", "Output_tensor dtype should be bfloat16 or bfloat8_b"),
    )
    check_operand(
        name,
        "output_grad_tensor",
        output_grad_tensor,
        device,
        taken,
        vendor=(
            place,
            "Output_grad to softmax must be tilized",
            "Output_tensor_grad dtype should be bfloat16 or bfloat8_b",
        ),
    )
    spec = output_tensor.spec
    if DataType.BFLOAT8_B in (spec.dtype, output_grad_tensor.spec.dtype):
        raise UnsupportedError(
            f"{name}: BFLOAT8_B is not modelled; the reader writes scaler and mask as bfloat16 into buffers of "
            "bfloat8_b. Typecast both tensors to bfloat16."
        )
    check_shape(name, "output_grad_tensor", output_grad_tensor, tuple(spec.shape))
    if op is not default:
        raise ParameterError(f"{name}: op={op} is another operator; call ttnn.moreh_{_FORMS[op]}_backward.")
    rank = max(spec.shape.rank, 1)
    axis = dimension(name, dim, rank) - rank
    result = Result(name, spec.shape._dims, spec.dtype, memory_config or spec.memory_config, device, input_grad_tensor)
    shape = (1, 1, *spec.shape)[-max(rank, 2) :]
    large = is_large(name, strategy.name, shape, axis, device, _l1_bytes)
    if is_empty(spec):
        return result.tensor()
    numerics = numerics_of(spec.dtype, compute_kernel_config)
    if axis in (ROWS, COLUMNS):
        program = _inner(shape, axis, numerics, form, large)
    else:
        program = _leading(shape, axis + rank, numerics, form)
    program.run([output_tensor, output_grad_tensor], [result.written])
    return result.tensor()


def _l1_bytes(tiles: int) -> int:
    """Return the small program's circular buffer bytes for a line length."""
    return (3 * tiles + 6) * 2048


def _examples(shape: tuple[int, ...], layout: Layout) -> tuple[tuple[Any, ...], ...]:
    if layout is not Layout.TILE:
        return ()
    return tuple((Example(shape), dim) for dim in range(-min(len(shape), 3), 0))


def _register(op: MorehSoftmaxBackwardOp, what: str, reference: Callable[..., Any]) -> FastOperation:
    kind = instance_kind("ttnn.MorehSoftmaxBackwardOp", MorehSoftmaxBackwardOp)
    strategies = instance_kind(
        "ttnn.MorehSoftmaxBackwardOpParallelizationStrategy", MorehSoftmaxBackwardOpParallelizationStrategy
    )
    operation = declare(
        f"moreh_{_FORMS[op]}_backward",
        (
            Signature(
                (
                    Param("output_tensor", TENSOR, doc="[..., H, W]: what the function returned."),
                    Param("output_grad_tensor", TENSOR, doc="[..., H, W]: the gradient of it."),
                    Param("dim", INTEGER, doc="Dimension of the function.", example=-1),
                ),
                (
                    Param("input_grad_tensor", TENSOR, None, doc="Preallocated output, of the same shape."),
                    Param("op", kind, op, doc="This operator."),
                    Param(
                        "strategy",
                        strategies,
                        MorehSoftmaxBackwardOpParallelizationStrategy.NONE,
                        doc="Whether lines are added by the kernel of small or of large tensors.",
                    ),
                    MEMORY_CONFIG_OPTION,
                    COMPUTE,
                ),
            ),
        ),
        partial(_backward, op),
        f"Return the gradient of the {_FORMS[op]}: {what}.\nShape: [..., H, W], [..., H, W] -> [..., H, W].",
        source="tt-metal `ttnn/cpp/ttnn/operations/moreh/moreh_softmax_backward`",
        dtypes=(BF16,),
        layouts=(Layout.TILE,),
        golden=reference,
        accuracy=no_bound("for the sum along `dim` is subtracted"),
        engine=("Pipeline",),
        raises=(
            ("DTypeError", "a data type is not supported."),
            ("LayoutError", "a tensor is row-major."),
            ("ShapeError", "`dim` is out of range, or shapes differ."),
            ("ParameterError", "`op` is another operator, or `strategy` is for another dimension."),
            ("UnsupportedError", "a tensor is BFLOAT8_B."),
        ),
        examples=_examples,
    )
    # `output_tensor` is an operand.
    operation.output_tensor_kwarg_names = ("input_grad_tensor",)
    return operation


moreh_softmax_backward = _register(
    MorehSoftmaxBackwardOp.SOFTMAX, "`(dy - sum(y * dy)) * y`", golden.moreh_softmax_backward
)
moreh_softmin_backward = _register(
    MorehSoftmaxBackwardOp.SOFTMIN, "`-(dy - sum(y * dy)) * y`", golden.moreh_softmin_backward
)
moreh_logsoftmax_backward = _register(
    MorehSoftmaxBackwardOp.LOGSOFTMAX, "`dy - sum(dy) * exp(y)`", golden.moreh_logsoftmax_backward
)
