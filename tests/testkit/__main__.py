"""Runs a helper that is a command: `python tests/testkit NAME [ARGUMENT ...]`."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def main() -> None:
    """Run the module of this package that the first argument names."""
    commands = sorted(file.stem for file in HERE.glob("[!_]*.py") if "__main__" in file.read_text())
    if len(sys.argv) < 2 or sys.argv[1] not in commands:
        sys.exit(f"usage: python tests/testkit {{{','.join(commands)}}} [ARGUMENT ...]")
    sys.path[0] = str(HERE.parent)
    del sys.argv[0]
    runpy.run_module(f"testkit.{sys.argv[0]}", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
