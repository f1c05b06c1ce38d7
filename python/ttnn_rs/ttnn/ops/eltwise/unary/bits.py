"""`bitwise_not` and `fill`: operators that look at no value.

Source: TT-NN docs of the operators; tt-metal `ckernel_sfpu_bitwise_not.h`.
"""

from __future__ import annotations

import math
from typing import Final

from ttnn.base.core_range import CoreRangeSet
from ttnn.base.enums import BLOCK_FLOATS, FORMAT_CODE, DataType, UnaryOpType
from ttnn.base.exceptions import DTypeError
from ttnn.base.memory_config import MemoryConfig
from ttnn.golden.eltwise import unary as golden
from ttnn.operation.accuracy import bit_exact, max_ulp
from ttnn.operation.registry import Op, register
from ttnn.operation.signature import FILL_VALUE, Param, Signature
from ttnn.operation.steps import single, word
from ttnn.ops._programs.common import (
    FLOATS,
    INPUT_TENSOR,
    INTEGER_RANGE,
    agreed_dtype,
    allocate,
    as_float,
    full_tiles,
    is_empty,
    memory_of_result,
    needs_tiles,
    on_device,
    result_spec,
    take_output,
)
from ttnn.ops._programs.sfpu_chain import apply_chain, refuse_integers
from ttnn.ops.eltwise.unary.family import FLOAT_INPUTS, LAYOUTS, OPTIONS
from ttnn.runtime import engine_steps
from ttnn.tensor.tensor import Tensor

_32_BITS: Final = (DataType.INT32, DataType.UINT32)


def _bitwise_not(
    input_tensor: Tensor,
    memory_config: MemoryConfig | None,
    output_tensor: Tensor | None,
    _sub_core_grids: CoreRangeSet | None,
) -> Tensor:
    operator = "ttnn.bitwise_not"
    dtype = input_tensor.spec.dtype
    if dtype not in (*_32_BITS, *FLOATS):
        refuse_integers(operator, UnaryOpType.BITWISE_NOT, dtype)
    return apply_chain(
        operator,
        input_tensor,
        [("bitwise_not", "int32")],
        memory_config=memory_config,
        output_tensor=output_tensor,
        integers=True,
    )


bitwise_not = register(
    Op(
        name="bitwise_not",
        signatures=(Signature((INPUT_TENSOR,), OPTIONS),),
        run=_bitwise_not,
        doc=(
            "Return the element-wise bitwise NOT of `input_tensor`.\n"
            "Floating-point tensors: the bits of the value in Dst are inverted, 32 of a float32 and 16 of a "
            "bfloat16. Zeros and subnormal numbers enter Dst as +0, whose complement leaves as -infinity; subnormal "
            "results leave as +0. No vector covers floating point; it follows the public descriptions of Dst and of "
            "the SFPU's loads."
        ),
        source="tt-metal `ckernel_sfpu_bitwise_not.h`",
        dtypes=_32_BITS,
        layouts=LAYOUTS,
        golden=golden.bitwise_not,
        accuracy=bit_exact(),
        engine=("unary",),
        family="unary",
        raises=(
            ("DTypeError", "the input is uint16 or uint8."),
            ("StorageError", "the input is on the host."),
        ),
    )
)


def _cut(value: float) -> float:
    """Return a number with the lower half of its FP32 cleared.

    A 16-bit Dst keeps it this way.
    """
    upper = word(value) & 0xFFFF0000
    sign = -1.0 if upper >> 31 else 1.0
    exponent, mantissa = (upper >> 23) & 0xFF, upper & 0x7FFFFF
    if exponent == 0xFF:
        return math.nan if mantissa else sign * math.inf
    return sign * math.ldexp(1.0 + mantissa * 2.0**-23, exponent - 127) if exponent else 0.0


def _fill(
    input_tensor: Tensor,
    fill_value: float,
    memory_config: MemoryConfig | None,
    output_tensor: Tensor | None,
    _sub_core_grids: CoreRangeSet | None,
) -> Tensor:
    operator = "ttnn.fill"
    device = on_device(operator, input_tensor)
    full_tiles(operator, input_tensor)
    spec = input_tensor.spec
    memory_config = memory_of_result(memory_config, output_tensor, spec.memory_config)
    dtype = agreed_dtype(operator, None, output_tensor, spec.dtype)
    if dtype is not spec.dtype:
        raise DTypeError(f"{operator}: output_tensor is {dtype.name}, input_tensor is {spec.dtype.name}.")
    value = as_float(operator, fill_value, "fill_value")
    if dtype in INTEGER_RANGE:
        low, high = INTEGER_RANGE[dtype]
        if dtype is DataType.UINT32 and isinstance(fill_value, int) and -(2**31) <= fill_value < 0:
            # The kernel gets the 32 bits of the signed integer.
            value += 2.0**32
        if not (math.isfinite(value) and low <= math.trunc(value) <= high):
            raise DTypeError(f"{operator}: fill_value is {value:g}, no value of {dtype.name} ({low} to {high}).")
        value = float(math.trunc(value))
    elif dtype in BLOCK_FLOATS:
        # The SFPU fills bfloat16, and the packer makes block floats of it.
        tile = allocate(result_spec(spec, spec.shape._dims, DataType.BFLOAT16, None), device)
        filled = _write(tile, _cut(value))
        return apply_chain(
            operator,
            filled,
            [],
            dtype=dtype,
            memory_config=None if output_tensor is not None else memory_config,
            output_tensor=output_tensor,
        )
    else:
        value = _cut(value) if dtype is DataType.BFLOAT16 else single(value)
    needs_tiles(operator, dtype, spec.layout)
    if output_tensor is None:
        output = allocate(spec.with_memory_config(memory_config), device)
    else:
        output = take_output(operator, output_tensor, spec.shape, spec.layout, device)
    return _write(output, value)


def _write(tensor: Tensor, value: float) -> Tensor:
    """Write one value over a tensor, padding included."""
    if not is_empty(tensor.spec):
        assert tensor.buffer is not None
        engine_steps.fill(tensor.buffer, format=FORMAT_CODE[tensor.spec.dtype], value=value)
    return tensor


fill = register(
    Op(
        name="fill",
        signatures=(
            Signature(
                (
                    INPUT_TENSOR,
                    Param(
                        "fill_value",
                        FILL_VALUE,
                        doc="Value of all elements, truncated (not rounded) to bfloat16 for bfloat16 and block floats, "
                        "and to an integer for integers. A negative int fills UINT32 with its 32 bits.",
                    ),
                ),
                OPTIONS,
            ),
        ),
        run=_fill,
        doc="Create a tensor like `input_tensor` with every element set to `fill_value`.\n"
        "Shape: [..., H, W] -> [..., H, W].",
        dtypes=(*FLOAT_INPUTS, *_32_BITS, DataType.UINT16),
        layouts=LAYOUTS,
        golden=golden.fill,
        accuracy=max_ulp((DataType.BFLOAT16, 1), (DataType.FLOAT32, 0.5)),
        engine=("fill", "unary"),
        family="unary",
        raises=(
            ("DTypeError", "the value is out of range of an integer data type."),
            ("StorageError", "the input is on the host."),
        ),
        examples=((3,),),
    )
)
