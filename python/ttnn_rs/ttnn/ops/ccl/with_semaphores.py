"""Collectives whose global semaphores and buffers the caller allocates.

They compute what `all_gather`, `reduce_scatter` and `all_reduce` do; of the sums always the ring or the line. Calls are
synchronous, so semaphores are checked and not used. Source: tt-metal `ttnn/cpp/ttnn/operations/experimental/ccl`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ttnn.base.compute_config import WormholeComputeKernelConfig
from ttnn.base.enums import DataType, Layout
from ttnn.base.exceptions import FabricError, ParameterError, UnsupportedError
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, MemoryConfig
from ttnn.base.op_enums import ReduceType
from ttnn.base.system_enums import Topology
from ttnn.base.tensor_spec import TensorSpec
from ttnn.device.fabric_state import FABRIC
from ttnn.device.mesh_device import MeshDevice
from ttnn.operation.registry import declare, find
from ttnn.operation.signature import (
    BOOLEAN,
    COMPUTE_KERNEL_CONFIG,
    DATA_TYPE,
    DEVICE,
    INTEGER,
    MEMORY_CONFIG,
    TENSOR,
    Kind,
    Param,
    Signature,
    instance_kind,
)
from ttnn.ops._programs.common import (
    INPUT_TENSOR,
    MEMORY_CONFIG_OPTION,
    SUB_CORE_GRIDS_OPTION,
    allocate,
    dimension,
    same_device,
)
from ttnn.ops.ccl import chips
from ttnn.ops.ccl.chips import CHANNEL_BUFFERS, CHUNKS_PER_SYNC, CLUSTER_AXIS, NUM_LINKS, TOPOLOGY, WORKERS
from ttnn.ops.ccl.gather import BOTH_LAYOUTS, FLOATS_AND_INTEGERS, RAISES, SUB_DEVICE, gathered
from ttnn.ops.ccl.part import whole_of
from ttnn.ops.ccl.semaphores import ONE_OR_MORE, SEMAPHORE, SEMAPHORES, check_call, check_mesh
from ttnn.ops.ccl.sums import (
    SUMS,
    Adding,
    in_padded_slices,
    in_whole_slices,
    order_of,
    reduced,
    require_matrix,
    require_sums,
    scattered,
    summed,
    wide_dst,
)
from ttnn.tensor.tensor import Tensor

_SOURCE: Final = "ttnn/cpp/ttnn/operations/experimental/ccl"

TENSORS: Final = Kind(
    "collections.abc.Sequence[ttnn.Tensor]",
    lambda value: isinstance(value, list | tuple) and all(isinstance(each, Tensor) for each in value),
    "Sequence[Tensor]",
)
REDUCE_TYPE: Final = instance_kind("ttnn.ReduceType", ReduceType)

_DIM: Final = Param("dim", INTEGER, doc="Dimension of the operation.", example=3)
_RING: Final = Param("topology", TOPOLOGY, Topology.Ring, doc="Topology.Ring or Topology.Linear.")
_LINE: Final = Param("topology", TOPOLOGY, Topology.Linear, none=True, doc="Topology.Linear or Topology.Ring.")
_BARRIER: Final = Param("barrier_semaphore", SEMAPHORE, None, doc="Semaphore of a barrier before the first packet.")
_LLAMA: Final = Param("use_optimal_ccl_for_llama", BOOLEAN, False, doc="Kernels of one model. Bits do not change.")
_USE_BROADCAST: Final = Param("use_broadcast", BOOLEAN, False, doc="Sends by multicast. Bits do not change.")
_MESH: Final = Param("mesh_device", DEVICE, doc="Mesh of the tensor.")


# all_gather_async.


def _gathered(
    tensor: Tensor,
    output: Tensor | None,
    dim: int,
    semaphores: object,
    memory_config: MemoryConfig | None,
    axis: int | None,
) -> Tensor:
    name = "ttnn.experimental.all_gather_async"
    device, spec = chips.require_mesh(name, tensor), tensor.spec
    check_call(name, device, axis, (semaphores, 2, "Default implementation requires 2 semaphores"))
    place = dimension(name, dim, spec.shape.rank)
    if output is not None:
        shape = chips.joined_shape(tuple(spec.shape), place, chips.size_of(device, axis))
        vendor = f"Error, Output tensor shape at dimension {place} should be {shape[place]} but has {output.spec.shape}"
        output = chips.take(name, output, spec, shape, device, vendor)
    return gathered(name, tensor, place, axis, memory_config, output, operation="AllGatherAsync")


def _gather_flat(input_tensor: Tensor, dim: int, semaphores: object, _: Any, memory_config: Any, *__: Any) -> Tensor:
    return _gathered(input_tensor, None, dim, semaphores, memory_config, None)


def _gather_into(
    input_tensor: Tensor,
    persistent_output_buffer: Tensor | None,
    dim: int,
    multi_device_global_semaphore: object,
    num_links: int | None,
    memory_config: MemoryConfig | None,
    topology: Topology,
    subdevice_id: object,
    cluster_axis: int | None,
    *_: Any,
) -> Tensor:
    semaphores = multi_device_global_semaphore
    return _gathered(input_tensor, persistent_output_buffer, dim, semaphores, memory_config, cluster_axis)


def _gather_along(
    input_tensor: Tensor,
    dim: int,
    cluster_axis: int,
    mesh_device: MeshDevice,
    topology: Topology,
    multi_device_global_semaphore: object,
    persistent_output_tensor: Tensor | None,
    num_links: int | None,
    memory_config: MemoryConfig | None,
    *_: Any,
) -> Tensor:
    check_mesh("ttnn.experimental.all_gather_async", input_tensor, mesh_device)
    semaphores = multi_device_global_semaphore
    return _gathered(input_tensor, persistent_output_tensor, dim, semaphores, memory_config, cluster_axis)


_GATHER_SEMAPHORES: Final = Param("multi_device_global_semaphore", ONE_OR_MORE, doc="Two global semaphores.")
all_gather_async = declare(
    "experimental.all_gather_async",
    (
        Signature(
            (INPUT_TENSOR, _DIM, _GATHER_SEMAPHORES),
            (
                NUM_LINKS,
                MEMORY_CONFIG_OPTION,
                _RING,
                SUB_DEVICE,
                _LLAMA,
                _BARRIER,
                SUB_CORE_GRIDS_OPTION,
                WORKERS,
                CHANNEL_BUFFERS,
            ),
            run=_gather_flat,
        ),
        Signature(
            (
                INPUT_TENSOR,
                Param("persistent_output_buffer", TENSOR, None, doc="Preallocated output."),
                _DIM,
                _GATHER_SEMAPHORES,
            ),
            (
                NUM_LINKS,
                MEMORY_CONFIG_OPTION,
                _RING,
                SUB_DEVICE,
                CLUSTER_AXIS,
                _LLAMA,
                _USE_BROADCAST,
                _BARRIER,
                CHUNKS_PER_SYNC,
                WORKERS,
                CHANNEL_BUFFERS,
                SUB_CORE_GRIDS_OPTION,
            ),
            run=_gather_into,
        ),
        Signature(
            (
                INPUT_TENSOR,
                _DIM,
                Param("cluster_axis", INTEGER, doc="Mesh axis along which chips form groups."),
                _MESH,
                Param("topology", TOPOLOGY, doc="Topology.Ring or Topology.Linear."),
                _GATHER_SEMAPHORES,
            ),
            (
                Param("persistent_output_tensor", TENSOR, None, doc="Preallocated output."),
                NUM_LINKS,
                MEMORY_CONFIG_OPTION,
                SUB_DEVICE,
                _LLAMA,
                _USE_BROADCAST,
                _BARRIER,
                SUB_CORE_GRIDS_OPTION,
                WORKERS,
                CHANNEL_BUFFERS,
            ),
            run=_gather_along,
        ),
    ),
    _gather_into,
    "Return the joined tensors of a group's chips.\nAs `ttnn.all_gather`, with semaphores of the caller.\n"
    "Shape: [..., D, ...] -> [..., N * D, ...] for groups of N chips.",
    source=_SOURCE,
    dtypes=FLOATS_AND_INTEGERS,
    layouts=BOTH_LAYOUTS,
    engine=("gather_slices",),
    of_meshes=True,
    raises=(*RAISES, ("ParameterError", "there are not two semaphores.")),
)


# reduce_scatter_minimal_async.


def _reduce_scatter(
    input_tensor: Tensor,
    persistent_output_buffers: Sequence[Tensor] | None,
    dim: int,
    multi_device_global_semaphore: Sequence[object],
    barrier_semaphore: object,
    num_links: int | None,
    memory_config: MemoryConfig | None,
    intermediate_memory_config: MemoryConfig | None,
    topology: Topology,
    subdevice_id: object,
    cluster_axis: int | None,
    chunks_per_sync: int | None,
    num_workers_per_link: int | None,
    num_buffers_per_channel: int | None,
    compute_kernel_config: WormholeComputeKernelConfig | None,
) -> Tensor:
    name = "ttnn.experimental.reduce_scatter_minimal_async"
    device, spec = chips.require_mesh(name, input_tensor), input_tensor.spec
    check_call(name, device, cluster_axis)
    axis, count = dimension(name, dim, spec.shape.rank), chips.size_of(device, cluster_axis)
    if not multi_device_global_semaphore:
        raise ParameterError(f"{name}: expected 3 global semaphores, got none.")
    require_matrix(name, spec)
    shape, dst32 = chips.sliced_shape(name, tuple(spec.shape), axis, count), wide_dst(spec.dtype, compute_kernel_config)
    given = persistent_output_buffers[-1] if persistent_output_buffers else None
    output = chips.take(name, given, spec, shape, device)
    if in_whole_slices(spec, axis, count):
        order = order_of(name, spec, axis, count, chips.usable_topology(device, topology, cluster_axis), plain=False)
        adding = Adding(order, dst32)
        return scattered(name, input_tensor, axis, cluster_axis, adding, memory_config, output, num_links)
    result = in_padded_slices(name, input_tensor, axis, cluster_axis, topology, dst32, memory_config, plain=False)
    return result if output is None else find("ttnn.copy")(result, output)


reduce_scatter_minimal_async = declare(
    "experimental.reduce_scatter_minimal_async",
    (
        Signature(
            (
                INPUT_TENSOR,
                Param("persistent_output_buffers", TENSORS, None, doc="Intermediate and output, preallocated."),
                _DIM,
                Param("multi_device_global_semaphore", SEMAPHORES, doc="Three global semaphores."),
            ),
            (
                _BARRIER,
                NUM_LINKS,
                MEMORY_CONFIG_OPTION,
                Param("intermediate_memory_config", MEMORY_CONFIG, None, doc="Memory configuration of partial sums."),
                _RING,
                SUB_DEVICE,
                CLUSTER_AXIS,
                CHUNKS_PER_SYNC,
                WORKERS,
                CHANNEL_BUFFERS,
                Param("compute_kernel_config", COMPUTE_KERNEL_CONFIG, None, doc="Width of Dst."),
            ),
        ),
    ),
    _reduce_scatter,
    "Return each chip's slice of its group's sum.\n"
    "As `ttnn.reduce_scatter` on the ring or the line, with semaphores of the caller.\n"
    "Shape: [..., D, ...] -> [..., D / N, ...] for groups of N chips.",
    source=_SOURCE,
    dtypes=SUMS,
    layouts=BOTH_LAYOUTS,
    engine=("sum_over_chips",),
    of_meshes=True,
    raises=(*RAISES, ("ParameterError", "there are no semaphores, or a ring has an odd number of chips.")),
)


def _reduce_direct(
    input_tensor: Tensor,
    dim: int,
    cluster_axis: int | None,
    num_links: int | None,
    memory_config: MemoryConfig | None,
    persistent_buffers: Sequence[Tensor] | None,
    *_: Any,
) -> Tensor:
    name = "ttnn.experimental.reduce_scatter_minimal_direct"
    device, spec = chips.require_mesh(name, input_tensor), input_tensor.spec
    FABRIC.require_on(name)
    short = "reduce_scatter_minimal_direct"
    if cluster_axis is not None and not 0 <= cluster_axis < 2:
        raise FabricError(
            f"{name}: cluster_axis {cluster_axis}: {device!r} has axes 0 and 1",
            vendor=f"{short} cluster_axis {cluster_axis} is out of range; only axes 0 and 1 exist",
        )
    if cluster_axis is None and chips.has_two_axes(device):
        raise FabricError(
            f"{name}: {device!r} has two axes; pass cluster_axis",
            vendor=f"{short} requires an explicit cluster_axis on a {device.shape} mesh: with both extents greater "
            "than one there is no single implied",
        )
    count = chips.size_of(device, cluster_axis)
    require_matrix(name, spec)
    vendor = "reduce_scatter collective requires num_devices > 1, got 1"
    chips.require_several(name, device, cluster_axis, vendor)
    if not FABRIC.is_1d:
        raise FabricError(
            f"{name}: packets go along two axes; use a fabric of one",
            vendor=f"{short} needs a 1D fabric, or a 2D fabric whose ACTIVE AXIS wraps (a torus axis)",
        )
    if chips.usable_topology(device, None, cluster_axis) is not Topology.Ring:
        raise FabricError(
            f"{name}: the chips are no ring",
            vendor=f"{short} supports Ring topology only (a line would need per-destination direction clamping)",
        )
    axis = dimension(name, dim, spec.shape.rank)
    chips.check_links(device, cluster_axis, num_links, True)
    shape = chips.sliced_shape(name, tuple(spec.shape), axis, count)
    output = chips.take(name, persistent_buffers[-1] if persistent_buffers else None, spec, shape, device)
    adding = Adding("direct", wide_dst(spec.dtype, None))
    return scattered(name, input_tensor, axis, cluster_axis, adding, memory_config, output, num_links)


reduce_scatter_minimal_direct = declare(
    "experimental.reduce_scatter_minimal_direct",
    (
        Signature(
            (INPUT_TENSOR, _DIM),
            (
                CLUSTER_AXIS,
                NUM_LINKS,
                MEMORY_CONFIG_OPTION,
                Param("persistent_buffers", TENSORS, None, doc="Preallocated buffers; the last one is the output."),
                SUB_DEVICE,
                Param("sub_core_grid", SUB_CORE_GRIDS_OPTION.kind, None, doc="Cores that run it."),
            ),
        ),
    ),
    _reduce_direct,
    "Return each chip's slice of its group's sum.\n"
    "Every slice is sent directly to its chip and added there once all have arrived.\n"
    "Shape: [..., D, ...] -> [..., D / N, ...] for rings of N chips.",
    source=_SOURCE,
    dtypes=SUMS,
    layouts=BOTH_LAYOUTS,
    engine=("sum_over_chips",),
    of_meshes=True,
    raises=(*RAISES, ("ParameterError", "neighbours have fewer links.")),
)


def _create_intermediate_buffer(
    input_tensor: Tensor,
    dim: int,
    topology: Topology,
    cluster_axis: int | None,
    compute_kernel_config: WormholeComputeKernelConfig | None,
) -> list[Tensor]:
    name = "ttnn.experimental.reduce_scatter_minimal_async_create_intermediate_buffer"
    device, spec = chips.require_mesh(name, input_tensor), input_tensor.spec
    rank = device.shape.dims()
    chips.check_axis(device, cluster_axis, f"cluster axis {cluster_axis} is out of range for mesh shape rank {rank}")
    FABRIC.require_on(name)
    axis, count = dimension(name, dim, spec.shape.rank), chips.size_of(device, cluster_axis)
    flat = cluster_axis is not None or not chips.has_two_axes(device)
    ring = flat and count > 2 and chips.usable_topology(device, topology, cluster_axis) is Topology.Ring
    if not ring or axis == 0:
        raise ParameterError(
            f"{name}: partial sums have a buffer of their own on rings only, and not of dimension 0.",
            vendor="reduce_scatter_minimal_async_create_intermediate_buffer only applies to the contiguous fast path "
            "(Ring topology, scatter dim != 0). For other configurations the intermediate has the input tensor shape",
        )
    adding = Adding("ring", wide_dst(spec.dtype, compute_kernel_config))
    chunks = -(-spec.num_pages // count // adding.chunk)
    size = adding.chunk * spec.page_bytes
    specs = (
        TensorSpec.of((rows * chunks, size), DataType.UINT8, Layout.ROW_MAJOR, DRAM_MEMORY_CONFIG)
        for rows in (count, 1)
    )
    return [allocate(each, whole_of(device)) for each in specs]


reduce_scatter_minimal_async_create_intermediate_buffer = declare(
    "experimental.reduce_scatter_minimal_async_create_intermediate_buffer",
    (
        Signature(
            (INPUT_TENSOR, _DIM),
            (
                _RING,
                CLUSTER_AXIS,
                Param("compute_kernel_config", COMPUTE_KERNEL_CONFIG, None, doc="Width of Dst."),
            ),
        ),
    ),
    _create_intermediate_buffer,
    "Return two buffers for partial sums of a ring.\n"
    "They have bytes of whole chunks: of all slices, and of one. Shapes for several chunks are not recorded.\n"
    "Shape: [...] -> [N * C, bytes], [C, bytes] for N chips and C chunks.",
    source=_SOURCE,
    dtypes=SUMS,
    layouts=BOTH_LAYOUTS,
    composition=True,
    of_meshes=True,
    raises=(*RAISES, ("ParameterError", "the chips are no ring, or `dim` is 0.")),
)


# all_reduce_async.


def _all_reduce(
    input_tensor: Tensor,
    axis: int | None,
    math_op: ReduceType,
    memory_config: MemoryConfig | None,
    topology: Topology | None,
    num_links: int | None,
) -> Tensor:
    name = "ttnn.experimental.all_reduce_async"
    device = chips.require_mesh(name, input_tensor)
    if math_op is not ReduceType.Sum:
        raise UnsupportedError(f"{name}: math_op {math_op} is not modelled; only ReduceType.Sum is.", "unimplemented")
    require_sums(name, input_tensor.spec.dtype)
    check_call("ttnn.experimental.reduce_scatter_minimal_async", device, axis)
    if axis is None:
        raise FabricError(f"{name}: pass cluster_axis", vendor="Cluster axis is required for all gather")
    result = reduced(name, input_tensor, axis, topology, num_links, memory_config, plain=False)
    return chips.with_topology(result, chips.placed(input_tensor, device, axis, None))


def _all_reduce_flat(
    input_tensor: Tensor,
    num_devices: int,
    barrier_semaphores: object,
    rs_global_semaphores: object,
    ag_global_semaphores: object,
    math_op: ReduceType,
    memory_config: MemoryConfig | None,
    topology: Topology,
    num_links: int | None,
    *_: Any,
) -> Tensor:
    device = chips.require_mesh("ttnn.experimental.all_reduce_async", input_tensor)
    axis = None if chips.has_two_axes(device) else chips.only_axis(device)
    return _all_reduce(input_tensor, axis, math_op, memory_config, topology, num_links)


def _all_reduce_along(
    input_tensor: Tensor,
    cluster_axis: int | None,
    mesh_device: MeshDevice,
    barrier_semaphores: object,
    rs_global_semaphores: object,
    ag_global_semaphores: object,
    math_op: ReduceType,
    memory_config: MemoryConfig | None,
    topology: Topology | None,
    num_links: int | None,
    *_: Any,
) -> Tensor:
    check_mesh("ttnn.experimental.all_reduce_async", input_tensor, mesh_device)
    return _all_reduce(input_tensor, cluster_axis, math_op, memory_config, topology, num_links)


def _all_reduce_with_buffer(
    input_tensor: Tensor,
    buffer_tensor: Tensor,
    cluster_axis: int,
    mesh_device: MeshDevice,
    multi_device_global_semaphore: object,
    dtype: DataType | None,
    memory_config: MemoryConfig | None,
    topology: Topology,
    num_links: int | None,
    subdevice_id: object,
    use_noc1_only: bool,
    use_optimal_ccl_for_llama: bool,
    fp32_dest_acc: bool,
) -> Tensor:
    name = "ttnn.experimental.all_reduce_async"
    device, spec = chips.require_mesh(name, input_tensor), input_tensor.spec
    check_mesh(name, input_tensor, mesh_device)
    same_device(name, whole_of(device), buffer_tensor, "buffer_tensor")
    check_call(name, device, cluster_axis)
    if dtype is not None and dtype is not spec.dtype:
        raise UnsupportedError(f"{name}: dtype {dtype.name} of a sum of {spec.dtype.name}.", "unimplemented")
    require_sums(name, spec.dtype)
    if chips.size_of(device, cluster_axis) % 2:
        raise ParameterError(f"{name}: groups of {chips.size_of(device, cluster_axis)} chips; they are added in pairs.")
    result = summed(name, input_tensor, cluster_axis, Adding("pairs", fp32_dest_acc), memory_config)
    return chips.with_topology(result, chips.placed(input_tensor, device, cluster_axis, None))


_MATH_OP: Final = Param("math_op", REDUCE_TYPE, doc="ReduceType.Sum.")
_THREE: Final = (
    Param("barrier_semaphores", SEMAPHORES, doc="Two global semaphores."),
    Param("rs_global_semaphores", SEMAPHORES, doc="Three global semaphores."),
    Param("ag_global_semaphores", SEMAPHORES, doc="Two global semaphores."),
)
_OPTIONAL: Final = tuple(Param(param.name, param.kind, None, doc=param.doc) for param in _THREE)
all_reduce_async = declare(
    "experimental.all_reduce_async",
    (
        Signature(
            (INPUT_TENSOR, Param("num_devices", INTEGER, doc="Chips of the line."), *_THREE, _MATH_OP),
            (MEMORY_CONFIG_OPTION, _LINE, NUM_LINKS, SUB_DEVICE),
            run=_all_reduce_flat,
        ),
        Signature(
            (INPUT_TENSOR, CLUSTER_AXIS, _MESH, *_OPTIONAL, _MATH_OP),
            (MEMORY_CONFIG_OPTION, _LINE, NUM_LINKS, SUB_DEVICE),
            run=_all_reduce_along,
        ),
        Signature(
            (
                INPUT_TENSOR,
                Param("buffer_tensor", TENSOR, doc="Room for the tensors of all chips. Not used."),
                Param("cluster_axis", INTEGER, doc="Mesh axis along which chips form groups."),
                _MESH,
                Param("multi_device_global_semaphore", SEMAPHORE, doc="A global semaphore."),
            ),
            (
                Param("dtype", DATA_TYPE, None, doc="Data type of the result: that of the input."),
                MEMORY_CONFIG_OPTION,
                _LINE,
                NUM_LINKS,
                SUB_DEVICE,
                Param("use_noc1_only", BOOLEAN, False, doc="Network of the packets. Bits do not change."),
                _LLAMA,
                Param("fp32_dest_acc", BOOLEAN, False, doc="A 32-bit Dst."),
            ),
            run=_all_reduce_with_buffer,
        ),
    ),
    _all_reduce_along,
    "Return the sum of a group's tensors, on each chip.\n"
    "On the ring or the line; with a buffer tensor, chips are added in pairs in their order.\nShape: [...] -> [...].",
    source=_SOURCE,
    dtypes=SUMS,
    layouts=BOTH_LAYOUTS,
    engine=("sum_over_chips", "gather_slices"),
    of_meshes=True,
    raises=(*RAISES, ("UnsupportedError", "another operation than a sum, or the data type is an integer.")),
)
