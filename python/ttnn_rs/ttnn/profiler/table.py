"""A profile as a table for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from ttnn.profiler.operand import Operand
from ttnn.profiler.plan import PHASES, Plan, walk
from ttnn.profiler.rows import MissingRow, Row

COLUMNS = (
    "#",
    "operator",
    "device operation",
    "operands",
    "cores",
    "fidelity",
    "us",
    "FLOP %",
    "DRAM %",
    "bound",
    "gap us",
)
LABEL_COLUMN = "name"
"""Column of the framework's names, in tables of compiled programs."""
LEFT = frozenset({LABEL_COLUMN, "operator", "device operation", "operands", "fidelity", "bound"})
_TERAFLOPS_PER_CORE_AND_GHZ = 4.096
"""Peak of one fidelity phase: 2048 multiply-adds per cycle."""


def flops(plan: Plan) -> int:
    """Return the floating-point operations of the matrix products of a plan."""
    total = 0
    for group in plan.groups:
        for step, times in walk(group.compute):
            if step[0] == "tiles" and step[1][0] == "matmul":
                _, rows, columns, inner, *_ = step[1]
                total += group.cores * times * step[2] * rows * columns * inner * 2 * 32**3
    return total


def flop_share(plan: Plan) -> float:
    """Return a plan's share of the card's matmul peak, a fraction."""
    card = plan.card
    peak = card.cores * _TERAFLOPS_PER_CORE_AND_GHZ * card.clock_mhz / 1000 / PHASES.get(plan.fidelity, 1)
    return flops(plan) / (plan.nanoseconds * 1e-9) / (peak * 1e12)


def dram_share(plan: Plan) -> float:
    """Return a plan's share of the card's DRAM bandwidth, a fraction."""
    timing = plan.timing
    return (timing.dram_read_bytes + timing.dram_write_bytes) / plan.nanoseconds / plan.card.dram_gb_s


def cells(row: Row | MissingRow) -> tuple[str, ...]:
    """Return a table row's cells; unknown times are empty."""
    plan = row.plan
    operands = " ".join(map(_short, plan.inputs[:3])) + " -> " + " ".join(map(_short, plan.outputs[:1]))
    first = (
        str(row.number),
        row.record.operator.removeprefix("ttnn."),
        plan.name.removesuffix("DeviceOperation"),
        operands,
    )
    if isinstance(row, MissingRow):
        return (*first, "", "", "?", "", "", "not known", "")
    plan = row.plan
    share = flop_share(plan)
    return (
        *first,
        str(plan.cores),
        plan.fidelity,
        f"{row.nanoseconds / 1000:.2f}",
        f"{100 * share:.1f}" if share else "",
        f"{100 * dram_share(plan):.1f}",
        plan.timing.bound,
        f"{row.gap / 1000:.2f}",
    )


def labelled(rows: Sequence[Row | MissingRow]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return the columns and cells of rows.

    The framework's names are among them if there are any.
    """
    body = [cells(row) for row in rows]
    if not any(row.record.label for row in rows):
        return COLUMNS, body
    named = [(first, row.record.label, *rest) for row, (first, *rest) in zip(rows, body, strict=True)]
    return (COLUMNS[0], LABEL_COLUMN, *COLUMNS[1:]), named


def _short(operand: Operand) -> str:
    sizes = "x".join(str(size) for size in operand.logical if size != 1) or "1"
    place = operand.buffer + ("" if operand.memory == "INTERLEAVED" else f" {operand.memory.partition('_')[0].lower()}")
    return f"{sizes} {operand.dtype.lower()} {place}"


def text(rows: Sequence[Row | MissingRow]) -> str:
    """Return the table's text lines.

    With the total and the reasons of missing times at its end.
    """
    columns, body = labelled(rows)
    widths = [max(map(len, column)) for column in zip(columns, *body, strict=True)]

    def line(parts: Sequence[str]) -> str:
        aligned = (
            part.ljust(width) if name in LEFT else part.rjust(width)
            for name, part, width in zip(columns, parts, widths, strict=True)
        )
        return "  ".join(aligned).rstrip()

    lines = [line(columns), "  ".join("-" * width for width in widths), *map(line, body), *total_lines(rows)]
    return "\n".join(lines)


def total_lines(rows: Sequence[Row | MissingRow]) -> list[str]:
    """Return the rows' total, and a line per missing-time reason."""
    timed = [row for row in rows if isinstance(row, Row)]
    time = sum(row.nanoseconds for row in timed) / 1000
    gaps = sum(row.gap for row in timed) / 1000
    lines = [f"{len(timed)} device operations, {time:.2f} us on the chip (predicted), {gaps:.2f} us of gaps"]
    reasons = Counter((row.plan.name, row.plan.reason) for row in rows if isinstance(row, MissingRow))
    if reasons:
        lines.append(f"{sum(reasons.values())} device operations without a predicted time are left out:")
    lines += [f"  {count} x {name}: {reason}" for (name, reason), count in reasons.most_common()]
    return lines + hint_lines(rows)


def hint_lines(rows: Sequence[Row | MissingRow]) -> list[str]:
    """Return a line per hint and operator, with row numbers."""
    numbers: dict[tuple[str, str], list[int]] = {}
    for row in rows:
        if isinstance(row, Row) and row.hint:
            numbers.setdefault((row.record.operator, row.hint), []).append(row.number)
    return [
        f"hint: {operator} ({', '.join(f'#{number}' for number in of)}): {hint}"
        for (operator, hint), of in numbers.items()
    ]


def rich_table(rows: Sequence[Row | MissingRow]) -> Any:
    """Return the table for rich.

    Raises:
        ImportError: rich is not installed.
    """
    from rich.table import Table

    table = Table(caption="\n".join(total_lines(rows)))
    columns, body = labelled(rows)
    for name in columns:
        table.add_column(name, justify="left" if name in LEFT else "right")
    for row in body:
        table.add_row(*row)
    return table
