"""`python -m ttnn profile`: predicted times of scripts, or recorded rows.

Of rows it prints predicted and recorded times.
"""

from __future__ import annotations

import argparse
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ttnn.base.config import CONFIG
from ttnn.base.exceptions import ArgumentError
from ttnn.cli.common import host_options
from ttnn.cli.common.scripts import as_program, run_script
from ttnn.cli.common.terminal import Table, Terminal
from ttnn.cli.profile import compare
from ttnn.device.mesh_device import DEFAULT_CHIP, default_chip
from ttnn.device.systems import default_arch_name
from ttnn.profiler.plan import CARDS
from ttnn.profiler.rows import MissingRow, Row
from ttnn.profiler.session import Profile, profile
from ttnn.profiler.table import LEFT, labelled, total_lines

ARCHES = ("wormhole_b0", "blackhole")
VIEWER = "ttnn-visualizer --profiler-path {folder} --performance-path {folder}"


def add_parser(commands: Any) -> argparse.ArgumentParser:
    """Add the subcommand and its options to a parser."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "profile", help="predict the chip time of a script's operators", description=__doc__
    )
    parser.add_argument("--compare", metavar="FOLDER", type=Path, help="compare with the rows recorded in a folder")
    parser.add_argument("--rows", action="store_true", help="with --compare: print every row")
    parser.add_argument("--arch", choices=ARCHES, help="generation of the chip that the script opens")
    parser.add_argument("--card", choices=sorted(CARDS), help="card that the script opens")
    parser.add_argument("--csv", metavar="FOLDER", type=Path, help="write the sheet for tt-perf-report there")
    parser.add_argument("--report", metavar="FOLDER", type=Path, help="write a report for ttnn-visualizer there")
    parser.add_argument("--perfetto", metavar="FILE", type=Path, help="write the timeline there")
    parser.add_argument("script", nargs="?", type=Path, help="a Python script")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="its arguments")
    return parser


def run(options: argparse.Namespace, terminal: Terminal) -> int:
    """Profile a script, or compare recorded rows."""
    if options.compare is not None:
        return _compare(options, terminal)
    if options.script is None:
        raise ArgumentError("profile: pass a script, or --compare FOLDER")
    return _script(options, terminal)


def _script(options: argparse.Namespace, terminal: Terminal) -> int:
    with as_program("profile", options.script, options.arguments):
        _choose_card(options)
        with profile() as session, _said_meanwhile(session):
            code = run_script(options.script, terminal)
    _report(session, options, terminal)
    return code


@contextmanager
def _said_meanwhile(session: Profile) -> Iterator[None]:
    """Print a script's progress on standard error, at growing intervals.

    After one second first.

    Whole lines, because the script prints to the same terminal.
    """
    ended = threading.Event()

    def say() -> None:
        started, interval = time.monotonic(), 1.0
        while not ended.wait(interval):
            seconds = time.monotonic() - started
            sys.stderr.write(f"profile: {session.calls} calls of operators in {seconds:.0f} s\n")
            sys.stderr.flush()
            interval = min(2 * interval, 30.0)

    thread = threading.Thread(target=say, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _choose_card(options: argparse.Namespace) -> None:
    arch = options.arch
    if options.card is not None:
        card = CARDS[options.card]
        if arch is not None and arch != card.arch:
            raise ArgumentError(f"profile: the {card.name} is a {card.arch}, not a {arch}")
        arch = card.arch
        DEFAULT_CHIP[arch] = card.name
    if arch is not None:
        CONFIG.arch_name = arch
        host_options.require_chip("profile: --arch", default_arch_name(), arch)
    if options.card is not None:
        host_options.require_chip("profile: --card", default_chip(), CARDS[options.card].name)


def _report(session: Profile, options: argparse.Namespace, terminal: Terminal) -> None:
    rows = session.all_rows
    total = session.total
    terminal.document(
        {
            "total_ns": float(total),
            "operations": [
                {
                    "name": row.plan.name,
                    "operator": row.record.operator,
                    **({"label": row.record.label} if row.record.label else {}),
                    "cores": row.plan.cores,
                    "kernel_ns": row.nanoseconds,
                    "bound": row.plan.timing.bound,
                    "hint": row.hint,
                }
                for row in rows
                if isinstance(row, Row)
            ],
            "missing": [
                {"name": row.plan.name, "operator": row.record.operator, "reason": row.plan.reason}
                for row in rows
                if isinstance(row, MissingRow)
            ],
            "fallbacks": dict(session.fallbacks),
        }
    )
    columns, body = labelled(rows)
    table = Table("", columns, left=LEFT)
    table.rows.extend(body)
    if rows:
        terminal.table(table)
    for line in total_lines(rows):
        terminal.line(line)
    for name, count in session.fallbacks.items():
        terminal.line(f"on the host, by its golden function: {name}, {count} times")
    if options.csv is not None:
        terminal.line(f"wrote {session.to_csv(options.csv)}")
    if options.perfetto is not None:
        terminal.line(f"wrote {session.to_perfetto(options.perfetto)}")
    if options.report is not None:
        with terminal.progress("report", session.calls) as progress:
            folder = session.report(options.report, done=progress.advance)
        terminal.line(f"wrote {folder}; open it with: {VIEWER.format(folder=folder)}")


def _compare(options: argparse.Namespace, terminal: Terminal) -> int:
    folder = options.compare
    if not folder.is_dir():
        raise ArgumentError(f"profile --compare: {folder} is not a folder")
    parts = (compare.profiles, compare.matmul_anchors, compare.models, compare.noc_traces, compare.kernel_cycles)
    with terminal.progress("compare", len(parts)) as progress:
        predicted = []
        for part in parts:
            predicted.append(list(part(folder)))
            progress.advance(part.__name__.replace("_", " "))
    found, anchored, models, noc, kernels = predicted
    every = [*found, *anchored, *models, *noc, *kernels, *compare.other_anchors(folder)]
    found += models
    families = compare.by_family(found)
    classes = compare.by_family(anchored)
    terminal.document(
        {
            "families": {name: compare.summary(group) for name, group in families.items()},
            "matmul_anchors": {name: compare.extremes(group) for name, group in classes.items()},
            "noc_traces": compare.extremes(noc),
            "kernel_cycles": {**compare.extremes(kernels), "predicted": compare.predicted(kernels)},
        }
    )
    if options.rows:
        _rows(every, terminal)
    columns = ("family", "rows", "predicted", "median %", "mean %", "90th %", "within 2x %")
    table = Table("", columns, left=frozenset({"family"}))
    for name, group in families.items():
        figures = compare.summary(group)
        errors = [figures[key] for key in ("median_error", "mean_error", "p90_error", "within_2x")]
        table.rows.append((name, str(figures["rows"]), str(figures["predicted"]), *map(_percent, errors)))
    terminal.table(table)
    terminal.line()
    table = Table("", ("measurement", "rows", "predicted", "mean %", "worst %"), left=frozenset({"measurement"}))
    for name, group in {**classes, "noc_traces": noc, "kernel_cycles": kernels}.items():
        figures = compare.extremes(group)
        cells_ = (str(figures["rows"]), str(compare.predicted(group)))
        table.rows.append((name, *cells_, _percent(figures["mean_error"]), _percent(figures["worst_error"])))
    terminal.table(table)
    for reason, count in compare.reasons(every).most_common():
        terminal.remark(f"{count} rows are not predicted: {reason}")
    return 0


def _rows(predictions: list[compare.Prediction], terminal: Terminal) -> None:
    table = Table("", ("family", "row", "measured", "predicted", "error %"), left=frozenset({"family", "row"}))
    for prediction in predictions:
        predicted = "" if prediction.predicted is None else f"{prediction.predicted:.0f}"
        error = "" if prediction.predicted is None else f"{100 * prediction.error:+.1f}"
        measured = f"{prediction.measured:.0f} {prediction.unit}"
        table.rows.append((prediction.family, prediction.name, measured, predicted, error))
    terminal.table(table)


def _percent(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.1f}"
