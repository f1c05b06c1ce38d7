"""Early end of a program: first error, and kernels still running.

The first error of the kernel API in a kernel fails the program, whether or not the kernel catches it. From then on each
call of a kernel ends it. A kernel that catches that too, or that makes no calls, is left in the middle of its code.
"""

from __future__ import annotations

import ctypes
import linecache
import os
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from types import FrameType
from typing import NoReturn

import greenlet

from ttnn.base.exceptions import (
    WITNESSES,
    EngineBugError,
    KernelError,
    MissingNameError,
    TtnnError,
    UnsupportedError,
)
from ttnn.kernel_api.context import KernelContext, here

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
"""Folder of the package's own code."""
Place = tuple[str, int, str]
"""File, line, and the call of the kernel API on that line."""
MAX_CALLS_AFTER_END = 1000
"""Calls of a kernel after its end, each of which raises.

Then the kernel is left.
"""
_API = "ttnn.kernel_api"
_POINTERS = {"L1Pointer.__getitem__": "an L1 load", "L1Pointer.__setitem__": "an L1 store"}
_MAKERS = {TtnnError.__init__.__code__, KernelError.__init__.__code__, UnsupportedError.__init__.__code__}


class Ended:
    """Placeholder run of an ended program: a call ends its kernel."""

    def __init__(self) -> None:
        self._calls: dict[int, int] = {}

    def __getattr__(self, name: str) -> NoReturn:
        me = id(greenlet.getcurrent())
        self._calls[me] = self._calls.get(me, 0) + 1
        if self._calls[me] > MAX_CALLS_AFTER_END:
            leave()
        raise greenlet.GreenletExit


@dataclass(frozen=True)
class Mistake:
    """The first error of a program.

    It keeps no frames: they would outlive the greenlet that they belong to.
    """

    error: TtnnError
    kernel: KernelContext
    place: Place


def end_program() -> None:
    """End this thread's program: each kernel ends at its next call."""
    if not isinstance(here.run, Ended):
        here.run = Ended()
        if here.guard is not None:
            here.guard.end()


def leave() -> None:
    """Leave the running kernel for good, in its middle.

    It cannot catch anything there.

    It is never resumed, and never freed: freeing would resume it.
    """
    me, kernel = greenlet.getcurrent(), here.kernel
    if isinstance(kernel, KernelContext) and me is not kernel.hub:
        keep(me)
        kernel.hub.switch()


def keep(kernel: greenlet.greenlet) -> None:
    """Never free a kernel that was left in its middle."""
    here.left.append(kernel)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(kernel))


def is_of_package(frame: FrameType) -> bool:
    """Return whether a frame runs the package's own code."""
    return os.path.abspath(frame.f_code.co_filename).startswith(PACKAGE)


def place_of_frame(frame: FrameType | None) -> Place:
    """Return the place of a frame that runs."""
    frames = []
    while frame is not None:
        frames.append((frame, frame.f_lineno))
        frame = frame.f_back
    return place_among(reversed(frames))


def place_among(frames: Iterable[tuple[FrameType, int]]) -> Place:
    """Return file, line and call of the innermost frame outside ttnn."""
    file, line, call = "", 0, ""
    for frame, number in frames:
        if not is_of_package(frame):
            file, line, call = frame.f_code.co_filename, number, ""
        elif file and not call:
            call = name_of_call(frame, linecache.getline(file, line))
    return file, line, call


def name_of_call(frame: FrameType, line: str) -> str:
    """Return the name under which a line calls a frame's function.

    It is empty if it is none of the kernel API.
    """
    code, me = frame.f_code, frame.f_locals.get("self")
    if frame.f_globals.get("__name__", "").rpartition(".")[0] != _API:
        return ""
    if me is not None:
        owner, name = type(me).__name__, f"{type(me).__name__}.{code.co_name}"
        if code.co_name == "__call__":
            return str(getattr(me, "__name__", ""))
        return _POINTERS.get(name, owner if code.co_name.startswith("__") else name)
    api = sys.modules[_API]
    names = [name for name in dir(api) if getattr(getattr(api, name), "__code__", None) is code]
    return next((name for name in names if re.search(rf"\b{name}\b", line)), code.co_name if names else "")


def _witness(error: TtnnError) -> None:
    """Note the first error that the kernel API raises in a kernel."""
    kernel = here.kernel
    if here.mistake is not None or not isinstance(kernel, KernelContext) or not _is_mistake(error):
        return
    me: greenlet.greenlet | None = greenlet.getcurrent()
    while me is not None and me is not kernel.coroutines[kernel.index]:
        me = me.parent  # greenlets that a kernel made itself
    maker: FrameType | None = sys._getframe(1)
    while maker is not None and maker.f_code in _MAKERS:
        maker = maker.f_back
    # The scheduler makes errors of its own, and a kernel may.
    if me is not None and maker is not None and is_of_package(maker):
        here.mistake = Mistake(error, kernel, place_of_frame(maker))
        end_program()


def _is_mistake(error: TtnnError) -> bool:
    found = isinstance(error, KernelError | UnsupportedError | EngineBugError)
    return found and not isinstance(error, MissingNameError)


WITNESSES.append(_witness)
