"""Error statistics of a sweep, as in silicon accuracy tables.

The reference is the exact result rounded to the format of the result. The error of a result is its distance to the
reference in spacings of the format at the reference. `docs/sweeps.md` has the definitions and their sources.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ttnn.cli.common.ulp import MIN_NORMAL, largest_finite, nearest, spacing

Floats = NDArray[np.float64]

ACCURATE_ULP = 2.0
"""Error limit of an accurate result, for ranges in tables."""
PERCENTILES = (50.0, 90.0, 99.0, 99.9)
WORST = 10


@dataclass(frozen=True)
class Point:
    """One input, or tuple of inputs, with its result."""

    inputs: tuple[float, ...]
    result: float
    reference: float
    ulp: float


@dataclass(frozen=True)
class Statistics:
    """Counts and errors over the normal inputs whose reference is finite.

    Args:
        points: How many there are; the next six counts add up to it.
        exact: The result is the reference.
        faithful: It is the other neighbour of the exact result.
        inexact: It is neither.
        flushed: The reference is subnormal, the result 0.
        zeroed: The reference is a normal number, the result 0.
        not_finite: The result is infinite or NaN.
        missing_infinities: Of the inputs whose reference is infinite, those with another result.
        max_ulp: Largest error; this and the following figures leave out subnormal and zero references and results of 0.
        mean_ulp: Mean error.
        mean_ulp_of_inexact: Mean error of the results that are not the reference, None if there are none.
        percentiles: Percentile and error.
        max_abs_error: Largest distance to the reference; flushed results are left out.
        accurate_to: Largest |x| up to which no error exceeds 2 ULP; None for several operands, 0 if there is none.
        reversals: Neighbouring inputs between which the exact function moves one way and the result the other.
        first_reversal: The lower of the first such two.
        special: Results of zeros, infinities, NaN and the limits of the format.
        worst: The largest errors with their inputs.
    """

    points: int
    exact: int
    faithful: int
    inexact: int
    flushed: int
    zeroed: int
    not_finite: int
    missing_infinities: int
    max_ulp: float
    mean_ulp: float
    mean_ulp_of_inexact: float | None
    percentiles: tuple[tuple[float, float], ...]
    max_abs_error: float
    accurate_to: float | None
    reversals: int | None
    first_reversal: float | None
    special: tuple[Point, ...]
    worst: tuple[Point, ...]


@dataclass(frozen=True)
class Errors:
    """The error of every input; NaN where it does not count."""

    ulp: Floats
    regular: NDArray[np.bool_]
    reference: Floats


def errors_of(operands: Sequence[Floats], got: Floats, exact: Floats, dtype: str) -> Errors:
    """Return the error of every result in ULP."""
    with np.errstate(invalid="ignore", over="ignore"):
        reference = nearest(exact, dtype)
        regular = np.isfinite(reference)
        for operand in operands:
            regular &= np.isfinite(operand) & (np.abs(operand) >= MIN_NORMAL)
        counted = regular & (np.abs(reference) >= MIN_NORMAL) & (got != 0.0) & np.isfinite(got)
        ulp = np.where(counted, np.abs(got - reference) / spacing(reference, dtype), np.nan)
    return Errors(ulp, regular, reference)


def measure(operands: Sequence[Floats], got: Floats, exact: Floats, dtype: str) -> Statistics:
    """Return the statistics of one sweep."""
    errors = errors_of(operands, got, exact, dtype)
    regular, reference = errors.regular, errors.reference
    tiny = np.abs(reference) < MIN_NORMAL
    with np.errstate(invalid="ignore", over="ignore"):
        distance = np.abs(got - reference)
        neighbour = np.abs(got - exact) < spacing(exact, dtype)
    finite = regular & np.isfinite(got)
    right = finite & (got == reference)
    flushed = finite & ~right & tiny & (got == 0.0)
    zeroed = finite & ~right & ~tiny & (got == 0.0)
    other = finite & ~right & ~flushed & ~zeroed
    normal = np.logical_and.reduce([np.isfinite(operand) & (np.abs(operand) >= MIN_NORMAL) for operand in operands])
    counted = errors.ulp[~np.isnan(errors.ulp)]
    wrong = counted[counted > 0.0]
    unary = len(operands) == 1
    reversals, first = _reversals(operands[0], got, exact, finite) if unary else (None, None)
    return Statistics(
        points=int(regular.sum()),
        exact=int(right.sum()),
        faithful=int((other & neighbour).sum()),
        inexact=int((other & ~neighbour).sum()),
        flushed=int(flushed.sum()),
        zeroed=int(zeroed.sum()),
        not_finite=int((regular & ~np.isfinite(got)).sum()),
        missing_infinities=int((normal & np.isinf(reference) & (got != reference)).sum()),
        max_ulp=float(counted.max(initial=0.0)),
        mean_ulp=float(counted.mean()) if counted.size else 0.0,
        mean_ulp_of_inexact=float(wrong.mean()) if wrong.size else None,
        percentiles=tuple((p, float(np.percentile(counted, p)) if counted.size else 0.0) for p in PERCENTILES),
        max_abs_error=float(distance[finite & ~flushed].max(initial=0.0)),
        accurate_to=_accurate_to(operands[0], got, errors) if unary else None,
        reversals=reversals,
        first_reversal=first,
        special=_special(operands[0], got, reference, errors.ulp, dtype) if unary else (),
        worst=_worst(operands, got, errors),
    )


def _accurate_to(x: Floats, got: Floats, errors: Errors) -> float:
    """Walk away from zero to the first error above 2 ULP.

    The negative value of a magnitude comes first.
    """
    bad = (errors.ulp > ACCURATE_ULP) | (errors.regular & ~np.isfinite(got))
    chosen = np.flatnonzero(errors.regular)
    order = chosen[np.lexsort((x[chosen], np.abs(x[chosen])))]
    wrong = np.flatnonzero(bad[order])
    good = order if not wrong.size else order[: wrong[0]]
    return float(np.abs(x[good[-1]])) if good.size else 0.0


def _reversals(x: Floats, got: Floats, exact: Floats, finite: NDArray[np.bool_]) -> tuple[int, float | None]:
    chosen = np.flatnonzero(finite)
    order = chosen[np.argsort(x[chosen], kind="stable")]
    with np.errstate(invalid="ignore", over="ignore"):
        against = np.diff(got[order]) * np.sign(np.diff(exact[order])) < 0.0
    where = np.flatnonzero(against)
    return int(where.size), float(x[order[where[0]]]) if where.size else None


def _special(x: Floats, got: Floats, reference: Floats, ulp: Floats, dtype: str) -> tuple[Point, ...]:
    largest = largest_finite(dtype)
    wanted = (0.0, -0.0, np.inf, -np.inf, np.nan, MIN_NORMAL, -MIN_NORMAL, largest, -largest)
    points = []
    for value in wanted:
        same = np.isnan(x) if np.isnan(value) else (x == value) & (np.signbit(x) == np.signbit(value))
        found = np.flatnonzero(same)
        if found.size:
            points.append(_point([x], got, reference, ulp, int(found[0])))
    return tuple(points)


def _worst(operands: Sequence[Floats], got: Floats, errors: Errors) -> tuple[Point, ...]:
    ranked = np.argsort(-np.nan_to_num(errors.ulp, nan=-1.0), kind="stable")[:WORST]
    return tuple(_point(operands, got, errors.reference, errors.ulp, int(i)) for i in ranked if errors.ulp[i] > 0.0)


def _point(operands: Sequence[Floats], got: Floats, reference: Floats, ulp: Floats, i: int) -> Point:
    return Point(tuple(float(x[i]) for x in operands), float(got[i]), float(reference[i]), float(ulp[i]))
