"""Experts of each chip out of those of all: moe_routing_remap and moe_expert_token_remap.

Source: tt-metal `ttnn/cpp/ttnn/operations/data_movement/moe_routing_remap` and `moe_expert_token_remap`.
"""

from __future__ import annotations

from typing import Final

from ttnn.base.enums import DataType, Layout
from ttnn.base.exceptions import FabricError, ParameterError, ShapeError
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, MemoryConfig
from ttnn.base.tensor_spec import TensorSpec
from ttnn.operation.registry import declare
from ttnn.operation.signature import INTEGER, TENSOR, Param, Signature
from ttnn.ops._programs.common import MEMORY_CONFIG_OPTION, allocate
from ttnn.ops.ccl import chips
from ttnn.ops.ccl.experts import columns_of, require_mapping, require_rows
from ttnn.ops.ccl.part import whole_of
from ttnn.runtime import engine_steps
from ttnn.tensor.tensor import Tensor

_SOURCE: Final = "ttnn/cpp/ttnn/operations/data_movement"
_ELEMENT_BYTES: Final = {
    DataType.BFLOAT16: 2,
    DataType.FLOAT32: 4,
    DataType.UINT16: 2,
    DataType.UINT32: 4,
    DataType.INT32: 4,
    DataType.UINT8: 1,
}
_RANK: Final = 4
_TOGETHER: Final = 16
"""Default tokens of a row of the second result."""


def _routing(
    routing_weights_tensor: Tensor,
    non_zero_weight_size: int,
    expert_parallel_size: int,
    cluster_axis: int,
    memory_config: MemoryConfig | None,
    optional_output_tensor: Tensor | None,
) -> Tensor:
    name = "ttnn.moe_routing_remap"
    device, spec = chips.require_mesh(name, routing_weights_tensor), routing_weights_tensor.spec
    vendor = "input tensor expected to be row major"
    require_rows(name, "routing_weights_tensor", routing_weights_tensor, device, vendor=vendor)
    shape = tuple(spec.shape)
    if len(shape) != 2 or shape[0] != 1:
        raise ShapeError(
            f"{name}: routing_weights_tensor is {spec.shape}; expected [1, experts].",
            vendor="expected input shape [1,E]",
        )
    if not 0 <= non_zero_weight_size <= shape[1]:
        raise ParameterError(
            f"{name}: non_zero_weight_size {non_zero_weight_size} for {shape[1]} experts.",
            vendor="Number of non Zero weights must be less than or equal to weights",
        )
    if expert_parallel_size < 1 or shape[1] % expert_parallel_size:
        raise ParameterError(
            f"{name}: {shape[1]} experts do not divide by expert_parallel_size {expert_parallel_size}.",
            vendor="Number of experts must be evenly divisible by cluster",
        )
    if cluster_axis not in (0, 1):
        raise FabricError(
            f"{name}: cluster_axis {cluster_axis}: {device!r} has axes 0 and 1",
            vendor="Invalid cluster axis, should be 0 (rows), or 1 (cols)",
        )
    chips.check_axis(device, cluster_axis, "Invalid cluster axis, should be 0 (rows), or 1 (cols)")
    wanted = TensorSpec.of(shape, spec.dtype, Layout.ROW_MAJOR, memory_config or spec.memory_config)
    output = chips.take(
        name, optional_output_tensor, wanted, shape, device, f"Invalid output Tensor Spec, expected {wanted!r}"
    )
    result = output or allocate(wanted, whole_of(device))
    if shape[1]:
        engine_steps.share_weights(
            routing_weights_tensor.buffers[0],
            result.buffers[0],
            groups=chips.groups_of(device, cluster_axis),
            element=_ELEMENT_BYTES[spec.dtype],
            count=non_zero_weight_size // expert_parallel_size,
        )
    return chips.with_topology(result, chips.topology_of(routing_weights_tensor, device))


moe_routing_remap = declare(
    "moe_routing_remap",
    (
        Signature(
            (
                Param("routing_weights_tensor", TENSOR, doc="Weights of all experts, the same on each chip."),
                Param("non_zero_weight_size", INTEGER, doc="Weights that are not zero."),
                Param("expert_parallel_size", INTEGER, doc="Chips along the axis."),
                Param("cluster_axis", INTEGER, doc="Mesh axis along which chips share them: 0 or 1."),
            ),
            (
                MEMORY_CONFIG_OPTION,
                Param("optional_output_tensor", TENSOR, None, doc="Preallocated output."),
            ),
        ),
    ),
    _routing,
    "Return each chip's share of the weights that are not zero.\n"
    "The n-th chip along the axis has the n-th of equal parts of them, where they were; the others are zero.\n"
    "Shape: [1, E] -> [1, E].",
    source=f"{_SOURCE}/moe_routing_remap",
    dtypes=tuple(_ELEMENT_BYTES),
    layouts=(Layout.ROW_MAJOR,),
    engine=("share_weights",),
    of_meshes=True,
    raises=(
        ("FabricError", "the mesh has no such axis."),
        ("LayoutError", "the tensor is tiled."),
        ("ParameterError", "sizes do not divide, or more weights than experts."),
        ("ShapeError", "the tensor is not [1, experts]."),
        ("StorageError", "the tensor is on the host, deallocated, or on some chips of its mesh only."),
    ),
)


def _tokens(
    topk_tensor: Tensor,
    expert_mapping_tensor: Tensor,
    expert_metadata_tensor: Tensor,
    memory_config: MemoryConfig | None,
    optional_output_mapping_tensor: Tensor | None,
    optional_output_reduced_tensor: Tensor | None,
    reduction_size: int,
) -> list[Tensor]:
    name = "ttnn.moe_expert_token_remap"
    device, spec, metadata = chips.require_mesh(name, topk_tensor), topk_tensor.spec, expert_metadata_tensor.spec
    require_rows(name, "topk_tensor", topk_tensor, device, vendor="topk tensor must be in row major layout")
    require_rows(name, "expert_metadata_tensor", expert_metadata_tensor, device, DataType.UINT16)
    experts, number = require_mapping(name, expert_mapping_tensor, device), len(whole_of(device).chips)
    shape = tuple(spec.shape)
    if len(shape) != _RANK or len(tuple(metadata.shape)) != _RANK:
        raise ShapeError(f"{name}: shapes {spec.shape} and {metadata.shape}; both need four dimensions.")
    if shape[3] != experts:
        raise ShapeError(
            f"{name}: topk_tensor is {spec.shape} for {experts} experts.",
            vendor="Expected mapping shape dim 2 to be equal to topk dim 3 (number of experts), got "
            f"{experts} and {shape[3]} respectively",
        )
    if metadata.shape[1] != shape[1]:
        raise ShapeError(
            f"{name}: topk_tensor is {spec.shape}, expert_metadata_tensor {metadata.shape}.",
            vendor="Expected metadata dim 1 to be equal to topk dim 1 (batch size), got "
            f"{metadata.shape[1]} and {shape[1]}, respectively",
        )
    tokens = metadata.shape[1] * metadata.shape[2]
    if shape[0] != 1 or metadata.shape[0] != 1 or shape[2] != metadata.shape[2] or experts < number:
        raise ShapeError(
            f"{name}: topk_tensor is {spec.shape}, expert_metadata_tensor {metadata.shape}; expected [1, batch, "
            f"sequence, experts] and [1, batch, sequence, chosen], and an expert for each of {number} chips at least."
        )
    if reduction_size < 1 or tokens % reduction_size or not tokens:
        raise ParameterError(f"{name}: {tokens} tokens do not divide into chunks of reduction_size {reduction_size}.")
    local, config = experts // number, memory_config or DRAM_MEMORY_CONFIG
    wanted = (
        TensorSpec.of((1, shape[1], shape[2], local), spec.dtype, Layout.ROW_MAJOR, config),
        TensorSpec.of((1, 1, tokens // reduction_size, local), DataType.UINT16, Layout.ROW_MAJOR, config),
    )
    given = (optional_output_mapping_tensor, optional_output_reduced_tensor)
    scores, used = (
        chips.take(name, tensor, each, tuple(each.shape), device) or allocate(each, whole_of(device))
        for tensor, each in zip(given, wanted, strict=True)
    )
    groups = [[chip.place for chip in device.chips]]
    engine_steps.local_scores(
        topk_tensor.buffers[0],
        expert_mapping_tensor.buffers[0],
        expert_metadata_tensor.buffers[0],
        scores.buffers[0],
        used.buffers[0],
        groups=groups,
        columns=columns_of(device, groups),
        together=reduction_size,
    )
    topology = chips.topology_of(topk_tensor, device)
    return [chips.with_topology(tensor, topology) for tensor in (scores, used)]


moe_expert_token_remap = declare(
    "moe_expert_token_remap",
    (
        Signature(
            (
                Param("topk_tensor", TENSOR, doc="Scores of all experts: [1, batch, sequence, experts]."),
                Param("expert_mapping_tensor", TENSOR, doc="1 where an expert is: uint16 [1, 1, experts, chips]."),
                Param(
                    "expert_metadata_tensor", TENSOR, doc="Experts of the tokens: uint16 [1, batch, sequence, chosen]."
                ),
            ),
            (
                MEMORY_CONFIG_OPTION,
                Param("optional_output_mapping_tensor", TENSOR, None, doc="Preallocated scores."),
                Param("optional_output_reduced_tensor", TENSOR, None, doc="Preallocated second result."),
                Param("reduction_size", INTEGER, _TOGETHER, doc="Tokens of a row of the second result."),
            ),
        ),
    ),
    _tokens,
    "Return the scores of each chip's own experts.\n"
    "They are zero where a token has not chosen the expert. The second result is 1 where one of `reduction_size`\n"
    "tokens has.\n"
    "Shape: [1, B, S, E], [1, 1, E, N], [1, B, S, K] -> [1, B, S, E / N], [1, 1, B * S / reduction_size, E / N] for N\n"
    "chips.",
    source=f"{_SOURCE}/moe_expert_token_remap",
    dtypes=tuple(_ELEMENT_BYTES),
    layouts=(Layout.ROW_MAJOR,),
    engine=("local_scores",),
    of_meshes=True,
    raises=(
        ("DTypeError", "mapping or metadata are not uint16."),
        ("LayoutError", "a tensor is tiled."),
        ("ShapeError", "shapes do not belong together."),
        ("ParameterError", "tokens do not divide into chunks of `reduction_size`."),
        ("StorageError", "a tensor is on the host, deallocated, or on some chips of its mesh only."),
    ),
)
