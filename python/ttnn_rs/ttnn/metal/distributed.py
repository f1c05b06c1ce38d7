"""The mesh host API, `tt::tt_metal::distributed`.

A mesh buffer has one address on all chips: the same bytes, or a part of the whole on each. A workload is a program for
each range of chips; it runs on one chip after the other, row by row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ttnn.base.call import as_integer, shown
from ttnn.base.enums import BufferType, ShardOrientation, TensorMemoryLayout
from ttnn.base.exceptions import ArgumentError, DeviceError, MemoryConfigError, UnsupportedError
from ttnn.device.chip import Chip
from ttnn.device.coordinates import MeshCoordinate, MeshCoordinateRange, MeshDeviceConfig, MeshShape, SubDeviceId
from ttnn.device.mesh_device import MeshDevice
from ttnn.metal.buffers import (
    Buffer,
    InterleavedBufferConfig,
    ShardedBufferConfig,
    ShardSpecBuffer,
    as_bytes,
    as_kind,
    create_buffer,
)
from ttnn.metal.program import Program
from ttnn.metal.program_parts import require_program
from ttnn.metal.queues import (
    Caller,
    CommandQueue,
    EventQuery,
    EventSynchronize,
    Finish,
    MeshCommandQueue,
    MeshEvent,
    Synchronize,
    enqueue_for,
    enqueue_write_buffer,
    event_query,
    event_synchronize,
    finish,
    read_into,
    synchronize,
    write_from,
)
from ttnn.metal.report import MeshReport, Report
from ttnn.metal.traces import BeginTraceCapture, begin_trace_capture

__all__ = [
    "BeginTraceCapture",
    "BufferShardingArgs",
    "DeviceLocalBufferConfig",
    "EnqueueMeshWorkload",
    "EnqueueReadMeshBuffer",
    "EnqueueWriteMeshBuffer",
    "EventQuery",
    "EventSynchronize",
    "Finish",
    "MeshBuffer",
    "MeshCommandQueue",
    "MeshCoordinate",
    "MeshCoordinateRange",
    "MeshDevice",
    "MeshDeviceConfig",
    "MeshEvent",
    "MeshReport",
    "MeshShape",
    "MeshWorkload",
    "ReadShard",
    "ReplicatedBufferConfig",
    "ShardedMeshBufferConfig",
    "Synchronize",
    "WriteShard",
    "begin_trace_capture",
    "enqueue_mesh_workload",
    "enqueue_read_mesh_buffer",
    "enqueue_write_mesh_buffer",
    "event_query",
    "event_synchronize",
    "finish",
    "read_shard",
    "synchronize",
    "write_shard",
]


@dataclass(kw_only=True)
class ReplicatedBufferConfig:
    """A mesh buffer of which each chip has all `size` bytes."""

    size: int


@dataclass(kw_only=True)
class ShardedMeshBufferConfig:
    """A mesh buffer with a part per chip.

    It is called `ShardedBufferConfig` in `tt::tt_metal::distributed`.

    Attributes:
        global_size: Bytes of the whole.
        global_buffer_shape: Rows and columns of the whole.
        shard_shape: Rows and columns of a part. 0 is all of a dimension: the parts are those of the other dimension,
            one for each column of the mesh and the same in every row.
        shard_orientation: Whether the next part is on the next chip of the row or of the column. For parts with a 0,
            COL_MAJOR has one for each row of the mesh.
    """

    global_size: int
    global_buffer_shape: tuple[int, int]
    shard_shape: tuple[int, int]
    shard_orientation: ShardOrientation = ShardOrientation.ROW_MAJOR


@dataclass(kw_only=True)
class BufferShardingArgs:
    """Sharding of a mesh buffer's part on one chip."""

    shard_parameters: ShardSpecBuffer | None = None
    buffer_layout: TensorMemoryLayout = TensorMemoryLayout.INTERLEAVED


@dataclass(kw_only=True)
class DeviceLocalBufferConfig:
    """Description of a mesh buffer's part on one chip."""

    page_size: int
    buffer_type: BufferType = BufferType.DRAM
    sharding_args: BufferShardingArgs | None = None
    bottom_up: bool | None = None
    sub_device_id: SubDeviceId | None = None


@dataclass(frozen=True)
class _Cut:
    """The parts of the bytes of a mesh buffer."""

    rows: int
    row_bytes: int
    part_rows: int
    part_bytes: int
    """Bytes of a row of a part."""
    places: tuple[tuple[MeshCoordinate, ...], ...]
    """The chips of each part, row by row of the whole."""

    @property
    def copied(self) -> bool:
        """True if a part is on several chips."""
        return any(len(chips) > 1 for chips in self.places)

    def of(self, whole: npt.NDArray[np.uint8]) -> Iterator[npt.NDArray[np.uint8]]:
        """Yield the parts of an array, row by row: views of it."""
        grid = whole.reshape(self.rows, self.row_bytes)
        for row in range(0, self.rows, self.part_rows):
            for column in range(0, self.row_bytes, self.part_bytes):
                yield grid[row : row + self.part_rows, column : column + self.part_bytes]


class MeshBuffer(Buffer):
    """A buffer on every chip of a mesh, created by `MeshBuffer.create`."""

    def __init__(self, device: MeshDevice, buffer: Buffer, cut: _Cut | None) -> None:
        super().__init__(device, buffer.memory, buffer.distribution)
        self._cut = cut

    @staticmethod
    def create(
        mesh_buffer_config: ReplicatedBufferConfig | ShardedMeshBufferConfig,
        device_local_config: DeviceLocalBufferConfig,
        mesh_device: MeshDevice,
        address: int | None = None,
    ) -> MeshBuffer:
        """Return a new buffer.

        Raises:
            MemoryConfigError: the size is not a multiple of the page size, or shards do not fit.
            OutOfMemoryError: the banks are full.
            UnsupportedError: an address or direction of one's own.
        """
        call = "MeshBuffer.create"
        if not isinstance(mesh_device, MeshDevice):
            raise ArgumentError(f"{call}: expected a ttnn.MeshDevice, got {mesh_device!r}")
        local = device_local_config
        if not isinstance(local, DeviceLocalBufferConfig):
            raise ArgumentError(f"{call}: expected a DeviceLocalBufferConfig, got {local!r}")
        size, cut = _parts(call, mesh_buffer_config, mesh_device)
        if local.bottom_up is not None and local.bottom_up is not (local.buffer_type is BufferType.DRAM):
            raise UnsupportedError(f"{call}: {local.buffer_type} is filled from its own end; leave bottom_up None")
        sharding = local.sharding_args
        common: dict[str, Any] = {
            "device": mesh_device,
            "size": size,
            "page_size": local.page_size,
            "buffer_type": local.buffer_type,
        }
        if sharding is None or sharding.buffer_layout is TensorMemoryLayout.INTERLEAVED:
            buffer = create_buffer(InterleavedBufferConfig(**common), address, local.sub_device_id)
        else:
            config = ShardedBufferConfig(
                **common, buffer_layout=sharding.buffer_layout, shard_parameters=sharding.shard_parameters
            )
            buffer = create_buffer(config, address, local.sub_device_id)
        return MeshBuffer(mesh_device, buffer, cut)

    def size(self) -> int:
        """Return its bytes; those of the whole if it has parts."""
        return self.memory.size if self._cut is None else self._cut.rows * self._cut.row_bytes

    def device_local_size(self) -> int:
        """Return its bytes on a chip."""
        return self.memory.size

    def write(self, data: Any, coord: MeshCoordinate | None = None) -> None:
        """Write bytes of the whole, cut into the parts of the chips.

        See `Buffer.write`. With the coordinate of a chip, its part is written.
        """
        cut = self._cut
        if cut is None or coord is not None:
            super().write(data, coord)
            return
        raw = as_bytes(data)
        if raw.size != self.size():
            raise ArgumentError(f"write: {raw.size} B for a buffer of {self.size()} B")
        for part, chips in zip(cut.of(raw), cut.places, strict=True):
            for chip in chips:
                self._write(np.ascontiguousarray(part).reshape(-1), self._place("write", chip))

    def read(self, dtype: npt.DTypeLike = np.uint32, coord: MeshCoordinate | None = None) -> npt.NDArray[Any]:
        """Return bytes of the whole, joined from the parts of the chips.

        See `Buffer.read`. With the coordinate of a chip, its part is returned.

        Raises:
            DeviceError: several chips have the same part, and none is named.
        """
        cut = self._cut
        if cut is None or coord is not None:
            return super().read(dtype, coord)
        kind = as_kind(dtype, self.size())
        if cut.copied:
            raise DeviceError(
                f"read: {self!r} has parts on several chips each; read those of one: read(dtype, coord)",
                vendor="Cannot read a MeshBuffer that is replicated along any dimension.",
            )
        whole = np.empty(self.size(), np.uint8)
        for part, (chip,) in zip(cut.of(whole), cut.places, strict=True):
            part[:] = self._read(self._place("read", chip)).reshape(part.shape)
        return whole.view(kind)

    def get_device_buffer(self, coord: MeshCoordinate) -> Buffer:
        """Return the buffer of one chip.

        Raises:
            DeviceError: the mesh has no such chip.
        """
        place = self._place("MeshBuffer.get_device_buffer", coord)
        return Buffer(self.device, self.memory.on([place]), self.distribution)

    def get_reference_buffer(self) -> Buffer:
        """Return the buffer of the first chip."""
        return self.get_device_buffer(self.device.coordinates()[0])

    def get_backing_buffer(self) -> Buffer:
        """Return the buffer that holds the memory."""
        return self

    def __repr__(self) -> str:
        return f"metal.MeshBuffer({self.memory!r})"


def _parts(call: str, config: object, mesh: MeshDevice) -> tuple[int, _Cut | None]:
    """Return the bytes on a chip, and the parts.

    None if all chips have the same bytes.
    """
    if isinstance(config, ReplicatedBufferConfig):
        return _bytes(call, "size", config.size), None
    if not isinstance(config, ShardedMeshBufferConfig):
        raise ArgumentError(f"{call}: expected a ReplicatedBufferConfig or ShardedMeshBufferConfig, got {config!r}")
    (rows, columns), (height, width) = _shape(call, config.global_buffer_shape), _shape(call, config.shard_shape)
    size = _bytes(call, "global_size", config.global_size)
    if rows * columns == 0 or size % (rows * columns):
        raise MemoryConfigError(f"{call}: {size} B cannot be divided into whole bytes for each of {(rows, columns)}")
    all_rows, all_columns = height == 0, width == 0
    height, width = height or rows, width or columns
    if rows % height or columns % width:
        raise MemoryConfigError(
            f"{call}: parts of {(height, width)} do not divide a buffer of {(rows, columns)}",
            vendor="Global buffer shape must be aligned with the shard shape: requested buffer shape: "
            f"({rows}, {columns}), shard shape: ({height}, {width})",
        )
    if mesh.shape.dims() != 2:
        raise DeviceError(f"{call}: parts for chips require a mesh of two dimensions, got {mesh.shape}")
    parts = rows // height * (columns // width)
    by_row = config.shard_orientation is ShardOrientation.ROW_MAJOR
    places = _chips(mesh.shape[0], mesh.shape[1], by_row, all_rows, all_columns)
    if parts > len(places):
        copies = len(places[0])
        raise MemoryConfigError(
            f"{call}: {parts} parts, each on {copies} of the chips, for {mesh!r}",
            vendor=f"The sharded tensor does not fit on the Mesh. Num shards in buffer {parts * copies}, Num Devices "
            f"{mesh.get_num_devices()}",
        )
    element = size // (rows * columns)
    cut = _Cut(rows, columns * element, height, width * element, tuple(places[:parts]))
    return height * width * element, cut


def _bytes(call: str, name: str, value: object) -> int:
    size = as_integer(value)
    if size is None or size < 0:
        raise ArgumentError(f"{call}: {name} must be a number of bytes, got {shown(value)}")
    return size


def _shape(call: str, shape: Iterable[int]) -> tuple[int, int]:
    given = [as_integer(size) for size in shape] if isinstance(shape, Iterable) else []
    numbers = [size for size in given if size is not None and 0 <= size < 1 << 40]
    if len(given) != 2 or len(numbers) != 2:
        raise ArgumentError(f"{call}: a shape must be rows and columns, got {shown(shape)}")
    return numbers[0], numbers[1]


def _chips(
    rows: int, columns: int, by_row: bool, all_rows: bool, all_columns: bool
) -> list[tuple[MeshCoordinate, ...]]:
    """Return the chips of the first, second, ... part of a mesh buffer."""
    grid = [[MeshCoordinate(row, column) for column in range(columns)] for row in range(rows)]
    lines = grid if by_row else [list(column) for column in zip(*grid, strict=True)]
    if all_rows and all_columns:
        return [tuple(chip for row in grid for chip in row)]
    if all_rows or all_columns:
        return list(zip(*lines, strict=True))
    return [(chip,) for line in lines for chip in line]


class MeshWorkload:
    """Programs for the chips of a mesh."""

    def __init__(self) -> None:
        self._programs: dict[MeshCoordinateRange, Program] = {}

    def add_program(self, device_range: MeshCoordinateRange, program: Program) -> None:
        """Set the program of the chips of a range.

        Raises:
            MemoryConfigError: a chip has one already.
        """
        require_program("MeshWorkload.add_program", program)
        if not isinstance(device_range, MeshCoordinateRange):
            raise ArgumentError(f"MeshWorkload.add_program: expected a MeshCoordinateRange, got {device_range!r}")
        check_apart("MeshWorkload.add_program", device_range, self._programs)
        self._programs[device_range] = program

    def get_programs(self) -> dict[MeshCoordinateRange, Program]:
        """Return the programs by the chips they run on."""
        return dict(self._programs)

    def __repr__(self) -> str:
        return "\n".join(f"{device_range!r}: {program!r}" for device_range, program in self._programs.items())


def enqueue_mesh_workload(
    mesh_cq: CommandQueue, mesh_workload: MeshWorkload, blocking: bool = False, *, trace: bool = True
) -> Report | None:
    """Run the programs of a workload, each on its chips.

    See `metal.enqueue_program`. Chips run one after the other, row by row. The time of the workload is that of its
    slowest chip.

    Raises:
        DeviceError: the workload has no program, or one for chips that the mesh does not have.
        KernelError: a kernel failed; the device refuses work until it is reset.
    """
    call = "enqueue_mesh_workload"
    if not isinstance(mesh_workload, MeshWorkload):
        raise ArgumentError(f"{call}: expected a MeshWorkload, got {mesh_workload!r}")
    if not isinstance(mesh_cq, CommandQueue):
        raise ArgumentError(f"{call}: expected a command queue, got {mesh_cq!r}")
    programs = mesh_workload.get_programs()
    if not programs:
        raise DeviceError(f"{call}: the workload has no program")
    placed = [(chips_of(call, mesh_cq.device, chips), program) for chips, program in programs.items()]
    return enqueue_for(Caller("ttnn.metal.enqueue_mesh_workload"), mesh_cq, placed, trace=trace)


def chips_of(call: str, device: MeshDevice, device_range: MeshCoordinateRange) -> list[Chip]:
    """Return the chips of a range.

    Raises:
        DeviceError: the mesh does not have them all.
    """
    for coordinate in (device_range.start, device_range.end):
        device.chip_at(call, coordinate)
    return [device.chip_at(call, coordinate) for coordinate in device_range]


def check_apart(call: str, device_range: MeshCoordinateRange, others: Iterable[MeshCoordinateRange]) -> None:
    """Check that a range of chips has none in common with others.

    Raises:
        MemoryConfigError: it has; the message names both ranges.
    """
    for other in others:
        sides = zip(device_range.start, device_range.end, other.start, other.end, strict=False)
        alike = device_range.start.dims() == other.start.dims()
        if alike and all(start <= last and first <= end for start, end, first, last in sides):
            raise MemoryConfigError(
                f"{call}: {device_range!r} overlaps with {other!r}",
                vendor=f"Program range {device_range!r} overlaps with the previously added range {other!r}",
            )


def enqueue_write_mesh_buffer(mesh_cq: CommandQueue, mesh_buffer: Buffer, src: Any, blocking: bool = False) -> None:
    """Fill a mesh buffer with bytes of the host; see `metal.enqueue_write_buffer`.

    Each chip has all of them, or its part of a buffer with a `ShardedMeshBufferConfig`.
    """
    enqueue_write_buffer(mesh_cq, mesh_buffer, src, blocking)


def enqueue_read_mesh_buffer(mesh_cq: CommandQueue, *args: Any, blocking: bool = True) -> npt.NDArray[Any]:
    """Return the bytes of a mesh buffer.

    Called as in C++, `(queue, dst, buffer)`, a list is resized and filled with 32-bit words, an array is filled; as
    `(queue, buffer)` the words are returned.

    Raises:
        ArgumentError: other arguments, or an array of another size.
        DeviceError: each of several chips has all bytes; `read_shard` reads those of one.
    """
    call = "enqueue_read_mesh_buffer"
    if args and isinstance(args[-1], bool):
        args = args[:-1]
    if len(args) not in (1, 2):
        raise ArgumentError(
            f"{call}: expected (queue, dst, buffer) or (queue, buffer), got {len(args)} after the queue"
        )
    return _read(call, mesh_cq, args[-1], args[0] if len(args) == 2 else None)


def _read(
    call: str, queue: CommandQueue, buffer: Buffer, dst: Any, coord: MeshCoordinate | None = None
) -> npt.NDArray[Any]:
    if isinstance(dst, list):
        words = read_into(call, queue, buffer, None, coord)
        dst[:] = words.view(np.uint32).tolist()
        return words
    return read_into(call, queue, buffer, dst, coord)


def write_shard(
    mesh_cq: CommandQueue, mesh_buffer: Buffer, src: Any, coord: MeshCoordinate, blocking: bool = False
) -> None:
    """Fill the part of a mesh buffer that one chip has.

    Raises:
        DeviceError: the mesh has no such chip.
        ArgumentError: other bytes than the part has.
    """
    write_from("write_shard", mesh_cq, mesh_buffer, src, _coordinate("write_shard", coord))


def read_shard(
    mesh_cq: CommandQueue, dst: Any, mesh_buffer: Buffer, coord: MeshCoordinate, blocking: bool = True
) -> npt.NDArray[Any]:
    """Read a chip's part of a mesh buffer into list or array.

    Raises:
        DeviceError: the mesh has no such chip.
        ArgumentError: an array of another size.
    """
    return _read("read_shard", mesh_cq, mesh_buffer, dst, _coordinate("read_shard", coord))


def _coordinate(call: str, coord: MeshCoordinate) -> MeshCoordinate:
    if not isinstance(coord, MeshCoordinate):
        raise ArgumentError(f"{call}: expected a MeshCoordinate, got {coord!r}")
    return coord


EnqueueMeshWorkload = enqueue_mesh_workload
EnqueueWriteMeshBuffer = enqueue_write_mesh_buffer
EnqueueReadMeshBuffer = enqueue_read_mesh_buffer
WriteShard = write_shard
ReadShard = read_shard
