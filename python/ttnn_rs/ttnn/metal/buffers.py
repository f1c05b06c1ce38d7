"""Buffers: pages in DRAM or L1 that host and kernels share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ttnn import _engine
from ttnn.base.call import as_integer, shown
from ttnn.base.core_range import CoreCoord, CoreRangeSet, check_in_grid
from ttnn.base.enums import BufferType, ShardOrientation, TensorMemoryLayout
from ttnn.base.exceptions import ArgumentError, DeviceError, MemoryConfigError, UnsupportedError
from ttnn.device.coordinates import MeshCoordinate, SubDeviceId
from ttnn.device.mesh_device import MeshDevice
from ttnn.kernel_api.accessor_args import TensorAccessorArgs
from ttnn.tensor.shard_distribution import Distribution, distribution

__all__ = [
    "Buffer",
    "CreateBuffer",
    "DeallocateBuffer",
    "InterleavedBufferConfig",
    "ShardSpecBuffer",
    "ShardedBufferConfig",
    "TensorAccessorArgs",
    "create_buffer",
    "deallocate_buffer",
    "tilize_nfaces",
    "untilize_nfaces",
]


@dataclass(kw_only=True)
class InterleavedBufferConfig:
    """A buffer whose pages are interleaved over the banks."""

    device: MeshDevice
    size: int
    page_size: int
    buffer_type: BufferType = BufferType.DRAM


@dataclass
class ShardSpecBuffer:
    """A buffer's shards: shapes in elements, and its page matrix.

    Attributes:
        core_sets: Cores that have shards.
        shard_shape: Rows and columns of a shard.
        shard_orientation: Whether the next shard is on the next core of the row or of the column.
        page_shape: Rows and columns of a page.
        tensor2d_shape_in_pages: Rows and columns of pages that the whole buffer has.
    """

    core_sets: CoreRangeSet
    shard_shape: tuple[int, int]
    shard_orientation: ShardOrientation
    page_shape: tuple[int, int]
    tensor2d_shape_in_pages: tuple[int, int]


@dataclass(kw_only=True)
class ShardedBufferConfig:
    """A buffer whose pages, arranged as a matrix, are sharded over cores.

    Either as in C++, by `buffer_layout` and `shard_parameters`, or in short by rows and columns of pages that the whole
    and a shard have, and the cores. In DRAM a core is (bank, 0).
    """

    device: MeshDevice
    size: int
    page_size: int
    buffer_type: BufferType = BufferType.L1
    buffer_layout: TensorMemoryLayout = TensorMemoryLayout.HEIGHT_SHARDED
    shard_parameters: ShardSpecBuffer | None = None
    tensor_pages: tuple[int, int] | None = None
    shard_pages: tuple[int, int] | None = None
    cores: CoreRangeSet | Sequence[CoreCoord] | None = None


class Buffer:
    """An allocated buffer: one address, with contents on each chip."""

    def __init__(self, device: MeshDevice, memory: _engine.Buffer, shards: Distribution | None = None) -> None:
        self.device = device
        self.memory = memory
        self.distribution = shards
        """The pages of a sharded buffer, by core."""

    def address(self) -> int:
        """Return its address, the same in every bank.

        Raises:
            UnsupportedError: each core has an address of its own.
        """
        if self.memory.has_own_addresses:
            raise UnsupportedError(
                "Buffer.address(): each core has an address of its own; circular buffers on such shards are not "
                "implemented. Pass Tensor.experimental_per_core_buffer_address as run-time arguments.",
                "unimplemented",
            )
        return self.memory.address

    def size(self) -> int:
        """Return its bytes."""
        return self.memory.size

    def page_size(self) -> int:
        """Return the bytes of a page."""
        return self.memory.page_bytes

    def aligned_page_size(self) -> int:
        """Return the bytes from one page of a bank to the next."""
        return self.memory.aligned_page_bytes

    def num_pages(self) -> int:
        """Return the number of pages."""
        return self.memory.num_pages

    def buffer_type(self) -> BufferType:
        """Return its buffer type."""
        return BufferType(self.memory.buffer_type)

    def is_dram(self) -> bool:
        """Return whether it is in DRAM."""
        return self.buffer_type() in (BufferType.DRAM, BufferType.TRACE)

    def is_l1(self) -> bool:
        """Return whether it is in L1."""
        return not self.is_dram()

    def deallocate(self) -> None:
        """Free it.

        Raises:
            StorageError: it is free already.
        """
        self.memory.deallocate()

    def write(self, data: Any, coord: MeshCoordinate | None = None) -> None:
        """Write an array, bytes, or a list of 32-bit words.

        Args:
            data: The bytes.
            coord: The chip; default: all chips that the buffer is on.

        Raises:
            ArgumentError: there are more or fewer bytes than the buffer has.
            StorageError: it has been deallocated.
            DeviceError: the mesh has no such chip.
        """
        raw = as_bytes(data)
        if raw.size != self.memory.size:
            raise ArgumentError(f"write: {raw.size} B for a buffer of {self.memory.size} B")
        self._write(raw, None if coord is None else self._place("write", coord))

    def read(self, dtype: npt.DTypeLike = np.uint32, coord: MeshCoordinate | None = None) -> npt.NDArray[Any]:
        """Return its bytes as an array.

        Args:
            dtype: Data type of the array.
            coord: The chip; needed if the buffer is on several.

        Raises:
            ArgumentError: `dtype` is no data type of numpy, or not one that divides the bytes.
            DeviceError: the mesh has no such chip, or none of several chips is named.
        """
        kind = as_kind(dtype, self.memory.size)
        if coord is not None:
            return self._read(self._place("read", coord)).view(kind)
        if self.device._several and len(self.memory.places) > 1:
            raise DeviceError(
                f"read: {self!r} has contents on {len(self.memory.places)} chips; name one: read(dtype, coord)",
                vendor="Can only read a Sharded MeshBuffer from a MeshDevice or a Replicated MeshBuffer from a "
                "Unit-Mesh.",
            )
        return self._read(None).view(kind)

    def _place(self, call: str, coord: MeshCoordinate) -> int:
        return self.device.chip_at(call, coord).place

    def _write(self, raw: npt.NDArray[np.uint8], place: int | None) -> None:
        self.memory.write(raw, self.page_size() * self.memory.page_columns, place)

    def _read(self, place: int | None) -> npt.NDArray[np.uint8]:
        columns = self.memory.page_columns
        return self.memory.read(self.page_size() * columns, self.num_pages() // columns, False, place)

    def __repr__(self) -> str:
        return f"metal.Buffer({self.memory!r})"


def as_kind(dtype: npt.DTypeLike, size: int) -> np.dtype[Any]:
    """Return a data type in which bytes of a buffer are read.

    Raises:
        ArgumentError: it is no data type of numpy, or not one that divides the bytes.
    """
    try:
        kind = np.dtype(dtype)
    except (TypeError, ValueError):
        raise ArgumentError(f"read: dtype must be a data type of numpy, got {dtype!r}") from None
    if kind.hasobject or not kind.itemsize or size % kind.itemsize:
        raise ArgumentError(f"read: {size} B are not elements of {kind}")
    return kind


def as_bytes(data: Any) -> npt.NDArray[np.uint8]:
    """Return data of the host as bytes."""
    if isinstance(data, (bytes, bytearray, memoryview)):
        return np.frombuffer(data, dtype=np.uint8)
    if isinstance(data, np.ndarray):
        return np.ascontiguousarray(data).reshape(-1).view(np.uint8)
    try:
        words = np.asarray(list(data))
    except (TypeError, ValueError, OverflowError):
        words = np.asarray(None)
    if words.ndim != 1 or (words.size and words.dtype.kind not in "iu"):
        raise ArgumentError(f"expected bytes, an array or a list of 32-bit words, got {type(data).__name__}")
    return (words.astype(np.int64) & 0xFFFF_FFFF).astype(np.uint32).view(np.uint8)


def create_buffer(
    config: InterleavedBufferConfig | ShardedBufferConfig,
    address: int | None = None,
    sub_device_id: SubDeviceId | None = None,
) -> Buffer:
    """Return a new buffer. Its bytes are undefined until they are written.

    Args:
        config: Device, sizes and placement.
        address: Must be None: the allocator chooses the address.
        sub_device_id: The sub-device of its memory; all share that of the device.

    Raises:
        MemoryConfigError: the size is not a multiple of the page size, or shards do not fit.
        OutOfMemoryError: the banks are full.
        DeviceError: the device is closed, or has no such sub-device.
        UnsupportedError: an address.
    """
    if not isinstance(config, (InterleavedBufferConfig, ShardedBufferConfig)):
        raise ArgumentError(f"create_buffer: expected a buffer configuration, got {config!r}")
    if not isinstance(config.device, MeshDevice):
        raise ArgumentError(f"create_buffer: device must be a ttnn.MeshDevice, got {config.device!r}")
    config.device._require_open("create_buffer")
    if address is not None:
        raise UnsupportedError("create_buffer: the allocator chooses addresses; leave address None", "unimplemented")
    if sub_device_id is not None:
        config.device._sub_devices.check_ids("create_buffer", [sub_device_id])
    size, page = _count("size", config.size), _count("page_size", config.page_size)
    if size % page:
        raise MemoryConfigError(f"create_buffer: size {size} B is not a multiple of page_size {page} B")
    if not isinstance(config.buffer_type, BufferType):
        raise ArgumentError(f"create_buffer: buffer_type must be a BufferType, got {config.buffer_type!r}")
    engine, kind = config.device.engine, config.buffer_type.value
    pages = size // page
    if isinstance(config, InterleavedBufferConfig):
        return Buffer(config.device, engine.allocate_interleaved(kind, page, pages))
    tensor, shard, cores = _shards(config)
    if tensor[0] * tensor[1] != pages:
        raise MemoryConfigError(f"create_buffer: {tensor[0]}x{tensor[1]} pages are not the {pages} pages of the size")
    memory = engine.allocate_sharded(kind, page, tensor, shard, [(core.x, core.y) for core in cores])
    shards = distribution(config.device, config.buffer_type is BufferType.DRAM, tensor, shard, cores)
    return Buffer(config.device, memory, shards)


def _count(what: str, value: object) -> int:
    number = as_integer(value)
    if number is None:
        raise ArgumentError(f"create_buffer: {what} must be an int, got {value!r}")
    if not 0 < number < 1 << 40:
        raise MemoryConfigError(f"create_buffer: {what} must be at least 1 and below 2^40, got {shown(number)}")
    return number


def _shards(config: ShardedBufferConfig) -> tuple[tuple[int, int], tuple[int, int], list[CoreCoord]]:
    """Return pages of whole and shard, and cores in shard order."""
    spec = config.shard_parameters
    if spec is None:
        if config.tensor_pages is None or config.shard_pages is None or config.cores is None:
            raise ArgumentError(
                "create_buffer: a sharded buffer needs shard_parameters, or all of tensor_pages, shard_pages and cores"
            )
        cores: Any = config.cores
        if isinstance(cores, CoreRangeSet):
            _check_places(config, cores)
            cores = list(cores.cores())
        if not isinstance(cores, (list, tuple)) or not all(isinstance(core, CoreCoord) for core in cores):
            raise ArgumentError(f"create_buffer: cores must be a CoreRangeSet or a list of CoreCoord, got {cores!r}")
        tensor = _rows_and_columns("tensor_pages", config.tensor_pages)
        return tensor, _rows_and_columns("shard_pages", config.shard_pages), list(cores)
    if not isinstance(spec, ShardSpecBuffer):
        raise ArgumentError(f"create_buffer: shard_parameters must be a ShardSpecBuffer, got {spec!r}")
    for name in ("shard_shape", "page_shape", "tensor2d_shape_in_pages"):
        _rows_and_columns(name, getattr(spec, name))
    if not isinstance(spec.core_sets, CoreRangeSet):
        raise ArgumentError(f"create_buffer: core_sets must be a CoreRangeSet, got {spec.core_sets!r}")
    for shard, page in zip(spec.shard_shape, spec.page_shape, strict=True):
        if page <= 0 or shard % page:
            raise MemoryConfigError(
                f"create_buffer: a shard of {spec.shard_shape} is not a multiple of pages of {spec.page_shape}"
            )
    rows, columns = (shard // page for shard, page in zip(spec.shard_shape, spec.page_shape, strict=True))
    _check_places(config, spec.core_sets)
    by_row = spec.shard_orientation is ShardOrientation.ROW_MAJOR
    return spec.tensor2d_shape_in_pages, (rows, columns), list(spec.core_sets.cores(by_row))


def _check_places(config: ShardedBufferConfig, cores: CoreRangeSet) -> None:
    """Check that the chip has the cores, or DRAM banks, of shards."""
    dram = config.buffer_type is BufferType.DRAM
    grid = config.device.chip["dram_grid" if dram else "grid"]
    what = "create_buffer: a shard is placed on"
    check_in_grid(what, cores, grid, "grid of DRAM banks" if dram else "compute grid", error=MemoryConfigError)


def _rows_and_columns(what: str, value: object) -> tuple[int, int]:
    if not isinstance(value, (list, tuple)) or len(value) != 2:
        raise ArgumentError(f"create_buffer: {what} must be rows and columns, got {value!r}")
    return _count(what, value[0]), _count(what, value[1])


def deallocate_buffer(buffer: Buffer) -> None:
    """Free a buffer.

    Raises:
        StorageError: it is free already.
    """
    if not isinstance(buffer, Buffer):
        raise ArgumentError(f"deallocate_buffer: expected a Buffer, got {buffer!r}")
    buffer.deallocate()


CreateBuffer = create_buffer
DeallocateBuffer = deallocate_buffer


def tilize_nfaces(rows: npt.NDArray[Any], height: int, width: int) -> npt.NDArray[Any]:
    """Return a row-major matrix as 32x32 tiles of four faces.

    Raises:
        ArgumentError: height or width is not a multiple of 32, or the array has another size.
    """
    _check_matrix("tilize_nfaces", rows, height, width)
    faces = rows.reshape(height // 32, 2, 16, width // 32, 2, 16)
    return np.ascontiguousarray(faces.transpose(0, 3, 1, 4, 2, 5)).reshape(-1)


def untilize_nfaces(tiles: npt.NDArray[Any], height: int, width: int) -> npt.NDArray[Any]:
    """Return tiles as a row-major matrix, the inverse of `tilize_nfaces`.

    Raises:
        ArgumentError: height or width is not a multiple of 32, or the array has another size.
    """
    _check_matrix("untilize_nfaces", tiles, height, width)
    faces = tiles.reshape(height // 32, width // 32, 2, 2, 16, 16)
    return np.ascontiguousarray(faces.transpose(0, 2, 4, 1, 3, 5)).reshape(height, width)


def _check_matrix(function: str, array: npt.NDArray[Any], height: int, width: int) -> None:
    if not isinstance(array, np.ndarray):
        raise ArgumentError(f"{function}: expected an array of numpy, got {type(array).__name__}")
    sizes = (height, width)
    if not all(isinstance(size, int | np.integer) and size >= 0 and size % 32 == 0 for size in sizes) or (
        array.size != height * width
    ):
        raise ArgumentError(
            f"{function}: {array.size} elements are not {height}x{width}, or these are not multiples of 32"
        )
