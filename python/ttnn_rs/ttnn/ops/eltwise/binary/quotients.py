"""Quotients and what they leave: `div`, `fmod`, `remainder`, `rdiv`.

Source: tt-metal `ttnn/cpp/ttnn/operations/eltwise/binary_ng`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final

import numpy as np

from ttnn.base.core_range import CoreRangeSet
from ttnn.base.enums import BinaryOpType, DataType, UnaryOpType
from ttnn.base.exceptions import ArgumentError, DTypeError
from ttnn.base.memory_config import MemoryConfig
from ttnn.golden.eltwise import binary as golden
from ttnn.operation.accuracy import max_ulp
from ttnn.operation.domain import positive
from ttnn.operation.registry import Op, register
from ttnn.operation.signature import FLOAT, NUMBER, TENSOR, Param, Signature, instance_kind
from ttnn.operation.steps import ChainStep, Steps, inverse, step, steps_for, with_numbers
from ttnn.ops._programs.common import (
    INPUT_TENSOR,
    INTEGERS,
    MEMORY_CONFIG_OPTION,
    OUTPUT_TENSOR_OPTION,
    SUB_CORE_GRIDS_OPTION,
    agreed_dtype,
    as_float,
    on_device,
)
from ttnn.ops._programs.sfpu_chain import apply_chain
from ttnn.ops._programs.typecast import cast
from ttnn.ops.eltwise.binary.checks import not_defined, on_host
from ttnn.ops.eltwise.binary.compute import Options, compute
from ttnn.ops.eltwise.binary.family import (
    ACTIVATION_OPTIONS,
    COMMON,
    CORES,
    FAST,
    LAYOUTS,
    Binary,
    Form,
    both,
    fast_option,
    measured,
    register_binary,
    register_in_place,
)
from ttnn.ops.eltwise.binary.program import Arithmetic
from ttnn.ops.eltwise.binary.promotion import promoted
from ttnn.tensor.tensor import Tensor

_B: Final = BinaryOpType
_INT32, _UINT32 = DataType.INT32, DataType.UINT32
_ROUNDINGS: Final = ("trunc", "floor")
_FLOATING: Final = (float, np.floating)
_FAST_DOC: Final = "Multiply by the reciprocal of `b`."
ROUNDING_OPTION: Final = Param(
    "rounding_mode", instance_kind("str", str), None, doc='"trunc", "floor", or None for no rounding.'
)


@lru_cache(maxsize=16)
def _fast(arithmetic: Arithmetic) -> Arithmetic:
    """Quotient by reciprocal.

    The reciprocal is stored in a buffer of b's data type.
    """
    recip: tuple[ChainStep, ...] = (("recip", "accurate"),)
    return replace(arithmetic, sfpu_in_bfloat16=False, blocks_on_sfpu=False, before_b=recip)


@lru_cache(maxsize=16)
def _whole(arithmetic: Arithmetic, rounding: str) -> Arithmetic:
    """The whole quotient of integers."""
    op_type = _B.DIV_FLOOR if rounding == "floor" else _B.DIV_TRUNC
    functions = {_INT32: ("div_int32_floor", rounding)}
    return replace(arithmetic, op_type=op_type, integers=functions, integer_result=None)


def _types(a: Any, b: Any) -> set[DataType]:
    return {operand.spec.dtype for operand in (a, b) if isinstance(operand, Tensor)}


def check_rounding(operator: str, rounding: str | None) -> None:
    """Refuse rounding modes that there are none of.

    Raises:
        ArgumentError: the mode is another string.
    """
    if rounding is not None and rounding not in _ROUNDINGS:
        raise ArgumentError(
            f'{operator}: rounding_mode={rounding!r} is not None, "trunc" or "floor".',
            vendor="Incorrect rounding mode (expected None, 'trunc', or 'floor')",
        )


def quotient(
    arithmetic: Arithmetic, a: Any, b: Any, fast: bool | None, rounding: str | None, options: Options
) -> Tensor:
    """Return a / b, rounded as asked for."""
    check_rounding(arithmetic.name, rounding)
    a, b = promoted(arithmetic.name, a, b)
    if _types(a, b) == {_INT32}:
        return _of_integers(arithmetic, a, b, fast, rounding, options)
    # For float32 there is one program, and a bfloat16 quotient that is rounded afterwards is never the fast one.
    if fast and _types(a, b) != {DataType.FLOAT32} and not (rounding and DataType.BFLOAT16 in _types(a, b)):
        arithmetic = _fast(arithmetic)
    if rounding is None:
        return compute(arithmetic, a, b, options)
    return _rounded(arithmetic, a, b, rounding, options)


def _of_integers(
    arithmetic: Arithmetic, a: Any, b: Any, fast: bool | None, rounding: str | None, options: Options
) -> Tensor:
    name = arithmetic.name
    if fast:
        raise DTypeError(
            f"{name}: {FAST}=True is for floating point; the operands are INT32.",
            vendor="Integer Division does not support fast_and_approximate_mode=true true",
        )
    if rounding is not None:
        return compute(_whole(arithmetic, rounding), a, b, options)
    for dtype in (options.dtype, None if options.output_tensor is None else options.output_tensor.spec.dtype):
        if dtype not in (None, DataType.FLOAT32):
            raise DTypeError(
                f"{name}: the quotient of INT32 operands is FLOAT32, got {dtype}.",
                vendor="Incorrect output_dtype value for Integer Division(rounding_mode=None) ; valid input values are "
                "None "
                "or ttnn.float32",
            )
    return compute(arithmetic, a, b, options)


def _rounded(arithmetic: Arithmetic, a: Any, b: Any, rounding: str, options: Options) -> Tensor:
    """Quotient rounded to its data type first.

    Integers are made of the rounded value.
    """
    name, output = arithmetic.name, options.output_tensor
    wanted = options.dtype if output is None else agreed_dtype(name, options.dtype, output, output.spec.dtype)
    to_integer = wanted in INTEGERS
    first = replace(options, output_tensor=None, dtype=None if to_integer else wanted)
    divided = compute(arithmetic, a, b, first)
    whole: list[ChainStep] = [(rounding, "default")]
    if not to_integer:
        return apply_chain(name, divided, whole, memory_config=options.memory_config, output_tensor=output)
    assert wanted is not None
    rounded = apply_chain(name, divided, whole, memory_config=options.memory_config)
    return cast(name, rounded, wanted, options.memory_config, output)


def _run_div(arithmetic: Arithmetic, a: Any, b: Any, fast: bool | None, options: Options) -> Tensor:
    return quotient(arithmetic, a, b, fast, options.extra.get("rounding_mode"), options)


def _left_over(op_type: UnaryOpType) -> Callable[..., Tensor]:
    """Return what computes the rest of a tensor's division by a number.

    Floating-point tensors run a function of one operand, int32 ones that of two; int32 with a fraction becomes float32.
    """

    def run(arithmetic: Arithmetic, a: Tensor, b: float, _fast: bool | None, options: Options) -> Tensor:
        on_device(arithmetic.name, a, "input_tensor_a", on_host("A"))
        if a.spec.dtype is _INT32 and isinstance(b, _FLOATING):
            a = cast(arithmetic.name, a, DataType.FLOAT32)
        if a.spec.dtype in INTEGERS or options.dtype is not None or options.has_activations:
            return compute(arithmetic, a, b, options)
        steps = steps_for(op_type, (as_float(arithmetic.name, b, "the number"),))
        assert steps is not None
        output = options.output_tensor
        return apply_chain(arithmetic.name, a, steps, memory_config=options.memory_config, output_tensor=output)

    return run


_DIV_KEYWORDS: Final = (fast_option(False, _FAST_DOC), ROUNDING_OPTION, *COMMON, *CORES)
_DIV: Final = Arithmetic(
    "", _B.DIV, "mul", "div_binary", integers={_INT32: ("div_int32", "int32_to_fp32")},
    integer_result=DataType.FLOAT32, mixes_floats=True,
)  # fmt: skip
_REMAINDER: Final = Arithmetic(
    "", _B.REMAINDER, function="remainder_binary",
    integers={_INT32: ("remainder_int32", "int32"), _UINT32: ("remainder_int32", "uint32")},
)  # fmt: skip
_FMOD: Final = Arithmetic("", _B.FMOD, function="fmod_binary", integers={_INT32: ("fmod_int32", "int32")})


def _by_number(value: float) -> list[ChainStep]:
    return [step("div_unary", "default", inverse(value))]


def _of_divisor(name: str) -> Steps:
    return Steps(1, 1, lambda value: [step(name, "default", value, inverse(value))])


TABLE: Final = (
    Binary(
        "div", _DIV, golden.div, "quotient `a / b`",
        [
            Form((TENSOR, TENSOR), _DIV_KEYWORDS),
            Form((TENSOR, NUMBER), _DIV_KEYWORDS, ("input_tensor_a", "value")),
            Form((NUMBER, TENSOR), _DIV_KEYWORDS),
            # `divide` is the same object, and calls a number by another name.
            Form((TENSOR, NUMBER), _DIV_KEYWORDS),
        ],
        # The float32 bound is that of int32 operands; those of float32 keep 0.84.
        _run_div, engine=("binary", "unary"), aliases=("divide",), accuracy=measured(0.5, 3), domain=positive,
        steps={UnaryOpType.DIV_UNARY_SFPU: Steps(1, 1, _by_number)},
    ),
    Binary(
        "fmod", _FMOD, golden.fmod, "remainder `a - b * trunc(a / b)` with the sign of `a`",
        both((MEMORY_CONFIG_OPTION, *CORES), scalar_name="scalar", run_scalar=_left_over(UnaryOpType.FMOD)),
        engine=("binary", "unary"), accuracy=measured(0.0001, 0.5, golden.sum_of_magnitudes), domain=positive,
        steps={UnaryOpType.FMOD: _of_divisor("fmod")},
    ),
    Binary(
        "remainder", _REMAINDER, golden.remainder, "modulus `a - b * floor(a / b)` with the sign of `b`",
        both((*COMMON, *CORES), run_scalar=_left_over(UnaryOpType.REMAINDER)),
        reference=(_UINT32,), engine=("binary", "unary"),
        accuracy=measured(60, 0.5, golden.sum_of_magnitudes).on_blackhole((DataType.BFLOAT16, 123)),
        domain=positive, steps={UnaryOpType.REMAINDER: _of_divisor("remainder")},
    ),
)  # fmt: skip

_IN_PLACE: Final = Binary(
    "divide", _DIV, golden.div, "quotient `a / b`", (), _run_div,
    in_place=both(
        (*ACTIVATION_OPTIONS, fast_option(False, _FAST_DOC, none=True), *CORES), names=("input_a", "input_b")
    ),
    # Of floating point only: the larger bound of `div` is that of integers.
    accuracy=max_ulp((DataType.BFLOAT16, 0.5), (DataType.FLOAT32, 0.84)),
    in_place_integers=(), aliases=("div",), domain=positive,
)  # fmt: skip

OPERATORS: Final = {
    **{name: operation for entry in TABLE for name, operation in register_binary(entry).items()},
    **register_in_place(_IN_PLACE),
}


def _rdiv(
    input_tensor: Tensor,
    value: float,
    rounding_mode: str | None,
    memory_config: MemoryConfig | None,
    output_tensor: Tensor | None,
    _sub_core_grids: CoreRangeSet | None,
) -> Tensor:
    name, dtype = "ttnn.rdiv", input_tensor.spec.dtype
    check_rounding(name, rounding_mode)
    if dtype in INTEGERS:
        raise not_defined(Arithmetic(name, _B.DIV), dtype)
    steps = [step("rdiv", rounding_mode or "default", as_float(name, value, "value"))]
    return apply_chain(name, input_tensor, steps, memory_config=memory_config, output_tensor=output_tensor)


rdiv = register(
    Op(
        name="rdiv",
        signatures=(
            Signature(
                (INPUT_TENSOR, Param("value", FLOAT, doc="Dividend.")),
                (ROUNDING_OPTION, MEMORY_CONFIG_OPTION, OUTPUT_TENSOR_OPTION, SUB_CORE_GRIDS_OPTION),
            ),
        ),
        run=_rdiv,
        doc="Return the element-wise quotient `value / input_tensor`, rounded by `rounding_mode`.",
        source="tt-metal `ckernel_sfpu_rdiv.h`",
        dtypes=(DataType.BFLOAT16, DataType.BFLOAT8_B, DataType.FLOAT32),
        layouts=LAYOUTS,
        golden=golden.rdiv,
        # Of any value: its product with the rounded reciprocal, which is subnormal for larger operands.
        accuracy=max_ulp((DataType.BFLOAT16, 2), (DataType.FLOAT32, 2), largest=2.0**125).on_blackhole(
            (DataType.FLOAT32, 2.5)
        ),
        engine=("unary",),
        family="unary",
        raises=(("DTypeError", "integer data types are not supported."), ("StorageError", "the input is on the host.")),
        domain=positive,
        examples=((2.0,),),
        steps={UnaryOpType.RDIV: with_numbers("rdiv", 1)},
    )
)
