"""Buffers: pages in DRAM or L1 that host and kernels share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ttnn import _engine
from ttnn.core_range import CoreCoord, CoreRangeSet
from ttnn.exceptions import ArgumentError, MemoryConfigError
from ttnn.mesh_device import MeshDevice
from ttnn.types import BufferType

__all__ = [
    "Buffer",
    "CreateBuffer",
    "DeallocateBuffer",
    "InterleavedBufferConfig",
    "ShardedBufferConfig",
    "TensorAccessorArgs",
    "create_buffer",
    "deallocate_buffer",
    "tilize_nfaces",
    "untilize_nfaces",
]


@dataclass(kw_only=True)
class InterleavedBufferConfig:
    """A buffer whose pages go round the banks."""

    device: MeshDevice
    size: int
    page_size: int
    buffer_type: BufferType = BufferType.DRAM


@dataclass(kw_only=True)
class ShardedBufferConfig:
    """A buffer whose pages, a grid of `tensor_pages` rows and columns, lie in shards on cores.

    In DRAM a core is (bank, 0).
    """

    device: MeshDevice
    size: int
    page_size: int
    tensor_pages: tuple[int, int]
    shard_pages: tuple[int, int]
    cores: CoreRangeSet | Sequence[CoreCoord]
    buffer_type: BufferType = BufferType.L1


class Buffer:
    """An allocated buffer."""

    def __init__(self, device: MeshDevice, memory: _engine.Buffer, sharded: bool = False) -> None:
        self.device = device
        self.memory = memory
        self.is_sharded = sharded

    def address(self) -> int:
        """Return its address, the same in every bank."""
        return self.memory.address

    def size(self) -> int:
        """Return its bytes."""
        return self.memory.size

    def page_size(self) -> int:
        """Return the bytes of a page."""
        return self.memory.page_bytes

    def aligned_page_size(self) -> int:
        """Return the distance of pages in a bank."""
        return self.memory.aligned_page_bytes

    def num_pages(self) -> int:
        """Return the number of pages."""
        return self.memory.num_pages

    def buffer_type(self) -> BufferType:
        """Return the memory it lies in."""
        return BufferType(self.memory.buffer_type)

    def is_dram(self) -> bool:
        """Return whether it lies in DRAM."""
        return self.buffer_type() in (BufferType.DRAM, BufferType.TRACE)

    def is_l1(self) -> bool:
        """Return whether it lies in L1."""
        return not self.is_dram()

    def deallocate(self) -> None:
        """Free it.

        Raises:
            StorageError: it is free already.
        """
        self.memory.deallocate()

    def write(self, data: Any) -> None:
        """Fill it with the bytes of an array, of bytes, or of a list of 32-bit words.

        Raises:
            ArgumentError: there are more or fewer bytes than the buffer has.
        """
        raw = as_bytes(data)
        if raw.size != self.size():
            raise ArgumentError(f"write: {raw.size} B for a buffer of {self.size()} B")
        self.memory.write(raw, self.page_size() * self.memory.page_columns)

    def read(self, dtype: npt.DTypeLike = np.uint32) -> npt.NDArray[Any]:
        """Return its bytes as an array."""
        columns = self.memory.page_columns
        rows = self.num_pages() // columns
        return self.memory.read(self.page_size() * columns, rows, require_written=False).view(dtype)

    def __repr__(self) -> str:
        return f"metal.Buffer({self.memory!r})"


def as_bytes(data: Any) -> npt.NDArray[np.uint8]:
    """Return data of the host as bytes."""
    if isinstance(data, (bytes, bytearray, memoryview)):
        return np.frombuffer(data, dtype=np.uint8)
    if isinstance(data, np.ndarray):
        return np.ascontiguousarray(data).reshape(-1).view(np.uint8)
    try:
        words = np.asarray(list(data), dtype=np.int64)
    except (TypeError, ValueError, OverflowError):
        raise ArgumentError(f"expected bytes, an array or a list of 32-bit words, got {type(data).__name__}") from None
    return (words & 0xFFFF_FFFF).astype(np.uint32).view(np.uint8)


def create_buffer(config: InterleavedBufferConfig | ShardedBufferConfig) -> Buffer:
    """Return a new buffer. Its bytes are undefined until somebody writes them.

    Raises:
        MemoryConfigError: the size is not a multiple of the page size, or shards do not fit.
        OutOfMemoryError: the banks are full.
    """
    config.device._require_open("create_buffer")
    if config.page_size <= 0 or config.size % config.page_size:
        raise MemoryConfigError(
            f"create_buffer: size {config.size} B is not a multiple of page_size {config.page_size} B"
        )
    engine, kind = config.device._engine, config.buffer_type.value
    pages = config.size // config.page_size
    if isinstance(config, InterleavedBufferConfig):
        return Buffer(config.device, engine.allocate_interleaved(kind, config.page_size, pages))
    rows, columns = config.tensor_pages
    if rows * columns != pages:
        raise MemoryConfigError(f"create_buffer: {rows}x{columns} pages are not the {pages} pages of the size")
    cores = config.cores.cores() if isinstance(config.cores, CoreRangeSet) else config.cores
    places = [(core.x, core.y) for core in cores]
    memory = engine.allocate_sharded(kind, config.page_size, config.tensor_pages, config.shard_pages, places)
    return Buffer(config.device, memory, sharded=True)


def deallocate_buffer(buffer: Buffer) -> None:
    """Free a buffer."""
    buffer.deallocate()


CreateBuffer = create_buffer
DeallocateBuffer = deallocate_buffer


class TensorAccessorArgs:
    """What a kernel's `TensorAccessorArgs` has to know of a buffer or tensor: compile-time arguments."""

    def __init__(self, buffer: Any) -> None:
        if isinstance(buffer, Buffer):
            memory, sharded = buffer.memory, buffer.is_sharded
        else:
            memory = buffer._require_device("TensorAccessorArgs", "the tensor")
            sharded = buffer.memory_config().is_sharded()
        dram = BufferType(memory.buffer_type) in (BufferType.DRAM, BufferType.TRACE)
        self._args = [int(sharded) | int(dram) << 1, memory.aligned_page_bytes]

    def append_to(self, compile_args: list[int], common_args: list[int] | None = None) -> None:
        """Append the arguments to a list."""
        compile_args += self._args

    def get_compile_time_args(self) -> list[int]:
        """Return the arguments."""
        return list(self._args)

    def get_common_runtime_args(self) -> list[int]:
        """Return the common runtime arguments: none."""
        return []


def tilize_nfaces(rows: npt.NDArray[Any], height: int, width: int) -> npt.NDArray[Any]:
    """Return a row-major matrix as 32x32 tiles of four faces, tile after tile.

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
    if height % 32 or width % 32 or array.size != height * width:
        raise ArgumentError(
            f"{function}: {array.size} datums are not {height}x{width}, or these are no multiples of 32"
        )
