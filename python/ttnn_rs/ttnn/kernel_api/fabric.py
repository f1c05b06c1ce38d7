"""Packets to other chips: headers and connections.

A kernel opens connections that the host gave it (`ttnn.setup_fabric_connection`), writes a packet header in its L1 and
sends it with a payload. What a packet does at its destination is in its header: it writes bytes, writes a word or adds
to a word, with an order between the parts of one packet and between packets of one connection. Addresses are NoC
addresses of the other chip, which are those of this one.

References to `arg_idx` of C++ are returned: `build_from_args` returns the connection and the next index.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from operator import index
from typing import Final

import numpy as np

from ttnn.base.exceptions import KernelArgumentError
from ttnn.kernel_api.arguments import get_arg_val
from ttnn.kernel_api.circular_buffers import cb_wait_front, get_read_ptr
from ttnn.kernel_api.context import here, switch
from ttnn.kernel_api.l1 import L1Pointer

_PAYLOAD_BYTES, _SEND_TYPE, _ROUTE = 40, 42, 44
"""Offsets of payload size, kind of packet and route."""
_WRITE, _INLINE_WRITE, _ATOMIC_INC, _FUSED_ATOMIC_INC, _SCATTER_WRITE = range(5)
_LARGEST_HEADER: Final = 96
_HEADERS: Final = 32
"""Headers that a kernel can have in the pool."""
_ENCODED_WRITE, _ENCODED_INC, _ENCODED_INC_AND_FLUSH = 1, 2, 3


@dataclass(frozen=True)
class NocUnicastCommandHeader:
    """A write of the payload to a NoC address."""

    noc_address: int


@dataclass(frozen=True)
class NocUnicastInlineWriteCommandHeader:
    """A write of a word to a NoC address."""

    noc_address: int
    value: int


@dataclass(frozen=True)
class NocUnicastAtomicIncCommandHeader:
    """An addition to a word at a NoC address."""

    noc_address: int
    val: int
    flush: bool = True


@dataclass(frozen=True)
class NocUnicastAtomicIncFusedCommandHeader:
    """A write of the payload, then an addition to a word."""

    noc_address: int
    semaphore_noc_address: int
    val: int
    flush: bool = True


@dataclass(frozen=True)
class NocUnicastScatterCommandHeader:
    """Writes of two to four parts of the payload.

    `chunk_size` has the sizes of all parts but the last.
    """

    noc_address: Sequence[int]
    chunk_size: Sequence[int]


@dataclass(frozen=True)
class NocUnicastScatterAtomicIncFusedCommandHeader:
    """Writes of two parts of the payload, then an addition."""

    noc_address: Sequence[int]
    semaphore_noc_address: int
    chunk_size: Sequence[int]
    val: int
    flush: bool = True


@dataclass(frozen=True)
class MulticastRoutingCommandHeader:
    """Chips of a multicast: distance of the first, and number."""

    start_distance_in_hops: int
    range_hops: int


def _number(name: str, value: int, bits: int) -> int:
    """Return an integer of so many bits.

    Raises:
        KernelArgumentError: another value.
    """
    try:
        number = index(value)
    except TypeError:
        raise KernelArgumentError(f"packet header: {name} is {value!r}; an integer is required") from None
    if not 0 <= number < 1 << bits:
        raise KernelArgumentError(f"packet header: {name} is {number}; 0 to {(1 << bits) - 1} are possible")
    return number


class PacketHeader:
    """A packet header at an L1 address."""

    __slots__ = ("address",)

    def __init__(self, address: int) -> None:
        self.address = address

    def _put(self, offset: int, value: int, size: int, name: str = "a field") -> None:
        value = _number(name, value, 8 * size)
        L1Pointer(self.address + offset, np.uint8).write(np.frombuffer(value.to_bytes(size, "little"), np.uint8))

    @property
    def payload_size_bytes(self) -> int:
        """Bytes of the payload."""
        return int(L1Pointer(self.address + _PAYLOAD_BYTES, np.uint16)[0])

    @payload_size_bytes.setter
    def payload_size_bytes(self, size: int) -> None:
        self._put(_PAYLOAD_BYTES, size, 2, "the size of the payload")

    def _kind(self, kind: int, payload: int | None) -> None:
        if payload is not None:
            self._put(_PAYLOAD_BYTES, payload, 2, "the size of the payload")
        self._put(_SEND_TYPE, kind, 1)

    def to_chip_unicast(self, distance_in_hops: int) -> PacketHeader:
        """Send to the chip at a distance along the connection."""
        self._put(_ROUTE, _number("distance_in_hops", distance_in_hops, 8) << 8, 4)
        return self

    def to_chip_multicast(self, command: MulticastRoutingCommandHeader) -> PacketHeader:
        """Send to several chips along the connection."""
        start = _number("start_distance_in_hops", command.start_distance_in_hops, 8)
        self._put(_ROUTE, 1 | start << 8 | _number("range_hops", command.range_hops, 8) << 16, 4)
        return self

    def to_chip_sparse_multicast(self, hop_mask: int) -> PacketHeader:
        """Send to the chips along the connection whose bit is set."""
        self._put(_ROUTE, 4, 2)
        self._put(46, hop_mask & 0xFFFF, 2)
        if packet_header_bytes() >= 64:
            self._put(48, hop_mask, 4)
        return self

    def to_device(self, dst_dev_id: int, dst_mesh_id: int = 0) -> PacketHeader:
        """Send to a chip of a 2-D fabric."""
        self._put(_ROUTE, 2, 4)
        self._put(48, dst_dev_id, 2, "dst_dev_id")
        self._put(50, dst_mesh_id, 2, "dst_mesh_id")
        return self

    def to_rectangle(self, east: int, west: int, north: int, south: int) -> PacketHeader:
        """Send to the chips around this one in a 2-D fabric."""
        self._put(_ROUTE, 3, 4)
        for offset, hops in enumerate((east, west, north, south), 52):
            self._put(offset, hops, 1, "a number of hops")
        return self

    def to_noc_unicast_write(
        self, command: NocUnicastCommandHeader, payload_size_bytes: int | None = None
    ) -> PacketHeader:
        """Write the payload."""
        self._put(0, command.noc_address, 8)
        self._kind(_WRITE, payload_size_bytes)
        return self

    def to_noc_unicast_inline_write(self, command: NocUnicastInlineWriteCommandHeader) -> PacketHeader:
        """Write a word."""
        self._put(0, command.noc_address, 8)
        self._put(8, command.value & 0xFFFFFFFF, 4)
        self._kind(_INLINE_WRITE, 0)
        return self

    def to_noc_unicast_atomic_inc(self, command: NocUnicastAtomicIncCommandHeader) -> PacketHeader:
        """Add to a word."""
        self._put(0, command.noc_address, 8)
        self._put(8, command.val & 0xFFFFFFFF, 4)
        self._put(12, int(command.flush), 1)
        self._kind(_ATOMIC_INC, 0)
        return self

    def to_noc_fused_unicast_write_atomic_inc(
        self, command: NocUnicastAtomicIncFusedCommandHeader, payload_size_bytes: int | None = None
    ) -> PacketHeader:
        """Write the payload, then add to a word."""
        self._put(0, command.noc_address, 8)
        self._put(8, command.semaphore_noc_address, 8)
        self._put(16, command.val & 0xFFFFFFFF, 4)
        self._put(20, int(command.flush), 1)
        self._kind(_FUSED_ATOMIC_INC, payload_size_bytes)
        return self

    def to_noc_unicast_scatter_write(
        self, command: NocUnicastScatterCommandHeader, payload_size_bytes: int | None = None
    ) -> PacketHeader:
        """Write parts of the payload."""
        count = len(command.noc_address)
        if not 2 <= count <= 4 or len(command.chunk_size) != count - 1:
            raise KernelArgumentError(
                f"to_noc_unicast_scatter_write: {count} addresses and {len(command.chunk_size)} sizes; 2 to 4 "
                "addresses and a size for each but the last are required"
            )
        self._scatter(command.noc_address, command.chunk_size, [_ENCODED_WRITE] * count)
        self._kind(_SCATTER_WRITE, payload_size_bytes)
        return self

    def to_noc_fused_unicast_scatter_write_atomic_inc(
        self, command: NocUnicastScatterAtomicIncFusedCommandHeader, payload_size_bytes: int
    ) -> PacketHeader:
        """Write two parts of the payload, then add to a word."""
        if len(command.noc_address) != 2 or len(command.chunk_size) != 1:
            raise KernelArgumentError(
                "to_noc_fused_unicast_scatter_write_atomic_inc: 2 addresses and the size of the first part are required"
            )
        first = command.chunk_size[0]
        last = _ENCODED_INC_AND_FLUSH if command.flush else _ENCODED_INC
        addresses = [*command.noc_address, command.semaphore_noc_address]
        sizes = [first, payload_size_bytes - first, command.val & 0xFFFF]
        self._scatter(addresses, sizes, [_ENCODED_WRITE, _ENCODED_WRITE, last])
        self._kind(_SCATTER_WRITE, payload_size_bytes)
        return self

    def _scatter(self, addresses: Sequence[int], sizes: Sequence[int], kinds: Sequence[int]) -> None:
        for place, address in enumerate(addresses):
            self._put(8 * place, address, 8)
        for place, size in enumerate(sizes):
            self._put(32 + 2 * place, size, 2, "the size of a part")
        self._put(38, len(kinds), 1)
        self._put(39, sum(kind << 2 * place for place, kind in enumerate(kinds)), 1)


def packet_header_bytes() -> int:
    """Return the size of a packet header of the fabric."""
    return int(here.run.packet_header_bytes())


def get_next_hop_router_direction(dst_mesh_id: int, dst_dev_id: int) -> int:
    """Return the direction of the first hop to a chip.

    0 is east, 1 west, 2 north, 3 south.
    """
    return int(here.run.fabric_direction(dst_mesh_id, dst_dev_id))


class PacketHeaderPool:
    """Room for packet headers in L1: 32 for each data movement kernel."""

    @staticmethod
    def allocate_header(num_headers: int = 1) -> PacketHeader:
        """Return a header of the pool, the first of several.

        Raises:
            KernelArgumentError: the pool has no more.
        """
        kernel = here.kernel
        used, _ = kernel.states.get(("packet headers", 0), (0, 0))
        num_headers = _number("num_headers", num_headers, 32)
        if not 0 < num_headers <= _HEADERS - used:
            raise KernelArgumentError(
                f"PacketHeaderPool.allocate_header: {num_headers} headers; {_HEADERS - used} of {_HEADERS} are left"
            )
        kernel.states["packet headers", 0] = used + num_headers, 0
        first = _HEADERS * (kernel.risc == "NCRISC")
        return PacketHeader(here.run.header_pool() + (first + used) * _LARGEST_HEADER)

    @staticmethod
    def reset() -> None:
        """Free all headers of the kernel."""
        here.kernel.states.pop(("packet headers", 0), None)


class WorkerToFabricEdmSender:
    """A connection to the router of a neighbour."""

    __slots__ = ("channel",)

    def __init__(self, channel: int) -> None:
        self.channel = channel

    @classmethod
    def build_from_args(cls, arg_idx: int) -> tuple[WorkerToFabricEdmSender, int]:
        """Return the connection of the runtime arguments from an index on.

        It has three words. The index of the next argument is returned, too.
        """
        return cls(get_arg_val(arg_idx)), arg_idx + 3

    def open(self) -> None:
        """Open the connection; wait while another kernel has it."""
        while not here.run.fabric_open(self.channel):
            switch()

    def open_start(self) -> None:
        """Begin to open the connection."""
        self.open()

    def open_finish(self) -> None:
        """Wait until the connection is open."""

    def close(self) -> None:
        """Close the connection."""
        here.run.fabric_close(self.channel)

    def close_start(self) -> None:
        """Begin to close the connection."""
        self.close()

    def close_finish(self) -> None:
        """Wait until the connection is closed."""

    def edm_has_space_for_packet(self, num_slots: int = 1) -> bool:
        """Return whether the router has so many free slots."""
        return bool(here.run.fabric_slots(self.channel) >= num_slots)

    def wait_for_empty_write_slot(self) -> None:
        """Wait for a free slot."""
        here.run.fabric_slots(self.channel)

    def send_payload_without_header_non_blocking_from_address(self, source_address: int, size_bytes: int) -> None:
        """Write the payload of the next packet to the router."""
        here.run.fabric_payload(self.channel, source_address, size_bytes)

    def send_payload_non_blocking_from_address(self, source_address: int, size_bytes: int) -> None:
        """Send a packet: its header, and a payload that follows it."""
        while not here.run.fabric_send(self.channel, source_address, size_bytes):
            switch()

    send_payload_flush_non_blocking_from_address = send_payload_non_blocking_from_address
    send_payload_flush_blocking_from_address = send_payload_non_blocking_from_address
    send_payload_blocking_from_address = send_payload_non_blocking_from_address

    def send_payload_blocking(self, cb_id: int, num_pages: int, page_size: int) -> None:
        """Send pages of a circular buffer, which begin with the header."""
        cb_wait_front(cb_id, num_pages)
        self.send_payload_non_blocking_from_address(get_read_ptr(cb_id), num_pages * page_size)


class FabricConnectionManager:
    """Connections in both directions of a line, where they exist."""

    class BuildFromArgsMode(IntEnum):
        """Times at which connections are opened."""

        BUILD_ONLY = 0
        BUILD_AND_OPEN_CONNECTION = 1
        BUILD_AND_OPEN_CONNECTION_START_ONLY = 2

    def __init__(
        self, forward: WorkerToFabricEdmSender | None = None, backward: WorkerToFabricEdmSender | None = None
    ) -> None:
        self._forward, self._backward = forward, backward

    @classmethod
    def build_from_args(
        cls, arg_idx: int, build_mode: BuildFromArgsMode = BuildFromArgsMode.BUILD_ONLY
    ) -> tuple[FabricConnectionManager, int]:
        """Return the connections of the runtime arguments, and the next index.

        For each direction a flag says whether the words of a connection follow.
        """
        senders: list[WorkerToFabricEdmSender | None] = []
        for _ in range(2):
            exists, arg_idx = get_arg_val(arg_idx), arg_idx + 1
            sender = None
            if exists:
                sender, arg_idx = WorkerToFabricEdmSender.build_from_args(arg_idx)
            senders.append(sender)
        manager = cls(*senders)
        if build_mode is not cls.BuildFromArgsMode.BUILD_ONLY:
            manager.open()
        return manager, arg_idx

    def is_logically_connected(self) -> bool:
        """Return whether there is a connection."""
        return self.has_forward_connection() or self.has_backward_connection()

    def has_forward_connection(self) -> bool:
        """Return whether there is one forward."""
        return self._forward is not None

    def has_backward_connection(self) -> bool:
        """Return whether there is one backward."""
        return self._backward is not None

    def get_forward_connection(self) -> WorkerToFabricEdmSender:
        """Return the connection forward.

        Raises:
            KernelArgumentError: there is none.
        """
        return _required(self._forward, "forward")

    def get_backward_connection(self) -> WorkerToFabricEdmSender:
        """Return the connection backward.

        Raises:
            KernelArgumentError: there is none.
        """
        return _required(self._backward, "backward")

    def open(self) -> None:
        """Open the connections."""
        for sender in (self._forward, self._backward):
            if sender is not None:
                sender.open()

    def open_finish(self) -> None:
        """Wait until the connections are open."""

    def close(self) -> None:
        """Close the connections."""
        for sender in (self._forward, self._backward):
            if sender is not None:
                sender.close()

    def close_start(self) -> None:
        """Begin to close the connections."""
        self.close()

    def close_finish(self) -> None:
        """Wait until the connections are closed."""


def _required(sender: WorkerToFabricEdmSender | None, where: str) -> WorkerToFabricEdmSender:
    if sender is None:
        raise KernelArgumentError(f"get_{where}_connection: the kernel has no connection {where}")
    return sender


class ConnectionSlot:
    """A connection of a routing plane: direction, and chip in 2-D."""

    __slots__ = ("dst_dev_id", "dst_mesh_id", "sender", "tag")

    def __init__(self, sender: WorkerToFabricEdmSender, tag: int) -> None:
        self.sender, self.tag = sender, tag
        self.dst_dev_id = self.dst_mesh_id = 0


class RoutingPlaneConnectionManager:
    """Connections by direction, as many as the host made."""

    BuildFromArgsMode = FabricConnectionManager.BuildFromArgsMode

    def __init__(self) -> None:
        self._slots: list[ConnectionSlot] = []

    @classmethod
    def build_from_args(
        cls,
        arg_idx: int,
        num_connections_to_build: int,
        build_mode: FabricConnectionManager.BuildFromArgsMode = FabricConnectionManager.BuildFromArgsMode.BUILD_ONLY,
    ) -> tuple[RoutingPlaneConnectionManager, int]:
        """Return the connections of the runtime arguments, and the next index."""
        manager = cls()
        for _ in range(num_connections_to_build):
            tag = get_arg_val(arg_idx)
            sender, arg_idx = WorkerToFabricEdmSender.build_from_args(arg_idx + 1)
            manager._slots.append(ConnectionSlot(sender, tag))
        if build_mode is not cls.BuildFromArgsMode.BUILD_ONLY:
            manager.open()
        if packet_header_bytes() == _LARGEST_HEADER:
            arg_idx += 2
            for slot in manager._slots:
                slot.dst_dev_id, slot.dst_mesh_id = get_arg_val(arg_idx), get_arg_val(arg_idx + 1)
                arg_idx += 2
        return manager, arg_idx

    def active_count(self) -> int:
        """Return the number of connections."""
        return len(self._slots)

    def get(self, index: int) -> ConnectionSlot:
        """Return a connection.

        Raises:
            KernelArgumentError: there is no such one.
        """
        if not 0 <= index < len(self._slots):
            raise KernelArgumentError(f"RoutingPlaneConnectionManager.get: connection {index} of {len(self._slots)}")
        return self._slots[index]

    def get_tag(self, index: int) -> int:
        """Return the direction of a connection."""
        return self.get(index).tag

    def open(self) -> None:
        """Open the connections."""
        for slot in self._slots:
            slot.sender.open()

    def close(self) -> None:
        """Close the connections."""
        for slot in self._slots:
            slot.sender.close()
