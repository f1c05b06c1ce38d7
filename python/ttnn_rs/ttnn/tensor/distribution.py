"""Mesh mappers and composers for one chip, which change nothing.

Programs written for a mesh of any size run unchanged on one chip: the dimensions they name are checked and noted in the
tensor's topology. Whatever needs a second chip raises.

Source: TT-NN docs, "Multi-device"; signatures of ttnn 0.81.1.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ttnn.base.exceptions import ArgumentError, DeviceError, ShapeError, UnsupportedError
from ttnn.device.coordinates import MeshCoordinate, MeshShape

if TYPE_CHECKING:
    from ttnn.device.lifecycle import MeshDevice

__all__ = [
    "ConcatMesh2dToTensor",
    "ConcatMeshToTensor",
    "CppMeshToTensor",
    "CppTensorToMesh",
    "MeshComposerConfig",
    "MeshMapperConfig",
    "MeshToTensor",
    "PlacementReplicate",
    "PlacementShard",
    "ReplicateTensorToMesh",
    "ReplicateTensorToMeshWrapper",
    "ShardTensor2dMesh",
    "ShardTensorToMesh",
    "TensorToMesh",
    "TensorTopology",
    "concat_mesh_to_tensor_composer",
    "create_mesh_composer",
    "create_mesh_mapper",
    "distribute",
    "replicate_tensor_to_mesh_mapper",
    "shard_tensor_to_mesh_mapper",
]


# Checks.


def _dim(kind: str, dim: object) -> int:
    if isinstance(dim, bool) or not isinstance(dim, int):
        raise ArgumentError(f"{kind}: dim must be an int, got {dim!r}")
    return dim


def _pair(kind: str, dims: Any) -> tuple[Any, Any]:
    if not isinstance(dims, Sequence) or len(dims) != 2:
        raise ArgumentError(f"{kind}: dims must be two dimensions, got {dims!r}")
    return dims[0], dims[1]


def _placements(kind: str, placements: object) -> None:
    if not isinstance(placements, Sequence) or not all(
        isinstance(each, PlacementReplicate | PlacementShard) for each in placements
    ):
        raise ArgumentError(f"{kind}: placements must be PlacementReplicate or PlacementShard, got {placements!r}")


def _require_dim(who: str, dim: int, rank: int) -> None:
    if not -rank <= dim < rank:
        raise ShapeError(f"{who} names dimension {dim}, the tensor has {rank}")


def _one_chip(kind: str, shape: MeshShape | None, offset: MeshCoordinate | None) -> None:
    if not isinstance(shape, MeshShape | None) or not isinstance(offset, MeshCoordinate | None):
        raise ArgumentError(f"{kind}: expected a MeshShape and a MeshCoordinate, got {shape!r} and {offset!r}")
    if shape is not None and shape.mesh_size() != 1:
        raise UnsupportedError(f"{kind}: {shape} has several chips; meshes have one here", "unimplemented")
    if offset is not None and any(offset):
        raise DeviceError(f"{kind}: offset {offset!r} is outside the mesh MeshShape([1, 1])")


def _require_mesh_shape(operator: str, mesh_shape: Sequence[int]) -> None:
    if not isinstance(mesh_shape, Sequence | MeshShape):
        raise ArgumentError(f"{operator}: mesh_shape must be two ints, got {mesh_shape!r}")
    if len(list(mesh_shape)) != 2 or any(size != 1 for size in mesh_shape):
        raise DeviceError(f"{operator}: mesh_shape {tuple(mesh_shape)} is not that of the device, (1, 1)")


def _require_one_chip(operator: str, mesh_device: Any) -> None:
    if isinstance(mesh_device, MeshShape):
        _one_chip(operator, mesh_device, None)
    elif not hasattr(mesh_device, "get_num_devices"):
        raise ArgumentError(f"{operator}: expected a ttnn.MeshDevice, got {type(mesh_device).__name__}")


# How a tensor lies on a mesh.


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
        self._dim = _dim("PlacementShard", dim)

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


class TensorTopology:
    """Distribution of a tensor over the chips of a mesh."""

    def __init__(
        self, distribution_shape: MeshShape, placements: Sequence[Placement], mesh_coords: Sequence[MeshCoordinate]
    ) -> None:
        _placements("TensorTopology", placements)
        if not isinstance(distribution_shape, MeshShape) or not isinstance(mesh_coords, Sequence):
            raise ArgumentError(
                f"TensorTopology(): expected a MeshShape and a list of MeshCoordinate, got {distribution_shape!r} and "
                f"{mesh_coords!r}"
            )
        if distribution_shape.mesh_size() != 1 or len(mesh_coords) != 1:
            raise UnsupportedError(
                f"TensorTopology: {distribution_shape} has several chips; meshes have one here", "unimplemented"
            )
        if len(placements) != distribution_shape.dims():
            raise ShapeError(
                f"TensorTopology: {len(placements)} placements for {distribution_shape.dims()} mesh dimensions"
            )
        self._shape, self._placements_, self._coords = distribution_shape, list(placements), list(mesh_coords)

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
        mine = (self._shape, self._placements_, self._coords)
        return mine == (other._shape, other._placements_, other._coords)

    def __hash__(self) -> int:
        return hash((self._shape, tuple(self._placements_), tuple(self._coords)))

    def __repr__(self) -> str:
        return f"TensorTopology({self._shape}, {self._placements_}, {self._coords})"


def topology_of(placements: Sequence[Placement]) -> TensorTopology:
    """Return the topology of a tensor on the only chip."""
    return TensorTopology(MeshShape([1] * len(placements)), placements, [MeshCoordinate(0, 0)])


WHOLE = topology_of([PlacementReplicate()])
"""The topology of every tensor that no mapper has spread."""


# Mappers.


class MeshMapperConfig:
    """Placement along each mesh dimension by a mapper.

    `MeshMapperConfig(placements, mesh_shape_override=None)`, or `MeshMapperConfig(row_dim=None, col_dim=None)` for the
    two dimensions of a mesh, where None replicates.
    """

    def __init__(
        self,
        placements: Sequence[Placement] | int | None = None,
        col_dim: int | None = None,
        mesh_shape_override: MeshShape | None = None,
        mesh_offset_override: MeshCoordinate | None = None,
        *,
        row_dim: int | None = None,
    ) -> None:
        if isinstance(placements, int):
            placements, row_dim = None, placements
        if isinstance(col_dim, MeshShape):
            mesh_shape_override, col_dim = col_dim, None
        if placements is None:
            placements = [PlacementReplicate() if dim is None else PlacementShard(dim) for dim in (row_dim, col_dim)]
        elif row_dim is not None or col_dim is not None:
            raise ArgumentError("MeshMapperConfig(): expected placements, or row_dim and col_dim, got both")
        _placements("MeshMapperConfig", placements)
        _one_chip("MeshMapperConfig", mesh_shape_override, mesh_offset_override)
        self._placements_ = list(placements)

    @property
    def placements(self) -> list[Placement]:
        """Return what each mesh dimension does."""
        return list(self._placements_)

    def __repr__(self) -> str:
        return f"MeshMapperConfig({self._placements_})"


class CppTensorToMesh:
    """A mapper for `mesh_mapper=`, created by the functions and classes below."""

    _placements_: list[Placement]

    def __init__(self) -> None:
        raise ArgumentError(f"{type(self).__name__}(): mappers are made with ttnn.create_mesh_mapper(device, config)")

    def config(self) -> MeshMapperConfig:
        """Return what the mapper does."""
        return MeshMapperConfig(self._placements_)

    def unwrap(self) -> CppTensorToMesh:
        """Return the mapper itself."""
        return self

    def topology(self, operator: str, rank: int) -> TensorTopology:
        """Return the topology of a tensor that this mapper distributes.

        Raises:
            ShapeError: the tensor does not have a dimension that is to be cut.
        """
        for placement in self._placements_:
            if isinstance(placement, PlacementShard):
                _require_dim(f"{operator}: mesh_mapper", placement.dim, rank)
        return topology_of(self._placements_)


TensorToMesh = CppTensorToMesh


def _mapper(operator: str, mesh_device: object, placements: Sequence[Placement]) -> CppTensorToMesh:
    _require_one_chip(operator, mesh_device)
    mapper = CppTensorToMesh.__new__(CppTensorToMesh)
    mapper._placements_ = list(placements)
    return mapper


class ReplicateTensorToMesh(CppTensorToMesh):
    """Replicates the whole tensor on every chip of the mesh."""

    def __init__(self, mesh_device: MeshDevice) -> None:
        _require_one_chip("ttnn.ReplicateTensorToMesh", mesh_device)
        self.mesh_device = mesh_device
        self._placements_ = [PlacementReplicate()]


class ShardTensorToMesh(CppTensorToMesh):
    """Shards dimension `dim` over the chips of the mesh."""

    def __init__(self, mesh_device: MeshDevice, dim: int) -> None:
        _require_one_chip("ttnn.ShardTensorToMesh", mesh_device)
        self.mesh_device = mesh_device
        self.dim = _dim("ttnn.ShardTensorToMesh", dim)
        self._placements_ = [PlacementShard(dim)]


class ShardTensor2dMesh(CppTensorToMesh):
    """Shards two dimensions over mesh rows and columns; None replicates."""

    def __init__(self, mesh_device: MeshDevice, mesh_shape: Sequence[int], dims: tuple[int | None, int | None]) -> None:
        _require_one_chip("ttnn.ShardTensor2dMesh", mesh_device)
        _require_mesh_shape("ttnn.ShardTensor2dMesh", mesh_shape)
        rows, columns = _pair("ttnn.ShardTensor2dMesh", dims)
        self.mesh_device = mesh_device
        self._placements_ = MeshMapperConfig(row_dim=rows, col_dim=columns).placements


class ReplicateTensorToMeshWrapper:
    """A wrapped mapper, as the official `ReplicateTensorToMesh` returns it."""

    def __init__(self, mapper: CppTensorToMesh) -> None:
        if not isinstance(mapper, CppTensorToMesh):
            raise ArgumentError(f"ReplicateTensorToMeshWrapper(): expected a mapper, got {type(mapper).__name__}")
        self._mapper = mapper

    def unwrap(self) -> CppTensorToMesh:
        """Return the mapper."""
        return self._mapper


def create_mesh_mapper(mesh_device: MeshDevice | MeshShape, config: MeshMapperConfig) -> CppTensorToMesh:
    """Return a configuration's mapper, for a device or mesh shape.

    Raises:
        UnsupportedError: the shape has several chips.
    """
    where = "ttnn.create_mesh_mapper"
    if not isinstance(config, MeshMapperConfig):
        raise ArgumentError(f"{where}: config must be a MeshMapperConfig, got {type(config).__name__}")
    return _mapper(where, mesh_device, config.placements)


def replicate_tensor_to_mesh_mapper(mesh_device: MeshDevice) -> CppTensorToMesh:
    """Return the mapper that replicates the tensor on every chip."""
    return _mapper("ttnn.replicate_tensor_to_mesh_mapper", mesh_device, [PlacementReplicate()])


def shard_tensor_to_mesh_mapper(mesh_device: MeshDevice, dim: int) -> CppTensorToMesh:
    """Return the mapper that shards dimension `dim` over the chips."""
    return _mapper("ttnn.shard_tensor_to_mesh_mapper", mesh_device, [PlacementShard(dim)])


# Composers.


class MeshComposerConfig:
    """Along which tensor dimensions a composer concatenates, one for each mesh dimension.

    `MeshComposerConfig(dims, mesh_shape_override=None)` or `MeshComposerConfig(row_dim, col_dim)`.
    """

    def __init__(
        self,
        dims: Sequence[int] | int | None = None,
        col_dim: int | None = None,
        mesh_shape_override: MeshShape | None = None,
        mesh_offset_override: MeshCoordinate | None = None,
        *,
        row_dim: int | None = None,
    ) -> None:
        if isinstance(col_dim, MeshShape):
            mesh_shape_override, col_dim = col_dim, None
        if isinstance(dims, int):
            dims, row_dim = None, dims
        if dims is None:
            if row_dim is None or col_dim is None:
                raise ArgumentError("MeshComposerConfig(): expected dims, or row_dim and col_dim")
            dims = [row_dim, col_dim]
        if not isinstance(dims, Sequence) or isinstance(dims, str):
            raise ArgumentError(f"MeshComposerConfig(): dims must be a list of ints, got {dims!r}")
        _one_chip("MeshComposerConfig", mesh_shape_override, mesh_offset_override)
        self.dims = [_dim("MeshComposerConfig", dim) for dim in dims]

    def __repr__(self) -> str:
        return f"MeshComposerConfig({self.dims})"


class CppMeshToTensor:
    """A composer for `mesh_composer=`, created by the functions and classes below."""

    _dims: list[int]

    def __init__(self) -> None:
        raise ArgumentError(
            f"{type(self).__name__}(): composers are made with ttnn.create_mesh_composer(device, config)"
        )


MeshToTensor = CppMeshToTensor


class ConcatMeshToTensor(CppMeshToTensor):
    """Concatenates the tensors of all chips along `dim`."""

    def __init__(self, mesh_device: MeshDevice, dim: int) -> None:
        _require_one_chip("ttnn.ConcatMeshToTensor", mesh_device)
        self.mesh_device = mesh_device
        self.dim = _dim("ttnn.ConcatMeshToTensor", dim)
        self._dims = [self.dim]


class ConcatMesh2dToTensor(CppMeshToTensor):
    """Concatenates tensors of mesh rows and columns along two dimensions."""

    def __init__(self, mesh_device: MeshDevice, mesh_shape: Sequence[int], dims: tuple[int, int]) -> None:
        where = "ttnn.ConcatMesh2dToTensor"
        _require_one_chip(where, mesh_device)
        _require_mesh_shape(where, mesh_shape)
        rows, columns = _pair(where, dims)
        if rows == columns:
            raise DeviceError(f"{where}: rows and columns of the mesh cannot both be joined along dimension {rows}")
        self.mesh_device = mesh_device
        self._dims = [_dim(where, rows), _dim(where, columns)]


def create_mesh_composer(mesh_device: MeshDevice, config: MeshComposerConfig) -> CppMeshToTensor:
    """Return the composer of a configuration."""
    where = "ttnn.create_mesh_composer"
    _require_one_chip(where, mesh_device)
    if not isinstance(config, MeshComposerConfig):
        raise ArgumentError(f"{where}: config must be a MeshComposerConfig, got {type(config).__name__}")
    composer = CppMeshToTensor.__new__(CppMeshToTensor)
    composer._dims = list(config.dims)
    return composer


def concat_mesh_to_tensor_composer(mesh_device: MeshDevice, dim: int) -> CppMeshToTensor:
    """Return the composer that concatenates the tensors of all chips along `dim`."""
    return create_mesh_composer(mesh_device, MeshComposerConfig([dim]))


# What conversions ask.

_default = threading.local()


@contextmanager
def distribute(default: CppTensorToMesh | ReplicateTensorToMeshWrapper | CppMeshToTensor) -> Iterator[None]:
    """Set the default mapper or composer of a `with` block.

    Raises:
        ArgumentError: neither a mapper nor a composer.
    """
    composes = isinstance(default, CppMeshToTensor)
    if not composes and not isinstance(default, CppTensorToMesh | ReplicateTensorToMeshWrapper):
        raise ArgumentError(f"ttnn.distribute: expected a mapper or a composer, got {type(default).__name__}")
    name = "composer" if composes else "mapper"
    before = getattr(_default, name, None)
    setattr(_default, name, default)
    try:
        yield
    finally:
        setattr(_default, name, before)


def check_mapper(operator: str, mapper: object) -> CppTensorToMesh | None:
    """Return the mapper that an operator is to use, if any.

    Raises:
        UnsupportedError: the argument is no mapper of this module.
    """
    chosen = getattr(_default, "mapper", None) if mapper is None else mapper
    if chosen is None:
        return None
    if isinstance(chosen, ReplicateTensorToMeshWrapper):
        chosen = chosen.unwrap()
    if not isinstance(chosen, CppTensorToMesh):
        raise UnsupportedError(
            f"{operator}: mesh_mapper {type(mapper).__name__} is not modelled; make one with ttnn.create_mesh_mapper"
        )
    return chosen


def check_composer(operator: str, composer: object, rank: int) -> None:
    """Check that a composer is supported and fits the tensor's dimensions.

    Raises:
        ShapeError: there is no such dimension.
        UnsupportedError: the argument is no composer of this module.
    """
    chosen = getattr(_default, "composer", None) if composer is None else composer
    if chosen is None:
        return
    if not isinstance(chosen, CppMeshToTensor):
        raise UnsupportedError(
            f"{operator}: mesh_composer {type(composer).__name__} is not modelled; make one with "
            "ttnn.create_mesh_composer"
        )
    for dim in chosen._dims:
        _require_dim(f"{operator}: mesh_composer", dim, rank)
