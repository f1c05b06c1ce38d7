"""Connections of kernels to the routers of other chips.

A kernel sends packets over a connection: a link of its chip towards a neighbour. The host gives it the words from which
it builds the connection; they are the channel of the link, and two semaphores of the worker that the official protocol
uses and this one leaves alone.
Source: tt-metal `tt_metal/fabric/fabric.cpp`; names and signatures of ttnn 0.81.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ttnn.base.call import shown
from ttnn.base.core_range import CoreCoord, CoreLike, CoreRange, CoreRangeSet, as_core
from ttnn.base.enums import CoreType
from ttnn.base.exceptions import ArgumentError, FabricError, IndexRangeError, ParameterError, UnsupportedError
from ttnn.device import routes
from ttnn.device.fabric import current_system
from ttnn.device.fabric_state import FABRIC
from ttnn.device.mesh import FabricNodeId
from ttnn.device.system import Link, System
from ttnn.metal.descriptors import ProgramDescriptor, SemaphoreDescriptor
from ttnn.metal.semaphores import MAX_SEMAPHORES

__all__ = [
    "FabricNodeId",
    "compute_fabric_connection_rt_args",
    "fabric_connection_rt_args",
    "fabric_connection_rt_args_size",
    "get_eth_forwarding_direction",
    "get_fabric_kernel_defines",
    "get_forwarding_link_indices",
    "setup_fabric_connection",
    "setup_routing_plane_connection",
]

_WORDS: Final = 3
"""Words of a connection: channel and two semaphores."""
_API_TYPES: Final = ("Linear", "Mesh")


def _chip(call: str, system: System, node: FabricNodeId) -> int:
    """Return the number of a chip of the fabric.

    Raises:
        ArgumentError: no `FabricNodeId`.
        IndexRangeError: there is no such chip.
    """
    if not isinstance(node, FabricNodeId):
        raise ArgumentError(f"{call}: expected a FabricNodeId, got {shown(node)}")
    if node.mesh_id != 0 or not 0 <= node.chip_id < len(system.chips):
        raise IndexRangeError(
            f"{call}: there is no chip {node!r}; the system {system.name} has {len(system.chips)} in M0"
        )
    return system.chips[node.chip_id]


def _links(call: str, source: FabricNodeId, target: FabricNodeId) -> tuple[int, tuple[Link, ...]]:
    """Return the direction from a chip to another one, and links there."""
    FABRIC.require_on(call)
    system = current_system()
    chip, other = _chip(call, system, source), _chip(call, system, target)
    wraps = FABRIC.wraps(system)
    direction = routes.direction_to(system, wraps, chip, other)
    following = None if direction is None else routes.neighbour(system, wraps, chip, direction)
    if direction is None or following is None:
        raise FabricError(
            f"{call}: no direction leads from {source!r} to {target!r}",
            vendor=f"Could not find any forwarding direction from src {source!r} to dst {target!r}",
        )
    return direction, routes.links_towards(system, chip, following, FABRIC.links_down(system), FABRIC.planes)


def get_eth_forwarding_direction(src_fabric_node_id: FabricNodeId, dst_fabric_node_id: FabricNodeId) -> int | None:
    """Return the direction of the first hop from a chip to another.

    0 is east, 1 west, 2 north, 3 south; None from a chip to itself.

    Raises:
        FabricError: there is no fabric.
        IndexRangeError: there is no such chip.
    """
    call = "get_eth_forwarding_direction"
    FABRIC.require_on(call)
    system = current_system()
    chip, other = _chip(call, system, src_fabric_node_id), _chip(call, system, dst_fabric_node_id)
    return routes.direction_to(system, FABRIC.wraps(system), chip, other)


def get_forwarding_link_indices(src_fabric_node_id: FabricNodeId, dst_fabric_node_id: FabricNodeId) -> list[int]:
    """Return the indices of links from a chip towards another.

    Raises:
        FabricError: there is no fabric, or no way.
        IndexRangeError: there is no such chip.
    """
    for node in (src_fabric_node_id, dst_fabric_node_id):
        _chip("get_forwarding_link_indices", current_system(), node)
    if src_fabric_node_id == dst_fabric_node_id:
        return []
    links = _links("get_forwarding_link_indices", src_fabric_node_id, dst_fabric_node_id)[1]
    return list(range(len(links)))


def get_fabric_kernel_defines(api_type: str = "Linear") -> list[tuple[str, str]]:
    """Return the defines of kernels that use the fabric.

    Args:
        api_type: "Linear" or "Mesh": the functions that the kernels call.

    Raises:
        FabricError: there is no fabric.
        ParameterError: another `api_type`.
    """
    FABRIC.require_on("get_fabric_kernel_defines")
    if api_type not in _API_TYPES:
        raise ParameterError(f"get_fabric_kernel_defines: api_type must be 'Linear' or 'Mesh', got {shown(api_type)}")
    defines = [(f"API_TYPE_{api_type}", "1")]
    return defines if FABRIC.is_1d else [*defines, ("FABRIC_2D", "1")]


def fabric_connection_rt_args_size(num_connections: int) -> int:
    """Return the number of words of a routing plane connection manager.

    Raises:
        ArgumentError: no int.
        FabricError: there is no fabric.
        ParameterError: a negative number.
    """
    FABRIC.require_on("fabric_connection_rt_args_size")
    if isinstance(num_connections, bool) or not isinstance(num_connections, int):
        raise ArgumentError(f"fabric_connection_rt_args_size: expected an int, got {shown(num_connections)}")
    if num_connections < 0:
        raise ParameterError(f"fabric_connection_rt_args_size: num_connections is {shown(num_connections)}")
    return num_connections * (1 + _WORDS) + (0 if FABRIC.is_1d else 2 + 2 * num_connections)


def _channel(call: str, source: FabricNodeId, target: FabricNodeId, link: int) -> int:
    links = _links(call, source, target)[1]
    if isinstance(link, bool) or not isinstance(link, int):
        raise ArgumentError(f"{call}: link_idx must be an int, got {shown(link)}")
    if not 0 <= link < len(links):
        count = len(links)
        raise IndexRangeError(
            f"{call}: link {shown(link)} from {source!r} to {target!r}; there are {count}",
            vendor=f"Requested link index {shown(link)} is out of bounds. {count} ethernet channels available to "
            f"forward b/w src {source!r} and dst {target!r}",
        )
    return links[link].channel


def add_semaphore(call: str, program: ProgramDescriptor, core: CoreCoord) -> int:
    """Add a semaphore of a core to a program; return its id."""
    taken = {semaphore.id for semaphore in program.semaphores if semaphore.core_ranges.contains(core)}
    free = next((id for id in range(MAX_SEMAPHORES) if id not in taken), None)
    if free is None:
        raise ParameterError(
            f"{call}: core {core} has {MAX_SEMAPHORES} semaphores already, and a connection needs two",
            vendor="No available semaphore ID for teardown semaphore",
        )
    cores = CoreRangeSet([CoreRange(core, core)])
    program.semaphores.append(SemaphoreDescriptor(id=free, core_ranges=cores, initial_value=0))
    return free


def setup_fabric_connection(
    src_fabric_node_id: FabricNodeId,
    dst_fabric_node_id: FabricNodeId,
    link_idx: int,
    program_descriptor: ProgramDescriptor,
    worker_core: CoreLike,
    core_type: CoreType = CoreType.WORKER,
) -> list[int]:
    """Return the runtime arguments of a connection: three words.

    Two semaphores are added to the program.

    Args:
        src_fabric_node_id: Chip of the kernel.
        dst_fabric_node_id: A chip in the direction of the connection.
        link_idx: Link of the neighbours.
        program_descriptor: The program, which gets the semaphores.
        worker_core: Core of the kernel.
        core_type: WORKER.

    Raises:
        ArgumentError: an argument of another type.
        FabricError: there is no fabric, or no way to the chip.
        IndexRangeError: there is no such chip or link.
        ParameterError: the core has no free semaphores.
        UnsupportedError: another `core_type`.
    """
    call = "setup_fabric_connection"
    if not isinstance(program_descriptor, ProgramDescriptor):
        raise ArgumentError(f"{call}: expected a ProgramDescriptor, got {shown(program_descriptor)}")
    if core_type not in (CoreType.WORKER, CoreType.TENSIX):
        raise UnsupportedError(f"{call}: connections of {core_type} cores are not modelled")
    channel = _channel(call, src_fabric_node_id, dst_fabric_node_id, link_idx)
    core = as_core(worker_core)
    return [channel, *(add_semaphore(call, program_descriptor, core) for _ in range(2))]


def _listed(call: str, name: str, value: object) -> list[Any]:
    """Return the elements of a sequence.

    Raises:
        ArgumentError: no list or tuple.
    """
    if not isinstance(value, list | tuple):
        raise ArgumentError(f"{call}: {name} must be a list, got {shown(value)}")
    return list(value)


def _semaphores(call: str, name: str, value: object) -> list[int]:
    words = _listed(call, name, value)
    for word in words:
        if isinstance(word, bool) or not isinstance(word, int) or not 0 <= word < 1 << 32:
            raise ArgumentError(f"{call}: {name} must be ids or addresses of semaphores, got {shown(word)}")
    return words


def _indices(call: str, links: Sequence[int], count: int) -> list[int]:
    """Return a link index for each connection."""
    links = _listed(call, "connection_link_indices", links)
    if len(links) not in (0, 1, count):
        raise ParameterError(
            f"{call}: {len(links)} link indices for {count} connections",
            vendor="connection_link_indices must be empty or have size 1 or the same size as dst_nodes",
        )
    return list(links) if len(links) == count else [links[0] if links else 0] * count


def compute_fabric_connection_rt_args(
    src_fabric_node_id: FabricNodeId,
    dst_nodes: Sequence[FabricNodeId],
    connection_link_indices: Sequence[int],
    teardown_sem_args: Sequence[int],
    buffer_index_sem_args: Sequence[int],
    sem_args_are_l1_addresses: bool = False,
) -> list[int]:
    """Return the words of a routing plane connection manager.

    For each connection these are its direction, channel and two semaphores; on a 2-D fabric the chip and its mesh, and
    the chip and mesh of each destination follow.

    Args:
        src_fabric_node_id: Chip of the kernel.
        dst_nodes: A chip in the direction of each connection.
        connection_link_indices: A link for each connection, one for all, or none for link 0.
        teardown_sem_args: A semaphore for each connection: its id or address.
        buffer_index_sem_args: Another one.
        sem_args_are_l1_addresses: Whether semaphores are given by address; neither is used.

    Raises:
        FabricError: there is no fabric, or no way to a chip.
        IndexRangeError: there is no such chip or link.
        ParameterError: other numbers of links or semaphores, or two connections in one direction.
    """
    call = "compute_fabric_connection_rt_args"
    dst_nodes = _listed(call, "dst_nodes", dst_nodes)
    teardown_sem_args = _semaphores(call, "teardown_sem_args", teardown_sem_args)
    buffer_index_sem_args = _semaphores(call, "buffer_index_sem_args", buffer_index_sem_args)
    if not len(teardown_sem_args) == len(buffer_index_sem_args) == len(dst_nodes):
        raise ParameterError(
            f"{call}: {len(teardown_sem_args)} and {len(buffer_index_sem_args)} semaphores for {len(dst_nodes)} "
            "connections"
        )
    links = _indices(call, connection_link_indices, len(dst_nodes))
    words: list[int] = []
    used: set[int] = set()
    for node, link, *semaphores in zip(dst_nodes, links, teardown_sem_args, buffer_index_sem_args, strict=True):
        direction = _links(call, src_fabric_node_id, node)[0]
        if direction in used:
            raise ParameterError(
                f"{call}: two connections in direction {direction}",
                vendor=f"Multiple ethernet cores in the same direction ({direction}) are not currently supported.",
            )
        used.add(direction)
        words += [direction, _channel(call, src_fabric_node_id, node, link), *semaphores]
    if not FABRIC.is_1d:
        words += [src_fabric_node_id.chip_id, src_fabric_node_id.mesh_id]
        words += [part for node in dst_nodes for part in (node.chip_id, node.mesh_id)]
    return words


def fabric_connection_rt_args(
    src_fabric_node_id: FabricNodeId,
    dst_nodes: Sequence[FabricNodeId],
    connection_link_indices: Sequence[int],
    program_descriptor: ProgramDescriptor,
    kernel_idx: int,
    worker_core: CoreLike,
) -> list[int]:
    """Return the words of a connection manager; add its semaphores.

    The kernel gets the defines of `get_fabric_kernel_defines`.

    Args:
        src_fabric_node_id: Chip of the kernel.
        dst_nodes: A chip in the direction of each connection.
        connection_link_indices: A link for each connection, one for all, or none for link 0.
        program_descriptor: The program, which gets semaphores and defines.
        kernel_idx: Index of the kernel in the program.
        worker_core: Core of the kernel.

    Raises:
        ArgumentError: an argument of another type.
        IndexRangeError: the program has no such kernel; there is no such chip or link.
        FabricError, ParameterError: as `compute_fabric_connection_rt_args`.
    """
    call = "fabric_connection_rt_args"
    if not isinstance(program_descriptor, ProgramDescriptor):
        raise ArgumentError(f"{call}: expected a ProgramDescriptor, got {shown(program_descriptor)}")
    kernels = program_descriptor.kernels
    if isinstance(kernel_idx, bool) or not isinstance(kernel_idx, int) or not 0 <= kernel_idx < len(kernels):
        raise IndexRangeError(f"{call}: kernel {shown(kernel_idx)}; the program has {len(kernels)}")
    core = as_core(worker_core)
    # Nodes and links are checked before the program gets semaphores.
    none = [0] * len(_listed(call, "dst_nodes", dst_nodes))
    compute_fabric_connection_rt_args(src_fabric_node_id, dst_nodes, connection_link_indices, none, none)
    pairs = [[add_semaphore(call, program_descriptor, core) for _ in range(2)] for _ in dst_nodes]
    words = compute_fabric_connection_rt_args(
        src_fabric_node_id, dst_nodes, connection_link_indices, [a for a, _ in pairs], [b for _, b in pairs]
    )
    kernel = kernels[kernel_idx]
    kernel.defines = [*kernel.defines, *get_fabric_kernel_defines()]
    return words


setup_routing_plane_connection = fabric_connection_rt_args
