"""Running a script of the user inside a subcommand."""

from __future__ import annotations

import io
import linecache
import os
import runpy
import stat
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Final

from ttnn.base.exceptions import ArgumentError
from ttnn.base.files import path_name, read_stream
from ttnn.cli.common.terminal import EXIT_FAILURE, EXIT_INTERRUPTED, Terminal

_LONGEST: Final = 1 << 26
"""Maximum bytes of a piped script; a device may be endless."""
_PIPES: Final = (stat.S_ISFIFO, stat.S_ISCHR)


@contextmanager
def as_program(command: str, script: Path, arguments: Sequence[str]) -> Iterator[None]:
    """Set `sys.argv` and the search path to those of a script.

    Raises:
        ArgumentError: there is no such file or pipe.
    """
    path_name(command, script)
    if not (script.is_file() or _is_pipe(script)):
        raise ArgumentError(f"{command}: {script} is not a file")
    before = sys.argv, list(sys.path)
    sys.argv = [str(script), *arguments]
    sys.path.insert(0, str(script.parent.resolve()))
    try:
        yield
    finally:
        sys.argv, sys.path[:] = before


def run_script(script: Path, terminal: Terminal) -> int:
    """Run a script as Python does; return its exit code.

    What it ran before an error is reported all the same.
    """
    piped = _read_pipe(script) if _is_pipe(script) else None
    try:
        if piped is not None:
            _run_text(piped, str(script))
        else:
            runpy.run_path(str(script), run_name="__main__")
    except SystemExit as error:
        if error.code is None or isinstance(error.code, int):
            return error.code or 0
        sys.stderr.write(f"{error.code}\n")
        return EXIT_FAILURE
    except KeyboardInterrupt:
        terminal.error("interrupted")
        return EXIT_INTERRUPTED
    except BaseException as error:
        # The frames from here to the script are not the script's; a script that does not parse has none.
        frames = error.__traceback__
        while frames is not None and frames.tb_frame.f_code.co_filename in _OWN_FILES:
            frames = frames.tb_next
        traceback.print_exception(error.with_traceback(frames))
        return EXIT_FAILURE
    return 0


def _is_pipe(script: Path) -> bool:
    """Return whether a script is a pipe, readable only once.

    As for `<(command)` and `/dev/stdin`.
    """
    try:
        mode = os.stat(script).st_mode
    except OSError:
        return False
    return any(kind(mode) for kind in _PIPES)


def _read_pipe(script: Path) -> str:
    with io.open_code(str(script)) as file:
        return read_stream(file, str(script), where="run", limit=_LONGEST)


def _run_text(text: str, name: str) -> None:
    """Run a text as the main module."""
    # Tracebacks and kernels show their lines.
    linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
    module = ModuleType("__main__")
    module.__dict__.update(__file__=name, __cached__=None)
    before = sys.modules["__main__"]
    sys.modules["__main__"] = module
    try:
        exec(compile(text, name, "exec", dont_inherit=True), module.__dict__)
    finally:
        sys.modules["__main__"] = before


_OWN_FILES = frozenset({__file__, runpy.__file__, "<frozen runpy>"})
