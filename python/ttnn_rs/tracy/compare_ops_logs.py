"""Official module: comparison of operator sheets, which are not written."""

from __future__ import annotations

from ttnn.base.refused import refusing
from ttnn.profiler import NOT_PROFILED

globals().update(refusing("tracy.compare_ops_logs", "compare_ops_logs", NOT_PROFILED))
