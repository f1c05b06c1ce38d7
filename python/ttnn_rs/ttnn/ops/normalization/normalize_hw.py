"""`ttnn.normalize_hw`: every matrix with mean 0 and variance 1, a program per step.

Source: TT-NN docs "ttnn.normalize_hw"; the programs that the official package runs: mean, subtract, square, mean, and a
product with the reciprocal square root as the activation of its second operand.
"""

from __future__ import annotations

from typing import Final

from ttnn.base.enums import DataType, Layout, UnaryOpType
from ttnn.base.exceptions import ShapeError
from ttnn.base.memory_config import MemoryConfig
from ttnn.golden import normalization as golden
from ttnn.operation.accuracy import max_ulp
from ttnn.operation.registry import Op, register
from ttnn.operation.signature import Signature
from ttnn.ops._programs.common import INPUT_TENSOR, MEMORY_CONFIG_OPTION, on_device
from ttnn.ops.data_movement.layout import to_layout
from ttnn.ops.eltwise.binary import multiply, subtract
from ttnn.ops.eltwise.unary.math import square
from ttnn.ops.reduction.generic import mean
from ttnn.tensor.tensor import Tensor

_NAME: Final = "ttnn.normalize_hw"


def _normalize_hw(input_tensor: Tensor, memory_config: MemoryConfig | None) -> Tensor:
    on_device(_NAME, input_tensor)
    spec = input_tensor._spec
    if spec.shape.rank != 4:
        raise ShapeError(f"{_NAME}: input_tensor is {spec.shape}; the operator takes [N, C, H, W].")
    if spec.layout is not Layout.TILE:
        input_tensor = to_layout(input_tensor, Layout.TILE)
    place = memory_config or spec.memory_config
    deviations = subtract(input_tensor, mean(input_tensor, [2, 3], True, memory_config=place), memory_config=place)
    variance = mean(square(deviations, memory_config=place), [2, 3], True, memory_config=place)
    result: Tensor = multiply(deviations, variance, input_tensor_b_activations=[UnaryOpType.RSQRT], memory_config=place)
    return result


normalize_hw = register(
    Op(
        name="normalize_hw",
        signatures=(Signature((INPUT_TENSOR,), (MEMORY_CONFIG_OPTION,)),),
        run=_normalize_hw,
        doc="Return `(x - mean) / sqrt(variance)` of `input_tensor`, normalized over the last two dimensions.\n"
        "Shape: [N, C, H, W] -> [N, C, H, W], in TILE_LAYOUT.",
        dtypes=(DataType.BFLOAT16, DataType.FLOAT32),
        layouts=(Layout.TILE, Layout.ROW_MAJOR),
        golden=golden.normalize_hw,
        # Four roundings, that of the mean in units of the largest element.
        accuracy=max_ulp((DataType.BFLOAT16, 6), magnitude=golden.terms_of_normalize_hw),
        composition=True,
        raises=(
            ("ShapeError", "the rank is not 4."),
            ("DTypeError", "the input holds integers."),
            ("StorageError", "the input is on the host."),
        ),
        examples=lambda shape, _: ((),) if len(shape) == 4 and 0 not in shape else (),
    )
)
