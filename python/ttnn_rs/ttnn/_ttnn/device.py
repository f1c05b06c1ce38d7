"""Devices and their memory."""

from __future__ import annotations

from ttnn.device import *  # noqa: F403
from ttnn.device.coordinates import SubDeviceId as SubDeviceId
from ttnn.device.memory_report import MemoryView as MemoryView
