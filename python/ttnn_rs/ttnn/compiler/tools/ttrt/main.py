"""The command line of `ttrt`, after its arguments are parsed."""

from __future__ import annotations

import sys
from typing import Any

from ttnn.base.exceptions import TtnnError
from ttnn.compiler.tools.output import end_of_output
from ttnn.compiler.tools.ttrt.api import API

__all__ = ["run"]


def run(command: str, arguments: dict[str, Any]) -> int:
    """Run a command; return the exit code: 0 if every file passed."""
    API.initialize_apis()
    try:
        code, results = API.registered_apis[command.capitalize()](arguments)()
        if command == "run":
            # What did not pass is in the log with its reason.
            for entry in results:
                if entry["result"] == "pass":
                    print(f"{entry['file_path']}: pass")
        sys.stdout.flush()
    except TtnnError as error:
        print(f"ttrt {command}: error: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        end_of_output()
        return 1
    except OSError as error:
        # Only an error of the stream itself has no file.
        if error.filename is None:
            end_of_output()
        where = "standard output cannot be written" if error.filename is None else error.filename
        print(f"ttrt {command}: error: {where}: {error.strerror}", file=sys.stderr)
        return 1
    return code
