"""Official package `tracy`: marks for the profiler, and log tools.

No profiler is attached to the device in software, and a mark without a profiler is dropped, as in a build of the
official package without one. What reads a profile raises `ttnn.UnsupportedError`: there is none.
"""

from __future__ import annotations

from ttnn.base.exceptions import UnsupportedError
from ttnn.profiler import NOT_PROFILED, tracy_message


def signpost(header: str, message: str | None = None) -> None:
    """Mark a place in the profile. Without a profiler nothing happens."""
    tracy_message(f"`TT_SIGNPOST: {header}`" if message is None else f"`TT_SIGNPOST: {header}\n{message}`")


class Profiler:
    """Zones of Python functions in the profile, which is not taken."""

    def enable(self) -> None:
        """Always raise: there is no profile to write zones into.

        Raises:
            UnsupportedError: always.
        """
        raise UnsupportedError(f"tracy.Profiler.enable: {NOT_PROFILED}", "unimplemented")

    def disable(self) -> None:
        """Do nothing: zones were never on."""
