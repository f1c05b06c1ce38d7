"""Slices that all chips exchange with all: all_to_all_async_generic.

Source: tt-metal `ttnn/cpp/ttnn/operations/experimental/ccl/all_to_all_async_generic`.
"""

from __future__ import annotations

from typing import Final

from ttnn.base.exceptions import FabricError, ShapeError
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, MemoryConfig
from ttnn.base.system_enums import Topology
from ttnn.device.fabric_state import FABRIC
from ttnn.operation.registry import declare, find
from ttnn.operation.signature import INTEGER, TENSOR, Param, Signature
from ttnn.ops._programs.common import INPUT_TENSOR, MEMORY_CONFIG_OPTION, dimension
from ttnn.ops.ccl import chips
from ttnn.ops.ccl.chips import CLUSTER_AXIS, NUM_LINKS
from ttnn.ops.ccl.gather import BOTH_LAYOUTS, FLOATS_AND_INTEGERS, RAISES, SUB_DEVICE, partitioned
from ttnn.ops.ccl.semaphores import check_call
from ttnn.ops.ccl.transfers import transfer
from ttnn.runtime import engine_steps
from ttnn.tensor.tensor import Tensor

_SOURCE: Final = "ttnn/cpp/ttnn/operations/experimental/ccl/all_to_all_async_generic"


def _all_to_all(
    input_tensor: Tensor,
    in_dim: int,
    out_dim: int,
    persistent_output_buffer: Tensor | None,
    num_links: int | None,
    memory_config: MemoryConfig | None,
    topology: Topology | None,
    subdevice_id: object,
    cluster_axis: int | None,
) -> Tensor:
    name = "ttnn.experimental.all_to_all_async_generic"
    device, spec = chips.require_mesh(name, input_tensor), input_tensor.spec
    FABRIC.require_on(name)
    if cluster_axis is None and not FABRIC.is_1d and chips.has_two_axes(device):
        raise FabricError(
            f"{name}: {device!r} has two axes; pass cluster_axis",
            vendor="all_to_all_async_generic on FABRIC_2D requires a cluster_axis",
        )
    rank = device.shape.dims()
    chips.check_axis(device, cluster_axis, f"cluster axis {cluster_axis} is out of range for mesh shape rank {rank}")
    count = chips.size_of(device, cluster_axis)
    vendor = "all_to_all_async is a collective operation and requires more than 1 device, but has 1"
    chips.require_several(name, device, cluster_axis, vendor)
    check_call(name, device, cluster_axis)
    cut, joined = dimension(name, out_dim, spec.shape.rank), dimension(name, in_dim, spec.shape.rank)
    shape = chips.sliced_shape(name, chips.joined_shape(tuple(spec.shape), joined, count), cut, count)
    if cut == joined:
        raise ShapeError(f"{name}: in_dim and out_dim are both {cut}.")
    output = chips.take(name, persistent_output_buffer, spec, shape, device)
    transfer("AllToAllAsyncGeneric", "direct", input_tensor, cluster_axis, count, topology=topology, links=num_links)
    groups = chips.groups_of(device, cluster_axis)

    def exchange(wide: Tensor) -> Tensor:
        # One chip's tensor at a time is on all of them, so that memory does not grow with their number.
        parts = []
        for position in range(count):
            sent = chips.moved(
                engine_steps.send_pages, wide, tuple(spec.shape), DRAM_MEMORY_CONFIG, groups=groups, position=position,
                kept=True,
            )  # fmt: skip
            parts.append(partitioned(name, sent, cut, cluster_axis, DRAM_MEMORY_CONFIG))
        everything: Tensor = find("ttnn.concat")(parts, joined, memory_config=DRAM_MEMORY_CONFIG)
        return everything

    whole = chips.in_pages(spec, joined, spec.shape[joined])
    result = exchange(input_tensor) if whole else chips.through_bfloat16(input_tensor, exchange)
    result = chips.in_memory(result, memory_config, spec.memory_config)
    if output is not None:
        result = find("ttnn.copy")(result, output)
    return chips.with_topology(result, chips.topology_of(input_tensor, device))


all_to_all_async_generic = declare(
    "experimental.all_to_all_async_generic",
    (
        Signature(
            (
                INPUT_TENSOR,
                Param("in_dim", INTEGER, doc="Dimension along which slices are joined.", example=2),
                Param("out_dim", INTEGER, doc="Dimension that is cut into slices.", example=3),
            ),
            (
                Param("persistent_output_buffer", TENSOR, None, doc="Preallocated output."),
                NUM_LINKS,
                MEMORY_CONFIG_OPTION,
                chips.TOPOLOGY_OPTION,
                SUB_DEVICE,
                CLUSTER_AXIS,
            ),
        ),
    ),
    _all_to_all,
    "Return the slices that a group's chips have for each chip.\n"
    "Chip n gets the n-th slice along `out_dim` of every chip, joined along `in_dim`.\n"
    "Shape: [..., A, ..., B, ...] -> [..., N * A, ..., B / N, ...] for groups of N chips.",
    source=_SOURCE,
    dtypes=FLOATS_AND_INTEGERS,
    layouts=BOTH_LAYOUTS,
    engine=("send_pages", "take_slices"),
    of_meshes=True,
    raises=(*RAISES, ("ShapeError", "a dimension is out of range, does not divide, or both are the same.")),
)
