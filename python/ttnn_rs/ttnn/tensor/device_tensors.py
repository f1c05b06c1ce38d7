"""Per-chip tensors of a mesh, apart and together.

On one chip that is the tensor itself.

Source: signatures of ttnn 0.81.1.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from ttnn.base.call import checked
from ttnn.base.exceptions import ArgumentError, ShapeError, StorageError
from ttnn.base.tensor_spec import TensorSpec
from ttnn.device.coordinates import MeshShape
from ttnn.tensor import host_buffer
from ttnn.tensor.distribution import CppMeshToTensor, CppTensorToMesh, check_composer, check_mapper
from ttnn.tensor.host_buffer import Parts
from ttnn.tensor.tensor import Tensor, parts_of
from ttnn.tensor.topology import chips_of, replicated_on
from ttnn.tensor.transfer import chips_with

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


def _require_list(operator: str, tensors: object) -> list[Tensor]:
    """Return a list of allocated tensors of one specification."""
    if not isinstance(tensors, Sequence):
        raise ArgumentError(f"{operator}: expected a list of tensors, got {type(tensors).__name__}")
    if not tensors:
        raise ShapeError(f"{operator}: expected tensors, got none", vendor="At least one tensor shard must be provided")
    found = [_require(operator, tensor) for tensor in tensors]
    for tensor in found:
        if tensor.spec != found[0].spec:
            raise ShapeError(
                f"{operator}: parts must have one specification, got {found[0].spec} and {tensor.spec}",
                vendor="All tensor shards must have the same tensor spec",
            )
    return found


@checked
def get_device_tensors(tensor: Tensor) -> list[Tensor]:
    """Return the parts of the chips, each on the memory of `tensor`.

    Raises:
        StorageError: it was deallocated.
    """
    source = _require("ttnn.get_device_tensors", tensor)
    if isinstance(source._host, Parts):
        return [Tensor._on_host(source.spec, raw) for raw in source._host]
    several = source._device is not None and source._device._several
    return parts_of(source) if several else [source._view(source.spec)]


@checked
def combine_device_tensors(*, tensors: Sequence[Tensor]) -> Tensor:
    """Return the mesh tensor of parts, on their memory.

    Args:
        tensors: Parts of one mesh tensor from `get_device_tensors`, in any order. There may be fewer than chips.

    Raises:
        ShapeError: there are none, or their specifications differ.
        StorageError: one is on the host, deallocated or of other memory, or two are on one chip.
    """
    where = "ttnn.combine_device_tensors"
    parts = _require_list(where, tensors)
    buffers = [part._require_device(where, "the tensor") for part in parts]
    first = parts[0]
    assert first._device is not None
    for part, buffer in zip(parts, buffers, strict=True):
        if buffer.unique_id != buffers[0].unique_id or part._device is not first._device:
            raise StorageError(
                f"{where}: parts must be of one tensor; there are addresses {buffers[0].address} and {buffer.address}",
                vendor="Error aggregating multichip tensors: tensor shards must be allocated on the same mesh buffer. "
                "Consider moving tensors to host, aggregating, and re-uploading on device storage.",
            )
    places = sorted(place for buffer in buffers for place in buffer.places)
    memory = [getattr(part, "_whole", buffer) for part, buffer in zip(parts, buffers, strict=True)]
    whole = next((buffer for buffer in memory if set(places) <= set(buffer.places)), None)
    if whole is None:
        raise StorageError(
            f"{where}: the parts have other shapes than the tensor; get its parts, then reshape the result"
        )
    for place, following in itertools.pairwise(places):
        if place == following:
            coord = chips_with(whole, first._device)[place]
            raise StorageError(
                f"{where}: two tensors are parts of chip {coord}",
                vendor=f"Found a tensor shard at duplicate coordinate {coord}",
            )
    joined = first._like_topology(first._view(first.spec))
    joined.buffers = (whole if places == whole.places else whole.on(places),)
    joined._whole = whole
    return joined


@checked
def from_host_shards(tensors: Sequence[Tensor], mesh_shape: MeshShape) -> Tensor:
    """Return the host tensor with `tensors` as its mesh parts.

    Args:
        tensors: Host tensors of one specification, one for each chip in row-major order.
        mesh_shape: The mesh.

    Raises:
        ShapeError: there are more or fewer than chips, or they have several specifications.
        StorageError: one is on a device, or deallocated.
    """
    where = "ttnn.from_host_shards"
    if not isinstance(mesh_shape, MeshShape):
        raise ArgumentError(f"{where}: mesh_shape must be a ttnn.MeshShape, got {type(mesh_shape).__name__}")
    parts = _require_list(where, tensors)
    if len(parts) != mesh_shape.mesh_size():
        raise ShapeError(
            f"{where}: {len(parts)} tensors for the {mesh_shape.mesh_size()} chips of the mesh {mesh_shape}",
            vendor="Number of tensor shards must match mesh size",
        )
    buffers = [part._require_host(where, "a part") for part in parts]
    if len(parts) == 1:
        return parts[0]._view(parts[0].spec)
    joined = Tensor._on_host(parts[0].spec, Parts(buffers, chips_of(mesh_shape), mesh_shape))
    joined.update_tensor_topology(replicated_on(mesh_shape))
    return joined


@checked
def distribute_tensor(tensor: Tensor, mapper: CppTensorToMesh, mesh_device: MeshDevice | None = None) -> Tensor:
    """Return a tensor distributed by a mapper, on `mesh_device` or host.

    Raises:
        ShapeError: the mapper cuts a dimension that the tensor does not have, or into parts of several shapes.
        StorageError: the tensor is on a device, distributed already, or deallocated.
    """
    where = "ttnn.distribute_tensor"
    source = _require(where, tensor)
    source._require_host(where)
    chosen = check_mapper(where, mapper)
    spread = source._view(source.spec)
    if chosen is not None:
        plan = chosen.plan(where, tuple(source.shape))
        if plan.mesh.mesh_size() > 1:
            whole = source.spec
            spec = TensorSpec.of(plan.shape, whole.dtype, whole.layout, whole.memory_config, whole.tile)
            pack = partial(host_buffer.pack, spec=spec, where=where)
            spread = Tensor._on_host(spec, plan.parts(source._packable(where), pack))
        spread.update_tensor_topology(plan.topology)
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
    chosen = check_composer(where, composer)
    host = source._to_host(where)
    if not isinstance(host._host, Parts):
        host._values(where, chosen)
        return host._view(host.spec)
    values, spec = host._packable(where, chosen), host.spec
    whole = TensorSpec.of(values.shape, spec.dtype, spec.layout, spec.memory_config, spec.tile)
    return Tensor._on_host(whole, host_buffer.pack(values, whole, where=where))
