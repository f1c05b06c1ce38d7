"""Start of `ttnn-run`.

It imports `ttnn` without operators and engine, which cost a second.
"""

from __future__ import annotations

import sys

from ttmlir._launch import light_package


def main() -> None:
    """Run `ttnn-run` with the process's arguments; exit with its code."""
    light_package()
    from ttnn_run.command import main

    sys.exit(main(sys.argv[1:]))
