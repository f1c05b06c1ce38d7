"""Placements of tensors on meshes: what each chip has.

Source: TT-NN docs, "Multi-device"; names and texts of ttnn 0.81.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Final

from ttnn.base.call import shown
from ttnn.base.exceptions import ArgumentError, DeviceError, ShapeError
from ttnn.device.coordinates import MAX_CHIPS, MeshCoordinate, MeshCoordinateRange, MeshShape

__all__ = ["PlacementReplicate", "PlacementShard", "TensorTopology", "compute_distribution_to_mesh_mapping"]


class PlacementReplicate:
    """Every chip along a mesh dimension has the whole tensor."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PlacementReplicate) or NotImplemented

    def __hash__(self) -> int:
        return hash(PlacementReplicate)

    def __repr__(self) -> str:
        return "PlacementReplicate()"


class PlacementShard:
    """The chips along a mesh dimension have parts of tensor dimension `dim`."""

    def __init__(self, dim: int, /) -> None:
        self._dim = require_dim("PlacementShard", dim)

    @property
    def dim(self) -> int:
        """Return the tensor dimension."""
        return self._dim

    def __eq__(self, other: object) -> bool:
        return self._dim == other._dim if isinstance(other, PlacementShard) else NotImplemented

    def __hash__(self) -> int:
        return hash((PlacementShard, self._dim))

    def __repr__(self) -> str:
        return f"PlacementShard({self._dim})"


Placement = PlacementReplicate | PlacementShard


def require_dim(kind: str, dim: object) -> int:
    """Return a tensor dimension: an int of 32 bits."""
    if isinstance(dim, bool) or not isinstance(dim, int):
        raise ArgumentError(f"{kind}: dim must be an int, got {shown(dim)}")
    if not -(1 << 31) <= dim < 1 << 31:
        raise ArgumentError(f"{kind}: dim must be an int of 32 bits, got {shown(dim)}")
    return dim


def require_placements(kind: str, placements: object) -> None:
    """Raise unless the argument is a list of placements."""
    if not isinstance(placements, Sequence) or not all(
        isinstance(each, PlacementReplicate | PlacementShard) for each in placements
    ):
        raise ArgumentError(f"{kind}: placements must be PlacementReplicate or PlacementShard, got {shown(placements)}")


class TensorTopology:
    """Distribution of a tensor over the chips of a mesh."""

    def __init__(
        self, distribution_shape: MeshShape, placements: Sequence[Placement], mesh_coords: Sequence[MeshCoordinate]
    ) -> None:
        require_placements("TensorTopology", placements)
        listed = isinstance(mesh_coords, Sequence) and all(isinstance(each, MeshCoordinate) for each in mesh_coords)
        if not isinstance(distribution_shape, MeshShape) or not listed:
            raise ArgumentError(
                f"TensorTopology(): expected a MeshShape and a list of MeshCoordinate, got {shown(distribution_shape)} "
                f"and {shown(mesh_coords)}"
            )
        if len(placements) != distribution_shape.dims():
            raise ShapeError(
                f"TensorTopology: {len(placements)} placements for {distribution_shape.dims()} mesh dimensions"
            )
        self._shape, self._placements_, self._coords = distribution_shape, list(placements), list(mesh_coords)
        # Keys of calls on meshes have topologies.
        self._hash = hash((self._shape, tuple(self._placements_), tuple(self._coords)))

    def distribution_shape(self) -> MeshShape:
        """Return the chips along each dimension of the distribution."""
        return self._shape

    def placements(self) -> list[Placement]:
        """Return what each dimension of the distribution does with the tensor."""
        return list(self._placements_)

    def mesh_coords(self) -> list[MeshCoordinate]:
        """Return the chips."""
        return list(self._coords)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TensorTopology):
            return NotImplemented
        if self is other:
            return True
        mine = (self._shape, self._placements_, self._coords)
        return mine == (other._shape, other._placements_, other._coords)

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return (
            f"TensorTopology(distribution_shape={self._shape}, placements=SmallVector({self._placements_}), "
            f"mesh_coords={', '.join(map(repr, self._coords))})"
        )


WHOLE: Final = TensorTopology(MeshShape([1]), [PlacementReplicate()], [MeshCoordinate(0, 0)])
"""The topology on the host and one chip, without a mapper."""


@cache
def replicated_on(mesh: MeshShape) -> TensorTopology:
    """Return the topology of a tensor replicated on a mesh."""
    return TensorTopology(mesh, [PlacementReplicate()] * mesh.dims(), chips_of(mesh))


def require_chips(where: str, mesh: MeshShape) -> None:
    """Check that a mesh has chips, and not too many.

    Raises:
        DeviceError: it has none or too many.
    """
    if not 1 <= mesh.mesh_size() <= MAX_CHIPS:
        raise DeviceError(f"{where}: expected a mesh of 1 to {MAX_CHIPS} chips, got {mesh} of {mesh.mesh_size()}")


def chips_of(mesh: MeshShape) -> list[MeshCoordinate]:
    """Return the coordinates of a mesh's chips in row-major order.

    Raises:
        DeviceError: there are none, or too many for a mesh.
    """
    require_chips("mesh shape", mesh)
    return list(MeshCoordinateRange(mesh))


def compute_distribution_to_mesh_mapping(distribution_shape: MeshShape, mesh_shape: MeshShape) -> list[MeshCoordinate]:
    """Return the chip of each part of a distribution over a mesh.

    A distribution that fits into the mesh is its first rows and columns; another one follows the chips row by row.

    Raises:
        ArgumentError: a shape is no MeshShape.
        DeviceError: a shape has no chips, or too many for a mesh.
    """
    for label, shape in {"distribution_shape": distribution_shape, "mesh_shape": mesh_shape}.items():
        if not isinstance(shape, MeshShape):
            raise ArgumentError(
                f"compute_distribution_to_mesh_mapping: {label} must be a MeshShape, got {shown(shape)}"
            )
    fits = distribution_shape.dims() == mesh_shape.dims() and all(
        part <= whole for part, whole in zip(distribution_shape, mesh_shape, strict=True)
    )
    return chips_of(distribution_shape) if fits else chips_of(mesh_shape)[: distribution_shape.mesh_size()]
