"""Sockets: connections between cores of two meshes.

`ttnn.experimental.send_async` and `recv_async` move tensors through them. What is sent waits in the socket until it is
received; a receiver that comes first gets it once it is sent.
Source: names and signatures of ttnn 0.81.1.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ttnn.base.call import as_integer, checked, shown
from ttnn.base.core_range import CoreCoord, CoreRange, CoreRangeSet, check_in_grid
from ttnn.base.enums import BufferType, SocketEndpoint
from ttnn.base.exceptions import ArgumentError, DeviceError, FabricError, ParameterError, ShapeError, UnsupportedError
from ttnn.device.coordinates import MeshCoordinate, MeshCoreCoord, SubDeviceId
from ttnn.device.fabric_state import FABRIC
from ttnn.device.mesh import FabricNodeId
from ttnn.device.mesh_device import MeshDevice
from ttnn.metal.buffers import Buffer, ShardedBufferConfig, create_buffer
from ttnn.metal.socket_states import RECEIVER_BYTES, Addresses, sender_bytes, states
from ttnn.operation.signature import HOST_CLASSES
from ttnn.tensor import transfer

if TYPE_CHECKING:
    from ttnn.base.tensor_spec import TensorSpec
    from ttnn.tensor.host_buffer import Raw
    from ttnn.tensor.tensor import Tensor

__all__ = ["MeshSocket", "SocketConfig", "SocketConnection", "SocketMemoryConfig", "create_socket_pair"]

_MAX_FIFO = 1 << 30


class SocketMemoryConfig:
    """Memory of the receiver's queue.

    Args:
        socket_storage_type: L1 or DRAM.
        fifo_size: Bytes of the queue.
        sender_sub_device: Sub-device of the sender's cores.
        receiver_sub_device: Sub-device of the receiver's cores.
        per_core_allocation: Must be False.

    Raises:
        ArgumentError: an argument of another type.
        ParameterError: the size is not positive.
        UnsupportedError: `per_core_allocation`.
    """

    def __init__(
        self,
        socket_storage_type: BufferType,
        fifo_size: int,
        sender_sub_device: SubDeviceId | None = None,
        receiver_sub_device: SubDeviceId | None = None,
        per_core_allocation: bool = False,
    ) -> None:
        if not isinstance(socket_storage_type, BufferType):
            raise ArgumentError(f"SocketMemoryConfig(): expected a BufferType, got {socket_storage_type!r}")
        size = as_integer(fifo_size)
        if size is None:
            raise ArgumentError(f"SocketMemoryConfig(): fifo_size must be an int, got {fifo_size!r}")
        if not 0 < size <= _MAX_FIFO:
            raise ParameterError(
                f"SocketMemoryConfig(): fifo_size must be between 1 and {_MAX_FIFO}, got {shown(size)}"
            )
        for part in (sender_sub_device, receiver_sub_device):
            if part is not None and not isinstance(part, SubDeviceId):
                raise ArgumentError(f"SocketMemoryConfig(): expected a SubDeviceId, got {part!r}")
        if not isinstance(per_core_allocation, bool):
            raise ArgumentError(
                f"SocketMemoryConfig(): per_core_allocation must be a bool, got {per_core_allocation!r}"
            )
        if per_core_allocation:
            raise UnsupportedError("SocketMemoryConfig(): per_core_allocation is not modelled", "unimplemented")
        self._facts = socket_storage_type, size, sender_sub_device, receiver_sub_device

    @property
    def socket_storage_type(self) -> BufferType:
        """Memory of the queue: L1 or DRAM."""
        return self._facts[0]

    @property
    def fifo_size(self) -> int:
        """Bytes of the queue."""
        return self._facts[1]

    @property
    def sender_sub_device(self) -> SubDeviceId | None:
        """Sub-device of the sender's cores."""
        return self._facts[2]

    @property
    def receiver_sub_device(self) -> SubDeviceId | None:
        """Sub-device of the receiver's cores."""
        return self._facts[3]

    @property
    def per_core_allocation(self) -> bool:
        """Always False."""
        return False


class SocketConnection:
    """A connection from a sender core to a receiver core.

    Raises:
        ArgumentError: no `MeshCoreCoord`.
    """

    def __init__(self, sender_core: MeshCoreCoord, receiver_core: MeshCoreCoord) -> None:
        for core in (sender_core, receiver_core):
            if not isinstance(core, MeshCoreCoord):
                raise ArgumentError(f"SocketConnection(): expected a MeshCoreCoord, got {core!r}")
        self._cores = sender_core, receiver_core

    @property
    def sender_core(self) -> MeshCoreCoord:
        """Core that sends."""
        return self._cores[0]

    @property
    def receiver_core(self) -> MeshCoreCoord:
        """Core that receives."""
        return self._cores[1]


class SocketConfig:
    """Connections of a socket, and memory of its queue.

    Raises:
        ArgumentError: an argument of another type.
        ParameterError: there is no connection.
        UnsupportedError: sender and receiver are processes of their own.
    """

    def __init__(
        self,
        connections: Sequence[SocketConnection],
        memory_config: SocketMemoryConfig,
        sender_rank: int | None = None,
        receiver_rank: int | None = None,
        *,
        sender_mesh_id: int | None = None,
        receiver_mesh_id: int | None = None,
    ) -> None:
        several = isinstance(connections, list | tuple) and all(isinstance(c, SocketConnection) for c in connections)
        if not several or not isinstance(memory_config, SocketMemoryConfig):
            raise ArgumentError("SocketConfig(): expected a list of SocketConnection and a SocketMemoryConfig")
        if not connections:
            raise ParameterError("SocketConfig(): expected at least one connection")
        numbers = (sender_rank, receiver_rank, sender_mesh_id, receiver_mesh_id)
        if any(value is not None and as_integer(value) is None for value in numbers):
            raise ArgumentError(f"SocketConfig(): ranks and mesh numbers must be integers, got {numbers}")
        if any(value is not None and as_integer(value) for value in numbers):
            raise UnsupportedError(
                "SocketConfig(): ranks and meshes of other processes are not modelled", "unimplemented"
            )
        self._connections, self._memory_config = tuple(connections), memory_config

    @property
    def connections(self) -> list[SocketConnection]:
        """The connections."""
        return list(self._connections)

    @property
    def memory_config(self) -> SocketMemoryConfig:
        """Memory of the receiver's queue."""
        return self._memory_config


class _Way:
    """Tensors between sender and receiver.

    Attributes:
        sent: Tensors that nobody has received: specification, and the pages for each pair of chips.
        wanted: Tensors that wait for a sender, and the places of their chips.
    """

    def __init__(self) -> None:
        self.sent: deque[tuple[TensorSpec, list[Raw]]] = deque()
        self.wanted: deque[tuple[Tensor, list[int]]] = deque()


class MeshSocket:
    """An end of a socket, created by `ttnn.create_socket_pair`.

    Kernels find its state in L1, in the official layout.
    """

    _device: MeshDevice
    _config: SocketConfig
    _endpoint: SocketEndpoint
    _buffer: Buffer
    _queue: Buffer
    _way: _Way
    _other: MeshDevice

    def __init__(self, device: MeshDevice, config: SocketConfig) -> None:
        """Always raise: both ends of a socket are in one process here.

        Raises:
            UnsupportedError: always.
        """
        raise UnsupportedError(
            "MeshSocket(): sockets between processes are not modelled; use ttnn.create_socket_pair", "unimplemented"
        )

    def get_active_cores(self) -> list[MeshCoreCoord]:
        """Return the cores of this end."""
        sender = self._endpoint is SocketEndpoint.SENDER
        cores = (c.sender_core if sender else c.receiver_core for c in self._config.connections)
        return list(dict.fromkeys(cores))

    def get_config_buffer_address(self) -> int:
        """Return the L1 address of the socket's state."""
        return self._buffer.address()

    def get_connection_config(self) -> list[SocketConnection]:
        """Return the connections."""
        return list(self._config.connections)

    def get_fabric_node_id(self, endpoint: SocketEndpoint, coord: MeshCoordinate) -> FabricNodeId:
        """Return the number in the fabric of a chip at an end.

        Raises:
            ArgumentError: an argument of another type.
            DeviceError: the mesh of that end has no such coordinate.
        """
        if not isinstance(endpoint, SocketEndpoint):
            raise ArgumentError(f"MeshSocket.get_fabric_node_id(): expected a SocketEndpoint, got {endpoint!r}")
        return (self._device if endpoint is self._endpoint else self._other).get_fabric_node_id(coord)

    def get_mesh_device(self) -> MeshDevice:
        """Return the mesh of this end."""
        return self._device

    def get_socket_endpoint_type(self) -> SocketEndpoint:
        """Return SENDER or RECEIVER."""
        return self._endpoint

    def _send(self, operator: str, tensor: Tensor) -> None:
        """Send a tensor's pages to the other end.

        Raises:
            ParameterError: this end receives.
            DeviceError: the tensor is on another mesh, or not on all chips of the connections.
            ShapeError: a tensor that waits has another specification.
        """
        places = self._places(operator, tensor, SocketEndpoint.SENDER)
        way, spec = self._way, tensor.spec
        # A receiver that was deallocated waits no more.
        while way.wanted and not way.wanted[0][0].is_allocated():
            way.wanted.popleft()
        if way.wanted:
            _check_same(operator, spec, way.wanted[0][0].spec)
        pages = [transfer.read(tensor.buffers, spec, place) for place in places]
        if way.wanted:
            _deliver(*way.wanted.popleft(), pages)
        else:
            way.sent.append((spec, pages))

    def _receive(self, operator: str, tensor: Tensor) -> None:
        """Write the next tensor of the other end, or wait for it.

        Raises:
            ParameterError: this end sends.
            DeviceError: the tensor is on another mesh, or not on all chips of the connections.
            ShapeError: what was sent has another specification.
        """
        places, way = self._places(operator, tensor, SocketEndpoint.RECEIVER), self._way
        if not way.sent:
            way.wanted.append((tensor, places))
            return
        _check_same(operator, way.sent[0][0], tensor.spec)
        _deliver(tensor, places, way.sent.popleft()[1])

    def _pairs(self) -> list[tuple[MeshCoordinate, MeshCoordinate]]:
        """Return the pairs of chips of the connections, each once."""
        pairs = ((c.sender_core.device_coord, c.receiver_core.device_coord) for c in self._config.connections)
        return list(dict.fromkeys(pairs))

    def _places(self, operator: str, tensor: Tensor, endpoint: SocketEndpoint) -> list[int]:
        """Return the place of this end's chip for each pair."""
        if self._endpoint is not endpoint:
            raise ParameterError(
                f"{operator}: expected the socket of the {endpoint.name.lower()}, got that of the "
                f"{self._endpoint.name.lower()}; ttnn.create_socket_pair returns the sender first"
            )
        if tensor.device() is not self._device:
            raise DeviceError(f"{operator}: the tensor is on {tensor.device()!r}, the socket on {self._device!r}")
        sends = endpoint is SocketEndpoint.SENDER
        places = [self._device.chip_at(operator, pair[0 if sends else 1]).place for pair in self._pairs()]
        missing = set(places) - set(tensor.buffers[0].places)
        if missing:
            raise DeviceError(f"{operator}: the tensor is not on all chips of the socket's connections")
        return places


HOST_CLASSES["MeshSocket"] = MeshSocket


def _deliver(tensor: Tensor, places: list[int], pages: list[Raw]) -> None:
    device = tensor.device()
    assert device is not None
    for place, raw in zip(places, pages, strict=True):
        transfer.write(tensor.buffers, tensor.spec, raw, device, place)


def _check_same(operator: str, sent: TensorSpec, received: TensorSpec) -> None:
    facts = [(spec.shape, spec.dtype, spec.layout, spec.page_shape) for spec in (sent, received)]
    if facts[0] != facts[1]:
        raise ShapeError(
            f"{operator}: sent is {sent.shape} in {sent.dtype}, {sent.layout}, received is {received.shape} in "
            f"{received.dtype}, {received.layout}; they must be equal"
        )


def _end(
    device: MeshDevice, other: MeshDevice, config: SocketConfig, endpoint: SocketEndpoint, way: _Way
) -> MeshSocket:
    end = MeshSocket.__new__(MeshSocket)
    end._device, end._other, end._config, end._endpoint, end._way = device, other, config, endpoint, way
    cores = CoreRangeSet(
        [CoreRange(core, core) for core in dict.fromkeys(c.core_coord for c in end.get_active_cores())]
    )
    check_in_grid("create_socket_pair: a connection has", cores, device.chip["grid"])
    sends = endpoint is SocketEndpoint.SENDER
    end._buffer = _on_cores(device, cores, sender_bytes(_cores_of(config)) if sends else RECEIVER_BYTES)
    if not sends:
        memory = config.memory_config
        if memory.socket_storage_type is BufferType.DRAM:
            last = CoreCoord(len(device.chip["dram_cores"]) - 1, 0)
            cores = CoreRangeSet([CoreRange(CoreCoord(0, 0), last)])
        end._queue = _on_cores(device, cores, -(-memory.fifo_size // 32) * 32, memory.socket_storage_type)
    return end


def _on_cores(device: MeshDevice, cores: CoreRangeSet, size: int, kind: BufferType = BufferType.L1) -> Buffer:
    count = cores.num_cores()
    return create_buffer(
        ShardedBufferConfig(
            device=device,
            size=count * size,
            page_size=size,
            tensor_pages=(count, 1),
            shard_pages=(1, 1),
            cores=cores,
            buffer_type=kind,
        )
    )


def _cores_of(config: SocketConfig) -> list[tuple[MeshCoreCoord, MeshCoreCoord]]:
    """Return the cores of each connection."""
    return [each._cores for each in config.connections]


def _write_states(sender: MeshSocket, receiver: MeshSocket) -> None:
    """Write the initial state of both ends to each of their chips."""
    queue, ends = receiver._queue, (sender, receiver)
    addresses = Addresses(sender._buffer.address(), receiver._buffer.address(), queue.address())
    meshes, memory, pairs = (sender._device, receiver._device), sender._config.memory_config, _cores_of(sender._config)
    for end in ends:
        chips = dict.fromkeys(core.device_coord for core in end.get_active_cores())
        cores = list(dict.fromkeys(core.core_coord for core in end.get_active_cores()))
        for chip in chips:
            words = states(end is sender, chip, cores, meshes, pairs, memory.fifo_size, addresses)
            end._buffer.write(words, chip)


@checked
def create_socket_pair(sender: MeshDevice, receiver: MeshDevice, config: SocketConfig) -> tuple[MeshSocket, MeshSocket]:
    """Return the two ends of a new socket.

    Args:
        sender: Mesh of the sender.
        receiver: Mesh of the receiver; it may be the same.
        config: Connections and memory.

    Raises:
        ArgumentError: an argument of another type.
        DeviceError: a mesh is closed, or has no such chip or core.
        FabricError: there is no fabric between the chips.
    """
    call = "create_socket_pair"
    if (
        not isinstance(sender, MeshDevice)
        or not isinstance(receiver, MeshDevice)
        or not isinstance(config, SocketConfig)
    ):
        raise ArgumentError(f"{call}: expected two ttnn.MeshDevice and a SocketConfig")
    for device in (sender, receiver):
        if not device.is_open:
            raise DeviceError(f"{call}: {device!r} is closed")
    if not FABRIC.is_on:
        raise FabricError(
            f"{call}: there is no fabric; call ttnn.set_fabric_config(...) before opening the mesh",
            vendor="Can only create multi-device sockets with fabric enabled.",
        )
    for connection in config.connections:
        places = [
            device._system.place_of[device.chip_at(call, core.device_coord).id]
            for device, core in ((sender, connection.sender_core), (receiver, connection.receiver_core))
        ]
        if FABRIC.is_1d and all(a != b for a, b in zip(*places, strict=True)):
            raise FabricError(
                f"{call}: chips at {places[0]} and {places[1]} of the system are in no common row or column",
                vendor="Sender and receiver chips must be in the same row or column when using 1D Line Fabric",
            )
    way = _Way()
    ends = (
        _end(sender, receiver, config, SocketEndpoint.SENDER, way),
        _end(receiver, sender, config, SocketEndpoint.RECEIVER, way),
    )
    _write_states(*ends)
    return ends
