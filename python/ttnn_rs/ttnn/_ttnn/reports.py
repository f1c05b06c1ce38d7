"""Buffers of devices and their pages."""

from __future__ import annotations

from ttnn.device.buffer_pages import BufferInfo as BufferInfo
from ttnn.device.buffer_pages import BufferPageInfo as BufferPageInfo
from ttnn.device.buffer_pages import get_buffer_pages as get_buffer_pages
from ttnn.device.buffer_pages import get_buffers as get_buffers
