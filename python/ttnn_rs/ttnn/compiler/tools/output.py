"""How a tool begins and ends: it reads a file or standard input, and writes a file or standard output."""

from __future__ import annotations

import errno
import os
import sys
from typing import Final

from ttnn.base.exceptions import FileAccessError
from ttnn.base.files import write_atomically
from ttnn.compiler.limits import FILE_BYTES, shortened

__all__ = ["UNEXPECTED", "end_of_output", "read", "write"]

#: What a pass or a translation ends with on a module that nobody has thought of: our fault, but no traceback.
UNEXPECTED: Final = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    RuntimeError,
    TypeError,
    ValueError,
)


def read(tool: str, file: str) -> str | None:
    """Return the text of a file, or of standard input for `-`; None, after a message, if it cannot be read."""
    try:
        if file == "-":
            text = sys.stdin.read(FILE_BYTES + 1)
            long = len(text) > FILE_BYTES
        else:
            with open(file, "rb") as source:
                data = source.read(min(os.fstat(source.fileno()).st_size, FILE_BYTES) + 1)
                data += source.read(FILE_BYTES + 1 - len(data))
            long = len(data) > FILE_BYTES
            text = "" if long else data.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
        if long:
            raise OSError(f"it has more than {FILE_BYTES:,} bytes")
    except (OSError, ValueError) as error:
        sys.stderr.write(f"{tool}: cannot read {shortened(file)}: {error}\n")
        return None
    return text


def write(tool: str, output: str, data: bytes) -> int:
    """Write to a file, or to standard output for `-`; return the exit code."""
    try:
        if output == "-":
            # Also where standard output is replaced by an object that has only text, as tests do.
            if hasattr(sys.stdout, "buffer"):
                sys.stdout.flush()
                sys.stdout.buffer.write(data)
            else:
                sys.stdout.write(data.decode())
            sys.stdout.flush()
        else:
            write_atomically(output, data, where=tool)
    except FileAccessError as error:
        if error.errno != errno.EPIPE:
            sys.stderr.write(f"{error}\n")
        return 1
    except OSError as error:
        end_of_output()
        if not isinstance(error, BrokenPipeError):
            sys.stderr.write(f"{tool}: standard output cannot be written: {error.strerror}\n")
        return 1
    return 0


def end_of_output() -> None:
    """Let the interpreter write nothing more on its way out: what is left cannot be written."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
