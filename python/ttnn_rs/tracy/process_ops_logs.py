"""The official module of this name: making the sheet of operators from logs, which are not written."""

from __future__ import annotations

from ttnn.base.refused import refusing
from ttnn.profiler import NOT_PROFILED

globals().update(refusing("tracy.process_ops_logs", "get_device_data_generate_report", NOT_PROFILED))
