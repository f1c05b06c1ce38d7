"""`tt::tt_metal::detail`: a program and memory of a chip without a command queue."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ttnn.base.call import as_integer
from ttnn.base.core_range import CoreLike, as_core
from ttnn.base.exceptions import ArgumentError, DeviceError
from ttnn.device.lifecycle import CloseDevice, CreateDevice
from ttnn.device.mesh_device import MeshDevice
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
    """Return whether the cards form a Galaxy: never."""
    return False


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


def write_to_device_l1(device: MeshDevice, logical_core: CoreLike, address: int, host_buffer: Any) -> bool:
    """Write words to the L1 of a core without checks.

    Raises:
        DeviceError: no such core, or bytes beyond L1.
    """
    bank = _l1_bank("write_to_device_l1", device, logical_core)
    device.engine.write_bytes(False, bank, _address("write_to_device_l1", address), as_bytes(host_buffer))
    return True


def read_from_device_l1(
    device: MeshDevice, logical_core: CoreLike, address: int, size: int, host_buffer: list[int] | None = None
) -> Words:
    """Return L1 words of a core, or write them into a list.

    Raises:
        DeviceError: no such core, or bytes beyond L1.
        ArgumentError: the size is no number of words.
    """
    bank = _l1_bank("read_from_device_l1", device, logical_core)
    return _read("read_from_device_l1", device, False, bank, address, size, host_buffer)


def write_to_device_dram_channel(device: MeshDevice, dram_channel: int, address: int, host_buffer: Any) -> bool:
    """Write words to a DRAM bank, unchecked.

    Raises:
        DeviceError: no such bank, or bytes beyond it.
    """
    bank = _dram_bank("write_to_device_dram_channel", device, dram_channel)
    device.engine.write_bytes(True, bank, _address("write_to_device_dram_channel", address), as_bytes(host_buffer))
    return True


def read_from_device_dram_channel(
    device: MeshDevice, dram_channel: int, address: int, size: int, host_buffer: list[int] | None = None
) -> Words:
    """Return a DRAM bank's words, in a list that is resized.

    Raises:
        DeviceError: no such bank, or bytes beyond it.
        ArgumentError: the size is no number of words.
    """
    call = "read_from_device_dram_channel"
    return _read(call, device, True, _dram_bank(call, device, dram_channel), address, size, host_buffer)


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
        raise ArgumentError(f"{call}: expected an address, got {address!r}")
    return number


def _read(
    call: str, device: MeshDevice, dram: bool, bank: int, address: int, size: int, into: list[int] | None
) -> Words:
    if isinstance(size, bool) or not isinstance(size, int) or not 0 < size < 1 << 40 or size % 4:
        raise ArgumentError(f"{call}: size must be a multiple of 4 B, got {size!r}")
    words: Words = device.engine.read_bytes(dram, bank, _address(call, address), size).view(np.uint32)
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
