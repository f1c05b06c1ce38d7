"""One chip as programs see it: what it is, its coordinates, and the engine that holds its memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, overload

from ttnn import _engine
from ttnn.base.config import CONFIG
from ttnn.base.core_range import CoreCoord, CoreGrid, CoreLike, as_core
from ttnn.base.enums import NOC, Arch, DispatchCoreAxis
from ttnn.base.exceptions import ArgumentError, DeviceError, UnsupportedError
from ttnn.device.coordinates import MeshCoordinate, MeshShape
from ttnn.device.dispatch import DispatchCoreConfig, axis_of, dispatch_axis

ARCH = {"wormhole_b0": Arch.WORMHOLE_B0, "blackhole": Arch.BLACKHOLE}
"""Chip generations by the name that ARCH_NAME uses."""


class Chip:
    """The facts of a `MeshDevice`, which has one chip."""

    __slots__ = ("_arch", "_chip", "_dispatch_axis", "_engine", "_id")

    _arch: Arch
    _chip: dict[str, Any]
    _dispatch_axis: DispatchCoreAxis
    _engine: _engine.Device
    _id: int

    def _power_up(
        self, device_id: int, chip: str, regions: Mapping[str, int], dispatch: DispatchCoreConfig | None
    ) -> None:
        """Create a chip with empty memory for the device."""
        self._dispatch_axis = axis_of(chip, _engine.chip_info(chip)["arch_name"], dispatch)
        in_columns = self._dispatch_axis is not dispatch_axis(_engine.chip_info(chip)["arch_name"])
        self._chip = _engine.chip_info(chip, in_columns)
        self._engine = _engine.Device(chip, **regions, dispatch_in_columns=in_columns)
        self._engine.set_watched(CONFIG.watcher)
        self._arch = ARCH[self._chip["arch_name"]]
        self._id = device_id

    @property
    def chip(self) -> dict[str, Any]:
        """Return all that is known of the chip: grids, banks, sizes, alignments, coordinates, clock."""
        return self._chip

    @property
    def is_open(self) -> bool:
        """Return whether the device has not been closed."""
        return bool(self._engine.is_open)

    @property
    def shape(self) -> MeshShape:
        """Return the chips of the mesh per dimension: one."""
        return MeshShape(1, 1)

    @property
    def core_grid(self) -> CoreGrid:
        """Return the compute grid."""
        x, y = self._chip["grid"]
        return CoreGrid(x=x, y=y)

    def arch(self) -> Arch:
        """Return the generation of the chip."""
        return self._arch

    def id(self) -> int:
        """Return the number of the device."""
        return self._id

    def compute_with_storage_grid_size(self) -> CoreCoord:
        """Return columns and rows of the cores that compute and hold buffers."""
        return CoreCoord(*self._chip["grid"])

    def dram_grid_size(self) -> CoreCoord:
        """Return the DRAM banks as a grid of one row."""
        return CoreCoord(*self._chip["dram_grid"])

    def get_num_devices(self) -> int:
        """Return the number of chips: 1."""
        return 1

    def get_device_ids(self) -> list[int]:
        """Return the numbers of the chips."""
        return [self._id]

    def get_device_id(self, coordinate: MeshCoordinate, /) -> int:
        """Return the number of the chip at a coordinate.

        Raises:
            DeviceError: the mesh has no such coordinate.
        """
        self._require_origin("get_device_id", coordinate)
        return self._id

    def sfpu_eps(self) -> float:
        """Return the machine epsilon of the SFPU."""
        return float(self._chip["sfpu_eps"])

    def sfpu_nan(self) -> float:
        """Return the value that programs use as NaN."""
        return float(self._chip["sfpu_nan"])

    def sfpu_inf(self) -> float:
        """Return the value that programs use as infinity."""
        return float(self._chip["sfpu_inf"])

    # Coordinates.

    def worker_core_from_logical_core(self, logical_core: CoreLike) -> CoreCoord:
        """Return the NoC coordinates of a core.

        Raises:
            DeviceError: the core is outside the compute grid.
        """
        core = as_core(logical_core)
        for logical, coordinate in self._chip["worker_coords"]:
            if logical == (core.x, core.y):
                return CoreCoord(*coordinate)
        raise DeviceError(f"worker_core_from_logical_core: core {core} is outside the compute grid {self._grid_text()}")

    def logical_core_from_worker_core(self, virtual_core: CoreLike) -> CoreCoord:
        """Return the core at NoC coordinates.

        Raises:
            DeviceError: no worker core is there.
        """
        core = as_core(virtual_core)
        for logical, coordinate in self._chip["worker_coords"]:
            if coordinate == (core.x, core.y):
                return CoreCoord(*logical)
        raise DeviceError(f"logical_core_from_worker_core: no worker core at NoC coordinates {core}")

    def dram_core_from_logical_core(self, logical_core: CoreLike) -> CoreCoord:
        """Return the NoC coordinates of a DRAM bank, given as core (bank, 0).

        Raises:
            DeviceError: there is no such bank.
        """
        core = as_core(logical_core)
        banks = self._chip["dram_cores"]
        if core.y != 0 or core.x >= len(banks):
            raise DeviceError(
                f"dram_core_from_logical_core: {core} is not a DRAM bank; banks are 0-0 to {len(banks) - 1}-0"
            )
        return CoreCoord(*banks[core.x])

    @overload
    def get_optimal_dram_bank_to_logical_worker_assignment(self, noc: NOC) -> list[CoreCoord]: ...

    @overload
    def get_optimal_dram_bank_to_logical_worker_assignment(
        self, noc: NOC, coord: MeshCoordinate
    ) -> dict[int, CoreCoord]: ...

    def get_optimal_dram_bank_to_logical_worker_assignment(
        self, noc: NOC, coord: MeshCoordinate | None = None
    ) -> list[CoreCoord] | dict[int, CoreCoord]:
        """Return for each DRAM bank the core that reads it best over a NoC.

        With the coordinate of a chip, as 0.81.1 has it, the cores are returned by bank; without, the earlier form of
        the call, they are a list in the order of the banks.

        Raises:
            UnsupportedError: the assignment of this chip is not known.
        """
        if coord is not None:
            self._require_origin("get_optimal_dram_bank_to_logical_worker_assignment", coord)
        if not isinstance(noc, NOC):
            raise ArgumentError(f"get_optimal_dram_bank_to_logical_worker_assignment: expected a NOC, got {noc!r}")
        workers = self._chip["optimal_dram_workers"]
        if workers is None:
            raise UnsupportedError(
                f"get_optimal_dram_bank_to_logical_worker_assignment: not known for {self._chip['name']}, "
                "only for n150 and p150",
                "unimplemented",
            )
        cores = [CoreCoord(x, y) for x, y in workers[noc.value]]
        return cores if coord is None else dict(enumerate(cores))

    def _require_open(self, operation: str) -> None:
        _engine.refuse_inside_kernels(operation)
        if not self._engine.is_open:
            raise DeviceError(f"{operation}: device {self._id} is closed")

    def _require_origin(self, operation: str, coordinate: MeshCoordinate) -> None:
        if not isinstance(coordinate, MeshCoordinate):
            raise ArgumentError(f"{operation}: expected a MeshCoordinate, got {coordinate!r}")
        if any(coordinate):
            raise DeviceError(f"{operation}: {coordinate!r} is outside the mesh {self.shape}")

    def _grid_text(self) -> str:
        return "{}x{}".format(*self._chip["grid"])
