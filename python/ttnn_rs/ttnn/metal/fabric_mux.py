"""Mux cores: memory, and arguments of kernels.

A mux core forwards the packets of several workers to one connection, where each worker has a channel. Here it forwards
at once, so addresses and semaphores are only as the official protocol has them.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Final

from ttnn import _engine
from ttnn.base.call import shown
from ttnn.base.core_range import CoreCoord, CoreLike, as_core
from ttnn.base.enums import CoreType
from ttnn.base.exceptions import ArgumentError, IndexRangeError, MemoryConfigError, ParameterError, UnsupportedError
from ttnn.device.fabric import current_system
from ttnn.device.fabric_state import FABRIC
from ttnn.device.mesh import FabricNodeId
from ttnn.metal.configs import KernelBuildOptLevel
from ttnn.metal.descriptors import ProgramDescriptor
from ttnn.metal.fabric import add_semaphore, setup_fabric_connection

__all__ = [
    "ChannelType",
    "Config",
    "KernelBuildOptLevel",
    "channel_buffer_size_bytes",
    "client_compile_time_args",
    "client_runtime_args",
]

_WORD: Final = 16
"""Bytes between the words of a region."""
_CLIENT_BYTES: Final = 64
"""Bytes about a connected worker."""
_ROUTER_BUFFERS: Final = 8
_TEARDOWN_CHECKS: Final = 32
_MOST: Final = 32
"""Channels of a mux core, at most: a stream register for each."""


class ChannelType(enum.Enum):
    """Packets of a channel: with payload, or headers only."""

    FULL_SIZE = 0
    HEADER_ONLY = 1


def channel_buffer_size_bytes() -> int:
    """Return the bytes of a header and the largest payload.

    Raises:
        FabricError: there is no fabric.
    """
    FABRIC.require_on("channel_buffer_size_bytes")
    return FABRIC.header_bytes(current_system()) + FABRIC.max_payload_bytes()


def _count(name: str, value: object, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ArgumentError(f"fabric_mux: {name} must be an int, got {shown(value)}")
    if not 0 <= value <= most:
        raise ParameterError(f"fabric_mux: {name} is {shown(value)}; 0 to {most} are possible")
    return value


class Config:
    """Memory of a mux core, and the arguments of its kernel."""

    def __init__(
        self,
        num_full_size_channels: int,
        num_header_only_channels: int,
        num_buffers_per_full_size_channel: int,
        num_buffers_per_header_only_channel: int,
        full_size_channel_buffer_size_bytes: int,
        base_l1_address: int,
        core_type: CoreType = CoreType.WORKER,
        usable_l1_end_address: int = 0,
    ) -> None:
        """Lay out the memory.

        Args:
            num_full_size_channels: Channels for packets with payload.
            num_header_only_channels: Channels for packets without.
            num_buffers_per_full_size_channel: Packets that one of the first kind holds.
            num_buffers_per_header_only_channel: Packets that one of the second kind holds.
            full_size_channel_buffer_size_bytes: Bytes of a packet with payload, at most.
            base_l1_address: First address.
            core_type: WORKER.
            usable_l1_end_address: End of the memory; 0 for that of L1.

        Raises:
            FabricError: there is no fabric.
            MemoryConfigError: the memory ends after the limit.
            ParameterError: there are no channels, or too many, or packets are too large.
            UnsupportedError: another `core_type`.
        """
        largest = channel_buffer_size_bytes()
        counts = num_full_size_channels, num_header_only_channels
        channels = [_count("a number of channels", count, _MOST) for count in counts]
        if not 0 < sum(channels) <= _MOST:
            raise ParameterError(f"fabric_mux.Config: {sum(channels)} channels; 1 to {_MOST} are possible")
        if core_type not in (CoreType.WORKER, CoreType.TENSIX):
            raise UnsupportedError(f"fabric_mux.Config: mux kernels on {core_type} cores are not modelled")
        buffers = num_buffers_per_full_size_channel, num_buffers_per_header_only_channel
        self._channels = dict(zip(ChannelType, channels, strict=True))
        self._buffers = {
            kind: _count("a number of buffers", count, 255) for kind, count in zip(ChannelType, buffers, strict=True)
        }
        size = _count("full_size_channel_buffer_size_bytes", full_size_channel_buffer_size_bytes, largest)
        self._sizes = {ChannelType.FULL_SIZE: size, ChannelType.HEADER_ONLY: FABRIC.header_bytes(current_system())}
        total = sum(channels)
        l1_end = int(_engine.chip_info(current_system().chip)["l1_bytes"])
        address = _count("base_l1_address", base_l1_address, l1_end)
        self._regions: dict[str, int] = {}
        rooms = [
            ("status", _WORD),
            ("router_status", _WORD),
            ("termination", _WORD),
            ("info", _CLIENT_BYTES * total),
            ("handshake", _WORD * total),
            ("flow_control", _WORD * total),
            ("buffer_index", _WORD * total),
            *((kind.name, self._channels[kind] * self._buffers[kind] * self._sizes[kind]) for kind in ChannelType),
        ]
        for name, room in rooms:
            self._regions[name] = address
            address += room
        self._end = address
        limit = _count("usable_l1_end_address", usable_l1_end_address, l1_end) or l1_end
        if address > limit:
            raise MemoryConfigError(f"fabric_mux.Config: the memory ends at {address}, after {limit}")

    def memory_map_end_address(self) -> int:
        """Return the end of the memory."""
        return self._end

    def num_channels(self, channel_type: ChannelType) -> int:
        """Return the number of channels of a kind."""
        return self._channels[_kind(channel_type)]

    def num_buffers(self, channel_type: ChannelType) -> int:
        """Return how many packets a channel holds."""
        return self._buffers[_kind(channel_type)]

    def buffer_size_bytes(self, channel_type: ChannelType) -> int:
        """Return the bytes of a packet in a channel."""
        return self._sizes[_kind(channel_type)]

    def kernel_compile_time_args(self) -> list[int]:
        """Return the compile-time arguments of the mux kernel."""
        full, header = ChannelType
        at = self._regions
        return [
            *(self._channels[full], self._buffers[full], self._sizes[full]),
            *(self._channels[header], self._buffers[header]),
            *(at["status"], at["termination"], at["info"], at["handshake"], at["flow_control"], at[full.name]),
            *(at["router_status"], at["router_status"], _ROUTER_BUFFERS, 1, _TEARDOWN_CHECKS, 0, 1),
            *range(sum(self._channels.values())),
        ]

    def kernel_runtime_args(
        self,
        source_node_id: FabricNodeId,
        destination_node_id: FabricNodeId,
        link_index: int,
        program_descriptor: ProgramDescriptor,
        mux_logical_core: CoreLike,
    ) -> list[int]:
        """Return the runtime arguments of the mux kernel.

        Two semaphores are added to the program.

        Args:
            source_node_id: Chip of the mux core.
            destination_node_id: A chip in the direction of the connection.
            link_index: Link of the neighbours.
            program_descriptor: The program, which gets the semaphores.
            mux_logical_core: The mux core.

        Raises:
            ArgumentError, FabricError, IndexRangeError, ParameterError: as `setup_fabric_connection`.
        """
        at = self._regions
        cleared = [at["status"], at["info"] - at["status"], at["handshake"], at["buffer_index"] - at["handshake"]]
        words = setup_fabric_connection(
            source_node_id, destination_node_id, link_index, program_descriptor, mux_logical_core
        )
        return [len(cleared) // 2, *cleared, *words]

    def _addresses(self, kind: ChannelType, client: int) -> list[int]:
        """Return the addresses of a channel, and its number."""
        number = client + (self._channels[ChannelType.FULL_SIZE] if kind is ChannelType.HEADER_ONLY else 0)
        at = self._regions
        return [
            at[kind.name] + client * self._buffers[kind] * self._sizes[kind],
            at["info"] + number * _CLIENT_BYTES,
            *(at[name] + number * _WORD for name in ("handshake", "flow_control", "buffer_index")),
            number,
        ]


def _kind(value: object) -> ChannelType:
    if not isinstance(value, ChannelType):
        raise ArgumentError(f"fabric_mux: expected a ChannelType, got {shown(value)}")
    return value


def _config(value: object) -> Config:
    if not isinstance(value, Config):
        raise ArgumentError(f"fabric_mux: expected a Config, got {shown(value)}")
    return value


def client_compile_time_args(num_clients: int, channel_type: ChannelType, config: Config) -> list[int]:
    """Return five compile-time arguments of a mux client.

    Args:
        num_clients: Number of such kernels.
        channel_type: Kind of their channels.
        config: The mux core.

    Raises:
        ArgumentError: an argument of another type.
        ParameterError: an impossible number.
    """
    kind, config = _kind(channel_type), _config(config)
    at = config._regions
    clients = _count("num_clients", num_clients, _MOST)
    return [config._buffers[kind], config._sizes[kind], at["status"], at["termination"], clients]


def client_runtime_args(
    connection_valid: bool,
    is_termination_master: bool,
    channel_type: ChannelType,
    mux_virtual_core: CoreLike,
    client_index: int,
    client_logical_core: CoreLike,
    config: Config,
    program_descriptor: ProgramDescriptor,
    termination_master_virtual_core: CoreLike,
    termination_master_semaphore_id: int | None = None,
) -> list[int]:
    """Return the 17 runtime arguments of a mux client.

    A client is a kernel that sends through a mux core. Four semaphores are added to the program, and a fifth without
    `termination_master_semaphore_id`.

    Args:
        connection_valid: Whether there is a mux core for this kernel.
        is_termination_master: Whether it ends the mux kernel, after the others.
        channel_type: Kind of its channel.
        mux_virtual_core: NoC coordinates of the mux core.
        client_index: Its channel.
        client_logical_core: Its core.
        config: The mux core.
        program_descriptor: The program, which gets the semaphores.
        termination_master_virtual_core: NoC coordinates of the core that ends the mux kernel.
        termination_master_semaphore_id: Semaphore there.

    Raises:
        ArgumentError: an argument of another type.
        IndexRangeError: the mux core has no such channel.
        ParameterError: the core has no free semaphores.
    """
    call = "fabric_mux.client_runtime_args"
    kind, config = _kind(channel_type), _config(config)
    if not isinstance(program_descriptor, ProgramDescriptor):
        raise ArgumentError(f"{call}: expected a ProgramDescriptor, got {shown(program_descriptor)}")
    count = config._channels[kind]
    if isinstance(client_index, bool) or not isinstance(client_index, int):
        raise ArgumentError(f"{call}: client_index must be an int, got {shown(client_index)}")
    if not 0 <= client_index < count:
        raise IndexRangeError(
            f"{call}: channel {shown(client_index)} of {count}",
            vendor=f"Fabric mux client index {shown(client_index)} is out of range for channel count {count}",
        )
    core = as_core(client_logical_core)
    missing = 5 if termination_master_semaphore_id is None else 4
    semaphores: Sequence[int] = [add_semaphore(call, program_descriptor, core) for _ in range(missing)]
    if termination_master_semaphore_id is not None:
        semaphores = [_count("termination_master_semaphore_id", termination_master_semaphore_id, 31), *semaphores]
    mux, master = _words(mux_virtual_core), _words(termination_master_virtual_core)
    flags = [int(bool(connection_valid)), int(bool(is_termination_master))]
    return [*flags, *mux, *config._addresses(kind, client_index), *semaphores, *master]


def _words(core: CoreLike) -> list[int]:
    place: CoreCoord = as_core(core)
    return [place.x, place.y]
