"""Official runtime tool of the Tenstorrent compiler.

The code is in `ttnn.compiler`.

Sources: tt-mlir, "ttrt" (docs/src/ttrt.md).
"""

from __future__ import annotations

from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `ttrt`; return its exit code.

    The arguments are by default those of the process.
    """
    # What only shows help must not pay for the import of operators.
    from ttrt._arguments import parse

    options = parse(arguments)
    from ttnn.compiler.tools.ttrt.main import run

    return run(options.command, {name: value for name, value in vars(options).items() if name != "command"})


__all__ = ["main"]
