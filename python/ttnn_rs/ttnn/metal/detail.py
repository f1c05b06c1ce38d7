"""`tt::tt_metal::detail`: a program and memory of a chip without a command queue."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ttnn.base.call import as_integer, shown
from ttnn.base.core_range import CoreLike, as_core
from ttnn.base.exceptions import ArgumentError, DeviceError
from ttnn.base.system_enums import ClusterType
from ttnn.device.coordinates import MeshCoordinate
from ttnn.device.lifecycle import CloseDevice, CreateDevice
from ttnn.device.mesh_device import MeshDevice
from ttnn.device.systems import system_for
from ttnn.metal.buffers import Buffer, as_bytes
from ttnn.metal.layout import lay_out
from ttnn.metal.program import Program
from ttnn.metal.queues import enqueue_program, enqueue_read_buffer, enqueue_write_buffer
from ttnn.metal.report import Report

__all__ = [
    "CompileProgram",
    "CreateDeviceMinimal",
    "IsGalaxyCluster",
    "LaunchProgram",
    "ReadFromBuffer",
    "ReadFromDeviceDRAMChannel",
    "ReadFromDeviceL1",
    "WriteToBuffer",
    "WriteToDeviceDRAMChannel",
    "WriteToDeviceL1",
    "close_device",
    "compile_program",
    "create_device",
    "create_device_minimal",
    "is_galaxy_cluster",
    "launch_program",
    "read_from_buffer",
    "read_from_device_dram_channel",
    "read_from_device_l1",
    "write_to_buffer",
    "write_to_device_dram_channel",
    "write_to_device_l1",
]

Words = npt.NDArray[np.uint32]


def create_device_minimal(device_id: int, num_hw_cqs: int = 1, dispatch_core_config: Any = None) -> MeshDevice:
    """Return an open device, same as `create_device`."""
    return CreateDevice(device_id, num_hw_cqs, dispatch_core_config=dispatch_core_config)


def is_galaxy_cluster() -> bool:
    """Return whether the system is a Galaxy."""
    return system_for(None).type in (ClusterType.GALAXY, ClusterType.TG, ClusterType.BLACKHOLE_GALAXY)


def write_to_buffer(buffer: Buffer, host_buffer: Any) -> None:
    """Fill a buffer with bytes of the host.

    Raises:
        ArgumentError: other bytes than the buffer has.
    """
    enqueue_write_buffer(_device_of("write_to_buffer", buffer), buffer, host_buffer)


def read_from_buffer(buffer: Buffer, host_buffer: list[int] | npt.NDArray[Any] | None = None) -> npt.NDArray[Any]:
    """Return a buffer's content, or write it into a list or array.

    The list has 32-bit words.

    Raises:
        ArgumentError: an array of another size.
        DeviceError: several chips have contents of their own (`read_shard` reads those of one).
    """
    device = _device_of("read_from_buffer", buffer)
    if isinstance(host_buffer, list):
        words = enqueue_read_buffer(device, buffer)
        host_buffer[:] = words.view(np.uint32).tolist()
        return words
    return enqueue_read_buffer(device, buffer, host_buffer)


def _device_of(call: str, buffer: Buffer) -> MeshDevice:
    if not isinstance(buffer, Buffer):
        raise ArgumentError(f"{call}: expected a Buffer, got {buffer!r}")
    return buffer.device


def launch_program(
    device: MeshDevice, program: Program, wait_until_cores_done: bool = True, force_slow_dispatch: bool = False
) -> Report | None:
    """Run a program, see `metal.enqueue_program`.

    Raises:
        KernelError: a kernel failed; the device refuses work until it is reset.
    """
    return enqueue_program(device, program, wait_until_cores_done)


def compile_program(device: MeshDevice, program: Program, force_slow_dispatch: bool = False) -> None:
    """Check that a device can run a program.

    Python kernels are not compiled.

    Raises:
        DeviceError, MemoryConfigError, KernelArgumentError: it cannot.
    """
    _require_device("compile_program", device)
    lay_out(device, program)


def write_to_device_l1(
    device: MeshDevice,
    logical_core: CoreLike,
    address: int,
    host_buffer: Any,
    *,
    coord: MeshCoordinate | None = None,
) -> bool:
    """Write words to the L1 of a core without checks.

    Args:
        device: The device.
        logical_core: The core.
        address: First byte.
        host_buffer: The words.
        coord: The chip (not official); default: all chips.

    Raises:
        DeviceError: no such core or chip, or bytes beyond L1.
    """
    call = "write_to_device_l1"
    return _write(call, device, False, _l1_bank(call, device, logical_core), address, host_buffer, coord)


def read_from_device_l1(
    device: MeshDevice,
    logical_core: CoreLike,
    address: int,
    size: int,
    host_buffer: list[int] | None = None,
    *,
    coord: MeshCoordinate | None = None,
) -> Words:
    """Return L1 words of a core, or write them into a list.

    Args:
        device: The device.
        logical_core: The core.
        address: First byte.
        size: Bytes.
        host_buffer: The list.
        coord: The chip (not official); needed in a mesh of several.

    Raises:
        DeviceError: no such core or chip, bytes beyond L1, or several chips of which none is named.
        ArgumentError: the size is no number of words.
    """
    call = "read_from_device_l1"
    return _read(call, device, False, _l1_bank(call, device, logical_core), address, size, host_buffer, coord)


def write_to_device_dram_channel(
    device: MeshDevice, dram_channel: int, address: int, host_buffer: Any, *, coord: MeshCoordinate | None = None
) -> bool:
    """Write words to a DRAM bank, unchecked.

    Args:
        device: The device.
        dram_channel: The bank.
        address: First byte.
        host_buffer: The words.
        coord: The chip (not official); default: all chips.

    Raises:
        DeviceError: no such bank or chip, or bytes beyond it.
    """
    call = "write_to_device_dram_channel"
    return _write(call, device, True, _dram_bank(call, device, dram_channel), address, host_buffer, coord)


def read_from_device_dram_channel(
    device: MeshDevice,
    dram_channel: int,
    address: int,
    size: int,
    host_buffer: list[int] | None = None,
    *,
    coord: MeshCoordinate | None = None,
) -> Words:
    """Return a DRAM bank's words, in a list that is resized.

    Args:
        device: The device.
        dram_channel: The bank.
        address: First byte.
        size: Bytes.
        host_buffer: The list.
        coord: The chip (not official); needed in a mesh of several.

    Raises:
        DeviceError: no such bank or chip, bytes beyond it, or several chips of which none is named.
        ArgumentError: the size is no number of words.
    """
    call = "read_from_device_dram_channel"
    return _read(call, device, True, _dram_bank(call, device, dram_channel), address, size, host_buffer, coord)


def _require_device(call: str, device: MeshDevice) -> None:
    if not isinstance(device, MeshDevice):
        raise ArgumentError(f"{call}: expected a ttnn.MeshDevice, got {device!r}")
    device._require_open(call)


def _l1_bank(call: str, device: MeshDevice, logical_core: CoreLike) -> int:
    _require_device(call, device)
    core = as_core(logical_core)
    cores = [tuple(place) for place, _ in device.chip["worker_coords"]]
    if (core.x, core.y) not in cores:
        columns, rows = device.chips[0].grid
        raise DeviceError(f"{call}: core {core} is outside the compute grid {columns}x{rows}")
    return cores.index((core.x, core.y))


def _dram_bank(call: str, device: MeshDevice, bank: int) -> int:
    _require_device(call, device)
    banks = len(device.chip["dram_cores"])
    if isinstance(bank, bool) or not isinstance(bank, int) or not 0 <= bank < banks:
        raise DeviceError(f"{call}: DRAM channel {bank!r} does not exist, the chip has 0 to {banks - 1}")
    return bank


def _address(call: str, address: object) -> int:
    number = as_integer(address)
    if number is None or not 0 <= number < 1 << 40:
        raise ArgumentError(f"{call}: expected an address, got {shown(address)}")
    return number


def _write(
    call: str, device: MeshDevice, dram: bool, bank: int, address: int, data: Any, coord: MeshCoordinate | None
) -> bool:
    number, raw = _address(call, address), as_bytes(data)
    for chip in device.chips if coord is None else [device.chip_at(call, coord)]:
        chip.engine.write_bytes(dram, bank, number, raw)
    return True


def _read(
    call: str,
    device: MeshDevice,
    dram: bool,
    bank: int,
    address: int,
    size: int,
    into: list[int] | None,
    coord: MeshCoordinate | None,
) -> Words:
    if isinstance(size, bool) or not isinstance(size, int) or not 0 < size < 1 << 40 or size % 4:
        raise ArgumentError(f"{call}: size must be a multiple of 4 B, got {size!r}")
    if coord is None and device._several:
        raise DeviceError(f"{call}: {device!r} has contents on each chip; name one: coord=ttnn.MeshCoordinate(0, 0)")
    chip = device.chips[0] if coord is None else device.chip_at(call, coord)
    words: Words = chip.engine.read_bytes(dram, bank, _address(call, address), size).view(np.uint32)
    if into is not None:
        into[:] = words.tolist()
    return words


def create_device(*args: Any, **kwargs: Any) -> MeshDevice:
    """Return an open device, see `ttnn.CreateDevice`."""
    return CreateDevice(*args, **kwargs)


def close_device(device: MeshDevice) -> bool:
    """Close a device, see `ttnn.CloseDevice`."""
    CloseDevice(device)
    return True


CreateDeviceMinimal = create_device_minimal
IsGalaxyCluster = is_galaxy_cluster
WriteToBuffer = write_to_buffer
ReadFromBuffer = read_from_buffer
LaunchProgram = launch_program
CompileProgram = compile_program
WriteToDeviceL1 = write_to_device_l1
ReadFromDeviceL1 = read_from_device_l1
WriteToDeviceDRAMChannel = write_to_device_dram_channel
ReadFromDeviceDRAMChannel = read_from_device_dram_channel
