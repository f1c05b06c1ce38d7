"""`--level` and `--threads`: the engine's use of the host.

Results depend on neither.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager

from ttnn.base.config import CONFIG
from ttnn.base.exceptions import ArgumentError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the subcommand and its options to a parser."""
    parser.add_argument("--level", metavar="LEVEL", help="CPU level: scalar, avx2, avx512 or neon (default: the best)")
    parser.add_argument("--threads", type=int, metavar="N", help="host threads (default: all)")


@contextmanager
def applied(options: argparse.Namespace) -> Iterator[None]:
    """Run the engine with the options, and restore its settings.

    Raises:
        ConfigError: the CPU does not have the level, or the number of threads is not positive.
    """
    before = CONFIG.cpu_level, CONFIG.threads
    try:
        if options.level is not None:
            CONFIG.cpu_level = options.level
        if options.threads is not None:
            CONFIG.threads = options.threads
        yield
    finally:
        CONFIG.cpu_level, CONFIG.threads = before


def require_chip(option: str, found: str, expected: str) -> None:
    """Check that the chosen system has the chip that an option names.

    Raises:
        ArgumentError: it has another one.
    """
    if found != expected:
        raise ArgumentError(
            f"{option}: the chosen system (TTNN_SYSTEM or a descriptor) has {found}, not {expected}; unset it or leave "
            "the option out"
        )
