"""Losses: the difference with one activation in Dst, then a reduction.

Source: tt-metal `ttnn/cpp/ttnn/operations/loss`; TT-NN docs of the operators.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from ttnn.base.activation import UnaryWithParam
from ttnn.base.enums import DataType, Layout, LossReductionMode, UnaryOpType
from ttnn.base.exceptions import UnsupportedError
from ttnn.base.memory_config import MemoryConfig
from ttnn.golden import losses as golden
from ttnn.operation.accuracy import max_ulp
from ttnn.operation.registry import FastOperation, Op, register
from ttnn.operation.signature import TENSOR, Param, Signature, instance_kind
from ttnn.ops._programs.common import MEMORY_CONFIG_OPTION, OUTPUT_TENSOR_OPTION
from ttnn.ops.eltwise.binary import subtract
from ttnn.ops.eltwise.unary.family import FLOAT_INPUTS
from ttnn.ops.reduction.generic import mean, sum
from ttnn.tensor.tensor import Tensor

_32_BITS: Final = (DataType.INT32, DataType.UINT32)


def _loss(
    name: str,
    op_type: UnaryOpType,
    reference: Tensor,
    prediction: Tensor,
    reduction: LossReductionMode,
    memory_config: MemoryConfig | None,
    output_tensor: Tensor | None,
) -> Tensor:
    if reduction is not LossReductionMode.NONE and output_tensor is not None:
        raise UnsupportedError(f"{name}: output_tensor with reduction={reduction} is not modelled; leave one out.")
    options: dict[str, Any] = {"memory_config": memory_config, "output_tensor": output_tensor}
    result: Tensor = subtract(reference, prediction, activations=[UnaryWithParam(op_type)], **options)
    if reduction is LossReductionMode.NONE:
        return result
    reduce = sum if reduction is LossReductionMode.SUM else mean
    reduced: Tensor = reduce(result, memory_config=memory_config or reference.spec.memory_config)
    return reduced


_TENSORS: Final = (
    Param("input_reference", TENSOR, doc="[..., H, W] on a device."),
    Param("input_prediction", TENSOR, doc="Tensor whose shape can be broadcast with that of `input_reference`."),
)
_REDUCTION: Final = Param(
    "reduction",
    instance_kind("ttnn.LossReductionMode", LossReductionMode),
    LossReductionMode.NONE,
    doc="NONE for the element-wise loss, SUM or MEAN for one value of shape [].",
)


def _register(name: str, op_type: UnaryOpType, what: str, function: Callable[..., Any]) -> FastOperation:
    # Differences of unsigned integers wrap: their squares are right, their magnitudes are not. The magnitude of int32
    # is the function of float32 on the word.
    integers = () if op_type is UnaryOpType.ABS else _32_BITS
    return register(
        Op(
            name=name,
            signatures=(Signature(_TENSORS, (_REDUCTION, MEMORY_CONFIG_OPTION, OUTPUT_TENSOR_OPTION)),),
            run=partial(_loss, f"ttnn.{name}", op_type),
            doc=f"Return the {what} differences of both tensors, or their sum or mean.\n"
            "Shape: [..., H, W], [..., H, W] -> [..., H, W], or [] with a reduction.",
            source="tt-metal `ttnn/cpp/ttnn/operations/loss`",
            dtypes=(*FLOAT_INPUTS, *integers),
            reference=integers,
            layouts=(Layout.TILE, Layout.ROW_MAJOR),
            golden=function,
            # The FPU aligns the operands to ten bits below the larger one.
            accuracy=max_ulp((DataType.BFLOAT16, 3), (DataType.FLOAT32, 4), magnitude=golden.terms(name)),
            composition=True,
            family="binary",
            raises=(
                ("ShapeError", "the shapes cannot be broadcast."),
                ("DTypeError", "floating-point and integer tensors are mixed."),
                ("StorageError", "a tensor is on the host, deallocated or on another device."),
                ("UnsupportedError", "`output_tensor` is given with a reduction."),
            ),
        )
    )


l1_loss = _register("l1_loss", UnaryOpType.ABS, "absolute", golden.l1_loss)
mse_loss = _register("mse_loss", UnaryOpType.SQUARE, "squared", golden.mse_loss)
