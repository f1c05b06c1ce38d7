"""Kernels from files and texts of C++ or Python.

Python has a `kernel_main`.
"""

from __future__ import annotations

import linecache
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ttnn import kernel_api
from ttnn.base.exceptions import ArgumentError, FileAccessError, KernelError
from ttnn.base.files import path_name, read_text
from ttnn.metal.cpp.spec import CppSource
from ttnn.metal.mux_kernels import mux_kernel

__all__ = ["SetRootDir", "set_root_dir"]

KernelFunction = Callable[[], object] | CppSource
"""A kernel: a Python function, or a source in C++."""
_CPP = (".cpp", ".cc", ".cxx", ".hpp", ".h")
_MAX_FILE_BYTES = 1 << 26
_CPP_TEXT = re.compile(r"^\s*#\s*include\b|\bvoid\s+(kernel_main|MAIN)\b", re.MULTILINE)
"""Text that only C++ sources contain."""
_root: list[Path] = []


def set_root_dir(root_dir: str | os.PathLike[str]) -> None:
    """Add a search folder for kernel files."""
    _root[:] = [Path(root_dir).absolute()]


SetRootDir = set_root_dir


def kernel_from_file(caller: str, name: str | os.PathLike[str]) -> KernelFunction:
    """Return a file's kernel: C++, or `kernel_main` of Python.

    The path is absolute, or one from the working folder, the folder of `set_root_dir` or those of `TT_METAL_HOME` and
    `TT_METAL_RUNTIME_ROOT`. The official mux kernels need no file: they are known by their path.

    Raises:
        KernelError: there is no such file, or it is neither C++ nor Python with a `kernel_main`, or not in UTF-8.
    """
    path = Path(path_name(caller, name))
    forwards = mux_kernel(path)
    if forwards is not None:
        return forwards
    roots = _roots()
    searched = [path] if path.is_absolute() else [Path.cwd() / path, *(root / path for root in roots)]
    found = next((place for place in searched if os.path.isfile(place)), None)
    if found is None:
        raise KernelError(
            f"{caller}: no kernel file {path} in {', '.join(str(place.parent) for place in searched)}",
            vendor=f"Kernel file {path} doesn't exist in any of the searched paths!",
        )
    try:
        text = read_text(found, where=caller, limit=_MAX_FILE_BYTES)
    except FileAccessError as error:
        raise KernelError(str(error)) from None
    if found.suffix in _CPP:
        return CppSource(found.absolute(), text, roots, _named(found.absolute()))
    return kernel_from_text(caller, text, str(found))


def _roots() -> tuple[Path, ...]:
    """Return the folders of `set_root_dir` and of the environment."""
    named = (os.environ.get(name) for name in ("TT_METAL_HOME", "TT_METAL_RUNTIME_ROOT"))
    return tuple(dict.fromkeys((*_root, *(Path(home).absolute() for home in named if home))))


def _named(found: Path) -> tuple[Path, ...]:
    """Return the folders that a kernel's file may include from.

    It includes by a path such as `../common.h`.

    Those are the folder of the program and the working folder, if the kernel is below. A home folder is too much.
    """
    main = getattr(sys.modules.get("__main__"), "__file__", None)
    folders = (Path.cwd(), *([Path(main).absolute().parent] if main else []))
    too_much = (Path(os.sep), Path(os.path.expanduser("~")))
    return tuple(folder for folder in folders if folder not in too_much and found.is_relative_to(folder))


def kernel_from_text(caller: str, text: str, name: str = "") -> KernelFunction:
    """Return a text's kernel: C++, or `kernel_main` of Python.

    In Python the names of `ttnn.kernel_api` are known.

    Raises:
        KernelError: it is neither C++ nor Python with a `kernel_main`.
    """
    if not isinstance(text, str):
        raise ArgumentError(f"{caller}: the source of a kernel is a text, got {text!r}")
    if _CPP_TEXT.search(text):
        return CppSource(None, text, _roots())
    file = name or f"<kernel {abs(hash(text)):x}>"
    api: Any = kernel_api
    names = {name: getattr(api, name) for name in api.__all__}
    names |= {"__name__": "kernel", "__file__": file}
    try:
        exec(compile(text, file, "exec"), names)
    except Exception as error:
        raise KernelError(f"{caller}: {file}: {type(error).__name__}: {error}") from error
    main = names.get("kernel_main")
    if not callable(main):
        raise KernelError(f"{caller}: {file} defines no function kernel_main")
    if not name:
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    return main  # type: ignore[no-any-return]
