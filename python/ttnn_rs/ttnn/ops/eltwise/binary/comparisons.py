"""Comparisons, logic and functions of two operands that are one program each.

Source: tt-metal `ttnn/cpp/ttnn/operations/eltwise/binary_ng`: which unit computes
for which data types, and what runs before and after.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ttnn.base.enums import BinaryOpType, DataType, UnaryOpType
from ttnn.golden.eltwise import binary as golden
from ttnn.operation.accuracy import max_ulp
from ttnn.operation.domain import positive
from ttnn.operation.signature import TENSOR
from ttnn.operation.steps import ChainStep, with_numbers
from ttnn.ops._programs.common import MEMORY_CONFIG_OPTION
from ttnn.ops.eltwise.binary.family import (
    ACTIVATION_OPTIONS,
    COMMON,
    CORES,
    Binary,
    Form,
    both,
    measured,
    register_binary,
)
from ttnn.ops.eltwise.binary.program import BY_SIGN, Arithmetic

_B: Final = BinaryOpType
_INT32, _UINT32, _UINT16, _UINT8 = DataType.INT32, DataType.UINT32, DataType.UINT16, DataType.UINT8
_NEZ: Final[tuple[ChainStep, ...]] = (("nez", "default"),)
_NEZ_INTEGER: Final[tuple[ChainStep, ...]] = (("nez_int32", BY_SIGN),)
NEW: Final = both((*COMMON, *CORES))
IN_PLACE: Final = both((*ACTIVATION_OPTIONS, *CORES), names=("input_a", "input_b"))
# A square of block floats is off by half a step of the largest, and so are the other's and the sum's.
_HYPOT: Final = max_ulp(
    (DataType.BFLOAT16, 1.5), (DataType.FLOAT32, 2), (DataType.BFLOAT8_B, 10), (DataType.BFLOAT4_B, 3)
)
_TWO_TENSORS: Final = (Form((TENSOR, TENSOR), (MEMORY_CONFIG_OPTION,)),)


def _compared(name: str, op_type: BinaryOpType, ufunc: Callable[..., Any], sign: str, zero: str) -> Binary:
    """A comparison.

    On block floats, and on bfloat16 with float32, the FPU subtracts and Dst is compared with 0.
    """
    integers = {
        _INT32: (f"{name}_int", "int32"),
        _UINT32: (f"{name}_int", "uint32"),
        _UINT16: (f"{name}_int", "int32"),
        _UINT8: (f"{name}_int", "int32"),
    }
    return Binary(
        name,
        Arithmetic(
            "", op_type, "sub", f"{name}_binary", blocks_on_sfpu=False, mixed_on_sfpu=False,
            after_fpu=((zero, "default"),),
            integers=integers, mixes_floats=True,
        ),
        golden.of_two(name, f"Return a {sign} b.", ufunc), f"comparison `a {sign} b` (1 or 0)", NEW,
        exact=True, reference=(_UINT16, _UINT8), in_place=IN_PLACE,
        steps={UnaryOpType[f"UNARY_{name.upper()}"]: with_numbers(f"unary_{name}", 1)},
    )  # fmt: skip


def _logical(name: str, op_type: BinaryOpType, ufunc: Callable[..., Any], op: str) -> Binary:
    """A logical operator.

    Both operands become 0 or 1, then one operation of the FPU, then 0 or 1 again.
    """
    integers = (_INT32, _UINT32, _UINT16)
    return Binary(
        name,
        Arithmetic(
            "", op_type, op, f"{op}_binary", sfpu_in_bfloat16=False, blocks_on_sfpu=False, before=_NEZ, after=_NEZ,
            integers=dict.fromkeys(integers, (f"{op}_int", "int32")), before_integers=_NEZ_INTEGER,
            after_integers=_NEZ_INTEGER, mixes_floats=True,
        ),
        golden.of_two(name, f"Return {name.replace('_', ' ')}.", ufunc),
        f"logical {name.removeprefix('logical_').upper()} `a {name.removeprefix('logical_')} b` (1 or 0)", NEW,
        exact=True, reference=integers, in_place=IN_PLACE,
    )  # fmt: skip


TABLE: Final = (
    _compared("eq", _B.EQ, np.equal, "==", "eqz"),
    _compared("ne", _B.NE, np.not_equal, "!=", "nez"),
    _compared("lt", _B.LT, np.less, "<", "ltz"),
    _compared("le", _B.LE, np.less_equal, "<=", "lez"),
    _compared("gt", _B.GT, np.greater, ">", "gtz"),
    _compared("ge", _B.GE, np.greater_equal, ">=", "gez"),
    _logical("logical_and", _B.LOGICAL_AND, np.logical_and, "mul"),
    _logical("logical_or", _B.LOGICAL_OR, np.logical_or, "add"),
    _logical("logical_xor", _B.LOGICAL_XOR, np.logical_xor, "sub"),
    Binary(
        "xlogy", Arithmetic("", _B.XLOGY, function="xlogy"),
        golden.xlogy, "product `a * ln(b)`", NEW, accuracy=measured(3, 7500, golden.factors_of_xlogy),
        domain=positive,
    ),
    Binary(
        "logaddexp", Arithmetic("", _B.LOGADDEXP, function="logaddexp"),
        golden.of_two("logaddexp", "Return ln(e^a + e^b).", np.logaddexp),
          "logarithm `ln(e^a + e^b)`", NEW, in_place=IN_PLACE,
        accuracy=measured(1.2, 1.4, golden.largest_magnitude_or_1),
    ),
    Binary(
        "logaddexp2", Arithmetic("", _B.LOGADDEXP2, function="logaddexp2"),
        golden.of_two("logaddexp2", "Return log2(2^a + 2^b).", np.logaddexp2),
          "base-2 logarithm `log2(2^a + 2^b)`", NEW,
        in_place=IN_PLACE, accuracy=measured(1.4, 1.6, golden.largest_magnitude_or_1),
    ),
    # 2^b is stored in a buffer of b's data type.
    Binary(
        "ldexp",
        Arithmetic(
            "", _B.LDEXP, "mul", "mul_binary", sfpu_in_bfloat16=False, blocks_on_sfpu=False,
            before_b=(("exp2", "default"),),
        ),
        golden.of_two("ldexp", "Return a * 2^b.", lambda a, b: a * np.exp2(b)), "product `a * 2^b`", NEW,
        in_place=IN_PLACE, accuracy=measured(2.3, 1.9),
    ),
    Binary(
        "atan2", Arithmetic("", _B.ATAN2, function="atan2"),
        golden.of_two("atan2", "Return the angle of the point (b, a).", np.arctan2),
        "angle `atan2(a, b)` in radians, in [-pi, pi]", _TWO_TENSORS,
        accuracy=measured(0.65, 2.9).on_blackhole((DataType.BFLOAT16, 1.84), (DataType.FLOAT32, 3.3)),
    ),
    # The squares go through buffers of the operands' data types.
    Binary(
        "hypot",
        Arithmetic(
            "", _B.HYPOT, "add", "add_binary", sfpu_in_bfloat16=False, blocks_on_sfpu=False,
            before=(("square", "default"),), after=(("sqrt", "accurate"),),
        ),
        golden.of_two("hypot", "Return sqrt(a^2 + b^2).", np.hypot), "hypotenuse `sqrt(a^2 + b^2)`",
        _TWO_TENSORS, accuracy=_HYPOT,
    ),
    Binary(
        "nextafter",
        Arithmetic("", _B.NEXTAFTER, function="nextafter", floats=(DataType.BFLOAT16, DataType.FLOAT32)),
        golden.nextafter, "next representable value after `a` toward `b`", _TWO_TENSORS,
        accuracy=measured(1, 0),
    ),
)  # fmt: skip

OPERATORS: Final = {name: operation for entry in TABLE for name, operation in register_binary(entry).items()}
