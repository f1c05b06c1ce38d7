"""The machine's cluster type and mesh."""

from __future__ import annotations

from typing import Final

from ttnn.base.config import CONFIG
from ttnn.base.vendor_enum import VendorEnum
from ttnn.device.coordinates import MeshCoordinate, MeshShape
from ttnn.device.mesh_device import DEFAULT_CHIP, open_devices


class ClusterType(VendorEnum):
    """Boards, and machines with several of them."""

    INVALID = 0
    N150 = 1
    N300 = 2
    T3K = 3
    GALAXY = 4
    TG = 5
    P100 = 6
    P150 = 7
    P150_X2 = 8
    P150_X4 = 9
    SIMULATOR_WORMHOLE_B0 = 10
    SIMULATOR_BLACKHOLE = 11
    N300_2x2 = 12
    P150_X8 = 13
    P300 = 14
    SIMULATOR_QUASAR = 15
    BLACKHOLE_GALAXY = 16
    P300_X2 = 17
    CUSTOM = 18


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
