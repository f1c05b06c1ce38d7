"""A mesh of chips: properties, coordinates, and access to each."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple, overload

from ttnn import _engine
from ttnn.base.call import shown
from ttnn.base.core_range import CoreCoord, CoreGrid, CoreLike
from ttnn.base.enums import NOC, Arch
from ttnn.base.exceptions import ArgumentError, DeviceError
from ttnn.device.chip import Chip
from ttnn.device.coordinates import MeshCoordinate, MeshShape


class FabricNodeId(NamedTuple):
    """A chip's number in the fabric: mesh, and place in it."""

    mesh_id: int
    chip_id: int

    def __repr__(self) -> str:
        return f"FabricNodeId(M{self.mesh_id}, D{self.chip_id})"


class Mesh:
    """Chips in a grid.

    The chips of a mesh are alike, are opened and closed together, and have one allocator: a buffer has the same address
    on all of them.

    Attributes:
        chips: The chips, in the order of their coordinates, row by row.
        engine: The engine of all chips. A step runs on each chip that has its buffers.
    """

    __slots__ = ("_chip", "_several", "_shape", "chips", "engine")

    chips: tuple[Chip, ...]
    engine: _engine.Device
    _chip: dict[str, Any]
    _shape: MeshShape
    _several: bool  # whether it has more than one chip

    def _put(self, shape: MeshShape, engine: _engine.Device, chips: tuple[Chip, ...]) -> None:
        self.chips, self._shape, self.engine = chips, shape, engine
        # Read at operator calls: a slot is faster than the way through the tuple.
        self._chip, self._several = chips[0].facts, len(chips) > 1

    @property
    def chip(self) -> dict[str, Any]:
        """Return a chip's properties: grids, banks, sizes, alignments, coordinates, clock."""
        return self._chip

    @property
    def is_open(self) -> bool:
        """Return whether the device has not been closed."""
        return self.engine.is_open

    @property
    def shape(self) -> MeshShape:
        """Return the chips of the mesh per dimension."""
        return self._shape

    @property
    def core_grid(self) -> CoreGrid:
        """Return the compute grid."""
        x, y = self._chip["grid"]
        return CoreGrid(x=x, y=y)

    def arch(self) -> Arch:
        """Return the generation of the chips."""
        return self.chips[0].arch

    def id(self) -> int:
        """Return the number of the device, the smallest of its chips."""
        return min(chip.id for chip in self.chips)

    def compute_with_storage_grid_size(self) -> CoreCoord:
        """Return columns and rows of the cores that compute and hold buffers."""
        return CoreCoord(*self._chip["grid"])

    def dram_grid_size(self) -> CoreCoord:
        """Return the DRAM banks as a grid of one row."""
        return CoreCoord(*self._chip["dram_grid"])

    def get_num_devices(self) -> int:
        """Return the number of chips."""
        return len(self.chips)

    def get_device_ids(self) -> list[int]:
        """Return the numbers of the chips."""
        return [chip.id for chip in self.chips]

    def get_device_id(self, coordinate: MeshCoordinate, /) -> int:
        """Return the number of the chip at a coordinate.

        Raises:
            DeviceError: the mesh has no such coordinate.
        """
        chip = self.chip_at(
            "get_device_id", coordinate, f"Device ID requested for MeshCoord {shown(coordinate)} not found."
        )
        return chip.id

    def sfpu_eps(self) -> float:
        """Return the machine epsilon of the SFPU."""
        return float(self._chip["sfpu_eps"])

    def sfpu_nan(self) -> float:
        """Return the value that programs use as NaN."""
        return float(self._chip["sfpu_nan"])

    def sfpu_inf(self) -> float:
        """Return the value that programs use as infinity."""
        return float(self._chip["sfpu_inf"])

    def worker_core_from_logical_core(self, logical_core: CoreLike) -> CoreCoord:
        """Return the NoC coordinates of a core.

        Raises:
            DeviceError: the core is outside the compute grid.
        """
        return self.chips[0].worker_core_from_logical_core(logical_core)

    def logical_core_from_worker_core(self, virtual_core: CoreLike) -> CoreCoord:
        """Return the core at NoC coordinates.

        Raises:
            DeviceError: no worker core is there.
        """
        return self.chips[0].logical_core_from_worker_core(virtual_core)

    def dram_core_from_logical_core(self, logical_core: CoreLike) -> CoreCoord:
        """Return a DRAM bank's NoC coordinates, given core (bank, 0).

        Raises:
            DeviceError: there is no such bank.
        """
        return self.chips[0].dram_core_from_logical_core(logical_core)

    @overload
    def get_optimal_dram_bank_to_logical_worker_assignment(self, noc: NOC) -> list[CoreCoord]: ...

    @overload
    def get_optimal_dram_bank_to_logical_worker_assignment(
        self, noc: NOC, coord: MeshCoordinate
    ) -> dict[int, CoreCoord]: ...

    def get_optimal_dram_bank_to_logical_worker_assignment(
        self, noc: NOC, coord: MeshCoordinate | None = None
    ) -> list[CoreCoord] | dict[int, CoreCoord]:
        """Return each DRAM bank's best reading core over a NoC.

        With the coordinate of a chip, as 0.81.1 has it, the cores are returned by bank; without, the earlier form of
        the call, they are a list in the order of the banks.

        Raises:
            UnsupportedError: the assignment of this chip is not known.
        """
        if coord is None:
            return self.chips[0].optimal_dram_workers(noc)
        chip = self.chip_at("get_optimal_dram_bank_to_logical_worker_assignment", coord)
        return dict(enumerate(chip.optimal_dram_workers(noc)))

    def _require_open(self, operation: str) -> None:
        _engine.refuse_inside_kernels(operation)
        if not self.engine.is_open:
            raise DeviceError(f"{operation}: device {self.id()} is closed")

    def chip_at(self, operation: str, coordinate: MeshCoordinate, vendor: str = "") -> Chip:
        """Return the chip at a coordinate.

        Args:
            operation: Who asks, for the error.
            coordinate: Where the chip is.
            vendor: The official sentence for a coordinate without a chip.

        Raises:
            ArgumentError: no coordinate.
            DeviceError: the mesh has no such coordinate.
        """
        if not isinstance(coordinate, MeshCoordinate):
            raise ArgumentError(f"{operation}: expected a MeshCoordinate, got {shown(coordinate)}")
        place = _place(coordinate, self._shape)
        if place is None:
            raise DeviceError(f"{operation}: {coordinate!r} is outside the mesh {self.shape}", vendor=vendor)
        return self.chips[place]

    def coordinates(self) -> list[MeshCoordinate]:
        """Return the coordinates of the chips, row by row."""
        return [MeshCoordinate(coordinate) for coordinate in itertools.product(*map(range, self._shape))]


def _place(coordinate: MeshCoordinate, shape: MeshShape) -> int | None:
    """Return a coordinate's number, row by row; None outside of the shape."""
    if coordinate.dims() != shape.dims():
        return None
    place = 0
    for index, size in zip(coordinate, shape, strict=True):
        if not 0 <= index < size:
            return None
        place = place * size + index
    return place
