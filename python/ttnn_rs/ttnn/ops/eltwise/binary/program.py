"""Compute unit, formats, pre- and post-processing of binary operators.

The unit decides the rounding of the result and is therefore part of the operator.
Source: tt-metal `ttnn/cpp/ttnn/operations/eltwise/binary_ng`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from ttnn.base.enums import BLOCK_FLOATS, FORMAT_CODE, BinaryOpType, DataType
from ttnn.operation.steps import ChainStep
from ttnn.ops._programs.common import FLOATS, INTEGERS, WIDE
from ttnn.ops._programs.typecast import conversion

CAST_NAMES: Final = {
    DataType.INT32: "int32",
    DataType.UINT32: "uint32",
    DataType.UINT16: "uint16",
    DataType.UINT8: "uint8",
}
"""Integer results of floating-point operands, as SFPU conversions name them."""
BY_SIGN: Final = "by sign"
"""Variant of integer functions: "int32" or "uint32", as the operands are."""


@dataclass(frozen=True, eq=False)
class Arithmetic:
    """The properties of one operator."""

    name: str
    op_type: BinaryOpType
    op: str = ""
    """The FPU's operation, if it computes anything."""
    function: str = ""
    """The SFPU's function, if it computes floating-point operands."""
    variant: str = "default"
    """That function's variant."""
    parameters: tuple[int, ...] = ()
    """That function's parameters as FP32 bits."""
    sfpu_in_bfloat16: bool = True
    """True if two bfloat16 operands use the SFPU."""
    mixed_on_sfpu: bool = True
    """True if bfloat16 and float32 use it as well."""
    float32_on_sfpu: bool = True
    """True if two float32 operands use it."""
    blocks_on_sfpu: bool = True
    """True if block floats also use the SFPU."""
    before: tuple[ChainStep, ...] = ()
    """Applied to both operands."""
    before_b: tuple[ChainStep, ...] = ()
    """Applied to the second operand."""
    before_a_fpu: tuple[ChainStep, ...] = ()
    """Applied to the first operand if the FPU computes."""
    after: tuple[ChainStep, ...] = ()
    """Applied to the result in Dst."""
    after_fpu: tuple[ChainStep, ...] = ()
    """Applied to the result in Dst if the FPU made it."""
    integers: Mapping[DataType, tuple[str, str]] = field(default_factory=dict)
    """The SFPU's functions for integers: name and variant."""
    before_integers: tuple[ChainStep, ...] = ()
    """Applied to both operands if they are integers."""
    after_integers: tuple[ChainStep, ...] = ()
    """Applied to the result of integers."""
    integer_result: DataType | None = None
    """Data type of the result of integers; theirs if None."""
    floats: tuple[DataType, ...] = FLOATS
    """Floating-point data types that are taken."""
    mixes_floats: bool = False
    """True if the operands may have different floating-point data types."""


@dataclass(frozen=True)
class Program:
    """Unit, formats, Dst width and chains for given data types."""

    formats: tuple[int, int, int]
    unit: str
    op: str
    variant: str
    parameters: tuple[int, ...]
    dst32: bool
    before_a: tuple[ChainStep, ...]
    before_b: tuple[ChainStep, ...]
    after: tuple[ChainStep, ...]
    cast: tuple[ChainStep, ...]
    """The conversion to the result's data type, last of all."""


@lru_cache(maxsize=1024)
def program_for(arithmetic: Arithmetic, a: DataType, b: DataType, out: DataType) -> Program:
    """Return the program for operands of types `a` and `b`."""
    formats = (FORMAT_CODE[a], FORMAT_CODE[b], FORMAT_CODE[out])
    dst32 = bool(WIDE.intersection((a, b, out)))
    if a in INTEGERS:
        op, variant = arithmetic.integers[a]
        before, after = (_signed(steps, a) for steps in (arithmetic.before_integers, arithmetic.after_integers))
        chains = (before, before + arithmetic.before_b, after)
        own = arithmetic.integer_result or a
        return Program(formats, "sfpu", op, variant, (), dst32, *chains, tuple(conversion(own, out)))
    if not arithmetic.op:
        unit = "sfpu"
    elif a in BLOCK_FLOATS or b in BLOCK_FLOATS:
        unit = "sfpu" if arithmetic.blocks_on_sfpu else "fpu"
    elif a is b:
        on_sfpu = arithmetic.float32_on_sfpu if a is DataType.FLOAT32 else arithmetic.sfpu_in_bfloat16
        unit = "sfpu" if on_sfpu else "fpu"
    else:
        unit = "sfpu" if arithmetic.sfpu_in_bfloat16 and arithmetic.mixed_on_sfpu else "fpu"
    on_sfpu = unit == "sfpu"
    return Program(
        formats=formats,
        unit=unit,
        op=arithmetic.function if on_sfpu else arithmetic.op,
        variant=arithmetic.variant if on_sfpu else "default",
        parameters=arithmetic.parameters if on_sfpu else (),
        dst32=dst32,
        before_a=arithmetic.before + (() if on_sfpu else arithmetic.before_a_fpu),
        before_b=arithmetic.before + arithmetic.before_b,
        after=arithmetic.after + (() if on_sfpu else arithmetic.after_fpu),
        cast=_cast(a is b is DataType.FLOAT32, out),
    )


def _signed(steps: tuple[ChainStep, ...], dtype: DataType) -> tuple[ChainStep, ...]:
    """Return steps with the variant of a data type."""
    own = "int32" if dtype is DataType.INT32 else "uint32"
    return tuple((step[0], own) if step[1] == BY_SIGN else step for step in steps)


def _cast(from_float32: bool, out: DataType) -> tuple[ChainStep, ...]:
    """Return the SFPU's conversion of a floating-point result before packing."""
    if out in INTEGERS:
        source = "fp32" if from_float32 else "bf16"
        return ((f"typecast_from_{source}", f"{source}_to_{CAST_NAMES[out]}"),)
    # The packer would round a float32 result half away from zero; the SFPU rounds to even.
    if from_float32 and out is DataType.BFLOAT16:
        return (("typecast_from_fp32", "fp32_to_bf16"),)
    return ()
