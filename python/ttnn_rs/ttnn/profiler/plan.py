"""A device operation's plan as data: cores' reads, computes, writes.

Steps are tuples that begin with their name; the functions below make them. The engine takes plans apart and runs them
(`rust/tt-plan`): kernels of a core meet at circular buffers, cores at semaphores.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, NamedTuple

from ttnn import _engine
from ttnn.base.exceptions import UnsupportedError
from ttnn.profiler.operand import Operand

Step = tuple[Any, ...]
"""A step of a kernel: its name, then its arguments."""
Steps = tuple[Step, ...]
Place = str
"""Location of pages; see `read`."""

PHASES: Final = {"LoFi": 1, "HiFi2": 2, "HiFi3": 3, "HiFi4": 4}


def loop(times: int, *steps: Step) -> Step:
    """Return steps that are repeated."""
    return ("loop", times, steps)


def read(place: Place, pages: int, page_bytes: int, per_barrier: int = 0, in_step: int = 100) -> Step:
    """Return a read of pages.

    Args:
        place: Location: "dram" and "l1" are interleaved or elsewhere, "local" is the core's own L1; "dram other"
            is DRAM over the network that does not suit it, "dram own" the bank beside the core.
        pages: How many.
        page_bytes: Size of one.
        per_barrier: Pages between two barriers; 0 if a later `barrier` waits for them.
        in_step: Hundredths by which a bank is slower because cores begin there at the same time.
    """
    return ("read", place, pages, page_bytes, per_barrier, in_step)


def write(place: Place, pages: int, page_bytes: int, per_barrier: int = 0) -> Step:
    """Return a write of pages; arguments as of `read`."""
    return ("write", place, pages, page_bytes, per_barrier, 100)


BARRIER: Final[Step] = ("barrier",)
"""Waits for reads and writes that have no barrier of their own."""


def reserve(cb: int, pages: int = 1) -> Step:
    """Return the wait for room in a circular buffer."""
    return ("reserve", cb, pages)


def push(cb: int, pages: int = 1) -> Step:
    """Return the push of pages to a circular buffer."""
    return ("push", cb, pages)


def await_(cb: int, pages: int = 1) -> Step:
    """Return the wait for pages of a circular buffer."""
    return ("await", cb, pages)


def pop(cb: int, pages: int = 1) -> Step:
    """Return the release of pages of a circular buffer."""
    return ("pop", cb, pages)


def tiles(op: Step, count: int = 1) -> Step:
    """Return an operation of the compute kernel on so many tiles."""
    return ("tiles", op, count)


@dataclass(frozen=True)
class PlanCb:
    """A circular buffer on every core of a plan.

    Args:
        name: What it holds.
        pages: Pages that it holds.
        page_bytes: Size of a page.
        format: Data type of the pages.
        borrowed: Whether it uses a tensor's buffer, without memory of its own.
        address: Its address; None if it follows from those before it.
        cores: The cores that have it, column and row; empty for the first ones of the grid.
    """

    name: str
    pages: int
    page_bytes: int
    format: str
    borrowed: bool = False
    address: int | None = None
    cores: tuple[tuple[int, int], ...] = ()

    @property
    def bytes(self) -> int:
        """Bytes on each core."""
        return self.pages * self.page_bytes


@dataclass(frozen=True)
class CoreGroup:
    """Cores with equal work: three kernels' steps, compute possibly empty."""

    cores: int
    reader: Steps
    compute: Steps
    writer: Steps


class Card(NamedTuple):
    """Properties of a card for plans.

    Attributes:
        name: As it is sold.
        arch: "wormhole_b0" or "blackhole".
        grid: Columns and rows of compute cores.
        banks: DRAM banks.
        clock_mhz: Cycles of a microsecond.
        dram_gb_s: Peak of its DRAM.
    """

    name: str
    arch: str
    grid: tuple[int, int]
    banks: int
    clock_mhz: int
    dram_gb_s: int

    @classmethod
    def of(cls, info: Mapping[str, Any]) -> Card:
        """Return the card of a chip's properties."""
        names = ("name", "arch_name", "grid", "dram_banks", "aiclk_mhz")
        name, arch, grid, banks, clock = (info[field] for field in names)
        return cls(name, arch, grid, banks, clock, _DRAM_GB_S[name])

    @property
    def cores(self) -> int:
        """Compute cores."""
        return self.grid[0] * self.grid[1]


_DRAM_GB_S: Final = {"n150": 288, "n300": 288, "galaxy": 288, "p100": 448, "p150": 512, "p300": 512}
CARDS: Final = {name: Card.of(_engine.chip_info(name)) for name in _engine.chip_names()}
"""Cards by name.

Of the n300 and the p300 one of two chips.
"""


@dataclass(frozen=True)
class Plan:
    """The steps of a device operation.

    Args:
        name: The official name of the device operation.
        card: The card.
        fidelity: "LoFi" to "HiFi4", empty without a compute kernel.
        groups: Cores with equal work.
        cbs: Circular buffers, by the numbers that the steps use.
        inputs: Operands that are read.
        outputs: Operands that are written.
        attributes: What the operation was made with, for reports.
    """

    name: str
    card: Card
    fidelity: str
    groups: tuple[CoreGroup, ...]
    cbs: tuple[PlanCb, ...]
    inputs: tuple[Operand, ...] = ()
    outputs: tuple[Operand, ...] = ()
    attributes: tuple[tuple[str, str], ...] = ()

    @property
    def cores(self) -> int:
        """Cores that work."""
        return sum(group.cores for group in self.groups)

    @cached_property
    def timing(self) -> Timing:
        """The predicted time.

        Raises:
            UnsupportedError: the cycle table lacks a function.
        """
        groups = [(group.cores, group.reader, group.compute, group.writer) for group in self.groups]
        generation = 1 if self.card.arch == "blackhole" else 0
        pages = [cb.pages for cb in self.cbs]
        try:
            raw = _engine.time_plan((generation, self.card.banks, self.card.cores, pages, groups))
        except ValueError as error:
            raise UnsupportedError(f"{self.name}: {error}", "unimplemented") from error
        return Timing(
            raw["cycles"],
            raw["bound"],
            tuple(GroupTime(*group) for group in raw["groups"]),
            raw["dram_read_bytes"],
            raw["dram_write_bytes"],
            raw["l1_bytes"],
        )

    @property
    def nanoseconds(self) -> float:
        """The predicted time on the chip."""
        return self.timing.cycles * 1000 / self.card.clock_mhz


class GroupTime(NamedTuple):
    """End and busy cycles of a group's kernels.

    Ends count from the start; busy are those in which they do not wait.

    Both have an entry for reader, unpack, math, pack, writer.
    """

    cores: int
    ends: tuple[int, int, int, int, int]
    busy: tuple[int, int, int, int, int]


class Timing(NamedTuple):
    """The time of a device operation.

    Attributes:
        cycles: From the start of the first core to the end of the last.
        bound: What decides it: "DRAM", "L1", "compute", "reader" or "writer".
        groups: Each group of cores.
        dram_read_bytes: Bytes read from DRAM.
        dram_write_bytes: Bytes written to DRAM.
        l1_bytes: Bytes moved between cores.
    """

    cycles: int
    bound: str
    groups: tuple[GroupTime, ...]
    dram_read_bytes: int
    dram_write_bytes: int
    l1_bytes: int


def walk(steps: Sequence[Step], times: int = 1) -> Iterator[tuple[Step, int]]:
    """Yield every non-loop step, and its count."""
    for step in steps:
        if step[0] == "loop":
            yield from walk(step[2], times * step[1])
        else:
            yield step, times
