"""The command line of `ttrt`, after its arguments are parsed."""

from __future__ import annotations

import sys
from typing import Any

from ttnn.base.exceptions import TtnnError
from ttnn.compiler.tools.ttrt.api import API

__all__ = ["run"]


def run(command: str, arguments: dict[str, Any]) -> int:
    """Run a command; return the exit code: 0 if every file passed."""
    API.initialize_apis()
    try:
        code, _ = API.registered_apis[command.capitalize()](arguments)()
    except TtnnError as error:
        print(f"ttrt {command}: error: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"ttrt {command}: error: {error.filename}: {error.strerror}", file=sys.stderr)
        return 1
    return code
