"""The mesh host API, `tt::tt_metal::distributed`, with one chip.

A mesh buffer is a buffer of that chip, a workload is its program. Shapes of several chips are refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ttnn.base.enums import BufferType, ShardOrientation, TensorMemoryLayout
from ttnn.base.exceptions import ArgumentError, DeviceError, MemoryConfigError, UnsupportedError
from ttnn.device.coordinates import MeshCoordinate, MeshCoordinateRange, MeshDeviceConfig, MeshShape, SubDeviceId
from ttnn.device.mesh_device import MeshDevice
from ttnn.metal.buffers import Buffer, InterleavedBufferConfig, ShardedBufferConfig, ShardSpecBuffer, create_buffer
from ttnn.metal.program import Program
from ttnn.metal.program_parts import require_program
from ttnn.metal.queues import (
    CommandQueue,
    EventQuery,
    EventSynchronize,
    Finish,
    MeshCommandQueue,
    MeshEvent,
    Synchronize,
    enqueue_program,
    enqueue_read_buffer,
    enqueue_write_buffer,
    event_query,
    event_synchronize,
    finish,
    require_queue,
    synchronize,
)
from ttnn.metal.report import Report
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


class MeshBuffer(Buffer):
    """A buffer on every chip of a mesh, created by `MeshBuffer.create`."""

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
            UnsupportedError: an address or direction of one's own, or parts for several chips.
        """
        call = "MeshBuffer.create"
        if not isinstance(mesh_device, MeshDevice):
            raise ArgumentError(f"{call}: expected a ttnn.MeshDevice, got {mesh_device!r}")
        local = device_local_config
        if not isinstance(local, DeviceLocalBufferConfig):
            raise ArgumentError(f"{call}: expected a DeviceLocalBufferConfig, got {local!r}")
        size = _size(call, mesh_buffer_config)
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
        return MeshBuffer(mesh_device, buffer.memory, buffer.distribution)

    def device_local_size(self) -> int:
        """Return its bytes on a chip."""
        return self.size()

    def get_device_buffer(self, coord: MeshCoordinate) -> Buffer:
        """Return the buffer of one chip.

        Raises:
            DeviceError: the mesh has no such chip.
        """
        self.device.chip_at("MeshBuffer.get_device_buffer", coord)
        return self

    def get_reference_buffer(self) -> Buffer:
        """Return the buffer of the first chip."""
        return self

    def get_backing_buffer(self) -> Buffer:
        """Return the buffer that holds the memory."""
        return self

    def __repr__(self) -> str:
        return f"metal.MeshBuffer({self.memory!r})"


def _size(call: str, config: object) -> int:
    if isinstance(config, ReplicatedBufferConfig):
        return config.size
    if not isinstance(config, ShardedMeshBufferConfig):
        raise ArgumentError(f"{call}: expected a ReplicatedBufferConfig or ShardedMeshBufferConfig, got {config!r}")
    shape, shard = tuple(config.global_buffer_shape), tuple(config.shard_shape)
    # 0 means all of a dimension.
    if any(part not in (0, whole) for part, whole in zip(shard, shape, strict=True)):
        raise UnsupportedError(
            f"{call}: shards of {shard} of a buffer of {shape} are for several chips; only 1x1 is built",
            "unimplemented",
        )
    if shape[0] * shape[1] == 0 or config.global_size % (shape[0] * shape[1]):
        raise MemoryConfigError(
            f"{call}: {config.global_size} B cannot be divided into whole bytes for each of {shape}"
        )
    return config.global_size


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
        for other in self._programs:
            if any(coordinate in other for coordinate in device_range):
                raise MemoryConfigError(f"MeshWorkload.add_program: {device_range!r} overlaps with {other!r}")
        self._programs[device_range] = program

    def get_programs(self) -> dict[MeshCoordinateRange, Program]:
        """Return the programs by the chips they run on."""
        return dict(self._programs)

    def __repr__(self) -> str:
        return "\n".join(f"{device_range!r}: {program!r}" for device_range, program in self._programs.items())


def enqueue_mesh_workload(
    mesh_cq: CommandQueue, mesh_workload: MeshWorkload, blocking: bool = False, *, trace: bool = True
) -> Report | None:
    """Run the program of a workload; see `metal.enqueue_program`.

    Raises:
        DeviceError: the workload has no program, or one for chips that the mesh does not have.
        KernelError: a kernel failed; the device refuses work until it is reset.
    """
    call = "enqueue_mesh_workload"
    if not isinstance(mesh_workload, MeshWorkload):
        raise ArgumentError(f"{call}: expected a MeshWorkload, got {mesh_workload!r}")
    if not isinstance(mesh_cq, CommandQueue):
        raise ArgumentError(f"{call}: expected a command queue, got {mesh_cq!r}")
    if not mesh_workload.get_programs():
        raise DeviceError(f"{call}: the workload has no program")
    report = None
    for device_range, program in mesh_workload.get_programs().items():
        mesh_cq.device.chip_at(call, device_range.start)
        mesh_cq.device.chip_at(call, device_range.end)
        report = enqueue_program(mesh_cq, program, blocking, trace=trace)
    return report


def enqueue_write_mesh_buffer(mesh_cq: CommandQueue, mesh_buffer: Buffer, src: Any, blocking: bool = False) -> None:
    """Fill a mesh buffer with bytes of the host; see `metal.enqueue_write_buffer`."""
    enqueue_write_buffer(mesh_cq, mesh_buffer, src, blocking)


def enqueue_read_mesh_buffer(mesh_cq: CommandQueue, *args: Any, blocking: bool = True) -> npt.NDArray[Any]:
    """Return the bytes of a mesh buffer.

    Called as in C++, `(queue, dst, buffer)`, a list is resized and filled with 32-bit words, an array is filled; as
    `(queue, buffer)` the words are returned.

    Raises:
        ArgumentError: other arguments, or an array of another size.
    """
    call = "enqueue_read_mesh_buffer"
    if args and isinstance(args[-1], bool):
        args = args[:-1]
    if len(args) not in (1, 2):
        raise ArgumentError(
            f"{call}: expected (queue, dst, buffer) or (queue, buffer), got {len(args)} after the queue"
        )
    return _read(mesh_cq, args[-1], args[0] if len(args) == 2 else None)


def _read(queue: CommandQueue, buffer: Buffer, dst: Any) -> npt.NDArray[Any]:
    if isinstance(dst, list):
        words = enqueue_read_buffer(queue, buffer)
        dst[:] = words.view(np.uint32).tolist()
        return words
    return enqueue_read_buffer(queue, buffer, dst)


def write_shard(
    mesh_cq: CommandQueue, mesh_buffer: Buffer, src: Any, coord: MeshCoordinate, blocking: bool = False
) -> None:
    """Fill the part of a mesh buffer that one chip has.

    Raises:
        DeviceError: the mesh has no such chip.
        ArgumentError: other bytes than the buffer has.
    """
    require_queue("write_shard", mesh_cq).device.chip_at("write_shard", coord)
    enqueue_write_buffer(mesh_cq, mesh_buffer, src, blocking)


def read_shard(
    mesh_cq: CommandQueue, dst: Any, mesh_buffer: Buffer, coord: MeshCoordinate, blocking: bool = True
) -> npt.NDArray[Any]:
    """Read a chip's part of a mesh buffer into list or array.

    Raises:
        DeviceError: the mesh has no such chip.
        ArgumentError: an array of another size.
    """
    require_queue("read_shard", mesh_cq).device.chip_at("read_shard", coord)
    return _read(mesh_cq, mesh_buffer, dst)


EnqueueMeshWorkload = enqueue_mesh_workload
EnqueueWriteMeshBuffer = enqueue_write_mesh_buffer
EnqueueReadMeshBuffer = enqueue_read_mesh_buffer
WriteShard = write_shard
ReadShard = read_shard
