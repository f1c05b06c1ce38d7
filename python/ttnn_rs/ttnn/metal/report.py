"""Report of a run: cycles per kernel, waits, bytes moved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from ttnn import _engine
from ttnn.device.chip import Chip
from ttnn.device.coordinates import MeshCoordinate
from ttnn.kernel_api.context import KernelContext
from ttnn.metal import timeline
from ttnn.metal.timeline import Event, KernelReport

_KINDS = (
    *("front of CB", "back of CB", "semaphore at", "read barrier", "write barrier", "NoC issue"),
    *("Dst", "math", "unpack"),
)
_THREADS = ("unpack", "math", "pack")


class Report:
    """Report of a run.

    Attributes:
        cycles: From the start of the first kernel to the end of the last.
        started_at: Cycle of its command queue at which it started, 0 for the first program of a queue.
        clock_mhz: Cycles of a microsecond.
        noc_bytes: Bytes that each network carried.
        bank_bytes: Bytes read from and written to each DRAM bank.
        kernels: Kernels in the order of cores and RISCs.
        notes: What is legal and seldom meant: pages that are left in circular buffers (the next program starts with
            empty ones, on a card too, so this changes no result and is no error), float arithmetic in software on a
            RISC, and global semaphores that a workload over the fabric leaves at another value than zero.
        chip: Coordinate of the chip that ran it; None in a mesh of one chip.
    """

    def __init__(
        self,
        chip: Chip,
        kernels: list[KernelContext],
        run: _engine.ProgramRun,
        notes: Sequence[str] = (),
        coord: MeshCoordinate | None = None,
    ) -> None:
        raw = run.report()
        self.cycles: int = raw["cycles"]
        self.clock_mhz = int(chip.facts["aiclk_mhz"])
        self.noc_bytes: tuple[int, int] = tuple(raw["noc_bytes"])
        self.bank_bytes: list[tuple[int, int]] = [tuple(pair) for pair in raw["bank_bytes"]]
        self.started_at = 0
        self.gap: int = raw["between_programs"]
        """Cycles between consecutive programs in a queue."""
        self.chip = coord
        self._run = run
        self.kernels: list[KernelReport] = []
        for number, (kernel, (clocks, stalls, calls)) in enumerate(zip(kernels, raw["kernels"], strict=True)):
            compute = kernel.risc == "TRISC"
            waits: dict[str, int] = {}
            whom: dict[str, str] = {}
            for thread, kind, what, cycles in stalls:
                name = _KINDS[kind] + (f" {what}" if kind < 3 else "")
                name = f"{_THREADS[thread]}: {name}" if compute else name
                waits[name] = cycles
                other = _ended_by(run, number, kind, what)
                if other >= 0:
                    whom[name] = _who(kernels[other], kernel.core)
            threads = tuple(clocks) if compute else (clocks[0],)
            self.kernels.append(
                KernelReport(kernel.core, kernel.risc, kernel.name, max(threads), threads, waits, whom, calls)
            )
        self.notes = [*_leftovers(kernels, run.leftovers()), *notes]

    @cached_property
    def events(self) -> list[Event]:
        """Return calls and transfers in call order.

        The first 2,097,152, or none after `trace=False`.
        """
        return [Event(*row) for row in self._run.events()]

    @property
    def microseconds(self) -> float:
        """Return the time on the chip."""
        return self.cycles / self.clock_mhz

    def save(self, path: str | Path) -> None:
        """Write the timeline as a Chrome trace, which Perfetto opens.

        Raises:
            ArgumentError: the run was not recorded (`trace=False`).
        """
        timeline.save(self, path)

    def plot(self, path: str | Path | None = None) -> Any:
        """Draw the heat map and timeline with matplotlib; return the figure.

        Raises:
            ArgumentError: the run was not recorded (`trace=False`).
            UnsupportedError: matplotlib is not installed.
        """
        return timeline.plot(self, path)

    def __repr__(self) -> str:
        lines = [f"{self.cycles} cycles ({self.microseconds:.2f} us at {self.clock_mhz} MHz){self._where()}"]
        for kernel in self.kernels:
            x, y = kernel.core
            waits = ", ".join(
                f"{cycles} for {what}" + (f" ({kernel.whom[what]})" if what in kernel.whom else "")
                for what, cycles in kernel.waits.items()
            )
            lines.append(f"  core {x}-{y} {kernel.risc:6} {kernel.kernel}: {kernel.cycles} cycles, waited {waits or 0}")
        lines += [f"  note: {note}" for note in self.notes]
        return "\n".join(lines)

    def _where(self) -> str:
        return "" if self.chip is None else f" on chip {tuple(self.chip)}"


class MeshReport(Report):
    """Report of a workload on several chips: its slowest chip.

    Attributes:
        chips: The report of each chip by its coordinate, row by row.
    """

    def __init__(self, chips: Mapping[MeshCoordinate, Report]) -> None:
        self.chips = dict(chips)
        slowest = max(self.chips.values(), key=lambda report: report.cycles)
        self.__dict__.update(slowest.__dict__)

    def _where(self) -> str:
        return f"{super()._where()}, the slowest of {len(self.chips)}"


class IdleReport(Report):
    """Report of a process without a chip of the workload."""

    def __init__(self, chip: Chip) -> None:
        self.cycles = self.started_at = self.gap = 0
        self.clock_mhz = int(chip.facts["aiclk_mhz"])
        self.noc_bytes, self.bank_bytes = (0, 0), []
        self.kernels, self.notes, self.chip = [], [], None

    @cached_property
    def events(self) -> list[Event]:
        """Return no calls."""
        return []


def _ended_by(run: _engine.ProgramRun, kernel: int, kind: int, what: int) -> int:
    """Return the kernel that ended a wait, -1 if none did."""
    if kind < 2:
        return run.cb_partners(kernel, what)[kind]
    return run.word_writer(kernel, what) if kind == 2 else -1


def _who(kernel: KernelContext, core: tuple[int, int]) -> str:
    where = "" if kernel.core == core else f" on core {kernel.core[0]}-{kernel.core[1]}"
    return f"{kernel.name}, {kernel.risc}{where}"


def _leftovers(kernels: list[KernelContext], rows: list[tuple[tuple[int, int], int, int, int, int]]) -> Iterator[str]:
    """Yield a sentence per kind of pages left in a CB.

    They are left by the same kernels, on one or many cores.
    """
    cores: dict[str, list[tuple[int, int]]] = {}
    for core, cb, pages, producer, consumer in rows:
        count = "1 page is" if pages == 1 else f"{pages} pages are"
        text = f"{count} left in CB {cb}, which kernel {_who(kernels[producer], core)}, pushed; "
        if consumer < 0:
            text += "no kernel has popped any"
        else:
            text += f"kernel {_who(kernels[consumer], core)}, has not popped all"
        cores.setdefault(text, []).append(core)
    for text, places in cores.items():
        first = "{}-{}".format(*places[0])
        yield f"core {first}{f' and {len(places) - 1} more' if len(places) > 1 else ''}: {text}"
