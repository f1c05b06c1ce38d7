"""The rows of a profile: device operations with their predicted times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ttnn.operation import long_sums
from ttnn.profiler.missing import Missing
from ttnn.profiler.plan import Plan
from ttnn.profiler.recorder import Record

GAP_NANOSECONDS = 700.0
"""From a program's end to the next start, without host waits.

In a queue that never waits for the host.
"""


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

    @property
    def hint(self) -> str:
        """Suggestion for better results; empty in most rows."""
        return "" if (k := _inner(self.plan)) is None else long_sums.hint(k, _is_wide(self.plan))


def _inner(plan: Plan) -> int | None:
    """Return a matmul's or convolution's sum length, else None."""
    if plan.name == "Conv2dDeviceOperation":
        return plan.inputs[1].logical[-2]
    if "Matmul" in plan.name and len(plan.inputs) > 1:
        transposed = dict(plan.attributes).get("transpose_a") == "true"
        return plan.inputs[0].logical[-2 if transposed else -1]
    return None


def _is_wide(plan: Plan) -> bool:
    return dict(plan.attributes).get("fp32_dest_acc_en") == "true"


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
