"""Tables of sweeps: one row per operator, or everything about one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from ttnn.cli.common.terminal import Table, Terminal
from ttnn.cli.sweep.statistics import Point
from ttnn.cli.sweep.subjects import Sweep

_LEFT = frozenset({"operator", "type", "figure"})


def as_document(s: Sweep) -> dict[str, Any]:
    """Return a sweep as JSON, with infinities and NaN as text.

    Or as null.
    """
    document: dict[str, Any] = _plain({**asdict(s), "passed": s.passed})
    return document


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value


def print_many(terminal: Terminal, sweeps: Sequence[Sweep]) -> None:
    """Print one row per sweep."""
    columns = (
        *("operator", "type", "inputs", "levels differ", "exact", "faithful", "inexact", "flushed", "not finite"),
        *("max ULP", "mean ULP", "99 %", "within 2 ULP to", "reversals", "distance", "stated bound"),
    )
    chip = f", {sweeps[0].arch}" if sweeps else ""
    table = Table(f"error over all inputs, in ULP of the rounded reference{chip}", columns, left=_LEFT)
    for s in sweeps:
        f = s.statistics
        table.rows.append(
            (
                *(s.label, s.dtype, f"{s.values:,}", str(s.differing_between_levels)),
                *(f"{f.exact:,}", f"{f.faithful:,}", f"{f.inexact:,}", f"{f.flushed + f.zeroed:,}"),
                *(str(f.not_finite + f.missing_infinities), f"{f.max_ulp:.4g}", f"{f.mean_ulp:.3g}"),
                *(f"{dict(f.percentiles)[99.0]:.3g}", range_text(f.accurate_to)),
                "-" if f.reversals is None else f"{f.reversals:,}",
                f"{s.max_ulp:.4g}",
                "-" if s.bound_ulp is None else f"{s.bound_ulp:g}",
            )
        )
    terminal.table(table)


def print_one(terminal: Terminal, s: Sweep) -> None:
    """Print everything about one sweep."""
    f = s.statistics
    table = Table(f"ttnn.{s.label}, {s.dtype}, {s.values:,} inputs, {s.arch}", ("figure", "value"), left=_LEFT)
    mean = "-" if f.mean_ulp_of_inexact is None else f"{f.mean_ulp_of_inexact:.4g} ULP"
    table.rows += [
        ("normal inputs with a finite reference", f"{f.points:,}"),
        ("exact: the rounded reference", f"{f.exact:,}"),
        ("faithful: the other neighbour of the exact result", f"{f.faithful:,}"),
        ("inexact", f"{f.inexact:,}"),
        ("flushed: 0 for a subnormal reference", f"{f.flushed:,}"),
        ("zeroed: 0 for a normal reference", f"{f.zeroed:,}"),
        ("not finite for a finite reference", f"{f.not_finite:,}"),
        ("no infinity for an infinite reference", f"{f.missing_infinities:,}"),
        ("largest error", f"{f.max_ulp:.4g} ULP"),
        ("mean error", f"{f.mean_ulp:.4g} ULP"),
        ("mean error where not exact", mean),
        *((f"{p:g} % of the errors are at most", f"{ulp:.4g} ULP") for p, ulp in f.percentiles),
        ("largest absolute error", f"{f.max_abs_error:.4g}"),
    ]
    if f.accurate_to is not None:
        table.rows.append(("within 2 ULP for |x| up to", range_text(f.accurate_to)))
    if f.reversals is not None:
        at = "" if f.first_reversal is None else f", first after {f.first_reversal:.8g}"
        table.rows.append(("reversals of direction", f"{f.reversals:,}{at}"))
    bound = "no stated bound" if s.bound_ulp is None else f"stated bound {s.bound_ulp:g}"
    table.rows += [
        ("largest distance to the exact result", f"{s.max_ulp:.4g} ULP at {s.worst_input:g}; {bound}"),
        (f"results that depend on the CPU level ({', '.join(s.levels)})", f"{s.differing_between_levels:,}"),
    ]
    terminal.table(table)
    _print_points(terminal, "special values", f.special)
    _print_points(terminal, "largest errors", f.worst)


def range_text(accurate_to: float | None) -> str:
    """Return the range as published tables write it."""
    if accurate_to is None:
        return "n/a"
    return "nowhere" if accurate_to == 0.0 else f"{accurate_to:.3g}"


def _print_points(terminal: Terminal, title: str, points: Sequence[Point]) -> None:
    if not points:
        return
    terminal.line()
    names = ("input",) if len(points[0].inputs) == 1 else tuple(f"input {i}" for i in range(len(points[0].inputs)))
    table = Table(title, (*names, "result", "reference", "ULP"))
    table.rows.extend(
        (
            *(f"{x:.8g}" for x in p.inputs),
            f"{p.result:.8g}",
            f"{p.reference:.8g}",
            "-" if p.ulp != p.ulp else f"{p.ulp:.4g}",
        )
        for p in points
    )
    terminal.table(table)
