"""A profile as a table for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ttnn.profiler.operand import Operand
from ttnn.profiler.plan import PHASES, Plan, walk
from ttnn.profiler.rows import Row

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
_LEFT = frozenset({"operator", "device operation", "operands", "fidelity", "bound"})
_TERAFLOPS_PER_CORE_AND_GHZ = 4.096
"""Of one fidelity phase: 2048 multiply-adds per cycle."""


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
    """Return the share of the card's peak that the matrix products of a plan reach, as a fraction."""
    card = plan.card
    peak = card.cores * _TERAFLOPS_PER_CORE_AND_GHZ * card.clock_mhz / 1000 / PHASES.get(plan.fidelity, 1)
    return flops(plan) / (plan.nanoseconds * 1e-9) / (peak * 1e12)


def dram_share(plan: Plan) -> float:
    """Return the share of the card's DRAM bandwidth that a plan reaches, as a fraction."""
    timing = plan.timing
    return (timing.dram_read_bytes + timing.dram_write_bytes) / plan.nanoseconds / plan.card.dram_gb_s


def cells(row: Row) -> tuple[str, ...]:
    """Return the cells of a row of the table."""
    plan = row.plan
    operands = " ".join(map(_short, plan.inputs[:3])) + " -> " + " ".join(map(_short, plan.outputs[:1]))
    share = flop_share(plan)
    return (
        str(row.number),
        row.record.operator.removeprefix("ttnn."),
        plan.name.removesuffix("DeviceOperation"),
        operands,
        str(plan.cores),
        plan.fidelity,
        f"{row.nanoseconds / 1000:.2f}",
        f"{100 * share:.1f}" if share else "",
        f"{100 * dram_share(plan):.1f}",
        plan.timing.bound,
        f"{row.gap / 1000:.2f}",
    )


def _short(operand: Operand) -> str:
    sizes = "x".join(str(size) for size in operand.logical if size != 1) or "1"
    place = operand.buffer + ("" if operand.memory == "INTERLEAVED" else f" {operand.memory.partition('_')[0].lower()}")
    return f"{sizes} {operand.dtype.lower()} {place}"


def text(rows: Sequence[Row]) -> str:
    """Return the table as lines of text, with the total at its end."""
    body = [cells(row) for row in rows]
    widths = [max(map(len, column)) for column in zip(COLUMNS, *body, strict=True)]

    def line(parts: Sequence[str]) -> str:
        aligned = (
            part.ljust(width) if name in _LEFT else part.rjust(width)
            for name, part, width in zip(COLUMNS, parts, widths, strict=True)
        )
        return "  ".join(aligned).rstrip()

    lines = [line(COLUMNS), "  ".join("-" * width for width in widths), *map(line, body), total_line(rows)]
    return "\n".join(lines)


def total_line(rows: Sequence[Row]) -> str:
    """Return what all rows take together."""
    time = sum(row.nanoseconds for row in rows) / 1000
    gaps = sum(row.gap for row in rows) / 1000
    return f"{len(rows)} device operations, {time:.2f} us on the chip (predicted), {gaps:.2f} us of gaps"


def rich_table(rows: Sequence[Row]) -> Any:
    """Return the table for rich.

    Raises:
        ImportError: rich is not installed.
    """
    from rich.table import Table

    table = Table(caption=total_line(rows))
    for name in COLUMNS:
        table.add_column(name, justify="left" if name in _LEFT else "right")
    for row in rows:
        table.add_row(*cells(row))
    return table
