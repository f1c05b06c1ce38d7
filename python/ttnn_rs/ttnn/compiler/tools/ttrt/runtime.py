"""`ttrt.runtime`: devices, tensors and execution of binaries.

Tensors borrow memory of their creator; `submit` reads inputs from it and writes outputs to it.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import Enum
from typing import Any, ClassVar

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

import ttnn
from ttnn.base.exceptions import DTypeError, FileFormatError, ParameterError, ShapeError, UnsupportedError
from ttnn.compiler.conversion.ttnn_to_calls.programs import Program, programs
from ttnn.compiler.runtime.executor import Observer, execute
from ttnn.compiler.runtime.metal import run_metal
from ttnn.compiler.runtime.place import Transfers
from ttnn.compiler.runtime.system import current_system
from ttnn.compiler.target.flatbuffer import system_desc as descriptors
from ttnn.compiler.tools.data_types import DataType
from ttnn.compiler.tools.ttrt.binary import Flatbuffer, SystemDesc

__all__ = [
    "DataType",
    "DebugEnv",
    "Device",
    "DeviceRuntime",
    "Event",
    "FabricConfig",
    "Tensor",
    "close_device",
    "close_mesh_device",
    "create_tensor",
    "get_available_runtimes",
    "get_current_runtime",
    "get_current_system_desc",
    "get_num_available_devices",
    "mesh_of",
    "open_device",
    "open_mesh_device",
    "opened",
    "set_compatible_runtime",
    "set_current_runtime",
    "set_fabric_config",
    "submit",
    "wait",
]


_ARRAYS: dict[DataType, Any] = {
    DataType.Float32: np.float32,
    DataType.Float16: np.float16,
    DataType.BFloat16: ml_dtypes.bfloat16,
    DataType.UInt32: np.uint32,
    DataType.UInt16: np.uint16,
    DataType.UInt8: np.uint8,
    DataType.Int32: np.int32,
}


class DeviceRuntime(Enum):
    """Executor of a binary."""

    Disabled = 0
    TTNN = 1
    TTMetal = 2


class FabricConfig(Enum):
    """Fabric of a mesh."""

    DISABLED = 0
    FABRIC_1D = 1
    FABRIC_1D_RING = 2
    FABRIC_2D = 3
    FABRIC_2D_TORUS_X = 4
    FABRIC_2D_TORUS_Y = 5
    FABRIC_2D_TORUS_XY = 6


class _Current:
    """The runtime that the process uses."""

    runtime: ClassVar[DeviceRuntime] = DeviceRuntime.TTNN


class DebugEnv:
    """Switches of the official runtime."""

    def __init__(self, load_kernels_from_disk: bool, enable_async_ttnn: bool) -> None:
        self.load_kernels_from_disk = load_kernels_from_disk
        self.enable_async_ttnn = enable_async_ttnn

    @staticmethod
    def get(load_kernels_from_disk: bool = False, enable_async_ttnn: bool = False) -> DebugEnv:
        """Return the switches.

        Args:
            load_kernels_from_disk: Not supported: kernels of binaries are executed from the binary.
            enable_async_ttnn: Accepted. Programs run synchronously, which no result depends on.

        Raises:
            UnsupportedError: `load_kernels_from_disk` is set.
        """
        if load_kernels_from_disk:
            raise UnsupportedError("load_kernels_from_disk: kernels are executed from the binary, there are no files.")
        return DebugEnv(load_kernels_from_disk, enable_async_ttnn)

    def __str__(self) -> str:
        switches = f"load_kernels_from_disk={self.load_kernels_from_disk}, enable_async_ttnn={self.enable_async_ttnn}"
        return f"DebugEnv({switches})"


class Device:
    """An open device.

    Attributes:
        device: The device of `ttnn`.
        transfers: Copies and conversions of inputs and outputs since it was opened.
        observe: Is told each call of a program.
    """

    def __init__(self, device: Any) -> None:
        self.device = device
        self.transfers = Transfers()
        self.observe: Observer | None = None
        self._kept: list[Any] = []

    def keep(self, tensors: Sequence[Any]) -> None:
        """Keep what a program has left on the device, until `deallocate_buffers`."""
        self._kept += tensors

    def deallocate_buffers(self) -> None:
        """Free the buffers that programs have left."""
        for tensor in self._kept:
            if tensor.storage_type() == ttnn.StorageType.DEVICE:
                ttnn.deallocate(tensor)
        self._kept.clear()


class Event:
    """A submitted program's end, already reached.

    Programs run when they are submitted.
    """


class Tensor:
    """Memory of the creator, with a shape and a data type.

    Attributes:
        array: The elements.
        data_type: Their type.
    """

    def __init__(self, array: NDArray[Any], data_type: DataType) -> None:
        self.array = array
        self.data_type = data_type


def create_tensor(ptr: int, shape: Sequence[int], stride: Sequence[int], itemsize: int, data_type: DataType) -> Tensor:
    """Return a tensor that borrows memory.

    Args:
        ptr: Address of the first element.
        shape: Sizes.
        stride: Distances of neighbours in elements.
        itemsize: Bytes of an element.
        data_type: Type of an element.

    Raises:
        DTypeError: `itemsize` is not that of the type, or the type has no arrays.
        ParameterError: Negative sizes or strides.
        ShapeError: Not as many strides as sizes.
    """
    if data_type not in _ARRAYS:
        raise DTypeError(f"create_tensor: {data_type!r} has no arrays; there are {', '.join(t.name for t in _ARRAYS)}.")
    dtype = np.dtype(_ARRAYS[data_type])
    if dtype.itemsize != itemsize:
        raise DTypeError(f"create_tensor: an element of {data_type.name} has {dtype.itemsize} bytes, got {itemsize}.")
    if len(shape) != len(stride):
        raise ShapeError(f"create_tensor: {len(shape)} sizes and {len(stride)} strides.")
    if any(size < 0 for size in [*shape, *stride]):
        raise ParameterError(f"create_tensor: sizes {list(shape)} and strides {list(stride)} must not be negative.")
    count = 0 if 0 in shape else 1 + sum((size - 1) * step for size, step in zip(shape, stride, strict=True))
    memory: Any = (ctypes.c_uint8 * (count * itemsize)).from_address(ptr) if count else bytearray()
    flat: NDArray[Any] = np.frombuffer(memory, dtype=dtype)
    return Tensor(np.lib.stride_tricks.as_strided(flat, shape, [step * itemsize for step in stride]), data_type)


def get_current_runtime() -> DeviceRuntime:
    """Return what executes binaries."""
    return _Current.runtime


def get_available_runtimes() -> list[DeviceRuntime]:
    """Return what there is to execute binaries."""
    return [DeviceRuntime.TTNN, DeviceRuntime.TTMetal]


def set_current_runtime(runtime: DeviceRuntime) -> None:
    """Choose what executes binaries."""
    _Current.runtime = runtime


def set_compatible_runtime(binary: Flatbuffer) -> None:
    """Choose what executes a binary, by its kind."""
    _Current.runtime = DeviceRuntime.TTMetal if binary.file_identifier == "TTM0" else DeviceRuntime.TTNN


def get_current_system_desc() -> tuple[SystemDesc, list[int]]:
    """Return the simulated system's descriptor and device numbers."""
    system = current_system()
    content = descriptors.make_binary(system, ttnn.__version__)
    return SystemDesc(content), list(range(len(system.chip_indices)))


def get_num_available_devices() -> int:
    """Return the number of chips of the simulated system."""
    return len(current_system().chip_indices)


def open_device(device_ids: Sequence[int], num_hw_cqs: int = 1) -> Device:
    """Return an open device with empty memory.

    Args:
        device_ids: Numbers of chips; several are a mesh of one row, of all chips of the system.
        num_hw_cqs: Command queues.

    Raises:
        ParameterError: No chip is named.
        UnsupportedError: A part of several chips.
    """
    if not device_ids:
        raise ParameterError("open_device: at least one chip is needed.")
    if len(device_ids) == 1:
        return Device(ttnn.open_device(device_id=device_ids[0], num_command_queues=num_hw_cqs))
    if sorted(device_ids) != list(range(get_num_available_devices())):
        raise UnsupportedError(
            f"open_device: one chip or all of the system are opened, got {list(device_ids)}; use open_mesh_device."
        )
    return open_mesh_device((1, len(device_ids)), num_hw_cqs)


def open_mesh_device(mesh_shape: Sequence[int], num_hw_cqs: int = 1) -> Device:
    """Return an open mesh with empty memory.

    Args:
        mesh_shape: Rows and columns of chips.
        num_hw_cqs: Command queues.

    Raises:
        DeviceError: The system has no such mesh.
    """
    return Device(ttnn.open_mesh_device(ttnn.MeshShape(*mesh_shape), num_command_queues=num_hw_cqs))


def set_fabric_config(config: FabricConfig) -> None:
    """Set the fabric of meshes that are opened from now on.

    Raises:
        FabricError: A device is open, or another fabric is set.
    """
    ttnn.set_fabric_config(getattr(ttnn.FabricConfig, config.name))


def close_device(device: Device) -> None:
    """Close a device: its memory is given back."""
    device.deallocate_buffers()
    ttnn.close_mesh_device(device.device)


def close_mesh_device(device: Device) -> None:
    """Close a mesh, as `close_device`."""
    close_device(device)


@contextmanager
def opened(mesh_shape: Sequence[int], fabric: FabricConfig) -> Iterator[Device]:
    """Open a mesh for a program; several chips have a fabric.

    Args:
        mesh_shape: Rows and columns of chips.
        fabric: Its fabric.

    Raises:
        DeviceError: The system has no such mesh.
    """
    exchanges = math.prod(mesh_shape) > 1 and fabric is not FabricConfig.DISABLED
    if exchanges:
        set_fabric_config(fabric)
    try:
        device = open_mesh_device(mesh_shape)
        try:
            yield device
        finally:
            close_device(device)
    finally:
        if exchanges:
            set_fabric_config(FabricConfig.DISABLED)


def mesh_of(binary: Flatbuffer, program_index: int) -> tuple[int, int]:
    """Return rows and columns of the mesh on which a program runs."""
    if binary.file_identifier == "TTM0":
        return 1, 1
    listed = _programs(binary)
    return listed[program_index].mesh if 0 <= program_index < len(listed) else (1, 1)


_PROGRAMS: dict[int, tuple[Any, list[Program]]] = {}


def _programs(binary: Flatbuffer) -> list[Program]:
    """The programs of a binary, translated once."""
    key = id(binary.content)
    if key not in _PROGRAMS:
        _PROGRAMS.clear()
        _PROGRAMS[key] = binary.content, programs(binary.content)
    return _PROGRAMS[key][1]


def _values(tensor: Any) -> NDArray[Any]:
    """Return the numbers of an output; bfloat16 holds those of block formats."""
    found: NDArray[Any] = ttnn.to_numpy(tensor)
    if tensor.dtype in (ttnn.bfloat8_b, ttnn.bfloat4_b):
        return found.astype(ml_dtypes.bfloat16)
    return found


def submit(
    device: Device,
    executable: Flatbuffer,
    program_index: int,
    inputs: Sequence[Tensor],
    outputs: Sequence[Tensor],
    *,
    allow_files: bool = False,
) -> Event:
    """Run a program from input tensors to output tensors.

    Inputs are read from the memory of their tensors, outputs written to theirs.

    The memory of inputs and outputs in block formats is one of bfloat16.

    Args:
        device: Where it runs.
        executable: The binary.
        program_index: Number of the program.
        inputs: A tensor for each input.
        outputs: A tensor for each output.
        allow_files: Whether the program may read and write files outside of the working folder.

    Raises:
        FileAccessError: The binary names a file outside of the working folder.
        FileFormatError: The binary has no program of that number.
        ShapeError: Inputs or outputs of other shapes than the program's.
        DTypeError: An output of another data type than the program's.
    """
    if executable.file_identifier == "TTM0":
        arrays = [np.array(one.array, order="C") for one in inputs]
        results: list[NDArray[Any]] = run_metal(executable.content, program_index, arrays, device.device)
    else:
        listed = _programs(executable)
        if not 0 <= program_index < len(listed):
            raise FileFormatError(f"the binary has programs 0 to {len(listed) - 1}, got {program_index}.")
        tensors = [ttnn.from_torch(np.array(one.array, order="C")) for one in inputs]
        made = execute(
            listed[program_index],
            tensors,
            device.device,
            device.transfers,
            device.observe,
            allow_files=allow_files,
        )
        device.keep(made)
        results = [_values(one) for one in made]
    if len(outputs) != len(results):
        raise ParameterError(
            f"program {program_index} has {len(results)} outputs, got {len(outputs)} tensors for them."
        )
    for index, (target, result) in enumerate(zip(outputs, results, strict=True)):
        if target.array.shape != result.shape and math.prod(target.array.shape) != math.prod(result.shape):
            raise ShapeError(f"output {index} has the shape {result.shape}, got memory for {target.array.shape}.")
        if target.array.dtype != result.dtype:
            raise DTypeError(f"output {index} is {result.dtype}, got memory for {target.array.dtype}.")
        target.array[...] = result.reshape(target.array.shape)
    return Event()


def wait(event: Event) -> None:
    """Wait for the end of a program."""
