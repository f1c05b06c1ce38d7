"""The rows of a profile: device operations with their predicted times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ttnn.profiler.missing import Missing
from ttnn.profiler.plan import Plan
from ttnn.profiler.recorder import Record

GAP_NANOSECONDS = 700.0
"""From the end of a program to the start of the next one in a queue that never waits for the host."""


@dataclass(frozen=True)
class Row:
    """One device operation of a profile.

    Attributes:
        number: Its place in the order of execution.
        record: What ran.
        plan: What its cores do.
        gap: Predicted nanoseconds between the end of the operation before and its start.
    """

    number: int
    record: Record
    plan: Plan
    gap: float

    @property
    def nanoseconds(self) -> float:
        """Predicted time on the chip."""
        return self.plan.nanoseconds


@dataclass(frozen=True)
class MissingRow:
    """One device operation whose time is not known.

    Attributes:
        number: Its place in the order of execution.
        record: What ran.
        plan: What it is, and why there is no time.
    """

    number: int
    record: Record
    plan: Missing


def rows_of(records: Sequence[Record]) -> list[Row | MissingRow]:
    """Return the rows of device operations in their order."""
    return [
        MissingRow(number, record, record.plan)
        if isinstance(record.plan, Missing)
        else Row(number, record, record.plan, GAP_NANOSECONDS if number else 0.0)
        for number, record in enumerate(records)
    ]
