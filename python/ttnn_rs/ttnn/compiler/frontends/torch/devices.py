"""The device of programs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ttnn
from ttnn.base.exceptions import UnsupportedError
from ttnn.compiler.frontends.devices import current_device
from ttnn.compiler.frontends.torch.options import Options
from ttnn.device.mesh_device import open_devices

__all__ = ["DeviceManager", "current_device", "device_of"]


def device_of(options: Options) -> Callable[[], Any]:
    """Return a function that returns the device of a program.

    It is that of the options, or the current one.
    """
    return lambda: options.device if options.device is not None else current_device()


class DeviceManager:
    """Opens and closes devices, by the names of tt-torch."""

    @staticmethod
    def create_parent_mesh_device(mesh_shape: Any = (1, 1), device_ids: Any = None) -> Any:
        """Return an open device; of one chip."""
        if tuple(mesh_shape) != (1, 1):
            raise UnsupportedError(f"a mesh of {list(mesh_shape)} devices: programs of torch run on one.")
        number = device_ids[0] if device_ids else 0
        for device in open_devices.values():
            if device.is_open and number in device.get_device_ids():
                return device
        return ttnn.open_device(device_id=number)

    @staticmethod
    def create_sub_mesh_device(parent_mesh: Any, mesh_offset: Any = (0, 0), mesh_shape: Any = (1, 1)) -> Any:
        """Return the device itself, which is one chip."""
        if tuple(mesh_offset) != (0, 0) or tuple(mesh_shape) != (1, 1):
            raise UnsupportedError("parts of meshes: programs of torch run on one device.")
        return parent_mesh

    @staticmethod
    def get_num_available_devices() -> int:
        """Return the number of devices."""
        return int(ttnn.GetNumAvailableDevices())

    @staticmethod
    def release_sub_mesh_device(sub_mesh: Any, cleanup_parent: bool = False) -> None:
        """Do nothing, unless the parent is to be closed."""
        if cleanup_parent:
            DeviceManager.release_parent_device(sub_mesh)

    @staticmethod
    def release_parent_device(parent_mesh: Any, cleanup_sub_meshes: bool = True) -> None:
        """Close a device."""
        del cleanup_sub_meshes
        if parent_mesh.is_open:
            ttnn.close_device(parent_mesh)
