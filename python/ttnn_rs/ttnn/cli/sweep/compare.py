"""`sweep --compare TABLE.csv`: our errors and those measured on a chip, row by row.

The table has the columns op, parameters, max_ulp, mean_ulp_of_inexact, accurate_to_abs_x, max_abs_error. A figure
agrees if ours, written with the table's three digits, is the same. How the pairs of binary rows were chosen is not
published; their figures are printed, but only a row whose figures agree on other pairs counts.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, Literal

import ttnn
from ttnn.base.exceptions import ArgumentError, FileAccessError, TtnnError
from ttnn.base.files import read_text
from ttnn.cli.common.terminal import Table, Terminal
from ttnn.cli.sweep.parameters import parse_parameter
from ttnn.cli.sweep.statistics import Statistics
from ttnn.cli.sweep.subjects import arity, entries, find, run
from ttnn.cli.sweep.tables import range_text

FIGURES: Final = ("max_ulp", "mean_ulp_of_inexact", "accurate_to_abs_x", "max_abs_error")
DTYPE: Final = "bfloat16"

Verdict = Literal["agrees", "differs", "not built"]

_OLDER_STEPS: Final = "presumably older kernels were measured of the square and the reciprocal that it is made of"
EXPLAINED: Final[dict[tuple[str, str], str]] = {
    ("square", "default"): "an older kernel was measured, which truncates; this one rounds to nearest even",
    ("reciprocal", "default"): "an older kernel was measured, with another start value; this one rounds correctly",
    ("sin", "default"): "presumably an older kernel was measured: 284 inexact points up to 1e6 there, 4 here",
    ("cos", "default"): "presumably an older kernel was measured, as for sin",
    (
        "lgamma",
        "default",
    ): "presumably the older sine was measured in the reflection below 1/2; one input decides the range",
    (
        "multigammaln",
        "default",
    ): "presumably another composition was measured: below 2^-9, where x - 1 rounds to the pole "
    "at -1, ours is infinite",
    ("polygamma", "k=1"): "the largest error, at -6.03, is the chip's; presumably the older reciprocal was measured, "
    "which makes more points 1 ULP off",
    ("erf_bw", "default"): "the older square was measured, which truncates: with it, all four figures are the chip's",
    ("reciprocal_bw", "default"): "the older square was measured, which truncates: with it, the largest and the mean "
    "error are the chip's; presumably the older reciprocal decides the range",
    ("atanh_bw", "default"): "the older square was measured, which truncates: with it, the range is the chip's; "
    "presumably the older reciprocal decides the mean",
    **{(name, "default"): _OLDER_STEPS for name in ("asinh_bw", "rsqrt_bw")},
    ("hardswish_bw", "default"): "a build was measured that rounds 0.3333 to bfloat16; 0.81.1 truncates it. With the "
    "rounded number, all four figures are the chip's",
    (
        "tanh_bw",
        "default",
    ): "another kernel was measured; this one equals the vectors of 0.81.1 and is 1 ULP off at most",
    ("xielu", "default"): "the references differ: rounded to float32 on the way, ours gives the figures of the chip",
}
"""Rows that differ for a known reason: operator, parameters."""
PAIRS: Final = "other pairs of operands: those of the table are not published"


@dataclass(frozen=True)
class Row:
    """One row of the table with our numbers."""

    operator: str
    parameters: str
    chip: Mapping[str, str]
    ours: Mapping[str, str]
    verdict: Verdict
    differing: tuple[str, ...]
    note: str


def compare(path: Path, device: ttnn.MeshDevice, terminal: Terminal, level: str | None = None) -> list[Row]:
    """Return every row of the table at `path` with our numbers.

    Raises:
        ArgumentError: it is not such a table.
    """
    columns = ("op", "parameters", *FIGURES)
    try:
        published = list(csv.DictReader(io.StringIO(read_text(path, where="sweep"))))
    except (FileAccessError, csv.Error) as error:
        raise ArgumentError(f"sweep: {path} is not a table of comma-separated values: {error}.") from None
    if not published or any(line.get(column) is None for line in published for column in columns):
        raise ArgumentError(f"sweep: {path} does not have the columns {', '.join(columns)} in every row.")
    rows = []
    with terminal.progress("compare", len(published)) as progress:
        for line in published:
            rows.append(_row(line, device, level))
            progress.advance(f"{line['op']} {line['parameters']}")
    return rows


def _row(line: Mapping[str, str], device: ttnn.MeshDevice, level: str | None) -> Row:
    name, parameters = line["op"], line["parameters"]
    chip = {figure: line[figure] for figure in FIGURES}
    if name not in {known for entry in entries() for known in (entry.name, *entry.aliases)}:
        return Row(name, parameters, chip, {}, "not built", (), f"there is no ttnn.{name} on floating point yet")
    entry = find(name)
    try:
        statistics = run(entry, _options(parameters), DTYPE, device, level).sweep.statistics
    except (TtnnError, TypeError) as error:
        reason = f"{type(error).__name__}: {str(error).strip().splitlines()[0]}"
        return Row(name, parameters, chip, {}, "not built", (), reason)
    ours = _figures(statistics)
    differing = tuple(figure for figure in FIGURES if not same(chip[figure], ours[figure]))
    if not differing:
        return Row(name, parameters, chip, ours, "agrees", (), "")
    known = EXPLAINED.get((name, parameters), "")
    note = known or (PAIRS if arity(entry, _options(parameters)) > 1 else "")
    return Row(name, parameters, chip, ours, "differs", differing, note)


def _options(parameters: str) -> dict[str, Any]:
    if parameters == "default":
        return {}
    if parameters == "fast_approx":
        return {"fast_and_approximate_mode": True}
    return dict(parse_parameter(part) for part in parameters.split(","))


def _figures(statistics: Statistics) -> dict[str, str]:
    mean = statistics.mean_ulp_of_inexact
    return {
        "max_ulp": f"{statistics.max_ulp:.3g}",
        "mean_ulp_of_inexact": "-" if mean is None else f"{mean:.3g}",
        "accurate_to_abs_x": range_text(statistics.accurate_to),
        "max_abs_error": f"{statistics.max_abs_error:.3g}",
    }


def same(chip: str, ours: str) -> bool:
    """Return whether two printed numbers or words are the same."""
    try:
        return float(chip) == float(f"{float(ours):.3g}")
    except ValueError:
        return chip == ours


def summary(rows: Sequence[Row]) -> dict[str, int]:
    """Count the verdicts."""
    counts = {"rows": len(rows), "agree": 0, "differ with an explanation": 0, "differ": 0, "not built": 0}
    for row in rows:
        if row.verdict == "differs":
            counts["differ with an explanation" if row.note else "differ"] += 1
        else:
            counts["agree" if row.verdict == "agrees" else "not built"] += 1
    return counts


def report(path: Path, rows: Sequence[Row], terminal: Terminal) -> int:
    """Print the rows; return 1 for an unexplained difference, else 0."""
    counts = summary(rows)
    terminal.document({"table": str(path), "summary": counts, "rows": [asdict(row) for row in rows]})
    titles = {"max_ulp": "max", "mean_ulp_of_inexact": "mean", "accurate_to_abs_x": "2 ULP to", "max_abs_error": "abs"}
    columns = ["operator", "parameters"]
    for title in titles.values():
        columns += [f"{title}, chip", "ours"]
    table = Table(f"measured on a chip ({path.name}) and computed here, {DTYPE}", [*columns, "verdict"])
    # Columns are aligned by name, and "ours" appears four times.
    table.left = frozenset({"operator", "parameters", "verdict"})
    for row in rows:
        cells = [row.operator, row.parameters]
        for figure in titles:
            cells += [row.chip[figure], row.ours.get(figure, "")]
        table.rows.append([*cells, row.verdict])
    terminal.table(table)
    terminal.line()
    for row in rows:
        if row.note:
            terminal.line(f"{row.operator} {row.parameters}: {row.note}")
        elif row.verdict == "differs":
            terminal.line(f"{row.operator} {row.parameters}: {', '.join(row.differing)} differ, not explained")
    terminal.line()
    terminal.line(", ".join(f"{number} {what}" for what, number in counts.items()))
    return 1 if counts["differ"] else 0
