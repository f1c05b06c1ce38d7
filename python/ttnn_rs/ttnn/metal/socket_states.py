"""State of a socket's ends in L1, as kernels find it.

The words of a sender are: bytes sent, number of receivers, offset of the next byte; address of the receivers' first
word, that of the queue and its size; 0. After 32 bytes follow, in 16 bytes each, how much each receiver has taken, then
the mesh, chip, y and x of each. Those of a receiver are: bytes sent, address of the next byte; address and size of
the queue; bytes taken, 0; mesh, chip, y and x of the sender, and where it counts the bytes taken.
Source: tt-metal `tt_metal/hostdevcommon/api/hostdevcommon/socket.h`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from ttnn.device import routes
from ttnn.device.fabric_state import FABRIC

if TYPE_CHECKING:
    from ttnn.base.core_range import CoreCoord
    from ttnn.device.coordinates import MeshCoordinate, MeshCoreCoord
    from ttnn.device.mesh_device import MeshDevice

    Pair = tuple[MeshCoreCoord, MeshCoreCoord]
    """Sender and receiver of a connection."""

RECEIVER_BYTES: Final = 48
_SENDER_BYTES: Final = 32
_UNIT: Final = 16
"""Bytes of a sender's counter, and of a place, for each receiver."""


class Addresses(NamedTuple):
    """L1 addresses of both states, and the address of the queue."""

    sender: int
    receiver: int
    queue: int


def sender_bytes(pairs: Sequence[Pair]) -> int:
    """Return the bytes of a sender's state.

    All of a socket have room for the largest number of receivers.
    """
    return _SENDER_BYTES + 2 * _UNIT * max(Counter(sender for sender, _ in pairs).values())


def states(
    sends: bool,
    chip: MeshCoordinate,
    cores: Sequence[CoreCoord],
    meshes: tuple[MeshDevice, MeshDevice],
    pairs: Sequence[Pair],
    fifo_size: int,
    addresses: Addresses,
) -> npt.NDArray[np.uint32]:
    """Return an end's states on a chip, a row per core.

    Args:
        sends: Whether it is the sender's end.
        chip: The chip.
        cores: The cores of the end, in the order of its buffer.
        meshes: Meshes of sender and receiver.
        pairs: The connections.
        fifo_size: Bytes of the queue.
        addresses: Addresses of the states and the queue.
    """
    rows = np.zeros((len(cores), (sender_bytes(pairs) if sends else RECEIVER_BYTES) // 4), np.uint32)
    for row, core in zip(rows, cores, strict=True):
        here = [pair for pair in pairs if _is_at(pair[0 if sends else 1], chip, core)]
        if sends:
            row[:7] = (0, len(here), 0, addresses.receiver, addresses.queue, fifo_size, 0)
            first = (_SENDER_BYTES + len(here) * _UNIT) // 4
            for number, pair in enumerate(here):
                start = first + number * _UNIT // 4
                row[start : start + 4] = _place(meshes, *pair)
        for sender, receiver in () if sends else here:
            receivers = [other for core, other in pairs if core == sender]
            counter = addresses.sender + _SENDER_BYTES + receivers.index(receiver) * _UNIT
            place = _place((meshes[1], meshes[0]), receiver, sender)
            row[:11] = (0, addresses.queue, addresses.queue, fifo_size, 0, 0, *place, counter)
    return rows


def _is_at(place: MeshCoreCoord, chip: MeshCoordinate, core: CoreCoord) -> bool:
    return place.device_coord == chip and place.core_coord == core


def _place(meshes: tuple[MeshDevice, MeshDevice], own: MeshCoreCoord, other: MeshCoreCoord) -> tuple[int, ...]:
    """Return mesh, chip, y and x of the other end.

    In a 1-D fabric the chip is the number of hops to it.
    """
    mesh, there = meshes
    core = there.worker_core_from_logical_core(other.core_coord)
    node = there.get_fabric_node_id(other.device_coord)
    chip = node.chip_id
    if FABRIC.is_1d:
        system, wraps = mesh._system, FABRIC.wraps(mesh._system)
        ends = (system.chips[mesh.get_fabric_node_id(own.device_coord).chip_id], system.chips[chip])
        direction = routes.direction_to(system, wraps, *ends)
        line = [] if direction is None else routes.line_from(system, wraps, ends[0], direction)
        chip = line.index(ends[1]) + 1 if ends[1] in line else 0
    return node.mesh_id, chip, core.y, core.x
