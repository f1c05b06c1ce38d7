"""Device operations of unknown time, with listed reasons.

Programs continue.

The tables that times come from are complete, and what they lack is an error when plans are made; a test plans every
operator. A profile of a long run must not be lost for one call that nobody foresaw, so it collects these errors.
"""

from __future__ import annotations

from dataclasses import dataclass

from ttnn.profiler.operand import Operand
from ttnn.profiler.plan import Card


@dataclass(frozen=True)
class Missing:
    """A device operation without a predicted time.

    Attributes:
        name: The official name of the device operation, or the operator's with the ending of device operations.
        card: The card.
        reason: Why there is no time.
        inputs: Operands that are read.
        outputs: Operands that are written.
    """

    name: str
    card: Card
    reason: str
    inputs: tuple[Operand, ...] = ()
    outputs: tuple[Operand, ...] = ()


class Total(float):
    """Nanoseconds, and how many device operations they leave out.

    Attributes:
        missing: Device operations without a predicted time.
    """

    missing: int

    def __new__(cls, nanoseconds: float, missing: int) -> Total:
        """Return nanoseconds that leave out `missing` device operations."""
        total = super().__new__(cls, nanoseconds)
        total.missing = missing
        return total

    def __repr__(self) -> str:
        if not self.missing:
            return super().__repr__()
        return f"{super().__repr__()} ({self.missing} device operations without a predicted time are left out)"

    __str__ = __repr__
