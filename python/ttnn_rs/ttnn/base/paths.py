"""Names that become paths: none of them leaves its folder."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from ttnn.base.exceptions import ParameterError

__all__ = ["is_inside", "path_below"]

_LONGEST: Final = 255
"""Bytes of a file name that Linux and macOS store everywhere."""


def path_below(folder: str | os.PathLike[str], name: object, what: str = "name") -> Path:
    """Return the path of a file or folder directly below a folder.

    Args:
        folder: The folder. It need not exist.
        name: One part of a path, with suffix; anything that is no string is converted.
        what: What the error calls the name, for example "preprocess_model: model_name".

    Raises:
        ParameterError: the name is empty, ".", "..", has a separator or NUL, or has more than 255 bytes.
    """
    text = str(name)
    reason = _reason(text)
    if reason:
        shown = text if len(text) <= 80 else f"{text[:80]}..."
        raise ParameterError(f"{what}: {shown!r} cannot be the name of a file below {os.fspath(folder)}: {reason}.")
    return Path(folder) / text


def _reason(name: str) -> str:
    """Return why a name is no file name, empty if valid."""
    if name in ("", os.curdir, os.pardir):
        return "it is empty" if not name else "it names the folder itself or the one above"
    for mark in (os.sep, os.altsep, "\0"):
        if mark and mark in name:
            return f"it contains {mark!r}"
    try:
        size = len(os.fsencode(name))
    except UnicodeEncodeError:
        return "it cannot be encoded"
    return f"it has {size} bytes, more than {_LONGEST}" if size > _LONGEST else ""


def is_inside(path: str | os.PathLike[str], folder: str | os.PathLike[str]) -> bool:
    """Return whether a path is in a folder, symbolic links resolved.

    Neither need exist.
    """
    try:
        found = Path(path).resolve()
        return found != Path(folder).resolve() and found.is_relative_to(Path(folder).resolve())
    except (OSError, RuntimeError, ValueError):
        # Loops of links, NUL, names that are too long.
        return False
