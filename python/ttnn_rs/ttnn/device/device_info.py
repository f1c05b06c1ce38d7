"""Device description in reports: cores, L1, cluster and mesh files.

Source: tt-metal `ttnn/core/reports.cpp` (fields); tt-umd, the cluster descriptor.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from ttnn import _engine
from ttnn.base.config import CONFIG
from ttnn.base.enums import BufferType
from ttnn.base.exceptions import ArgumentError
from ttnn.base.files import write_atomically
from ttnn.base.temporary import new_temporary_folder
from ttnn.device.fabric import current_system
from ttnn.device.mesh_device import MeshDevice, default_chip, open_devices
from ttnn.device.system import System
from ttnn.device.systems import default_arch_name

_WORKER_CORES: Final = {"wormhole_b0": (8, 10), "blackhole": (14, 10)}
"""Columns and rows of worker cores, harvested ones included."""


@dataclass(frozen=True)
class DeviceInfo:
    """Cores and L1 of a device.

    Sizes are bytes; there are no cores that only store.
    """

    num_y_cores: int
    num_x_cores: int
    num_y_compute_cores: int
    num_x_compute_cores: int
    worker_l1_size: int
    l1_num_banks: int
    l1_bank_size: int
    address_at_first_l1_bank: int
    address_at_first_l1_cb_buffer: int
    num_banks_per_storage_core: int
    num_compute_cores: int
    num_storage_cores: int
    total_l1_memory: int
    total_l1_for_tensors: int
    total_l1_for_interleaved_buffers: int
    total_l1_for_sharded_buffers: int
    cb_limit: int


def get_device_info(device: MeshDevice) -> DeviceInfo:
    """Return the device description in reports.

    Raises:
        ArgumentError: no device.
        DeviceError: it is closed.
    """
    if not isinstance(device, MeshDevice):
        raise ArgumentError(f"get_device_info: expected a ttnn.MeshDevice, got {type(device).__name__}")
    device._require_open("get_device_info")
    chip = device.chip
    columns, rows = chip["grid"]
    view = device.engine.memory_view(BufferType.L1.value)
    direction, harvested = chip["harvested"]
    all_columns, all_rows = _WORKER_CORES[chip["arch_name"]]
    cores, bank, whole = columns * rows, view["total_bytes_per_bank"], chip["l1_bytes"]
    return DeviceInfo(
        num_y_cores=all_rows - harvested * (direction == "rows"),
        num_x_cores=all_columns - harvested * (direction == "columns"),
        num_y_compute_cores=rows,
        num_x_compute_cores=columns,
        worker_l1_size=whole,
        l1_num_banks=view["num_banks"],
        l1_bank_size=bank,
        address_at_first_l1_bank=0,
        address_at_first_l1_cb_buffer=chip["l1_base"],
        num_banks_per_storage_core=whole // bank,
        num_compute_cores=cores,
        num_storage_cores=0,
        total_l1_memory=cores * whole,
        total_l1_for_tensors=0,
        total_l1_for_interleaved_buffers=cores * bank,
        total_l1_for_sharded_buffers=cores * bank,
        cb_limit=whole - chip["l1_base"],
    )


_FAMILIES: Final = {"wormhole_b0": "Wormhole", "blackhole": "Blackhole"}


def cluster_descriptor(devices: Iterable[MeshDevice] = ()) -> str:
    """Return the driver's cluster description of chips, in YAML.

    Of a system of several chips, all of them and their links. Otherwise of the devices, the open devices, or the one of
    `CONFIG`.
    """
    chosen = list(devices)
    system = chosen[0]._system if chosen else current_system()
    if len(system.chips) > 1:
        return _system_descriptor(system)
    opened = [(device.id(), device.chip) for device in chosen]
    if not opened:
        from_config = [device for device in open_devices.values() if device.is_open]
        opened = [(device.id(), device.chip) for device in sorted(from_config, key=MeshDevice.id)]
    if opened:
        chips = [(number, chip["arch_name"], chip["name"], chip["harvested"][1]) for number, chip in opened]
    else:
        chips = [(system.chips[0], default_arch_name(), default_chip(), 0)]
    lines = ["arch:", *(f"  {number}: {_FAMILIES[arch]}" for number, arch, _, _ in chips)]
    lines += ["chips:", *(f"  {number}: [{number}, 0, 0, 0]" for number, _, _, _ in chips)]
    lines += ["ethernet_connections: []", "chips_with_mmio:", *(f"  - {number}: {number}" for number, _, _, _ in chips)]
    lines += ["harvesting:", *(_harvesting(number, harvested) for number, _, _, harvested in chips)]
    lines += ["chip_to_boardtype:", *(f"  {number}: {board}" for number, _, board, _ in chips)]
    return "\n".join(lines) + "\n"


def _harvesting(number: int, harvested: int) -> str:
    return f"  {number}: {{noc_translation: true, harvest_mask: {(1 << harvested) - 1}}}"


def _system_descriptor(system: System) -> str:
    """Return the driver's description of a system."""
    facts = _engine.chip_info(system.chip)
    chips = sorted({*system.chips, *system.pcie})
    alone = [(chip,) for chip in chips if not any(chip in card for card in system.cards)]
    lines = ["arch:", *(f"  {chip}: {_FAMILIES[facts['arch_name']]}" for chip in chips), "chips:"]
    lines += [f"  {chip}: [{column}, {row}, 0, 0]" for chip, (row, column) in sorted(system.place_of.items())]
    lines.append("ethernet_connections:")
    for link in system.links:
        ends = f"{{chip: {link.chip}, chan: {link.channel}}}, {{chip: {link.other}, chan: {link.other_channel}}}"
        lines.append(f"  - [{ends}]")
    lines += ["chips_with_mmio:", *(f"  - {chip}: {place}" for place, chip in enumerate(system.pcie)), "harvesting:"]
    lines += [_harvesting(chip, facts["harvested"][1]) for chip in chips]
    lines += ["chip_to_boardtype:", *(f"  {chip}: {system.board}" for chip in chips), "boards:"]
    for number, card in enumerate([*system.cards, *alone]):
        lines.append(f"  - [{{board_id: {number}}}, {{board_type: {system.board}}}, {{chips: {list(card)}}}]")
    return "\n".join(lines) + "\n"


def mesh_descriptor(devices: Iterable[MeshDevice]) -> str:
    """Return where in the mesh the chips are, in YAML."""
    places = (
        f"  {chip.id}: {list(coordinate)}"
        for device in devices
        for chip, coordinate in zip(device.chips, device.coordinates(), strict=True)
    )
    return "\n".join(["chips:", *places]) + "\n"


def serialize_cluster_descriptor() -> str:
    """Write the driver's cluster description of chips; return its path."""
    where = "serialize_cluster_descriptor"
    path = new_temporary_folder("cluster_", CONFIG.tmp_dir, where=where) / "cluster_descriptor.yaml"
    write_atomically(path, cluster_descriptor(), where=where)
    return str(path)
