"""Binary operators with further parameters, or composed of other operators.

Source: TT-NN docs of each operator; tt-metal `ttnn/cpp/ttnn/operations/eltwise/binary_ng`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final

from ttnn.base.enums import BLOCK_FLOATS, BinaryOpType, DataType
from ttnn.golden.eltwise import binary as g
from ttnn.operation.accuracy import max_ulp
from ttnn.operation.signature import BOOLEAN, FLOAT, NUMBER, TENSOR, Param
from ttnn.operation.steps import ChainStep, step, word
from ttnn.ops._programs.common import MEMORY_CONFIG_OPTION, as_float
from ttnn.ops._programs.sfpu_chain import apply_chain
from ttnn.ops._programs.typecast import cast
from ttnn.ops.eltwise.binary.compute import Options, compute
from ttnn.ops.eltwise.binary.family import (
    ACTIVATION_OPTIONS,
    COMMON,
    CORES,
    IGNORED_ACTIVATIONS,
    IGNORED_DTYPE,
    OUTPUT,
    Binary,
    Form,
    both,
    fast_option,
    measured,
    register_binary,
)
from ttnn.ops.eltwise.binary.program import Arithmetic
from ttnn.tensor.tensor import Tensor

_B: Final = BinaryOpType
_GELU: Final[dict[bool, tuple[ChainStep, ...]]] = {
    False: (("gelu", "accurate"),),
    True: (("gelu", "approx_lut"),),
}
_SCALED: Final = max_ulp((DataType.BFLOAT16, 2), (DataType.FLOAT32, 1), magnitude=g.sum_of_magnitudes)
_GELU_FAST: Final = fast_option(False, "Use the piecewise linear approximation.")


@lru_cache(maxsize=64)
def _isclose_with(arithmetic: Arithmetic, relative: int, absolute: int, equal_nan: bool) -> Arithmetic:
    return replace(arithmetic, variant="equal_nan" if equal_nan else "default", parameters=(relative, absolute))


def _run_isclose(arithmetic: Arithmetic, a: Tensor, b: Tensor, _fast: bool | None, options: Options) -> Tensor:
    name, extra = arithmetic.name, options.extra
    tolerances = (word(as_float(name, extra[key], key)) for key in ("rtol", "atol"))
    if a._device is not None and b._device is not None:
        a, b = (cast(name, x, DataType.FLOAT32) if x.spec.dtype is DataType.INT32 else x for x in (a, b))
    if {a.spec.dtype, b.spec.dtype}.intersection(BLOCK_FLOATS):
        arithmetic = replace(arithmetic, mixes_floats=False)
    return compute(_isclose_with(arithmetic, *tolerances, extra["equal_nan"]), a, b, options)


@lru_cache(maxsize=64)
def _scaled(arithmetic: Arithmetic, alpha: float) -> Arithmetic:
    return replace(arithmetic, before_b=(step("mul_unary", "default", alpha),))


def _run_scaled(arithmetic: Arithmetic, a: Tensor, b: Tensor, _fast: bool | None, options: Options) -> Tensor:
    alpha = as_float(arithmetic.name, options.extra["alpha"], "alpha")
    return compute(_scaled(arithmetic, alpha), a, b, options)


@lru_cache(maxsize=16)
def _with_gelu(arithmetic: Arithmetic, fast: bool) -> Arithmetic:
    return replace(arithmetic, after=_GELU[fast])


def _run_bias_gelu(arithmetic: Arithmetic, a: Tensor, b: Any, fast: bool | None, options: Options) -> Tensor:
    return compute(_with_gelu(arithmetic, bool(fast)), a, b, options)


def _run_bias_gelu_of_number(
    arithmetic: Arithmetic, a: Tensor, b: float, fast: bool | None, options: Options
) -> Tensor:
    """A sum, and its function: two programs with a tensor between them."""
    total = compute(arithmetic, a, b, Options(None, options.memory_config, options.output_tensor))
    return apply_chain(
        arithmetic.name,
        total,
        list(_GELU[bool(fast)]),
        memory_config=options.memory_config,
        output_tensor=options.output_tensor,
    )


def _scaled_entry(name: str, op_type: BinaryOpType, op: str, golden: Callable[..., Any], sign: str) -> Binary:
    # The product is stored in a buffer of b's data type.
    return Binary(
        name,
        Arithmetic(
            "", op_type, op, f"{op}_binary", sfpu_in_bfloat16=False, blocks_on_sfpu=False, mixes_floats=True,
            # The words of integers are read as float32 where they are multiplied.
            integers=dict.fromkeys((DataType.INT32, DataType.UINT32), (f"{op}_int", "int32")),
        ),
        golden, f"{'sum' if sign == '+' else 'difference'} `a {sign} alpha * b`",
        (Form((TENSOR, TENSOR), OUTPUT, more=(Param("alpha", FLOAT, doc="Multiplier of `b`."),)),),
        _run_scaled, accuracy=_SCALED, integers=(), examples=((0.5,),),
    )  # fmt: skip


TABLE: Final = (
    Binary(
        "isclose",
        Arithmetic("", _B.ISCLOSE, function="isclose", mixes_floats=True),
        g.isclose, "comparison `|a - b| <= atol + rtol * |b|` (0/1; int32 in float32)",
        (
            Form(
                (TENSOR, TENSOR),
                (
                    Param("rtol", FLOAT, 9.999999747378752e-06, doc="Relative tolerance, a multiple of `|b|`."),
                    Param("atol", FLOAT, 9.99999993922529e-09, doc="Absolute tolerance."),
                    Param("equal_nan", BOOLEAN, False, doc="Whether two NaN compare as close."),
                    MEMORY_CONFIG_OPTION,
                ),
            ),
        ),
        _run_isclose, exact=True, integers=(DataType.INT32,), engine=("binary", "unary"),
    ),
    _scaled_entry("addalpha", _B.ADDALPHA, "add", g.addalpha, "+"),
    _scaled_entry("subalpha", _B.SUBALPHA, "sub", g.subalpha, "-"),
    Binary(
        "bias_gelu",
        Arithmetic("", _B.BIAS_GELU, "add", "add_binary", sfpu_in_bfloat16=False, blocks_on_sfpu=False),
        g.bias_gelu, "GELU `gelu(a + b)` of the sum",
        (
            Form((TENSOR, NUMBER), (_GELU_FAST, IGNORED_DTYPE, *OUTPUT, *IGNORED_ACTIVATIONS, *CORES),
                 run=_run_bias_gelu_of_number),
            Form((TENSOR, TENSOR), (_GELU_FAST, *COMMON, *CORES)),
        ),
        _run_bias_gelu, engine=("binary", "unary"),
        in_place=both((*ACTIVATION_OPTIONS, *CORES), names=("input_a", "input_b")), in_place_run=_run_bias_gelu,
        in_place_golden=g.bias_gelu_in_place,
        accuracy=measured(256, 4.3e7).on_blackhole((DataType.FLOAT32, 5.4e7)),
    ),
)  # fmt: skip

OPERATORS: Final = {name: operation for entry in TABLE for name, operation in register_binary(entry).items()}
