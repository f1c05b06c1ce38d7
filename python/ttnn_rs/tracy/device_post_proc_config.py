"""The official module of this name: what is read from the log of a device's profiler, which is not written."""

from __future__ import annotations

from ttnn.base.refused import refusing
from ttnn.profiler import NOT_PROFILED

globals().update(refusing("tracy.device_post_proc_config", "default_setup", NOT_PROFILED))
