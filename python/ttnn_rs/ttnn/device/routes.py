"""Ways of packets through a system: directions, links, chips.

Packets of a 1-D fabric keep their direction from chip to chip. At the end of a row or column they go on along a link
between its ends, if the fabric has one, or turn at a corner of the system mesh, so that its border is a line or a ring.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from ttnn.device.fabric_state import FABRIC, Fabric

if TYPE_CHECKING:
    from ttnn.device.mesh_device import MeshDevice
    from ttnn.device.system import Link, System

EAST, WEST, NORTH, SOUTH = range(4)
"""Directions by their official numbers."""
_STEPS: Final = {EAST: (0, 1), WEST: (0, -1), NORTH: (-1, 0), SOUTH: (1, 0)}


def whole_mesh(device: MeshDevice) -> MeshDevice:
    """Return the opened mesh that a device is a part of."""
    while device._parent is not None:
        device = device._parent
    return device


def is_connected(device: MeshDevice) -> bool:
    """Return whether packets can leave chips of a device."""
    return FABRIC.is_on and whole_mesh(device)._several


def neighbour(system: System, wraps: tuple[bool, bool], chip: int, direction: int) -> int | None:
    """Return the next chip in a direction; None at the end.

    Args:
        system: The system.
        wraps: Whether links between the ends of columns (0) and rows (1) count.
        chip: Number of the chip.
        direction: The direction.
    """
    step, place = _STEPS[direction], system.place_of[chip]
    axis = int(step[0] == 0)
    position = place[axis] + step[axis]
    if not 0 <= position < system.shape[axis]:
        if not wraps[axis] or system.shape[axis] < 3:
            return None
        position %= system.shape[axis]
    other = system.at((place[0], position) if axis else (position, place[1]))
    return other if system.links_between(chip, other) else None


def direction_to(system: System, wraps: tuple[bool, bool], chip: int, other: int) -> int | None:
    """Return the direction of the first hop; None to itself.

    Packets go along the row first, and the shorter way around a ring.
    """
    start, end = system.place_of[chip], system.place_of[other]
    for axis, (up, down) in ((1, (EAST, WEST)), (0, (SOUTH, NORTH))):
        distance = end[axis] - start[axis]
        if distance:
            around = system.shape[axis] - abs(distance)
            forward = distance > 0
            if wraps[axis] and around < abs(distance):
                forward = not forward
            return up if forward else down
    return None


def distance(system: System, wraps: tuple[bool, bool], chip: int, other: int) -> int:
    """Return the number of hops between two chips."""
    total = 0
    for axis, (a, b) in enumerate(zip(system.place_of[chip], system.place_of[other], strict=True)):
        apart = abs(a - b)
        total += min(apart, system.shape[axis] - apart) if wraps[axis] else apart
    return total


def links_towards(
    system: System, chip: int, other: int, down: tuple[Link, ...], planes: int | None
) -> tuple[Link, ...]:
    """Return the links of two neighbours that packets can use.

    Args:
        system: The system.
        chip: A chip.
        other: Its neighbour.
        down: Links that do not work.
        planes: Links of each pair that the fabric uses, at most; None for all.
    """
    broken = {frozenset(((link.chip, link.channel), (link.other, link.other_channel))) for link in down}
    up = [
        link
        for link in system.links_between(chip, other)
        if frozenset(((link.chip, link.channel), (link.other, link.other_channel))) not in broken
    ]
    count = system.usable_between(chip, other, down)
    return tuple(up[: count if planes is None else min(count, planes)])


def line_from(system: System, wraps: tuple[bool, bool], chip: int, direction: int) -> list[int]:
    """Return the chips that packets of a 1-D fabric reach, by distance."""
    line: list[int] = []
    before, here, towards = chip, chip, direction
    while True:
        following = neighbour(system, wraps, here, towards)
        if following is None and line:
            # At a corner of the mesh there is one other way.
            ways = [(way, neighbour(system, wraps, here, way)) for way in _STEPS]
            others = [(way, other) for way, other in ways if other is not None and other != before]
            if len(others) == 1:
                ((towards, following),) = others
        if following is None or following == chip:
            return line
        line.append(following)
        before, here = here, following


def connections_of(system: System, fabric: Fabric) -> dict[int, dict[int, tuple[int, tuple[int, ...]]]]:
    """Return the connections of each chip.

    For each channel they are the direction, and chips by distance.
    """
    return _connections(system, fabric.wraps(system), fabric.links_down(system), fabric.planes)


@lru_cache(maxsize=8)
def _connections(
    system: System, wraps: tuple[bool, bool], down: tuple[Link, ...], planes: int | None
) -> dict[int, dict[int, tuple[int, tuple[int, ...]]]]:
    found: dict[int, dict[int, tuple[int, tuple[int, ...]]]] = {}
    for chip in system.chips:
        channels: dict[int, tuple[int, tuple[int, ...]]] = {}
        for direction in _STEPS:
            other = neighbour(system, wraps, chip, direction)
            if other is not None:
                line = tuple(line_from(system, wraps, chip, direction))
                links = links_towards(system, chip, other, down, planes)
                channels.update(dict.fromkeys((link.channel for link in links), (direction, line)))
        found[chip] = channels
    return found
