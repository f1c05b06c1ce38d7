"""`ttnn.bitcast`: reinterpretation of bits as another type of equal size.

Source: TT-NN docs "ttnn.bitcast".
"""

from __future__ import annotations

from typing import Final

from ttnn.base.enums import BinaryOpType, DataType
from ttnn.base.exceptions import DTypeError
from ttnn.base.memory_config import MemoryConfig
from ttnn.base.tensor_spec import TensorSpec
from ttnn.operation.accuracy import bit_exact
from ttnn.operation.registry import Op, register
from ttnn.operation.signature import DATA_TYPE, Param, Signature
from ttnn.ops._programs.common import INPUT_TENSOR, on_device
from ttnn.ops._programs.sfpu_chain import copy_bits
from ttnn.ops.eltwise.binary.compute import Options, compute
from ttnn.ops.eltwise.binary.program import Arithmetic
from ttnn.ops.eltwise.unary.family import LAYOUTS, OPTIONS
from ttnn.tensor.tensor import Tensor

_NAME: Final = "ttnn.bitcast"
_COPY: Final = Arithmetic(_NAME, BinaryOpType.ADD, "add", float32_on_sfpu=False)
_BYTES: Final = {
    DataType.BFLOAT16: 2,
    DataType.FLOAT32: 4,
    DataType.INT32: 4,
    DataType.UINT32: 4,
    DataType.UINT16: 2,
}


def _bitcast(
    input_tensor: Tensor,
    dtype: DataType,
    memory_config: MemoryConfig | None,
    output_tensor: Tensor | None,
    _sub_core_grids: object,
) -> Tensor:
    on_device(_NAME, input_tensor)
    spec = input_tensor.spec
    if _BYTES.get(spec.dtype) != _BYTES.get(dtype, 0):
        raise DTypeError(
            f"{_NAME}: {spec.dtype.name} and {dtype.name} have different sizes; BFLOAT16 and UINT16 have 16 bits, "
            "FLOAT32, INT32 and UINT32 32 bits."
        )
    bits = input_tensor._view(TensorSpec.of(spec.shape, dtype, spec.layout, spec.memory_config, spec.tile))
    if dtype is DataType.FLOAT32 and spec.dtype is not dtype:
        return _through_tf32(bits, memory_config, output_tensor)
    return copy_bits(_NAME, bits, memory_config, output_tensor)


def _through_tf32(bits: Tensor, memory_config: MemoryConfig | None, output_tensor: Tensor | None) -> Tensor:
    """Return words as float32 that have passed SrcA, which holds TF32.

    The kernel is built for the data type of the input, so that float32 is not unpacked to Dst. A copy to a 32-bit Dst
    is the sum of SrcA and zeros.
    """
    return compute(_COPY, bits, 0.0, Options(None, memory_config, output_tensor))


bitcast = register(
    Op(
        name="bitcast",
        signatures=(
            Signature(
                (INPUT_TENSOR, Param("dtype", DATA_TYPE, doc="Data type of the output.", example=DataType.UINT16)),
                OPTIONS,
            ),
        ),
        run=_bitcast,
        doc="Return the bits of `input_tensor` as another data type of equal size.\n"
        "Integers become float32 through TF32: the last 13 bits are cut, and subnormal numbers are 0.",
        dtypes=tuple(_BYTES),
        layouts=LAYOUTS,
        accuracy=bit_exact(),
        engine=("copy_pages", "binary"),
        numerics="movement",
        examples=(),
        raises=(
            ("DTypeError", "the data types differ in size, or are not supported."),
            ("StorageError", "the input is on the host."),
        ),
    )
)
