"""Limits for Python kernels: an endless loop ends with an error that names its line.

One thread of the process looks at the running programs once a second. What it finds is raised in the thread that runs
the program, wherever the kernel is. Two limits, both from the environment when a program starts, 0 for none:

* `TTNN_KERNEL_SECONDS` (60): seconds without a call of the kernel API;
* `TTNN_KERNEL_LIMIT` (1000000000): calls of one kernel.

Time in a debugger (pdb, debugpy) does not count.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
import time
from types import FrameType

from ttnn import _engine
from ttnn.base.exceptions import ArgumentError

_TICK = 1.0
"""Seconds between two looks."""
_SECONDS, _CALLS = 60, 1_000_000_000
_DEBUGGERS = {"bdb", "pdb", "pydevd", "debugpy"}


class OverrunError(BaseException):
    """Raised inside a kernel that exceeds a limit; no kernel should catch it. Users see a KernelError."""


class Guard:
    """A running program, as the watchdog sees it."""

    def __init__(self, run: _engine.ProgramRun) -> None:
        self.reason = ""
        """Which limit was exceeded, empty as long as none was."""
        self._seconds = _limit("TTNN_KERNEL_SECONDS", _SECONDS)
        self._limit = _limit("TTNN_KERNEL_LIMIT", _CALLS)
        self._run = run
        self._thread = threading.get_ident()
        self._lock = threading.Lock()
        self._armed = bool(self._seconds or self._limit)
        self._calls = -1
        self._idle = 0.0
        if self._armed:
            _watch(self)

    def disarm(self) -> None:
        """Stop watching; an error that has not arrived yet is taken back."""
        if not self._armed:
            return
        with self._lock:
            self._armed = False
            _guards.discard(self)
            if self.reason:
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self._thread), None)

    def look(self) -> None:
        """Raise an error in the program's thread if a limit is exceeded."""
        if _is_debugged(sys._current_frames().get(self._thread)):
            self._idle = 0.0
            return
        try:
            calls = [calls for _, _, calls in self._run.report()["kernels"]]
        except RuntimeError:  # a call is being executed
            self._idle = 0.0
            return
        self._idle = self._idle + _TICK if sum(calls) == self._calls else 0.0
        self._calls = sum(calls)
        if self._seconds and self._idle >= self._seconds:
            self.reason = (
                f"no call of ttnn.kernel_api for {self._seconds:g} s, an endless loop? TTNN_KERNEL_SECONDS sets this "
                "limit, 0 for none"
            )
        elif self._limit and max(calls, default=0) > self._limit:
            self.reason = (
                f"more than {self._limit:.0f} calls of ttnn.kernel_api, an endless loop? TTNN_KERNEL_LIMIT sets this "
                "limit, 0 for none"
            )
        if not self.reason:
            return
        with self._lock:
            if self._armed:
                thread, error = ctypes.c_ulong(self._thread), ctypes.py_object(OverrunError)
                ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, error)


_guards: set[Guard] = set()
_awake = threading.Event()
_thread: threading.Thread | None = None


def _limit(name: str, default: float) -> float:
    text = os.environ.get(name, "")
    try:
        value = float(text) if text else default
    except ValueError:
        value = -1
    if value < 0:
        raise ArgumentError(f"{name}: expected a number, 0 for no limit, got {text!r}")
    return value


def _watch(guard: Guard) -> None:
    global _thread
    if not getattr(sys, "_is_gil_enabled", lambda: True)():
        return  # the calls of a running kernel cannot be counted from another thread
    _guards.add(guard)
    if _thread is None or not _thread.is_alive():  # it does not survive a fork
        _thread = threading.Thread(target=_work, name="ttnn kernel watchdog", daemon=True)
        _thread.start()
    if not _awake.is_set():
        _awake.set()


def _work() -> None:
    while True:
        _awake.wait()
        time.sleep(_TICK)
        for guard in list(_guards):
            guard.look()
        if not _guards:
            _awake.clear()
            if _guards:
                _awake.set()


def _is_debugged(frame: FrameType | None) -> bool:
    """Return whether a debugger is on the stack or traces the kernel."""
    while frame is not None:
        module = str(frame.f_globals.get("__name__", ""))
        if frame.f_trace is not None or module.startswith("_pydevd") or module.partition(".")[0] in _DEBUGGERS:
            return True
        frame = frame.f_back
    return False
