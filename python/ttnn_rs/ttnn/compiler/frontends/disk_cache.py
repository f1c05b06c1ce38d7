"""Compiled binaries in the folder that `TTNN_COMPILE_CACHE` names.

Files are data: one that is damaged, or is not of its name, is made again. Their names hold two digests, of what was
compiled and of the content.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

import ttnn
from ttnn.base.exceptions import FileAccessError, FileFormatError
from ttnn.base.files import make_folder, read_bytes, write_atomically
from ttnn.compiler.ir.module import Module
from ttnn.compiler.target.flatbuffer.binary import Binary
from ttnn.compiler.versions import print_module

__all__ = ["cached"]

_VARIABLE: Final = "TTNN_COMPILE_CACHE"
_LIMIT: Final = 1 << 31
"""Size of the largest binary, in bytes."""


def cached(module: Module, options: str, make: Callable[[], Binary]) -> Binary:
    """Return the binary of a program, cached if possible.

    Without the environment variable it is made, and nothing is read or written. So are programs whose options name
    files, which may change.

    Args:
        module: The program; what is compiled includes its locations.
        options: Options of the pipeline.
        make: Compiles it.

    Raises:
        FileAccessError: The folder cannot be made or written.
    """
    folder = os.environ.get(_VARIABLE)
    if not folder or "path=" in options:
        return make()
    place, key = make_folder(folder, where=_VARIABLE), _key(print_module(module, debuginfo=True), options)
    for path in sorted(place.glob(f"{key}-*.ttnn")):
        found = _read(path)
        if found is not None:
            return found
    made = make()
    data = made.to_bytes()
    write_atomically(place / f"{key}-{_digest(data)}.ttnn", data, where=_VARIABLE)
    return made


def _read(path: Path) -> Binary | None:
    """Return the binary in a file; None if damaged."""
    try:
        data = read_bytes(path, where=_VARIABLE, limit=_LIMIT)
        if _digest(data) != path.stem.rpartition("-")[2]:
            return None
        return Binary.parse(data, str(path))
    except (FileAccessError, FileFormatError):
        return None


def _key(text: str, options: str) -> str:
    """Return the digest of all that decides about the binary."""
    config = ttnn.CONFIG
    parts = (ttnn.__version__, str(config.arch_name), str(config.system), options, text)
    return _digest("".join(f"{len(part)}:{part}" for part in parts).encode())


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:40]
