"""`python -m ttnn bench`: operator times on this machine, compared with torch and numpy.

Times are the best of several runs after a warm-up, with the same number of threads for all. A ratio above one
prints the speed relative to the peer. Nothing here has a limit.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from ttnn import _engine
from ttnn.base.config import CONFIG
from ttnn.base.files import write_atomically
from ttnn.cli.bench.cases import Result, cases, run_case
from ttnn.cli.common import host_options
from ttnn.cli.common.terminal import Table, Terminal, picture_path, require

DEFAULT_PICTURE = Path("ttnn-bench.png")


def add_parser(commands: Any) -> argparse.ArgumentParser:
    """Add the subcommand and its options to a parser."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "bench", help="time operators, torch and numpy", description=__doc__
    )
    parser.add_argument("--size", type=_size, default=1024, metavar="N", help="rows and columns (default: 1024)")
    parser.add_argument("--repeat", type=_positive, default=5, metavar="N", help="timed runs per case (default: 5)")
    parser.add_argument("--only", metavar="TEXT", default="", help="only cases whose name contains TEXT")
    parser.add_argument(
        "--output",
        type=picture_path,
        default=DEFAULT_PICTURE,
        metavar="PNG",
        help=f"plot; the results are written next to it as JSON (default: {DEFAULT_PICTURE})",
    )
    host_options.add_arguments(parser)
    return parser


def _positive(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a number, got {text!r}") from None
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, got {number}")
    return number


def _size(text: str) -> int:
    number = _positive(text)
    if number % 32:
        raise argparse.ArgumentTypeError(f"must be a multiple of the tile side 32, got {number}")
    return number


def run(options: argparse.Namespace, terminal: Terminal) -> int:
    """Time every case; print the table, draw the plot, write results."""
    require("matplotlib", extra="viz", purpose="the plot of the bench")
    with host_options.applied(options):
        chosen = [case for case in cases(options.size) if options.only in case.name]
        if not chosen:
            terminal.error(f"no case contains {options.only!r}")
            return 2
        results = []
        with terminal.progress("bench", len(chosen)) as progress:
            for case in chosen:
                results.append(run_case(case, options.size, options.repeat))
                progress.advance(case.name)
        host = {
            "cpu": _engine.cpu_name(),
            "cpu_level": CONFIG.cpu_level,
            "cpu_levels": _engine.cpu_levels(),
            "threads": CONFIG.threads,
            "numerics": CONFIG.numerics,
            "size": options.size,
        }
    from ttnn.cli.bench.figure import draw  # importing matplotlib costs half a second; a wrong option should not

    figures = options.output.with_suffix(".json")
    content = {"host": host, "picture": str(options.output), "results": [result.as_json() for result in results]}
    _report(terminal, results, host, content)
    write_atomically(figures, json.dumps(content, indent=2) + "\n", where="bench")
    draw(options.output, results, host)
    terminal.line(f"plot: {options.output}; results: {figures}")
    return 0


def _report(terminal: Terminal, results: list[Result], host: dict[str, Any], content: dict[str, Any]) -> None:
    terminal.document(content)
    table = Table("", ("case", "time", "rate", "peer", "peer's time", "ratio"), left=frozenset({"case", "peer"}))
    for result in results:
        first = (result.name, f"{result.seconds * 1e3:.2f} ms", result.rate)
        if not result.peers:
            table.rows.append((*first, "", "", ""))
        for index, (peer, seconds) in enumerate(result.peers.items()):
            lead = first if index == 0 else ("", "", "")
            table.rows.append((*lead, peer, f"{seconds * 1e3:.2f} ms", f"{seconds / result.seconds:.2f}"))
    terminal.line(
        f"{host['cpu']}, level {host['cpu_level']} of {', '.join(host['cpu_levels'])}, {host['threads']} thread(s), "
        f"{host['numerics']} numerics, {host['size']} x {host['size']}"
    )
    terminal.table(table)
