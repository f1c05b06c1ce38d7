"""The timeline of a run as a Chrome trace and plot."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from ttnn.base.exceptions import ArgumentError, UnsupportedError
from ttnn.base.files import open_atomically, path_name, write_atomically

_TRANSFER = 3
"""Thread number of an event that is a transfer."""
_THREADS = ("unpack", "math", "pack")
_COLOURS = {"wait": "#d9d9d9", "transfer": "#7fb8e6", "compute": "#e6913c", "call": "#5a9e6f"}
_WAITS = frozenset(
    {
        "acquire_dst",
        "cb_reserve_back",
        "cb_wait_front",
        "noc_semaphore_wait",
        "noc_semaphore_wait_min",
        "tile_regs_acquire",
        "tile_regs_wait",
    }
)


@dataclass(frozen=True)
class Event:
    """A span of time.

    Attributes:
        kernel: Index into `Report.kernels`.
        thread: 0 to 2, unpack, math and pack of a compute kernel; 0 of others; 3 a transfer.
        name: The call, or read, write, multicast.
        start: First cycle.
        end: Cycle after the last.
        bytes: Bytes of a transfer, else 0.
    """

    kernel: int
    thread: int
    name: str
    start: int
    end: int
    bytes: int


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
        whom: For waits that another kernel ended, which one: it pushed or popped the pages, or changed the word.
        calls: Calls of the kernel API.
    """

    core: tuple[int, int]
    risc: str
    kernel: str
    cycles: int
    threads: tuple[int, ...]
    waits: dict[str, int] = field(default_factory=dict)
    whom: dict[str, str] = field(default_factory=dict)
    calls: int = 0


class Run(Protocol):
    """The parts of a `Report` that a timeline uses."""

    cycles: int
    clock_mhz: int
    kernels: list[KernelReport]

    @property
    def events(self) -> list[Event]:
        """Return calls and transfers in the order of the calls."""


def chrome_trace(report: Run) -> dict[str, Any]:
    """Return the report as a Chrome trace.

    A process per core, a thread per RISC, asynchronous spans for transfers.

    Times are microseconds on the chip. The calls of a RISC are inside a span of its kernel, which has the number of
    cycles it worked, and what share of the program's length that is.
    """
    rows: list[dict[str, Any]] = []
    processes: dict[tuple[int, int], int] = {}
    starts: dict[tuple[int, int], int] = {}
    for event in report.events:
        if event.thread != _TRANSFER:
            starts.setdefault((event.kernel, event.thread), event.start)
    for index, kernel in enumerate(report.kernels):
        process = processes.setdefault(kernel.core, len(processes))
        name = f"core {kernel.core[0]}-{kernel.core[1]}"
        rows.append({"ph": "M", "pid": process, "name": "process_name", "args": {"name": name}})
        for thread, label in enumerate(_labels(kernel)):
            row = {"ph": "M", "pid": process, "tid": index * 4 + thread, "name": "thread_name", "args": {"name": label}}
            rows.append(row)
            began = starts.get((index, thread))
            if began is not None:
                busy = busy_cycles(kernel, thread, began)
                whole: dict[str, Any] = {"ph": "X", "pid": process, "tid": index * 4 + thread, "name": kernel.kernel}
                span: dict[str, Any] = {
                    "ts": began / report.clock_mhz,
                    "dur": (kernel.threads[thread] - began) / report.clock_mhz,
                }
                facts = {"busy cycles": busy, "share of the program": round(busy / max(1, report.cycles), 4)}
                rows.append({**whole, **span, "args": facts})
    for number, event in enumerate(report.events):
        kernel = report.kernels[event.kernel]
        place = {"pid": processes[kernel.core], "tid": event.kernel * 4 + event.thread % _TRANSFER, "name": event.name}
        start, end = event.start / report.clock_mhz, event.end / report.clock_mhz
        if event.thread == _TRANSFER:
            # A number that is the core's own keeps the span below it; Perfetto has others apart from all cores.
            span = {**place, "cat": "NoC", "id2": {"local": hex(number)}, "args": {"bytes": event.bytes}}
            rows += [{**span, "ph": "b", "ts": start}, {**span, "ph": "e", "ts": end}]
        else:
            rows.append(
                {**place, "ph": "X", "ts": start, "dur": end - start, "args": {"cycles": event.end - event.start}}
            )
    return {"traceEvents": rows, "displayTimeUnit": "ns", "otherData": {"cycles": report.cycles}}


def busy_cycles(kernel: KernelReport, thread: int, start: int = 0) -> int:
    """Return a kernel thread's busy cycles, at most the program's length.

    Args:
        kernel: The kernel.
        thread: Its thread: 0 to 2 of a compute kernel, else 0.
        start: When it began.
    """
    prefix = f"{_THREADS[thread]}: " if len(kernel.threads) > 1 else ""
    waited = sum(cycles for what, cycles in kernel.waits.items() if what.startswith(prefix))
    return max(0, kernel.threads[thread] - start - waited)


def _labels(kernel: KernelReport) -> Sequence[str]:
    if len(kernel.threads) == 1:
        return (f"{kernel.risc} {kernel.kernel}",)
    return tuple(f"TRISC{number} {kernel.kernel} ({name})" for number, name in enumerate(_THREADS))


def save(report: Run, path: str | Path) -> None:
    """Write the Chrome trace of a report; Perfetto and chrome://tracing open it.

    Raises:
        ArgumentError: the run was not recorded.
        FileAccessError: the file cannot be written.
    """
    _require_events(report, "save")
    write_atomically(path, json.dumps(chrome_trace(report), separators=(",", ":")), where="Report.save")


def plot(report: Run, path: str | Path | None = None) -> Any:
    """Draw each core's load and each RISC's timeline; return the figure.

    It is saved if `path` is set.

    Raises:
        ArgumentError: the run was not recorded.
        UnsupportedError: matplotlib is not installed.
    """
    _require_events(report, "plot")
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise UnsupportedError("Report.plot needs matplotlib: pip install ttnn-rs[viz]") from None
    lines = _lines(report)
    figure = Figure(figsize=(13, 1.8 + 0.22 * min(len(lines), 60)), layout="constrained")
    heat, chart = figure.subplots(1, 2, width_ratios=(1, 4))
    _draw_heat(figure, heat, report)
    _draw_timeline(chart, report, lines[:60])
    if path is not None:
        # As `savefig` names a file without a suffix.
        target = Path(path_name("Report.plot", path))
        target = target if target.suffix else target.with_suffix(".png")
        with open_atomically(target, where="Report.plot") as file:
            figure.savefig(file, dpi=120, format=target.suffix[1:])
    return figure


def _require_events(report: Run, function: str) -> None:
    if not report.events:
        raise ArgumentError(f"Report.{function}: the run was not recorded; run it without trace=False")


def _lines(report: Run) -> list[tuple[str, int, int]]:
    """Return label, kernel and thread of every line of the chart."""
    lines = []
    for index, kernel in enumerate(report.kernels):
        core = f"{kernel.core[0]}-{kernel.core[1]}"
        lines += [(f"{core} {label}", index, thread) for thread, label in enumerate(_labels(kernel))]
    return lines


def _kind(event: Event, compute: bool) -> str:
    if event.thread == _TRANSFER:
        return "transfer"
    if event.name in _WAITS or event.name.endswith("barrier") or event.name.startswith("wait for "):
        return "wait"
    return "compute" if compute else "call"


def _draw_timeline(chart: Any, report: Run, lines: list[tuple[str, int, int]]) -> None:
    places = {(kernel, thread): row for row, (_, kernel, thread) in enumerate(lines)}
    bars: dict[tuple[int, str], list[tuple[int, int]]] = {}
    for event in report.events:
        compute = len(report.kernels[event.kernel].threads) > 1
        row = places.get((event.kernel, event.thread % _TRANSFER))
        if row is not None:
            bars.setdefault((row, _kind(event, compute)), []).append((event.start, event.end - event.start))
    for (row, kind), spans in sorted(bars.items(), key=lambda item: (item[0][1] != "wait", item[0])):
        height, offset = (0.25, 0.35) if kind == "transfer" else (0.7, 0.0)
        # An edge of its colour keeps a bar visible that is narrower than a dot of the picture.
        edge = {"edgecolors": _COLOURS[kind], "linewidth": 0.0 if kind == "wait" else 0.4}
        chart.broken_barh(spans, (row - height / 2 - offset, height), facecolors=_COLOURS[kind], **edge)
    chart.set_yticks(range(len(lines)), [label for label, _, _ in lines], fontsize=7)
    chart.invert_yaxis()
    chart.set_xlabel(f"cycles at {report.clock_mhz} MHz")
    chart.set_title(f"{report.cycles} cycles")
    handles = [chart.scatter([], [], marker="s", color=colour, label=kind) for kind, colour in _COLOURS.items()]
    # Beside the chart, where it hides no bar.
    chart.figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), fontsize=7)


def _draw_heat(figure: Any, heat: Any, report: Run) -> None:
    busy: dict[tuple[int, int], float] = {}
    riscs: dict[tuple[int, int], int] = {}
    for kernel in report.kernels:
        worked = sum(busy_cycles(kernel, thread) for thread in range(len(kernel.threads)))
        busy[kernel.core] = busy.get(kernel.core, 0) + worked
        riscs[kernel.core] = riscs.get(kernel.core, 0) + len(kernel.threads)
    length = max(1, report.cycles)
    busy = {core: 100 * cycles / (length * riscs[core]) for core, cycles in busy.items()}
    columns = 1 + max(x for x, _ in busy)
    rows = 1 + max(y for _, y in busy)
    grid = [[busy.get((x, y), 0) for x in range(columns)] for y in range(rows)]
    image = heat.imshow(grid, cmap="viridis", vmin=0, vmax=100)
    heat.set_xticks(range(columns))
    heat.set_yticks(range(rows))
    heat.set_title("RISCs at work,\n% of the program", fontsize=9)
    figure.colorbar(image, ax=heat, shrink=0.6)
