"""Slices that chips exchange with their neighbours: neighbor_pad_async and slice_reshard_async.

Source: tt-metal `ttnn/cpp/ttnn/operations/experimental/ccl`; recorded calls of 0.81.1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

from ttnn.base.enums import Layout
from ttnn.base.exceptions import ParameterError, ShapeError, UnsupportedError
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, MemoryConfig
from ttnn.base.system_enums import Topology
from ttnn.operation.registry import declare, find
from ttnn.operation.signature import INT_SEQUENCE, INTEGER, TENSOR, Kind, Param, Signature
from ttnn.ops._programs.common import INPUT_TENSOR, MEMORY_CONFIG_OPTION, dimension
from ttnn.ops.ccl import chips
from ttnn.ops.ccl.chips import TOPOLOGY
from ttnn.ops.ccl.gather import BOTH_LAYOUTS, FLOATS_AND_INTEGERS, RAISES, gathered, partitioned
from ttnn.ops.ccl.semaphores import SEMAPHORE, SEMAPHORES, check_call
from ttnn.ops.ccl.transfers import transfer
from ttnn.runtime import engine_steps
from ttnn.tensor.tensor import Tensor

_SOURCE: Final = "ttnn/cpp/ttnn/operations/experimental/ccl"
_MODES: Final = ("zeros", "replicate")
_MODE: Final = Kind("str", lambda value: isinstance(value, str))


def _range(tensor: Tensor, dim: int, start: int, stop: int) -> Tensor:
    """Return a range of a dimension."""
    begins, ends = [0] * tensor.spec.shape.rank, list(tensor.spec.shape)
    begins[dim], ends[dim] = start, stop
    part: Tensor = find("ttnn.slice")(tensor, begins, ends, memory_config=DRAM_MEMORY_CONFIG)
    return part


def _halo(tensor: Tensor, dim: int, width: int, axis: int, mode: str, up: bool) -> Tensor:
    """Return what each chip gets from a neighbour along an axis.

    Args:
        tensor: The operand.
        dim: The dimension that is padded.
        width: Rows of the neighbour.
        axis: The axis of the mesh.
        mode: What the first chip gets, or the last: zeros, or its own edge again.
        up: From the previous chip, otherwise from the next one.
    """
    device, size = chips.require_mesh("ttnn.experimental.neighbor_pad_async", tensor), tensor.spec.shape[dim]
    sent = _range(tensor, dim, size - width, size) if up else _range(tensor, dim, 0, width)
    if mode == "zeros":
        halo = find("ttnn.zeros_like")(sent)
    else:
        edge = _range(tensor, dim, 0, 1) if up else _range(tensor, dim, size - 1, size)
        halo = find("ttnn.concat")([edge] * width, dim) if width > 1 else find("ttnn.clone")(edge)
    transfer("NeighborPadAsync", "one", sent, axis, hops=1)
    lines = chips.groups_of(device, axis)
    for position in range(len(lines[0]) - 1):
        pairs = [[line[position], line[position + 1]] for line in lines]
        groups = pairs if up else [pair[::-1] for pair in pairs]
        halo = chips.moved(
            engine_steps.send_pages, sent, sent.spec.shape, None, halo, groups=groups, position=0, kept=False
        )
    found: Tensor = halo
    return found


def _padded(tensor: Tensor, dim: int, left: int, right: int, axis: int, mode: str) -> Tensor:
    """Return each chip's tensor between rows of its neighbours."""
    parts = [_halo(tensor, dim, left, axis, mode, True)] if left else []
    parts.append(tensor)
    parts += [_halo(tensor, dim, right, axis, mode, False)] if right else []
    padded: Tensor = find("ttnn.concat")(parts, dim, memory_config=DRAM_MEMORY_CONFIG)
    return padded


def _neighbor_pad(
    input_tensor: Tensor,
    dim: Sequence[int],
    padding_left: Sequence[int],
    padding_right: Sequence[int],
    padding_mode: str,
    cluster_axis: Sequence[int],
    neighbor_semaphore: object,
    barrier_semaphore: object,
    num_links: object,
    memory_config: MemoryConfig | None,
    topology: Topology | None,
    persistent_output_buffer: Tensor | None,
    logical_h: int,
    t_front_pad: int,
) -> Tensor:
    name = "ttnn.experimental.neighbor_pad_async"
    device = chips.require_mesh(name, input_tensor)
    if padding_mode not in _MODES:
        raise ParameterError(f"{name}: padding_mode must be one of {', '.join(_MODES)}, got {padding_mode!r}.")
    if not len(dim) == len(padding_left) == len(padding_right) == len(cluster_axis) > 0:
        raise ParameterError(f"{name}: dim, padding_left, padding_right and cluster_axis must have one length.")
    if logical_h or t_front_pad:
        raise UnsupportedError(
            f"{name}: logical_h and t_front_pad are not modelled; leave them 0 and pad before the call."
        )
    shape, rank, steps = list(input_tensor.spec.shape), input_tensor.spec.shape.rank, []
    for each, left, right, axis in zip(dim, padding_left, padding_right, cluster_axis, strict=True):
        check_call(name, device, axis)
        place = dimension(name, each, rank)
        size = shape[place]
        if place == rank - 1 or not 0 <= left <= size or not 0 <= right <= size:
            raise ShapeError(
                f"{name}: padding {left} and {right} of dimension {place} of {shape}; expected a dimension before the "
                "last one, and at most its size."
            )
        shape[place] += left + right
        steps.append((place, left, right, axis, padding_mode))
    output = chips.take(name, persistent_output_buffer, input_tensor.spec, shape, device)

    def run(wide: Tensor) -> Tensor:
        tensor = chips.in_memory(wide, None, DRAM_MEMORY_CONFIG)
        for step in steps:
            if step[1] or step[2]:
                tensor = _padded(tensor, *step)
        return tensor

    if shape == list(input_tensor.spec.shape):
        result = find("ttnn.clone")(input_tensor, memory_config=memory_config)
    else:
        result = chips.in_memory(
            chips.through_bfloat16(input_tensor, run), memory_config, input_tensor.spec.memory_config
        )
    if output is not None:
        result = find("ttnn.copy")(result, output)
    return chips.with_topology(result, chips.topology_of(input_tensor, device))


_LINE: Final = Param("topology", TOPOLOGY, Topology.Linear, none=True, doc="Topology.Linear.")
neighbor_pad_async = declare(
    "experimental.neighbor_pad_async",
    (
        Signature(
            (
                INPUT_TENSOR,
                Param("dim", INT_SEQUENCE, doc="Dimensions that are padded, one after the other.", example=[1]),
                Param("padding_left", INT_SEQUENCE, doc="Rows from the previous chip, for each.", example=[1]),
                Param("padding_right", INT_SEQUENCE, doc="Rows from the next chip, for each.", example=[1]),
                Param(
                    "padding_mode",
                    _MODE,
                    doc="Rows beyond the mesh: zeros, or replicate for the edge.",
                    example="zeros",
                ),
                Param("cluster_axis", INT_SEQUENCE, doc="Mesh axis of each dimension.", example=[1]),
                Param("neighbor_semaphore", SEMAPHORES, doc="A global semaphore for each dimension."),
                Param("barrier_semaphore", SEMAPHORES, doc="A global semaphore for each dimension."),
            ),
            (
                Param("num_links", INT_SEQUENCE, None, doc="Links of each dimension. Bits do not change."),
                MEMORY_CONFIG_OPTION,
                _LINE,
                Param("persistent_output_buffer", TENSOR, None, doc="Preallocated output."),
                Param("logical_h", INTEGER, 0, doc="Must be 0."),
                Param("t_front_pad", INTEGER, 0, doc="Must be 0."),
            ),
        ),
    ),
    _neighbor_pad,
    "Return each chip's tensor with rows of its neighbours.\n"
    "The rows before it are the last ones of the previous chip, those after it the first ones of the next chip.\n"
    "Shape: [..., D, ...] -> [..., left + D + right, ...].",
    source=_SOURCE,
    dtypes=FLOATS_AND_INTEGERS,
    layouts=BOTH_LAYOUTS,
    engine=("send_pages",),
    of_meshes=True,
    raises=(
        *RAISES,
        ("ParameterError", "the lists differ in length, or the mode is another one."),
        ("ShapeError", "a dimension is the last one, or shorter than the padding."),
        ("UnsupportedError", "`logical_h` or `t_front_pad` is set."),
    ),
)


def _rearranged(tensor: Tensor, dim: int, axis: int, offset: int, rows: int) -> Tensor:
    """Return each chip's part of a range of a distributed dimension.

    Args:
        tensor: Rows in interleaved memory.
        dim: The dimension, not the last one.
        axis: The axis of the mesh.
        offset: The first row of the range in the whole.
        rows: Rows of each part.
    """
    device, spec = chips.require_mesh("ttnn.experimental.slice_reshard_async", tensor), tensor.spec
    own, dims = spec.shape[dim], chips.page_dims(spec)
    inner = math.prod(dims[dim + 1 :])
    ranges = []
    for member in range(chips.size_of(device, axis)):
        begin, pieces = offset + member * rows, []
        for sender in range(begin // own, (begin + rows - 1) // own + 1):
            first, last = max(begin, sender * own), min(begin + rows, (sender + 1) * own)
            places = (first - sender * own, first - begin, last - first)
            pieces.append((sender, *(place * inner for place in places)))
        ranges.append(pieces)
    shape = [rows if place == dim else size for place, size in enumerate(spec.shape)]
    return chips.moved(
        engine_steps.move_ranges,
        tensor,
        shape,
        None,
        groups=chips.groups_of(device, axis),
        outer=math.prod(dims[:dim]),
        sizes=(own * inner, rows * inner),
        ranges=ranges,
    )


def _slice_reshard(
    input_tensor: Tensor,
    dim: int,
    output_dim_offset: int,
    output_dim_shape: int,
    cluster_axis: int,
    final_semaphore: object,
    barrier_semaphore: object,
    num_links: int | None,
    memory_config: MemoryConfig | None,
    *_: Any,
) -> Tensor:
    name = "ttnn.experimental.slice_reshard_async"
    device, spec = chips.require_mesh(name, input_tensor), input_tensor.spec
    check_call(name, device, cluster_axis)
    axis, count = dimension(name, dim, spec.shape.rank), chips.size_of(device, cluster_axis)
    end, size = output_dim_offset + output_dim_shape, spec.shape[axis] * count
    if output_dim_offset < 0 or output_dim_shape < 1 or end > size or output_dim_shape % count:
        raise ShapeError(
            f"{name}: {output_dim_shape} rows from {output_dim_offset} on; {count} chips have {size} rows, and each "
            "gets the same number."
        )
    transfer("SliceReshardAsync", "all", input_tensor, cluster_axis, links=num_links)
    moved = output_dim_shape // count

    def run(wide: Tensor) -> Tensor:
        if axis == spec.shape.rank - 1:  # its elements are no pages
            whole = gathered(name, wide, axis, cluster_axis, DRAM_MEMORY_CONFIG)
            return partitioned(name, _range(whole, axis, output_dim_offset, end), axis, cluster_axis)
        rows = find("ttnn.to_layout")(wide, Layout.ROW_MAJOR, memory_config=DRAM_MEMORY_CONFIG)
        return _rearranged(rows, axis, cluster_axis, output_dim_offset, moved)

    result = chips.through_bfloat16(input_tensor, run)
    result = chips.in_memory(find("ttnn.to_layout")(result, spec.layout), memory_config, spec.memory_config)
    return chips.with_topology(result, chips.topology_of(input_tensor, device))


slice_reshard_async = declare(
    "experimental.slice_reshard_async",
    (
        Signature(
            (
                INPUT_TENSOR,
                Param("dim", INTEGER, doc="Dimension of which chips have parts.", example=0),
                Param("output_dim_offset", INTEGER, doc="First row of the whole that is kept.", example=0),
                Param("output_dim_shape", INTEGER, doc="Rows that are kept, of all chips together.", example=2),
                Param("cluster_axis", INTEGER, doc="Mesh axis along which chips have parts.", example=1),
                Param("final_semaphore", SEMAPHORE, doc="A global semaphore."),
                Param("barrier_semaphore", SEMAPHORE, doc="A global semaphore."),
            ),
            (
                Param("num_links", INTEGER, 1, none=True, doc="Links of each pair of chips. Bits do not change."),
                MEMORY_CONFIG_OPTION,
                _LINE,
            ),
        ),
    ),
    _slice_reshard,
    "Return a range of a distributed dimension, in equal parts.\n"
    "Shape: [..., D, ...] -> [..., output_dim_shape / N, ...] for groups of N chips.",
    source=_SOURCE,
    dtypes=FLOATS_AND_INTEGERS,
    layouts=BOTH_LAYOUTS,
    engine=("move_ranges", "gather_slices", "take_slices"),
    of_meshes=True,
    raises=(*RAISES, ("ShapeError", "the range is outside of the whole, or does not divide.")),
)
