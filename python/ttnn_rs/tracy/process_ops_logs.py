"""Official module: the operator sheet from logs, which are not written."""

from __future__ import annotations

from ttnn.base.refused import refusing
from ttnn.profiler import NOT_PROFILED

globals().update(refusing("tracy.process_ops_logs", "get_device_data_generate_report", NOT_PROFILED))
