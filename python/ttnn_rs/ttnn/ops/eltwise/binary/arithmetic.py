"""Sums, differences and products.

The FPU adds exactly and rounds once; the packer of a 16-bit result rounds a second time. Integers wrap.
Source: tt-metal `ttnn/cpp/ttnn/operations/eltwise/binary_ng`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from ttnn.base.enums import BinaryOpType, DataType, UnaryOpType
from ttnn.golden.eltwise import binary as golden
from ttnn.operation.accuracy import max_ulp
from ttnn.operation.signature import NUMBER, TENSOR
from ttnn.operation.steps import with_numbers
from ttnn.ops._programs.common import INTEGERS, on_device
from ttnn.ops.eltwise.binary.checks import broadcast, check_in_place, on_host
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
_FAST_DOC: Final = "No effect."


def _integers(op: str) -> dict[DataType, tuple[str, str]]:
    """Return the programs for integers, which wrap.

    Signed and unsigned ones have the same bits.
    """
    return dict.fromkeys(_WRAPPING, (f"{op}_int", "int32"))


def _run(arithmetic: Arithmetic, a: Any, b: Any, _fast: bool | None, options: Options) -> Tensor:
    if arithmetic.op_type is BinaryOpType.MUL:
        a, b = promoted(arithmetic.name, a, b)
    return compute(arithmetic, a, b, options)


def _run_reversed(arithmetic: Arithmetic, a: Tensor, b: Any, _fast: bool | None, options: Options) -> Tensor:
    # The program's second operand is a: the FPU adds its negative, the SFPU subtracts it.
    on_device(arithmetic.name, a, "input_tensor_a", on_host("A"))
    if options.output_tensor is a and isinstance(b, Tensor):
        shape = broadcast(arithmetic.name, a.spec.shape._dims, b.spec.shape._dims)
        check_in_place(arithmetic.name, a.spec, b.spec, shape)
    if options.output_tensor is None:
        options.dtype = options.dtype or a.spec.dtype
        options.memory_config = options.memory_config or a.spec.memory_config
    options.activations_a, options.activations_b = options.activations_b, options.activations_a
    return compute(arithmetic, b, a, options)


def _run_squared_difference(arithmetic: Arithmetic, a: Tensor, b: Any, _fast: bool | None, options: Options) -> Tensor:
    if a.spec.dtype not in INTEGERS:
        return compute(arithmetic, a, b, options)
    difference = compute(arithmetic, a, b, replace(options, dtype=None, output_tensor=None, activations=()))
    options = replace(options, activations_a=(), activations_b=())
    return compute(_SQUARE, difference, difference, options)


_SQUARE: Final = Arithmetic("ttnn.multiply", BinaryOpType.MUL, "mul", "mul_binary", integers=_integers("mul"))


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
            "", BinaryOpType.RSUB, "add", "sub_binary",
            sfpu_in_bfloat16=False, blocks_on_sfpu=False, before_b_fpu=(("neg", "default"),),
            integers=_integers("sub"), mixes_floats=True,
        ),
        golden.rsub, "reversed difference `b - a`",
        both((*COMMON, fast_option(True, _FAST_DOC, none=True)), scalar_name="input_b"),
        _run_reversed, accuracy=_ACCURACY, reference=(DataType.UINT16,),
        in_place=_in_place(("input_a", "input_b"), True), steps={UnaryOpType.RSUB: with_numbers("rsub", 1)},
    ),
    Binary(
        "squared_difference",
        Arithmetic(
            "", BinaryOpType.SQUARED_DIFFERENCE, "sub", "sub_binary",
            sfpu_in_bfloat16=False, blocks_on_sfpu=False, after=(("square", "default"),),
            integers=_integers("sub"), mixes_floats=True,
        ),
        golden.squared_difference, "squared difference `(a - b)^2`", both((*COMMON, *CORES)), _run_squared_difference,
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
