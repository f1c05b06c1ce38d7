"""`alt_complex_rotate90`: pairs of neighbouring columns as complex numbers, rotated by 90 degrees.

The kernel exchanges two loads of Dst, the even and the odd columns, and negates one of them. Here columns change places
first; then both signs are computed, and every column takes its own.
Source: TT-NN docs "ttnn.alt_complex_rotate90"; tt-metal `ckernel_sfpu_alt_complex_rotate90.h`.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from ttnn.base.core_range import CoreRangeSet
from ttnn.base.enums import BLOCK_FLOATS, DataType, Layout, UnaryOpType
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, MemoryConfig
from ttnn.base.tensor_spec import TensorSpec
from ttnn.golden.eltwise import unary as golden
from ttnn.operation.accuracy import bit_exact
from ttnn.operation.registry import Op, register
from ttnn.operation.signature import Signature
from ttnn.ops._programs.common import INPUT_TENSOR, full_tiles, is_empty, on_device
from ttnn.ops._programs.movement import move
from ttnn.ops._programs.sfpu_chain import apply_chain, copy_bits, refuse_integers
from ttnn.ops.eltwise.ternary.fused import where
from ttnn.ops.eltwise.unary.family import FLOAT_INPUTS, LAYOUTS, OPTIONS
from ttnn.tensor.tensor import Tensor

_NAME: Final = "ttnn.alt_complex_rotate90"


def _rotate(
    input_tensor: Tensor,
    memory_config: MemoryConfig | None,
    output_tensor: Tensor | None,
    _sub_core_grids: CoreRangeSet | None,
) -> Tensor:
    spec = input_tensor._spec
    refuse_integers(_NAME, UnaryOpType.ALT_COMPLEX_ROTATE90, spec.dtype)
    on_device(_NAME, input_tensor)
    full_tiles(_NAME, input_tensor)
    dtype = spec.dtype if output_tensor is None else None
    place = memory_config or (spec.memory_config if output_tensor is None else None)
    if is_empty(spec):
        return copy_bits(_NAME, input_tensor, memory_config, output_tensor)
    rotated = _rotated(_plain(input_tensor))
    rows = TensorSpec.of(spec.shape, rotated._spec.dtype, spec.layout)
    result = rotated._view(rows) if spec.layout is Layout.TILE else move(_cropped(rotated, spec), rows)
    return apply_chain(_NAME, result, [], dtype=dtype, memory_config=place, output_tensor=output_tensor)


def _plain(source: Tensor) -> Tensor:
    """Return the tensor in tiles with its padding as part of it, block floats in bfloat16."""
    spec = source._spec
    if spec.dtype in BLOCK_FLOATS:
        source = apply_chain(_NAME, source, [], dtype=DataType.BFLOAT16, memory_config=DRAM_MEMORY_CONFIG)
    elif spec.layout is Layout.ROW_MAJOR or spec.memory_config != DRAM_MEMORY_CONFIG:
        source = move(source, TensorSpec.of(spec.shape, spec.dtype, Layout.TILE))
    padded = tuple(source._spec.padded_shape)
    return source._view(TensorSpec.of(padded, source._spec.dtype, Layout.TILE))


def _cropped(whole: Tensor, spec: TensorSpec) -> Tensor:
    """Return padded tiles as a tensor of the logical shape again."""
    return whole._view(TensorSpec.of(spec.shape, whole._spec.dtype, Layout.TILE))


def _rotated(whole: Tensor) -> Tensor:
    """Return -b, a of every pair a, b of columns."""
    spec = whole._spec
    pairs = TensorSpec.of((math.prod(spec.shape._dims) // 2, 2), spec.dtype, Layout.ROW_MAJOR)
    swapped = move(move(whole, pairs, strides=(2, -1), offset=1), spec)
    width = spec.shape._dims[-1]
    even = np.zeros((1, width), np.float32)
    even[:, ::2] = 1
    assert whole._device is not None
    mask = Tensor(even, spec.dtype, None, Layout.TILE).to(whole._device)
    negative = apply_chain(_NAME, swapped, [("neg", "default")])
    plain = apply_chain(_NAME, swapped, [("identity", "default")])
    rotated: Tensor = where(mask, negative, plain)
    return rotated


alt_complex_rotate90 = register(
    Op(
        name="alt_complex_rotate90",
        signatures=(Signature((INPUT_TENSOR,), OPTIONS),),
        run=_rotate,
        doc="Return the complex numbers of `input_tensor` multiplied by i.\n"
        "Shape: [..., H, 2 * W] -> [..., H, 2 * W], real parts in even columns, imaginary parts in odd ones.\n"
        "Column 2k becomes -column 2k + 1, and column 2k + 1 becomes column 2k. The last column of an odd width "
        "is combined with the padding, which is 0 in row-major tensors.",
        source="tt-metal `ckernel_sfpu_alt_complex_rotate90.h`",
        dtypes=(*FLOAT_INPUTS, DataType.BFLOAT4_B),
        layouts=LAYOUTS,
        golden=golden.rotate90,
        accuracy=bit_exact(),
        family="unary",
        raises=(
            ("DTypeError", "integer data types are not supported."),
            ("StorageError", "the input is on the host."),
        ),
    )
)
