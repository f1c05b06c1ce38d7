"""Connections through mux cores, which forward the packets of several workers.

The host sets a mux core up with `ttnn._experimental.fabric_mux`. It forwards at once and is always ready.
Source: tt-metal `tt_metal/fabric/hw/inc/tt_fabric_mux_interface.hpp` and `tt_fabric_mux_v2_sender.hpp`.
"""

from __future__ import annotations

from ttnn.base.exceptions import KernelArgumentError
from ttnn.kernel_api.arguments import get_arg_val
from ttnn.kernel_api.dataflow import noc_async_write_barrier
from ttnn.kernel_api.fabric import PacketHeader, WorkerToFabricEdmSender, packet_header_bytes

_MUX = 0x4000_0000


def _channel(x: int, y: int, channel: int) -> int:
    """Return the number of a connection to a mux core.

    Raises:
        KernelArgumentError: a number that no core or channel has.
    """
    if not (0 <= x < 64 and 0 <= y < 64 and 0 <= channel < 256):
        raise KernelArgumentError(f"there is no channel {channel} of a mux core at NoC coordinates {x}-{y}")
    return _MUX | x << 16 | y << 8 | channel


class WorkerToFabricMuxSender(WorkerToFabricEdmSender):
    """A connection to a channel of a mux core."""

    __slots__ = ()


class FabricMuxV2Sender(WorkerToFabricMuxSender):
    """A connection to a mux core of the second kind."""

    __slots__ = ()

    @classmethod
    def build_from_args(cls, arg_idx: int) -> tuple[FabricMuxV2Sender, int]:
        """Return the connection of the runtime arguments, and the next index.

        It has eleven words.
        """
        return cls(_channel(*(get_arg_val(arg_idx + place) for place in range(3)))), arg_idx + 11

    def flush(self, *, blocking: bool = True) -> bool:
        """Return True: no packet waits, as the core is ready."""
        return True

    def has_space_for_packet(self, num_slots: int = 1) -> bool:
        """Return whether the channel has so many free slots."""
        return self.edm_has_space_for_packet(num_slots)


def build_connection_to_fabric_endpoint(
    fabric_mux_x: int,
    fabric_mux_y: int,
    fabric_mux_channel_id: int,
    fabric_mux_num_buffers_per_channel: int,
    fabric_mux_channel_buffer_size_bytes: int,
    fabric_mux_channel_base_address: int,
    fabric_mux_connection_info_address: int,
    fabric_mux_connection_handshake_address: int,
    fabric_mux_flow_control_address: int,
    fabric_mux_buffer_index_address: int,
    local_flow_control_address: int,
    local_teardown_address: int,
    local_buffer_index_address: int,
    direction: int = 0,
) -> WorkerToFabricMuxSender:
    """Return a connection to a channel of a mux core.

    Only its coordinates and the channel matter here.
    """
    return WorkerToFabricMuxSender(_channel(fabric_mux_x, fabric_mux_y, fabric_mux_channel_id))


def wait_for_fabric_endpoint_ready(
    fabric_ep_x: int, fabric_ep_y: int, fabric_ep_status_address: int, local_fabric_ep_status_address: int
) -> None:
    """Wait until a mux core is ready, as it always is."""


def fabric_client_connect(connection_handle: WorkerToFabricMuxSender) -> None:
    """Open a connection to a mux core."""
    connection_handle.open()


def fabric_client_connect_start(connection_handle: WorkerToFabricMuxSender) -> None:
    """Begin to open a connection to a mux core."""
    connection_handle.open_start()


def fabric_client_connect_finish(connection_handle: WorkerToFabricMuxSender) -> None:
    """Wait until a connection to a mux core is open."""
    connection_handle.open_finish()


def fabric_client_disconnect(connection_handle: WorkerToFabricMuxSender) -> None:
    """Close a connection to a mux core."""
    connection_handle.close()


def fabric_endpoint_terminate(
    fabric_ep_x: int, fabric_ep_y: int, fabric_ep_termination_signal_address: int, graceful_termination: bool = True
) -> None:
    """Wait for writes, as before the end of a mux kernel."""
    noc_async_write_barrier()


def fabric_async_write(
    connection_handle: WorkerToFabricMuxSender,
    packet_header: PacketHeader,
    source_payload_address: int,
    packet_payload_size_bytes: int,
) -> None:
    """Send a header with a payload."""
    connection_handle.wait_for_empty_write_slot()
    connection_handle.send_payload_without_header_non_blocking_from_address(
        source_payload_address, packet_payload_size_bytes
    )
    connection_handle.send_payload_flush_blocking_from_address(packet_header.address, packet_header_bytes())


def fabric_atomic_inc(connection_handle: WorkerToFabricMuxSender, packet_header: PacketHeader) -> None:
    """Send a header without payload."""
    connection_handle.wait_for_empty_write_slot()
    connection_handle.send_payload_flush_non_blocking_from_address(packet_header.address, packet_header_bytes())
