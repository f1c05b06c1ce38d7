"""Sub-devices: groups of cores that run programs of their own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ttnn import _engine
from ttnn.base.call import shown
from ttnn.base.core_range import CoreRangeSet, check_in_grid
from ttnn.base.exceptions import ArgumentError, DeviceError, UnsupportedError
from ttnn.device.coordinates import SubDevice, SubDeviceId, SubDeviceManagerId


def _all_cores(part: SubDevice) -> CoreRangeSet:
    cores = CoreRangeSet()
    for ranges in part._cores:
        cores = cores.merge(ranges)
    return cores


class SubDevices:
    """A mesh's sub-device managers, and the loaded one.

    They divide all chips alike.
    """

    __slots__ = ("_active", "_engine", "_grid", "_managers", "_next", "_own_l1")

    def __init__(self, engine: _engine.Device, grid: tuple[int, int]) -> None:
        self._engine, self._grid = engine, grid
        self._managers: dict[int, list[SubDevice]] = {}
        self._own_l1: dict[int, int] = {}
        self._active: int | None = None
        self._next = 1

    def create(self, sub_devices: Sequence[SubDevice], local_l1_size: int) -> SubDeviceManagerId:
        """Return the id of a new sub-device manager.

        Raises:
            DeviceError: cores outside the grid, or in two sub-devices.
            ArgumentError: no size.
        """
        call = "create_sub_device_manager"
        if not isinstance(sub_devices, Sequence) or not all(isinstance(part, SubDevice) for part in sub_devices):
            raise ArgumentError(f"{call}: expected a list of SubDevice, got {shown(sub_devices)}")
        if not sub_devices:
            raise ArgumentError(f"{call}: expected at least one SubDevice, got {shown(sub_devices)}")
        if isinstance(local_l1_size, bool) or not isinstance(local_l1_size, int) or local_l1_size < 0:
            raise ArgumentError(f"{call}: local_l1_size must be a number of bytes, got {shown(local_l1_size)}")
        seen = CoreRangeSet()
        for number, part in enumerate(sub_devices):
            if len(part._cores) != 1 and any(not cores.empty() for cores in part._cores[1:]):
                raise UnsupportedError(f"{call}: {part!r} has Ethernet cores, which are not modelled")
            cores = _all_cores(part)
            check_in_grid(f"{call}: sub-device {number} has", cores, self._grid)
            core = cores._shared(seen)
            if core is not None:
                raise DeviceError(
                    f"{call}: core {core} is in two sub-devices",
                    vendor="SubDevices specified for SubDeviceManager intersect",
                )
            seen = seen.merge(cores)
        number = self._next
        self._next += 1
        self._managers[number] = list(sub_devices)
        self._own_l1[number] = local_l1_size
        return SubDeviceManagerId(number)

    def load(self, manager: SubDeviceManagerId) -> None:
        """Load a sub-device manager.

        Raises:
            DeviceError: buffers overlap the L1 of its sub-devices.
        """
        call = "load_sub_device_manager"
        number = self._require(call, manager)
        own = self._own_l1[number]
        if not self._engine.set_l1_floor(own):
            raise DeviceError(
                f"{call}: buffers occupy the first {own} bytes of L1, which manager {number} keeps for its sub-devices"
            )
        self._active = number

    def clear(self) -> None:
        """Unload the sub-device manager: the grid is undivided."""
        self._engine.set_l1_floor(0)
        self._active = None

    def remove(self, manager: SubDeviceManagerId) -> None:
        """Remove a sub-device manager.

        Raises:
            DeviceError: it is in force, or unknown.
        """
        number = self._require("remove_sub_device_manager", manager)
        if number == self._active:
            raise DeviceError(f"remove_sub_device_manager: manager {number} is loaded; clear it first")
        del self._managers[number], self._own_l1[number]

    def _require(self, call: str, manager: SubDeviceManagerId) -> int:
        if not isinstance(manager, SubDeviceManagerId):
            raise ArgumentError(f"{call}: expected a SubDeviceManagerId, got {shown(manager)}")
        if int(manager) not in self._managers:
            raise DeviceError(f"{call}: the device has no sub-device manager {int(manager)}")
        return int(manager)

    def check_ids(self, call: str, ids: Iterable[SubDeviceId]) -> None:
        """Check that sub-devices exist.

        Raises:
            DeviceError: there is no such sub-device.
        """
        if not isinstance(ids, Iterable):
            raise ArgumentError(f"{call}: expected a list of SubDeviceId, got {shown(ids)}")
        count = 1 if self._active is None else len(self._managers[self._active])
        for number in ids:
            if not isinstance(number, SubDeviceId):
                raise ArgumentError(f"{call}: expected a SubDeviceId, got {shown(number)}")
            if int(number) >= count:
                raise DeviceError(f"{call}: sub-device {int(number)} of {count} does not exist")

    def check_program(self, cores: Iterable[CoreRangeSet]) -> None:
        """Check that all kernels of a program run on one sub-device.

        Raises:
            DeviceError: that.
        """
        if self._active is None:
            return
        parts = self._managers[self._active]
        used = list(cores)
        if any(all(_all_cores(part).contains(ranges) for ranges in used) for part in parts):
            return
        raise DeviceError(
            f"enqueue_program: the cores of the kernels are not those of one of {parts}",
            vendor="Programs must be executed on a single sub-device",
        )
