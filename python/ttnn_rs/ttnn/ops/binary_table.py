"""Comparisons, logic, quotients and other operators on two operands, from a table.

Source: operator programs, section 4: which unit computes for which data types, and what runs before and after.
"""

# ruff: noqa: E501 - one row per operator
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final

import numpy as np

from ttnn.golden.pairs import of_two, xlogy
from ttnn.memory_config import MemoryConfig
from ttnn.ops.accuracy import bit_exact
from ttnn.ops.activations import Activation
from ttnn.ops.arguments import BOOLEAN, NUMBER, TENSOR, Kind, Param, Signature
from ttnn.ops.binary import (
    ACTIVATION_OPTIONS,
    DTYPE_OPTION,
    FAST_DOC,
    RAISES,
    UNMODELLED,
    Arithmetic,
    Options,
    compute,
    on_host,
    operands,
)
from ttnn.ops.common import MEMORY_CONFIG_OPTION, OUTPUT_TENSOR_OPTION, on_device
from ttnn.ops.registry import FastOperation, Op, register
from ttnn.ops.steps import ChainStep
from ttnn.tensor import Tensor
from ttnn.types import BinaryOpType, DataType, Layout

_B: Final = BinaryOpType
_INT32: Final = DataType.INT32
_FLOATS: Final = (DataType.BFLOAT16, DataType.BFLOAT8_B, DataType.FLOAT32)


@dataclass(frozen=True)
class Binary:
    """One operator: its names in the engine, what is special about its program, and its reference."""

    name: str
    op_type: BinaryOpType
    golden: Callable[..., Any]
    what: str
    op: str = ""
    function: str = ""
    sfpu_in_bfloat16: bool = True
    blocks_on_sfpu: bool = True
    before: tuple[ChainStep, ...] = ()
    after: tuple[ChainStep, ...] = ()
    after_fpu: tuple[ChainStep, ...] = ()
    integers: Mapping[DataType, tuple[str, str]] = field(default_factory=dict)
    integer_result: DataType | None = None
    exact: bool = False
    in_place: bool = False
    scalars: bool = True
    fast: bool = False
    aliases: tuple[str, ...] = ()


def _compared(name: str, op_type: BinaryOpType, golden: Callable[..., Any], sign: str, zero: str) -> Binary:
    """A comparison; on block floats the matrix unit subtracts and Dst is compared with 0."""
    return Binary(
        name, op_type, of_two(name, f"Return a {sign} b.", golden), f"whether a {sign} b, 1 or 0",
        op="sub", function=f"{name}_binary", blocks_on_sfpu=False, after_fpu=((zero, "default"),),
        integers={_INT32: (f"{name}_int", "int32"), DataType.UINT32: (f"{name}_int", "uint32")},
        exact=True, in_place=True,
    )  # fmt: skip


_NEZ: Final[tuple[ChainStep, ...]] = (("nez", "default"),)


def _logical(name: str, op_type: BinaryOpType, golden: Callable[..., Any], op: str) -> Binary:
    """A logical operator: both operands become 0 or 1, then one operation of the matrix unit, then 0 or 1 again."""
    return Binary(
        name, op_type, of_two(name, f"Return {name.replace('_', ' ')}.", golden), f"{name.replace('_', ' ')}, 1 or 0",
        op=op, sfpu_in_bfloat16=False, blocks_on_sfpu=False, before=_NEZ, after=_NEZ, exact=True, in_place=True,
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
    Binary("squared_difference", _B.SQUARED_DIFFERENCE, of_two("squared_difference", "Return (a - b) squared.", lambda a, b: (a - b) ** 2), "(a - b) squared",
           op="sub", sfpu_in_bfloat16=False, blocks_on_sfpu=False, after=(("square", "default"),), in_place=True),
    Binary("divide", _B.DIV, of_two("divide", "Return a / b.", np.divide), "a / b", op="mul", function="div_binary",
           integers={_INT32: ("div_int32", "int32_to_fp32")}, integer_result=DataType.FLOAT32, in_place=True, fast=True),
    Binary("xlogy", _B.XLOGY, of_two("xlogy", "Return a ln b.", xlogy), "a times the logarithm of b", function="xlogy"),
    Binary("logaddexp", _B.LOGADDEXP, of_two("logaddexp", "Return ln(e^a + e^b).", np.logaddexp), "ln(e^a + e^b)", function="logaddexp", in_place=True),
    Binary("logaddexp2", _B.LOGADDEXP2, of_two("logaddexp2", "Return log2(2^a + 2^b).", np.logaddexp2), "log2(2^a + 2^b)", function="logaddexp2", in_place=True),
    Binary("remainder", _B.REMAINDER, of_two("remainder", "Return a modulo b, with b's sign.", np.mod), "a modulo b, with the sign of b",
           function="remainder_binary", integers={_INT32: ("remainder_int32", "int32")}),
    Binary("gcd", _B.GCD, of_two("gcd", "Return the greatest common divisor.", lambda a, b: np.gcd(a.astype(np.int64), b.astype(np.int64))), "the greatest common divisor",
           integers={_INT32: ("gcd", "int32")}, exact=True, scalars=False),
    Binary("lcm", _B.LCM, of_two("lcm", "Return the least common multiple.", lambda a, b: np.lcm(a.astype(np.int64), b.astype(np.int64))), "the least common multiple",
           integers={_INT32: ("lcm", "int32")}, exact=True, scalars=False),
)  # fmt: skip


def _arithmetic(entry: Binary, name: str) -> Arithmetic:
    return Arithmetic(
        f"ttnn.{name}", entry.op, entry.op_type, entry.sfpu_in_bfloat16, entry.function, (), entry.blocks_on_sfpu,
        entry.before, (), entry.after, entry.after_fpu, entry.integers, bool(entry.function or entry.op), entry.integer_result,
    )  # fmt: skip


def _fast(arithmetic: Arithmetic) -> Arithmetic:
    """The quotient as a product with the reciprocal, which goes through a buffer of b's data type."""
    recip: tuple[ChainStep, ...] = (("recip", "accurate"),)
    return replace(arithmetic, sfpu_in_bfloat16=False, blocks_on_sfpu=False, before_b=recip)


def _run(
    arithmetic: Arithmetic,
    a: Tensor | float,
    b: Tensor | float,
    dtype: DataType | None,
    memory_config: MemoryConfig | None,
    output_tensor: Tensor | None,
    activations: Sequence[Activation],
    activations_a: Sequence[Activation],
    activations_b: Sequence[Activation],
    *_unmodelled: None,
) -> Tensor:
    options = Options(dtype, memory_config, output_tensor, activations, activations_a, activations_b)
    return compute(arithmetic, a, b, options)


def _run_fast(arithmetic: Arithmetic, a: Any, b: Any, fast_and_approximate_mode: bool | None, *rest: Any) -> Tensor:
    floats = [operand._spec.dtype for operand in (a, b) if isinstance(operand, Tensor)]
    if fast_and_approximate_mode and any(dtype is not DataType.FLOAT32 for dtype in floats):
        arithmetic = _slow_integers(_fast(arithmetic), floats)
    return _run(arithmetic, a, b, *rest)


def _slow_integers(arithmetic: Arithmetic, dtypes: Sequence[DataType]) -> Arithmetic:
    """Integers have one quotient only."""
    return replace(arithmetic, before_b=()) if dtypes[0] in arithmetic.integers else arithmetic


def _run_in_place(
    arithmetic: Arithmetic,
    a: Tensor,
    b: Tensor | float,
    activations: Sequence[Activation],
    activations_a: Sequence[Activation],
    activations_b: Sequence[Activation],
    *rest: Any,
) -> Tensor:
    on_device(arithmetic.name, a, "input_tensor_a", on_host("A"))
    if len(rest) == 3:
        return _run_fast(arithmetic, a, b, rest[0], None, None, a, activations, activations_a, activations_b)
    return _run(arithmetic, a, b, None, None, a, activations, activations_a, activations_b)


def _signatures(
    names: tuple[str, str], kinds: Sequence[tuple[Kind, Kind]], keywords: Sequence[Param]
) -> tuple[Signature, ...]:
    return tuple(Signature(operands(*names, *pair), keywords) for pair in kinds)


def _register(entry: Binary) -> dict[str, FastOperation]:
    """Register an operator and, if it has one, its in-place form."""
    kinds = [(TENSOR, NUMBER), (TENSOR, TENSOR)] if entry.scalars else [(TENSOR, TENSOR)]
    more = [(NUMBER, TENSOR)] if entry.fast else []
    flag = (
        (Param("fast_and_approximate_mode", BOOLEAN, False, doc="Multiply by the reciprocal."),) if entry.fast else ()
    )
    keywords = (*flag, DTYPE_OPTION, MEMORY_CONFIG_OPTION, OUTPUT_TENSOR_OPTION, *ACTIVATION_OPTIONS)
    integer_only = entry.name in ("gcd", "lcm")
    common: dict[str, Any] = {
        "source": f'TT-NN docs "ttnn.{entry.name}"; operator programs, section 4',
        "dtypes": tuple(entry.integers) if integer_only else (*_FLOATS, *entry.integers),
        "layouts": (Layout.TILE, Layout.ROW_MAJOR),
        "golden": entry.golden,
        "accuracy": bit_exact() if entry.exact else None,
        "engine": ("binary",),
        "family": "binary",
        "raises": RAISES,
    }
    names = ("input_tensor_a", "input_tensor_b")
    found = {
        entry.name: register(
            Op(
                name=entry.name,
                signatures=_signatures(names, [*kinds, *more], (*keywords, *UNMODELLED) if entry.scalars else keywords),
                run=partial(_run_fast if entry.fast else _run, _arithmetic(entry, entry.name)),
                doc=f"Return {entry.what}, element by element, broadcast.",
                aliases=entry.aliases,
                **common,
            )
        )
    }
    if entry.in_place:
        flag = (Param("fast_and_approximate_mode", BOOLEAN, False, none=True, doc=FAST_DOC),) if entry.fast else ()
        name = f"{entry.name}_"
        found[name] = register(
            Op(
                name=name,
                signatures=_signatures(("input_a", "input_b"), kinds, (*ACTIVATION_OPTIONS, *flag, *UNMODELLED)),
                run=partial(_run_in_place, _arithmetic(entry, name)),
                doc=f"Write {entry.what}, into the first operand and return it.",
                **common | ({"dtypes": _FLOATS} if entry.integer_result else {}),
            )
        )
    return found


OPERATORS: Final[dict[str, FastOperation]] = {
    name: operation for entry in TABLE for name, operation in _register(entry).items()
}
