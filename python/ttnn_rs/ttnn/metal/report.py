"""What a run cost: cycles per kernel, what each waited for, bytes moved."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from ttnn import _engine
from ttnn.kernel_api.context import KernelContext
from ttnn.mesh_device import MeshDevice
from ttnn.metal import timeline
from ttnn.metal.timeline import Event

_KINDS = (
    *("front of CB", "back of CB", "semaphore at", "read barrier", "write barrier", "NoC issue"),
    *("Dst", "math", "unpack"),
)
_THREADS = ("unpack", "math", "pack")


@dataclass
class KernelReport:
    """One kernel on one core.

    Attributes:
        core: Logical core.
        risc: BRISC, NCRISC or TRISC.
        kernel: Its name.
        cycles: When it ended; of a compute kernel, when the last of its threads did.
        threads: When each thread ended: one for data movement, unpack, math and pack for compute.
        waits: Cycles that each thread waited, by what for.
        calls: Calls of the kernel API.
    """

    core: tuple[int, int]
    risc: str
    kernel: str
    cycles: int
    threads: tuple[int, ...]
    waits: dict[str, int] = field(default_factory=dict)
    calls: int = 0


class Report:
    """What a run cost."""

    def __init__(self, device: MeshDevice, kernels: list[KernelContext], run: _engine.ProgramRun) -> None:
        raw = run.report()
        self.cycles: int = raw["cycles"]
        self.clock_mhz = int(device.chip["aiclk_mhz"])
        self.noc_bytes: tuple[int, int] = tuple(raw["noc_bytes"])
        self.bank_bytes: list[tuple[int, int]] = [tuple(pair) for pair in raw["bank_bytes"]]
        self._run = run
        self.kernels: list[KernelReport] = []
        for kernel, (clocks, stalls, calls) in zip(kernels, raw["kernels"], strict=True):
            compute = kernel.risc == "TRISC"
            waits: dict[str, int] = {}
            for thread, kind, what, cycles in stalls:
                name = _KINDS[kind] + (f" {what}" if kind < 3 else "")
                waits[f"{_THREADS[thread]}: {name}" if compute else name] = cycles
            threads = tuple(clocks) if compute else (clocks[0],)
            self.kernels.append(
                KernelReport(kernel.core, kernel.risc, kernel.name, max(threads), threads, waits, calls)
            )

    @cached_property
    def events(self) -> list[Event]:
        """Return calls and transfers in the order of the calls: the first 2,097,152, or none after `trace=False`."""
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
        """Draw the grid's heat map and the timeline with matplotlib; return the figure.

        Raises:
            ArgumentError: the run was not recorded (`trace=False`).
            UnsupportedError: matplotlib is not installed.
        """
        return timeline.plot(self, path)

    def __repr__(self) -> str:
        lines = [f"{self.cycles} cycles ({self.microseconds:.2f} us at {self.clock_mhz} MHz)"]
        for kernel in self.kernels:
            x, y = kernel.core
            waits = ", ".join(f"{cycles} for {what}" for what, cycles in kernel.waits.items())
            lines.append(f"  core {x}-{y} {kernel.risc:6} {kernel.kernel}: {kernel.cycles} cycles, waited {waits or 0}")
        return "\n".join(lines)
