"""`profile`: predicted times inside, as table, files, and numbers."""

from __future__ import annotations

import atexit
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar, Final, Protocol

from ttnn.base.config import ProcessProfile
from ttnn.base.exceptions import ArgumentError
from ttnn.base.files import make_folder, path_name, write_atomically
from ttnn.operation.fallbacks import SUFFIX
from ttnn.profiler.missing import Total
from ttnn.profiler.recorder import Recorder
from ttnn.profiler.rows import MissingRow, Row, rows_of
from ttnn.profiler.sheet import DEVICE_LOG, SHEET, write_device_log, write_sheet
from ttnn.profiler.table import rich_table, text
from ttnn.profiler.timeline import chrome_trace

Done = Callable[[str], None]
"""Is told the name of each call that has been written."""


class ReportWriter(Protocol):
    """Writes the memory report of a profile."""

    def __call__(self, folder: Path, recorder: Recorder, done: Done) -> None:
        """Write a recorder's calls to a folder, reporting each to `done`."""


REPORT_WRITERS: Final[list[ReportWriter]] = []
"""Report writers, registered by `ttnn.reports`.

This package must not import that.
"""


class Profile:
    """The device operations that ran while it was open."""

    def __init__(self) -> None:
        self._recorder = Recorder()

    @property
    def calls(self) -> int:
        """Return the number of operator calls so far."""
        return self._recorder.count

    @property
    def operations_of_calls(self) -> list[int]:
        """Return the number of device operations of each operator call."""
        return [len(event.known.plans) for event in self._recorder.events]

    @property
    def all_rows(self) -> list[Row | MissingRow]:
        """Return `rows` and `missing` together, in the order of execution."""
        return rows_of(self._recorder.records)

    @property
    def rows(self) -> list[Row]:
        """The device operations with a predicted time, in the order of execution."""
        return [row for row in self.all_rows if isinstance(row, Row)]

    @property
    def missing(self) -> list[MissingRow]:
        """Device operations of unknown time, with reasons, in execution order."""
        return [row for row in self.all_rows if isinstance(row, MissingRow)]

    @property
    def fallbacks(self) -> Counter[str]:
        """Return the number of host golden runs, by operator."""
        names = (event.known.operator for event in self._recorder.events)
        return Counter(name.removesuffix(SUFFIX) for name in names if name.endswith(SUFFIX))

    @property
    def total(self) -> Total:
        """Predicted nanoseconds on the chip, without gaps.

        `total.missing` device operations are left out.
        """
        rows = self.all_rows
        return Total(sum(row.nanoseconds for row in rows if isinstance(row, Row)), len(rows) - len(self.rows))

    def table(self) -> Any:
        """Return every device operation's row.

        Operator, operands, cores, fidelity, time, shares of the peaks and bound.

        A `rich.table.Table` where rich is installed, else text; both print.
        """
        try:
            return rich_table(self.all_rows)
        except ImportError:
            return text(self.all_rows)

    def __str__(self) -> str:
        return text(self.all_rows)

    def to_csv(self, folder: str | Path, *, columns: Mapping[str, Sequence[str]] | None = None) -> Path:
        """Write tt-perf-report's sheet and the device log; return sheet path.

        Args:
            folder: Is made if it is missing.
            columns: Further columns of the sheet, with a value for each device operation; those that are missing at
                the end are empty.
        """
        folder = make_folder(folder, where="Profile.to_csv")
        write_sheet(self.all_rows, folder / SHEET, columns or {})
        write_device_log(self.rows, folder / DEVICE_LOG)
        return folder / SHEET

    def to_perfetto(self, path: str | Path) -> Path:
        """Write the timeline as a Chrome trace; return its path.

        https://ui.perfetto.dev opens it.
        """
        path = Path(path_name("Profile.to_perfetto", path))
        make_folder(path.parent, where="Profile.to_perfetto")
        text = json.dumps(chrome_trace(self.rows), separators=(",", ":"))
        write_atomically(path, text, where="Profile.to_perfetto")
        return path

    def report(self, folder: str | Path, *, done: Done | None = None) -> Path:
        """Write a TT-NN Visualizer folder; return its path.

        It opens as memory report and as performance report.

        It gets `db.sqlite` with calls, tensors, buffers and circular buffers, the descriptions of the device, and what
        `to_csv` writes. The device operations in both are the same, in number, order and name.

        Args:
            folder: Is made if it is missing. A report that is there is replaced.
            done: Is called with the name of each call of an operator when it has been written.

        Raises:
            ArgumentError: the profile is still open.
        """
        if Recorder.active is self._recorder:
            raise ArgumentError("Profile.report: the profile is still open; write the report after the with block")
        folder = Path(folder)
        self.to_csv(folder)
        for write in REPORT_WRITERS:
            write(folder, self._recorder, done or (lambda name: None))
        return folder


class _Process:
    """The profile of the process, if there is one: `TTNN_PROFILER=on`, or `CONFIG.profiler`."""

    session: ClassVar[Profile | None] = None


def _switch_process(on: bool) -> None:
    """Begin the process's profile, or end and print it.

    Its table is printed to standard error.

    Raises:
        ArgumentError: another profile is open.
    """
    if not on:
        session, _Process.session = _Process.session, None
        if session is not None:
            session._recorder.stop()
            print(session, file=sys.stderr)
        return
    if Recorder.active is not None:
        raise ArgumentError("CONFIG.profiler: a profile is open already; profiles do not nest")
    _Process.session = Profile()
    _Process.session._recorder.start()


def profile_process() -> None:
    """Enable `CONFIG.profiler`, and end the profile with the process.

    It switches the profile of the process.
    """
    ProcessProfile.switched = _switch_process
    atexit.register(_switch_process, False)
    if ProcessProfile.on:
        _switch_process(True)


@contextmanager
def profile() -> Iterator[Profile]:
    """Predict how long the chip takes for the operators that run inside.

    Values do not change. Calls that are repeated cost a look-up more. An operation whose time is not known does not end
    the program: the profile lists it with the reason, see `Profile.missing`.

    Raises:
        ArgumentError: a profile is open already.
    """
    if Recorder.active is not None:
        raise ArgumentError("ttnn.profiler.profile: a profile is open already; profiles do not nest")
    session = Profile()
    session._recorder.start()
    try:
        yield session
    finally:
        session._recorder.stop()
