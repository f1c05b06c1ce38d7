"""Open devices: meshes with program caches, queues, traces, sub-devices."""

from __future__ import annotations

import itertools
import operator
import threading
import weakref
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Protocol

from ttnn import _engine
from ttnn.base.call import as_integer, shown
from ttnn.base.config import CONFIG
from ttnn.base.exceptions import ArgumentError, DeviceError, UnsupportedError
from ttnn.device.chip import Chip, power_up
from ttnn.device.coordinates import (
    MeshCoordinate,
    MeshCoordinateRange,
    MeshDeviceConfig,
    MeshShape,
    MeshTraceId,
    SubDevice,
    SubDeviceId,
    SubDeviceManagerId,
)
from ttnn.device.dispatch import DispatchCoreConfig, dispatch_of
from ttnn.device.fabric_state import FABRIC
from ttnn.device.mesh import FabricNodeId, Mesh
from ttnn.device.processes import CONTEXT
from ttnn.device.ranks import Ranks, ranks_of
from ttnn.device.sub_device import SubDevices
from ttnn.device.system import System
from ttnn.device.systems import is_chosen, system_for, system_of_environment
from ttnn.device.traces import Traces

DEFAULT_CHIP = {"wormhole_b0": "n150", "blackhole": "p150"}
"""The chip that is opened without a chosen system, by generation."""
MAX_DEVICES = 32
"""Cards that can be open at once."""
MAX_COMMAND_QUEUES = 2
"""Command queues that a device can have."""

open_devices: weakref.WeakValueDictionary[int, MeshDevice] = weakref.WeakValueDictionary()
"""Opened devices by number; some may be closed."""
_opening = threading.Lock()


class MeshDevice(Mesh):
    """An open mesh of chips, created by `open_device`.

    Users may set attributes.
    """

    __slots__ = (
        "__dict__",
        "__weakref__",
        "_answers",
        "_cache_enabled",
        "_cache_misses_allowed",
        "_closed",
        "_parent",
        "_programs",
        "_queue_count",
        "_queues",
        "_regions",
        "_resolved",
        "_running",
        "_sub_devices",
        "_submeshes",
        "_system",
        "_traces",
        "_twin",
        "ranks",
    )

    _programs: set[Hashable]
    _answers: dict[Hashable, Any]  # of questions about calls, see ttnn.profiler.query
    _regions: Mapping[str, int]  # bytes that are set aside, by the engine's names
    _resolved: dict[Hashable, Any]  # programs of calls, see ttnn.runtime
    _twin: MeshDevice | None  # see `twin`
    _cache_enabled: bool
    _cache_misses_allowed: bool
    _queue_count: int
    _queues: dict[int, CommandQueue]  # those that were asked for
    _running: threading.RLock  # held while a program runs
    _sub_devices: SubDevices
    _traces: Traces
    _closed: bool
    _system: System  # chips and links around it
    _parent: MeshDevice | None  # the mesh that this is a part of
    _submeshes: list[weakref.ref[MeshDevice]]
    ranks: Ranks | None  # the processes that share it

    def __init__(self) -> None:
        raise ArgumentError("MeshDevice(): devices are opened with ttnn.open_device(device_id=...)")

    @classmethod
    def _open(
        cls,
        device_id: int,
        *,
        l1_small_size: int = 0,
        trace_region_size: int = 0,
        dispatch_core_config: DispatchCoreConfig | None = None,
        num_command_queues: int = 1,
        worker_l1_size: int = 0,
        chip: str | None = None,
    ) -> MeshDevice:
        """Return an open device, see `ttnn.open_device`."""
        call = "open_device"
        card = count(call, "device_id", device_id)
        if card >= MAX_DEVICES:
            raise DeviceError(f"{call}: device_id must be between 0 and {MAX_DEVICES - 1}, got {card}")
        if chip is not None and not isinstance(chip, str):
            raise ArgumentError(f"{call}: chip must be one of {', '.join(_engine.chip_names())}, got {shown(chip)}")
        system = system_for(None)
        if is_chosen():
            system.fabric_node(card)
        name = chip or default_chip()
        sizes = {"l1_small_size": l1_small_size, "trace_region_size": trace_region_size}
        sizes["worker_l1_size"] = worker_l1_size
        return cls._power_up(
            call, MeshShape(1, 1), [card], system, name, sizes, dispatch_core_config, num_command_queues
        )

    @classmethod
    def _power_up(
        cls,
        call: str,
        shape: MeshShape,
        ids: Sequence[int],
        system: System,
        chip: str,
        sizes: Mapping[str, int],
        dispatch: DispatchCoreConfig | None,
        num_command_queues: int,
    ) -> MeshDevice:
        """Return a mesh of chips with empty memory.

        Args:
            call: Who opens it, for errors.
            shape: Its shape.
            ids: Numbers of the devices, row by row.
            system: The system that they are chips of.
            chip: The engine's name of the chips.
            sizes: Bytes that are set aside.
            dispatch: Dispatch cores; default: those of the system.
            num_command_queues: 1 or 2.
        """
        regions = {name: count(call, name, size) for name, size in sizes.items()}
        queues = count(call, "num_command_queues", num_command_queues)
        if not 1 <= queues <= MAX_COMMAND_QUEUES:
            raise DeviceError(f"{call}: num_command_queues must be between 1 and {MAX_COMMAND_QUEUES}, got {queues}")
        FABRIC.require_links(system, ids, tuple(shape))
        with _opening:
            for number in ids:
                already = open_devices.get(number)
                if already is not None and already.is_open:
                    raise DeviceError(f"Cannot re-initialize device {number}, must first call close()")
            CONTEXT.initialized = True
            cores = dispatch_of(system, chip, _engine.chip_info(chip)["arch_name"], dispatch)
            ranks = ranks_of(ids, tuple(shape), system, f"{chip} with {cores.cores} dispatch", regions)
            engine, chips = power_up(ids, chip, regions, cores, ranks)
            device = cls._with_chips(shape, system, engine, chips, queues)
            device.ranks, device._regions = ranks, regions
            for number in ids:
                open_devices[number] = device
        return device

    @classmethod
    def _with_chips(
        cls,
        shape: MeshShape,
        system: System,
        engine: _engine.Device,
        chips: tuple[Chip, ...],
        queues: int,
        parent: MeshDevice | None = None,
    ) -> MeshDevice:
        """Return an open mesh of chips, without programs and traces."""
        device = cls.__new__(cls)
        device._put(shape, engine, chips)
        device._system = system
        device._programs, device._cache_enabled, device._cache_misses_allowed = set(), True, True
        device._resolved, device._answers = {}, {}
        device._queue_count, device._queues = queues, {}
        device._running = threading.RLock() if parent is None else parent._running
        device._sub_devices, device._traces = SubDevices(engine, chips[0].grid), Traces(engine)
        device._closed, device._parent, device._submeshes = False, parent, []
        device.ranks = None if parent is None else parent.ranks
        device._regions, device._twin = {} if parent is None else parent._regions, None
        return device

    @classmethod
    def unlisted(cls, chip: str) -> MeshDevice:
        """Return a mesh of one chip that is not listed as open.

        Calls are planned for it.
        """
        system = system_for(None)
        dispatch = dispatch_of(system, chip, _engine.chip_info(chip)["arch_name"], None)
        engine, chips = power_up([0], chip, {}, dispatch)
        return cls._with_chips(MeshShape(1, 1), system, engine, chips, 1)

    def twin(self) -> MeshDevice:
        """Return an unlisted mesh of equal chips with empty memory.

        Calls are planned on it (`ttnn.profiler.asking`). It is closed with this mesh.
        """
        if self._twin is None or not self._twin.is_open:
            first = self.chips[0]
            engine, chips = power_up(self.get_device_ids(), first.facts["name"], self._regions, first.dispatch)
            self._twin = self._with_chips(self._shape, self._system, engine, chips, self._queue_count)
        return self._twin

    @classmethod
    def _open_mesh(
        cls, mesh_shape: MeshShape | None, offset: MeshCoordinate | None, ids: Sequence[int], **options: Any
    ) -> MeshDevice:
        """Return an open mesh, see `ttnn.open_mesh_device`.

        `options` are those of `_open`.
        """
        call = "open_mesh_device"
        if not isinstance(mesh_shape, MeshShape | None):
            raise ArgumentError(f"{call}: mesh_shape must be a ttnn.MeshShape, got {type(mesh_shape).__name__}")
        if offset is not None and not isinstance(offset, MeshCoordinate):
            raise ArgumentError(f"{call}: offset must be a ttnn.MeshCoordinate, got {type(offset).__name__}")
        if not isinstance(ids, list | tuple):
            raise ArgumentError(f"{call}: physical_device_ids must be device ids, got {type(ids).__name__}")
        system = system_for(None if mesh_shape is None else tuple(mesh_shape))
        shape = MeshShape(*system.shape) if mesh_shape is None else mesh_shape
        if ids and len(ids) != shape.mesh_size():
            raise DeviceError(f"{call}: {shape} requires {shape.mesh_size()} devices, got {shown(list(ids))}")
        numbers = [count(call, "physical_device_ids", number) for number in ids]
        if len(set(numbers)) != len(numbers):
            raise DeviceError(f"{call}: physical_device_ids must be different devices, got {numbers}")
        if is_chosen() or len(system.chips) > 1:
            for number in numbers:
                system.fabric_node(number)
        elif shape.mesh_size() == 1 and numbers:
            return cls._open(numbers[0], **options)
        order = numbers or system.order(tuple(shape), None if offset is None else tuple(offset))
        names = ("l1_small_size", "trace_region_size", "worker_l1_size")
        sizes = {name: options.get(name, 0) for name in names}
        dispatch, queues = options.get("dispatch_core_config"), options.get("num_command_queues", 1)
        chip = system.chip if len(system.chips) > 1 else default_chip()
        return cls._power_up(call, shape, order, system, chip, sizes, dispatch, queues)

    # Program cache.

    def enable_program_cache(self) -> None:
        """Enable the program cache. It is enabled by default."""
        self._cache_enabled = True

    def disable_and_clear_program_cache(self) -> None:
        """Clear the program cache and disable it."""
        self.clear_program_cache()
        self._cache_enabled = False

    def clear_program_cache(self) -> None:
        """Clear the program cache."""
        self._programs.clear()
        self._resolved.clear()

    def num_program_cache_entries(self) -> int:
        """Return the number of cached programs."""
        return len(self._programs)

    def set_program_cache_misses_allowed(self, allowed: bool, /) -> None:
        """Set whether operators may run programs that are not cached yet."""
        if not isinstance(allowed, bool):
            raise ArgumentError(f"set_program_cache_misses_allowed(): expected True or False, got {shown(allowed)}")
        self._cache_misses_allowed = allowed

    def _require_program(self, key: Hashable) -> None:
        """Raise on a program cache miss, if misses are not allowed.

        Raises:
            DeviceError: it is a new one.
        """
        if not self._cache_misses_allowed and key not in self._programs:
            raise DeviceError("device operation: a new program is needed, but program cache misses are not allowed")

    def reset(self) -> None:
        """Make the device usable after a failed program.

        Memory keeps the program's content.

        A trace capture is aborted.

        Raises:
            DeviceError: the device is closed.
        """
        self._require_open("reset")
        self._traces.give_up()
        self.engine.reset()

    # More than one chip, and parts of a chip.

    def get_fabric_node_id(self, coord: MeshCoordinate) -> FabricNodeId:
        """Return the number in the fabric of the chip at a coordinate.

        It is the chip's place in the system mesh.

        Raises:
            DeviceError: the mesh has no such coordinate.
        """
        chip = self.chip_at("get_fabric_node_id", coord)
        several = len(self._system.chips) > 1
        return FabricNodeId(0, self._system.fabric_node(chip.id) if several else chip.place)

    @property
    def own_places(self) -> frozenset[int]:
        """Return the places of the chips that this process computes for."""
        places = (chip.place for chip in self.chips)
        return frozenset(place for place in places if self.ranks is None or self.ranks.owners[place] == self.ranks.rank)

    @property
    def is_open(self) -> bool:
        """Return whether the mesh has not been closed."""
        return not self._closed and self.engine.is_open

    def get_submeshes(self) -> list[MeshDevice]:
        """Return the open parts that the mesh was divided into."""
        submeshes = (reference() for reference in self._submeshes)
        return [submesh for submesh in submeshes if submesh is not None and submesh.is_open]

    def reshape(self, new_shape: MeshShape) -> None:
        """Set the shape of the mesh.

        The chips get other coordinates. A mesh of one row or column follows the mesh along its first row and back
        through the others; other shapes are those of the system mesh.

        Raises:
            ArgumentError: no shape.
            DeviceError: the new shape has another number of chips, or is not one of the system mesh; or the mesh is
                closed.
        """
        self._require_open("reshape")
        if not isinstance(new_shape, MeshShape):
            raise ArgumentError(f"reshape: expected a MeshShape, got {type(new_shape).__name__}")
        if new_shape.mesh_size() != len(self.chips):
            raise DeviceError(
                f"reshape: {self!r} cannot become {new_shape}",
                vendor="New shape must have the same number of devices as current shape",
            )
        order = self._system.reshaped(self.get_device_ids(), tuple(self._shape), tuple(new_shape))
        by_number = {chip.id: chip for chip in self.chips}
        self.chips = tuple(by_number[number] for number in order)
        self._shape = new_shape

    def quiesce_devices(self) -> None:
        """Wait until the device is idle.

        Calls are synchronous, so it returns at once.

        Raises:
            DeviceError: the device is closed.
        """
        self._require_open("quiesce_devices")

    def create_submesh(self, submesh_shape: MeshShape, offset: MeshCoordinate | None = None) -> MeshDevice:
        """Return a part of the mesh as a mesh.

        It has the memory of its chips and the allocator of the whole mesh: its buffers have addresses that no buffer of
        the whole mesh has.

        Args:
            submesh_shape: Shape of the part.
            offset: Its first chip's coordinate; default: the first one.

        Raises:
            ArgumentError: no shape, or no coordinate.
            DeviceError: the part does not fit into the mesh, or the mesh is closed.
        """
        self._require_open("create_submesh")
        if not isinstance(submesh_shape, MeshShape):
            raise ArgumentError(f"create_submesh: expected a MeshShape, got {type(submesh_shape).__name__}")
        if not isinstance(offset, MeshCoordinate | None):
            raise ArgumentError(f"create_submesh: offset must be a MeshCoordinate, got {type(offset).__name__}")
        if any(size < 1 for size in submesh_shape):
            raise DeviceError(
                f"create_submesh: sizes must be positive, got {submesh_shape}",
                vendor=f"Invalid submesh shape: ({submesh_shape}). All dimensions must be positive.",
            )
        first = MeshCoordinate([0] * submesh_shape.dims()) if offset is None else offset
        inside = submesh_shape.dims() == self._shape.dims() == first.dims() and all(
            begin + size <= whole for begin, size, whole in zip(first, submesh_shape, self._shape, strict=True)
        )
        if not inside:
            shown = "std::nullopt" if offset is None else offset
            raise DeviceError(
                f"create_submesh: {submesh_shape} from {first} on is not inside of {self._shape}",
                vendor=f"Submesh shape {submesh_shape} and offset {shown} does not fit within parent mesh "
                f"({self._shape}).",
            )
        ranges = (range(begin, begin + size) for begin, size in zip(first, submesh_shape, strict=True))
        chips = tuple(
            self.chip_at("create_submesh", MeshCoordinate(coordinate)) for coordinate in itertools.product(*ranges)
        )
        engine = self.engine.part([chip.place for chip in chips])
        submesh = self._with_chips(submesh_shape, self._system, engine, chips, self._queue_count, self)
        self._submeshes.append(weakref.ref(submesh))
        return submesh

    def create_submeshes(self, submesh_shape: MeshShape) -> list[MeshDevice]:
        """Return equal parts that together are the mesh, row by row.

        Raises:
            ArgumentError: no shape.
            DeviceError: the parts do not fill the mesh.
        """
        self._require_open("create_submeshes")
        if not isinstance(submesh_shape, MeshShape):
            raise ArgumentError(f"create_submeshes: expected a MeshShape, got {type(submesh_shape).__name__}")
        if submesh_shape.dims() != self._shape.dims():
            raise DeviceError(f"create_submeshes: {submesh_shape} has other dimensions than {self._shape}")
        for dim, (whole, size) in enumerate(zip(self._shape, submesh_shape, strict=True)):
            if size < 1 or whole % size:
                raise DeviceError(
                    f"create_submeshes: {submesh_shape} does not divide {self._shape} along dimension {dim}",
                    vendor=f"Shape {self._shape} is not divisible by submesh shape {submesh_shape} along dimension "
                    f"{dim}",
                )
        steps = (range(0, whole, size) for whole, size in zip(self._shape, submesh_shape, strict=True))
        return [self.create_submesh(submesh_shape, MeshCoordinate(offset)) for offset in itertools.product(*steps)]

    def get_view(self) -> MeshDeviceView:
        """Return the devices by coordinate."""
        return MeshDeviceView(self)

    def get_system_mesh_id(self) -> int:
        """Return the number of its system mesh, 0."""
        return 0

    def create_sub_device_manager(self, sub_devices: Sequence[SubDevice], local_l1_size: int) -> SubDeviceManagerId:
        """Return a new sub-device manager's id.

        It takes effect when it is loaded.

        While one is loaded, a program has to keep to one sub-device. TT-NN operators are not programs here and are not
        checked.

        Args:
            sub_devices: Groups of cores that do not overlap.
            local_l1_size: Bytes of each L1 that are kept for buffers of sub-devices while the manager is loaded. No
                operator makes such buffers: it is memory that others do not get.

        Raises:
            DeviceError: cores outside the grid, or in two sub-devices.
            ArgumentError: no size.
        """
        self._require_open("create_sub_device_manager")
        return self._sub_devices.create(sub_devices, local_l1_size)

    def load_sub_device_manager(self, sub_device_manager_id: SubDeviceManagerId) -> None:
        """Load a sub-device manager, which divides the grid.

        Raises:
            DeviceError: there is no such manager, or buffers overlap the L1 of its sub-devices.
        """
        self._require_open("load_sub_device_manager")
        self._sub_devices.load(sub_device_manager_id)

    def remove_sub_device_manager(self, sub_device_manager_id: SubDeviceManagerId) -> None:
        """Remove a sub-device manager.

        Raises:
            DeviceError: it is loaded, or there is no such manager.
        """
        self._require_open("remove_sub_device_manager")
        self._sub_devices.remove(sub_device_manager_id)

    def clear_loaded_sub_device_manager(self) -> None:
        """Unload the sub-device manager: the grid is undivided."""
        self._require_open("clear_loaded_sub_device_manager")
        self._sub_devices.clear()

    def set_sub_device_stall_group(self, sub_device_ids: Sequence[SubDeviceId]) -> None:
        """Set the sub-devices that reads and writes wait for. Calls are synchronous.

        Raises:
            DeviceError: there is no such sub-device.
        """
        self._require_open("set_sub_device_stall_group")
        self._sub_devices.check_ids("set_sub_device_stall_group", sub_device_ids)

    def reset_sub_device_stall_group(self) -> None:
        """Make reads and writes wait for all sub-devices again."""
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
        if l1_bank_remap:
            raise UnsupportedError("MeshDevice.create_unit_mesh: l1_bank_remap is not modelled; leave it empty")
        return MeshDevice._open(
            device_id,
            l1_small_size=l1_small_size,
            trace_region_size=trace_region_size,
            num_command_queues=num_command_queues,
            dispatch_core_config=dispatch_core_config,
            worker_l1_size=worker_l1_size,
        )

    @staticmethod
    def create(config: MeshDeviceConfig, *args: Any, **kwargs: Any) -> MeshDevice:
        """Return an open mesh in a `MeshDeviceConfig`'s shape.

        Other arguments are those of `create_unit_mesh`.

        Raises:
            ArgumentError: no `MeshDeviceConfig`.
            DeviceError: as `ttnn.open_mesh_device`.
        """
        if not isinstance(config, MeshDeviceConfig):
            raise ArgumentError(f"MeshDevice.create: expected a MeshDeviceConfig, got {shown(config)}")
        names = ("l1_small_size", "trace_region_size", "num_command_queues", "dispatch_core_config")
        options = {**dict(zip(names, args, strict=False)), **kwargs}
        return MeshDevice._open_mesh(config.mesh_shape, config.offset, config.physical_device_ids, **options)

    def close(self) -> bool:
        """Close the device, like `ttnn.close_device`."""
        self._require_open("close_device")
        for submesh in self.get_submeshes():
            submesh.close()
        self._traces.give_up()
        try:
            if self.ranks is not None and self._parent is None:
                self.ranks.close()
        finally:
            self._release()
        return True

    def _release(self) -> None:
        if self._parent is None:
            self.engine.close()
        else:
            self.engine.close_part()
        self._closed = True
        if self._twin is not None and self._twin.is_open:
            self._twin._release()
        self._programs.clear()
        self._resolved.clear()
        self._answers.clear()
        for chip in self.chips:
            if open_devices.get(chip.id) is self:
                del open_devices[chip.id]

    def mesh_command_queue(self, id: int = 0) -> CommandQueue:
        """Return a command queue.

        Raises:
            DeviceError: the device was opened with fewer, or is closed.
        """
        self._require_open("command_queue")
        number = as_integer(id)
        if number is None:
            raise ArgumentError(f"command_queue: id must be an int, got {shown(id)}")
        if not 0 <= number < self._queue_count:
            raise DeviceError(
                f"command_queue: queue {shown(number)} does not exist, the device was opened with {self._queue_count}"
            )
        return self._queues.setdefault(number, CommandQueue(self, number))

    command_queue = mesh_command_queue

    def begin_mesh_trace(self, cq_id: int = 0) -> MeshTraceId:
        """Start to capture a trace, see `ttnn.begin_trace_capture`."""
        self.mesh_command_queue(cq_id)
        return self._traces.begin()

    def end_mesh_trace(self, cq_id: int, trace_id: MeshTraceId | int) -> None:
        """End the capture of a trace, see `ttnn.end_trace_capture`."""
        self.mesh_command_queue(cq_id)
        self._traces.end(trace_id)

    def replay_mesh_trace(self, cq_id: int, trace_id: MeshTraceId | int, blocking: bool = False) -> None:
        """Run the programs of a trace, see `ttnn.execute_trace`."""
        self._replay(cq_id, trace_id)

    def _replay(self, cq_id: int, trace_id: MeshTraceId | int, *, trace: bool = True) -> list[Any]:
        """Replay a trace; return the reports of its programs.

        Raises:
            DeviceError: there is no such trace, or one is being captured.
        """
        queue = self.mesh_command_queue(cq_id)
        steps = self._traces.find("replay_trace", trace_id)
        if self._traces.steps is not None:
            raise DeviceError("replay_trace: a trace is being captured; end the capture first")
        replaced: dict[int, Any] = {}
        Traces.replaying = int(trace_id)
        try:
            reports = [step.replay(queue, replaced, trace=trace) for step in steps]
        finally:
            Traces.replaying = None
        return [report for report in reports if report is not None]

    def release_mesh_trace(self, trace_id: MeshTraceId | int) -> None:
        """Release a trace, see `ttnn.release_trace`."""
        self._require_open("release_trace")
        self._traces.release(trace_id)

    def __repr__(self) -> str:
        return f"MeshDevice({'x'.join(map(str, self._shape))} grid, {len(self.chips)} devices)"


Device = MeshDevice


class MeshDeviceView:
    """The devices of a mesh by row and column."""

    def __init__(self, mesh: MeshDevice) -> None:
        self._shape, self._ids = mesh.shape, mesh.get_device_ids()
        chips, own = zip(mesh.coordinates(), mesh.chips, strict=True), mesh.own_places
        self._local = {tuple(coordinate) for coordinate, chip in chips if chip.place in own}

    def shape(self) -> MeshShape:
        """Return the shape of the mesh."""
        return self._shape

    def num_devices(self) -> int:
        """Return the number of devices."""
        return len(self._ids)

    def get_device_ids(self) -> list[int]:
        """Return the numbers of the devices, row by row."""
        return list(self._ids)

    def is_local(self, coord: MeshCoordinate) -> bool:
        """Return whether this process computes for the chip at a coordinate.

        Raises:
            ArgumentError: no coordinate.
        """
        if not isinstance(coord, MeshCoordinate):
            raise ArgumentError(f"is_local: expected a MeshCoordinate, got {type(coord).__name__}")
        return tuple(coord) in self._local


class RunReport(Protocol):
    """Times of a queue's run: start, duration, and the next wait."""

    cycles: int
    gap: int
    started_at: int


class MeshEvent:
    """A point in a command queue, made by `ttnn.record_event`.

    Everything before it is done.
    """

    __slots__ = ("id", "queue")

    id: int
    queue: CommandQueue

    def __init__(self) -> None:
        raise ArgumentError("MeshEvent(): events are made with ttnn.record_event(device, cq_id)")

    def __repr__(self) -> str:
        return f"MeshEvent(device {self.queue.device.id()}, command queue {self.queue.id})"


class CommandQueue:
    """A synchronous command queue of one device; it counts events and cycles."""

    def __init__(self, device: MeshDevice, number: int) -> None:
        self.device = device
        self.id = number
        self.last_report: Any = None
        self._cycles = 0
        self._events = 0

    def _note(self, report: RunReport) -> None:
        """Append the report of a run to the queue."""
        if self.last_report is not None:
            self._cycles += report.gap
        report.started_at = self._cycles
        self._cycles += report.cycles
        self.last_report = report

    def enqueue_record_event(
        self, sub_device_ids: Sequence[SubDeviceId] = (), device_range: MeshCoordinateRange | None = None
    ) -> MeshEvent:
        """Return an event after everything enqueued so far.

        Raises:
            ArgumentError: no range.
            DeviceError: the device is closed, or there is no such sub-device or chip.
        """
        self.device._require_open("enqueue_record_event")
        self.device._sub_devices.check_ids("enqueue_record_event", sub_device_ids)
        if not isinstance(device_range, MeshCoordinateRange | None):
            raise ArgumentError(
                f"enqueue_record_event: device_range must be a MeshCoordinateRange, got {type(device_range).__name__}"
            )
        if device_range is not None:
            for coordinate in (device_range.start, device_range.end):
                self.device.chip_at("enqueue_record_event", coordinate)
        self._events += 1
        event = MeshEvent.__new__(MeshEvent)
        event.queue, event.id = self, self._events
        return event

    enqueue_record_event_to_host = enqueue_record_event

    def enqueue_wait_for_event(self, event: MeshEvent) -> None:
        """Make this queue wait for an event, which is always complete.

        Raises:
            ArgumentError: not an event.
            DeviceError: the event of another device.
        """
        self.device._require_open("enqueue_wait_for_event")
        other = require_event("enqueue_wait_for_event", event).queue.device
        if other is not self.device:
            raise DeviceError(f"enqueue_wait_for_event: {event!r} is of another device than {self!r}")

    def finish(self, sub_device_ids: Sequence[SubDeviceId] = ()) -> None:
        """Wait until everything on the queue is done: it is.

        Raises:
            DeviceError: the device is closed, or there is no such sub-device.
        """
        self.device._require_open("finish")
        self.device._sub_devices.check_ids("finish", sub_device_ids)

    def __repr__(self) -> str:
        return f"CommandQueue({self.id} of device {self.device.id()})"


def require_event(call: str, event: object) -> MeshEvent:
    """Return `event`, if it is one.

    Raises:
        ArgumentError: it is none.
    """
    if not isinstance(event, MeshEvent):
        raise ArgumentError(f"{call}: expected a MeshEvent, got {type(event).__name__}")
    return event


def default_chip() -> str:
    """Return the name of the chip that `open_device` opens."""
    return system_of_environment().chip if is_chosen() else DEFAULT_CHIP[CONFIG.arch_name]


def count(operation: str, name: str, value: object) -> int:
    """Return a number of bytes, devices or queues.

    Raises:
        ArgumentError: it is no int.
        DeviceError: it is negative, or larger than anything can be.
    """
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise ArgumentError(f"{operation}: {name} must be an int, got {shown(value)}") from None
    if isinstance(value, bool):
        raise ArgumentError(f"{operation}: {name} must be an int, got {shown(value)}")
    if not 0 <= number < 1 << 63:
        raise DeviceError(f"{operation}: {name} must not be negative or beyond 2^63, got {shown(number)}")
    return number
