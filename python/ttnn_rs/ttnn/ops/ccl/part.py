"""A part of a mesh: the chips that have a tensor."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TypeAlias

from ttnn.base.exceptions import DeviceError
from ttnn.device.chip import Chip
from ttnn.device.coordinates import MeshCoordinate, MeshShape
from ttnn.device.mesh import Mesh
from ttnn.device.mesh_device import MeshDevice
from ttnn.device.system import System


class Part(Mesh):
    """Chips at a range of a mesh's coordinates.

    Attributes:
        whole: The mesh.
        first: Coordinate of the first chip in it.
    """

    __slots__ = ("_system", "first", "whole")

    whole: MeshDevice
    first: tuple[int, ...]
    _system: System

    def __init__(self, whole: MeshDevice, first: Sequence[int], shape: Sequence[int], chips: Sequence[Chip]) -> None:
        self._put(MeshShape(list(shape)), whole.engine, tuple(chips))
        self.whole, self.first, self._system = whole, tuple(first), whole._system

    def __repr__(self) -> str:
        return f"chips {self.get_device_ids()} of {self.whole!r}"

    def chip_at(self, operation: str, coordinate: MeshCoordinate, vendor: str = "") -> Chip:
        """Return the chip at a coordinate of the mesh.

        Raises:
            ArgumentError: no coordinate.
            DeviceError: the part has no such coordinate.
        """
        chip = self.whole.chip_at(operation, coordinate, vendor)
        if chip not in self.chips:
            raise DeviceError(f"{operation}: {coordinate!r} is outside of {self!r}", vendor=vendor)
        return chip

    def coordinates(self) -> list[MeshCoordinate]:
        """Return the coordinates of the chips in the mesh, row by row."""
        ranges = (range(begin, begin + size) for begin, size in zip(self.first, self.shape, strict=True))
        return [MeshCoordinate(coordinate) for coordinate in itertools.product(*ranges)]


Chips: TypeAlias = MeshDevice | Part
"""Chips that work together."""


def part_of(whole: MeshDevice, places: Sequence[int]) -> Part | None:
    """Return the part of a mesh with the chips at some places.

    None if they are no range of coordinates.
    """
    there = set(places)
    pairs = [pair for pair in zip(whole.coordinates(), whole.chips, strict=True) if pair[1].place in there]
    if not pairs:
        return None
    axes = list(zip(*(coordinate for coordinate, _ in pairs), strict=True))
    first, shape = [min(axis) for axis in axes], [max(axis) - min(axis) + 1 for axis in axes]
    part = Part(whole, first, shape, [chip for _, chip in pairs])
    return part if part.shape.mesh_size() == len(pairs) else None


def whole_of(mesh: Chips) -> MeshDevice:
    """Return the mesh of some chips."""
    return mesh.whole if isinstance(mesh, Part) else mesh


def first_of(mesh: Chips, axis: int) -> int:
    """Return the coordinate of the first chip along an axis."""
    return mesh.first[axis] if isinstance(mesh, Part) else 0
