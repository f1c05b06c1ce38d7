"""Mesh mappers and composers: one part of a tensor per chip.

A mapper or composer needs only the shape of a mesh, so that a `MeshShape` is accepted wherever a device is.

Source: TT-NN docs, "Multi-device"; signatures and recorded calls of ttnn 0.81.1.
"""

from __future__ import annotations

import itertools
import math
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ttnn.base.call import shown
from ttnn.base.exceptions import ArgumentError, DeviceError, ShapeError, UnsupportedError
from ttnn.base.shape import Shape
from ttnn.device.coordinates import MeshCoordinate, MeshShape
from ttnn.tensor.host_buffer import Array, Parts, Raw
from ttnn.tensor.topology import (
    Placement,
    PlacementReplicate,
    PlacementShard,
    TensorTopology,
    compute_distribution_to_mesh_mapping,
    require_chips,
    require_dim,
    require_placements,
)

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
    "compute_distribution_to_mesh_mapping",
    "concat_mesh_to_tensor_composer",
    "create_mesh_composer",
    "create_mesh_mapper",
    "distribute",
    "replicate_tensor_to_mesh_mapper",
    "shard_tensor_to_mesh_mapper",
]


# Checks.


def _pair(kind: str, dims: Any) -> tuple[Any, Any]:
    if not isinstance(dims, Sequence) or len(dims) != 2:
        raise ArgumentError(f"{kind}: dims must be two dimensions, got {shown(dims)}")
    return dims[0], dims[1]


def _mesh_shape(operator: str, mesh_device: Any) -> MeshShape:
    """Return the shape of a device or a shape.

    Raises:
        ArgumentError: neither.
        DeviceError: the shape has no chips, or too many for a mesh.
    """
    if isinstance(mesh_device, MeshShape):
        require_chips(operator, mesh_device)
        return mesh_device
    if not hasattr(mesh_device, "get_num_devices"):
        raise ArgumentError(f"{operator}: expected a ttnn.MeshDevice, got {type(mesh_device).__name__}")
    shape: MeshShape = mesh_device.shape
    return shape


def _pair_shape(operator: str, mesh_shape: Sequence[int] | MeshShape) -> MeshShape:
    if not isinstance(mesh_shape, Sequence | MeshShape) or len(mesh_shape) != 2:
        raise ArgumentError(f"{operator}: mesh_shape must be two ints, got {shown(mesh_shape)}")
    return MeshShape(*mesh_shape)


def _check_overrides(kind: str, shape: object, offset: object) -> None:
    if not isinstance(shape, MeshShape | None) or not isinstance(offset, MeshCoordinate | None):
        raise ArgumentError(
            f"{kind}: expected a MeshShape and a MeshCoordinate, got {shown(shape)} and {shown(offset)}"
        )
    if offset is not None and any(offset):
        raise UnsupportedError(f"{kind}: mesh_offset_override {offset!r}; parts begin at the first chip")


def _distribution(operator: str, mesh: MeshShape, config: MeshMapperConfig | MeshComposerConfig) -> MeshShape:
    """Return the shape over which a configuration distributes, checked."""
    shape = config.mesh_shape_override or mesh
    if shape.mesh_size() > mesh.mesh_size():
        raise DeviceError(
            f"{operator}: {shape} has {shape.mesh_size()} chips, the mesh {mesh} has {mesh.mesh_size()}",
            vendor=f"The size of the supplied mesh shape {shape} does not match the device shape size {mesh}",
        )
    require_chips(operator, shape)
    if shape.dims() != config._count:
        raise DeviceError(
            f"{operator}: {shape} has {shape.dims()} dimensions, {config!r} is for {config._count}",
            vendor=f"The number of dimensions in the mesh shape {shape} does not match the number of {config._WORD} in "
            f"the config {config!r}",
        )
    return shape


def _normal_dims(who: str, dims: Sequence[int], rank: int, *, unique: bool = True) -> list[int]:
    """Return tensor dimensions counted from 0."""
    for dim in dims:
        if not -rank <= dim < rank:
            raise ShapeError(
                f"{who} names dimension {dim}, the tensor has {rank}",
                vendor=f"Invalid dimension index; got dims: {{{', '.join(map(str, dims))}}}, tensor dimension: {rank}",
            )
    normal = [dim % rank for dim in dims]
    if unique and len(set(normal)) != len(normal):
        raise ShapeError(
            f"{who} names dimensions {', '.join(map(str, dims))} of a tensor of {rank}; each may be named once",
            vendor="dims must be unique",
        )
    return normal


# Mappers.


class MeshMapperConfig:
    """Placement along each mesh dimension by a mapper.

    `MeshMapperConfig(placements, mesh_shape_override=None)`, or `MeshMapperConfig(row_dim=None, col_dim=None)` for the
    two dimensions of a mesh, where None replicates.

    Attributes:
        mesh_shape_override: Shape over which the tensor is distributed, None for that of the mesh.
    """

    _WORD = "placements"

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
        require_placements("MeshMapperConfig", placements)
        _check_overrides("MeshMapperConfig", mesh_shape_override, mesh_offset_override)
        self._placements_ = list(placements)
        self.mesh_shape_override = mesh_shape_override

    @property
    def placements(self) -> list[Placement]:
        """Return what each mesh dimension does."""
        return list(self._placements_)

    @property
    def _count(self) -> int:
        return len(self._placements_)

    def __repr__(self) -> str:
        return f"MeshMapperConfig(placements: {self._placements_}{_override_text(self.mesh_shape_override)})"


def _override_text(shape: MeshShape | None) -> str:
    return "" if shape is None else f", mesh_shape_override={shape}"


class Plan(NamedTuple):
    """The parts into which a mapper cuts a tensor."""

    shape: tuple[int, ...]
    """Shape of a part; all have the same."""
    cuts: list[tuple[slice, ...]]
    """The elements of each part, in the order of the topology's chips."""
    topology: TensorTopology
    mesh: MeshShape

    def parts(self, array: Array, pack: Callable[[Array], Raw]) -> Raw | Parts:
        """Return the raw buffers of an array's parts.

        A mesh of one chip has one, which is returned alone.

        Equal parts are packed once and share memory.
        """
        packed: dict[tuple[tuple[int, int], ...], Raw] = {}
        buffers = []
        for cut in self.cuts:
            key = tuple((each.start, each.stop) for each in cut)
            if key not in packed:
                # A scalar has no dimension that is cut, and numpy would return a number for it.
                packed[key] = pack(array if array.shape == self.shape else np.ascontiguousarray(array[cut]))
            buffers.append(packed[key])
        if self.mesh.mesh_size() == 1:
            return buffers[0]
        return Parts(buffers, self.topology.mesh_coords(), self.mesh)


class CppTensorToMesh:
    """A mapper for `mesh_mapper=`, created by the functions and classes below."""

    _mesh: MeshShape
    _config: MeshMapperConfig
    _distribution: MeshShape

    def __init__(self) -> None:
        raise ArgumentError(f"{type(self).__name__}(): mappers are made with ttnn.create_mesh_mapper(device, config)")

    def _map(self, operator: str, mesh_device: object, config: MeshMapperConfig) -> None:
        self._mesh, self._config = _mesh_shape(operator, mesh_device), config
        self._distribution = _distribution(operator, self._mesh, config)

    def config(self) -> MeshMapperConfig:
        """Return what the mapper does."""
        return self._config

    def unwrap(self) -> CppTensorToMesh:
        """Return the mapper itself."""
        return self

    def plan(self, operator: str, shape: Sequence[int]) -> Plan:
        """Return the parts of a tensor of a shape.

        A dimension is cut into chunks of its size divided by the number of chips, rounded up. There may be fewer chunks
        than chips, and so fewer parts, where the distribution has one dimension.

        Raises:
            ShapeError: a dimension does not exist or is cut twice, or the parts have several shapes.
        """
        who = f"{operator}: mesh_mapper"
        cut = {
            axis: place.dim for axis, place in enumerate(self._config._placements_) if isinstance(place, PlacementShard)
        }
        dims = dict(zip(cut, _normal_dims(who, list(cut.values()), len(shape)), strict=True))
        chunks = {axis: _chunks(shape[dim], self._distribution[axis]) for axis, dim in dims.items()}
        counts = [len(chunks[axis]) if axis in chunks else size for axis, size in enumerate(self._distribution)]
        found, wanted = math.prod(map(len, chunks.values())), math.prod(self._distribution[axis] for axis in chunks)
        if found == 0 or (found != wanted and self._distribution.dims() != 1):
            raise ShapeError(
                f"{who} cuts {Shape(shape)} into {found} parts, {self._distribution} needs {wanted}",
                vendor=f"ND sharding requires the number of chunks {found} to match the mesh dimension size {wanted}"
                if found
                else "No chunks were produced",
            )
        cuts = [_cut(shape, chunks, dims, place) for place in itertools.product(*map(range, counts))]
        shapes = [tuple(each.stop - each.start for each in one) for one in cuts]
        for one in shapes:
            if one != shapes[0]:
                raise ShapeError(
                    f"{who} cuts {Shape(shape)} over {self._distribution} into parts of {Shape(shapes[0])} and "
                    f"{Shape(one)}; all parts must have the same shape",
                    vendor=f"Shard shape mismatch: expected {Shape(shapes[0])} but got {Shape(one)}",
                )
        chips = compute_distribution_to_mesh_mapping(self._distribution, self._mesh)[: len(cuts)]
        topology = TensorTopology(MeshShape(counts), self._config._placements_, chips)
        return Plan(shapes[0], cuts, topology, self._mesh)


def _chunks(size: int, count: int) -> list[slice]:
    """Return the ranges of a dimension, at most `count`."""
    if count == 1:
        return [slice(0, size)]
    step = -(-size // count)
    return [slice(start, min(start + step, size)) for start in range(0, size, step)] if size else []


def _cut(
    shape: Sequence[int], chunks: dict[int, list[slice]], dims: dict[int, int], place: tuple[int, ...]
) -> tuple[slice, ...]:
    """Return the elements of the part at a place of the distribution."""
    cut = [slice(0, size) for size in shape]
    for axis, dim in dims.items():
        cut[dim] = chunks[axis][place[axis]]
    return tuple(cut)


TensorToMesh = CppTensorToMesh


def _mapper(operator: str, mesh_device: object, config: MeshMapperConfig) -> CppTensorToMesh:
    mapper = CppTensorToMesh.__new__(CppTensorToMesh)
    mapper._map(operator, mesh_device, config)
    return mapper


def _flat(operator: str, mesh_device: object) -> MeshShape:
    """Return the shape of one dimension with all chips of a mesh."""
    return MeshShape([_mesh_shape(operator, mesh_device).mesh_size()])


class ReplicateTensorToMesh(CppTensorToMesh):
    """Replicates the whole tensor on every chip of the mesh."""

    def __init__(self, mesh_device: MeshDevice) -> None:
        where = "ttnn.ReplicateTensorToMesh"
        self._map(
            where, mesh_device, MeshMapperConfig([PlacementReplicate()], mesh_shape_override=_flat(where, mesh_device))
        )
        self.mesh_device = mesh_device


class ShardTensorToMesh(CppTensorToMesh):
    """Shards dimension `dim` over the chips of the mesh."""

    def __init__(self, mesh_device: MeshDevice, dim: int) -> None:
        where = "ttnn.ShardTensorToMesh"
        self.dim = require_dim(where, dim)
        self._map(
            where, mesh_device, MeshMapperConfig([PlacementShard(dim)], mesh_shape_override=_flat(where, mesh_device))
        )
        self.mesh_device = mesh_device


class ShardTensor2dMesh(CppTensorToMesh):
    """Shards two dimensions over mesh rows and columns; None replicates."""

    def __init__(self, mesh_device: MeshDevice, mesh_shape: Sequence[int], dims: tuple[int | None, int | None]) -> None:
        where = "ttnn.ShardTensor2dMesh"
        rows, columns = _pair(where, dims)
        shape = _pair_shape(where, mesh_shape)
        config = MeshMapperConfig(row_dim=rows, col_dim=columns, mesh_shape_override=shape)
        self._map(where, mesh_device, config)
        self.mesh_device = mesh_device


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
        DeviceError: the configuration has more chips or other dimensions than the mesh.
    """
    where = "ttnn.create_mesh_mapper"
    if not isinstance(config, MeshMapperConfig):
        raise ArgumentError(f"{where}: config must be a MeshMapperConfig, got {type(config).__name__}")
    return _mapper(where, mesh_device, config)


def replicate_tensor_to_mesh_mapper(mesh_device: MeshDevice) -> CppTensorToMesh:
    """Return the mapper that replicates the tensor on every chip."""
    where = "ttnn.replicate_tensor_to_mesh_mapper"
    return _mapper(
        where, mesh_device, MeshMapperConfig([PlacementReplicate()], mesh_shape_override=_flat(where, mesh_device))
    )


def shard_tensor_to_mesh_mapper(mesh_device: MeshDevice, dim: int) -> CppTensorToMesh:
    """Return the mapper that shards dimension `dim` over the chips."""
    where = "ttnn.shard_tensor_to_mesh_mapper"
    return _mapper(
        where, mesh_device, MeshMapperConfig([PlacementShard(dim)], mesh_shape_override=_flat(where, mesh_device))
    )


# Composers.


class MeshComposerConfig:
    """Along which tensor dimensions a composer concatenates, one for each mesh dimension.

    `MeshComposerConfig(dims, mesh_shape_override=None)` or `MeshComposerConfig(row_dim, col_dim)`.

    Attributes:
        dims: The dimensions.
        mesh_shape_override: Shape over which the tensor is distributed, None for that of the mesh.
    """

    _WORD = "dimensions"

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
            raise ArgumentError(f"MeshComposerConfig(): dims must be a list of ints, got {shown(dims)}")
        _check_overrides("MeshComposerConfig", mesh_shape_override, mesh_offset_override)
        self.dims = [require_dim("MeshComposerConfig", dim) for dim in dims]
        self.mesh_shape_override = mesh_shape_override

    @property
    def _count(self) -> int:
        return len(self.dims)

    def __repr__(self) -> str:
        return f"MeshComposerConfig(dims: {self.dims}{_override_text(self.mesh_shape_override)})"


class CppMeshToTensor:
    """A composer for `mesh_composer=`, created by the functions and classes below."""

    _mesh: MeshShape
    _distribution: MeshShape
    _dims: list[int]

    def __init__(self) -> None:
        raise ArgumentError(
            f"{type(self).__name__}(): composers are made with ttnn.create_mesh_composer(device, config)"
        )

    def _compose(self, operator: str, mesh_device: object, config: MeshComposerConfig) -> None:
        self._mesh = _mesh_shape(operator, mesh_device)
        self._distribution = _distribution(operator, self._mesh, config)
        self._dims = list(config.dims)

    def joined(self, operator: str, parts: Parts, values: Callable[[Raw], Array]) -> Array:
        """Return the values of all parts, concatenated.

        Args:
            operator: Who asks, for the error.
            parts: The parts, of one shape.
            values: Returns the values of a raw buffer.

        Raises:
            ShapeError: a dimension does not exist or is named twice, or parts are missing.
        """
        held = dict(zip(parts.coords, parts, strict=True))
        places = compute_distribution_to_mesh_mapping(self._distribution, self._mesh)
        blocks = [values(held[place]) for place in places if place in held]
        if not blocks:
            raise ShapeError(f"{operator}: mesh_composer is for the mesh {self._mesh}, the tensor has no part there")
        several = len(blocks) > 1
        dims = _normal_dims(f"{operator}: mesh_composer", self._dims, blocks[0].ndim, unique=several)
        if not several:
            return blocks[0]
        counts = [len(blocks)] if len(dims) == 1 else list(self._distribution)
        if len(blocks) != math.prod(counts):
            raise ShapeError(
                f"{operator}: mesh_composer joins {self._distribution.mesh_size()} parts, the tensor has {len(blocks)}",
                vendor=f"ND composition requires the number of tensors {len(blocks)} to match the mesh shape "
                f"{self._distribution}",
            )
        part = blocks[0].shape
        whole = list(part)
        for dim, count in zip(dims, counts, strict=True):
            whole[dim] *= count
        result = np.empty(whole, blocks[0].dtype)
        for block, place in zip(blocks, itertools.product(*map(range, counts)), strict=True):
            where = [slice(None)] * len(part)
            for dim, number in zip(dims, place, strict=True):
                where[dim] = slice(number * part[dim], (number + 1) * part[dim])
            result[tuple(where)] = block
        return result


MeshToTensor = CppMeshToTensor


class ConcatMeshToTensor(CppMeshToTensor):
    """Concatenates the tensors of all chips along `dim`."""

    def __init__(self, mesh_device: MeshDevice, dim: int) -> None:
        where = "ttnn.ConcatMeshToTensor"
        self.dim = require_dim(where, dim)
        self._compose(where, mesh_device, MeshComposerConfig([dim], mesh_shape_override=_flat(where, mesh_device)))
        self.mesh_device = mesh_device


class ConcatMesh2dToTensor(CppMeshToTensor):
    """Concatenates tensors of mesh rows and columns along two dimensions."""

    def __init__(self, mesh_device: MeshDevice, mesh_shape: Sequence[int], dims: tuple[int, int]) -> None:
        where = "ttnn.ConcatMesh2dToTensor"
        rows, columns = (require_dim(where, dim) for dim in _pair(where, dims))
        if rows == columns:
            raise DeviceError(
                f"{where}: rows and columns of the mesh cannot both be joined along dimension {rows}",
                vendor="dims must be unique",
            )
        shape = _pair_shape(where, mesh_shape)
        self._compose(where, mesh_device, MeshComposerConfig([rows, columns], mesh_shape_override=shape))
        self.mesh_device = mesh_device


def create_mesh_composer(mesh_device: MeshDevice, config: MeshComposerConfig) -> CppMeshToTensor:
    """Return the composer of a configuration.

    Raises:
        DeviceError: the configuration has more chips or other dimensions than the mesh.
    """
    where = "ttnn.create_mesh_composer"
    if not isinstance(config, MeshComposerConfig):
        raise ArgumentError(f"{where}: config must be a MeshComposerConfig, got {type(config).__name__}")
    composer = CppMeshToTensor.__new__(CppMeshToTensor)
    composer._compose(where, mesh_device, config)
    return composer


def concat_mesh_to_tensor_composer(mesh_device: MeshDevice, dim: int) -> CppMeshToTensor:
    """Return the composer that concatenates the tensors of all chips along `dim`."""
    where = "ttnn.concat_mesh_to_tensor_composer"
    return create_mesh_composer(mesh_device, MeshComposerConfig([dim], mesh_shape_override=_flat(where, mesh_device)))


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


def check_composer(operator: str, composer: object) -> CppMeshToTensor | None:
    """Return the composer that an operator is to use, if any.

    Raises:
        UnsupportedError: the argument is no composer of this module.
    """
    chosen = getattr(_default, "composer", None) if composer is None else composer
    if chosen is not None and not isinstance(chosen, CppMeshToTensor):
        raise UnsupportedError(
            f"{operator}: mesh_composer {type(composer).__name__} is not modelled; make one with "
            "ttnn.create_mesh_composer"
        )
    return chosen
