"""Official module: profiled test runs and their sheets, not written."""

from __future__ import annotations

from ttnn.base.refused import refusing
from ttnn.profiler import NOT_PROFILED

globals().update(
    refusing(
        "tracy.process_model_log",
        "get_latest_ops_log_filename get_profiler_folder get_samples_per_s post_process_ops_log run_device_profiler",
        NOT_PROFILED,
    )
)
