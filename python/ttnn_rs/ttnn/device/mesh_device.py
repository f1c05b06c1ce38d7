"""The open device as programs see it: what its chip is, coordinates, program cache."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NoReturn

from ttnn import _engine
from ttnn.base.config import CONFIG
from ttnn.base.core_range import CoreCoord, CoreGrid, CoreLike, as_core
from ttnn.base.enums import NOC, Arch
from ttnn.base.exceptions import ArgumentError, DeviceError, UnsupportedError
from ttnn.device.coordinates import MeshCoordinate, MeshShape, MeshTraceId, SubDevice, SubDeviceId, SubDeviceManagerId
from ttnn.device.sub_device import SubDevices

ARCH = {"wormhole_b0": Arch.WORMHOLE_B0, "blackhole": Arch.BLACKHOLE}
"""Chip generations by the name that ARCH_NAME uses."""


class MeshDevice:
    """An open device: a mesh of one chip. Made by `open_device`."""

    __slots__ = (
        "__weakref__",
        "_arch",
        "_cache_enabled",
        "_cache_misses_allowed",
        "_chip",
        "_engine",
        "_id",
        "_programs",
        "_queues",
        "_sub_devices",
    )

    _arch: Arch
    _chip: dict[str, Any]
    _engine: _engine.Device
    _id: int
    _queues: int
    _programs: set[Hashable]
    _cache_enabled: bool
    _cache_misses_allowed: bool
    _sub_devices: SubDevices

    def __init__(self) -> None:
        raise ArgumentError("MeshDevice(): devices are opened with ttnn.open_device(device_id=...)")

    @classmethod
    def _open(cls, device_id: int, chip: str, queues: int, regions: Mapping[str, int]) -> MeshDevice:
        device = cls.__new__(cls)
        device._chip = _engine.chip_info(chip)
        device._engine = _engine.Device(chip, **regions)
        device._engine.set_watched(CONFIG.watcher)
        device._arch = ARCH[device._chip["arch_name"]]
        device._id = device_id
        device._queues = queues
        device._programs = set()
        device._cache_enabled = True
        device._cache_misses_allowed = True
        device._sub_devices = SubDevices(tuple(device._chip["grid"]))
        return device

    # What the chip is.

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
        """Return the machine epsilon of the vector unit."""
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
        raise DeviceError(f"logical_core_from_worker_core: there is no worker core at NoC coordinates {core}")

    def dram_core_from_logical_core(self, logical_core: CoreLike) -> CoreCoord:
        """Return the NoC coordinates of a DRAM bank, given as core (bank, 0).

        Raises:
            DeviceError: there is no such bank.
        """
        core = as_core(logical_core)
        banks = self._chip["dram_cores"]
        if core.y != 0 or core.x >= len(banks):
            raise DeviceError(
                f"dram_core_from_logical_core: {core} is no DRAM bank; banks are 0-0 to {len(banks) - 1}-0"
            )
        return CoreCoord(*banks[core.x])

    def get_optimal_dram_bank_to_logical_worker_assignment(
        self, noc: NOC, coord: MeshCoordinate | None = None
    ) -> dict[int, CoreCoord]:
        """Return for each DRAM bank the core that reads it best over a NoC.

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
        return {bank: CoreCoord(x, y) for bank, (x, y) in enumerate(workers[noc.value])}

    # Program cache.

    def enable_program_cache(self) -> None:
        """Keep programs for later calls. On from the start."""
        self._cache_enabled = True

    def disable_and_clear_program_cache(self) -> None:
        """Forget all programs and keep none from now on."""
        self._programs.clear()
        self._cache_enabled = False

    def clear_program_cache(self) -> None:
        """Forget all programs."""
        self._programs.clear()

    def num_program_cache_entries(self) -> int:
        """Return how many programs are kept."""
        return len(self._programs)

    def set_program_cache_misses_allowed(self, allowed: bool, /) -> None:
        """Choose whether an operator may run a program that is not kept yet."""
        if not isinstance(allowed, bool):
            raise ArgumentError(f"set_program_cache_misses_allowed(): expected True or False, got {allowed!r}")
        self._cache_misses_allowed = allowed

    def _require_program(self, key: Hashable) -> None:
        """Refuse a program that is not kept, if misses are not allowed.

        Raises:
            DeviceError: it is a new one.
        """
        if not self._cache_misses_allowed and key not in self._programs:
            raise DeviceError("device operation: a new program is needed, but program cache misses are not allowed")

    def reset(self) -> None:
        """Let the device work again after a program has failed on it. Memory stays as the program left it.

        A trace that is being captured is given up.

        Raises:
            DeviceError: the device is closed.
        """
        if not self._engine.is_open:
            raise DeviceError(f"reset: device {self._id} is closed")
        from ttnn.metal.traces import give_up_capture

        give_up_capture(self)
        self._engine.reset()

    # More than one chip, and parts of a chip.

    def get_submeshes(self) -> list[MeshDevice]:
        """Return the parts that the mesh was divided into: none."""
        return []

    def reshape(self, new_shape: MeshShape) -> None:
        """Give the mesh another shape; one chip has only one.

        Raises:
            DeviceError: the new shape has another number of chips.
        """
        if not isinstance(new_shape, MeshShape):
            raise ArgumentError(f"reshape: expected a MeshShape, got {type(new_shape).__name__}")
        if new_shape.mesh_size() != 1:
            raise DeviceError(f"reshape: a mesh of 1 device cannot become {new_shape}")

    def quiesce_devices(self) -> None:
        """Wait until the device has nothing left to do. Calls here end with their work, so that is now.

        Raises:
            DeviceError: the device is closed.
        """
        self._require_open("quiesce_devices")

    def create_submesh(self, submesh_shape: MeshShape, offset: MeshCoordinate | None = None) -> NoReturn:
        """Refuse: a mesh has one chip."""
        _one_chip("create_submesh")

    def create_submeshes(self, submesh_shape: MeshShape) -> NoReturn:
        """Refuse: a mesh has one chip."""
        _one_chip("create_submeshes")

    def get_view(self) -> NoReturn:
        """Refuse: a mesh has one chip."""
        _one_chip("get_view")

    def get_fabric_node_id(self, coord: MeshCoordinate) -> NoReturn:
        """Refuse: there is no fabric."""
        _one_chip("get_fabric_node_id")

    def get_system_mesh_id(self) -> NoReturn:
        """Refuse: there is no system mesh."""
        _one_chip("get_system_mesh_id")

    def create_sub_device_manager(self, sub_devices: Sequence[SubDevice], local_l1_size: int) -> SubDeviceManagerId:
        """Return the number of a new way to divide the grid; nothing changes before it is loaded.

        While one is loaded, a program has to keep to one sub-device. TT-NN operators are not programs here and are not
        checked.

        Args:
            sub_devices: Groups of cores that do not overlap.
            local_l1_size: Bytes of each L1 for buffers of one sub-device; only 0.

        Raises:
            DeviceError: cores outside the grid, or in two sub-devices.
            UnsupportedError: L1 of their own.
        """
        self._require_open("create_sub_device_manager")
        return self._sub_devices.create(sub_devices, local_l1_size)

    def load_sub_device_manager(self, sub_device_manager_id: SubDeviceManagerId) -> None:
        """Divide the grid.

        Raises:
            DeviceError: there is no such manager.
        """
        self._require_open("load_sub_device_manager")
        self._sub_devices.load(sub_device_manager_id)

    def remove_sub_device_manager(self, sub_device_manager_id: SubDeviceManagerId) -> None:
        """Forget a way to divide the grid.

        Raises:
            DeviceError: it is loaded, or there is no such manager.
        """
        self._require_open("remove_sub_device_manager")
        self._sub_devices.remove(sub_device_manager_id)

    def clear_loaded_sub_device_manager(self) -> None:
        """Make the grid one again."""
        self._require_open("clear_loaded_sub_device_manager")
        self._sub_devices.clear()

    def set_sub_device_stall_group(self, sub_device_ids: Sequence[SubDeviceId]) -> None:
        """Choose the sub-devices that reads and writes wait for. Work here is done when its call returns.

        Raises:
            DeviceError: there is no such sub-device.
        """
        self._require_open("set_sub_device_stall_group")
        self._sub_devices.check_ids("set_sub_device_stall_group", sub_device_ids)

    def reset_sub_device_stall_group(self) -> None:
        """Let reads and writes wait for all sub-devices again."""
        self._require_open("reset_sub_device_stall_group")

    # Command queues, traces and meshes as the C++ of TT-Metalium has them.

    @staticmethod
    def create_unit_mesh(
        device_id: int,
        l1_small_size: int = 0,
        trace_region_size: int = 0,
        num_command_queues: int = 1,
        dispatch_core_config: Any = None,
        l1_bank_remap: Sequence[int] = (),
        worker_l1_size: int = 0,
    ) -> MeshDevice:
        """Return an open mesh of one chip, like `ttnn.open_device`.

        Raises:
            UnsupportedError: banks of L1 are to be renumbered.
        """
        from ttnn.device.lifecycle import open_device

        if l1_bank_remap:
            raise UnsupportedError("MeshDevice.create_unit_mesh: l1_bank_remap is not modelled; leave it empty")
        return open_device(
            device_id=device_id,
            l1_small_size=l1_small_size,
            trace_region_size=trace_region_size,
            num_command_queues=num_command_queues,
            dispatch_core_config=dispatch_core_config,
            worker_l1_size=worker_l1_size,
        )

    @staticmethod
    def create(config: Any, *args: Any, **kwargs: Any) -> MeshDevice:
        """Return an open mesh of the shape of a `MeshDeviceConfig`; other arguments are those of `create_unit_mesh`.

        Raises:
            UnsupportedError: a mesh of several chips.
        """
        from ttnn.metal.distributed import open_mesh

        return open_mesh(config, *args, **kwargs)

    def close(self) -> bool:
        """Close the device, like `ttnn.close_device`."""
        from ttnn.device.lifecycle import close_device

        close_device(self)
        return True

    def mesh_command_queue(self, id: int = 0) -> Any:
        """Return a command queue.

        Raises:
            DeviceError: the device was opened with fewer.
        """
        from ttnn.metal.queues import command_queue

        return command_queue(self, id)

    command_queue = mesh_command_queue

    def begin_mesh_trace(self, cq_id: int = 0) -> MeshTraceId:
        """Start to capture a trace, see `ttnn.begin_trace_capture`."""
        from ttnn.metal.traces import begin_trace_capture

        return begin_trace_capture(self, cq_id)

    def end_mesh_trace(self, cq_id: int, trace_id: MeshTraceId | int) -> None:
        """End the capture of a trace, see `ttnn.end_trace_capture`."""
        from ttnn.metal.traces import end_trace_capture

        end_trace_capture(self, cq_id, trace_id)

    def replay_mesh_trace(self, cq_id: int, trace_id: MeshTraceId | int, blocking: bool = False) -> None:
        """Run the programs of a trace, see `ttnn.execute_trace`."""
        from ttnn.metal.traces import replay_trace

        replay_trace(self, cq_id, trace_id, blocking)

    def release_mesh_trace(self, trace_id: MeshTraceId | int) -> None:
        """Forget a trace, see `ttnn.release_trace`."""
        from ttnn.metal.traces import release_trace

        release_trace(self, trace_id)

    def num_hw_cqs(self) -> int:
        """Return how many command queues the device was opened with."""
        return self._queues

    def _require_open(self, operation: str) -> None:
        if not self._engine.is_open:
            raise DeviceError(f"{operation}: device {self._id} is closed")

    def _require_origin(self, operation: str, coordinate: MeshCoordinate) -> None:
        if not isinstance(coordinate, MeshCoordinate):
            raise ArgumentError(f"{operation}: expected a MeshCoordinate, got {coordinate!r}")
        if any(coordinate):
            raise DeviceError(f"{operation}: {coordinate!r} is outside the mesh {self.shape}")

    def _grid_text(self) -> str:
        return "{}x{}".format(*self._chip["grid"])

    def __repr__(self) -> str:
        return "MeshDevice(1x1 grid, 1 devices)"


Device = MeshDevice


def _one_chip(operation: str) -> NoReturn:
    raise UnsupportedError(f"MeshDevice.{operation}: meshes have one chip here; several are not built", "unimplemented")
