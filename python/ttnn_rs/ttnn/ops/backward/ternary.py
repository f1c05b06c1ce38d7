"""Gradients of functions of three tensors.

Source: https://docs.tenstorrent.com/tt-metal/latest/ttnn/ttnn/api/ttnn.NAME.html, one page for each operator.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ttnn.base.memory_config import MemoryConfig
from ttnn.golden import backward as g
from ttnn.operation.signature import FLOAT, Param, Signature
from ttnn.ops._programs.common import MEMORY_CONFIG_OPTION
from ttnn.ops.backward.constants import ANY
from ttnn.ops.backward.family import (
    GRAD,
    INPUT_A,
    INPUT_A_GRAD,
    INPUT_B,
    INPUT_B_GRAD,
    INPUT_C,
    PASSED_ON,
    REQUIRED_OUTPUTS,
    Gradients,
    check_operands,
    entry,
    output_for,
    required,
)
from ttnn.ops.backward.forward import INF, NAN, Forward, named
from ttnn.tensor.tensor import Tensor

_ALPHA: Final = Param("alpha", FLOAT, doc="Multiplier of the product or quotient.")


def _addcmul(grad: Tensor, x: Tensor, a: Tensor, b: Tensor, alpha: float, place: MemoryConfig | None) -> list[Tensor]:
    with named("ttnn.addcmul_bw"):
        check_operands("ttnn.addcmul_bw", grad_tensor=grad, input_tensor_a=x, input_tensor_b=a, input_tensor_c=b)
        do = Forward(place)
        return [grad, *(do.multiply(do.multiply(grad, other), alpha) for other in (b, a))]


def _addcdiv(grad: Tensor, x: Tensor, a: Tensor, b: Tensor, alpha: float, place: MemoryConfig | None) -> list[Tensor]:
    with named("ttnn.addcdiv_bw"):
        check_operands("ttnn.addcdiv_bw", grad_tensor=grad, input_tensor_a=x, input_tensor_b=a, input_tensor_c=b)
        do = Forward(place)
        inverse = do.reciprocal(b)
        grad_a = do.multiply(do.multiply(grad, alpha), inverse)
        grad_a = do.where(do.eqz(b), do.where(do.eqz(grad), NAN, INF), grad_a)
        product = do.multiply(do.multiply(do.neg(grad), alpha), a)
        # Divided twice: the square of b would overflow or underflow.
        grad_b = do.multiply(do.multiply(product, inverse), inverse)
        grad_b = do.where(do.eqz(b), do.where(do.eqz(grad), NAN, -INF), grad_b)
        return [grad, grad_a, grad_b]


def _lerp(grad: Tensor, a: Tensor, b: Tensor, weight: Tensor | float, place: MemoryConfig | None) -> list[Tensor]:
    with named("ttnn.lerp_bw"):
        do = Forward(place)
        if not isinstance(weight, Tensor):
            check_operands("ttnn.lerp_bw", grad_tensor=grad, input_tensor_a=a, input_tensor_b=b)
            return [do.multiply(grad, 1.0 - weight), do.multiply(grad, weight)]
        check_operands("ttnn.lerp_bw", grad_tensor=grad, input_tensor_a=a, input_tensor_b=b, input_tensor_c=weight)
        return [
            do.multiply(grad, do.rsub(weight, 1.0)),
            do.multiply(grad, weight),
            do.multiply(grad, do.subtract(b, a)),
        ]


def _where(
    grad: Tensor,
    condition: Tensor,
    a: Tensor,
    b: Tensor,
    place: MemoryConfig | None,
    mask: Sequence[bool],
    grad_a: Tensor | None,
    grad_b: Tensor | None,
) -> Gradients:
    name = "ttnn.where_bw"
    with named(name):
        check_operands(name, grad_tensor=grad, input_tensor_a=condition, input_tensor_b=a, input_tensor_c=b)
        required(name, mask)
        result: Gradients = [None, None]
        branches = ((a, grad_a, "input_a_grad"), (b, grad_b, "input_b_grad"))
        for i, (operand, output, label) in enumerate(branches):
            if mask[i]:
                options = {}
                if output is not None:
                    options["output_tensor"] = output_for(name, place, operand, output, label)[1]
                true, false = (0.0, grad) if i else (grad, 0.0)
                result[i] = Forward(place).where(condition, true, false, **options)
        return result


addcmul_bw = entry(
    "addcmul_bw",
    (Signature((GRAD, INPUT_A, INPUT_B, INPUT_C, _ALPHA), (MEMORY_CONFIG_OPTION,)),),
    _addcmul,
    "grad, grad * alpha * c, grad * alpha * b",
    g.addcmul,
    rows=True,
    note="The first gradient is `grad_tensor` itself.",
    ulp=(0.5, 0.5, 0.574),
)
addcdiv_bw = entry(
    "addcdiv_bw",
    (Signature((GRAD, INPUT_A, INPUT_B, INPUT_C, _ALPHA), (MEMORY_CONFIG_OPTION,)),),
    _addcdiv,
    "grad, grad * alpha / c, -grad * alpha * b / c^2",
    g.addcdiv,
    note="The first gradient is `grad_tensor` itself. Where c is 0, the second and third gradient are infinity and "
    "-infinity for any sign of grad, and NaN where grad is 0.",
    ulp=(3.02, 3.33, 2.26),
)
lerp_bw = entry(
    "lerp_bw",
    (
        Signature((GRAD, INPUT_A, INPUT_B, INPUT_C), (MEMORY_CONFIG_OPTION,)),
        Signature((GRAD, INPUT_A, INPUT_B, Param("scalar", FLOAT, doc="Weight, a scalar.")), (MEMORY_CONFIG_OPTION,)),
    ),
    _lerp,
    "grad * (1 - weight), grad * weight, grad * (b - a)",
    g.lerp,
    rows=True,
    note="The list has a third element only if the weight is a tensor.",
    ulp=(1.55, 1.43, 0.826),
)
where_bw = entry(
    "where_bw",
    (
        Signature(
            (GRAD, INPUT_A, INPUT_B, INPUT_C),
            (MEMORY_CONFIG_OPTION, REQUIRED_OUTPUTS, INPUT_A_GRAD, INPUT_B_GRAD),
        ),
    ),
    _where,
    "grad where the condition is not 0 else 0, grad where the condition is 0 else 0",
    g.where,
    dtypes=ANY,
    rows=True,
    note="The condition, `input_tensor_a`, has no gradient.",
    ulp=PASSED_ON,
)
