"""Running a script of the user inside a subcommand."""

from __future__ import annotations

import runpy
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from ttnn.base.exceptions import ArgumentError
from ttnn.cli.common.terminal import EXIT_FAILURE, EXIT_INTERRUPTED, Terminal


@contextmanager
def as_program(command: str, script: Path, arguments: Sequence[str]) -> Iterator[None]:
    """Set `sys.argv` and the search path to those of a script.

    Raises:
        ArgumentError: there is no such file.
    """
    if not script.is_file():
        raise ArgumentError(f"{command}: {script} is not a file")
    before = sys.argv, list(sys.path)
    sys.argv = [str(script), *arguments]
    sys.path.insert(0, str(script.parent.resolve()))
    try:
        yield
    finally:
        sys.argv, sys.path[:] = before


def run_script(script: Path, terminal: Terminal) -> int:
    """Run a script as Python does, and return its exit code. What it ran before an error is reported all the same."""
    try:
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


_OWN_FILES = frozenset({__file__, runpy.__file__, "<frozen runpy>"})
