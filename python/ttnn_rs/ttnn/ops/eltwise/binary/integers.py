"""Bits, shifts, divisors and extremes.

Shifts by less than 0 or by 32 and more return 0; `bitwise_right_shift` of unsigned integers, and by a number, then
shifts by 31. That of int32 repeats the sign.
Source: tt-metal `ttnn/cpp/ttnn/operations/eltwise/binary_ng`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from ttnn.base.enums import BinaryOpType, DataType, UnaryOpType
from ttnn.golden.eltwise import binary as g
from ttnn.operation.result_shards import of_one
from ttnn.operation.signature import INTEGER, NUMBER, TENSOR
from ttnn.operation.steps import ChainStep, steps_for, with_numbers
from ttnn.ops._programs.common import INTEGERS, as_float, on_device
from ttnn.ops._programs.sfpu_chain import apply_chain, refuse_integers
from ttnn.ops.eltwise.binary.checks import check_scalar, check_type_beside_number, on_host
from ttnn.ops.eltwise.binary.compute import Options
from ttnn.ops.eltwise.binary.family import (
    ACTIVATION_OPTIONS,
    COMMON,
    CORES,
    DTYPE_OPTION,
    IGNORED_ACTIVATIONS,
    OUTPUT,
    Binary,
    Form,
    both,
    convert_integers,
    converted,
    register_binary,
)
from ttnn.ops.eltwise.binary.program import Arithmetic
from ttnn.tensor.tensor import Tensor

_B: Final = BinaryOpType
_INT32, _UINT32, _UINT16 = DataType.INT32, DataType.UINT32, DataType.UINT16
_OF_A_NUMBER: Final = (DTYPE_OPTION, *OUTPUT, *IGNORED_ACTIVATIONS)
_TWO_TENSORS: Final = (Form((TENSOR, TENSOR), COMMON),)


def _by_number(function: str, unsigned: str = "int32") -> Callable[..., Tensor]:
    """Return what runs a function of one operand and a word."""

    def run(arithmetic: Arithmetic, a: Tensor, b: int, _fast: bool | None, options: Options) -> Tensor:
        if options.has_activations:
            return convert_integers(arithmetic, a, b, None, options)
        name, dtype = arithmetic.name, a.spec.dtype
        device = on_device(name, a, "input_tensor_a", on_host("A"))
        if options.memory_config is not None and options.output_tensor is None:
            options.memory_config = of_one(a.spec, options.memory_config, device)
            a.spec.with_memory_config(options.memory_config)
        check_type_beside_number(arithmetic, dtype)
        word = int(check_scalar(arithmetic, as_float(name, b, "the number"), dtype)) & 0xFFFFFFFF
        steps: list[ChainStep] = [(function, "int32" if dtype is _INT32 else unsigned, [word])]
        return _converted_chain(name, a, steps, options)

    return run


def _converted_chain(name: str, a: Tensor, steps: list[ChainStep], options: Options) -> Tensor:
    """Return a chain on integers, converted to the requested type."""

    def chained(options: Options) -> Tensor:
        place, output = options.memory_config, options.output_tensor
        return apply_chain(name, a, steps, memory_config=place, output_tensor=output, integers=True)

    return converted(name, a.spec.dtype, options, chained)


def _bits(function: str, unsigned: str = "int32") -> list[Form]:
    keywords = (*OUTPUT, *ACTIVATION_OPTIONS, *CORES)
    return both(keywords, scalar=INTEGER, scalar_name="input_b", run_scalar=_by_number(function, unsigned))


def _of_words(
    name: str,
    op_type: BinaryOpType,
    functions: dict[DataType, tuple[str, str]],
    golden: Callable[..., Any],
    what: str,
    forms: Sequence[Form],
) -> Binary:
    return Binary(
        name, Arithmetic("", op_type, integers=functions, floats=()), golden, what, forms, convert_integers, exact=True,
        reference=tuple(dtype for dtype in functions if dtype is _UINT16),
    )  # fmt: skip


def _bitwise(name: str, op_type: BinaryOpType, ufunc: Callable[..., Any], word: str) -> Binary:
    functions = dict.fromkeys((_INT32, _UINT32, _UINT16), (f"{name}_binary", "int32"))
    return _of_words(name, op_type, functions, g.of_integers(name, f"Return a {word} b, bit by bit.", ufunc),
                     f"bitwise {word.upper()} of `a` and `b`", _bits(name))  # fmt: skip


_LEFT: Final = dict.fromkeys((_INT32, _UINT32, _UINT16), ("binary_left_shift", "int32"))
_RIGHT: Final = {
    _INT32: ("binary_right_shift", "int32"),
    **dict.fromkeys((_UINT32, _UINT16), ("binary_right_shift", "uint32")),
}
_LOGICAL_RIGHT: Final = dict.fromkeys((_INT32, _UINT32), ("binary_logical_right_shift", "int32"))


def _of_a_number(op_type: UnaryOpType) -> Callable[..., Tensor]:
    """Return the maximum or minimum function of a tensor and number.

    It is a function of one operand, in full precision.
    """

    def run(arithmetic: Arithmetic, a: Tensor, b: float, _fast: bool | None, options: Options) -> Tensor:
        name, dtype = arithmetic.name, a.spec.dtype
        number = as_float(name, b, "the number")
        if dtype in INTEGERS:
            if dtype not in arithmetic.integers:
                refuse_integers(name, op_type, dtype)
            # The kernel gets the integer part.
            word = int(check_scalar(arithmetic, number, dtype, cut=True)) & 0xFFFFFFFF
            function, variant = arithmetic.integers[dtype]
            steps: list[ChainStep] = [(function.replace("binary", "unary"), variant, [word])]
            return _converted_chain(name, a, steps, options)

        def extreme(options: Options) -> Tensor:
            steps = steps_for(op_type, (number,))
            assert steps is not None
            return apply_chain(name, a, steps, memory_config=options.memory_config, output_tensor=options.output_tensor)

        return converted(name, dtype, options, extreme)

    return run


def _extreme(name: str, op_type: BinaryOpType, of_number: UnaryOpType, ufunc: Callable[..., Any]) -> Binary:
    short = name[:3]
    return Binary(
        name,
        Arithmetic(
            "", op_type, function=f"binary_{short}",
            integers={_INT32: (f"binary_{short}_int32", "int32"), _UINT32: (f"binary_{short}_int32", "uint32")},
        ),
        g.without_activations_of_scalars(g.of_two(name, f"Return the {name} of a and b.", ufunc)),
        f"{name} of `a` and `b`",
        (
            Form((TENSOR, NUMBER), _OF_A_NUMBER, ("input_tensor_a", "input_b"), _of_a_number(of_number)),
            Form((TENSOR, TENSOR), COMMON),
        ),
        convert_integers, exact=True,
        reference=(_UINT32,) if name == "maximum" else (), engine=("binary", "unary"),
        steps={of_number: with_numbers(f"unary_{short}", 1)},
    )  # fmt: skip


def _divisors(name: str, op_type: BinaryOpType, ufunc: Callable[..., Any], what: str) -> Binary:
    golden = g.of_integers(name, f"Return {what}.", ufunc)
    entry = _of_words(name, op_type, {_INT32: (name, "int32")}, golden, what, _TWO_TENSORS)
    return replace(entry, examples=())  # Of positive integers; their tests are in a file of their own.


TABLE: Final = (
    _bitwise("bitwise_and", _B.BITWISE_AND, np.bitwise_and, "and"),
    _bitwise("bitwise_or", _B.BITWISE_OR, np.bitwise_or, "or"),
    _bitwise("bitwise_xor", _B.BITWISE_XOR, np.bitwise_xor, "xor"),
    _of_words("bitwise_left_shift", _B.LEFT_SHIFT, _LEFT, g.left_shift, "left shift of `a` by `b` bits",
              _bits("left_shift")),
    _of_words("logical_left_shift", _B.LEFT_SHIFT, _LEFT, g.left_shift, "left shift of `a` by `b` bits",
              _bits("left_shift")),
    _of_words("bitwise_right_shift", _B.RIGHT_SHIFT, _RIGHT, g.right_shift,
              "arithmetic right shift of `a` by `b`", _bits("right_shift", "uint32")),
    _of_words("logical_right_shift", _B.LOGICAL_RIGHT_SHIFT, _LOGICAL_RIGHT, g.logical_right_shift,
              "logical right shift of `a` by `b`", both((*COMMON, *CORES))),
    _extreme("maximum", _B.MAXIMUM, UnaryOpType.MAXIMUM, np.maximum),
    _extreme("minimum", _B.MINIMUM, UnaryOpType.MINIMUM, np.minimum),
    _divisors("gcd", _B.GCD, np.gcd, "greatest common divisor of `a` and `b`"),
    _divisors("lcm", _B.LCM, np.lcm, "least common multiple of `a` and `b`"),
)  # fmt: skip

OPERATORS: Final = {name: operation for entry in TABLE for name, operation in register_binary(entry).items()}
