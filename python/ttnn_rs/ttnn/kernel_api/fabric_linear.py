"""The linear API: one function for each kind of packet and route.

`fabric_unicast_*` goes to the chip at a distance along a connection, `fabric_multicast_*` to several chips from a
distance on. Each has three forms:

* plain writes the header and sends it: `(client_interface, packet_header, src_addr, size, command_header, *route)`;
* `*_set_state` writes the header: `(packet_header, *route, command_header=None, packet_size_bytes=0)`;
* `*_with_state` sends it, or changes it first:
  `(client_interface, packet_header, src_addr, command_header=None, packet_size_bytes=0)`.

Those of words have no `src_addr`, `size` and `packet_size_bytes`. The route is `num_hops`, or `start_distance` and
`range`.
Source: tt-metal `tt_metal/fabric/hw/inc/linear/api.h`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ttnn.kernel_api.fabric import (
    MulticastRoutingCommandHeader,
    PacketHeader,
    WorkerToFabricEdmSender,
    packet_header_bytes,
)

Form = Callable[..., None]
Write = Callable[..., PacketHeader]


def _unicast(header: PacketHeader, num_hops: int) -> None:
    header.to_chip_unicast(num_hops)


def _multicast(header: PacketHeader, start_distance: int, range: int) -> None:
    header.to_chip_multicast(MulticastRoutingCommandHeader(start_distance, range))


def _send(client_interface: WorkerToFabricEdmSender, packet_header: PacketHeader) -> None:
    client_interface.send_payload_flush_non_blocking_from_address(packet_header.address, packet_header_bytes())


def _named(name: str, forms: tuple[Form, Form, Form]) -> tuple[Form, Form, Form]:
    for form, ending in zip(forms, ("", "_set_state", "_with_state"), strict=True):
        form.__name__ = form.__qualname__ = name + ending
    return forms


def _of_payload(name: str, route: Callable[..., None], write: Write) -> tuple[Form, Form, Form]:
    """Return the forms of packets with a payload."""

    def plain(
        client_interface: WorkerToFabricEdmSender,
        packet_header: PacketHeader,
        src_addr: int,
        size: int,
        command_header: Any,
        *hops: int,
    ) -> None:
        """Write a header and send it with a payload."""
        route(write(packet_header, command_header, size), *hops)
        client_interface.send_payload_without_header_non_blocking_from_address(src_addr, size)
        _send(client_interface, packet_header)

    def set_state(
        packet_header: PacketHeader, *hops: int, command_header: Any = None, packet_size_bytes: int = 0
    ) -> None:
        """Write a header."""
        route(packet_header, *hops)
        if command_header is not None:
            write(packet_header, command_header, packet_size_bytes)

    def with_state(
        client_interface: WorkerToFabricEdmSender,
        packet_header: PacketHeader,
        src_addr: int,
        command_header: Any = None,
        packet_size_bytes: int = 0,
    ) -> None:
        """Send a payload with a header that was written before."""
        size = packet_size_bytes or packet_header.payload_size_bytes
        if command_header is not None:
            write(packet_header, command_header, size)
        elif packet_size_bytes:
            packet_header.payload_size_bytes = packet_size_bytes
        client_interface.send_payload_without_header_non_blocking_from_address(src_addr, size)
        _send(client_interface, packet_header)

    return _named(name, (plain, set_state, with_state))


def _of_word(name: str, route: Callable[..., None], write: Write) -> tuple[Form, Form, Form]:
    """Return the forms of packets without a payload."""

    def plain(
        client_interface: WorkerToFabricEdmSender, packet_header: PacketHeader, command_header: Any, *hops: int
    ) -> None:
        """Write a header and send it."""
        route(write(packet_header, command_header), *hops)
        _send(client_interface, packet_header)

    def set_state(packet_header: PacketHeader, *hops: int, command_header: Any = None) -> None:
        """Write a header."""
        route(packet_header, *hops)
        if command_header is not None:
            write(packet_header, command_header)

    def with_state(
        client_interface: WorkerToFabricEdmSender, packet_header: PacketHeader, command_header: Any = None
    ) -> None:
        """Send a header that was written before."""
        if command_header is not None:
            write(packet_header, command_header)
        _send(client_interface, packet_header)

    return _named(name, (plain, set_state, with_state))


(
    fabric_unicast_noc_unicast_write,
    fabric_unicast_noc_unicast_write_set_state,
    fabric_unicast_noc_unicast_write_with_state,
) = _of_payload("fabric_unicast_noc_unicast_write", _unicast, PacketHeader.to_noc_unicast_write)

(
    fabric_unicast_noc_unicast_atomic_inc,
    fabric_unicast_noc_unicast_atomic_inc_set_state,
    fabric_unicast_noc_unicast_atomic_inc_with_state,
) = _of_word("fabric_unicast_noc_unicast_atomic_inc", _unicast, PacketHeader.to_noc_unicast_atomic_inc)

(
    fabric_unicast_noc_unicast_inline_write,
    fabric_unicast_noc_unicast_inline_write_set_state,
    fabric_unicast_noc_unicast_inline_write_with_state,
) = _of_word("fabric_unicast_noc_unicast_inline_write", _unicast, PacketHeader.to_noc_unicast_inline_write)

(
    fabric_unicast_noc_scatter_write,
    fabric_unicast_noc_scatter_write_set_state,
    fabric_unicast_noc_scatter_write_with_state,
) = _of_payload("fabric_unicast_noc_scatter_write", _unicast, PacketHeader.to_noc_unicast_scatter_write)

(
    fabric_unicast_noc_fused_unicast_with_atomic_inc,
    fabric_unicast_noc_fused_unicast_with_atomic_inc_set_state,
    fabric_unicast_noc_fused_unicast_with_atomic_inc_with_state,
) = _of_payload(
    "fabric_unicast_noc_fused_unicast_with_atomic_inc", _unicast, PacketHeader.to_noc_fused_unicast_write_atomic_inc
)

(
    fabric_unicast_noc_fused_scatter_write_atomic_inc,
    fabric_unicast_noc_fused_scatter_write_atomic_inc_set_state,
    fabric_unicast_noc_fused_scatter_write_atomic_inc_with_state,
) = _of_payload(
    "fabric_unicast_noc_fused_scatter_write_atomic_inc",
    _unicast,
    PacketHeader.to_noc_fused_unicast_scatter_write_atomic_inc,
)

(
    fabric_multicast_noc_unicast_write,
    fabric_multicast_noc_unicast_write_set_state,
    fabric_multicast_noc_unicast_write_with_state,
) = _of_payload("fabric_multicast_noc_unicast_write", _multicast, PacketHeader.to_noc_unicast_write)

(
    fabric_multicast_noc_unicast_atomic_inc,
    fabric_multicast_noc_unicast_atomic_inc_set_state,
    fabric_multicast_noc_unicast_atomic_inc_with_state,
) = _of_word("fabric_multicast_noc_unicast_atomic_inc", _multicast, PacketHeader.to_noc_unicast_atomic_inc)

(
    fabric_multicast_noc_unicast_inline_write,
    fabric_multicast_noc_unicast_inline_write_set_state,
    fabric_multicast_noc_unicast_inline_write_with_state,
) = _of_word("fabric_multicast_noc_unicast_inline_write", _multicast, PacketHeader.to_noc_unicast_inline_write)

(
    fabric_multicast_noc_scatter_write,
    fabric_multicast_noc_scatter_write_set_state,
    fabric_multicast_noc_scatter_write_with_state,
) = _of_payload("fabric_multicast_noc_scatter_write", _multicast, PacketHeader.to_noc_unicast_scatter_write)

(
    fabric_multicast_noc_fused_unicast_with_atomic_inc,
    fabric_multicast_noc_fused_unicast_with_atomic_inc_set_state,
    fabric_multicast_noc_fused_unicast_with_atomic_inc_with_state,
) = _of_payload(
    "fabric_multicast_noc_fused_unicast_with_atomic_inc", _multicast, PacketHeader.to_noc_fused_unicast_write_atomic_inc
)

(
    fabric_multicast_noc_fused_scatter_write_atomic_inc,
    fabric_multicast_noc_fused_scatter_write_atomic_inc_set_state,
    fabric_multicast_noc_fused_scatter_write_atomic_inc_with_state,
) = _of_payload(
    "fabric_multicast_noc_fused_scatter_write_atomic_inc",
    _multicast,
    PacketHeader.to_noc_fused_unicast_scatter_write_atomic_inc,
)
