"""Devices as reports describe them, their buffers and the pages of these."""

from __future__ import annotations

from ttnn.device.device_info import DeviceInfo as DeviceInfo
from ttnn.device.device_info import get_device_info as get_device_info
from ttnn.reports.buffers import BufferInfo as BufferInfo
from ttnn.reports.buffers import BufferPageInfo as BufferPageInfo
from ttnn.reports.buffers import get_buffer_pages as get_buffer_pages
from ttnn.reports.buffers import get_buffers as get_buffers
