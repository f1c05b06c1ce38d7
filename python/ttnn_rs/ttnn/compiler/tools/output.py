"""Input and output of a tool: files or standard streams."""

from __future__ import annotations

import errno
import os
import sys
from typing import Final

from ttnn.base.exceptions import FileAccessError
from ttnn.base.files import decoded, open_file, read_stream_bytes, write_atomically
from ttnn.compiler.limits import FILE_BYTES, shortened

__all__ = ["UNEXPECTED", "end_of_output", "read", "read_source", "write"]

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
    """Return a file's or standard input's text.

    Standard input for `-`; None, after a message, if it cannot be read.
    """
    found = read_source(tool, file)
    assert not isinstance(found, bytes)
    return found


def read_source(tool: str, file: str, magic: bytes | None = None) -> str | bytes | None:
    """Return a file's or standard input's text.

    Or its bytes if they begin with `magic`.

    Standard input for `-`; None, after a message, if it cannot be read.
    """
    try:
        if file != "-":
            # Pipes too: shells make them for `<(command)`.
            with open_file(file, where=tool, streams=True) as source:
                data = read_stream_bytes(source, shortened(file), where=tool, limit=FILE_BYTES)
            return _content(tool, shortened(file), data, magic)
        # Python has no object for a stream that the shell has closed.
        if sys.stdin is None:
            raise FileAccessError(f"{tool}: standard input is closed; name a file")
        # An object that tests put in the place of standard input has only text.
        if not hasattr(sys.stdin, "buffer"):
            return sys.stdin.read()
        data = read_stream_bytes(sys.stdin.buffer, "standard input", where=tool, limit=FILE_BYTES)
        return _content(tool, "standard input", data, magic)
    except FileAccessError as error:
        sys.stderr.write(f"{error}\n")
        return None


def _content(tool: str, name: str, data: bytes, magic: bytes | None) -> str | bytes:
    return data if magic is not None and data.startswith(magic) else decoded(data, name, tool)


def write(tool: str, output: str, data: bytes) -> int:
    """Write to a file, or standard output for `-`; return exit code."""
    try:
        if output == "-":
            if sys.stdout is None:
                raise FileAccessError(f"{tool}: standard output is closed; name a file by -o")
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
    """Prevent writes at interpreter exit: the remaining output cannot be written."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
