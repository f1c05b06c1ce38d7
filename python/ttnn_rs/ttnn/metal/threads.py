"""Thread refusal inside kernels.

A kernel runs on one core, and its errors belong to its program.
"""

from __future__ import annotations

import _thread
import threading
from collections.abc import Callable
from functools import wraps
from typing import Any

from ttnn import _engine

_STARTS = [(threading.Thread, "start")] + [
    (module, name)
    for module in (_thread, threading)
    for name in (
        "start_new_thread",
        "start_new",
        "start_joinable_thread",
        "_start_new_thread",
        "_start_joinable_thread",
    )
    if hasattr(module, name)
]
"""Thread-starting functions.

`threading` has some of those of `_thread` under names of its own.
"""
_guarded = False


def refuse_threads() -> None:
    """Make thread-starting functions raise inside kernels, from now on."""
    global _guarded
    if not _guarded:
        _guarded = True
        for owner, name in _STARTS:
            setattr(owner, name, _refused_inside_kernels(getattr(owner, name)))


def start_anyway(thread: threading.Thread) -> None:
    """Start a thread of the package."""
    inside = _engine.set_inside_kernels(False)
    try:
        thread.start()
    finally:
        _engine.set_inside_kernels(inside)


def _refused_inside_kernels(start: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(start)
    def checked(*args: Any, **kwargs: Any) -> Any:
        _engine.refuse_inside_kernels("a thread is started")
        return start(*args, **kwargs)

    return checked
