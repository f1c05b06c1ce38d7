"""Tokens sent to chips with their experts, and back: all_to_all_dispatch and all_to_all_combine.

Source: tt-metal `ttnn/cpp/ttnn/operations/ccl/all_to_all_dispatch` and `all_to_all_combine`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ttnn.base.enums import DataType, Layout
from ttnn.base.exceptions import DTypeError, LayoutError, MemoryConfigError, ParameterError, ShapeError
from ttnn.base.memory_config import MemoryConfig
from ttnn.base.system_enums import Topology
from ttnn.base.tensor_spec import TensorSpec
from ttnn.device.fabric_state import FABRIC
from ttnn.operation.registry import declare, find
from ttnn.operation.signature import BOOLEAN, INTEGER, TENSOR, Kind, Param, Signature
from ttnn.ops._programs.common import MEMORY_CONFIG_OPTION, OUTPUT_TENSOR_OPTION, allocate, same_device
from ttnn.ops.ccl import chips
from ttnn.ops.ccl.chips import CLUSTER_AXIS, NUM_LINKS, TOPOLOGY_OPTION
from ttnn.ops.ccl.gather import RAISES, SUB_DEVICE
from ttnn.ops.ccl.part import Chips, whole_of
from ttnn.ops.ccl.transfers import transfer
from ttnn.runtime import engine_steps
from ttnn.tensor.tensor import Tensor

_SOURCE: Final = "ttnn/cpp/ttnn/operations/ccl"
_RANK: Final = 4
_CUT_DIMS: Final = (1, 2)
"""Dimensions along which chips have tokens: batch and sequence."""
_MAPPING: Final = Param("expert_mapping_tensor", TENSOR, doc="1 where an expert is: uint16 [1, 1, experts, chips].")
_TWO_TENSORS: Final = Kind(
    "collections.abc.Sequence[ttnn.Tensor]",
    lambda value: (
        isinstance(value, list | tuple) and len(value) == 2 and all(isinstance(each, Tensor) for each in value)
    ),
    "Sequence[Tensor]",
)


def columns_of(device: Chips, groups: Sequence[Sequence[int]]) -> list[int]:
    """Return the mapping tensor's column for each chip of the groups."""
    numbers = {chip.place: number for number, chip in enumerate(whole_of(device).chips)}
    return [numbers[place] for group in groups for place in group]


def require_rows(
    name: str, label: str, tensor: Tensor, device: Chips, dtype: DataType | None = None, vendor: str = ""
) -> None:
    """Check that a tensor on the mesh has interleaved rows.

    Raises:
        StorageError: it is on the host, on another device, or on some chips only.
        LayoutError: it is tiled.
        DTypeError: it has another data type.
        MemoryConfigError: it is sharded.
    """
    chips.require_mesh(name, tensor)
    same_device(name, whole_of(device), tensor, label)
    spec, words = tensor.spec, label.removesuffix("_tensor").removeprefix("expert_").capitalize()
    if spec.layout is not Layout.ROW_MAJOR:
        raise LayoutError(
            f"{name}: {label} is tiled; convert it with ttnn.to_layout(..., ttnn.ROW_MAJOR_LAYOUT).",
            vendor=vendor or f"{words} tensor must be in row major layout",
        )
    if dtype is not None and spec.dtype is not dtype:
        raise DTypeError(
            f"{name}: {label} is {spec.dtype.name}; it must be {dtype.name}.",
            vendor=f"{words} tensor must be {dtype.name.lower()}",
        )
    if not spec.memory_config.interleaved:
        raise MemoryConfigError(f"{name}: {label} is sharded; move it with ttnn.to_memory_config.")


def require_mapping(name: str, mapping: Tensor, device: Chips) -> int:
    """Return the number of experts of a mapping tensor.

    Raises:
        ShapeError: it has another number of chips.
    """
    require_rows(name, "expert_mapping_tensor", mapping, device, DataType.UINT16)
    shape, count = tuple(mapping.spec.shape), len(whole_of(device).chips)
    if len(shape) < 2 or shape[-1] != count or mapping.spec.num_pages != shape[-2]:
        raise ShapeError(
            f"{name}: expert_mapping_tensor is {mapping.spec.shape}; expected [1, 1, experts, {count}] for {device!r}."
        )
    return shape[-2]


def _check_call(name: str, device: Chips, axis: int | None, topology: Topology | None, links: int | None) -> None:
    """Check fabric, axis and links.

    Raises:
        FabricError: there is no fabric, the mesh has no such axis, or groups of one chip.
        ParameterError: neighbours have fewer links.
    """
    FABRIC.require_on(name)
    chips.check_axis(device, axis, f"cluster axis {axis} is out of range for mesh shape rank {device.shape.dims()}")
    chips.usable_topology(device, topology, axis)
    chips.require_one_axis(name, device, axis)
    chips.require_several(name, device, axis, f"{name.removeprefix('ttnn.')} needs more than one chip")
    if links is not None and links < 1:
        raise ParameterError(
            f"{name}: num_links must be positive, got {links}.", vendor="Number of links must be greater"
        )
    chips.check_links(device, axis, links, False)


def _rows_spec(shape: Sequence[int], dtype: DataType, memory_config: MemoryConfig) -> TensorSpec:
    return TensorSpec.of(tuple(shape), dtype, Layout.ROW_MAJOR, memory_config)


def _output(name: str, output: Tensor | None, spec: TensorSpec, device: Chips) -> Tensor | None:
    vendor = (
        ""
        if output is None
        else (f"Optional sparse output token tensor spec {output.spec!r} does not match computed output spec {spec!r}")
    )
    return chips.take(name, output, spec, tuple(spec.shape), device, vendor)


def _require_interleaved(name: str, config: MemoryConfig) -> None:
    if not config.interleaved:
        raise MemoryConfigError(
            f"{name}: memory_config is sharded; results are interleaved.",
            vendor="Output memory config must not be sharded",
        )


def _cut(name: str, option: str, dim: int | None, word: str) -> int:
    cut = 1 if dim is None else dim
    if cut not in _CUT_DIMS:
        verb = option.split("_")[1]
        raise ParameterError(
            f"{name}: {option} must be 1 or 2, got {cut}.",
            vendor=f"Output {verb} dimension must be 1 or 2, got {cut}. Output {verb} dimension is used to determine "
            f"the dimension to {word} the output tokens along.",
        )
    return cut


def _dispatch(
    input_tensor: Tensor,
    expert_indices_tensor: Tensor,
    expert_mapping_tensor: Tensor,
    cluster_axis: int | None,
    output_tensors: Sequence[Tensor] | None,
    num_links: int | None,
    topology: Topology | None,
    memory_config: MemoryConfig | None,
    subdevice_id: object,
    output_concat_dim: int | None,
) -> list[Tensor]:
    name = "ttnn.all_to_all_dispatch"
    device, spec, indices = chips.require_mesh(name, input_tensor), input_tensor.spec, expert_indices_tensor.spec
    _check_call(name, device, cluster_axis, topology, num_links)
    require_rows(name, "input_tensor", input_tensor, device, DataType.BFLOAT16)
    require_rows(name, "expert_indices_tensor", expert_indices_tensor, device, DataType.UINT16)
    config = memory_config or spec.memory_config
    _require_interleaved(name, config)
    shape, rows = tuple(spec.shape), tuple(indices.shape)
    if len(shape) != _RANK or len(rows) != _RANK:
        raise ShapeError(
            f"{name}: input_tensor is {spec.shape}, expert_indices_tensor {indices.shape}; both need four dimensions.",
            vendor="Input and indices tensor must have the same number of dimensions",
        )
    different = next((dim for dim in range(_RANK - 1) if shape[dim] != rows[dim]), None)
    if different is not None:
        raise ShapeError(
            f"{name}: input_tensor is {spec.shape}, expert_indices_tensor {indices.shape}; they may differ in the last "
            "dimension only.",
            vendor="Input and indices tensor must have the same shape for all dimensions except the last. Mismatch at "
            f"dimension {different} with shape {shape[different]} and {rows[different]}",
        )
    if shape[1] != 1:
        # The official program has no rows for them, and writes beyond its results.
        raise ShapeError(f"{name}: input_tensor is {spec.shape}; expected [batch, 1, sequence, hidden].")
    cut = _cut(name, "output_concat_dim", output_concat_dim, "concat")
    require_mapping(name, expert_mapping_tensor, device)
    count, groups = chips.size_of(device, cluster_axis), chips.groups_of(device, cluster_axis)
    sizes = [1, shape[0], shape[2]]
    sizes[cut] *= count
    lasts = ((shape[3], spec.dtype), (rows[3], indices.dtype))
    specs = [_rows_spec([*sizes, last], dtype, config) for last, dtype in lasts]
    given = output_tensors or (None, None)
    sent, metadata = (
        _output(name, tensor, each, device) or allocate(each, whole_of(device))
        for tensor, each in zip(given, specs, strict=True)
    )
    # On average, with experts in equal numbers on all chips.
    share = 1 - (1 - 1 / len(whole_of(device).chips)) ** rows[3]
    transfer("AllToAllDispatch", "direct", input_tensor, cluster_axis, topology=topology, links=num_links, share=share)
    if spec.num_pages:
        engine_steps.send_tokens(
            input_tensor.buffers[0],
            expert_indices_tensor.buffers[0],
            expert_mapping_tensor.buffers[0],
            sent.buffers[0],
            metadata.buffers[0],
            groups=groups,
            columns=columns_of(device, groups),
        )
    topology_of = chips.topology_of(input_tensor, device)
    return [chips.with_topology(tensor, topology_of) for tensor in (sent, metadata)]


all_to_all_dispatch = declare(
    "all_to_all_dispatch",
    (
        Signature(
            (
                Param("input_tensor", TENSOR, doc="Tokens of each chip: bfloat16 [batch, 1, sequence, hidden]."),
                Param("expert_indices_tensor", TENSOR, doc="Their experts: uint16 [batch, 1, sequence, chosen]."),
                _MAPPING,
            ),
            (
                CLUSTER_AXIS,
                Param("output_tensors", _TWO_TENSORS, None, doc="Preallocated results."),
                NUM_LINKS,
                TOPOLOGY_OPTION,
                MEMORY_CONFIG_OPTION,
                SUB_DEVICE,
                Param(
                    "output_concat_dim", INTEGER, 1, none=True, doc="Dimension that all chips' tokens share: 1 or 2."
                ),
            ),
        ),
    ),
    _dispatch,
    "Return the tokens of a group that have experts on each chip.\n"
    "The second result has the experts of all tokens. Rows of tokens without an expert on the chip keep what\n"
    "they had: zeros, or those of `output_tensors`.\n"
    "Shape: [B, 1, S, H], [B, 1, S, K] -> [1, N * B, S, H], [1, N * B, S, K] for groups of N chips.",
    source=f"{_SOURCE}/all_to_all_dispatch",
    dtypes=(DataType.BFLOAT16,),
    layouts=(Layout.ROW_MAJOR,),
    engine=("send_tokens",),
    of_meshes=True,
    raises=(
        *RAISES,
        ("DTypeError", "tokens are not bfloat16, or experts not uint16."),
        ("LayoutError", "a tensor is tiled."),
        ("ShapeError", "shapes do not belong together."),
        ("ParameterError", "an expert is not in the mapping tensor, or `output_concat_dim` not 1 or 2."),
    ),
)


def _combine(
    input_tensor: Tensor,
    expert_metadata_tensor: Tensor,
    expert_mapping_tensor: Tensor,
    local_reduce: bool,
    output_shard_dim: int | None,
    cluster_axis: int | None,
    subdevice_id: object,
    memory_config: MemoryConfig | None,
    output_tensor: Tensor | None,
    num_links: int | None,
    topology: Topology | None,
) -> Tensor:
    name = "ttnn.all_to_all_combine"
    device, spec, metadata = chips.require_mesh(name, input_tensor), input_tensor.spec, expert_metadata_tensor.spec
    _check_call(name, device, cluster_axis, topology, num_links)
    require_rows(name, "input_tensor", input_tensor, device, DataType.BFLOAT16)
    require_rows(name, "expert_metadata_tensor", expert_metadata_tensor, device, DataType.UINT16)
    config = memory_config or spec.memory_config
    _require_interleaved(name, config)
    experts, number = require_mapping(name, expert_mapping_tensor, device), len(whole_of(device).chips)
    if any(len(tuple(each.shape)) != _RANK for each in (spec, metadata, expert_mapping_tensor.spec)):
        raise ShapeError(
            f"{name}: shapes {spec.shape}, {metadata.shape}, {expert_mapping_tensor.spec.shape}; each needs four "
            "dimensions.",
            vendor="Input, metadata, and mapping tensors must all be rank 4",
        )
    if experts % number:
        raise ShapeError(
            f"{name}: {experts} experts on {number} chips; each chip needs the same number.",
            vendor=f"Number of experts {experts} should be evenly divisible by devices: {number}",
        )
    local = experts // number
    shape, (one, batch, sequence, chosen) = tuple(spec.shape), tuple(metadata.shape)
    if shape[0] != (1 if local_reduce else local):
        raise ShapeError(
            f"{name}: input_tensor is {spec.shape}; expected {1 if local_reduce else local} as the first dimension.",
            vendor=f"Expecting input dim 0 equal to num devices: {number}, got: {shape[0]}"
            if local_reduce
            else f"Expected input shape dim 0: {shape[0]} to be equal to expert mapping dim 2: {experts}",
        )
    if one != 1 or shape[1:3] != (batch, sequence):
        raise ShapeError(
            f"{name}: input_tensor is {spec.shape}, expert_metadata_tensor {metadata.shape}; batch and sequence must "
            "be equal."
        )
    if cluster_axis is None:
        raise ParameterError(f"{name}: pass cluster_axis.", vendor="Axis must be specified at the moment")
    cut, count = _cut(name, "output_shard_dim", output_shard_dim, "shard"), chips.size_of(device, cluster_axis)
    sizes = [chosen, batch, sequence, shape[3]]
    if sizes[cut] % count:
        word = "Batch" if cut == 1 else "Sequence length"
        raise ShapeError(
            f"{name}: dimension {cut} of {metadata.shape} does not divide by {count} chips.",
            vendor=f"{word} {sizes[cut]} must be divisible by axis group",
        )
    sizes[cut] //= count
    wanted = _rows_spec(sizes, spec.dtype, config)
    result = _output(name, output_tensor, wanted, device)
    if result is None:
        result = find("ttnn.zeros")(sizes, spec.dtype, Layout.ROW_MAJOR, whole_of(device), config)
    groups, share = chips.groups_of(device, cluster_axis), (1 if local_reduce else chosen) / number
    transfer("AllToAllCombine", "direct", result, cluster_axis, chosen, topology=topology, links=num_links, share=share)
    if spec.num_pages:
        engine_steps.return_tokens(
            input_tensor.buffers[0],
            expert_metadata_tensor.buffers[0],
            expert_mapping_tensor.buffers[0],
            result.buffers[0],
            groups=groups,
            columns=columns_of(device, groups),
            local=local,
            reduced=local_reduce,
        )
    return chips.with_topology(result, chips.topology_of(input_tensor, device))


all_to_all_combine = declare(
    "all_to_all_combine",
    (
        Signature(
            (
                Param("input_tensor", TENSOR, doc="Results of a chip's experts: bfloat16 [experts, B, S, hidden]."),
                Param("expert_metadata_tensor", TENSOR, doc="Experts of all tokens: uint16 [1, B, S, chosen]."),
                _MAPPING,
            ),
            (
                Param("local_reduce", BOOLEAN, False, doc="A chip's experts have one row for each token together."),
                Param("output_shard_dim", INTEGER, 1, none=True, doc="Dimension that is cut: 1 or 2."),
                CLUSTER_AXIS,
                SUB_DEVICE,
                MEMORY_CONFIG_OPTION,
                OUTPUT_TENSOR_OPTION,
                NUM_LINKS,
                TOPOLOGY_OPTION,
            ),
        ),
    ),
    _combine,
    "Return what experts made of each chip's own tokens.\n"
    "The n-th slice is that of each token's n-th expert; rows of experts outside of the group are zeros. Where two\n"
    "chips have an expert, the row of the later chip stays.\n"
    "Shape: [E, B, S, H] -> [K, B / N, S, H] for groups of N chips.",
    source=f"{_SOURCE}/all_to_all_combine",
    dtypes=(DataType.BFLOAT16,),
    layouts=(Layout.ROW_MAJOR,),
    engine=("return_tokens",),
    of_meshes=True,
    raises=(
        *RAISES,
        ("DTypeError", "rows are not bfloat16, or experts not uint16."),
        ("LayoutError", "a tensor is tiled."),
        ("ShapeError", "shapes do not belong together, or do not divide."),
        ("ParameterError", "`cluster_axis` is None, or `output_shard_dim` not 1 or 2."),
    ),
)
