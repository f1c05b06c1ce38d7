"""`ttnn.addmm`: a matrix product and the element-wise operators around it.

Source: TT-NN docs "ttnn.addmm"; the operators that the official package runs for it.
"""

from __future__ import annotations

from typing import Any, Final

from ttnn.base.enums import DataType, Layout
from ttnn.base.exceptions import DTypeError, ParameterError, ShapeError
from ttnn.golden import matmul as golden
from ttnn.operation.registry import Op, register
from ttnn.operation.signature import FLOAT, TENSOR, Param, Signature
from ttnn.ops._programs.common import on_device
from ttnn.tensor.dunders import operation
from ttnn.tensor.tensor import Tensor

from .matmul import GROWS_WITH_K, RAISES, product
from .signatures import PRODUCT_OPTIONS

_NAME: Final = "ttnn.addmm"
_DTYPES: Final = (DataType.BFLOAT16, DataType.FLOAT32, DataType.BFLOAT8_B)


def _check_shape(tensor: Tensor, left: Tensor, right: Tensor) -> None:
    """Refuse a matrix that is added to a product of another shape.

    Raises:
        ShapeError: rows or columns differ.
    """
    shape, rows, columns = (tuple(of.spec.shape) for of in (tensor, left, right))
    if min(len(shape), len(rows), len(columns)) < 2 or (shape[0], shape[1]) == (rows[0], columns[1]):
        return
    raise ShapeError(
        f"{_NAME}: input_tensor has shape {list(shape)}; a product of {list(rows)} and {list(columns)} takes "
        f"[{rows[0]}, {columns[1]}].",
        vendor="input_tensor must have shape matching one of result of mat1_tensor @ mat2_tensor",
    )


def _addmm(
    input_tensor: Tensor,
    mat1_tensor: Tensor,
    mat2_tensor: Tensor,
    alpha: float,
    beta: float,
    *options: Any,
) -> Tensor:
    operands = (("input_tensor", input_tensor), ("mat1_tensor", mat1_tensor), ("mat2_tensor", mat2_tensor))
    for label, tensor in operands:
        if tensor.spec.dtype not in _DTYPES:
            raise DTypeError(
                f"{_NAME}: {label} is {tensor.spec.dtype.name}; typecast it first.",
                vendor=f"only ttnn.bfloat16, ttnn.float32 and ttnn.bfloat8_b types are supported for {label}",
            )
    if alpha == 0.0:
        raise ParameterError(
            f"{_NAME}: alpha is 0, which leaves no matmul; multiply input_tensor by beta instead.",
            vendor="alpha parameter cannot be 0",
        )
    output = options[-1]
    if beta != 0.0:
        on_device(_NAME, input_tensor)
        _check_shape(input_tensor, mat1_tensor, mat2_tensor)
    result = product(_NAME, mat1_tensor, mat2_tensor, *options)
    if alpha != 1.0:
        result = operation("multiply_")(result, alpha)
    if beta == 0.0:
        return result
    addend = input_tensor if beta == 1.0 else operation("multiply")(input_tensor, beta)
    total: Tensor = operation("add")(result, addend, output_tensor=output)
    return total


addmm = register(
    Op(
        name="addmm",
        signatures=(
            Signature(
                (
                    Param("input_tensor", TENSOR, doc="[..., M, N] on a device: added to the matmul."),
                    Param("mat1_tensor", TENSOR, doc="[..., M, K] on a device, in TILE_LAYOUT."),
                    Param("mat2_tensor", TENSOR, doc="[..., K, N]."),
                ),
                (
                    Param("alpha", FLOAT, 1.0, doc="Multiplier of the matmul, not 0."),
                    Param("beta", FLOAT, 1.0, doc="Multiplier of `input_tensor`. With 0 it is not read."),
                    *PRODUCT_OPTIONS,
                ),
            ),
        ),
        run=_addmm,
        doc="Return `beta * input_tensor + alpha * (mat1_tensor @ mat2_tensor)`.\n"
        "Shape: [..., M, K], [..., K, N] -> [..., M, N].\n"
        "The operators run one after the other, and each of them rounds.",
        dtypes=_DTYPES,
        layouts=(Layout.TILE,),
        golden=golden.addmm,
        accuracy=GROWS_WITH_K,
        engine=("matmul", "binary"),
        raises=(*RAISES, ("ParameterError", "`alpha` is 0.")),
        examples=(),
    )
)
