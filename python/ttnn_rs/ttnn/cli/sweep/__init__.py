"""`python -m ttnn sweep [OPERATOR ...]`: operators over all their inputs, and where they lose accuracy.

Functions of one tensor get all 65,536 bfloat16 values, in bfloat16 (16-bit Dst) and float32 (32-bit Dst); float32 also
gets 65,536 values of all exponents, and functions of two tensors pairs of all exponents. Every CPU level must return
the same bits, unless `--level` names one. `--compare TABLE.csv` compares our errors with a chip's. `sweep matmul`
measures the error over K.

The exit code is 1 if CPU levels differ, a stated bound is exceeded, or a row of the table differs unexplained.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import ttnn
from ttnn.base.config import CONFIG
from ttnn.base.exceptions import ArgumentError
from ttnn.cli.common import host_options
from ttnn.cli.common.terminal import Terminal, picture_path, require
from ttnn.cli.sweep import compare, matmul, tables
from ttnn.cli.sweep.parameters import parameters_of
from ttnn.cli.sweep.subjects import (
    DTYPES,
    Outcome,
    Sweep,
    arity,
    entries,
    find,
    needs_more,
    sweep,
    unary_entries,
)
from ttnn.cli.sweep.subjects import run as run_sweep
from ttnn.device.systems import default_arch_name

__all__ = ["DTYPES", "Outcome", "Sweep", "add_parser", "run", "run_sweep", "sweep", "unary_entries"]

ARCHITECTURES = {"wormhole": "wormhole_b0", "wormhole_b0": "wormhole_b0", "blackhole": "blackhole"}
MATMUL = "matmul"


def add_parser(commands: Any) -> argparse.ArgumentParser:
    """Add the subcommand and its options to a parser."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "sweep",
        help="send every input through operators and measure their error",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("operators", nargs="*", metavar="OPERATOR", help="for example exp, or matmul (default: all)")
    parser.add_argument("--all", action="store_true", help="every element-wise operator that needs only tensors")
    parser.add_argument(
        "--dtype", metavar="TYPE", help="bfloat16 or float32 (default: both); matmul: also block floats"
    )
    parser.add_argument("--arch", choices=sorted(ARCHITECTURES), help="generation of the chip (default: ARCH_NAME)")
    parser.add_argument(
        "--param", action="append", default=[], metavar="NAME=VALUE", help="option of the operator, repeatable"
    )
    parser.add_argument("--compare", type=Path, metavar="CSV", help="table of figures measured on a chip")
    parser.add_argument("--output", type=picture_path, metavar="PNG", help="draw the error over the input")
    parser.add_argument("--fidelity", help="matmul: all, LoFi, HiFi2, HiFi3 or HiFi4 (default: all)")
    parser.add_argument("--k", metavar="FIRST..LAST", help="matmul: lengths (default: 32..8192)")
    host_options.add_arguments(parser)
    return parser


def run(options: argparse.Namespace, terminal: Terminal) -> int:
    """Sweep and print."""
    if options.output is not None:
        require("matplotlib", extra="viz", purpose="the plot of a sweep")
    with host_options.applied(options), _architecture(options.arch):
        if options.compare is not None:
            return _compare(options, terminal)
        if options.operators == [MATMUL]:
            if options.all or options.param:
                raise ArgumentError("sweep matmul: --all and --param belong to element-wise operators.")
            return matmul.run(options, terminal)
        return _sweep(options, terminal)


@contextmanager
def _architecture(name: str | None) -> Iterator[None]:
    before = CONFIG.arch_name
    try:
        if name is not None:
            CONFIG.arch_name = ARCHITECTURES[name]
            host_options.require_chip("sweep: --arch", default_arch_name(), ARCHITECTURES[name])
        yield
    finally:
        CONFIG.arch_name = before


def _compare(options: argparse.Namespace, terminal: Terminal) -> int:
    wrong = options.operators, options.all, options.param, options.output, options.fidelity, options.k
    if any(wrong) or options.dtype not in (None, compare.DTYPE):
        raise ArgumentError("sweep: --compare reads its operators and parameters from the table and draws no plot.")
    if not options.compare.is_file():
        terminal.error(f"sweep: {options.compare}: no such file")
        return 2
    with ttnn.manage_device(device_id=0) as device:
        rows = compare.compare(options.compare, device, terminal, options.level)
    return compare.report(options.compare, rows, terminal)


def _sweep(options: argparse.Namespace, terminal: Terminal) -> int:
    if options.fidelity is not None or options.k is not None:
        raise ArgumentError("sweep: --fidelity and --k belong to `sweep matmul`, which runs alone.")
    if MATMUL in options.operators:
        raise ArgumentError("sweep: matmul runs alone; sweep the other operators separately.")
    if options.all and options.operators:
        raise ArgumentError("sweep: pass operators or --all, not both.")
    if options.dtype not in (None, *DTYPES):
        raise ArgumentError(f"sweep: the data type is one of {', '.join(DTYPES)}, got {options.dtype}.")
    if options.param and len(options.operators) != 1:
        raise ArgumentError("sweep: --param belongs to one operator; name it.")
    if options.operators:
        chosen = [find(name) for name in options.operators]
    else:
        chosen = [entry for entry in entries() if not needs_more(entry) and (options.all or arity(entry) == 1)]
    dtypes = DTYPES if options.dtype is None else (options.dtype,)
    jobs = [(entry, dtype) for entry in chosen for dtype in dtypes if getattr(ttnn, dtype) in entry.dtypes]
    without = {entry.name for entry in chosen} - {entry.name for entry, _ in jobs}
    if without:
        raise ArgumentError(f"sweep: no {options.dtype} of {', '.join(sorted(without))}: bfloat16 only.")
    parameters = {entry.name: parameters_of(entry, options.param) for entry in chosen}
    outcomes: list[Outcome] = []
    with ttnn.manage_device(device_id=0) as device, terminal.progress("sweep", len(jobs)) as progress:
        for entry, dtype in jobs:
            outcomes.append(run_sweep(entry, parameters[entry.name], dtype, device, options.level))
            progress.advance(f"{entry.name} {dtype}")
    sweeps = [outcome.sweep for outcome in outcomes]
    terminal.document({"sweeps": [tables.as_document(s) for s in sweeps]})
    if len(chosen) == 1:
        for i, found in enumerate(sweeps):
            if i:
                terminal.line()
            tables.print_one(terminal, found)
    else:
        tables.print_many(terminal, sweeps)
    if options.output is not None:
        from ttnn.cli.sweep.figure import draw

        draw(options.output, outcomes)
        terminal.line(f"picture: {options.output}")
    return 0 if all(s.passed for s in sweeps) else 1
