"""The device that programs of jax run on."""

from __future__ import annotations

import atexit
from typing import Any

import ttnn
from ttnn import _engine
from ttnn.device.mesh_device import open_devices

__all__ = ["close", "opened", "tell_memory"]

_CARD = 0
_L1_SMALL = 1 << 15
"""Bytes of each L1 for the small buffers of convolutions."""

_own: Any = None
_size = 0


def opened() -> Any:
    """Return device 0.

    It is the one that the script has opened, else one that is opened now and closed at exit.
    """
    global _own, _size
    present = open_devices.get(_CARD)
    if present is None or not present.is_open:
        present = _own = ttnn.open_device(device_id=_CARD, l1_small_size=_L1_SMALL)
        memory = ttnn.get_memory_view(present, ttnn.BufferType.DRAM)
        _size = memory.num_banks * memory.total_bytes_per_bank
        tell_memory(present)
    return present


def tell_memory(device: Any) -> None:
    """Tell the plugin how many bytes of the device are in use."""
    _engine.pjrt_set_memory(device.engine.allocated_bytes(), _size)


@atexit.register
def close() -> None:
    """Close the device if it was opened here.

    Arrays of jax that are only there become invalid.
    """
    global _own
    if _own is not None and _own.is_open:
        ttnn.close_device(_own)
    _own = None
