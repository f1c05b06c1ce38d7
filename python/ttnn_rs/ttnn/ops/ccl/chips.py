"""Groups of chips of collective operators, their topology and links."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

from ttnn.base.enums import BLOCK_FLOATS, TILE_SIZE, DataType, Layout
from ttnn.base.exceptions import FabricError, ParameterError, ShapeError, StorageError
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, MemoryConfig
from ttnn.base.system_enums import Topology
from ttnn.base.tensor_spec import TensorSpec
from ttnn.device.coordinates import MeshCoordinate, MeshShape
from ttnn.device.fabric_state import FABRIC
from ttnn.operation.registry import find
from ttnn.operation.signature import BOOLEAN, INTEGER, Param, instance_kind
from ttnn.ops._programs.common import allocate, full_tiles, on_device, result_spec, take_output
from ttnn.ops.ccl.part import Chips, part_of, whole_of
from ttnn.runtime import engine_steps
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


def require_mesh(operator: str, tensor: Tensor) -> Chips:
    """Return a tensor's mesh, or the part of it with the tensor.

    Raises:
        StorageError: the tensor is on the host, deallocated, on one of several chips, or on chips that are no range of
            coordinates.
        UnsupportedError: its tiles are not 32x32.
    """
    device = on_device(operator, tensor)
    full_tiles(operator, tensor)
    buffer = tensor.buffers[0]
    if not device._several or buffer.is_on_all_chips:
        return device
    part = part_of(device, buffer.places)
    if part is None or len(part.chips) < 2:
        raise StorageError(
            f"{operator}: the tensor is on {len(buffer.places)} of {len(device.chips)} chips of {device!r}; a "
            "collective needs several of them, in a range of coordinates. Combine parts with "
            "ttnn.combine_device_tensors."
        )
    return part


def usable_topology(device: Chips, asked: Topology | None, axis: int | None) -> Topology:
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


def take(
    operator: str, output: Tensor | None, like: TensorSpec, shape: Sequence[int], device: Chips, vendor: str = ""
) -> Tensor | None:
    """Return the caller's output, or None.

    It must fit the result and be on the operand's chips.

    Raises:
        StorageError: it is on the host, deallocated, on another device, or not on chips of the operand.
        ShapeError: its shape is another one.
        LayoutError: its layout is another one.
        DTypeError: its data type is another one.
    """
    if output is None:
        return None
    take_output(operator, output, shape, like.layout, whole_of(device), vendor, like.dtype)
    there = set(output.buffers[0].places)
    missing = [chip.id for chip in device.chips if chip.place not in there]
    if missing:
        raise StorageError(f"{operator}: the output is not on chips {missing}, which have the operand.")
    return output


def require_several(operator: str, device: Chips, axis: int | None, vendor: str) -> None:
    """Check that groups have several chips.

    Raises:
        FabricError: they have one.
    """
    if size_of(device, axis) < 2:
        raise FabricError(f"{operator}: groups of one chip in {device!r}", vendor=vendor)


def has_two_axes(device: Chips) -> bool:
    """Return whether chips lie along more than one axis."""
    return sum(size > 1 for size in device.shape) > 1


def require_one_axis(operator: str, device: Chips, axis: int | None, vendor: str = "") -> None:
    """Check that packets of a 1-D fabric reach the whole group.

    Raises:
        FabricError: chips lie along two axes, and none is chosen.
    """
    if axis is None and FABRIC.is_1d and has_two_axes(device):
        raise FabricError(
            f"{operator}: {device!r} has two axes, and packets of {FABRIC.config} go along one; pass cluster_axis",
            vendor=vendor,
        )


def only_axis(device: Chips) -> int:
    """Return the axis along which several chips lie.

    The last one if there is none.
    """
    sizes = [*device.shape]
    return next((axis for axis, size in enumerate(sizes) if size > 1), len(sizes) - 1)


def axes_of(device: Chips, axis: int | None) -> list[int | None]:
    """Return the axes along which chips are added one after the other."""
    return [*range(device.shape.dims())] if axis is None and has_two_axes(device) else [axis]


def size_of(device: Chips, axis: int | None) -> int:
    """Return the number of chips of a group."""
    return len(device.chips) if axis is None else list(device.shape)[axis]


def groups_of(device: Chips, axis: int | None) -> list[list[int]]:
    """Return the engine's places of each group's chips, along the axis."""
    places = [chip.place for chip in device.chips]
    if axis is None:
        return [places]
    shape = list(device.shape)
    inner = math.prod(shape[axis + 1 :])
    firsts = [index for index in range(len(places)) if index // inner % shape[axis] == 0]
    return [[places[first + step * inner] for step in range(shape[axis])] for first in firsts]


def check_axis(device: Chips, axis: int | None, vendor: str) -> None:
    """Check that the mesh has an axis.

    Raises:
        FabricError: it has not.
    """
    if axis is not None and not 0 <= axis < device.shape.dims():
        raise FabricError(f"cluster_axis {axis}: {device!r} has axes 0 and 1", vendor=vendor)


def check_links(device: Chips, axis: int | None, links: int | None, direct: bool) -> None:
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


def topology_of(tensor: Tensor, device: Chips) -> TensorTopology:
    """Return how a tensor lies on its mesh."""
    return getattr(tensor, "_topology", None) or replicated_on(device.shape)


def placed(tensor: Tensor, device: Chips, axis: int | None, dim: int | None) -> TensorTopology:
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


def through_bfloat16(tensor: Tensor, run: Callable[[Tensor], Tensor]) -> Tensor:
    """Return the result of a function that block floats pass as bfloat16."""
    dtype = tensor.spec.dtype
    if dtype not in BLOCK_FLOATS:
        return run(tensor)
    result: Tensor = find("ttnn.typecast")(run(find("ttnn.typecast")(tensor, DataType.BFLOAT16)), dtype)
    return result


def in_memory(tensor: Tensor, memory_config: MemoryConfig | None, default: MemoryConfig) -> Tensor:
    """Return a tensor in the memory that was asked for."""
    wanted = memory_config or default
    if tensor.spec.memory_config == wanted:
        return tensor
    found: Tensor = find("ttnn.to_memory_config")(tensor, wanted)
    return found


def _rows_are_pages(spec: TensorSpec) -> bool:
    return spec.layout is Layout.TILE or spec.page_grid[1] == 1


def moved(
    step: Callable[..., None],
    tensor: Tensor,
    shape: Sequence[int],
    memory_config: MemoryConfig | None,
    output: Tensor | None = None,
    **settings: Any,
) -> Tensor:
    """Return the result of an engine step that copies pages between chips.

    Rows of a width- or block-sharded tensor are several pages; it passes through interleaved memory.

    Args:
        step: The step.
        tensor: The operand.
        shape: The result's shape.
        memory_config: The result's memory. Default: that of the operand.
        output: Preallocated result.
        **settings: Settings of the step.
    """
    spec, device = tensor.spec, tensor._device
    assert device is not None
    wanted = output.spec if output is not None else result_spec(spec, tuple(shape), spec.dtype, memory_config)
    # Where each page goes to the same page, it may be a part of a row.
    alike = step is engine_steps.send_pages and (spec.page_grid, spec.page_bytes) == (
        wanted.page_grid,
        wanted.page_bytes,
    )
    source = tensor if alike or _rows_are_pages(spec) else in_memory(tensor, DRAM_MEMORY_CONFIG, DRAM_MEMORY_CONFIG)
    if alike or _rows_are_pages(wanted):
        target = allocate(wanted, device) if output is None else output
    elif output is None:
        target = allocate(result_spec(spec, tuple(shape), spec.dtype, DRAM_MEMORY_CONFIG), device)
    else:
        # Chips that get nothing keep what they have.
        target = find("ttnn.to_memory_config")(output, DRAM_MEMORY_CONFIG)
    if source.spec.num_pages:
        step(source.buffers[0], target.buffers[0], **settings)
    if target is output or alike or _rows_are_pages(wanted):
        return target
    result: Tensor
    if output is None:
        result = find("ttnn.to_memory_config")(target, wanted.memory_config)
    else:
        result = find("ttnn.copy")(target, output)
    return result


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
