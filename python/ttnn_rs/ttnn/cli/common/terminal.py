"""Tables and progress for people, one JSON document for programs.

The package rich (extra `cli`) draws on terminals that can show it. Without it, and into pipes, the same words come out
as plain text, so that output can be compared and nothing but the looks depends on an optional package.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import os
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

EXIT_FAILURE, EXIT_INTERRUPTED = 1, 130
"""Exit codes: the work failed; the user broke it off."""

PLAIN_PROGRESS_SECONDS = 2.0
"""Minimum time between progress lines without a terminal to redraw."""


class MissingPackage(Exception):
    """A subcommand needs a package of an extra that is not installed."""


def require(module: str, *, extra: str, purpose: str) -> ModuleType:
    """Import and return `module`, or name the extra that installs it.

    Raises:
        MissingPackage: it is not installed.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] != module.split(".")[0]:
            raise
        raise MissingPackage(f'{purpose} needs {module.split(".")[0]}: pip install "ttnn-rs[{extra}]"') from None


def picture_path(text: str) -> Path:
    """Return a plot's path, the value of `--output`.

    It is checked before the work starts.

    Raises:
        ArgumentTypeError: it is no PNG, its folder is not there, or it may not be written.
    """
    path = Path(text)
    if path.suffix.lower() != ".png" or path.is_dir():
        raise argparse.ArgumentTypeError(f"a plot file must end with .png, got {text}")
    if not path.parent.is_dir():
        raise argparse.ArgumentTypeError(f"{path.parent} is not a folder")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise argparse.ArgumentTypeError(f"{path} may not be written")
    return path


_GAP = 3
"""Most characters of a column besides its cells."""


@dataclass
class Table:
    """A titled text table.

    Columns named in `left` are aligned left, all others right.
    """

    title: str
    columns: Sequence[str]
    rows: list[Sequence[str]] = field(default_factory=list)
    left: frozenset[str] = frozenset()

    def text(self) -> str:
        """Return the table as plain lines."""
        widths = [max(map(len, column)) for column in zip(self.columns, *self.rows, strict=True)]

        def line(cells: Sequence[str]) -> str:
            parts = [
                cell.ljust(width) if name in self.left else cell.rjust(width)
                for name, cell, width in zip(self.columns, cells, widths, strict=True)
            ]
            return "  ".join(parts).rstrip()

        rule = "  ".join("-" * width for width in widths)
        return "\n".join([*([self.title] if self.title else []), line(self.columns), rule, *map(line, self.rows)])

    def parts(self, width: int) -> list[Table]:
        """Return the table, cut into tables of at most `width` characters.

        Each part begins with the columns that name the rows, the first ones that are aligned left. A column that is too
        wide next to them is in a part of its own.
        """
        room = [max(map(len, column)) + _GAP for column in zip(self.columns, *self.rows, strict=True)]
        names = next((i for i, name in enumerate(self.columns) if name not in self.left), len(room))
        if sum(room) <= width or names in (0, len(room)):
            return [self]
        groups: list[list[int]] = [[]]
        for column in range(names, len(room)):
            if groups[-1] and sum(room[:names]) + sum(room[c] for c in groups[-1]) + room[column] > width:
                groups.append([])
            groups[-1].append(column)
        chosen = [[*range(names), *group] for group in groups]
        return [
            Table(
                "" if i else self.title,
                [self.columns[c] for c in shown],
                [[row[c] for c in shown] for row in self.rows],
                self.left,
            )
            for i, shown in enumerate(chosen)
        ]


class Progress(Protocol):
    """The progress display of a long job."""

    def advance(self, detail: str, steps: int = 1) -> None:
        """Count `steps` as done and show `detail` as the present work."""


class _PlainProgress:
    """One line on standard error.

    It is redrawn on a terminal, repeated every few seconds elsewhere.
    """

    def __init__(self, label: str, total: int) -> None:
        self._label, self._total, self._done = label, total, 0
        self._redraw = sys.stderr.isatty()
        self._last = time.monotonic()

    def advance(self, detail: str, steps: int = 1) -> None:
        self._done += steps
        now = time.monotonic()
        finished = self._done >= self._total
        if self._redraw:
            filled = 24 * self._done // max(self._total, 1)
            text = f"{self._label} [{'#' * filled:<24}] {self._done}/{self._total} {detail}"
            sys.stderr.write("\r\x1b[K" + text[:100] + ("\n" if finished else ""))
            sys.stderr.flush()
        elif finished or now - self._last >= PLAIN_PROGRESS_SECONDS:
            self._last = now
            sys.stderr.write(f"{self._label}: {self._done}/{self._total} {detail}\n")
            sys.stderr.flush()


class _RichProgress:
    """The same on rich's progress bar."""

    def __init__(self, bar: Any, task: Any) -> None:
        self._bar, self._task = bar, task

    def advance(self, detail: str, steps: int = 1) -> None:
        self._bar.update(self._task, advance=steps, detail=detail)


class Terminal:
    """The output of a subcommand.

    Args:
        json: Print only what `document` is given.
    """

    def __init__(self, *, json: bool) -> None:
        self.json = json

    def line(self, text: str = "") -> None:
        """Print a line for people."""
        if not self.json:
            sys.stdout.write(text + "\n")

    def remark(self, text: str) -> None:
        """Print a remark: to standard error if the result is JSON."""
        stream = sys.stderr if self.json else sys.stdout
        stream.write(f"{text}\n")

    def error(self, text: str) -> None:
        """Print why the command failed, on standard error."""
        sys.stderr.write(f"ttnn: {text}\n")

    def table(self, table: Table) -> None:
        """Print a table for people.

        In one piece into pipes and files, in as many as needed on a terminal.
        """
        if self.json:
            return
        if not sys.stdout.isatty():
            self.line(table.text())
            return
        for i, part in enumerate(table.parts(shutil.get_terminal_size().columns - 1)):
            if i:
                self.line()
            self._draw(part)

    def _draw(self, table: Table) -> None:
        if not _has_rich():
            self.line(table.text())
            return
        rich_table, rich_box = importlib.import_module("rich.table"), importlib.import_module("rich.box")
        drawn = rich_table.Table(title=table.title or None, title_justify="left", box=rich_box.SIMPLE_HEAD)
        for name in table.columns:
            drawn.add_column(name, justify="left" if name in table.left else "right", overflow="fold")
        for row in table.rows:
            drawn.add_row(*row)
        importlib.import_module("rich.console").Console(highlight=False, markup=False).print(drawn)

    def document(self, content: dict[str, Any]) -> None:
        """Print the JSON document of `--json`."""
        if self.json:
            sys.stdout.write(json.dumps(content, indent=2) + "\n")

    @contextmanager
    def progress(self, label: str, total: int) -> Iterator[Progress]:
        """Show how far a job of `total` steps is, on standard error."""
        if not (sys.stderr.isatty() and _has_rich()):
            yield _PlainProgress(label, total)
            return
        rich = importlib.import_module("rich.progress")
        console = importlib.import_module("rich.console").Console(stderr=True)
        columns = (
            rich.TextColumn("{task.description}"),
            rich.BarColumn(),
            rich.MofNCompleteColumn(),
            rich.TimeElapsedColumn(),
            rich.TextColumn("{task.fields[detail]}"),
        )
        with rich.Progress(*columns, console=console) as bar:
            yield _RichProgress(bar, bar.add_task(label, total=total, detail=""))


def _has_rich() -> bool:
    return importlib.util.find_spec("rich") is not None
