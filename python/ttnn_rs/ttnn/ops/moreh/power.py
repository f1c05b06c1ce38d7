"""Powers as moreh kernels compute them.

By repeated products, and exp(log(x) * rest) for the rest.

Source: tt-metal `ttnn/cpp/ttnn/kernel/compute/moreh_common.hpp`, power_tile_to_cb.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ttnn.base.enums import DataType
from ttnn.base.exceptions import ParameterError
from ttnn.ops._programs.pipeline import Chain, Operand, Pipeline, rounded, truncated
from ttnn.ops.moreh.checks import BF16
from ttnn.ops.normalization.softmax_programs import Numerics


@dataclass(frozen=True)
class Power:
    """An exponent as the host splits it."""

    whole: int
    """Magnitude of the exponent rounded down."""
    negative: bool
    """True if the exponent rounded down is negative."""
    rest: int
    """FP32 bits of the exponent's fraction, truncated to bfloat16.

    The reader truncates it.
    """

    @classmethod
    def of(cls, name: str, exponent: float) -> Power:
        """Split an exponent. NaN is a rest of 0.

        Raises:
            ParameterError: it is infinite, or beyond 32 bits.
        """
        value = rounded(exponent)
        if math.isnan(value):
            return cls(0, False, truncated(value))
        if math.isinf(value) or not -(2.0**32) < math.floor(value) < 2.0**32:
            raise ParameterError(f"{name}: an exponent of {exponent} cannot be split into 32 bits and a rest.")
        floor = math.floor(value)
        return cls(abs(floor), floor < 0, truncated(rounded(value - floor)))


def recip(numerics: Numerics) -> Chain:
    """Return the reciprocal, as precise as the configuration asks for."""
    return [("recip", "approx" if numerics.approximate else "accurate")]


def power(
    program: Pipeline,
    of: Operand,
    by: Power,
    numerics: Numerics,
    dtype: DataType,
    *,
    rest: Power | None = None,
    before: Chain = (),
    behind: Chain = (),
    output: int | tuple[int, int, int] | None = None,
) -> Operand:
    """Add a power of tiles, packed between its three parts.

    Args:
        program: The program.
        of: The base.
        by: The exponent.
        numerics: Settings of the kernel.
        dtype: Data type of the packed result.
        rest: The exponent whose rest is taken, if it is another.
        before: SFPU functions on the base.
        behind: SFPU functions on the result.
        output: Destination of the result.
    """
    wide = numerics.wide
    inverse = recip(numerics) if by.negative else ()
    whole = program.copy(of, wide, [*before, ("power_iterative", "default", [by.whole]), *inverse])
    logarithm = program.copy(of, wide, [*before, ("log", "accurate")])
    decimal = program.constant(BF16, (rest or by).rest)
    part = program.eltwise("mul", logarithm, decimal, wide, [("exp", "accurate")])
    return program.eltwise("mul", whole, part, dtype, behind, output=output)
