"""`all_gather_matmul_async`: a matmul that reads slices as they arrive.

The product is that of `linear` with the K blocks in another order, which differs from chip to chip: the chip's own
slice, then in turn the next one before and after it on the ring. The sums of a matmul depend on that order.
Source: tt-metal `ttnn/cpp/ttnn/operations/experimental/ccl/all_gather_matmul_async`, and the receiver of the matmul
kernels, `ttnn/cpp/ttnn/operations/ccl/kernel_common/worker_sync_utils.hpp`.
"""

from __future__ import annotations

import math
from typing import Any, Final

from ttnn.base.core_range import CoreCoord
from ttnn.base.enums import TILE_SIZE, DataType, Layout
from ttnn.base.exceptions import ParameterError, ShapeError, UnsupportedError
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, MemoryConfig
from ttnn.base.program_config import (
    MatmulMultiCoreReuseMultiCast1DProgramConfig,
    MatmulMultiCoreReuseMultiCastProgramConfig,
)
from ttnn.base.system_enums import Topology
from ttnn.operation.registry import declare, find
from ttnn.operation.signature import INTEGER, MEMORY_CONFIG, TENSOR, Param, Signature, instance_kind
from ttnn.ops._programs.common import INPUT_TENSOR, same_device
from ttnn.ops.ccl import chips
from ttnn.ops.ccl.chips import CHANNEL_BUFFERS, CHUNKS_PER_SYNC, TOPOLOGY, WORKERS
from ttnn.ops.ccl.gather import RAISES, SUB_DEVICE
from ttnn.ops.ccl.part import whole_of
from ttnn.ops.ccl.semaphores import SEMAPHORE, SEMAPHORES
from ttnn.ops.matmul.signatures import OPTIONS
from ttnn.runtime import engine_steps
from ttnn.tensor.tensor import Tensor

_NAME: Final = "ttnn.experimental.all_gather_matmul_async"
_CHIPS: Final = 8
"""Chips of a group: the kernels read four slices from each side."""
_CORE: Final = instance_kind("ttnn.CoreCoord", CoreCoord, tuple)
_OF_MATMUL: Final = {option.name: option for option in OPTIONS}
_MULTICAST: Final = (MatmulMultiCoreReuseMultiCast1DProgramConfig, MatmulMultiCoreReuseMultiCastProgramConfig)


def slice_order(chip: int, count: int) -> list[int]:
    """Return the slices in the order in which a chip multiplies them."""
    steps = [0] + [step * side for step in range(1, count) for side in (-1, 1)]
    return [(chip + step) % count for step in steps[:count]]


def _in_order(tensor: Tensor, dim: int) -> Tensor:
    """Return a tensor with slices in the order of each chip."""
    device, spec = chips.require_mesh(_NAME, tensor), tensor.spec
    dims = chips.page_dims(spec)
    pages = math.prod(dims[dim:]) // _CHIPS
    ranges = [
        [(chip, first * pages, place * pages, pages) for place, first in enumerate(slice_order(chip, _CHIPS))]
        for chip in range(_CHIPS)
    ]
    ordered = chips.moved(
        engine_steps.move_ranges,
        tensor,
        tuple(spec.shape),
        DRAM_MEMORY_CONFIG,
        groups=chips.groups_of(device, None),
        outer=math.prod(dims[:dim]),
        sizes=(_CHIPS * pages, _CHIPS * pages),
        ranges=ranges,
    )
    return chips.in_memory(ordered, spec.memory_config, spec.memory_config)


def _check(tensor: Tensor, weight: Tensor, dim: int, topology: Topology, config: object, turned: bool) -> None:
    """Check the operands and the program.

    Raises:
        ShapeError: an operand is not [1, 1, M, K] or [1, 1, K, N], or slices are no whole tiles.
        ParameterError: another dimension, no multicast program, or blocks that do not divide a slice.
        UnsupportedError: no ring of eight chips, or a transposed operand.
    """
    device, spec = chips.require_mesh(_NAME, tensor), tensor.spec
    same_device(_NAME, whole_of(device), weight, "weight_tensor")
    shape, weights = tuple(spec.shape), tuple(weight.spec.shape)
    if len(shape) != 4 or len(weights) != 4:
        vendor = "AllGatherMatmulAsync requires input tensors to be of rank 4"
        raise ShapeError(
            f"{_NAME}: expected two tensors of rank 4, got {list(shape)} and {list(weights)}.", vendor=vendor
        )
    if dim != 3:
        vendor = "AllGatherMatmulAsync requires dim=3 for the AllGather operations."
        raise ParameterError(f"{_NAME}: dim must be 3, got {dim}.", vendor=vendor)
    if tuple(spec.padded_shape)[:2] != (1, 1):
        vendor = "AllGatherMatmulAsync requires input tensor to have batch size of 1."
        raise ShapeError(f"{_NAME}: expected [1, 1, M, K], got {list(shape)}.", vendor=vendor)
    if not isinstance(config, _MULTICAST):
        vendor = "Unsupported MatmulProgramConfig type for AllGatherMatmulAsync. Needs to be 1D or 2D Multicast."
        raise ParameterError(
            f"{_NAME}: program_config must be a 1D or 2D multicast one, got {config!r}.", vendor=vendor
        )
    if turned:
        raise UnsupportedError(f"{_NAME}: transposed operands.", "unimplemented")
    if chips.size_of(device, None) != _CHIPS or chips.usable_topology(device, topology, None) is not Topology.Ring:
        raise UnsupportedError(
            f"{_NAME}: the kernels read slices of a ring of {_CHIPS} chips; {device!r} is none with {topology}. Call "
            "all_gather_async and linear instead."
        )
    if spec.layout is not Layout.TILE or weight.spec.layout is not Layout.TILE:
        raise ShapeError(f"{_NAME}: operands must be in TILE_LAYOUT.")
    if weights[:2] != (1, 1) or weights[2] != _CHIPS * shape[3] or shape[3] % TILE_SIZE:
        raise ShapeError(
            f"{_NAME}: expected a weight [1, 1, {_CHIPS} * K, N] for slices [1, 1, M, K] of whole tiles, got "
            f"{list(weights)} for {list(shape)}."
        )
    if shape[3] // TILE_SIZE % config.in0_block_w:
        raise ParameterError(
            f"{_NAME}: blocks of in0_block_w={config.in0_block_w} tiles do not divide a slice of "
            f"{shape[3] // TILE_SIZE} tiles."
        )


def _run(
    input_tensor: Tensor,
    weight_tensor: Tensor,
    persistent_output_buffer: Tensor | None,
    dim: int,
    multi_device_global_semaphore: object,
    all_gather_core_grid_offset: CoreCoord,
    bias: Tensor | None,
    num_links: int | None,
    memory_config_ag: MemoryConfig | None,
    topology: Topology,
    barrier_semaphore: object,
    subdevice_id: object,
    memory_config_mm: MemoryConfig | None,
    transpose_a: bool,
    transpose_b: bool,
    dtype: DataType | None,
    program_config: Any,
    activation: str | None,
    compute_kernel_config: Any,
    core_grid: Any,
    *_: Any,
) -> list[Tensor]:
    _check(input_tensor, weight_tensor, dim, topology, program_config, transpose_a or transpose_b)
    gathered = find("ttnn.experimental.all_gather_async")(
        input_tensor,
        persistent_output_buffer=persistent_output_buffer,
        dim=dim,
        multi_device_global_semaphore=multi_device_global_semaphore,
        num_links=num_links,
        memory_config=memory_config_ag,
        topology=topology,
    )
    product = find("ttnn.linear")(
        _in_order(gathered, 3),
        _in_order(weight_tensor, 2),
        bias=bias,
        memory_config=memory_config_mm,
        dtype=dtype,
        program_config=program_config,
        activation=activation,
        compute_kernel_config=compute_kernel_config,
        core_grid=core_grid,
    )
    return [gathered, product]


all_gather_matmul_async = declare(
    "experimental.all_gather_matmul_async",
    (
        Signature(
            (
                INPUT_TENSOR,
                Param("weight_tensor", TENSOR, doc="[1, 1, 8 * K, N] on each chip."),
                Param("persistent_output_buffer", TENSOR, None, doc="Preallocated output of the gathering."),
                Param("dim", INTEGER, doc="Dimension along which tensors are joined: 3.", example=3),
                Param("multi_device_global_semaphore", SEMAPHORES, doc="Two global semaphores."),
                Param("all_gather_core_grid_offset", _CORE, doc="First core that sends. Bits do not change."),
            ),
            (
                Param("bias", TENSOR, None, doc="[1, N], added to each row."),
                Param("num_links", INTEGER, 1, none=True, doc="Links of each pair of chips. Bits do not change."),
                Param("memory_config_ag", MEMORY_CONFIG, None, doc="Memory of the gathered tensor."),
                Param("topology", TOPOLOGY, Topology.Ring, doc="Topology.Ring."),
                Param("barrier_semaphore", SEMAPHORE, None, doc="Semaphore of a barrier before the first packet."),
                SUB_DEVICE,
                Param("memory_config_mm", MEMORY_CONFIG, None, doc="Memory of the product."),
                _OF_MATMUL["transpose_a"],
                _OF_MATMUL["transpose_b"],
                _OF_MATMUL["dtype"],
                _OF_MATMUL["program_config"],
                Param("activation", instance_kind("str", str), None, doc="Name of an activation, such as relu."),
                _OF_MATMUL["compute_kernel_config"],
                _OF_MATMUL["core_grid"],
                CHUNKS_PER_SYNC,
                WORKERS,
                CHANNEL_BUFFERS,
            ),
        ),
    ),
    _run,
    "Return the joined tensors of a ring of chips and their product.\n"
    "The product is that of `linear` in each chip's order of slices: its own, then in turn one before and one after.\n"
    "Shape: [1, 1, M, K], [1, 1, 8 * K, N] -> [1, 1, M, 8 * K], [1, 1, M, N].",
    source="ttnn/cpp/ttnn/operations/experimental/ccl/all_gather_matmul_async",
    dtypes=(DataType.BFLOAT16, DataType.FLOAT32, DataType.BFLOAT8_B, DataType.BFLOAT4_B),
    layouts=(Layout.TILE,),
    engine=("gather_slices", "move_ranges"),
    of_meshes=True,
    raises=(
        *RAISES,
        ("ShapeError", "an operand is not [1, 1, M, K] or [1, 1, 8 * K, N], or slices do not begin on tiles."),
        ("ParameterError", "another dimension or program, or blocks that do not divide a slice."),
        ("UnsupportedError", "no ring of eight chips, or a transposed operand."),
    ),
)
