"""`python -m ttnn run`: a script, and what each of its programs of `ttnn.metal` cost."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ttnn.base.exceptions import ArgumentError
from ttnn.base.observers import OBSERVERS, Observer
from ttnn.cli.common.scripts import as_program, run_script
from ttnn.cli.common.terminal import Terminal

_FLAG = "--timeline"


def add_parser(commands: Any) -> argparse.ArgumentParser:
    """Add the subcommand and its options to a parser."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "run", help="run a script and print what its programs cost", description=__doc__
    )
    parser.add_argument(
        _FLAG,
        action="store_true",
        help="write the timeline of each program into the current folder, for Perfetto; this flag may "
        "also follow the script directly",
    )
    parser.add_argument("script", type=Path, help="a Python script")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="its arguments")
    return parser


def run(options: argparse.Namespace, terminal: Terminal) -> int:
    """Run a script and report its programs."""
    arguments = list(options.arguments)
    timeline = options.timeline
    if not timeline and arguments[:1] == [_FLAG]:
        timeline = True
        del arguments[0]
    with as_program("run", options.script, arguments):
        watching = _Programs()
        OBSERVERS.append(watching)
        try:
            code = run_script(options.script, terminal)
        finally:
            OBSERVERS.remove(watching)
    _report(watching.reports, options.script.stem if timeline else None, terminal)
    return code


def _report(reports: list[Any], stem: str | None, terminal: Terminal) -> None:
    terminal.document(
        {
            "programs": [
                {
                    "cycles": report.cycles,
                    "microseconds": report.microseconds,
                    "kernels": [
                        {"core": kernel.core, "risc": kernel.risc, "name": kernel.kernel, "cycles": kernel.cycles}
                        for kernel in report.kernels
                    ],
                    "notes": list(report.notes),
                }
                for report in reports
            ]
        }
    )
    for number, report in enumerate(reports, 1):
        terminal.line(f"program {number}: {report!r}")
        if stem is not None:
            path = f"{stem}-{number}.trace.json"
            try:
                report.save(path)
            except ArgumentError:
                terminal.line("  no timeline: it ran with trace=False")
            else:
                terminal.line(f"  wrote {path}; open it with https://ui.perfetto.dev")
    if not reports:
        terminal.line("no program of ttnn.metal ran")


class _Programs(Observer):
    """Collects the reports of programs."""

    blocks = False
    in_full = False

    def __init__(self) -> None:
        self.reports: list[Any] = []

    def program_ran(self, ran: Any) -> None:
        """Keep the report of a program that ran."""
        if ran.report is not None:
            self.reports.append(ran.report)
