"""The buffers of devices and their pages, as the official module of reports lists them.

Source: TT-NN sources, the bindings of `ttnn.reports`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ttnn.base.enums import BufferType
from ttnn.base.exceptions import ArgumentError
from ttnn.device.mesh_device import MeshDevice


@dataclass(frozen=True)
class BufferInfo:
    """A buffer: where it is, and how much of each bank it takes."""

    device_id: int
    address: int
    max_size_per_bank: int
    buffer_type: int


@dataclass(frozen=True)
class BufferPageInfo:
    """A page of a buffer, by its number in the buffer."""

    device_id: int
    address: int
    page_index: int
    page_size: int
    buffer_type: int


def get_buffers(devices: MeshDevice | Iterable[MeshDevice]) -> list[BufferInfo]:
    """Return the buffers of a device, or of several.

    Raises:
        ArgumentError: no device.
        DeviceError: a device is closed.
    """
    return [
        BufferInfo(device.id(), buffer["address"], buffer["bytes_per_bank"], BufferType(buffer["buffer_type"]).value)
        for device in _devices("get_buffers", devices)
        for buffer in device._engine.buffers()
    ]


def get_buffer_pages(devices: MeshDevice | Iterable[MeshDevice]) -> list[BufferPageInfo]:
    """Return the pages of all buffers of a device, or of several.

    Raises:
        ArgumentError: no device.
        DeviceError: a device is closed.
    """
    return [
        BufferPageInfo(device.id(), buffer["address"], page, buffer["page_bytes"], buffer["buffer_type"])
        for device in _devices("get_buffer_pages", devices)
        for buffer in device._engine.buffers()
        for page in range(buffer["num_pages"])
    ]


def _devices(call: str, devices: object) -> list[MeshDevice]:
    found = [devices] if isinstance(devices, MeshDevice) else devices
    if not isinstance(found, Iterable):
        raise ArgumentError(f"{call}: expected a ttnn.MeshDevice or several, got {type(devices).__name__}")
    opened = []
    for device in found:
        if not isinstance(device, MeshDevice):
            raise ArgumentError(f"{call}: expected a ttnn.MeshDevice, got {type(device).__name__}")
        device._require_open(call)
        opened.append(device)
    return opened
