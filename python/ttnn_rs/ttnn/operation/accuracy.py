"""Bounds on an operator's error against the exact result.

A bound is stated per entry of the registry, in units in the last place of the output format, never as a bare relative
tolerance. It bounds the algorithm that the chip runs, not our model of it: the model is compared with bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ttnn.base.enums import DataType


@dataclass(frozen=True)
class Accuracy:
    """Largest ULP error per output data type.

    A type that is not listed has no stated bound.

    For block floats the unit is a step of the shared exponent of the largest value. Where terms may cancel, the unit is
    that of `magnitude`, a function of the operands in float64, instead of the result's. The bounds hold for operands
    from `lowest` on whose magnitude is at most `largest`; subnormal operands count as 0, as the chip reads
    them. An operator without a bound has the reason in `reason`.
    """

    ulp: Mapping[DataType, float] = field(default_factory=dict)
    exact: bool = False
    magnitude: Callable[..., Any] | None = None
    largest: float = math.inf
    lowest: float = -math.inf
    reason: str = ""

    def bound(self, dtype: DataType) -> float | None:
        """Return `dtype`'s bound in ULP.

        0 for an exact operator, None if none is stated.
        """
        return 0.0 if self.exact else self.ulp.get(dtype)

    def __str__(self) -> str:
        if self.exact:
            return "exact"
        if self.reason:
            return f"no bound in ULP, {self.reason}"
        bounds = ", ".join(f"{dtype.name.lower()}: {ulp:g} ULP" for dtype, ulp in self.ulp.items())
        if self.magnitude is not None:
            bounds = f"{bounds}, of the {self.magnitude.__name__.replace('_', ' ')}"
        ends = [] if math.isinf(self.lowest) else [f"from {self.lowest:g}"]
        ends += [] if math.isinf(self.largest) else [f"up to {self.largest:g}"]
        return f"{bounds}, for operands {' '.join(ends)}" if ends else bounds


def bit_exact() -> Accuracy:
    """Return the bound of exactly rounded results.

    The result is the reference rounded to the output format, bit for bit.
    """
    return Accuracy(exact=True)


def no_bound(reason: str) -> Accuracy:
    """Return the statement of an operator without a ULP bound.

    The reason begins with a conjunction.
    """
    return Accuracy(reason=reason)


def max_ulp(
    *bounds: tuple[DataType, float],
    magnitude: Callable[..., Any] | None = None,
    largest: float = math.inf,
    lowest: float = -math.inf,
) -> Accuracy:
    """Return the bound given as (data type, ULP) pairs."""
    return Accuracy(ulp=dict(bounds), magnitude=magnitude, largest=largest, lowest=lowest)
