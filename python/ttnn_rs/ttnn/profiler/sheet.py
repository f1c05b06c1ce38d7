"""A profile as official profiler files: operation sheet, device log.

Source: columns that tt-perf-report 1.4 and ttnn-visualizer 0.108 read.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, Final

from ttnn.base.files import write_atomically
from ttnn.profiler.operand import Operand
from ttnn.profiler.plan import Plan
from ttnn.profiler.rows import MissingRow, Row
from ttnn.profiler.table import dram_share, flop_share

SHEET = "ops_perf_results.csv"
DEVICE_LOG = "profile_log_device.csv"
FIRST_CALL = 1024
"""GLOBAL CALL COUNT of the first operation."""
_DIMENSIONS: Final = ("W", "Z", "Y", "X")
_RISCS: Final = ("BRISC", "NCRISC", "TRISC_0", "TRISC_1", "TRISC_2")
_ENDS: Final = {"BRISC": 4, "NCRISC": 0, "TRISC_0": 1, "TRISC_1": 2, "TRISC_2": 3}
"""Index of a RISC's end in a group's ends.

Writer, reader, unpack, math, pack.
"""


def _tensor(label: str, operand: Operand | None, device: int) -> Iterator[tuple[str, str]]:
    for index, name in enumerate(_DIMENSIONS):
        column = f"{label}_{name}_PAD[LOGICAL]"
        yield column, "" if operand is None else f"{operand.padded[index]}[{operand.logical[index]}]"
    layout = "" if operand is None else "TILE" if operand.tiled else "ROW_MAJOR"
    yield f"{label}_LAYOUT", layout
    yield f"{label}_DATATYPE", "" if operand is None else operand.dtype
    yield f"{label}_MEMORY", "" if operand is None else f"DEV_{device}_{operand.buffer}_{operand.memory}"


def _attributes(plan: Plan) -> str:
    """Return attributes as a profiler prints them: commas are semicolons."""
    pairs = (f"'{name}': '{value.replace(',', ';')}'" for name, value in plan.attributes)
    return "{" + "; ".join(pairs) + "}"


def sheet_row(row: Row | MissingRow, start: float, chip: int) -> dict[str, Any]:
    """Return an operation's cells by column, on one chip.

    Without a time durations are empty, and readers pass the row over.

    Args:
        row: The operation.
        start: When it begins on the device, in nanoseconds.
        chip: The chip's number.
    """
    plan, record = row.plan, row.record
    cells: dict[str, Any] = {
        "OP CODE": plan.name,
        "OP TYPE": "tt_dnn_device",
        "GLOBAL CALL COUNT": FIRST_CALL + row.number,
        "DEVICE ID": chip,
        "DEVICE ARCH": plan.card.arch,
        "ATTRIBUTES": "{'not predicted': '" + _plain(row.plan.reason) + "'}"
        if isinstance(row, MissingRow)
        else _attributes(row.plan),
        "AVAILABLE WORKER CORE COUNT": plan.card.cores,
        "PARALLELIZATION STRATEGY": "",
        "HOST START TS": record.started,
        "HOST END TS": record.started,
        "HOST DURATION [ns]": 0,
        "METAL TRACE ID": "" if record.trace is None else record.trace,
        "SUB DEVICE ID": "",
        **(dict.fromkeys(_TIMES, "") if isinstance(row, MissingRow) else _times(row, start)),
    }
    for index in range(3):
        operand = plan.inputs[index] if index < len(plan.inputs) else None
        cells.update(_tensor(f"INPUT_{index}", operand, chip))
    cells.update(_tensor("OUTPUT_0", plan.outputs[0] if plan.outputs else None, chip))
    return cells


_TIMES: Final = (
    *("MATH FIDELITY", "CORE COUNT", "DEVICE FW START CYCLE", "DEVICE FW END CYCLE", "OP TO OP LATENCY [ns]"),
    *("DEVICE FW DURATION [ns]", "DEVICE KERNEL DURATION [ns]"),
    *("DEVICE BRISC KERNEL DURATION [ns]", "DEVICE NCRISC KERNEL DURATION [ns]"),
    *(f"DEVICE TRISC{thread} KERNEL DURATION [ns]" for thread in range(3)),
    *("DEVICE COMPUTE CB WAIT FRONT [ns]", "PM FPU UTIL (%)", "DRAM BW UTIL (%)"),
)
"""Columns whose cells follow from the plan."""


def _times(row: Row, start: float) -> dict[str, Any]:
    plan = row.plan
    timing, to_ns = plan.timing, 1000 / plan.card.clock_mhz
    ends = [max((group.ends[i] for group in timing.groups if group.busy[i]), default=0) for i in range(5)]
    wait_front = sum(max(0, group.ends[1] - group.busy[1]) for group in timing.groups[:1])
    first = round(start / to_ns)
    cells = (
        *(plan.fidelity, plan.cores, first, first + timing.cycles, round(row.gap)),
        *(round(row.nanoseconds), round(row.nanoseconds)),
        *(_ns(ends[index], to_ns) for index in (4, 0, 1, 2, 3)),
        *(_ns(wait_front, to_ns), f"{100 * flop_share(plan):.3f}", f"{100 * dram_share(plan):.3f}"),
    )
    return dict(zip(_TIMES, cells, strict=True))


def _plain(text: str) -> str:
    """Return a text that is one value of the attributes."""
    return text.replace(",", ";").replace("'", "").replace("\n", " ")


def _ns(cycles: int, to_ns: float) -> int | str:
    return round(cycles * to_ns) if cycles else ""


def starts(rows: Sequence[Row | MissingRow]) -> Iterator[float]:
    """Yield operations' start times in nanoseconds, consecutive with gaps.

    Unknown times count as none.
    """
    now = 0.0
    for row in rows:
        now += row.gap if isinstance(row, Row) else 0.0
        yield now
        now += row.nanoseconds if isinstance(row, Row) else 0.0


def write_sheet(rows: Sequence[Row | MissingRow], path: Path, columns: Mapping[str, Sequence[str]]) -> None:
    """Write the sheet of operations: a row for each of their chips.

    Args:
        rows: The operations.
        path: The file.
        columns: Further columns, with a value for each operation; those that are missing at the end are empty.
    """
    table: list[dict[str, Any]] = []
    of_chips = ((row, start, chip) for row, start in zip(rows, starts(rows), strict=True) for chip in row.record.chips)
    for row, start, chip in of_chips:
        cells = sheet_row(row, start, chip)
        for name, values in columns.items():
            cells[name] = values[row.number] if row.number < len(values) else ""
        if table:
            # Readers sort by it, and device operations of one call began together.
            cells["HOST START TS"] = max(cells["HOST START TS"], table[-1]["HOST START TS"] + 1)
            cells["HOST END TS"] = cells["HOST START TS"]
        table.append(cells)
    file = io.StringIO()
    writer = csv.writer(file, quoting=csv.QUOTE_MINIMAL)
    if table:
        writer.writerow(table[0])
        writer.writerows(cells.values() for cells in table)
    write_atomically(path, file.getvalue(), where="profiler")


def write_device_log(rows: Sequence[Row], path: Path) -> None:
    """Write the zones of all RISCs of one core of each group."""
    card = rows[0].plan.card if rows else None
    arch, clock, cores = (card.arch, card.clock_mhz, card.cores) if card else ("wormhole_b0", 1000, 64)
    header = (
        "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, run host ID, "
        "trace id, trace id counter, zone name, type, source line, source file, meta data"
    )
    with io.StringIO() as file:
        file.write(f"ARCH: {arch}, CHIP_FREQ[MHz]: {clock}, Max Compute Cores: {cores}\n{header}\n")
        for row, start in zip(rows, starts(rows), strict=True):
            begin, columns = round(start * clock / 1000), row.plan.card.grid[0]
            number = 0
            for group in row.plan.timing.groups:
                for risc in _RISCS:
                    end = group.ends[_ENDS[risc]]
                    if not group.busy[_ENDS[risc]]:
                        continue
                    zones = ((1, begin, "ZONE_START"), (2, begin + end, "ZONE_END"))
                    for chip, (timer, at, kind) in product(row.record.chips, zones):
                        place = f"{number % columns},{number // columns}"
                        zone = f"{risc.replace('_', '')}-KERNEL" if "TRISC" not in risc else "TRISC-KERNEL"
                        trace = "" if row.record.trace is None else row.record.trace
                        file.write(
                            f"{chip},{place},{risc},{timer},{at},0,{FIRST_CALL + row.number},{trace},,"
                            f"{zone},{kind},0,,\n"
                        )
                number += group.cores
        write_atomically(path, file.getvalue(), where="profiler")
