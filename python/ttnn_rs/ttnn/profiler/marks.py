"""The official module of this name: profiler zones, which have no effect."""

from __future__ import annotations

from ttnn.base.refused import refusing

__all__ = [
    "start_tracy_zone",
    "stop_tracy_zone",
    "tracy_frame",
    "tracy_message",
]

NOT_PROFILED = (
    "no device profiler runs here, times are predicted: use ttnn.profiler.profile() or python -m ttnn profile"
)
_REFUSED = refusing("ttnn", "get_all_programs_perf_data get_latest_programs_perf_data", NOT_PROFILED)
globals().update(_REFUSED)
__all__ += list(_REFUSED)


def start_tracy_zone(source: str, functName: str, lineNum: int, color: int = 0) -> None:  # noqa: N803 - official names
    """Begin a zone. Without a profiler nothing happens."""


def stop_tracy_zone(name: str = "", color: int = 0) -> bool:
    """End a zone, and return whether one was open.

    Without a profiler none is.
    """
    return False


def tracy_message(source: str, color: int = 0xF0F8FF) -> None:
    """Write a message. Without a profiler nothing happens."""


def tracy_frame() -> None:
    """Mark the end of a frame. Without a profiler nothing happens."""
