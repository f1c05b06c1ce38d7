"""The device of programs that name none."""

from __future__ import annotations

from typing import Any

import ttnn
from ttnn.device.mesh_device import open_devices

__all__ = ["current_device"]


def current_device() -> Any:
    """Return the default device, else the first open one.

    Else device 0, which is opened.
    """
    default = ttnn.GetDefaultDevice()
    if default is not None and default.is_open:
        return default
    for device in open_devices.values():
        if device.is_open:
            return device
    return ttnn.open_device(device_id=0)
