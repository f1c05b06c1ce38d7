"""Devices: opening, closing, chip properties, memory use.

A device is memory of the engine plus the description of its chip. Cards come into being when they are opened, each with
a chip of its own choice; card 0 is listed even before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from ttnn import _engine
from ttnn.base.call import checked, shown
from ttnn.base.config import CONFIG
from ttnn.base.core_range import CoreCoord
from ttnn.base.enums import NOC, Arch, BufferType, DispatchCoreAxis
from ttnn.base.exceptions import ArgumentError, DeviceError
from ttnn.device.chip import ARCH
from ttnn.device.coordinates import (
    MeshCoordinate,
    MeshCoordinateRange,
    MeshCoordinateRangeSet,
    MeshCoreCoord,
    MeshShape,
    MeshTraceId,
    QueueId,
    SubDevice,
    SubDeviceId,
    SubDeviceManagerId,
)
from ttnn.device.dispatch import DispatchCoreConfig
from ttnn.device.fabric import current_system
from ttnn.device.memory_report import MemoryView, write_memory_state
from ttnn.device.mesh_device import Device, MeshDevice, count, default_chip, open_devices
from ttnn.device.systems import default_arch_name, is_chosen

_default_device: MeshDevice | None = None


# Opening and closing.


@checked
def open_device(
    *,
    device_id: int,
    l1_small_size: int = 0,
    trace_region_size: int = 0,
    dispatch_core_config: DispatchCoreConfig | None = None,
    num_command_queues: int = 1,
    worker_l1_size: int = 0,
    chip: str | None = None,
) -> MeshDevice:
    """Return a device with empty memory, open until it is closed.

    There is no card to be found: the cards 0 to 31 come into being when they are opened, each with the chip that is
    asked for, and are gone when they are closed. `get_device_ids` lists card 0 and those that are open.

    Args:
        device_id: Number of the card, 0 to 31.
        l1_small_size: Bytes of each L1 set aside for BufferType.L1_SMALL.
        trace_region_size: Bytes of each DRAM bank set aside for BufferType.TRACE.
        dispatch_core_config: Which cores run dispatch: on Wormhole Ethernet cores (the default of n300 cards), a row
            (the default of others) or a column of the grid; on Blackhole a column. The compute grid of an n300 is
            8 x 8, 8 x 7 or 7 x 8, that of an n150 8 x 8, 8 x 8 or 7 x 9.
        num_command_queues: 1 or 2.
        worker_l1_size: Bytes of each L1 for buffers and circular buffers; 0 for all there is.
        chip: n150, n300, galaxy, p100, p150 or p300; by default a chip of the chosen system (TTNN_SYSTEM), and
            without one n150 or p150 after `CONFIG.arch_name` (ARCH_NAME). An n300, galaxy or p300 is one of its
            chips. Not official.

    Raises:
        ArgumentError: an argument of the wrong type.
        DeviceError: the device is open already, there is no such card or chip, or the regions do not fit.
        UnsupportedError: dispatch on Ethernet cores of a system without idle ones, or on a row or Ethernet cores of a
            Blackhole.
    """
    return MeshDevice._open(
        device_id,
        l1_small_size=l1_small_size,
        trace_region_size=trace_region_size,
        dispatch_core_config=dispatch_core_config,
        num_command_queues=num_command_queues,
        worker_l1_size=worker_l1_size,
        chip=chip,
    )


def _mesh_device(operation: str, device: object) -> MeshDevice:
    if not isinstance(device, MeshDevice):
        raise ArgumentError(f"{operation}: expected a ttnn.MeshDevice, got {type(device).__name__}")
    return device


def _require_device(operation: str, device: object) -> MeshDevice:
    opened = _mesh_device(operation, device)
    opened._require_open(operation)
    return opened


@checked
def close_device(device: MeshDevice) -> None:
    """Close a device: its memory is freed, its tensors become invalid.

    Raises:
        DeviceError: it is closed already.
    """
    global _default_device
    opened = _mesh_device("close_device", device)
    opened.close()
    if _default_device is opened:
        _default_device = None


@contextmanager
def manage_device(device_id: int, *, chip: str | None = None) -> Iterator[MeshDevice]:
    """Open a device for a `with` block and close it afterwards."""
    device = open_device(device_id=device_id, chip=chip)
    try:
        yield device
    finally:
        if device.is_open:
            close_device(device)


@checked
def CreateDevice(  # noqa: N802 - the official name
    device_id: int,
    num_command_queues: int = 1,
    l1_small_size: int = 0,
    trace_region_size: int = 0,
    dispatch_core_config: DispatchCoreConfig | None = None,
    *,
    worker_l1_size: int = 0,
) -> MeshDevice:
    """Return an open device, like `open_device`."""
    return open_device(
        device_id=device_id,
        l1_small_size=l1_small_size,
        trace_region_size=trace_region_size,
        dispatch_core_config=dispatch_core_config,
        num_command_queues=num_command_queues,
        worker_l1_size=worker_l1_size,
    )


@checked
def CreateDevices(  # noqa: N802 - the official name
    device_ids: Sequence[int],
    num_command_queues: int = 1,
    l1_small_size: int = 0,
    trace_region_size: int = 0,
    dispatch_core_config: DispatchCoreConfig | None = None,
    *,
    worker_l1_size: int = 0,
) -> dict[int, MeshDevice]:
    """Return open devices by id.

    If one cannot be opened, all are closed.
    """
    if not isinstance(device_ids, Iterable):
        raise ArgumentError(f"CreateDevices: device_ids must be device ids, got {type(device_ids).__name__}")
    opened: dict[int, MeshDevice] = {}
    try:
        for device_id in device_ids:
            opened[device_id] = CreateDevice(
                device_id,
                num_command_queues,
                l1_small_size,
                trace_region_size,
                dispatch_core_config,
                worker_l1_size=worker_l1_size,
            )
    except BaseException:
        CloseDevices(opened)
        raise
    return opened


def CloseDevice(device: MeshDevice) -> None:  # noqa: N802 - the official name
    """Close a device, like `close_device`."""
    close_device(device)


def CloseDevices(devices: Mapping[int, MeshDevice]) -> None:  # noqa: N802 - the official name
    """Close all devices of a mapping."""
    if not isinstance(devices, Mapping):
        raise ArgumentError(f"CloseDevices: expected a dict of devices by id, got {type(devices).__name__}")
    for device in devices.values():
        close_device(device)


@checked
def open_mesh_device(
    mesh_shape: MeshShape | None = None,
    l1_small_size: int = 0,
    trace_region_size: int = 0,
    num_command_queues: int = 1,
    dispatch_core_config: DispatchCoreConfig | None = None,
    offset: MeshCoordinate | None = None,
    physical_device_ids: Sequence[int] = (),
    worker_l1_size: int = 0,
) -> MeshDevice:
    """Return an open mesh of the system.

    Args:
        mesh_shape: Its shape; None for that of the system mesh.
        l1_small_size: Bytes of each L1 set aside for BufferType.L1_SMALL.
        trace_region_size: Bytes of each DRAM bank set aside for BufferType.TRACE.
        num_command_queues: 1 or 2.
        dispatch_core_config: Which cores run dispatch; see `open_device`.
        offset: Coordinate of its first chip in the system mesh; None for the first one.
        physical_device_ids: Numbers of the chips, row by row, each once; none for the order of the system.
        worker_l1_size: Bytes of each L1 for buffers and circular buffers; 0 for all there is.

    Raises:
        ArgumentError: an argument of the wrong type.
        DeviceError: the system has no such mesh or chips, a chip is named twice or is open already, or the regions do
            not fit.
        UnsupportedError: dispatch on Ethernet cores of a system without idle ones, or on a row or Ethernet cores of a
            Blackhole.
    """
    return MeshDevice._open_mesh(
        mesh_shape,
        offset,
        physical_device_ids,
        l1_small_size=l1_small_size,
        trace_region_size=trace_region_size,
        dispatch_core_config=dispatch_core_config,
        num_command_queues=num_command_queues,
        worker_l1_size=worker_l1_size,
    )


def close_mesh_device(mesh_device: MeshDevice) -> None:
    """Close a mesh, like `close_device`."""
    close_device(mesh_device)


@contextmanager
def create_mesh_device(*args: Any, **kwargs: Any) -> Iterator[MeshDevice]:
    """Open a mesh device in a `with` block, as `open_mesh_device` does."""
    device = open_mesh_device(*args, **kwargs)
    try:
        yield device
    finally:
        if device.is_open:
            close_device(device)


def SetDefaultDevice(device: MeshDevice | None = None) -> None:  # noqa: N802 - the official name
    """Set the default device; None for none."""
    global _default_device
    _default_device = None if device is None else _require_device("SetDefaultDevice", device)


def GetDefaultDevice() -> MeshDevice | None:  # noqa: N802 - the official name
    """Return the device that `SetDefaultDevice` chose."""
    return _default_device


def synchronize_device(
    device: MeshDevice, cq_id: QueueId | int | None = None, sub_device_ids: Sequence[SubDeviceId] = ()
) -> None:
    """Wait until a device is idle.

    Calls are synchronous, so it returns at once.

    Raises:
        DeviceError: the device is closed, or has no such command queue or sub-device.
    """
    opened = _require_device("synchronize_device", device)
    if cq_id is not None and count("synchronize_device", "cq_id", cq_id) >= opened._queue_count:
        has = f"device {opened.id()} has {opened._queue_count} command queues"
        raise DeviceError(f"synchronize_device: {has}, not {cq_id}")
    opened._sub_devices.check_ids("synchronize_device", sub_device_ids)


# What there is.


def get_device_ids() -> list[int]:
    """Return the ids of all chips of the system.

    Without a chosen system, and with none of several chips open: 0, and other open cards.
    """
    system = current_system()
    if is_chosen() or len(system.chips) > 1:
        return sorted(system.chips)
    return sorted({0, *(number for number, device in open_devices.items() if device.is_open)})


def GetNumAvailableDevices() -> int:  # noqa: N802 - the official name
    """Return the number of chips of the system."""
    return len(get_device_ids())


def get_num_devices() -> int:
    """Return the number of chips of the system."""
    return GetNumAvailableDevices()


def GetNumPCIeDevices() -> int:  # noqa: N802 - the official name
    """Return the number of chips with PCIe."""
    return len(get_pcie_device_ids())


def get_num_pcie_devices() -> int:
    """Return the number of chips with PCIe."""
    return GetNumPCIeDevices()


def get_pcie_device_ids() -> list[int]:
    """Return the ids of all chips with PCIe."""
    system = current_system()
    return sorted(system.pcie) if is_chosen() or len(system.chips) > 1 else get_device_ids()


def GetPCIeDeviceID(device_id: int, /) -> int:  # noqa: N802 - the official name
    """Return the chip with PCIe of a chip's card.

    Raises:
        DeviceError: there is no such chip.
    """
    if count("GetPCIeDeviceID", "device_id", device_id) not in get_device_ids():
        raise DeviceError(f"GetPCIeDeviceID: no device {device_id}; devices are {get_device_ids()}")
    system = current_system()
    card = next((card for card in system.cards if device_id in card), (device_id,))
    return next((chip for chip in card if chip in system.pcie), device_id)


def get_arch_name() -> str:
    """Return the generation of the chip that `open_device` opens: wormhole_b0 or blackhole."""
    return default_arch_name()


def is_wormhole_b0(device: MeshDevice | None = None) -> bool:
    """Return whether a device (default: that of `open_device`) is a Wormhole."""
    return _arch_of(device) is Arch.WORMHOLE_B0


def is_blackhole(device: MeshDevice | None = None) -> bool:
    """Return whether a device (default: that of `open_device`) is a Blackhole."""
    return _arch_of(device) is Arch.BLACKHOLE


def _arch_of(device: MeshDevice | None) -> Arch:
    return ARCH[default_arch_name()] if device is None else _mesh_device("is_wormhole_b0, is_blackhole", device).arch()


def get_dispatch_core_axis(device: MeshDevice) -> DispatchCoreAxis:
    """Return the grid axis of the dispatch cores."""
    return _mesh_device("get_dispatch_core_axis", device).chips[0].dispatch.axis


# Memory. The allocators of a mesh go in lockstep, so that of one chip answers for all.


def _default_chip() -> dict[str, Any]:
    return _engine.chip_info(default_chip())


def get_max_worker_l1_unreserved_size() -> int:
    """Return an L1's bytes without the firmware's, kernel code included."""
    return int(_default_chip()["max_worker_l1_unreserved"])


def get_dram_alignment() -> int:
    """Return the alignment of pages in DRAM."""
    return int(_default_chip()["dram_alignment"])


def get_l1_alignment() -> int:
    """Return the alignment of pages in L1."""
    return int(_default_chip()["l1_alignment"])


def get_allocator_base_address(device: MeshDevice, buffer_type: BufferType) -> int:
    """Return the first address that buffers of a kind can have.

    Raises:
        DeviceError: the device is closed.
    """
    opened = _require_device("get_allocator_base_address", device)
    if not isinstance(buffer_type, BufferType):
        raise ArgumentError(f"get_allocator_base_address: expected a BufferType, got {shown(buffer_type)}")
    return opened.engine.base_address(buffer_type.value)


def get_memory_view(device: MeshDevice, buffer_type: BufferType) -> MemoryView:
    """Return how the banks of a kind of memory are used.

    Raises:
        DeviceError: the device is closed.
    """
    opened = _require_device("get_memory_view", device)
    if not isinstance(buffer_type, BufferType):
        raise ArgumentError(f"get_memory_view: expected a BufferType, got {shown(buffer_type)}")
    return MemoryView.of(opened.engine, buffer_type)


def dump_device_memory_state(device: MeshDevice, prefix: str = "") -> None:
    """Write how the memory is used to CSV files in `CONFIG.root_report_path`.

    `<prefix>memory_usage_summary.csv` has a row per kind of memory, `<prefix>memory_blocks.csv` a row per block and
    `<prefix>memory_buffers.csv` a row per buffer.

    Raises:
        DeviceError: the device is closed.
    """
    opened = _require_device("dump_device_memory_state", device)
    write_memory_state(opened.engine, CONFIG.root_report_path, prefix)


def get_optimal_dram_bank_to_logical_worker_assignment(device: MeshDevice, noc: NOC) -> list[CoreCoord]:
    """Return each DRAM bank's best reading core over a NoC.

    Raises:
        UnsupportedError: the assignment of this chip is not known.
    """
    opened = _mesh_device("get_optimal_dram_bank_to_logical_worker_assignment", device)
    return opened.get_optimal_dram_bank_to_logical_worker_assignment(noc)


__all__ = [
    "CloseDevice",
    "CloseDevices",
    "CreateDevice",
    "CreateDevices",
    "Device",
    "DispatchCoreConfig",
    "GetDefaultDevice",
    "GetNumAvailableDevices",
    "GetNumPCIeDevices",
    "GetPCIeDeviceID",
    "MemoryView",
    "MeshCoordinate",
    "MeshCoordinateRange",
    "MeshCoordinateRangeSet",
    "MeshCoreCoord",
    "MeshDevice",
    "MeshShape",
    "MeshTraceId",
    "QueueId",
    "SetDefaultDevice",
    "SubDevice",
    "SubDeviceId",
    "SubDeviceManagerId",
    "close_device",
    "close_mesh_device",
    "create_mesh_device",
    "dump_device_memory_state",
    "get_allocator_base_address",
    "get_arch_name",
    "get_device_ids",
    "get_dispatch_core_axis",
    "get_dram_alignment",
    "get_l1_alignment",
    "get_max_worker_l1_unreserved_size",
    "get_memory_view",
    "get_num_devices",
    "get_num_pcie_devices",
    "get_optimal_dram_bank_to_logical_worker_assignment",
    "get_pcie_device_ids",
    "is_blackhole",
    "is_wormhole_b0",
    "manage_device",
    "open_device",
    "open_mesh_device",
    "synchronize_device",
]
