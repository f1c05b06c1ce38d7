"""`python -m ttnn goldens [FOLDER]`: bit comparison with golden vectors, by array.

The folder holds `fpu/`, `sfpu/`, `host/`, `ops/` and `ccl/` with `.npz` files in the format of their READMEs, or is
one of them, or folders of such. The nearest `arch.json` above a file names the chip it is for, Wormhole if there is
none. Every array that the engine can compute is checked; the others are counted with the reason. The exit code is 1 if
anything differs.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ttnn.base.config import CONFIG
from ttnn.cli.common import host_options
from ttnn.cli.common.terminal import Table, Terminal
from ttnn.cli.goldens import ccl, fpu, host, operators, sfpu
from ttnn.cli.goldens.walk import Checker, FileReport, check_file, files_of, names_in, reading

FAMILIES = {
    "fpu": fpu.checker_of,
    "sfpu": sfpu.checker_of,
    "host": host.checker_of,
    "ops": operators.checker_of,
    "ccl": ccl.checker_of,
}
SHOWN_DIFFERENCES = 20
SHOWN_FILES = 4


def add_parser(commands: Any) -> argparse.ArgumentParser:
    """Name the options."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "goldens", help="compare the engine with golden vectors", description=__doc__
    )
    parser.add_argument("folder", type=Path, nargs="?", help="folder of vectors (default: TTNN_GOLDEN)")
    parser.add_argument(
        "--only", action="append", default=[], metavar="NAME", help="only files whose name begins so: fpu/, sfpu/exp"
    )
    host_options.add_arguments(parser)
    return parser


def run(options: argparse.Namespace, terminal: Terminal) -> int:
    """Check every file and print the counts."""
    folder: Path | None = options.folder or CONFIG.golden
    if folder is None:
        terminal.error("goldens: pass the folder of the vectors, or set TTNN_GOLDEN")
        return 2
    if not folder.is_dir():
        terminal.error(f"goldens: {folder}: not a folder")
        return 2
    if CONFIG.numerics != "exact":
        terminal.error(f"goldens: vectors are for the exact mode; set TTNN_NUMERICS=exact, not {CONFIG.numerics}")
        return 2
    with host_options.applied(options):
        reports = check_folder(folder, options.only, terminal)
    if not reports:
        chosen = f" whose name begins with {' or '.join(options.only)}" if options.only else ""
        terminal.error(f"goldens: no .npz files of {', '.join(FAMILIES)}{chosen} in {folder}")
        return 2
    _print(terminal, folder, reports)
    return 1 if any(report.differences for report in reports) else 0


def check_folder(folder: Path, only: list[str], terminal: Terminal) -> list[FileReport]:
    """Check all files of `folder`, or those prefixed by `only`.

    Prefixed: the name begins with one of them.
    """
    # A folder of one family is walked as well as one that holds them all.
    top = folder.resolve().name
    files = [
        (name, path, checker)
        for name, path in files_of(folder, only)
        if (checker := _checker_of(name if "/" in name else f"{top}/{name}"))
    ]
    reports = []
    with terminal.progress("goldens", sum(_arrays_in(path, name) for name, path, _ in files)) as progress:
        for name, path, checker in files:
            done = 0

            def advance(array: str, name: str = name) -> None:
                nonlocal done
                done += 1
                progress.advance(f"{name} {array}")

            reports.append(check_file(path, name, checker, advance))
            progress.advance(name, _arrays_in(path, name) - done)
    return reports


def _checker_of(name: str) -> Checker | None:
    family, _, file = name.rpartition("/")
    find = FAMILIES.get(family.rpartition("/")[2])
    return find(file) if find else None


def _arrays_in(path: Path, name: str) -> int:
    with reading(name):
        return len(names_in(path))


def _files_by_reason(reports: list[FileReport]) -> dict[str, dict[str, int]]:
    """Return uncovered files and array counts by reason."""
    files: dict[str, dict[str, int]] = {}
    for report in reports:
        for reason in report.uncovered.values():
            counts = files.setdefault(reason, {})
            counts[report.path] = counts.get(report.path, 0) + 1
    return files


def _print(terminal: Terminal, folder: Path, reports: list[FileReport]) -> None:
    differing = sum(report.different_values for report in reports)
    terminal.document(
        {
            "folder": str(folder),
            "equal_values": sum(report.equal_values for report in reports),
            "different_values": differing,
            "files": [
                {
                    "file": report.path,
                    "arch": report.arch,
                    "equal_arrays": report.equal_arrays,
                    "equal_values": report.equal_values,
                    "different_values": report.different_values,
                    "differences": [str(difference) for difference in report.differences],
                    "input_arrays": report.input_arrays,
                    "uncovered": report.uncovered,
                }
                for report in reports
            ],
        }
    )
    columns = ("file", "equal arrays", "equal values", "different", "not covered")
    table = Table(f"golden vectors in {folder}", columns, left=frozenset({"file"}))
    table.rows.extend(
        (
            report.path,
            str(report.equal_arrays),
            f"{report.equal_values:,}",
            f"{report.different_values:,}",
            str(len(report.uncovered)),
        )
        for report in reports
        if report.equal_arrays or report.differences
    )
    terminal.table(table)
    terminal.line()
    for reason, files in _files_by_reason(reports).items():
        arrays = sum(files.values())
        named = ", ".join(files) if len(files) <= SHOWN_FILES else f"{len(files)} files"
        terminal.line(f"{arrays} arrays not covered in {named}: {reason}")
    differences = [f"{report.path} {difference}" for report in reports for difference in report.differences]
    if differences:
        terminal.line()
    for text in differences[:SHOWN_DIFFERENCES]:
        terminal.line(text)
    if len(differences) > SHOWN_DIFFERENCES:
        terminal.line(f"and {len(differences) - SHOWN_DIFFERENCES} more arrays; --json lists them all")
    terminal.line()
    arches = sorted({report.arch for report in reports}, reverse=True)
    for arch in arches:
        terminal.line(f"{arch}: {_counts([report for report in reports if report.arch == arch])}")
    if len(arches) > 1:
        terminal.line(_counts(reports))


def _counts(reports: list[FileReport]) -> str:
    equal = sum(report.equal_values for report in reports)
    different = sum(report.different_values for report in reports)
    uncovered = sum(len(report.uncovered) for report in reports)
    return f"{equal:,} values equal, {different:,} different; {uncovered} arrays not covered"
