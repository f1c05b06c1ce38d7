"""`clamp` and `clip`: elements limited by numbers or tensors.

With numbers it is one function of the SFPU, of int32 and floats after a conversion to float32; with tensors it is made
of minima and a maximum, or of a comparison and `where`.
Source: TT-NN docs "ttnn.clamp", "ttnn.clip"; tt-metal `ckernel_sfpu_clamp.h` and `ckernel_sfpu_binary_max_min.h`.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final

import numpy as np

from ttnn.base.enums import BinaryOpType, DataType, UnaryOpType
from ttnn.base.exceptions import DTypeError, LayoutError, ParameterError
from ttnn.base.memory_config import MemoryConfig
from ttnn.golden.eltwise import unary as g
from ttnn.operation.accuracy import max_ulp
from ttnn.operation.registry import FastOperation, Op, register
from ttnn.operation.signature import FLOAT, TENSOR, Kind, Param, Signature
from ttnn.operation.steps import step, with_numbers
from ttnn.ops._programs.common import (
    INPUT_TENSOR,
    INTEGER_RANGE,
    MEMORY_CONFIG_OPTION,
    OUTPUT_TENSOR_OPTION,
    on_device,
)
from ttnn.ops._programs.sfpu_chain import apply_chain, refuse_integers
from ttnn.ops._programs.typecast import cast
from ttnn.ops.eltwise.binary.comparisons import OPERATORS as _BINARY
from ttnn.ops.eltwise.binary.compute import Options, compute
from ttnn.ops.eltwise.binary.program import Arithmetic
from ttnn.ops.eltwise.ternary.fused import where
from ttnn.ops.eltwise.ternary.program import number_for
from ttnn.ops.eltwise.unary.family import FLOAT_INPUTS, LAYOUTS
from ttnn.tensor.tensor import Tensor

_INT32: Final = DataType.INT32
_FLOATING: Final = (float, np.floating)
_LARGEST: Final = 3.4028234663852886e38
"""The end of an interval that is open on that side."""


def _pick(name: str, function: str, op_type: BinaryOpType) -> Arithmetic:
    """Return the SFPU's minimum or maximum of two operands."""
    return Arithmetic(name, op_type, function=function, integers={_INT32: (f"{function}_int32", "int32")})


def _need_an_end(operator: str, low: object, high: object) -> None:
    if low is None and high is None:
        raise ParameterError(
            f"{operator}: both min and max are None; pass at least one of them.",
            vendor="Only one of 'min' or 'max' can be None. Please provide one value",
        )


def _to_numbers(
    operator: str,
    input_tensor: Tensor,
    low: float | None,
    high: float | None,
    memory_config: MemoryConfig | None,
    output_tensor: Tensor | None = None,
) -> Tensor:
    _need_an_end(operator, low, high)
    options: dict[str, Any] = {"memory_config": memory_config, "output_tensor": output_tensor}
    dtype = input_tensor.spec.dtype
    if dtype is _INT32 and any(isinstance(end, _FLOATING) for end in (low, high)):
        input_tensor, dtype = cast(operator, input_tensor, DataType.FLOAT32), DataType.FLOAT32
    if dtype is _INT32:
        first, last = INTEGER_RANGE[_INT32]
        ends = (
            first if low is None else int(number_for(operator, "min", low, _INT32)),
            last if high is None else int(number_for(operator, "max", high, _INT32)),
        )
        words = [end & 0xFFFFFFFF for end in ends]
        return apply_chain(operator, input_tensor, [("clamp_int32", "int32", words)], integers=True, **options)
    refuse_integers(operator, UnaryOpType.CLAMP_TSS, dtype)
    ends_of_floats = (-_LARGEST if low is None else float(low), _LARGEST if high is None else float(high))
    return apply_chain(operator, input_tensor, [step("clamp", "default", *ends_of_floats)], **options)


def _to_tensors(
    operator: str,
    input_tensor: Tensor,
    low: Tensor | None,
    high: Tensor | None,
    memory_config: MemoryConfig | None,
    output_tensor: Tensor | None = None,
) -> Tensor:
    _need_an_end(operator, low, high)
    on_device(operator, input_tensor)
    if len({tensor.spec.layout for tensor in (input_tensor, low, high) if tensor is not None}) > 1:
        raise LayoutError(
            f"{operator}: some of the tensors are ROW_MAJOR and some TILE; convert them with ttnn.to_layout.",
            vendor="Ternary operation requires tensor to be in Tile layout when working with non-sharded input tensor. "
            "Input "
            "tensor layout: 0",
        )
    memory_config = memory_config or input_tensor.spec.memory_config
    if output_tensor is not None and output_tensor.spec.dtype is not input_tensor.spec.dtype:
        raise DTypeError(
            f"{operator}: output_tensor is {output_tensor.spec.dtype.name}, "
            f"the result is {input_tensor.spec.dtype.name}."
        )
    options: dict[str, Any] = {"memory_config": memory_config}
    last: dict[str, Any] = options if output_tensor is None else {"output_tensor": output_tensor}
    result: Tensor
    if high is None:
        result = where(_BINARY["ge"](input_tensor, low, **options), input_tensor, low, **last)
        return result
    if low is None:
        result = where(_BINARY["le"](input_tensor, high, **options), input_tensor, high, **last)
        return result
    both = Options(memory_config=memory_config)
    smaller = _pick(operator, "binary_min", BinaryOpType.MINIMUM)
    below = compute(smaller, input_tensor, high, both)
    lower_end = compute(smaller, low, high, both)
    return compute(_pick(operator, "binary_max", BinaryOpType.MAXIMUM), below, lower_end, Options(**last))


def _signature(name: str, kind: Kind, run: Any) -> Signature:
    ends = tuple(
        Param(end, kind, None, doc=f"{side} end; a tensor is broadcast. Open if None; not both.")
        for end, side in (("min", "Lower"), ("max", "Upper"))
    )
    keywords = (MEMORY_CONFIG_OPTION, OUTPUT_TENSOR_OPTION) if name == "clamp" else (MEMORY_CONFIG_OPTION,)
    return Signature((INPUT_TENSOR, *ends), keywords, run=partial(run, f"ttnn.{name}"))


def _register(name: str) -> FastOperation:
    return register(
        Op(
            name=name,
            signatures=(_signature(name, TENSOR, _to_tensors), _signature(name, FLOAT, _to_numbers)),
            run=partial(_to_tensors, f"ttnn.{name}"),
            doc="Return `input_tensor` clamped to [`min`, `max`].\n"
            "Where `min` is larger than `max`, the output is `max`.",
            source="tt-metal `ckernel_sfpu_clamp.h`",
            dtypes=(*FLOAT_INPUTS, _INT32),
            layouts=LAYOUTS,
            golden=g.clamp,
            # The ends of the interval are truncated to bfloat16.
            accuracy=max_ulp((DataType.BFLOAT16, 1), (DataType.FLOAT32, 0)),
            engine=("unary", "binary", "ternary"),
            family="unary",
            raises=(
                ("ParameterError", "neither `min` nor `max` is given."),
                ("DTypeError", "the input holds unsigned integers, or a bound is out of range of int32."),
                ("ShapeError", "a bound is a tensor that cannot be broadcast to the input."),
                ("LayoutError", "an end is a tensor, and not all tensors have one layout."),
                ("StorageError", "a tensor is on the host, deallocated or on another device."),
            ),
            examples=((-1, 2), (0, None), (None, 1)),
            steps={UnaryOpType.CLAMP_TSS: with_numbers("clamp", 2)},
        )
    )


clamp = _register("clamp")
clip = _register("clip")
