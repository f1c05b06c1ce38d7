"""Predicates of one tensor: 1 where true, else 0.

Source: the kernels that each entry names.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from ttnn.base.enums import DataType, UnaryOpType
from ttnn.base.memory_config import MemoryConfig
from ttnn.golden.eltwise.unary import formula, plain
from ttnn.operation.registry import FastOperation, Op, register
from ttnn.operation.signature import Signature
from ttnn.operation.steps import ChainStep
from ttnn.ops._programs.common import IGNORED_MEMORY_CONFIG, INPUT_TENSOR
from ttnn.ops.eltwise.unary.family import FLOAT_INPUTS, LAYOUTS, Unary, measured, register_unary, run_unary
from ttnn.tensor.tensor import Tensor

_U: Final = UnaryOpType
_NOT_TABULATED: Final = (DataType.UINT32, DataType.UINT16)


def _int32(name: str) -> dict[DataType, list[ChainStep]]:
    return {DataType.INT32: [(f"{name}_int32", "int32")]}


def _any_integer(name: str) -> dict[DataType, list[ChainStep]]:
    """Return the functions of signed and of unsigned words.

    Only of the latter is 2**31 not 0.
    """
    return _int32(name) | {dtype: [(f"{name}_int32", "uint32")] for dtype in _NOT_TABULATED}


def _where(condition: str) -> str:
    return f"Return 1 where `input_tensor` {condition}, else 0."


TABLE: Final = (
    Unary("gtz", _U.GTZ, formula("gtz", "Return x > 0.", lambda x: x > 0), _where("is greater than 0"),
          integers=_int32("gtz"), exact=True, kernel="ckernel_sfpu_comp.h"),
    Unary("ltz", _U.LTZ, formula("ltz", "Return x < 0.", lambda x: x < 0), _where("is less than 0"),
          integers=_int32("ltz"), exact=True, kernel="ckernel_sfpu_comp.h"),
    Unary("gez", _U.GEZ, formula("gez", "Return x >= 0.", lambda x: x >= 0), _where("is at least 0"),
          integers=_int32("gez"), exact=True, kernel="ckernel_sfpu_comp.h"),
    Unary("lez", _U.LEZ, formula("lez", "Return x <= 0.", lambda x: x <= 0), _where("is at most 0"),
          integers=_int32("lez"), exact=True, kernel="ckernel_sfpu_comp.h"),
    Unary("eqz", _U.EQZ, formula("eqz", "Return x == 0.", lambda x: x == 0), _where("is 0"),
          integers=_any_integer("eqz"), reference=_NOT_TABULATED, exact=True, kernel="ckernel_sfpu_comp.h"),
    Unary("nez", _U.NEZ, formula("nez", "Return x != 0.", lambda x: x != 0), _where("is not 0"),
          integers=_any_integer("nez"), reference=_NOT_TABULATED, exact=True, kernel="ckernel_sfpu_comp.h"),
    Unary("logical_not", _U.LOGICAL_NOT_UNARY, formula("logical_not", "Return x == 0.", lambda x: x == 0),
          _where("is 0"), integers=_any_integer("eqz"), reference=(DataType.INT32, *_NOT_TABULATED),
          ulp=(0, 8388610)),
    Unary("signbit", _U.SIGNBIT, plain("signbit", "Return whether the sign bit is set."),
          _where("has the sign bit set"),
          integers=_int32("signbit"), reference=(DataType.INT32,), ulp=(0, 0)),
    Unary("isfinite", _U.ISFINITE, plain("isfinite", "Return whether x is finite."), _where("is finite"),
          exact=True, kernel="ckernel_sfpu_isinf_isnan.h"),
    Unary("isinf", _U.ISINF, plain("isinf", "Return whether x is infinite."), _where("is infinity or -infinity"),
          exact=True, kernel="ckernel_sfpu_isinf_isnan.h"),
    Unary("isnan", _U.ISNAN, plain("isnan", "Return whether x is NaN."), _where("is NaN"), exact=True,
          kernel="ckernel_sfpu_isinf_isnan.h"),
    Unary("isneginf", _U.ISNEGINF, plain("isneginf", "Return whether x is -infinity."), _where("is -infinity"),
          exact=True, kernel="ckernel_sfpu_isinf_isnan.h"),
    Unary("isposinf", _U.ISPOSINF, plain("isposinf", "Return whether x is +infinity."), _where("is +infinity"),
          exact=True, kernel="ckernel_sfpu_isinf_isnan.h"),
)  # fmt: skip

OPERATORS: Final[dict[str, FastOperation]] = {entry.name: register_unary(entry) for entry in TABLE}


def _logical_not_in_place(input_tensor: Tensor, memory_config: MemoryConfig | None) -> Tensor:
    return run_unary(_LOGICAL_NOT_IN_PLACE, input_tensor, memory_config, input_tensor)


_LOGICAL_NOT: Final = next(entry for entry in TABLE if entry.name == "logical_not")
_LOGICAL_NOT_IN_PLACE: Final = replace(_LOGICAL_NOT, name="logical_not_")

logical_not_ = register(
    Op(
        name="logical_not_",
        signatures=(Signature((INPUT_TENSOR,), (IGNORED_MEMORY_CONFIG,)),),
        run=_logical_not_in_place,
        doc="Write 1 to `input_tensor` where it is 0, else 0.\nIt is returned; views of it share the result.",
        source="tt-metal `ckernel_sfpu_logical_not.h`",
        dtypes=(*FLOAT_INPUTS, *_LOGICAL_NOT.integers),
        layouts=LAYOUTS,
        golden=_LOGICAL_NOT.golden,
        reference=_LOGICAL_NOT.reference,
        accuracy=measured(*_LOGICAL_NOT.ulp),
        engine=("unary",),
        family="unary",
        raises=(
            ("DTypeError", "the integer data type is not supported."),
            ("StorageError", "the input is on the host."),
        ),
    )
)
