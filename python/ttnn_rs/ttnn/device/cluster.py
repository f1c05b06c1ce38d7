"""The machine's cluster type and mesh."""

from __future__ import annotations

from typing import Final

from ttnn.base.config import CONFIG
from ttnn.base.system_enums import ClusterType as ClusterType
from ttnn.device.coordinates import MeshCoordinate, MeshShape
from ttnn.device.mesh_device import DEFAULT_CHIP, open_devices

_BOARDS: Final = {
    "n150": ClusterType.N150,
    "n300": ClusterType.N300,
    "p100": ClusterType.P100,
    "p150": ClusterType.P150,
    "p300": ClusterType.P300,
}


def get_cluster_type() -> ClusterType:
    """Return the board of the first open device.

    Without one, that of the device that `open_device` would open.
    """
    opened = sorted(number for number, device in open_devices.items() if device.is_open)
    name = open_devices[opened[0]].chip["name"] if opened else DEFAULT_CHIP[CONFIG.arch_name]
    return _BOARDS[name]


class SystemMeshDescriptor:
    """The mesh of all chips: one."""

    def shape(self) -> MeshShape:
        """Return the shape of the mesh of all processes."""
        return MeshShape(1, 1)

    def local_shape(self) -> MeshShape:
        """Return the shape of the part of this process: all."""
        return self.shape()

    def is_local(self, coordinate: MeshCoordinate) -> bool:
        """Return whether a chip belongs to this process."""
        return coordinate == MeshCoordinate(0, 0)

    def all_local(self) -> bool:
        """Return whether all chips belong to this process."""
        return True
