"""The devices that programs of jax run on."""

from __future__ import annotations

import atexit
import os
from collections.abc import Sequence
from typing import Any, Final

import ttnn
from ttnn import _engine
from ttnn.base.exceptions import TtnnError, UnsupportedError
from ttnn.device.mesh_device import open_devices

__all__ = ["close", "mesh", "opened", "tell_memory"]

_CARD: Final = 0
_COUNT: Final = "TTNN_JAX_DEVICES"
_L1_SMALL: Final = 1 << 15
"""Bytes of each L1 for the small buffers of convolutions."""

_own: Any = None
_size = 0
_parts: dict[tuple[Any, ...], Any] = {}
"""Meshes of some chips, or of another shape, of the open device."""


def opened() -> Any:
    """Return device 0, or the mesh of all devices of jax.

    It is the one that the script has opened, else one that is opened now and closed at exit.

    Raises:
        UnsupportedError: There are fewer devices than jax has been told.
    """
    global _own, _size
    present = open_devices.get(_CARD)
    # A part of a mesh may have its number.
    if present is None or not present.is_open:
        _parts.clear()
        present = _own = _open(_count())
        memory = ttnn.get_memory_view(present, ttnn.BufferType.DRAM)
        _size = memory.num_banks * memory.total_bytes_per_bank
        tell_memory(present)
    return present


def _count() -> int:
    # The plugin has checked the text.
    return int(os.environ.get(_COUNT) or 1)


def _open(count: int) -> Any:
    if count == 1:
        return ttnn.open_device(device_id=_CARD, l1_small_size=_L1_SMALL)
    if ttnn.get_fabric_config() == ttnn.FabricConfig.DISABLED:
        ttnn.set_fabric_config(ttnn.FabricConfig.FABRIC_1D)
    try:
        return ttnn.open_mesh_device(ttnn.MeshShape(1, count), l1_small_size=_L1_SMALL)
    except TtnnError as error:
        raise UnsupportedError(f"{count} devices asked ({_COUNT}), and no system has them: {error}") from None


def mesh(devices: Sequence[int], shape: tuple[int, int] = (1, 1)) -> Any:
    """Return the mesh of some devices of jax.

    Args:
        devices: Their numbers.
        shape: Its rows and columns.

    Raises:
        UnsupportedError: There are fewer devices, or they are no such mesh.
    """
    whole = opened()
    present = len(whole.chips)
    if max(devices) >= present:
        raise UnsupportedError(f"{max(devices) + 1} devices asked, {present} present ({_COUNT}).")
    if tuple(whole.shape) == shape:
        return whole
    first = min(devices) if present > len(devices) else 0
    key = (id(whole), first, len(devices), shape)
    made = _parts.get(key)
    if made is None or not made.is_open:
        made = _parts[key] = _part(whole, first, len(devices), shape)
    return made


def _part(whole: Any, first: int, count: int, shape: tuple[int, int]) -> Any:
    """Return a mesh of neighbours in the memory of the whole one."""
    try:
        made = whole.create_submesh(
            ttnn.MeshShape(1, count), ttnn.MeshCoordinate(0, min(first, len(whole.chips) - count))
        )
        if tuple(made.shape) != shape:
            made.reshape(ttnn.MeshShape(*shape))
    except TtnnError as error:
        grid = "x".join(map(str, shape))
        raise UnsupportedError(f"{count} of {len(whole.chips)} devices are no mesh of {grid}: {error}") from None
    return made


def tell_memory(device: Any) -> None:
    """Tell the plugin how many bytes of the device are in use."""
    _engine.pjrt_set_memory(device.engine.allocated_bytes(), _size)


@atexit.register
def close() -> None:
    """Close the device if it was opened here.

    Arrays of jax that are only there become invalid.
    """
    global _own
    _parts.clear()
    if _own is not None and _own.is_open:
        several = len(_own.chips) > 1
        ttnn.close_mesh_device(_own)
        if several:
            ttnn.set_fabric_config(ttnn.FabricConfig.DISABLED)
    _own = None
