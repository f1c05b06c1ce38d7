"""Kernel errors, with kernel, location and call."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from inspect import unwrap
from types import CodeType, FrameType
from typing import NoReturn

from ttnn import kernel_api
from ttnn.base.exceptions import EngineBugError, KernelArgumentError, KernelError, TtnnError, UnsupportedError
from ttnn.kernel_api.binding_errors import wrong_call
from ttnn.kernel_api.context import KernelContext, here
from ttnn.kernel_api.ending import PACKAGE, Place, place_among
from ttnn.metal.cpp.cache import INCLUDE, source_path
from ttnn.metal.cpp.entry import end_of_entry
from ttnn.metal.native_kernels import is_native

_ENGINE_CALLS = {"an init call", "a vector init", "a vector function"}
"""Engine calls that implement several kernel API calls."""


def raise_from_kernel(kernel: object, error: BaseException, reason: str = "", place: Place | None = None) -> NoReturn:
    """Raise an error of a kernel with the place where it happened.

    Args:
        kernel: The kernel.
        error: What it raised.
        reason: Text of an error that has none: the limit that a kernel exceeded.
        place: Location of the error, if its traceback has none.
    """
    if not isinstance(kernel, KernelContext) or isinstance(error, EngineBugError):
        raise error
    if is_native(kernel):
        file, line = kernel.run.kernel_place(kernel.index)
        call = ""
    else:
        file, line, call = place or place_among(traceback.walk_tb(error.__traceback__))
    # A deferred call is at another line than the kernel.
    if getattr(error, "file", "") and getattr(error, "line", 0):
        file, line, call = error.file, error.line, ""  # type: ignore[attr-defined]
    if is_native(kernel) and file.startswith(f"{INCLUDE}{os.sep}"):
        # The code after the end of every kernel, which is in a file of ours.
        file, line = str(source_path(kernel.function)), end_of_entry(kernel.function.text)
    if not line and not is_native(kernel):
        file, line = end_of(kernel.function)
    core = "-".join(map(str, kernel.core))
    chip = f"{here.chip}, " if here.chip else ""
    where = f"{chip}core {core}, {kernel.risc}, kernel {kernel.name} ({os.path.basename(file)}:{line})"
    if isinstance(error, KeyboardInterrupt):
        raise KeyboardInterrupt(where) from error
    if isinstance(error, UnsupportedError):
        raise UnsupportedError(f"{where}: {_with_call(str(error), call)}", error.category) from error
    # The engine's own text of such a number is about conversions.
    is_converted = isinstance(error, KernelArgumentError) and str(error).startswith("argument ")
    if is_converted or (isinstance(error, Exception) and not isinstance(error, TtnnError)):
        text = wrong_call(error, error.__traceback__)
        if text:
            text = f"{where}: {text}"
            raise KernelArgumentError(text, core, kernel.risc, kernel.name, line, None, file) from error
    if isinstance(error, KernelError):
        text = _with_call(str(error), call)
        raise type(error)(f"{where}: {text}", core, kernel.risc, kernel.name, line, error.cb, file) from error
    text = reason or f"{type(error).__name__}: {error}"
    raise KernelError(f"{where}: {text}", core, kernel.risc, kernel.name, line, None, file) from error


def calling_line() -> tuple[str, int]:
    """Return the innermost frame's file and line outside this package."""
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        path = frame.f_code.co_filename
        if not os.path.abspath(path).startswith(PACKAGE):
            return path, frame.f_lineno
        frame = frame.f_back
    return "", 0


def end_of(function: Callable[[], object]) -> tuple[str, int]:
    """Return a kernel's file and last line.

    Nothing for callables that are no Python function.
    """
    code: CodeType | None = getattr(unwrap(function), "__code__", None)
    if code is None:
        return "", 0
    return code.co_filename, max(line or 0 for _, _, line in code.co_lines())


def _with_call(text: str, call: str) -> str:
    """Return an error's text with the user's call.

    It replaces the one that found the error.
    """
    if call and text.startswith("argument "):
        return f"{call}: {text}"
    found, colon, rest = text.partition(": ")
    first, _, method = found.partition(".")
    named = getattr(kernel_api, first, None)
    is_call = found in _ENGINE_CALLS or callable(getattr(named, method, None) if method else named)
    return f"{call}: {rest}" if call and colon and is_call else text
