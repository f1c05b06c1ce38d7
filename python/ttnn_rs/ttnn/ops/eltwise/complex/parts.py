"""Products of complex numbers whose parts are separate tensors.

Source: TT-NN docs "ttnn.experimental.complex_mul".
"""

from __future__ import annotations

from typing import Final

from ttnn.base.call import checked
from ttnn.golden.eltwise import complex as golden
from ttnn.operation.registry import FastOperation, add_operation
from ttnn.ops.backward.forward import Forward, named
from ttnn.ops.eltwise.complex.arithmetic import multiply
from ttnn.ops.eltwise.complex.tensor import ComplexTensor
from ttnn.tensor.tensor import Tensor

_NAME: Final = "ttnn.experimental.complex_mul"


def _multiplied(a_real: Tensor, a_imag: Tensor, b_real: Tensor, b_imag: Tensor) -> tuple[Tensor, Tensor]:
    """Return both parts of a times b, in complex multiplication's steps.

    Each step is rounded to the data type: 4 products, a difference and a sum. Its order is not published for this
    operator.

    Shape: 4 of [..., H, W] -> 2 of [..., H, W].

    Args:
        a_real: Real part of a, on a device.
        a_imag: Imaginary part of a, of the same shape.
        b_real: Real part of b; its shape can be broadcast with that of a.
        b_imag: Imaginary part of b, of the shape of `b_real`.

    Raises:
        ShapeError: the parts of a factor differ in shape, or the factors cannot be broadcast.
        DTypeError: floating-point and integer tensors are mixed.
        StorageError: a tensor is on the host, deallocated or on another device.
    """
    with named(_NAME):
        product = multiply(Forward(), ComplexTensor((a_real, a_imag)), ComplexTensor((b_real, b_imag)))
    return product.real, product.imag


complex_mul = add_operation(
    FastOperation(_NAME, checked(_multiplied), golden_function=golden.complex_mul, is_experimental=True)
)
