"""Official extension of Model Explorer for compiler modules.

The code is in `ttnn.compiler.explorer`. The module `main` needs Model Explorer.
"""

from __future__ import annotations

from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `tt-explorer`; return its exit code.

    The arguments are by default those of the process.
    """
    from ttnn.compiler.explorer.server import main as run

    return run(arguments)


__all__ = ["main"]
