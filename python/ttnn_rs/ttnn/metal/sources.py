"""Kernels that are not handed over as functions: files and texts of Python with a `kernel_main`."""

from __future__ import annotations

import linecache
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ttnn.base.exceptions import ArgumentError, KernelError, UnsupportedError

__all__ = ["SetRootDir", "set_root_dir"]

_CPP = (".cpp", ".cc", ".hpp", ".h")
_root: list[Path] = []


def set_root_dir(root_dir: str | os.PathLike[str]) -> None:
    """Let kernel files be looked for in this folder too."""
    _root[:] = [Path(root_dir)]


SetRootDir = set_root_dir


def kernel_from_file(caller: str, name: str | os.PathLike[str]) -> Callable[[], object]:
    """Return the `kernel_main` of a Python file: an absolute path, or one from the working folder or the root folder.

    Raises:
        UnsupportedError: a file of C++.
        KernelError: there is no such file, it is no Python, or it defines no `kernel_main`.
    """
    path = Path(name)
    if path.suffix in _CPP:
        raise UnsupportedError(
            f"{caller}: {path} is C++, which is not compiled; write the kernel as a Python function over "
            "ttnn.kernel_api, which has the same calls",
            "unimplemented",
        )
    searched = [path] if path.is_absolute() else [Path.cwd() / path, *(root / path for root in _root)]
    found = next((place for place in searched if place.is_file()), None)
    if found is None:
        raise KernelError(
            f"{caller}: no kernel file {path} in {', '.join(str(place.parent) for place in searched)}",
            vendor=f"Kernel file {path} doesn't exist in any of the searched paths!",
        )
    return kernel_from_text(caller, found.read_text(encoding="utf-8"), str(found))


def kernel_from_text(caller: str, text: str, name: str = "") -> Callable[[], object]:
    """Return the `kernel_main` of a Python text, in which the names of `ttnn.kernel_api` are known.

    Raises:
        UnsupportedError: a text of C++.
        KernelError: it is no Python, or defines no `kernel_main`.
    """
    if not isinstance(text, str):
        raise ArgumentError(f"{caller}: the source of a kernel is a text, got {text!r}")
    if "void kernel_main" in text or "void MAIN" in text or "#include" in text:
        raise UnsupportedError(
            f"{caller}: this is C++, which is not compiled; write the kernel in Python over ttnn.kernel_api, which has "
            "the same calls",
            "unimplemented",
        )
    file = name or f"<kernel {abs(hash(text)):x}>"
    names: dict[str, Any] = {"__name__": "kernel", "__file__": file}
    try:
        exec("from ttnn.kernel_api import *", names)
        exec(compile(text, file, "exec"), names)
    except Exception as error:
        raise KernelError(f"{caller}: {file}: {type(error).__name__}: {error}") from error
    main = names.get("kernel_main")
    if not callable(main):
        raise KernelError(f"{caller}: {file} defines no function kernel_main")
    if not name:
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    return main  # type: ignore[no-any-return]
