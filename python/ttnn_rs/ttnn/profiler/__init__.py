"""Time of operators.

`profile` predicts the time that what runs inside needs on the chip.

The names of the official module `ttnn.profiler`, marks for its host profiler, are here too.
"""

from __future__ import annotations

from ttnn.profiler.marks import *  # noqa: F403
from ttnn.profiler.marks import NOT_PROFILED as NOT_PROFILED
from ttnn.profiler.marks import __all__ as __all__
from ttnn.profiler.session import Profile as Profile
from ttnn.profiler.session import profile as profile
from ttnn.profiler.session import profile_process as _profile_process

_profile_process()
