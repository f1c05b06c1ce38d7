"""Official module: what is read from device profiler logs.

The logs are not written.
"""

from __future__ import annotations

from ttnn.base.refused import refusing
from ttnn.profiler import NOT_PROFILED

globals().update(refusing("tracy.device_post_proc_config", "default_setup", NOT_PROFILED))
