"""Sums, differences and products.

The FPU adds exactly and rounds once; the packer of a 16-bit result rounds a second time. Integers wrap.
The flag `fast_and_approximate_mode` selects the unit for bfloat16, alone or with float32: the FPU if it is set, else
the SFPU, which rounds to nearest even. Two float32 operands use the SFPU and block floats the FPU in either case.
Source: tt-metal `ttnn/cpp/ttnn/operations/eltwise/binary_ng`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any, Final

from ttnn.base.enums import BinaryOpType, DataType, UnaryOpType
from ttnn.golden.eltwise import binary as golden
from ttnn.operation.accuracy import max_ulp
from ttnn.operation.signature import NUMBER, TENSOR
from ttnn.operation.steps import with_numbers
from ttnn.ops.eltwise.binary.compute import Options, compute
from ttnn.ops.eltwise.binary.family import (
    ACTIVATION_OPTIONS,
    COMMON,
    CORES,
    Binary,
    Form,
    both,
    fast_option,
    measured,
    register_binary,
)
from ttnn.ops.eltwise.binary.program import Arithmetic
from ttnn.ops.eltwise.binary.promotion import promoted
from ttnn.tensor.tensor import Tensor

_WRAPPING: Final = (DataType.INT32, DataType.UINT32, DataType.UINT16)
_ACCURACY: Final = max_ulp((DataType.BFLOAT16, 1), (DataType.FLOAT32, 1))
_FAST_DOC: Final = "Use the FPU for bfloat16; the SFPU rounds to nearest even."


def _integers(op: str) -> dict[DataType, tuple[str, str]]:
    """Return the programs for integers, which wrap.

    Signed and unsigned ones have the same bits.
    """
    return dict.fromkeys(_WRAPPING, (f"{op}_int", "int32"))


@lru_cache(maxsize=64)
def _by_flag(arithmetic: Arithmetic, fast: bool) -> Arithmetic:
    """Return the program that the flag selects."""
    # The kernel of products rounds to nearest even in each of its variants.
    variant = "default" if fast or arithmetic.op_type is BinaryOpType.MUL else "nearest_even"
    return replace(arithmetic, sfpu_in_bfloat16=not fast, variant=variant)


def _run(arithmetic: Arithmetic, a: Any, b: Any, fast: bool | None, options: Options) -> Tensor:
    if arithmetic.op_type is BinaryOpType.MUL:
        a, b = promoted(arithmetic.name, a, b)
    return compute(arithmetic if fast is None else _by_flag(arithmetic, fast), a, b, options)


def _forms(fast: bool) -> list[Form]:
    keywords = (fast_option(fast, _FAST_DOC), *COMMON, *CORES)
    return [*both(keywords), Form((NUMBER, TENSOR), keywords)]


def _in_place(names: tuple[str, str], fast: bool) -> list[Form]:
    return both((*ACTIVATION_OPTIONS, fast_option(fast, _FAST_DOC, none=True), *CORES), names=names)


TABLE: Final = (
    Binary(
        "add",
        Arithmetic(
            "", BinaryOpType.ADD, "add", "add_binary",
            sfpu_in_bfloat16=False, blocks_on_sfpu=False, integers=_integers("add"), mixes_floats=True,
        ),
        golden.add, "sum `a + b`", _forms(True), _run, accuracy=_ACCURACY, reference=(DataType.UINT16,),
        in_place=_in_place(("input_tensor_a", "input_tensor_b"), True),
        steps={UnaryOpType.ADD_UNARY_SFPU: with_numbers("add_unary", 1)},
    ),
    Binary(
        "subtract",
        Arithmetic(
            "", BinaryOpType.SUB, "sub", "sub_binary",
            sfpu_in_bfloat16=False, blocks_on_sfpu=False, integers=_integers("sub"), mixes_floats=True,
        ),
        golden.subtract, "difference `a - b`", _forms(True), _run, accuracy=_ACCURACY, reference=(DataType.UINT16,),
        in_place=_in_place(("input_tensor_a", "input_tensor_b"), True), aliases=("sub",),
        steps={UnaryOpType.SUB_UNARY_SFPU: with_numbers("sub_unary", 1)},
    ),
    Binary(
        "multiply",
        Arithmetic(
            "", BinaryOpType.MUL, "mul", "mul_binary",
            blocks_on_sfpu=False, integers=_integers("mul"), mixes_floats=True,
        ),
        golden.multiply, "product `a * b`", _forms(False), _run, accuracy=_ACCURACY, reference=(DataType.UINT16,),
        in_place=_in_place(("input_a", "input_b"), False), aliases=("mul",),
        steps={UnaryOpType.MUL_UNARY_SFPU: with_numbers("mul_unary", 1)},
    ),
    Binary(
        "rsub",
        Arithmetic(
            "", BinaryOpType.RSUB, "add", "rsub_binary",
            sfpu_in_bfloat16=False, blocks_on_sfpu=False, before_a_fpu=(("neg", "default"),),
            integers=dict.fromkeys(_WRAPPING, ("sub_int", "rsub_int32")), mixes_floats=True,
        ),
        golden.rsub, "reversed difference `b - a`",
        both((*COMMON, fast_option(True, _FAST_DOC, none=True)), scalar_name="input_b"),
        _run, accuracy=_ACCURACY, reference=(DataType.UINT16,),
        in_place=_in_place(("input_a", "input_b"), True), steps={UnaryOpType.RSUB: with_numbers("rsub", 1)},
    ),
    Binary(
        "squared_difference",
        Arithmetic(
            "", BinaryOpType.SQUARED_DIFFERENCE, "sub", "sub_binary",
            sfpu_in_bfloat16=False, blocks_on_sfpu=False, after=(("square", "default"),),
            integers=_integers("sub"), after_integers=(("square_int", "int32"),), mixes_floats=True,
        ),
        golden.squared_difference, "squared difference `(a - b)^2`", both((*COMMON, *CORES)),
        reference=(DataType.UINT16,),
        in_place=both((*ACTIVATION_OPTIONS, *CORES), names=("input_a", "input_b")), accuracy=measured(2.1, 2),
    ),
)  # fmt: skip

OPERATORS: Final = {name: operation for entry in TABLE for name, operation in register_binary(entry).items()}

add, add_ = OPERATORS["add"], OPERATORS["add_"]
subtract, subtract_ = OPERATORS["subtract"], OPERATORS["subtract_"]
multiply, multiply_ = OPERATORS["multiply"], OPERATORS["multiply_"]
rsub, rsub_ = OPERATORS["rsub"], OPERATORS["rsub_"]
squared_difference, squared_difference_ = OPERATORS["squared_difference"], OPERATORS["squared_difference_"]
mul, mul_ = multiply, multiply_
sub, sub_ = subtract, subtract_
