"""The fabric between chips, which is off."""

from __future__ import annotations

from ttnn.base.enums import *  # noqa: F403
from ttnn.device.fabric import *  # noqa: F403
from ttnn.device.processes import *  # noqa: F403
