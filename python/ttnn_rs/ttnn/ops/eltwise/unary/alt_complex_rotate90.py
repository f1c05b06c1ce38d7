"""`alt_complex_rotate90`: pairs of neighbouring columns as complex numbers, rotated by 90 degrees.

Source: TT-NN docs "ttnn.alt_complex_rotate90"; tt-metal `ckernel_sfpu_alt_complex_rotate90.h`.
"""

from __future__ import annotations

from typing import Final

from ttnn.base.core_range import CoreRangeSet
from ttnn.base.enums import FORMAT_CODE, DataType, Layout, UnaryOpType
from ttnn.base.memory_config import MemoryConfig
from ttnn.golden.eltwise import unary as golden
from ttnn.operation.accuracy import bit_exact
from ttnn.operation.registry import Op, register
from ttnn.operation.signature import Signature
from ttnn.ops._programs.common import (
    INPUT_TENSOR,
    WIDE,
    agreed_dtype,
    allocate,
    full_tiles,
    is_empty,
    on_device,
    result_spec,
    take_output,
)
from ttnn.ops._programs.element_map import copy_into, in_rows, like_in_rows
from ttnn.ops._programs.sfpu_chain import copy_bits, refuse_integers
from ttnn.ops.eltwise.unary.family import FLOAT_INPUTS, LAYOUTS, OPTIONS
from ttnn.runtime import engine_steps
from ttnn.tensor.tensor import Tensor

_NAME: Final = "ttnn.alt_complex_rotate90"


def _rotate(
    input_tensor: Tensor,
    memory_config: MemoryConfig | None,
    output_tensor: Tensor | None,
    _sub_core_grids: CoreRangeSet | None,
) -> Tensor:
    spec = input_tensor.spec
    refuse_integers(_NAME, UnaryOpType.ALT_COMPLEX_ROTATE90, spec.dtype)
    device = on_device(_NAME, input_tensor)
    full_tiles(_NAME, input_tensor)
    if is_empty(spec):
        return copy_bits(_NAME, input_tensor, memory_config, output_tensor)
    dtype = agreed_dtype(_NAME, None, output_tensor, spec.dtype)
    if output_tensor is None:
        output = allocate(result_spec(spec, spec.shape._dims, dtype, memory_config), device)
    else:
        output = take_output(_NAME, output_tensor, spec.shape, spec.layout, device)
    source, target = in_rows(input_tensor), like_in_rows(output)
    assert source.buffer is not None
    assert target.buffer is not None
    engine_steps.rotate(
        source.buffer,
        target.buffer,
        formats=(FORMAT_CODE[spec.dtype], FORMAT_CODE[dtype]),
        dst32=spec.dtype in WIDE or dtype in WIDE,
        tiled=spec.layout is Layout.TILE,
    )
    if target is not output:
        copy_into(target, output)
    return output


alt_complex_rotate90 = register(
    Op(
        name="alt_complex_rotate90",
        signatures=(Signature((INPUT_TENSOR,), OPTIONS),),
        run=_rotate,
        doc="Return the complex values of `input_tensor` multiplied by i.\n"
        "Shape: [..., H, 2 * W] -> [..., H, 2 * W], real parts in even columns, imaginary parts in odd ones.\n"
        "Column 2k becomes -column 2k + 1, and column 2k + 1 becomes column 2k. The last column of an odd width "
        "is combined with the padding, which is 0 in row-major tensors.",
        source="tt-metal `ckernel_sfpu_alt_complex_rotate90.h`",
        dtypes=(*FLOAT_INPUTS, DataType.BFLOAT4_B),
        layouts=LAYOUTS,
        golden=golden.rotate90,
        engine=("rotate",),
        accuracy=bit_exact(),
        family="unary",
        raises=(
            ("DTypeError", "integer data types are not supported."),
            ("StorageError", "the input is on the host."),
        ),
    )
)
