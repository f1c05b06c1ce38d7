"""The machine's cluster type and mesh."""

from __future__ import annotations

from ttnn.base.exceptions import ArgumentError
from ttnn.base.system_enums import ClusterType as ClusterType
from ttnn.device.coordinates import MeshCoordinate, MeshShape
from ttnn.device.fabric import current_system
from ttnn.device.mesh_device import open_devices
from ttnn.device.systems import is_chosen, named_systems


def get_cluster_type() -> ClusterType:
    """Return the type of the system of chips.

    Without a chosen system, of one chip it is the board of the first open device, or of the device that `open_device`
    would open.
    """
    system = current_system()
    opened = sorted(number for number, device in open_devices.items() if device.is_open)
    if is_chosen() or len(system.chips) > 1 or not opened:
        return system.type
    return named_systems()[open_devices[opened[0]].chip["name"]].type


class SystemMeshDescriptor:
    """The mesh of all chips of the system."""

    def shape(self) -> MeshShape:
        """Return the shape of the mesh of all processes."""
        return MeshShape(*current_system().shape)

    def local_shape(self) -> MeshShape:
        """Return the shape of the part of this process: all."""
        return self.shape()

    def is_local(self, coordinate: MeshCoordinate) -> bool:
        """Return whether a chip belongs to this process.

        Raises:
            ArgumentError: no coordinate.
        """
        if not isinstance(coordinate, MeshCoordinate):
            raise ArgumentError(
                f"SystemMeshDescriptor.is_local: expected a ttnn.MeshCoordinate, got {type(coordinate).__name__}"
            )
        rows, columns = current_system().shape
        return len(coordinate) == 2 and coordinate[0] < rows and coordinate[1] < columns

    def all_local(self) -> bool:
        """Return whether all chips belong to this process."""
        return True
