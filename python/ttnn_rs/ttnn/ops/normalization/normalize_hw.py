"""Moments and normalization of matrices, one program per step.

They are `normalize_hw`, `var_hw` and others.

Source: TT-NN docs "ttnn.normalize_hw"; the programs that the official package runs: mean, difference, square, sum times
1/N, and a product with the reciprocal square root as the activation of its second operand.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Final

from ttnn.base.compute_config import FIDELITY_NUMBER
from ttnn.base.enums import TILE_SIZE, DataType, Layout, MathFidelity, UnaryOpType
from ttnn.base.exceptions import DTypeError, ShapeError
from ttnn.base.memory_config import MemoryConfig
from ttnn.base.tensor_spec import TensorSpec
from ttnn.golden import normalization as golden
from ttnn.operation.accuracy import max_ulp, no_bound
from ttnn.operation.registry import declare
from ttnn.operation.result_shards import of_one
from ttnn.operation.signature import Signature
from ttnn.ops._programs.common import INPUT_TENSOR, INTEGERS, MEMORY_CONFIG_OPTION, allocate, is_empty, on_device
from ttnn.ops._programs.element_map import strides_of
from ttnn.ops._programs.movement import move
from ttnn.ops._programs.pipeline import ROWS, Pipeline
from ttnn.ops.data_movement.layout import to_layout
from ttnn.ops.data_movement.reshape import reshaped
from ttnn.ops.eltwise.binary import multiply
from ttnn.ops.eltwise.unary.math import OPERATORS as _MATH
from ttnn.ops.eltwise.unary.math import square
from ttnn.ops.reduction.generic import mean, reduced_axes, sum
from ttnn.tensor.tensor import Tensor

_HW: Final = [2, 3]


def _tiled(name: str, tensor: Tensor) -> Tensor:
    on_device(name, tensor)
    rank = tensor.spec.shape.rank
    reduced_axes(name, _HW, rank)
    if rank != 4:
        raise ShapeError(f"{name}: input_tensor is {tensor.spec.shape}; the operator requires [N, C, H, W].")
    if tensor.spec.dtype in (DataType.INT32, DataType.UINT32):
        # The mean raises.
        mean(tensor, _HW, True)
    tiled: Tensor = tensor if tensor.spec.layout is Layout.TILE else to_layout(tensor, Layout.TILE)
    return tiled


@lru_cache(maxsize=256)
def _difference(shape: tuple[int, ...], dtype: DataType) -> Pipeline:
    """Return the program that subtracts one element from every matrix.

    The FPU computes in a 16-bit Dst.
    """
    program = Pipeline(shape, ROWS, dtype, False, FIDELITY_NUMBER[MathFidelity.HiFi4])
    x, one = program.tensor(dtype), program.tensor(dtype, (*shape[:2], 1, 1), "scalar")
    program.eltwise("sub", x, one, dtype, output=0)
    return program


def _spread(name: str, tensor: Tensor, place: MemoryConfig) -> tuple[Tensor, Tensor]:
    """Return the deviations from the mean of every matrix, and the variance."""
    middle, spec, device = mean(tensor, _HW, True), tensor.spec, on_device(name, tensor)
    deviations = allocate(TensorSpec.of(spec.shape, spec.dtype, Layout.TILE, of_one(spec, place, device)), device)
    if is_empty(spec):
        return deviations, mean(square(deviations, memory_config=place), _HW, True, memory_config=place)
    _difference(tuple(spec.shape), spec.dtype).run([tensor, middle], [deviations])
    share = 1.0 / (spec.shape[2] * spec.shape[3])
    return deviations, sum(square(deviations, memory_config=place), _HW, True, memory_config=place, scalar=share)


def _normalize_hw(input_tensor: Tensor, memory_config: MemoryConfig | None, name: str = "ttnn.normalize_hw") -> Tensor:
    tensor = _tiled(name, input_tensor)
    place = memory_config or input_tensor.spec.memory_config
    deviations, variance = _spread(name, tensor, place)
    result: Tensor = multiply(deviations, variance, input_tensor_b_activations=[UnaryOpType.RSQRT], memory_config=place)
    return result


def _normalize_global(input_tensor: Tensor, memory_config: MemoryConfig | None) -> Tensor:
    name = "ttnn.normalize_global"
    on_device(name, input_tensor)
    spec = input_tensor.spec
    if spec.shape.rank != 4:
        raise ShapeError(
            f"{name}: input_tensor is {spec.shape}; the operator requires [N, C, H, W].",
            vendor="Cannot support non-rank 4 Tensor",
        )
    batch, channels, height, width = tuple(spec.padded_shape)
    if spec.dtype in INTEGERS:
        if spec.dtype is DataType.UINT8 and spec.layout is Layout.TILE:
            raise DTypeError(
                f"{name}: input_tensor is UINT8; typecast it to bfloat16 first.",
                vendor="Only FLOAT32, BFLOAT16, BFLOAT8_B, and UINT32 are supported for generic reduction (INT32 is "
                "supported for MAX/MIN/SUM) - got DataType::UINT8.",
            )
        # The mean raises for unsupported operands.
        mean(input_tensor, _HW, True)
    if spec.layout is not Layout.TILE and (height % TILE_SIZE or batch * channels * width % TILE_SIZE):
        raise ShapeError(
            f"{name}: input_tensor has shape {spec.shape} in rows; it must fill tiles. Convert it with ttnn.to_layout.",
            vendor="shape match",
        )
    # Padding counts as elements: the matrix is made of all tiles.
    dims = tuple(spec.shape)
    tensor = input_tensor
    if dims != (batch, channels, height, width):
        filled = TensorSpec.of((batch, channels, height, width), spec.dtype, spec.layout, spec.memory_config, spec.tile)
        tensor = move(input_tensor, filled, strides=strides_of(dims), window=[(0, size) for size in dims])
    matrix = reshaped(name, tensor, (1, 1, height, width * channels * batch))
    result = _normalize_hw(matrix, memory_config or spec.memory_config, name)
    return reshaped(name, result, (batch, channels, height, width))


def _var_hw(input_tensor: Tensor, memory_config: MemoryConfig | None, name: str = "ttnn.var_hw") -> Tensor:
    tensor = _tiled(name, input_tensor)
    return _spread(name, tensor, memory_config or input_tensor.spec.memory_config)[1]


def _std_hw(input_tensor: Tensor, memory_config: MemoryConfig | None) -> Tensor:
    variance = _var_hw(input_tensor, memory_config, "ttnn.std_hw")
    result: Tensor = _MATH["sqrt"](variance, memory_config=variance.spec.memory_config)
    return result


_entry = partial(
    declare,
    signatures=(Signature((INPUT_TENSOR,), (MEMORY_CONFIG_OPTION,)),),
    dtypes=(DataType.BFLOAT16, DataType.FLOAT32),
    layouts=(Layout.TILE, Layout.ROW_MAJOR),
    composition=True,
    raises=(
        ("ShapeError", "the rank is not 4."),
        ("DTypeError", "the input holds integers."),
        ("StorageError", "the input is on the host."),
    ),
    examples=lambda shape, _: ((),) if len(shape) == 4 and 0 not in shape else (),
)
normalize_hw = _entry(
    "normalize_hw",
    run=_normalize_hw,
    doc="Return `(x - mean) / sqrt(variance)` of `input_tensor`, normalized over the last two dimensions.\n"
    "Shape: [N, C, H, W] -> [N, C, H, W], in TILE_LAYOUT.",
    golden=golden.normalize_hw,
    # Four roundings, that of the mean in units of the largest element.
    accuracy=max_ulp((DataType.BFLOAT16, 6), magnitude=golden.terms_of_normalize_hw),
)
var_hw = _entry(
    "var_hw",
    run=_var_hw,
    doc="Return every matrix's variance, the mean of squared deviations.\n"
    "Shape: [N, C, H, W] -> [N, C, 1, 1], in TILE_LAYOUT.",
    golden=golden.var_hw,
    accuracy=no_bound("for matrices whose mean is far from 0"),
)
std_hw = _entry(
    "std_hw",
    run=_std_hw,
    doc="Return the standard deviation of every matrix.\nShape: [N, C, H, W] -> [N, C, 1, 1], in TILE_LAYOUT.",
    golden=golden.std_hw,
    accuracy=no_bound("for matrices whose mean is far from 0"),
)
normalize_global = _entry(
    "normalize_global",
    run=_normalize_global,
    doc="Return `(x - mean) / sqrt(variance)` of all elements, padding among them.\n"
    "Shape: [N, C, H, W] -> [N, C, H, W], with H and W rounded up to tiles.",
    layouts=(Layout.TILE,),
    examples=lambda shape, _: (
        ((),) if len(shape) == 4 and 0 not in shape and not any(s % 32 for s in shape[2:]) else ()
    ),
    golden=golden.normalize_global,
    accuracy=no_bound("for tensors whose mean is far from 0"),
)
