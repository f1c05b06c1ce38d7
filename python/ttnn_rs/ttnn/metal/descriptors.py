"""Programs as the official Python package describes them. `ttnn.generic_op` runs them.

`KernelDescriptor.kernel_source` is a Python function, or file or text of C++ or of Python with a `kernel_main`.
"""

from __future__ import annotations

import enum
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from numbers import Integral
from pathlib import Path
from typing import Any, TypeVar

from ttnn.base.core_range import NOC_GRID, CoreCoord, CoreLike, CoreRangeSet, as_core, check_in_grid
from ttnn.base.enums import (
    NOC,
    NOC_MODE,
    BufferType,
    CoreType,
    DataMovementProcessor,
    DataType,
    MathFidelity,
    UnpackToDestMode,
)
from ttnn.base.exceptions import ArgumentError, ProgramConfigError, StorageError, UnsupportedError
from ttnn.base.tile import Tile
from ttnn.device.coordinates import MeshCoordinateRange
from ttnn.device.mesh_device import MeshDevice
from ttnn.metal.buffers import Buffer
from ttnn.metal.configs import DataFormat, KernelBuildOptLevel, format_code
from ttnn.metal.global_circular_buffer import GlobalCircularBuffer
from ttnn.tensor.shard_distribution import distribution_of
from ttnn.tensor.tensor import Tensor

__all__ = [
    "CBDescriptor",
    "CBFormatDescriptor",
    "ComputeConfigDescriptor",
    "DataMovementConfigDescriptor",
    "FaceGeometry",
    "KernelDescriptor",
    "MeshProgramDescriptor",
    "ProgramDescriptor",
    "ReaderConfigDescriptor",
    "RuntimeArgs",
    "SemaphoreDescriptor",
    "TileDescriptor",
    "WriterConfigDescriptor",
    "cb_descriptor_from_sharded_tensor",
    "get_cb_address",
    "merge_program_descriptors",
]


class RuntimeArgs:
    """Runtime arguments by core: `args[x][y] = [...]`, or `args.append(core, values)`."""

    def __init__(self) -> None:
        self._rows: dict[tuple[int, int], list[int]] = {}

    def __getitem__(self, x: int) -> _Column:
        return _Column(self._rows, _coordinate("x", x))

    def append(self, core: CoreLike, values: Sequence[int]) -> None:
        """Set the arguments of a core."""
        place = as_core(core)
        self._rows[place.x, place.y] = list(values)

    def clear(self) -> None:
        """Clear the arguments of all cores."""
        self._rows.clear()

    def get(self, idx: int) -> tuple[CoreCoord, list[int]]:
        """Return the core that was set as the `idx`-th, with its arguments.

        Raises:
            ArgumentError: so many cores have not been set.
        """
        rows = self.to_list()
        if isinstance(idx, bool) or not isinstance(idx, int) or not 0 <= idx < len(rows):
            raise ArgumentError(f"RuntimeArgs.get: entry {idx!r} of {len(rows)} does not exist")
        return rows[idx]

    def to_list(self) -> list[tuple[CoreCoord, list[int]]]:
        """Return cores with their arguments."""
        return [(CoreCoord(x, y), list(values)) for (x, y), values in self._rows.items()]

    def __len__(self) -> int:
        return len(self._rows)


def _coordinate(axis: str, value: object) -> int:
    """Return a coordinate of a core.

    Raises:
        ArgumentError: it is no number from 0.
    """
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ArgumentError(f"RuntimeArgs[x][y]: {axis} is the coordinate of a core, got {value!r}")
    return value


class _Column:
    """The arguments of one column of cores."""

    def __init__(self, rows: dict[tuple[int, int], list[int]], x: int) -> None:
        self._rows, self._x = rows, x

    def __getitem__(self, y: int) -> list[int]:
        return self._rows.setdefault((self._x, _coordinate("y", y)), [])

    def __setitem__(self, y: int, values: Sequence[int]) -> None:
        if not isinstance(values, Iterable):
            raise ArgumentError(f"RuntimeArgs[x][y]: expected a list of numbers, got {type(values).__name__}")
        self._rows[self._x, _coordinate("y", y)] = list(values)

    def append(self, y: int, value: int) -> None:
        """Add an argument to those of a core."""
        self[y].append(value)

    def extend(self, y: int, values: Sequence[int]) -> None:
        """Add arguments to those of a core."""
        self[y].extend(values)


Kind = TypeVar("Kind")


def required(where: str, value: object, kind: type[Kind]) -> Kind:
    """Return `value`, which must be of a kind.

    Raises:
        ArgumentError: it is of another one.
    """
    if not isinstance(value, kind):
        raise ArgumentError(f"{where}: expected {kind.__name__}, got {type(value).__name__}")
    return value


def listed(where: str, values: object, kind: type) -> list[Any]:
    """Return a list of `values`, all of one kind.

    Raises:
        ArgumentError: it is no sequence, or has something else in it.
    """
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise ArgumentError(f"{where}: expected a sequence of {kind.__name__}, got {type(values).__name__}")
    return [required(where, value, kind) for value in values]


def _cores(owner: str, cores: CoreRangeSet | None) -> CoreRangeSet:
    return CoreRangeSet() if cores is None else required(f"{owner}: core_ranges", cores, CoreRangeSet)


class ReaderConfigDescriptor:
    """A reader: NCRISC and NoC 0."""


class WriterConfigDescriptor:
    """A writer: BRISC and NoC 1."""


class DataMovementConfigDescriptor:
    """A data movement kernel on a processor and NoC."""

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
        enable_trisc2_rvv: bool = False,
    ) -> None:
        if required("ComputeConfigDescriptor: enable_trisc2_rvv", enable_trisc2_rvv, bool):
            raise UnsupportedError("ComputeConfigDescriptor: enable_trisc2_rvv needs a chip with vector extensions")
        self.math_fidelity = math_fidelity
        self.math_approx_mode = math_approx_mode
        self.fp32_dest_acc_en = fp32_dest_acc_en
        self.dst_full_sync_en = dst_full_sync_en
        self.bfp8_pack_precise = bfp8_pack_precise
        self.enable_trisc2_rvv = enable_trisc2_rvv
        self.unpack_to_dest_mode: list[UnpackToDestMode] = []


Config = ReaderConfigDescriptor | WriterConfigDescriptor | DataMovementConfigDescriptor | ComputeConfigDescriptor | None


class KernelDescriptor:
    """A kernel: its source, cores, arguments and configuration.

    Args:
        kernel_source: A Python function, the path of a file, or with `SourceType.SOURCE_CODE` a text. File and text
            are C++, or Python that defines `kernel_main`.
        source_type: What a string is.
        core_ranges: Where it runs.
        compile_time_args: Compile-time arguments by position.
        named_compile_time_args: Pairs of name and value.
        defines: Pairs of name and text.
        runtime_args: `RuntimeArgs`, a list of pairs of core and arguments, or lists by x and y.
        common_runtime_args: Arguments that all cores share.
        opt_level: Changes nothing: C++ kernels are compiled at one level.
        config: One of the config descriptors.
        compiler_include_paths: Folders in which headers of a C++ source are looked for.
        blaze_named_compile_time_args: Only empty.

    Raises:
        UnsupportedError: `blaze_named_compile_time_args`.
    """

    class SourceType(enum.Enum):
        """The meaning of a `kernel_source` string; not needed for a function."""

        FILE_PATH = 0
        SOURCE_CODE = 1

    def __init__(
        self,
        kernel_source: Callable[[], object] | str | None = None,
        source_type: SourceType = SourceType.FILE_PATH,
        core_ranges: CoreRangeSet | None = None,
        compile_time_args: Sequence[int] = (),
        named_compile_time_args: Sequence[tuple[str, int]] = (),
        defines: Sequence[tuple[str, str]] = (),
        runtime_args: Any = (),
        common_runtime_args: Sequence[int] = (),
        opt_level: KernelBuildOptLevel | None = None,
        config: Config = None,
        compiler_include_paths: Sequence[str | os.PathLike[str]] = (),
        *,
        blaze_named_compile_time_args: Sequence[tuple[str, int]] = (),
    ) -> None:
        if listed("KernelDescriptor: blaze_named_compile_time_args", blaze_named_compile_time_args, object):
            raise UnsupportedError(
                "KernelDescriptor: blaze_named_compile_time_args is not modelled; use named_compile_time_args"
            )
        self.kernel_source = kernel_source
        self.source_type = source_type
        self.core_ranges = _cores("KernelDescriptor", core_ranges)
        self.compile_time_args: list[int] = listed("KernelDescriptor: compile_time_args", compile_time_args, object)
        self.named_compile_time_args: list[tuple[str, int]] = listed(
            "KernelDescriptor: named_compile_time_args", named_compile_time_args, object
        )
        self.defines: list[tuple[str, str]] = listed("KernelDescriptor: defines", defines, object)
        self.runtime_args = runtime_args
        self.common_runtime_args: list[int] = listed(
            "KernelDescriptor: common_runtime_args", common_runtime_args, object
        )
        self.opt_level = opt_level
        self.config = config
        paths = listed("KernelDescriptor: compiler_include_paths", compiler_include_paths, object)
        for path in paths:
            if not isinstance(path, (str, os.PathLike)):
                raise ArgumentError(f"KernelDescriptor: compiler_include_paths: expected a path, got {path!r}")
        self.compiler_include_paths = [Path(path) for path in paths]

    @property
    def runtime_args(self) -> RuntimeArgs:
        """Arguments by core: `kernel.runtime_args[x][y]` is a list that may be changed."""
        return self._runtime_args

    @runtime_args.setter
    def runtime_args(self, given: Any) -> None:
        own = given if isinstance(given, RuntimeArgs) else RuntimeArgs()
        if own is not given:
            for core, values in arguments(given):
                own.append(core, values)
        self._runtime_args: RuntimeArgs = own

    def append_common_runtime_args_from(self, other: KernelDescriptor) -> None:
        """Add the common arguments of another kernel to its own."""
        self.common_runtime_args += other.common_runtime_args

    def append_runtime_args_from(self, other: KernelDescriptor) -> None:
        """Add another kernel's arguments per core to its own."""
        own = RuntimeArgs()
        for kernel in (self, other):
            for core, values in arguments(kernel.runtime_args):
                own[core.x][core.y].extend(values)
        self.runtime_args = own

    def clear_runtime_args(self) -> None:
        """Clear the arguments of all cores."""
        self.runtime_args = RuntimeArgs()

    def extend_runtime_args_uniform(self, values: Sequence[int]) -> None:
        """Add the same arguments on every core of the kernel."""
        own = RuntimeArgs()
        for core, known in arguments(self.runtime_args):
            own[core.x][core.y].extend(known)
        check_in_grid("KernelDescriptor: core_ranges have", self.core_ranges, NOC_GRID, "largest grid of a chip")
        for core in self.core_ranges.cores():
            own[core.x][core.y].extend(values)
        self.runtime_args = own


def arguments(given: Any) -> Iterator[tuple[CoreCoord, Sequence[int]]]:
    """Yield cores and arguments.

    From `RuntimeArgs`, pairs, or nested lists by x and y.
    """
    if isinstance(given, RuntimeArgs):
        # Reading the arguments of a core makes an empty list.
        yield from ((core, values) for core, values in given.to_list() if values)
        return
    for x, entry in enumerate(given):
        if isinstance(entry, tuple) and len(entry) == 2 and not isinstance(entry[0], (list, int)):
            yield as_core(entry[0]), entry[1]
            continue
        for y, values in enumerate(entry):
            if values:
                yield CoreCoord(x, y), values


class TileDescriptor:
    """The tile of a circular buffer."""

    height: int
    width: int
    transpose: bool

    def __init__(self, height: int | Tile | TileDescriptor = 32, width: int = 32, transpose: bool = False) -> None:
        if isinstance(height, Tile):
            self.height, self.width = height.tile_shape
            self.transpose = transpose
        elif isinstance(height, TileDescriptor):
            self.height, self.width, self.transpose = height.height, height.width, height.transpose
        else:
            self.height, self.width, self.transpose = height, width, transpose


class FaceGeometry:
    """Rows of a face and faces of a tile, derived from it."""

    def __init__(self, face_r_dim: int = 16, num_faces: int = 4) -> None:
        self.face_r_dim, self.num_faces = face_r_dim, num_faces


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
        self.face_geometry: FaceGeometry | None = None

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
        self.core_ranges = _cores("CBDescriptor", core_ranges)
        self.format_descriptors = listed("CBDescriptor: format_descriptors", format_descriptors, CBFormatDescriptor)
        self.remote_format_descriptors: list[CBFormatDescriptor] = []
        self.address_offset = 0
        self.buffer: Buffer | None = None
        self._global: GlobalCircularBuffer | None = None

    def has_buffer(self) -> bool:
        """Return whether it is backed by a tensor."""
        return self.buffer is not None

    def buffer_address(self) -> int | None:
        """Return the tensor's memory address, if the buffer is in one."""
        return None if self.buffer is None else self.buffer.address() + self.address_offset

    def set_buffer_from_cb(self, other: CBDescriptor) -> None:
        """Back it by the memory of another one."""
        self.buffer = other.buffer

    def has_global_circular_buffer(self) -> bool:
        """Return whether it is an end of a global circular buffer."""
        return self._global is not None

    def set_global_circular_buffer(self, global_circular_buffer: GlobalCircularBuffer) -> None:
        """Make it an end of a global circular buffer."""
        if not isinstance(global_circular_buffer, GlobalCircularBuffer):
            raise ArgumentError(f"CBDescriptor: expected a global circular buffer, got {global_circular_buffer!r}")
        self._global = global_circular_buffer

    def set_global_circular_buffer_from_cb(self, other: CBDescriptor) -> None:
        """Make it an end of another's global circular buffer."""
        self._global = other._global


class SemaphoreDescriptor:
    """A semaphore of the program."""

    def __init__(
        self,
        id: int = 0,
        core_type: CoreType = CoreType.WORKER,
        core_ranges: CoreRangeSet | None = None,
        initial_value: int = 0,
    ) -> None:
        if required("SemaphoreDescriptor: core_type", core_type, CoreType) not in (CoreType.WORKER, CoreType.TENSIX):
            raise UnsupportedError(f"SemaphoreDescriptor: semaphores on {core_type} cores are not modelled")
        self._id = id
        self.core_type = core_type
        self.core_ranges = _cores("SemaphoreDescriptor", core_ranges)
        self.initial_value = initial_value

    @property
    def id(self) -> int:
        """Return its id."""
        return self._id


class ProgramDescriptor:
    """Kernels, semaphores and circular buffers."""

    def __init__(
        self,
        kernels: Sequence[KernelDescriptor] = (),
        semaphores: Sequence[SemaphoreDescriptor] = (),
        cbs: Sequence[CBDescriptor] = (),
    ) -> None:
        self.kernels = listed("ProgramDescriptor: kernels", kernels, KernelDescriptor)
        self.semaphores = listed("ProgramDescriptor: semaphores", semaphores, SemaphoreDescriptor)
        self.cbs = listed("ProgramDescriptor: cbs", cbs, CBDescriptor)
        self.custom_program_hash: int | None = None
        self.reload_core_ranges = CoreRangeSet()
        self.reload_table_addr: int | None = None


class MeshProgramDescriptor:
    """Programs by the chips that run them."""

    def __init__(self, mesh_programs: dict[MeshCoordinateRange, ProgramDescriptor] | None = None) -> None:
        self.mesh_programs: dict[MeshCoordinateRange, ProgramDescriptor] = dict(
            required("MeshProgramDescriptor", {} if mesh_programs is None else mesh_programs, dict)
        )
        for device_range, descriptor in self.mesh_programs.items():
            self[device_range] = descriptor

    def __setitem__(self, device_range: MeshCoordinateRange, descriptor: ProgramDescriptor) -> None:
        if not isinstance(device_range, MeshCoordinateRange) or not isinstance(descriptor, ProgramDescriptor):
            raise ArgumentError(
                f"MeshProgramDescriptor: expected a ProgramDescriptor by MeshCoordinateRange, got "
                f"{device_range!r}: {descriptor!r}"
            )
        self.mesh_programs[device_range] = descriptor

    def __getitem__(self, device_range: MeshCoordinateRange) -> ProgramDescriptor:
        found = self.mesh_programs.get(device_range)
        if found is None:
            raise ArgumentError(f"MeshProgramDescriptor: no program for {device_range!r}")
        return found


def merge_program_descriptors(descriptors: Sequence[ProgramDescriptor]) -> ProgramDescriptor:
    """Return one program with the parts of several.

    Raises:
        ProgramConfigError: kernels of two of them have a core in common.
    """
    merged = ProgramDescriptor()
    taken: dict[tuple[int, int], int] = {}
    for index, descriptor in enumerate(listed("merge_program_descriptors", descriptors, ProgramDescriptor)):
        for kernel in descriptor.kernels:
            for core in kernel.core_ranges.cores():
                if taken.setdefault((core.x, core.y), index) != index:
                    raise ProgramConfigError(
                        f"merge_program_descriptors: programs {taken[core.x, core.y]} and {index} both use core {core}",
                        vendor="Cannot merge ProgramDescriptors with overlapping kernel core ranges between descriptor "
                        f"{taken[core.x, core.y]} and {index}.",
                    )
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
    """Return a circular buffer whose pages are an L1 tensor's.

    Args:
        cb_index: The index.
        tensor: The tensor, sharded over L1.
        address_offset: Byte of the shard that the circular buffer starts at.
        total_size: Its bytes; 0 for the rest of the shard.
        core_ranges: Its cores; by default those of the tensor.

    Raises:
        StorageError: the tensor is not sharded over L1.
        ArgumentError: the offset is no multiple of a page, or beyond the shard.
    """
    required("cb_descriptor_from_sharded_tensor: tensor", tensor, Tensor)
    for name, number in (("cb_index", cb_index), ("address_offset", address_offset), ("total_size", total_size)):
        if not isinstance(number, Integral):
            raise ArgumentError(f"cb_descriptor_from_sharded_tensor: {name}: expected int, got {type(number).__name__}")
    memory = tensor._require_device("cb_descriptor_from_sharded_tensor", "the tensor")
    shard = tensor.memory_config().shard_spec
    if shard is None or BufferType(memory.buffer_type) is not BufferType.L1:
        raise StorageError("cb_descriptor_from_sharded_tensor: the tensor is not sharded over L1")
    page = memory.aligned_page_bytes
    whole = memory.bytes_per_bank // page * page
    if address_offset % page or not 0 <= address_offset < whole:
        raise ArgumentError(
            f"cb_descriptor_from_sharded_tensor: address_offset {address_offset} is not a page of {page} B inside the "
            f"shard of {whole} B"
        )
    form = CBFormatDescriptor(cb_index, tensor.dtype, page)
    descriptor = CBDescriptor(total_size or whole - address_offset, core_ranges or shard.grid, [form])
    descriptor.address_offset = address_offset
    device = device_of(tensor)
    descriptor.buffer = Buffer(device, memory, distribution_of(tensor.spec, device))
    return descriptor


def get_cb_address(descriptor: CBDescriptor) -> int:
    """Return the L1 address of a tensor-based or global circular buffer.

    Raises:
        StorageError: it has memory of its own, whose address only a running program has.
    """
    if required("get_cb_address", descriptor, CBDescriptor)._global is not None:
        assert descriptor._global is not None
        return descriptor._global.buffer_address()
    address = descriptor.buffer_address()
    if address is None:
        raise StorageError(
            "get_cb_address: the circular buffer is not in a tensor; it has an address only while it runs"
        )
    return address


def device_of(tensor: Tensor) -> MeshDevice:
    """Return the device of a tensor.

    Raises:
        StorageError: it is on the host.
    """
    device = tensor.device()
    if device is None:
        raise StorageError("generic_op: the tensor is not on a device")
    return device
