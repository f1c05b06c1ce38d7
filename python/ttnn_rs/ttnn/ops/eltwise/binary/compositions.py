"""Binary operators composed of others, each of which rounds.

Source: TT-NN docs of each operator; tt-metal `ckernel_sfpu_prelu.h` for a single weight.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

from ttnn.base.enums import BinaryOpType, DataType, Layout, TensorMemoryLayout, UnaryOpType
from ttnn.base.exceptions import DTypeError, ShapeError
from ttnn.base.memory_config import MemoryConfig
from ttnn.golden.eltwise import binary as g
from ttnn.operation.accuracy import Accuracy, max_ulp
from ttnn.operation.domain import positive
from ttnn.operation.registry import Op, register
from ttnn.operation.signature import FLOAT, NUMBER, TENSOR, Kind, Param, Signature
from ttnn.operation.steps import single, steps_for, with_numbers
from ttnn.ops._programs.common import INTEGERS, MEMORY_CONFIG_OPTION, as_float, on_device
from ttnn.ops._programs.sfpu_chain import apply_chain
from ttnn.ops.creation.filled import zeros_like
from ttnn.ops.data_movement.layout import to_layout
from ttnn.ops.data_movement.placement import to_memory_config
from ttnn.ops.data_movement.reshape import reshape, unsqueeze
from ttnn.ops.eltwise.binary.arithmetic import multiply
from ttnn.ops.eltwise.binary.checks import not_defined, on_host
from ttnn.ops.eltwise.binary.compute import Options
from ttnn.ops.eltwise.binary.family import LAYOUTS, RAISES, Binary, both, measured, register_binary
from ttnn.ops.eltwise.binary.program import Arithmetic
from ttnn.ops.eltwise.binary.quotients import OPERATORS as _QUOTIENTS
from ttnn.ops.eltwise.ternary.fused import where
from ttnn.ops.eltwise.unary.math import OPERATORS as _MATH
from ttnn.ops.eltwise.unary.predicates import OPERATORS as _TESTS
from ttnn.ops.matmul.matmul import matmul
from ttnn.tensor.tensor import Tensor

_DIV: Final = _QUOTIENTS["div"]
_INT32: Final = DataType.INT32


def _run_div_no_nan(arithmetic: Arithmetic, a: Tensor, b: Tensor, _fast: bool | None, options: Options) -> Tensor:
    place = {"memory_config": options.memory_config}
    on_device(arithmetic.name, a, "input_tensor_a", on_host("A"))
    on_device(arithmetic.name, b, "input_tensor_b", on_host("B"))
    quotient = _DIV(a, b, **place)
    result: Tensor = where(_TESTS["eqz"](b, **place), 0.0, quotient, **place)
    return result


def _run_div_no_nan_of_number(
    arithmetic: Arithmetic, a: Tensor, b: float, _fast: bool | None, options: Options
) -> Tensor:
    divisor = single(as_float(arithmetic.name, b, "value"))
    result: Tensor
    if divisor == 0:
        on_device(arithmetic.name, a, "input_tensor_a", on_host("A"))
        result = zeros_like(a, memory_config=options.memory_config)
    else:
        result = multiply(a, 1.0 / divisor, memory_config=options.memory_config)
    return result


def _run_floor_div(_arithmetic: Arithmetic, a: Tensor, b: Tensor, _fast: bool | None, options: Options) -> Tensor:
    place = {"memory_config": options.memory_config}
    quotient = _DIV(a, b, **place)
    # Of int32 it is an int32 tensor, whose words the selection copies into a float32 tensor.
    whole = _DIV(a, b, rounding_mode="floor", **place)
    result: Tensor = where(_TESTS["isinf"](quotient, **place), quotient, whole, **place)
    return result


def _run_floor_div_by_number(
    arithmetic: Arithmetic, a: Tensor, b: float, _fast: bool | None, options: Options
) -> Tensor:
    place = {"memory_config": options.memory_config}
    divisor = single(as_float(arithmetic.name, b, "value"))
    result: Tensor
    if divisor == 0:
        zero = _TESTS["eqz"](a, **place)
        infinite = multiply(_MATH["sign"](a, **place), math.inf, **place)
        result = where(zero, math.nan, infinite, **place)
    else:
        result = _MATH["floor"](multiply(a, 1.0 / divisor, **place), **place)
    return result


def _quotient(
    name: str,
    golden: Any,
    what: str,
    run: Any,
    run_scalar: Any,
    accuracy: Accuracy,
    reference: tuple[DataType, ...],
    note: str = "",
) -> Binary:
    return Binary(
        name, Arithmetic("", BinaryOpType.DIV, integers={_INT32: ("div_int32", "int32_to_fp32")}), golden, what,
        both((MEMORY_CONFIG_OPTION,), scalar_name="value", run_scalar=run_scalar), run, reference=reference,
        integers=reference,
        composition=True, engine=(), layouts=(Layout.TILE,), accuracy=accuracy, domain=positive, note=note,
    )  # fmt: skip


TABLE: Final = (
    _quotient(
        "div_no_nan",
        g.div_no_nan,
        "quotient `a / b`, 0 where `b` is 0",
        _run_div_no_nan,
        _run_div_no_nan_of_number,
        measured(0.5, 1.8),
        (_INT32,),
    ),
    _quotient(
        "floor_div",
        g.floor_div,
        "rounded-down quotient `floor(a / b)`",
        _run_floor_div,
        _run_floor_div_by_number,
        measured(64, 0, g.quotient_or_1),
        (),
        "Of int32 operands, the result is FLOAT32 with the bits of the integer quotient.",
    ),
)

OPERATORS: Final = {name: operation for entry in TABLE for name, operation in register_binary(entry).items()}


def _prelu_of_number(input_tensor: Tensor, weight: Any, memory_config: MemoryConfig | None) -> Tensor:
    slope = weight[0] if isinstance(weight, list | tuple) else weight
    _refuse_integers(input_tensor)
    steps = steps_for(UnaryOpType.PRELU_SFPU, (as_float("ttnn.prelu", slope, "weight"),))
    assert steps is not None
    return apply_chain("ttnn.prelu", input_tensor, steps, memory_config=memory_config)


def _refuse_integers(input_tensor: Tensor) -> None:
    dtype = input_tensor.spec.dtype
    if dtype in INTEGERS:
        raise DTypeError(f"ttnn.prelu: input_tensor_a is {dtype.name}, which the operator does not support.")


def _prelu(input_tensor: Tensor, weight: Tensor, memory_config: MemoryConfig | None) -> Tensor:
    on_device("ttnn.prelu", input_tensor, "input_tensor_a", on_host("A"))
    on_device("ttnn.prelu", weight, "weight", on_host("B"))
    shape = tuple(input_tensor.shape)
    if len(shape) < 2:
        raise ShapeError(f"ttnn.prelu: input_tensor_a is {input_tensor.shape}; a weight per channel needs dimension 1.")
    count = math.prod(weight.shape)
    if shape[1] != count:
        raise ShapeError(
            f"ttnn.prelu: weight has {count} elements, but dimension 1 of input_tensor_a, {input_tensor.shape}, has "
            f"{shape[1]}.",
            vendor=f"Mismatch of parameter numbers and input channel size. Found parameter numbers = {count} and "
            f"channel "
            f"size = {shape[1]}.",
        )
    _refuse_integers(input_tensor)
    if len(shape) > 2:
        weight = reshape(weight, (1, count, *(1 for _ in shape[2:])))
    negative = _TESTS["ltz"](input_tensor, memory_config=memory_config)
    result: Tensor = where(negative, multiply(input_tensor, weight), input_tensor, memory_config=memory_config)
    return result


_ONE_WEIGHT: Final = Kind(
    "collections.abc.Sequence[float]",
    lambda value: isinstance(value, list | tuple) and len(value) == 1 and FLOAT.accepts(value[0]),
)
_INPUT: Final = Param("input_tensor_a", TENSOR, doc="[N, C, ...] on a device.")
_WEIGHT_DOC: Final = "Slope for negative inputs: a scalar, a list of one scalar, or a tensor with C elements."

prelu = register(
    Op(
        name="prelu",
        signatures=(
            Signature((_INPUT, Param("weight", TENSOR, doc=_WEIGHT_DOC)), (MEMORY_CONFIG_OPTION,), run=_prelu),
            Signature((_INPUT, Param("weight", NUMBER, doc=_WEIGHT_DOC)), (MEMORY_CONFIG_OPTION,)),
            Signature((_INPUT, Param("weight", _ONE_WEIGHT, doc=_WEIGHT_DOC)), (MEMORY_CONFIG_OPTION,)),
        ),
        run=_prelu_of_number,
        doc="Return `input_tensor_a` where it is not negative, and `weight * input_tensor_a` elsewhere.\n"
        "Shape: [N, C, ...], weight [C] -> [N, C, ...].",
        source="tt-metal `ckernel_sfpu_prelu.h`",
        dtypes=(DataType.BFLOAT16, DataType.BFLOAT8_B, DataType.FLOAT32),
        layouts=LAYOUTS,
        golden=g.prelu,
        # Dst is truncated to bfloat16; the product and its weight are rounded to float32, half a unit and one.
        accuracy=max_ulp((DataType.BFLOAT16, 1.0001), (DataType.FLOAT32, 1.5)),
        engine=("unary",),
        family="unary",
        raises=(
            ("ShapeError", "the weight tensor does not have one element per channel."),
            ("DTypeError", "integer data types are not supported."),
            ("LayoutError", "`weight` is a tensor, and one of the tensors is row-major."),
            ("StorageError", "a tensor is on the host."),
        ),
        examples=((0.25,), ([0.5],)),
        steps={UnaryOpType.PRELU_SFPU: with_numbers("prelu", 1)},
    )
)

_OUTER_DTYPES: Final = (
    DataType.BFLOAT16,
    DataType.BFLOAT8_B,
    DataType.FLOAT32,
    DataType.INT32,
    DataType.UINT32,
)
_BY_MATMUL: Final = (DataType.BFLOAT16, DataType.BFLOAT8_B)
_IN_PLACE_OF_SHARDS: Final = (TensorMemoryLayout.INTERLEAVED, TensorMemoryLayout.HEIGHT_SHARDED)


def _vector(label: str, tensor: Tensor, dim: int) -> Tensor:
    """Return an operand of `outer` with a new next-to-last dimension of 1."""
    on_device("ttnn.outer", tensor, label)
    if not len(tensor.shape):
        raise ShapeError(f"ttnn.outer: {label} is a scalar; it must have at least one dimension.")
    dtype, config = tensor.spec.dtype, tensor.spec.memory_config
    if dtype not in _OUTER_DTYPES:
        raise not_defined(Arithmetic("ttnn.outer", BinaryOpType.MUL), dtype)
    if config.memory_layout not in _IN_PLACE_OF_SHARDS:
        tensor = to_memory_config(tensor, MemoryConfig(TensorMemoryLayout.INTERLEAVED, config.buffer_type))
    widened: Tensor = unsqueeze(tensor, dim)
    return widened


def _outer(a: Tensor, b: Tensor, memory_config: MemoryConfig | None) -> Tensor:
    columns, rows = _vector("input_tensor_a", a, -1), _vector("input_tensor_b", b, -2)
    dtype = a.spec.dtype
    if dtype is not b.spec.dtype:
        raise DTypeError(f"ttnn.outer: the operands are {dtype.name} and {b.spec.dtype.name}; typecast one of them.")
    result: Tensor
    # One vector with one vector is a matrix product; many are faster as products, and float32 more precise.
    if dtype in _BY_MATMUL and _leading(a.shape) == _leading(b.shape) == 1:
        tiles = [to_layout(tensor, Layout.TILE) for tensor in (columns, rows)]
        result = matmul(*tiles, memory_config=memory_config)
    else:
        result = multiply(columns, rows, memory_config=memory_config)
    return result


def _leading(shape: Sequence[int]) -> int:
    return math.prod(tuple(shape)[:-1])


outer = register(
    Op(
        name="outer",
        signatures=(
            Signature(
                (
                    Param("input_tensor_a", TENSOR, doc="[..., N] on a device."),
                    Param("input_tensor_b", TENSOR, doc="[..., M] on a device. Leading dimensions are broadcast."),
                ),
                (MEMORY_CONFIG_OPTION,),
            ),
        ),
        run=_outer,
        doc="Return the outer product of the last dimensions of two tensors.\n"
        "Shape: [..., N], [..., M] -> [..., N, M].",
        dtypes=_OUTER_DTYPES,
        layouts=LAYOUTS,
        golden=g.outer,
        # Over all pairs of mantissas: the matrix product of bfloat16 leaves out mantissa bits.
        accuracy=max_ulp((DataType.BFLOAT16, 2.508), (DataType.FLOAT32, 0.5)),
        composition=True,
        raises=(*RAISES, ("ShapeError", "an operand is a scalar.")),
        examples=(),
    )
)
