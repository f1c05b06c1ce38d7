"""`ttnn.metal` programs in a profile.

Their plan is what ran, their time that of the run.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any, Final

from ttnn.metal.configs import DataFormat
from ttnn.metal.layout import Layout
from ttnn.metal.report import Report
from ttnn.metal.timeline import busy_cycles
from ttnn.operation.observation import ProgramRan
from ttnn.profiler.describe import card_of, operand_of
from ttnn.profiler.plan import CoreGroup, GroupTime, Plan, PlanCb, Timing

NAME: Final = "GenericOpDeviceOperation"
"""The official name of a program that a caller describes."""
_FIDELITY: Final = {1: "LoFi", 2: "HiFi2", 3: "HiFi3", 4: "HiFi4"}
_PLACES: Final = {"NCRISC": (0,), "TRISC": (1, 2, 3), "BRISC": (4,)}
"""Index of a RISC's threads among reader, unpack, math, pack, writer."""
_OWN: Final = ("read barrier", "write barrier", "NoC issue")
"""Waits that no other kernel ends, counted as work.

As in plans.
"""
_BOUNDS: Final = ("reader", "compute", "compute", "compute", "writer")


@dataclass(frozen=True)
class RecordedPlan(Plan):
    """The plan of a program whose time is known.

    Args:
        recorded: Its time.
    """

    recorded: Timing | None = None

    @property
    def timing(self) -> Timing:
        """The time of the run."""
        assert self.recorded is not None
        return self.recorded


def plan_of(ran: ProgramRan) -> RecordedPlan:
    """Return the plan of a program that has run."""
    layout, report = ran.layout, ran.report
    operands = tuple(operand_of(tensor.spec) for tensor in ran.tensors)
    cores = sorted({row[0] for row in layout.kernels}, key=lambda core: (core[1], core[0]))
    return RecordedPlan(
        NAME,
        card_of(ran.device),
        _fidelity(layout),
        tuple(CoreGroup(1, (), (), ()) for _ in cores),
        circular_buffers(layout),
        operands[:-1],
        operands[-1:],
        (("kernels", " ".join(sorted({row[2] for row in layout.kernels}))),),
        _timing(report, cores),
    )


def circular_buffers(layout: Layout) -> tuple[PlanCb, ...]:
    """Return the circular buffers of a program, each with its cores."""
    found: dict[tuple[Any, ...], list[tuple[int, int]]] = defaultdict(list)
    for core, index, address, page, pages, code, _, borrowed in layout.cbs:
        found[index, address, page, pages, code, borrowed].append(core)
    return tuple(
        PlanCb(f"CB {index}", pages, page, DataFormat(code).name, borrowed, address, tuple(cores))
        for (index, address, page, pages, code, borrowed), cores in found.items()
    )


def _fidelity(layout: Layout) -> str:
    """Return the fidelity of the compute kernels, empty without one."""
    phases = [row[4][0] for row in layout.kernels if row[4] is not None]
    return _FIDELITY[max(phases)] if phases else ""


def _timing(report: Report, cores: list[tuple[int, int]]) -> Timing:
    ends = {core: [0] * 5 for core in cores}
    busy = {core: [0] * 5 for core in cores}
    for kernel in report.kernels:
        for thread, place in enumerate(_PLACES[kernel.risc]):
            ends[kernel.core][place] = kernel.threads[thread]
            waited = sum(kernel.waits.get(what, 0) for what in _OWN)
            busy[kernel.core][place] = busy_cycles(kernel, thread) + (waited if len(kernel.threads) == 1 else 0)
    groups = tuple(GroupTime(1, _five(ends[core]), _five(busy[core])) for core in cores)
    last = max(groups, key=lambda group: max(group.ends))
    bound = _BOUNDS[last.busy.index(max(last.busy))]
    read, written = (sum(pair[index] for pair in report.bank_bytes) for index in (0, 1))
    return Timing(max(1, report.cycles), bound, groups, read, written, sum(report.noc_bytes) - read - written)


def _five(values: list[int]) -> tuple[int, int, int, int, int]:
    first, second, third, fourth, fifth = values
    return first, second, third, fourth, fifth
