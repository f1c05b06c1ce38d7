"""Mesh mappers and composers of a mesh of one chip, where spreading a tensor out and joining it again changes nothing.

Programs written for several chips run unchanged on one as long as they replicate or concatenate; everything that needs
a second chip raises.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ttnn.exceptions import ArgumentError, UnsupportedError

if TYPE_CHECKING:
    from ttnn.device import MeshDevice

__all__ = [
    "ConcatMesh2dToTensor",
    "ConcatMeshToTensor",
    "ReplicateTensorToMesh",
    "ShardTensor2dMesh",
    "ShardTensorToMesh",
    "aggregate_tensor",
    "concat_mesh_to_tensor_composer",
    "create_mesh_composer",
    "create_mesh_mapper",
    "distribute_tensor",
    "replicate_tensor_to_mesh_mapper",
    "shard_tensor_to_mesh_mapper",
]


class ReplicateTensorToMesh:
    """Gives every chip of the mesh the whole tensor."""

    def __init__(self, mesh_device: MeshDevice) -> None:
        _require_one_chip("ttnn.ReplicateTensorToMesh", mesh_device)
        self.mesh_device = mesh_device

    def unwrap(self) -> ReplicateTensorToMesh:
        """Return the mapper itself."""
        return self


class ConcatMeshToTensor:
    """Joins the tensors of all chips along `dim`."""

    def __init__(self, mesh_device: MeshDevice, dim: int) -> None:
        _require_one_chip("ttnn.ConcatMeshToTensor", mesh_device)
        if isinstance(dim, bool) or not isinstance(dim, int):
            raise ArgumentError(f"ttnn.ConcatMeshToTensor: dim must be an int, got {dim!r}")
        self.mesh_device = mesh_device
        self.dim = dim


def replicate_tensor_to_mesh_mapper(mesh_device: MeshDevice) -> ReplicateTensorToMesh:
    """Return the mapper that gives every chip the whole tensor."""
    return ReplicateTensorToMesh(mesh_device)


def concat_mesh_to_tensor_composer(mesh_device: MeshDevice, dim: int) -> ConcatMeshToTensor:
    """Return the composer that joins the tensors of all chips along `dim`."""
    return ConcatMeshToTensor(mesh_device, dim)


def check_mapper(operator: str, mapper: object) -> None:
    """Refuse mappers other than those above.

    Raises:
        UnsupportedError: it spreads a tensor over several chips.
    """
    if mapper is not None and not isinstance(mapper, ReplicateTensorToMesh):
        raise UnsupportedError(
            f"{operator}: mesh_mapper {type(mapper).__name__} is not modelled; on one chip use ReplicateTensorToMesh"
        )


def check_composer(operator: str, composer: object) -> None:
    """Refuse composers other than those above.

    Raises:
        UnsupportedError: it joins tensors of several chips.
    """
    if composer is not None and not isinstance(composer, ConcatMeshToTensor):
        raise UnsupportedError(
            f"{operator}: mesh_composer {type(composer).__name__} is not modelled; on one chip use ConcatMeshToTensor"
        )


def _require_one_chip(operator: str, mesh_device: Any) -> None:
    count = getattr(mesh_device, "get_num_devices", None)
    if count is None:
        raise ArgumentError(f"{operator}: expected a ttnn.MeshDevice, got {type(mesh_device).__name__}")
    if count() != 1:
        raise UnsupportedError(f"{operator}: meshes of {count()} chips are not modelled")


def _unsupported(name: str) -> Any:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise UnsupportedError(f"ttnn.{name}: meshes of several chips are not modelled")

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = "Refuse: it needs a mesh of several chips."
    return refuse


ShardTensorToMesh = _unsupported("ShardTensorToMesh")
ShardTensor2dMesh = _unsupported("ShardTensor2dMesh")
ConcatMesh2dToTensor = _unsupported("ConcatMesh2dToTensor")
shard_tensor_to_mesh_mapper = _unsupported("shard_tensor_to_mesh_mapper")
create_mesh_mapper = _unsupported("create_mesh_mapper")
create_mesh_composer = _unsupported("create_mesh_composer")
distribute_tensor = _unsupported("distribute_tensor")
aggregate_tensor = _unsupported("aggregate_tensor")
