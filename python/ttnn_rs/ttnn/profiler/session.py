"""`profile`: predicted times of what runs inside it, as a table, as files, as numbers."""

from __future__ import annotations

import atexit
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ttnn.base.exceptions import ArgumentError, ConfigError
from ttnn.operation.observation import Observation
from ttnn.profiler.recorder import Recorder
from ttnn.profiler.rows import GAP_NANOSECONDS, Row
from ttnn.profiler.sheet import DEVICE_LOG, SHEET, write_device_log, write_sheet
from ttnn.profiler.table import rich_table, text
from ttnn.profiler.timeline import chrome_trace


class Profile:
    """The device operations that ran while it was open.

    Attributes:
        rows: They, in the order of execution.
    """

    def __init__(self) -> None:
        self._recorder = Recorder()

    @property
    def rows(self) -> list[Row]:
        """The device operations in the order of execution."""
        return [
            Row(number, record, record.plan.nanoseconds, GAP_NANOSECONDS if number else 0.0)
            for number, record in enumerate(self._recorder.records)
        ]

    @property
    def total(self) -> float:
        """Predicted nanoseconds on the chip, gaps not included."""
        return sum(row.nanoseconds for row in self.rows)

    def table(self) -> Any:
        """Return operator, operands, cores, fidelity, time, shares of the peaks and bound of every device operation.

        A `rich.table.Table` where rich is installed, else text; both print.
        """
        try:
            return rich_table(self.rows)
        except ImportError:
            return text(self.rows)

    def __str__(self) -> str:
        return text(self.rows)

    def to_csv(self, folder: str | Path) -> Path:
        """Write the sheet that tt-perf-report reads and the device log; return the path of the sheet.

        Args:
            folder: Is made if it is missing.
        """
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        rows = self.rows
        write_sheet(rows, folder / SHEET)
        write_device_log(rows, folder / DEVICE_LOG)
        return folder / SHEET

    def to_perfetto(self, path: str | Path) -> Path:
        """Write the timeline as a Chrome trace, which https://ui.perfetto.dev opens; return its path."""
        path = Path(path)
        path.write_text(json.dumps(chrome_trace(self.rows), separators=(",", ":")), encoding="utf-8")
        return path


def profile_process() -> None:
    """Profile from now on, and print the table to standard error when the process ends: `TTNN_PROFILER=on`.

    Raises:
        ConfigError: the variable is neither "on" nor "off".
    """
    value = os.environ.get("TTNN_PROFILER", "off")
    if value not in ("on", "off"):
        raise ConfigError(f"TTNN_PROFILER: expected one of on, off; got {value!r}")
    if value == "on":
        session = Profile()
        session._recorder.start()
        atexit.register(lambda: print(session, file=sys.stderr))


@contextmanager
def profile() -> Iterator[Profile]:
    """Predict how long the chip takes for the operators that run inside.

    Values do not change. Calls that are repeated cost a look-up more.

    Raises:
        ArgumentError: a profile is open already.
    """
    if Observation.active is not None:
        raise ArgumentError("ttnn.profiler.profile: a profile is open already; profiles do not nest")
    session = Profile()
    session._recorder.start()
    try:
        yield session
    finally:
        session._recorder.stop()
