"""The rows of a profile: device operations with their predicted times."""

from __future__ import annotations

from dataclasses import dataclass

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
        nanoseconds: Predicted time on the chip.
        gap: Predicted time between the end of the operation before and its start.
    """

    number: int
    record: Record
    nanoseconds: float
    gap: float

    @property
    def plan(self) -> Plan:
        """What its cores do."""
        return self.record.plan
