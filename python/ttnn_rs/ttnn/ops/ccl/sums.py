"""Sums over chips: reduce_scatter and all_reduce.

The order in which chips are added, and where partial sums are rounded, depends on topology, size and options; see
docs/meshes.md. Source: tt-metal `ttnn/cpp/ttnn/operations/ccl`; kernels of the 0.81.1 wheel.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

from ttnn.base.compute_config import WormholeComputeKernelConfig
from ttnn.base.enums import BLOCK_FLOATS, FORMAT_CODE, DataType, Layout
from ttnn.base.exceptions import LayoutError, ParameterError, ShapeError, UnsupportedError
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, MemoryConfig
from ttnn.base.system_enums import Topology
from ttnn.base.tensor_spec import TensorSpec
from ttnn.device.coordinates import SubDeviceId
from ttnn.device.fabric_state import FABRIC
from ttnn.operation.registry import declare, find
from ttnn.operation.signature import COMPUTE_KERNEL_CONFIG, INTEGER, MEMORY_CONFIG, Param, Signature
from ttnn.ops._programs.common import (
    INPUT_TENSOR,
    MEMORY_CONFIG_OPTION,
    OUTPUT_TENSOR_OPTION,
    allocate,
    dimension,
    result_spec,
)
from ttnn.ops.ccl import chips
from ttnn.ops.ccl.chips import (
    CHANNEL_BUFFERS,
    CHUNKS_PER_SYNC,
    CLUSTER_AXIS,
    L1_SMALL,
    NUM_LINKS,
    TOPOLOGY_OPTION,
    WORKERS,
)
from ttnn.ops.ccl.gather import BOTH_LAYOUTS, RAISES, SUB_DEVICE, gathered, require_broadcast
from ttnn.ops.ccl.part import Chips, whole_of
from ttnn.ops.ccl.transfers import transfer
from ttnn.runtime import engine_steps
from ttnn.tensor.tensor import Tensor

DIRECT_BYTES: Final = 524_288
"""Bytes of a chip's tensor up to which slices are sent directly."""
_CHUNK, _WIDE_CHUNK = 8, 4
"""Tiles of a ring's chunk, with a 16-bit and a 32-bit Dst."""
_OPERATIONS: Final = {
    "ttnn.experimental.all_reduce_async": "ReduceScatterMinimalAsync",
    "ttnn.experimental.reduce_scatter_minimal_async": "ReduceScatterMinimalAsync",
    "ttnn.experimental.reduce_scatter_minimal_direct": "ReduceScatterMinimalDirect",
}
"""Device operations of operators, without the ending: others have `ReduceScatter`."""
SUMS: Final = (DataType.BFLOAT16, DataType.FLOAT32, DataType.BFLOAT8_B, DataType.BFLOAT4_B)


class Adding(NamedTuple):
    """Order and precision of sums over chips.

    Attributes:
        order: A name of the engine's orders.
        dst32: Whether Dst is 32 bits wide.
    """

    order: str
    dst32: bool

    @property
    def chunk(self) -> int:
        """Return the tiles of a chunk."""
        return _WIDE_CHUNK if self.dst32 else _CHUNK


def order_of(name: str, spec: TensorSpec, dim: int, count: int, topology: Topology, *, plain: bool) -> str:
    """Return the order in which chips are added.

    Args:
        name: The operator, for errors.
        spec: A chip's tensor.
        dim: The dimension that is scattered.
        count: Chips of a group.
        topology: What the links allow.
        plain: Whether none of the options is set that choose the ring program.

    Raises:
        ParameterError: a ring of an odd number of chips.
    """
    if topology is not Topology.Ring or count == 2:
        return "line"
    if plain and spec.num_pages * spec.page_bytes <= DIRECT_BYTES:
        return "direct"
    if dim == 0 and spec.shape.rank > 2:
        return "turn"
    if count % 2:
        raise ParameterError(
            f"{name}: a ring of {count} chips; tensors of more than {DIRECT_BYTES} bytes need an even number.",
            vendor="reduce_scatter_minimal_async ring implementation doesn't support odd ring size",
        )
    return "ring"


def wide_dst(dtype: DataType, config: WormholeComputeKernelConfig | None) -> bool:
    """Return whether sums are in a 32-bit Dst.

    Those of float32 are without a configuration.
    """
    return dtype is DataType.FLOAT32 if config is None else bool(config.fp32_dest_acc_en)


def scattered(
    name: str,
    tensor: Tensor,
    dim: int,
    axis: int | None,
    adding: Adding,
    memory_config: MemoryConfig | None = None,
    output: Tensor | None = None,
    links: int | None = None,
) -> Tensor:
    """Return each chip's slice of its group's sum.

    Slices are whole tiles.

    Raises:
        ShapeError: the dimension does not divide, or slices are not whole tiles.
        UnsupportedError: the data type is an integer.
    """
    device = chips.require_mesh(name, tensor)
    spec, count = tensor.spec, chips.size_of(device, axis)
    shape = chips.sliced_shape(name, tuple(spec.shape), dim, count)
    if not in_whole_slices(spec, dim, count):
        raise ShapeError(
            f"{name}: slices of {shape[dim]} along dimension {dim} of {spec.shape} in {spec.layout.name} are not whole "
            "tiles; use ttnn.reduce_scatter."
        )
    routes = "direct" if adding.order == "direct" else "all"
    asked = Topology.Linear if adding.order == "line" else Topology.Ring
    transfer(_OPERATIONS.get(name, "ReduceScatter"), routes, tensor, axis, count, topology=asked, links=links)
    topology = chips.topology_of(tensor, device) if adding.order == "direct" else None
    result = summed(name, tensor, axis, adding, memory_config, output, dim=dim)
    return chips.with_topology(result, topology or chips.placed(tensor, device, axis, dim))


def summed(
    name: str,
    tensor: Tensor,
    axis: int | None,
    adding: Adding,
    memory_config: MemoryConfig | None,
    output: Tensor | None = None,
    *,
    dim: int | None = None,
) -> Tensor:
    """Return the sum of a group's tensors, or slices of it.

    Raises:
        LayoutError: the tensor is row-major.
        UnsupportedError: the data type is an integer.
    """
    device, spec = chips.require_mesh(name, tensor), tensor.spec
    require_sums(name, spec.dtype)
    if spec.layout is not Layout.TILE:
        raise LayoutError(
            f"{name}: a sum of row-major tensors; convert them with ttnn.to_layout(..., ttnn.TILE_LAYOUT)."
        )
    count = chips.size_of(device, axis)
    shape = tuple(spec.shape) if dim is None else tuple(chips.sliced_shape(name, tuple(spec.shape), dim, count))
    if dim is None:
        in_pairs = adding.order == "pairs"
        operation, added = ("AllReduceAsync", 0) if in_pairs else ("AllBroadcast", count)
        transfer(operation, "all", tensor, axis, added=added)
    result = output or allocate(result_spec(spec, shape, spec.dtype, memory_config), whole_of(device))
    if spec.num_pages:
        dims = chips.page_dims(result.spec)
        engine_steps.sum_over_chips(
            tensor.buffers[0],
            result.buffers[0],
            groups=chips.groups_of(device, axis),
            format=FORMAT_CODE[spec.dtype],
            dst32=adding.dst32,
            order=adding.order,
            chunk=adding.chunk,
            slices=None if dim is None else chips.slices(spec, dim, count),
            matrix=math.prod(dims[1:] if adding.order == "turn" else dims[-2:]),
        )
    return result


def require_matrix(name: str, spec: TensorSpec) -> None:
    """Check that a tensor has two dimensions at least.

    Raises:
        ShapeError: it has one.
    """
    if spec.shape.rank < 2:
        raise ShapeError(
            f"{name}: {spec.shape} has one dimension, at least two are needed.",
            vendor="reduce_scatter currently supports rank 2 tensors at minimum",
        )


def require_sums(name: str, dtype: DataType) -> None:
    """Check that chips can add a data type.

    Raises:
        UnsupportedError: integers, which the official program adds as floating point numbers.
    """
    if dtype not in SUMS:
        raise UnsupportedError(
            f"{name}: sums of {dtype.name} over chips; the official program runs the floating point adder on integers. "
            "Convert the tensor to FLOAT32 first."
        )


def in_whole_slices(spec: TensorSpec, dim: int, count: int) -> bool:
    """Return whether slices of a dimension are whole tiles."""
    return spec.layout is Layout.TILE and chips.in_pages(spec, dim, spec.shape[dim] // count)


def in_padded_slices(
    name: str,
    tensor: Tensor,
    dim: int,
    axis: int | None,
    asked: Topology | None,
    dst32: bool,
    memory_config: MemoryConfig | None,
    *,
    plain: bool,
) -> Tensor:
    """Return slices of a sum that are not whole tiles.

    Each slice is padded to tiles with zeros, then the program of whole slices runs, and the padding is removed. Block
    floats pass through bfloat16.

    Args:
        name: The operator, for errors.
        tensor: The operand.
        dim: The dimension that is scattered.
        axis: The axis of the groups.
        asked: The topology that the caller asked for.
        dst32: Whether Dst is 32 bits wide.
        memory_config: Memory of the result. Default: that of the operand.
        plain: Whether none of the options is set that choose the ring program.
    """
    device, spec = chips.require_mesh(name, tensor), tensor.spec
    count, rank = chips.size_of(device, axis), spec.shape.rank
    shape = chips.sliced_shape(name, tuple(spec.shape), dim, count)

    def padded_slice(whole: Tensor, number: int) -> Tensor:
        begins, ends = [0] * rank, list(whole.spec.shape)
        begins[dim], ends[dim] = number * shape[dim], (number + 1) * shape[dim]
        part = find("ttnn.to_layout")(find("ttnn.slice")(whole, begins, ends), Layout.TILE)
        further = [whole_tiles - size for whole_tiles, size in zip(part.spec.padded_shape, shape, strict=True)]
        padded: Tensor = find("ttnn.pad")(part, [(0, size) for size in further], 0.0) if any(further) else part
        return padded

    def add(wide: Tensor) -> Tensor:
        interleaved = chips.in_memory(wide, DRAM_MEMORY_CONFIG, DRAM_MEMORY_CONFIG)
        joined = find("ttnn.concat")([padded_slice(interleaved, number) for number in range(count)], dim)
        topology = chips.usable_topology(device, asked, axis)
        order = order_of(name, joined.spec, dim, count, topology, plain=plain)
        part = scattered(name, joined, dim, axis, Adding(order, dst32))
        result: Tensor = find("ttnn.to_layout")(find("ttnn.slice")(part, [0] * rank, shape), spec.layout)
        return result

    result = chips.in_memory(chips.through_bfloat16(tensor, add), memory_config, spec.memory_config)
    return chips.with_topology(result, chips.placed(tensor, device, axis, dim))


def _is_full(spec: TensorSpec) -> bool:
    return tuple(spec.shape) == tuple(spec.padded_shape)


# reduce_scatter.


def _reduce_scatter(
    input_tensor: Tensor,
    dim: int,
    cluster_axis: int | None,
    subdevice_id: SubDeviceId | None,
    memory_config: MemoryConfig | None,
    intermediate_memory_config: MemoryConfig | None,
    output_tensor: Tensor | None,
    num_links: int | None,
    topology: Topology | None,
    chunks_per_sync: int | None,
    num_workers_per_link: int | None,
    num_buffers_per_channel: int | None,
    compute_kernel_config: WormholeComputeKernelConfig | None,
    use_l1_small_for_semaphores: bool,
) -> Tensor:
    name = "ttnn.reduce_scatter"
    device, spec = chips.require_mesh(name, input_tensor), input_tensor.spec
    axis = dimension(name, dim, spec.shape.rank)
    check_sum(name, device, cluster_axis, num_links, topology)
    require_matrix(name, spec)
    options = (intermediate_memory_config, chunks_per_sync, num_workers_per_link, num_buffers_per_channel)
    plain = all(value is None for value in (*options, compute_kernel_config)) and not use_l1_small_for_semaphores
    dst32 = wide_dst(spec.dtype, compute_kernel_config)
    axes = chips.axes_of(device, cluster_axis)
    tensor = input_tensor
    for number, mesh_axis in enumerate(axes):
        last = number == len(axes) - 1
        config = (memory_config or spec.memory_config) if last else DRAM_MEMORY_CONFIG
        # The official program checks the output in the first step already.
        tensor = _one_axis(name, tensor, axis, mesh_axis, topology, num_links, config, output_tensor, plain, dst32)
    if len(axes) > 1:
        tensor._topology = chips.placed(input_tensor, device, None, axis)
    return tensor


def _one_axis(
    name: str,
    tensor: Tensor,
    dim: int,
    axis: int | None,
    asked: Topology | None,
    num_links: int | None,
    memory_config: MemoryConfig | None,
    output: Tensor | None,
    plain: bool,
    dst32: bool,
) -> Tensor:
    device, spec = chips.require_mesh(name, tensor), tensor.spec
    count = chips.size_of(device, axis)
    require_neighbours(name, device, axis, asked)
    require_sums(name, spec.dtype)
    shape = chips.sliced_shape(name, tuple(spec.shape), dim, count)
    if not in_whole_slices(spec, dim, count):
        return in_padded_slices(name, tensor, dim, axis, asked, dst32, memory_config, plain=plain)
    order = order_of(name, spec, dim, count, chips.usable_topology(device, asked, axis), plain=plain)
    chips.check_links(device, axis, num_links, order == "direct")
    vendor = ""
    if output is not None:
        expected = result_spec(spec, tuple(shape), spec.dtype, memory_config)
        what = "Persistent output tensor spec" if order == "direct" else "Output tensor spec"
        vendor = f"{what} {output.spec!r} does not match expected {expected!r}"
    output = chips.take(name, output, spec, shape, device, vendor)
    return scattered(name, tensor, dim, axis, Adding(order, dst32), memory_config, output, num_links)


def check_sum(name: str, device: Chips, axis: int | None, links: int | None, topology: Topology | None) -> None:
    """Check that chips can add along an axis.

    Raises:
        FabricError: there is no fabric, the mesh has no such axis, or groups of one chip.
    """
    chips.usable_topology(device, topology, axis)
    if topology is None and links is not None:
        chips.check_axis(device, axis, f"cluster axis {axis} is out of range for mesh shape rank {device.shape.dims()}")
    chips.check_axis(device, axis, f"Invalid cluster axis {axis}. Must be 0 or 1")


def require_neighbours(name: str, device: Chips, axis: int | None, topology: Topology | None) -> None:
    """Check that groups have several chips, and that there is a fabric.

    Raises:
        FabricError: they have not, or there is none.
    """
    chips.require_several(name, device, axis, "DEBUG: forward_coord or backward_coord is null")
    if topology is not None:
        chips.require_fabric(name, "Unsupported fabric config")
    FABRIC.require_on(name)


reduce_scatter = declare(
    "reduce_scatter",
    (
        Signature(
            (INPUT_TENSOR, Param("dim", INTEGER, doc="Dimension of which each chip gets a slice.", example=3)),
            (
                CLUSTER_AXIS,
                SUB_DEVICE,
                MEMORY_CONFIG_OPTION,
                Param("intermediate_memory_config", MEMORY_CONFIG, None, doc="Memory configuration of partial sums."),
                OUTPUT_TENSOR_OPTION,
                NUM_LINKS,
                TOPOLOGY_OPTION,
                CHUNKS_PER_SYNC,
                WORKERS,
                CHANNEL_BUFFERS,
                Param(
                    "compute_kernel_config",
                    COMPUTE_KERNEL_CONFIG,
                    None,
                    doc="`fp32_dest_acc_en` makes Dst 32 bits wide. Partial sums between chips keep the data type.",
                ),
                L1_SMALL,
            ),
        ),
    ),
    _reduce_scatter,
    "Return each chip's slice of its group's sum.\n"
    "The order of additions, and with it the bits, depends on topology and size.\n"
    "Shape: [..., D, ...] -> [..., D / N, ...] for groups of N chips.",
    source="ttnn/cpp/ttnn/operations/ccl",
    dtypes=SUMS,
    layouts=BOTH_LAYOUTS,
    engine=("sum_over_chips",),
    of_meshes=True,
    raises=(
        *RAISES,
        ("ParameterError", "neighbours have fewer links, or a ring has an odd number of chips."),
        ("ShapeError", "`dim` is out of range, does not divide, or `output_tensor` has another shape."),
        ("UnsupportedError", "the data type is an integer."),
    ),
)


# all_reduce.


def scatter_dim(spec: TensorSpec, count: int) -> int | None:
    """Return the last dimension whose tiles divide; None if there is none."""
    if spec.layout is not Layout.TILE or not _is_full(spec):
        return None
    dims = chips.page_dims(spec)
    return next((dim for dim in reversed(range(len(dims))) if dims[dim] % count == 0), None)


def reduced(
    name: str,
    tensor: Tensor,
    axis: int | None,
    topology: Topology | None,
    num_links: int | None,
    memory_config: MemoryConfig | None,
    *,
    plain: bool = True,
) -> Tensor:
    """Return the sum of a group's tensors, on each of its chips."""
    device, spec = chips.require_mesh(name, tensor), tensor.spec
    count = chips.size_of(device, axis)
    dim = scatter_dim(spec, count) if count > 1 else None
    if dim is None:
        if count < 2 and not (spec.layout is Layout.TILE and _is_full(spec)):
            require_broadcast(name, device, axis)
        require_neighbours(name, device, axis, topology)
        return _one_after_another(name, tensor, axis, memory_config)
    dst32 = wide_dst(spec.dtype, None)
    part = _one_axis(name, tensor, dim, axis, topology, num_links, memory_config, None, plain, dst32)
    operation = "AllGather" if plain else "AllGatherAsync"
    result = gathered(name, part, dim, axis, memory_config, operation=operation, asked=topology, links=num_links)
    return chips.with_topology(result, chips.placed(tensor, device, axis, None))


def _one_after_another(name: str, tensor: Tensor, axis: int | None, memory_config: MemoryConfig | None) -> Tensor:
    """Return the sum of a group's tensors, added chip after chip.

    All of them are sent to each chip first. Block floats are added as bfloat16. Sums of float32 are those of
    `ttnn.sum` over the joined tensors.
    """
    device, spec = chips.require_mesh(name, tensor), tensor.spec
    require_sums(name, spec.dtype)
    topology = chips.placed(tensor, device, axis, None)
    if spec.layout is Layout.ROW_MAJOR:
        tiled = find("ttnn.to_layout")(tensor, Layout.TILE)
        result = find("ttnn.to_layout")(_one_after_another(name, tiled, axis, None), Layout.ROW_MAJOR)
        if memory_config is not None:
            result = find("ttnn.to_memory_config")(result, memory_config)
        return chips.with_topology(result, topology)
    if spec.dtype in BLOCK_FLOATS:
        narrow = chips.through_bfloat16(tensor, lambda wide: _one_after_another(name, wide, axis, memory_config))
        return chips.with_topology(narrow, topology)
    if spec.dtype is DataType.FLOAT32:
        shape = tuple(spec.shape)
        rows = find("ttnn.reshape")(tensor, [1, math.prod(shape[:-2]), *([1] * (2 - len(shape[-2:]))), *shape[-2:]])
        joined = gathered(name, rows, 0, axis, operation="AllGather")
        total = find("ttnn.sum")(joined, 0, True, memory_config=memory_config or spec.memory_config)
        return chips.with_topology(find("ttnn.reshape")(total, shape), topology)
    return chips.with_topology(summed(name, tensor, axis, Adding("sequential", False), memory_config), topology)


def _all_reduce(
    input_tensor: Tensor,
    cluster_axis: int | None,
    subdevice_id: SubDeviceId | None,
    memory_config: MemoryConfig | None,
    num_links: int | None,
    topology: Topology | None,
) -> Tensor:
    name = "ttnn.all_reduce"
    device = chips.require_mesh(name, input_tensor)
    check_sum(name, device, cluster_axis, num_links, topology)
    if cluster_axis is None or chips.size_of(device, cluster_axis) > 1:
        require_sums(name, input_tensor.spec.dtype)
    tensor = input_tensor
    for axis in chips.axes_of(device, cluster_axis):
        tensor = reduced(name, tensor, axis, topology, num_links, memory_config)
    return chips.with_topology(tensor, chips.placed(input_tensor, device, cluster_axis, None))


all_reduce = declare(
    "all_reduce",
    (Signature((INPUT_TENSOR,), (CLUSTER_AXIS, SUB_DEVICE, MEMORY_CONFIG_OPTION, NUM_LINKS, TOPOLOGY_OPTION)),),
    _all_reduce,
    "Return the sum of a group's tensors, on each chip.\n"
    "A `reduce_scatter` and an `all_gather` if a dimension divides into full tiles; otherwise all tensors are sent\n"
    "to each chip and added there in the order of the chips.\nShape: [...] -> [...].",
    source="ttnn/cpp/ttnn/operations/ccl/all_reduce",
    dtypes=SUMS,
    layouts=BOTH_LAYOUTS,
    engine=("sum_over_chips", "gather_slices"),
    of_meshes=True,
    raises=(
        *RAISES,
        ("ParameterError", "neighbours have fewer links, or a ring has an odd number of chips."),
        ("UnsupportedError", "the data type is an integer."),
    ),
)
