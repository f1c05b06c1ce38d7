"""Bounds on an operator's error against the exact result.

A bound is stated per entry of the registry, in units in the last place of the output format, never as a bare relative
tolerance. It bounds the algorithm that the chip runs, not our model of it: the model is compared with bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ttnn.base.enums import Arch, DataType


@dataclass(frozen=True)
class Accuracy:
    """Largest ULP error per output data type.

    A type that is not listed has no stated bound.

    For block floats the unit is a step of the shared exponent of the largest value. Where terms may cancel, the unit is
    that of `magnitude`, a function of the operands in float64, instead of the result's. The bounds hold for operands
    from `lowest` on whose magnitude is at most `largest`; subnormal operands count as 0, as the chip reads
    them. An operator without a bound has the reason in `reason`. `blackhole` has the bounds of data types whose
    function has a larger error on Blackhole.
    """

    ulp: Mapping[DataType, float] = field(default_factory=dict)
    blackhole: Mapping[DataType, float] = field(default_factory=dict)
    exact: bool = False
    magnitude: Callable[..., Any] | None = None
    largest: float = math.inf
    lowest: float = -math.inf
    reason: str = ""

    def bound(self, dtype: DataType, arch: Arch = Arch.WORMHOLE_B0) -> float | None:
        """Return `dtype`'s bound in ULP on a generation of chips.

        0 for an exact operator, None if none is stated.
        """
        if self.exact:
            return 0.0
        return self.blackhole.get(dtype, self.ulp.get(dtype)) if arch is Arch.BLACKHOLE else self.ulp.get(dtype)

    def on_blackhole(self, *bounds: tuple[DataType, float]) -> Accuracy:
        """Return it with other bounds on Blackhole, as (data type, ULP) pairs."""
        return replace(self, blackhole=dict(bounds))

    def __str__(self) -> str:
        if self.exact:
            return "exact"
        if self.reason:
            return f"no bound in ULP, {self.reason}"
        bounds = _listed(self.ulp)
        if self.blackhole:
            bounds = f"{bounds}, on Blackhole {_listed(self.blackhole)}"
        if self.magnitude is not None:
            bounds = f"{bounds}, of the {self.magnitude.__name__.replace('_', ' ')}"
        ends = [] if math.isinf(self.lowest) else [f"from {self.lowest:g}"]
        ends += [] if math.isinf(self.largest) else [f"up to {self.largest:g}"]
        return f"{bounds}, for operands {' '.join(ends)}" if ends else bounds


def _listed(bounds: Mapping[DataType, float]) -> str:
    return ", ".join(f"{dtype.name.lower()}: {ulp:g} ULP" for dtype, ulp in bounds.items())


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
