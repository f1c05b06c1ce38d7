"""Per-chip tensors of a mesh, apart and together.

With one chip that is the tensor itself.

Source: signatures of ttnn 0.81.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ttnn.base.call import checked
from ttnn.base.exceptions import ArgumentError, ShapeError
from ttnn.device.coordinates import MeshShape
from ttnn.tensor.distribution import CppMeshToTensor, CppTensorToMesh, check_composer, check_mapper
from ttnn.tensor.tensor import Tensor

if TYPE_CHECKING:
    from ttnn.device.lifecycle import MeshDevice

__all__ = [
    "aggregate_tensor",
    "combine_device_tensors",
    "distribute_tensor",
    "from_host_shards",
    "get_device_tensors",
]


def _require(operator: str, tensor: object) -> Tensor:
    if not isinstance(tensor, Tensor):
        raise ArgumentError(f"{operator}: expected a ttnn.Tensor, got {type(tensor).__name__}")
    if not tensor.is_allocated():
        raise tensor._released(operator, "the tensor")
    return tensor


def _only(operator: str, tensors: Sequence[Tensor]) -> Tensor:
    if not isinstance(tensors, Sequence):
        raise ArgumentError(f"{operator}: expected a list of tensors, got {type(tensors).__name__}")
    if len(tensors) != 1:
        raise ShapeError(f"{operator}: a mesh of one chip has one tensor, got {len(tensors)}")
    return _require(operator, tensors[0])


@checked
def get_device_tensors(tensor: Tensor) -> list[Tensor]:
    """Return the tensors of the chips: one, on the memory of `tensor`.

    Raises:
        StorageError: it was deallocated.
    """
    return [_require("ttnn.get_device_tensors", tensor)._view(tensor.spec)]


@checked
def combine_device_tensors(*, tensors: Sequence[Tensor]) -> Tensor:
    """Return the mesh tensor of per-chip `tensors`: exactly one.

    Raises:
        ShapeError: there is not exactly one.
        StorageError: it is on the host, or deallocated.
    """
    where = "ttnn.combine_device_tensors"
    part = _only(where, tensors)
    part._require_device(where, "the tensor")
    return part._view(part.spec)


@checked
def from_host_shards(tensors: Sequence[Tensor], mesh_shape: MeshShape) -> Tensor:
    """Return the host tensor with `tensors` as its mesh parts.

    Raises:
        ShapeError: there are more or fewer than chips, or the mesh has several.
        StorageError: it is on a device, or deallocated.
    """
    where = "ttnn.from_host_shards"
    part = _only(where, tensors)
    if not isinstance(mesh_shape, MeshShape) or mesh_shape.mesh_size() != 1:
        raise ShapeError(f"{where}: one tensor does not fill the mesh {mesh_shape!r}")
    part._require_host(where)
    return part._view(part.spec)


@checked
def distribute_tensor(tensor: Tensor, mapper: CppTensorToMesh, mesh_device: MeshDevice | None = None) -> Tensor:
    """Return a tensor distributed by a mapper, on `mesh_device` or host.

    Raises:
        ShapeError: the mapper cuts a dimension that the tensor does not have.
        StorageError: the tensor is on a device, or deallocated.
    """
    where = "ttnn.distribute_tensor"
    source = _require(where, tensor)
    source._require_host(where)
    chosen = check_mapper(where, mapper)
    spread = source._view(source.spec)
    if chosen is not None:
        spread.update_tensor_topology(chosen.topology(where, source.shape.rank))
    return spread if mesh_device is None else spread._to_device(where, mesh_device, None)


@checked
def aggregate_tensor(tensor: Tensor, composer: CppMeshToTensor) -> Tensor:
    """Return the host tensor that a composer concatenates from a mesh tensor.

    Raises:
        ShapeError: the composer joins along a dimension that the tensor does not have.
        StorageError: it was deallocated.
    """
    where = "ttnn.aggregate_tensor"
    source = _require(where, tensor)
    check_composer(where, composer, source.shape.rank)
    host = source._to_host(where)
    return host._view(host.spec)
