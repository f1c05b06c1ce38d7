"""The command line: `python -m ttnn info | demo | goldens | bench | sweep | profile | run`.

Every subcommand is a module with `add_parser`, which names its options, and `run`, which returns the exit code. With
`--json` a subcommand prints one JSON document on standard output and nothing else; progress is on standard error.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Sequence

from ttnn.base.exceptions import ArgumentError, ConfigError, FileAccessError, TtnnError
from ttnn.cli import bench, demo, goldens, info, profile, run, sweep
from ttnn.cli.common.terminal import EXIT_FAILURE, EXIT_INTERRUPTED, MissingPackage, Terminal

EXIT_USAGE = 2


def build_parser() -> argparse.ArgumentParser:
    """Return the parser with every subcommand."""
    parser = argparse.ArgumentParser(prog="python -m ttnn", description="A Tenstorrent device without the card.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for module in (info, demo, goldens, bench, sweep, profile, run):
        subparser = module.add_parser(commands)
        subparser.add_argument("--json", action="store_true", help="print one JSON document instead of tables")
        subparser.set_defaults(run=module.run)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one subcommand and return its exit code.

    0 done, 1 failed or different, 2 wrong usage.
    """
    # A closed stream (`>&-`) is None, and to print to it does nothing; what asks the stream itself needs one.
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 (open until the end)
    options = build_parser().parse_args(arguments)
    terminal = Terminal(json=options.json)
    try:
        code: int = options.run(options, terminal)
        sys.stdout.flush()
    except MissingPackage as error:
        terminal.error(str(error))
        return EXIT_USAGE
    except FileAccessError as error:
        terminal.error(str(error))
        return EXIT_FAILURE
    except TtnnError as error:
        terminal.error(f"{type(error).__name__}: {error}")
        return EXIT_USAGE if isinstance(error, ArgumentError | ConfigError) else EXIT_FAILURE
    except OSError as error:
        # If this is about another file, what has been printed is still to come out.
        with contextlib.suppress(OSError):
            sys.stdout.flush()
        # What is left cannot be written, and the interpreter must not try on its way out.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        # A closed reader (`| head`) needs no message; a full disk or an unwritable folder does.
        if not isinstance(error, BrokenPipeError):
            terminal.error(f"{options.command}: {error}")
        return EXIT_FAILURE
    except KeyboardInterrupt:
        terminal.error("interrupted")
        return EXIT_INTERRUPTED
    return code
