"""Programs as the official Python package describes them, and `ttnn.generic_op`, which runs them.

`KernelDescriptor.kernel_source` is a Python function here; sources in C++ are refused.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ttnn.core_range import CoreCoord, CoreLike, CoreRangeSet, as_core
from ttnn.exceptions import ArgumentError, ProgramConfigError, StorageError, UnsupportedError, fatal
from ttnn.mesh_device import MeshDevice
from ttnn.metal.buffers import Buffer
from ttnn.metal.configs import (
    NOC_0,
    NOC_1,
    CircularBufferConfig,
    ComputeConfig,
    DataFormat,
    DataMovementConfig,
    format_code,
)
from ttnn.metal.program import Program, create_circular_buffer, create_kernel, set_runtime_args
from ttnn.metal.queues import run_program
from ttnn.metal.report import Report
from ttnn.tensor import Tensor
from ttnn.tile import Tile
from ttnn.types import (
    NOC,
    NOC_MODE,
    BufferType,
    CoreType,
    DataMovementProcessor,
    DataType,
    MathFidelity,
    UnpackToDestMode,
)

__all__ = [
    "CBDescriptor",
    "CBFormatDescriptor",
    "ComputeConfigDescriptor",
    "DataMovementConfigDescriptor",
    "KernelDescriptor",
    "ProgramDescriptor",
    "ReaderConfigDescriptor",
    "RuntimeArgs",
    "SemaphoreDescriptor",
    "TileDescriptor",
    "WriterConfigDescriptor",
    "cb_descriptor_from_sharded_tensor",
    "generic_op",
    "merge_program_descriptors",
    "program_from_descriptor",
]


class RuntimeArgs:
    """Runtime arguments by core: `args[x][y] = [...]`, or `args.append(core, values)`."""

    def __init__(self) -> None:
        self._rows: dict[tuple[int, int], list[int]] = {}

    def __getitem__(self, x: int) -> _Column:
        return _Column(self._rows, x)

    def append(self, core: CoreLike, values: Sequence[int]) -> None:
        """Set the arguments of a core."""
        place = as_core(core)
        self._rows[place.x, place.y] = list(values)

    def to_list(self) -> list[tuple[CoreCoord, list[int]]]:
        """Return cores with their arguments."""
        return [(CoreCoord(x, y), list(values)) for (x, y), values in self._rows.items()]


class _Column:
    """The arguments of one column of cores."""

    def __init__(self, rows: dict[tuple[int, int], list[int]], x: int) -> None:
        self._rows, self._x = rows, x

    def __getitem__(self, y: int) -> list[int]:
        return self._rows.setdefault((self._x, y), [])

    def __setitem__(self, y: int, values: Sequence[int]) -> None:
        self._rows[self._x, y] = list(values)


class ReaderConfigDescriptor:
    """A reader: NCRISC and NoC 0."""


class WriterConfigDescriptor:
    """A writer: BRISC and NoC 1."""


class DataMovementConfigDescriptor:
    """A data-movement kernel of one's own choice."""

    def __init__(
        self,
        processor: DataMovementProcessor = DataMovementProcessor.RISCV_0,
        noc: NOC = NOC.RISCV_0_default,
        noc_mode: NOC_MODE = NOC_MODE.DM_DEDICATED_NOC,
    ) -> None:
        self.processor = processor
        self.noc = noc
        self.noc_mode = noc_mode


class ComputeConfigDescriptor:
    """A compute kernel."""

    def __init__(
        self,
        math_fidelity: MathFidelity = MathFidelity.HiFi4,
        math_approx_mode: bool = False,
        fp32_dest_acc_en: bool = False,
        dst_full_sync_en: bool = False,
        bfp8_pack_precise: bool = False,
    ) -> None:
        self.math_fidelity = math_fidelity
        self.math_approx_mode = math_approx_mode
        self.fp32_dest_acc_en = fp32_dest_acc_en
        self.dst_full_sync_en = dst_full_sync_en
        self.bfp8_pack_precise = bfp8_pack_precise
        self.unpack_to_dest_mode: list[UnpackToDestMode] = []


Config = ReaderConfigDescriptor | WriterConfigDescriptor | DataMovementConfigDescriptor | ComputeConfigDescriptor | None


class KernelDescriptor:
    """A kernel: a Python function, its cores, arguments and configuration."""

    class SourceType(enum.Enum):
        """What `kernel_source` is in the official package; a function needs neither."""

        FILE_PATH = 0
        SOURCE_CODE = 1

    def __init__(
        self,
        kernel_source: Callable[[], object] | None = None,
        source_type: SourceType = SourceType.FILE_PATH,
        core_ranges: CoreRangeSet | None = None,
        compile_time_args: Sequence[int] = (),
        named_compile_time_args: Sequence[tuple[str, int]] = (),
        defines: Sequence[tuple[str, str]] = (),
        runtime_args: Any = (),
        common_runtime_args: Sequence[int] = (),
        opt_level: object = None,
        config: Config = None,
    ) -> None:
        self.kernel_source = kernel_source
        self.source_type = source_type
        self.core_ranges = core_ranges or CoreRangeSet()
        self.compile_time_args = list(compile_time_args)
        self.named_compile_time_args = list(named_compile_time_args)
        self.defines = list(defines)
        self.runtime_args = runtime_args
        self.common_runtime_args = list(common_runtime_args)
        self.opt_level = opt_level
        self.config = config


class TileDescriptor:
    """The tile of a circular buffer."""

    def __init__(self, height: int | Tile = 32, width: int = 32, transpose: bool = False) -> None:
        if isinstance(height, Tile):
            height, width = height.tile_shape
        self.height, self.width, self.transpose = height, width, transpose


class CBFormatDescriptor:
    """One index of a circular buffer: format, page size and tile."""

    def __init__(
        self,
        buffer_index: int = 0,
        data_format: DataFormat | DataType = DataFormat.Float16_b,
        page_size: int = 0,
        tile: TileDescriptor | None = None,
    ) -> None:
        self.buffer_index = buffer_index
        self.data_format = data_format
        self.page_size = page_size
        self.tile = tile

    @property
    def data_format_as_uint8(self) -> int:
        """Return the chip's code of the format."""
        return format_code(self.data_format)


class CBDescriptor:
    """A circular buffer: its size, cores and indices."""

    def __init__(
        self,
        total_size: int = 0,
        core_ranges: CoreRangeSet | None = None,
        format_descriptors: Sequence[CBFormatDescriptor] = (),
    ) -> None:
        self.total_size = total_size
        self.core_ranges = core_ranges or CoreRangeSet()
        self.format_descriptors = list(format_descriptors)
        self.remote_format_descriptors: list[CBFormatDescriptor] = []
        self.address_offset = 0
        self._buffer: Buffer | None = None

    def has_buffer(self) -> bool:
        """Return whether it lies in a tensor's memory."""
        return self._buffer is not None

    def buffer_address(self) -> int | None:
        """Return the address of the tensor's memory, if it lies there."""
        return None if self._buffer is None else self._buffer.address()

    def set_buffer_from_cb(self, other: CBDescriptor) -> None:
        """Let it lie where another one does."""
        self._buffer = other._buffer


class SemaphoreDescriptor:
    """A semaphore of the program."""

    def __init__(
        self,
        id: int = 0,
        core_type: CoreType = CoreType.WORKER,
        core_ranges: CoreRangeSet | None = None,
        initial_value: int = 0,
    ) -> None:
        if core_type not in (CoreType.WORKER, CoreType.TENSIX):
            raise UnsupportedError(f"SemaphoreDescriptor: semaphores on {core_type} cores are not modelled")
        self._id = id
        self.core_type = core_type
        self.core_ranges = core_ranges or CoreRangeSet()
        self.initial_value = initial_value

    @property
    def id(self) -> int:
        """Return its number."""
        return self._id


class ProgramDescriptor:
    """Kernels, semaphores and circular buffers."""

    def __init__(
        self,
        kernels: Sequence[KernelDescriptor] = (),
        semaphores: Sequence[SemaphoreDescriptor] = (),
        cbs: Sequence[CBDescriptor] = (),
    ) -> None:
        self.kernels = list(kernels)
        self.semaphores = list(semaphores)
        self.cbs = list(cbs)
        self.custom_program_hash: int | None = None


def merge_program_descriptors(descriptors: Sequence[ProgramDescriptor]) -> ProgramDescriptor:
    """Return one program with the parts of several."""
    merged = ProgramDescriptor()
    for descriptor in descriptors:
        merged.kernels += descriptor.kernels
        merged.semaphores += descriptor.semaphores
        merged.cbs += descriptor.cbs
    return merged


def cb_descriptor_from_sharded_tensor(
    cb_index: int,
    tensor: Tensor,
    address_offset: int = 0,
    total_size: int = 0,
    core_ranges: CoreRangeSet | None = None,
) -> CBDescriptor:
    """Return a circular buffer whose pages are those of a tensor sharded over L1.

    Raises:
        UnsupportedError: it is to start inside the shard.
        StorageError: the tensor is not sharded over L1.
    """
    memory = tensor._require_device("cb_descriptor_from_sharded_tensor", "the tensor")
    shard = tensor.memory_config().shard_spec
    if shard is None or BufferType(memory.buffer_type) is not BufferType.L1:
        raise StorageError("cb_descriptor_from_sharded_tensor: the tensor is not sharded over L1")
    if address_offset:
        raise UnsupportedError("cb_descriptor_from_sharded_tensor: address_offset is not modelled", "unimplemented")
    page = memory.aligned_page_bytes
    form = CBFormatDescriptor(cb_index, tensor.dtype, page)
    descriptor = CBDescriptor(total_size or memory.bytes_per_bank // page * page, core_ranges or shard.grid, [form])
    descriptor._buffer = Buffer(_device(tensor), memory, sharded=True)
    return descriptor


def _device(tensor: Tensor) -> MeshDevice:
    device = tensor.device()
    if device is None:
        raise StorageError("generic_op: the tensor is not on a device")
    return device


def _config(descriptor: KernelDescriptor) -> DataMovementConfig | ComputeConfig:
    common: dict[str, Any] = {
        "compile_args": descriptor.compile_time_args,
        "defines": dict(descriptor.defines),
        "named_compile_args": dict(descriptor.named_compile_time_args),
    }
    config = descriptor.config
    if isinstance(config, ReaderConfigDescriptor):
        return DataMovementConfig(processor=DataMovementProcessor.RISCV_1, noc=NOC_0, **common)
    if isinstance(config, WriterConfigDescriptor):
        return DataMovementConfig(processor=DataMovementProcessor.RISCV_0, noc=NOC_1, **common)
    if isinstance(config, DataMovementConfigDescriptor):
        return DataMovementConfig(processor=config.processor, noc=config.noc, **common)
    if isinstance(config, ComputeConfigDescriptor):
        return ComputeConfig(
            math_fidelity=config.math_fidelity,
            fp32_dest_acc_en=config.fp32_dest_acc_en,
            dst_full_sync_en=config.dst_full_sync_en,
            unpack_to_dest_mode=config.unpack_to_dest_mode,
            bfp8_pack_precise=config.bfp8_pack_precise,
            math_approx_mode=config.math_approx_mode,
            **common,
        )
    raise ArgumentError(f"KernelDescriptor: config must be one of the config descriptors, got {config!r}")


def _arguments(given: Any) -> Iterator[tuple[CoreCoord, Sequence[int]]]:
    """Yield cores and arguments, from `RuntimeArgs`, pairs, or nested lists by x and y."""
    if isinstance(given, RuntimeArgs):
        yield from given.to_list()
        return
    for x, entry in enumerate(given):
        if isinstance(entry, tuple) and len(entry) == 2 and not isinstance(entry[0], (list, int)):
            yield as_core(entry[0]), entry[1]
            continue
        for y, values in enumerate(entry):
            if values:
                yield CoreCoord(x, y), values


def program_from_descriptor(descriptor: ProgramDescriptor) -> Program:
    """Return the program that a descriptor describes.

    Raises:
        UnsupportedError: a kernel in C++.
        ArgumentError, MemoryConfigError, KernelArgumentError: parts that contradict each other.
    """
    program = Program()
    for cb in descriptor.cbs:
        config = CircularBufferConfig(cb.total_size)
        for form in cb.format_descriptors:
            config.set_data_format(form.buffer_index, form.data_format)
            config.set_page_size(form.buffer_index, form.page_size)
            if form.tile is not None:
                config.set_tile_dims(form.buffer_index, Tile((form.tile.height, form.tile.width)))
        config.buffer = cb._buffer
        create_circular_buffer(program, cb.core_ranges, config)
    for semaphore in descriptor.semaphores:
        program.semaphores.append((semaphore.id, semaphore.core_ranges, semaphore.initial_value))
    for kernel in descriptor.kernels:
        if not callable(kernel.kernel_source):
            raise UnsupportedError(
                "generic_op: kernel_source must be a Python function over ttnn.kernel_api; C++ sources are not built",
                "unimplemented",
            )
        added = create_kernel(program, kernel.kernel_source, kernel.core_ranges, _config(kernel))
        added.common_args = list(kernel.common_runtime_args)
        for core, values in _arguments(kernel.runtime_args):
            set_runtime_args(program, added, core, values)
    return program


def generic_op(io_tensors: Sequence[Tensor], program_descriptor: ProgramDescriptor) -> Tensor:
    """Run a program and return the last tensor, which it writes.

    Args:
        io_tensors: Inputs, then the output; all on one device.
        program_descriptor: The program; kernels are Python functions.

    Raises:
        ProgramConfigError: fewer than two tensors.
        StorageError: a tensor is not on a device.
        KernelError: the program failed.
    """
    if len(io_tensors) < 2:
        sentence = "io_tensors must contain at least one input tensor and one output tensor"
        raise fatal(ProgramConfigError, f"generic_op: {len(io_tensors)} tensors", sentence)
    for tensor in io_tensors:
        tensor._require_device("generic_op", "every tensor of io_tensors")
    output = io_tensors[-1]
    generic_op_report(output, program_descriptor)
    return output


def generic_op_report(output: Tensor, program_descriptor: ProgramDescriptor) -> Report:
    """Run a program on the device of a tensor and return its report."""
    return run_program(_device(output), program_from_descriptor(program_descriptor))
