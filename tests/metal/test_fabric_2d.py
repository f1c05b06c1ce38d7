"""Packets of a 2-D fabric: directions, and routes over other connections."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import ttnn
from ttnn import metal
from ttnn.base.exceptions import KernelArgumentError
from ttnn.kernel_api import *

CORE = ttnn.CoreCoord(0, 0)
ROWS, COLUMNS = 2, 4
EAST, WEST, NORTH, SOUTH = range(4)


@pytest.fixture
def mesh() -> Iterator[ttnn.MeshDevice]:
    ttnn.set_fabric_config(ttnn.FabricConfig.FABRIC_2D)
    mesh = ttnn.open_mesh_device(ttnn.MeshShape(ROWS, COLUMNS))
    yield mesh
    ttnn.close_mesh_device(mesh)
    ttnn.set_fabric_config(ttnn.FabricConfig.DISABLED)


def buffer_of_zeros(mesh: ttnn.MeshDevice) -> metal.MeshBuffer:
    local = metal.DeviceLocalBufferConfig(page_size=64, buffer_type=ttnn.BufferType.L1)
    buffer = metal.MeshBuffer.create(metal.ReplicatedBufferConfig(size=64), local, mesh)
    metal.enqueue_write_mesh_buffer(mesh.mesh_command_queue(), buffer, np.zeros(64, np.uint8))
    return buffer


def first_words(mesh: ttnn.MeshDevice, buffer: metal.MeshBuffer) -> list[int]:
    """Return the first word on each chip."""
    queue = mesh.mesh_command_queue()
    places = ttnn.MeshCoordinateRange(mesh.shape)
    return [int(metal.read_shard(queue, None, buffer, place).view(np.uint32)[0]) for place in places]


def run_on(mesh: ttnn.MeshDevice, place: int, kernel: Any, args: list[Any]) -> None:
    """Run a kernel on a chip, given by its row-major place."""
    program = metal.create_program()
    kernel = metal.create_kernel(program, kernel, CORE, metal.DataMovementConfig())
    metal.set_runtime_args(program, kernel, CORE, args)
    at = ttnn.MeshCoordinate(*divmod(place, COLUMNS))
    workload = metal.MeshWorkload()
    workload.add_program(ttnn.MeshCoordinateRange(at, at), program)
    metal.enqueue_mesh_workload(mesh.mesh_command_queue(), workload)


def write_directions() -> None:
    """Write the direction to each other chip.

    Arguments: buffer, own place, chips.
    """
    own, chips = get_arg_val(1), get_arg_val(2)
    found = [9 if chip == own else get_next_hop_router_direction(0, chip) for chip in range(chips)]
    L1Pointer(get_arg_val(0), np.uint32).write(np.array(found, np.uint32))


DIRECTIONS_CPP = """
#include "tt_metal/fabric/hw/inc/tt_fabric_api.h"
void kernel_main() {
    const uint32_t own = get_arg_val<uint32_t>(1), chips = get_arg_val<uint32_t>(2);
    auto found = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(get_arg_val<uint32_t>(0));
    for (uint32_t chip = 0; chip < chips; ++chip) {
        found[chip] = chip == own ? 9 : static_cast<uint32_t>(get_next_hop_router_direction(0, chip));
    }
}
"""


@pytest.mark.parametrize("kernel", [write_directions, DIRECTIONS_CPP], ids=["python", "cpp"])
def test_packets_go_along_the_row_first(mesh: ttnn.MeshDevice, kernel: Any) -> None:
    buffer = buffer_of_zeros(mesh)
    place = 1
    if isinstance(kernel, str):
        program = metal.create_program()
        compiled = metal.create_kernel_from_string(program, kernel, CORE, metal.DataMovementConfig())
        metal.set_runtime_args(program, compiled, CORE, [buffer, place, ROWS * COLUMNS])
        workload, at = metal.MeshWorkload(), ttnn.MeshCoordinate(0, place)
        workload.add_program(ttnn.MeshCoordinateRange(at, at), program)
        metal.enqueue_mesh_workload(mesh.mesh_command_queue(), workload)
    else:
        run_on(mesh, place, kernel, [buffer, place, ROWS * COLUMNS])
    words = metal.read_shard(mesh.mesh_command_queue(), None, buffer, ttnn.MeshCoordinate(0, place)).view(np.uint32)
    assert words[:8].tolist() == [WEST, 9, EAST, EAST, WEST, SOUTH, EAST, EAST]
    own = mesh.get_fabric_node_id(ttnn.MeshCoordinate(0, place))
    for other in range(ROWS * COLUMNS):
        node = mesh.get_fabric_node_id(ttnn.MeshCoordinate(*divmod(other, COLUMNS)))
        assert other == place or ttnn.get_eth_forwarding_direction(own, node) == words[other]


def send_word() -> None:
    """Send a word to a chip.

    Arguments: buffer, chip, connection.
    """
    sender, _ = WorkerToFabricEdmSender.build_from_args(2)
    sender.open()
    header = PacketHeaderPool.allocate_header()
    header.to_device(get_arg_val(1))
    header.to_noc_unicast_inline_write(NocUnicastInlineWriteCommandHeader(get_noc_addr(get_arg_val(0)), 7))
    sender.send_payload_non_blocking_from_address(header.address, packet_header_bytes())
    sender.close()


def connection_to(mesh: ttnn.MeshDevice, place: int) -> int:
    """Return the connection of chip 1 to a neighbour."""
    nodes = [mesh.get_fabric_node_id(ttnn.MeshCoordinate(*divmod(chip, COLUMNS))) for chip in (1, place)]
    return ttnn.compute_fabric_connection_rt_args(nodes[0], nodes[1:], [], [0], [1])[1]


@pytest.mark.parametrize(
    ("target", "towards", "reached"),
    [
        (3, 2, 3),  # the connection of the route
        (6, 2, 6),  # along the row, then down
        (5, 5, 5),
        (5, 2, 2),  # route south, begun in the east
        (2, 0, 0),  # route east, begun in the west
        (3, 0, 1),
    ],
)
def test_a_route_begins_at_the_connection_that_it_is_sent_over(
    mesh: ttnn.MeshDevice, target: int, towards: int, reached: int
) -> None:
    buffer = buffer_of_zeros(mesh)
    run_on(mesh, 1, send_word, [buffer, target, connection_to(mesh, towards), 0, 0])
    assert first_words(mesh, buffer) == [7 * (place == reached) for place in range(ROWS * COLUMNS)]


def test_a_route_that_leaves_the_mesh(mesh: ttnn.MeshDevice) -> None:
    # East and then south, begun in the south.
    buffer = buffer_of_zeros(mesh)
    with pytest.raises(KernelArgumentError, match="first hop of its route is in direction 0; from there it leaves"):
        run_on(mesh, 1, send_word, [buffer, 6, connection_to(mesh, 5), 0, 0])


def ask(chip: int) -> Any:
    def kernel() -> None:
        get_next_hop_router_direction(0, chip)

    return kernel


@pytest.mark.parametrize(("chip", "text"), [(1, "device 1 of mesh 0 is this chip"), (9, "no device 9 in mesh 0")])
def test_no_direction(mesh: ttnn.MeshDevice, chip: int, text: str) -> None:
    with pytest.raises(KernelArgumentError, match=text):
        run_on(mesh, 1, ask(chip), [])
