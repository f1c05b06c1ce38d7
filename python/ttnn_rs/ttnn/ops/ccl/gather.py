"""Copies between chips: gathering, broadcasts, single sends, slices.

Nothing is rounded. Where slices are no whole pages, an `all_gather` is an `all_broadcast` and a `concat`.
Source: tt-metal `ttnn/cpp/ttnn/operations/ccl`; recorded calls of 0.81.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ttnn.base.core_range import CoreRangeSet
from ttnn.base.enums import DataType, Layout
from ttnn.base.exceptions import DeviceError, FabricError, ParameterError, ShapeError
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, MemoryConfig
from ttnn.base.system_enums import Topology
from ttnn.base.tensor_spec import TensorSpec
from ttnn.device.coordinates import MeshCoordinate, SubDeviceId
from ttnn.device.fabric_state import FABRIC
from ttnn.operation.registry import declare, find
from ttnn.operation.signature import INTEGER, SUB_DEVICE_ID, TENSOR, Param, Signature
from ttnn.ops._programs.common import (
    INPUT_TENSOR,
    MEMORY_CONFIG_OPTION,
    OUTPUT_TENSOR_OPTION,
    SUB_CORE_GRIDS_OPTION,
)
from ttnn.ops.ccl import chips
from ttnn.ops.ccl.chips import (
    CHANNEL_BUFFERS,
    CHUNKS_PER_SYNC,
    CLUSTER_AXIS,
    COORDINATE,
    L1_SMALL,
    NUM_LINKS,
    TOPOLOGY,
    TOPOLOGY_OPTION,
    WORKERS,
)
from ttnn.ops.ccl.part import Chips, first_of
from ttnn.ops.ccl.transfers import transfer
from ttnn.runtime import engine_steps
from ttnn.tensor.tensor import Tensor

_SOURCE: Final = "ttnn/cpp/ttnn/operations/ccl"
FLOATS_AND_INTEGERS: Final = (
    DataType.BFLOAT16,
    DataType.FLOAT32,
    DataType.BFLOAT8_B,
    DataType.BFLOAT4_B,
    DataType.UINT32,
    DataType.INT32,
    DataType.UINT16,
    DataType.UINT8,
)
BOTH_LAYOUTS: Final = (Layout.TILE, Layout.ROW_MAJOR)
SUB_DEVICE: Final = Param(
    "subdevice_id", SUB_DEVICE_ID, None, doc="Sub-device that runs it. It does not change the result."
)
RAISES: Final = (
    ("FabricError", "there is no fabric, or the mesh has no such axis."),
    ("StorageError", "the tensor is on the host, deallocated, or on some chips of its mesh only."),
)


def require_broadcast(name: str, device: Chips, axis: int | None) -> None:
    """Check that chips can broadcast along an axis.

    Raises:
        FabricError: groups have one chip.
    """
    vendor = f"all_broadcast op will only work for num_devices > 1, but has 1, shape: {device.shape}"
    chips.require_several(name, device, axis, vendor)


# all_gather.


def gathered(
    name: str,
    tensor: Tensor,
    dim: int,
    axis: int | None,
    memory_config: MemoryConfig | None = None,
    output: Tensor | None = None,
    *,
    operation: str = "",
    asked: Topology | None = None,
    links: int | None = None,
) -> Tensor:
    """Return the joined tensors of each group's chips.

    Args:
        name: The operator, for errors.
        tensor: The tensor of each chip.
        dim: The dimension along which they are joined.
        axis: The axis of the groups.
        memory_config: Memory of the result. Default: that of the operand.
        output: Preallocated result.
        operation: The device operation's name without its ending, if it is one.
        asked: The topology that the caller asked for.
        links: The links that the caller asked for.
    """
    device = chips.require_mesh(name, tensor)
    count, spec = chips.size_of(device, axis), tensor.spec
    shape = chips.joined_shape(tuple(spec.shape), dim, count)
    topology = chips.placed(tensor, device, axis, None)
    if not chips.in_pages(spec, dim, spec.shape[dim]):
        if operation:
            transfer("AllBroadcast", "all", tensor, axis)
        return chips.with_topology(_joined(name, tensor, dim, axis, memory_config, output), topology)
    if operation:
        transfer(operation, "all", tensor, axis, topology=asked, links=links)
    groups, slices = chips.groups_of(device, axis), chips.slices(spec, dim, 1)
    step = engine_steps.gather_slices
    result = chips.moved(step, tensor, shape, memory_config, output, groups=groups, slices=slices)
    return chips.with_topology(result, topology)


def _joined(
    name: str,
    tensor: Tensor,
    dim: int,
    axis: int | None,
    memory_config: MemoryConfig | None,
    output: Tensor | None,
) -> Tensor:
    """Return the joined tensors of a group whose slices share pages."""
    config = memory_config or tensor.spec.memory_config

    def join(wide: Tensor) -> Tensor:
        parts = broadcast_all(name, wide, axis, DRAM_MEMORY_CONFIG)
        return chips.in_memory(find("ttnn.concat")(parts, dim, memory_config=DRAM_MEMORY_CONFIG), config, config)

    result = chips.through_bfloat16(tensor, join)
    if output is not None:
        result = find("ttnn.copy")(result, output)
    return result


def _all_gather(
    input_tensor: Tensor,
    dim: int,
    cluster_axis: int | None,
    memory_config: MemoryConfig | None,
    output_tensor: Tensor | None,
    subdevice_id: SubDeviceId | None,
    sub_core_grids: CoreRangeSet | None,
    num_links: int | None,
    topology: Topology | None,
    *_: Any,
) -> Tensor:
    name = "ttnn.all_gather"
    device, spec = chips.require_mesh(name, input_tensor), input_tensor.spec
    rank = spec.shape.rank
    if not -rank <= dim < rank:
        raise ShapeError(
            f"{name}: dim={dim} is out of range for a tensor of rank {rank}.",
            vendor=f"Invalid gather dim {dim} for {rank}D input tensor",
        )
    dim %= rank
    check_gather(name, device, spec, dim, cluster_axis, topology)
    shape = chips.joined_shape(tuple(spec.shape), dim, chips.size_of(device, cluster_axis))
    given = None if output_tensor is None else output_tensor.spec.shape
    vendor = f"Output tensor shape must be Shape({shape}), got {given}"
    output = chips.take(name, output_tensor, spec, shape, device, vendor)
    return gathered(
        name,
        input_tensor,
        dim,
        cluster_axis,
        memory_config,
        output,
        operation="AllGather",
        asked=topology,
        links=num_links,
    )


def check_gather(
    name: str, device: Chips, spec: TensorSpec, dim: int, axis: int | None, topology: Topology | None
) -> None:
    """Check that chips can gather along a dimension.

    Raises:
        FabricError: there is no fabric, or there are no groups along the axis.
    """
    several = f"ShapeBase[] index out of range. {axis} not in [-{2 * device.shape.dims()}, {device.shape.dims()})"
    chips.check_axis(device, axis, several)
    FABRIC.require_on(name)
    chips.usable_topology(device, topology, axis)
    if not chips.in_pages(spec, dim, spec.shape[dim]):
        require_broadcast(name, device, axis)
    chips.require_several(name, device, axis, "all_gather collective will only work for num_devices > 1, got 1")
    if chips.in_pages(spec, dim, spec.shape[dim]):
        chips.require_one_axis(name, device, axis, "1D fabric on a 2D mesh_device requires cluster_axis to be set")


all_gather = declare(
    "all_gather",
    (
        Signature(
            (INPUT_TENSOR, Param("dim", INTEGER, doc="Dimension along which tensors are joined.", example=3)),
            (
                CLUSTER_AXIS,
                MEMORY_CONFIG_OPTION,
                OUTPUT_TENSOR_OPTION,
                SUB_DEVICE,
                SUB_CORE_GRIDS_OPTION,
                NUM_LINKS,
                TOPOLOGY_OPTION,
                CHUNKS_PER_SYNC,
                WORKERS,
                CHANNEL_BUFFERS,
                L1_SMALL,
            ),
        ),
    ),
    _all_gather,
    "Return the joined tensors of a group's chips.\n"
    "They are joined along `dim`, on each chip of the group.\n"
    "Shape: [..., D, ...] -> [..., N * D, ...] for groups of N chips.",
    source=_SOURCE,
    dtypes=FLOATS_AND_INTEGERS,
    layouts=BOTH_LAYOUTS,
    engine=("gather_slices",),
    of_meshes=True,
    raises=(*RAISES, ("ShapeError", "`dim` is out of range, or `output_tensor` has another shape.")),
)


# Broadcasts.


def broadcast_all(name: str, tensor: Tensor, axis: int | None, memory_config: MemoryConfig | None) -> list[Tensor]:
    """Return each tensor of a group, on all of its chips."""
    device = chips.require_mesh(name, tensor)
    groups, spec = chips.groups_of(device, axis), tensor.spec
    step, topology = engine_steps.send_pages, chips.placed(tensor, device, axis, None)
    return [
        chips.with_topology(
            chips.moved(step, tensor, spec.shape, memory_config, groups=groups, position=position, kept=True), topology
        )
        for position in range(len(groups[0]))
    ]


def _all_broadcast(
    input_tensor: Tensor,
    cluster_axis: int | None,
    subdevice_id: SubDeviceId | None,
    memory_config: MemoryConfig | None,
    *_: Any,
) -> list[Tensor]:
    name = "ttnn.all_broadcast"
    device = chips.require_mesh(name, input_tensor)
    check_broadcast(name, device, cluster_axis, FABRIC.is_on and FABRIC.topology() in _RINGS)
    transfer("AllBroadcast", "all", input_tensor, cluster_axis)
    return broadcast_all(name, input_tensor, cluster_axis, memory_config)


_RINGS: Final = (Topology.Ring, Topology.Torus)


def check_broadcast(name: str, device: Chips, axis: int | None, rings: bool) -> None:
    """Check that chips can broadcast along an axis.

    Args:
        name: The operator, for errors.
        device: The mesh.
        axis: The axis of the groups.
        rings: Whether the fabric has rings, for the official sentence.

    Raises:
        FabricError: there is no fabric, or there are no groups along the axis.
    """
    FABRIC.require_on(name)
    several = f"ShapeBase[] index out of range. {axis} not in [-{2 * device.shape.dims()}, {device.shape.dims()})"
    chips.check_axis(device, axis, several if rings else f"Invalid cluster axis {axis}. Must be 0 or 1")
    require_broadcast(name, device, axis)


_LINEAR: Final = Param("topology", TOPOLOGY, Topology.Linear, none=True, doc="Topology.Linear or Topology.Ring.")
all_broadcast = declare(
    "all_broadcast",
    (
        Signature(
            (INPUT_TENSOR,),
            (
                CLUSTER_AXIS,
                SUB_DEVICE,
                MEMORY_CONFIG_OPTION,
                Param("num_links", INTEGER, 1, none=True, doc="Links of each pair of chips. Bits do not change."),
                _LINEAR,
                L1_SMALL,
            ),
        ),
    ),
    _all_broadcast,
    "Return the list of the tensors of a group's chips.\nEach is on all chips of the group.\n"
    "Shape: [...] -> N times [...].",
    source=_SOURCE,
    dtypes=FLOATS_AND_INTEGERS,
    layouts=BOTH_LAYOUTS,
    engine=("send_pages",),
    of_meshes=True,
    raises=RAISES,
)


def _broadcast(
    input_tensor: Tensor,
    sender_coord: MeshCoordinate,
    num_links: int | None,
    memory_config: MemoryConfig | None,
    topology: Topology,
    cluster_axis: int | None,
    *_: Any,
) -> Tensor:
    name = "ttnn.broadcast"
    device, spec = chips.require_mesh(name, input_tensor), input_tensor.spec
    if cluster_axis is None and chips.has_two_axes(device):
        raise FabricError(
            f"{name}: {device!r} has two axes; pass cluster_axis.",
            vendor="broadcast op is only supported for a linear tensor topology shape",
        )
    if cluster_axis is None or 0 <= cluster_axis < device.shape.dims():
        vendor = f"broadcast op will only work for num_devices > 1, but has 1, shape: {device.shape}"
        chips.require_several(name, device, cluster_axis, vendor)
    chips.check_axis(device, cluster_axis, f"Invalid cluster axis {cluster_axis}. Must be 0 or 1")
    FABRIC.require_on(name)
    groups = chips.groups_of(device, cluster_axis)
    # As in the official example, each group has a sender: the chip at the coordinate along its axis.
    along = cluster_axis if cluster_axis is not None else chips.only_axis(device)
    position = sender_coord[along] - first_of(device, along) if along < sender_coord.dims() else -1
    if not 0 <= position < len(groups[0]):
        raise DeviceError(
            f"{name}: no chip of {device!r} is at {sender_coord} along axis {along}; all would wait for a sender."
        )
    step = engine_steps.send_pages
    transfer("Broadcast", "one", input_tensor, cluster_axis, topology=topology, links=num_links)
    result = chips.moved(step, input_tensor, spec.shape, memory_config, groups=groups, position=position, kept=True)
    return chips.with_topology(result, chips.placed(input_tensor, device, cluster_axis, None))


broadcast = declare(
    "broadcast",
    (
        Signature(
            (INPUT_TENSOR, Param("sender_coord", COORDINATE, doc="Chip whose tensor the others get.")),
            (
                NUM_LINKS,
                MEMORY_CONFIG_OPTION,
                Param("topology", TOPOLOGY, Topology.Linear, doc="Topology.Linear or Topology.Ring."),
                CLUSTER_AXIS,
                SUB_DEVICE,
            ),
        ),
    ),
    _broadcast,
    "Return one chip's tensor on all chips of its group.\nShape: [...] -> [...].",
    source=_SOURCE,
    dtypes=FLOATS_AND_INTEGERS,
    layouts=BOTH_LAYOUTS,
    engine=("send_pages",),
    of_meshes=True,
    raises=(*RAISES, ("DeviceError", "the mesh has no chip at `sender_coord` along the axis of the groups.")),
)


def _point_to_point(
    input_tensor: Tensor,
    sender_coord: MeshCoordinate,
    receiver_coord: MeshCoordinate,
    output_tensor: Tensor | None,
    intermediate_tensor: Tensor | None,
    topology: Topology,
) -> Tensor:
    name = "ttnn.point_to_point"
    device, spec = chips.require_mesh(name, input_tensor), input_tensor.spec
    FABRIC.require_on(name)
    sender = device.chip_at(name, sender_coord, "Mesh device must contain sender coordinate device")
    receiver = device.chip_at(name, receiver_coord, "Mesh device must contain receiver coordinate device")
    if sender is receiver:
        raise ParameterError(f"{name}: sender and receiver are both at {sender_coord}.")
    different = sum(a != b for a, b in zip(sender_coord, receiver_coord, strict=True))
    if different > 1:
        raise FabricError(
            f"{name}: {sender_coord} and {receiver_coord} are in no common row or column of {device!r}.",
            vendor=f"Routing coordinates {sender_coord} and {receiver_coord} invalid for 1D fabric",
        )
    output = chips.take(name, output_tensor, spec, tuple(spec.shape), device)
    if output is None:
        output = find("ttnn.zeros_like")(input_tensor)
    elif output.buffer_address() == input_tensor.buffer_address():
        # A step does not read what it writes.
        input_tensor = find("ttnn.clone")(input_tensor)
    pair, step = [[sender.place, receiver.place]], engine_steps.send_pages
    along = next(axis for axis, (a, b) in enumerate(zip(sender_coord, receiver_coord, strict=True)) if a != b)
    distance = abs(sender_coord[along] - receiver_coord[along])
    transfer("PointToPoint", "one", input_tensor, along, topology=topology, hops=distance)
    result = chips.moved(step, input_tensor, spec.shape, None, output, groups=pair, position=0, kept=False)
    return chips.with_topology(result, chips.topology_of(input_tensor, device))


point_to_point = declare(
    "point_to_point",
    (
        Signature(
            (
                INPUT_TENSOR,
                Param("sender_coord", COORDINATE, doc="Chip whose tensor is sent."),
                Param("receiver_coord", COORDINATE, doc="Chip that gets it."),
            ),
            (
                OUTPUT_TENSOR_OPTION,
                Param("intermediate_tensor", TENSOR, None, doc="Room for packets. Not used."),
                Param("topology", TOPOLOGY, Topology.Linear, doc="Topology.Linear or Topology.Ring."),
            ),
        ),
    ),
    _point_to_point,
    "Return a tensor that has one chip's values on another chip.\n"
    "Other chips have the values of `output_tensor`, or zeros without one.\nShape: [...] -> [...].",
    source="ttnn/cpp/ttnn/operations/point_to_point",
    dtypes=FLOATS_AND_INTEGERS,
    layouts=BOTH_LAYOUTS,
    engine=("send_pages",),
    of_meshes=True,
    raises=(*RAISES, ("ParameterError", "sender and receiver are the same chip.")),
)


# mesh_partition.


def partitioned(
    name: str, tensor: Tensor, dim: int, axis: int | None, memory_config: MemoryConfig | None = None
) -> Tensor:
    """Return each chip's slice of the tensor that it has.

    Slices that are no whole pages are cut in rows.
    """
    device, spec = chips.require_mesh(name, tensor), tensor.spec
    count, groups = chips.size_of(device, axis), chips.groups_of(device, axis)
    shape = chips.sliced_shape(name, tuple(spec.shape), dim, count)
    topology = chips.placed(tensor, device, axis, dim)
    if not chips.in_pages(spec, dim, shape[dim]):
        if spec.layout is Layout.ROW_MAJOR:
            return chips.with_topology(_partition_of_rows(name, tensor, groups, memory_config), topology)

        def cut(wide: Tensor) -> Tensor:
            rows = find("ttnn.to_layout")(wide, Layout.ROW_MAJOR, memory_config=DRAM_MEMORY_CONFIG)
            part: Tensor = find("ttnn.to_layout")(partitioned(name, rows, dim, axis), Layout.TILE)
            return part

        part = chips.in_memory(chips.through_bfloat16(tensor, cut), memory_config, spec.memory_config)
        return chips.with_topology(part, topology)
    slices, step = chips.slices(spec, dim, count), engine_steps.take_slices
    result = chips.moved(step, tensor, shape, memory_config, groups=groups, slices=slices)
    return chips.with_topology(result, topology)


def _partition_of_rows(
    name: str, tensor: Tensor, groups: Sequence[Sequence[int]], memory_config: MemoryConfig | None
) -> Tensor:
    """Return slices of the last dimension of a row-major tensor.

    The dimension is moved to the front, where slices are whole rows.
    """
    rank, count, config = tensor.spec.shape.rank, len(groups[0]), tensor.spec.memory_config
    size = tensor.spec.shape[-1]
    rows = chips.in_memory(tensor, DRAM_MEMORY_CONFIG, DRAM_MEMORY_CONFIG)
    if rank == 1:
        turned = find("ttnn.reshape")(rows, [size, 1])
    else:
        turned = find("ttnn.permute")(rows, [rank - 1, *range(rank - 1)])
    shape = chips.sliced_shape(name, tuple(turned.spec.shape), 0, count)
    slices, step = chips.slices(turned.spec, 0, count), engine_steps.take_slices
    part = chips.moved(step, turned, shape, None, groups=groups, slices=slices)
    if rank == 1:
        part = find("ttnn.reshape")(part, [size // count])
    else:
        part = find("ttnn.permute")(part, [*range(1, rank), 0])
    return chips.in_memory(part, memory_config, config)


def _mesh_partition(
    input_tensor: Tensor, dim: int, cluster_axis: int | None, memory_config: MemoryConfig | None
) -> Tensor:
    name = "ttnn.mesh_partition"
    device, spec = chips.require_mesh(name, input_tensor), input_tensor.spec
    rank = spec.shape.rank
    if not -rank <= dim < rank and (
        cluster_axis is None or cluster_axis > 1 or chips.size_of(device, cluster_axis) > 1
    ):
        raise ShapeError(
            f"{name}: dim={dim} is out of range for a tensor of rank {rank}.",
            vendor=f"ShapeBase[] index out of range. {dim} not in [-{max(rank, 4)}, {rank})",
        )
    chips.check_axis(device, cluster_axis, "Only support cluster axis of None, 0 or 1")
    if chips.size_of(device, cluster_axis) == 1:
        return input_tensor
    axis = dim % rank
    size = spec.shape[axis] // chips.size_of(device, cluster_axis)
    if spec.layout is Layout.TILE and not chips.in_pages(spec, axis, size):
        side = "width" if axis == rank - 1 else "height"
        raise ShapeError(
            f"{name}: slices of {size} along dimension {axis} do not begin on tiles; convert to ROW_MAJOR_LAYOUT.",
            vendor=f"Can only slice tilized tensor with {side} begin index aligned to tiles",
        )
    return partitioned(name, input_tensor, axis, cluster_axis, memory_config)


mesh_partition = declare(
    "mesh_partition",
    (
        Signature(
            (
                INPUT_TENSOR,
                Param("dim", INTEGER, doc="Dimension that is cut into slices.", example=3),
                CLUSTER_AXIS,
            ),
            (MEMORY_CONFIG_OPTION,),
        ),
    ),
    _mesh_partition,
    "Return each chip's slice of its tensor.\n"
    "The n-th chip of a group has the n-th slice.\n"
    "Shape: [..., D, ...] -> [..., D / N, ...] for groups of N chips.",
    source=_SOURCE,
    dtypes=FLOATS_AND_INTEGERS,
    layouts=BOTH_LAYOUTS,
    engine=("take_slices",),
    of_meshes=True,
    raises=(
        ("FabricError", "the mesh has no such axis."),
        ("ShapeError", "`dim` is out of range, does not divide, or slices do not begin on tiles."),
        ("StorageError", "the tensor is on the host, deallocated, or on some chips of its mesh only."),
    ),
)
