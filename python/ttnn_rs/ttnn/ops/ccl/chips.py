"""Groups of chips of collective operators, their topology and links."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

from ttnn.base.enums import TILE_SIZE, Layout
from ttnn.base.exceptions import FabricError, ParameterError, ShapeError, StorageError
from ttnn.base.system_enums import Topology
from ttnn.base.tensor_spec import TensorSpec
from ttnn.device.coordinates import MeshCoordinate, MeshShape
from ttnn.device.fabric_state import FABRIC
from ttnn.device.mesh_device import MeshDevice
from ttnn.operation.signature import BOOLEAN, INTEGER, Param, instance_kind
from ttnn.ops._programs.common import MEMORY_CONFIG_OPTION, OUTPUT_TENSOR_OPTION, on_device
from ttnn.tensor.tensor import Tensor
from ttnn.tensor.topology import PlacementReplicate, PlacementShard, TensorTopology, replicated_on

TOPOLOGY: Final = instance_kind("ttnn.Topology", Topology)
COORDINATE: Final = instance_kind("ttnn.MeshCoordinate", MeshCoordinate)

CLUSTER_AXIS: Final = Param(
    "cluster_axis", INTEGER, None, doc="Mesh axis along which chips form groups: 0, 1; None for all chips."
)
TOPOLOGY_OPTION: Final = Param(
    "topology", TOPOLOGY, None, doc="Topology.Linear or Topology.Ring. Default: that of the fabric and its links."
)
NUM_LINKS: Final = Param(
    "num_links", INTEGER, None, doc="Links of each pair of chips. Default: all. Bits do not change."
)
CHUNKS_PER_SYNC: Final = Param("chunks_per_sync", INTEGER, None, doc="Chunks between two notifications.")
WORKERS: Final = Param("num_workers_per_link", INTEGER, None, doc="Cores for each link and direction.")
CHANNEL_BUFFERS: Final = Param("num_buffers_per_channel", INTEGER, None, doc="Packets that a channel holds.")
L1_SMALL: Final = Param("use_l1_small_for_semaphores", BOOLEAN, False, doc="Semaphores are in L1_SMALL.")
MEMORY_CONFIG: Final = MEMORY_CONFIG_OPTION
OUTPUT_TENSOR: Final = OUTPUT_TENSOR_OPTION


def require_mesh(operator: str, tensor: Tensor) -> MeshDevice:
    """Return the mesh of a tensor on all of its chips.

    Raises:
        StorageError: the tensor is on the host, deallocated, or on some chips only.
    """
    device = on_device(operator, tensor)
    if device._several and not tensor.buffers[0].is_on_all_chips:
        raise StorageError(
            f"{operator}: the tensor is on {len(tensor.buffers[0].places)} of {len(device.chips)} chips of {device!r}; "
            "a collective needs all of them. Combine the parts with ttnn.combine_device_tensors."
        )
    return device


def usable_topology(device: MeshDevice, asked: Topology | None, axis: int | None) -> Topology:
    """Return the topology of a collective; see `ttnn.get_usable_topology`."""
    return FABRIC.usable_topology(device._system, device.get_device_ids(), tuple(device.shape), asked, axis)


def require_fabric(operator: str, vendor: str) -> None:
    """Check that there is a fabric, with another official sentence.

    Raises:
        FabricError: there is none.
    """
    if not FABRIC.is_on:
        raise FabricError(
            f"{operator}: there is no fabric; call ttnn.set_fabric_config(...) before opening the mesh", vendor=vendor
        )


def size_of(device: MeshDevice, axis: int | None) -> int:
    """Return the number of chips of a group."""
    return len(device.chips) if axis is None else list(device.shape)[axis]


def groups_of(device: MeshDevice, axis: int | None) -> list[list[int]]:
    """Return the engine's places of each group's chips, along the axis."""
    places = [chip.place for chip in device.chips]
    if axis is None:
        return [places]
    shape = list(device.shape)
    inner = math.prod(shape[axis + 1 :])
    firsts = [index for index in range(len(places)) if index // inner % shape[axis] == 0]
    return [[places[first + step * inner] for step in range(shape[axis])] for first in firsts]


def check_axis(device: MeshDevice, axis: int | None, vendor: str) -> None:
    """Check that the mesh has an axis.

    Raises:
        FabricError: it has not.
    """
    if axis is not None and not 0 <= axis < device.shape.dims():
        raise FabricError(f"cluster_axis {axis}: {device!r} has axes 0 and 1", vendor=vendor)


def check_links(device: MeshDevice, axis: int | None, links: int | None, direct: bool) -> None:
    """Check that neighbours have so many links.

    Args:
        device: The mesh.
        axis: The axis of the groups.
        links: What is asked for.
        direct: Whether only links that collectives use by default count.

    Raises:
        ParameterError: there are fewer.
    """
    if links is None:
        return
    system, groups = device._system, groups_of(device, axis)
    by_place = {chip.place: chip.id for chip in device.chips}
    ids = [by_place[place] for place in groups[0][:2]]
    if len(ids) < 2:
        return
    if direct:
        usable = FABRIC.num_links(system, device.get_device_ids(), tuple(device.shape), axis)
        if not 1 <= links <= usable:
            shown = 1 if axis is None else axis
            raise ParameterError(
                f"num_links {links}: neighbours have {usable} links",
                vendor=f"reduce_scatter_minimal_direct num_links {links} must be in [1, {usable}] (links available on "
                f"axis {shown})",
            )
        return
    there = len(system.links_between(*ids))
    if links > there:
        nodes = [system.fabric_node(number) for number in ids]
        raise ParameterError(
            f"num_links {links}: chips {ids[0]} and {ids[1]} have {there} links",
            vendor=f"Requested link index {there} is out of bounds. {there} ethernet channels available to forward b/w "
            f"src (M0, D{nodes[0]}) and dst (M0, D{nodes[1]})",
        )


def topology_of(tensor: Tensor, device: MeshDevice) -> TensorTopology:
    """Return how a tensor lies on its mesh."""
    return getattr(tensor, "_topology", None) or replicated_on(device.shape)


def placed(tensor: Tensor, device: MeshDevice, axis: int | None, dim: int | None) -> TensorTopology:
    """Return the topology of a result.

    Args:
        tensor: The operand.
        device: The mesh.
        axis: The axis of the groups; None for all chips.
        dim: The dimension that chips of a group share; None if each has the whole.
    """
    placement = PlacementReplicate() if dim is None else PlacementShard(dim)
    coordinates = device.coordinates()
    if axis is None and dim is not None:
        return TensorTopology(MeshShape([len(coordinates)]), [placement], coordinates)
    before = topology_of(tensor, device)
    if axis is None or before.distribution_shape().dims() != device.shape.dims():
        placements: list[Any] = [PlacementReplicate()] * device.shape.dims()
    else:
        placements = before.placements()
    if axis is not None:
        placements[axis] = placement
    return TensorTopology(device.shape, placements, coordinates)


def with_topology(tensor: Tensor, topology: TensorTopology) -> Tensor:
    """Return a tensor after setting its topology."""
    tensor._topology = topology
    return tensor


def page_dims(spec: TensorSpec) -> list[int]:
    """Return the pages along each dimension of a tensor."""
    dims = list(spec.padded_shape)
    if spec.layout is Layout.ROW_MAJOR:
        return [*dims[:-1], 1]
    height, width = spec.page_shape
    return [*dims[:-2], dims[-2] // height, dims[-1] // width]


def slices(spec: TensorSpec, dim: int, count: int) -> tuple[int, int]:
    """Return the pages before a dimension, and those of a slice."""
    dims = page_dims(spec)
    return math.prod(dims[:dim]), math.prod(dims[dim:]) // count


def in_pages(spec: TensorSpec, dim: int, size: int) -> bool:
    """Return whether slices of a size along a dimension are whole pages."""
    rank = spec.shape.rank
    if spec.layout is Layout.ROW_MAJOR:
        return dim < rank - 1
    return dim < rank - 2 or size % TILE_SIZE == 0


def joined_shape(shape: Sequence[int], dim: int, count: int) -> list[int]:
    """Return the shape of `count` tensors joined along a dimension."""
    return [size * count if index == dim else size for index, size in enumerate(shape)]


def sliced_shape(operator: str, shape: Sequence[int], dim: int, count: int) -> list[int]:
    """Return the shape of one of `count` slices along a dimension.

    Raises:
        ShapeError: the dimension does not divide.
    """
    if shape[dim] % count:
        raise ShapeError(f"{operator}: dimension {dim} of {list(shape)} does not divide into {count} slices.")
    return [size // count if index == dim else size for index, size in enumerate(shape)]
