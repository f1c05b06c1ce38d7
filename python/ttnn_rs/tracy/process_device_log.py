"""Official module: reading device profiler logs, which are not written."""

from __future__ import annotations

from ttnn.base.refused import refusing
from ttnn.profiler import NOT_PROFILED

globals().update(
    refusing(
        "tracy.process_device_log",
        "extract_device_info import_device_profile_log import_log_run_stats",
        NOT_PROFILED,
    )
)
