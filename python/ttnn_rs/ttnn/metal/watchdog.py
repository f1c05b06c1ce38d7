"""Limits for Python kernels: endless loops raise, naming the line.

One thread of the process looks at the running programs once a second. What it finds is raised in the thread that runs
the program, wherever the kernel is. Two limits, both from the environment when a program starts, 0 for none:

* `TTNN_KERNEL_SECONDS` (60): seconds without a call of the kernel API;
* `TTNN_KERNEL_LIMIT` (1000000000): calls of one kernel.

A kernel that catches the error, or that continues after its program has failed, is abandoned.

Time in a debugger (pdb, debugpy) does not count.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
import time
from contextlib import suppress
from types import FrameType

from ttnn import _engine
from ttnn.base.exceptions import ArgumentError
from ttnn.kernel_api.binding_errors import look
from ttnn.kernel_api.context import here
from ttnn.kernel_api.ending import Place, end_program, leave, place_of_frame
from ttnn.metal.threads import start_anyway

_TICK = 1.0
"""Seconds between two looks."""
_GRACE = 2.0
"""Seconds that kernels have to return after the end of their program."""
_SECONDS, _CALLS = 60, 1_000_000_000
_PATIENCE = 20
"""Errors that a kernel may catch and keep."""
_DEBUGGERS = {"bdb", "pdb", "pydevd", "debugpy"}


class OverrunError(BaseException):
    """Raised inside a kernel that exceeds a limit. Users see a KernelError."""

    def __init__(self) -> None:
        super().__init__()
        if here.guard is not None:
            here.guard.is_coming = False
        end_program()


class LeftError(OverrunError):
    """Raised in a kernel that continues after its program's end.

    One that catches it is abandoned.

    Before Python 3.12 an exception is made while the interpreter counts a reserve of its stack, and a kernel that is
    left then keeps the reserve: the next RecursionError ends the process. So the kernel is left when it drops the
    exception; only one that keeps many of them is left when the next is made.
    """

    def __init__(self) -> None:
        super().__init__()
        self._guard = here.guard
        if sys.version_info >= (3, 12) or (self._guard is not None and self._guard.sent > _PATIENCE):
            leave()

    def __del__(self) -> None:
        if self._guard is not None and here.guard is self._guard:
            leave()


class Guard:
    """A running program, as the watchdog sees it."""

    def __init__(self, run: _engine.ProgramRun) -> None:
        self.reason = ""
        """The exceeded limit; empty if none."""
        self.place: Place | None = None
        """Source location of the kernel when it exceeded the limit."""
        self._seconds = _limit("TTNN_KERNEL_SECONDS", _SECONDS)
        self._limit = _limit("TTNN_KERNEL_LIMIT", _CALLS)
        self._run = run
        self._thread = threading.get_ident()
        self._lock = threading.Lock()
        self._armed = bool(self._seconds or self._limit)
        self._calls = -1
        self._idle = 0.0
        self._ending = False
        self.sent = 0
        """Errors that were sent."""
        self.is_coming = False
        """True if an error was sent but not seen.

        The program's thread has to see it.
        """
        if self._armed:
            _watch(self)

    def disarm(self) -> None:
        """Stop watching; an error that has not arrived yet arrives here."""
        if not self._armed:
            return
        with self._lock:
            self._armed = False
            _guards.discard(self)
        # It is not taken back: CPython 3.11 would look for it at every call from then on.
        while self.is_coming:
            with suppress(OverrunError):
                time.sleep(0)

    def end(self) -> None:
        """Watch the program's end, leaving kernels that do not return soon."""
        self._ending, self._idle = True, 0.0
        if not self._armed:
            self._armed = True
            _watch(self)

    def look(self) -> None:
        """Raise an error in the program's thread if a limit is exceeded."""
        frame = sys._current_frames().get(self._thread)
        if _is_debugged(frame):
            self._idle = 0.0
            return
        if self._ending:
            self._idle += _TICK
            if self._idle >= _GRACE:
                self._idle = 0.0
                self._raise(LeftError)
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
        if self.reason:
            self.place = place_of_frame(frame)
            self._ending, self._idle = True, 0.0
            self._raise(OverrunError)

    def _raise(self, error: type[OverrunError]) -> None:
        with self._lock:
            if self._armed:
                self.is_coming = True
                self.sent += 1
                thread = ctypes.c_ulong(self._thread)
                ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, ctypes.py_object(error))


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
        start_anyway(_thread)
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
        if frame.f_trace not in (None, look) or module.startswith("_pydevd") or module.partition(".")[0] in _DEBUGGERS:
            return True
        frame = frame.f_back
    return False
