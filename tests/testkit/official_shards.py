"""Host programs of official kernels that read and write shards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import ttnn
from testkit.official_rows import KERNELS, Row

__all__ = ["at", "block", "coordinates", "directions", "grid", "kernel_on", "route", "sharded", "shared_cb"]


def block(columns: int, rows: int, *, x: int = 0, y: int = 0) -> ttnn.CoreRange:
    """Return a rectangle of cores from its first core."""
    return ttnn.CoreRange(ttnn.CoreCoord(x, y), ttnn.CoreCoord(x + columns - 1, y + rows - 1))


def grid(*ranges: ttnn.CoreRange) -> ttnn.CoreRangeSet:
    return ttnn.CoreRangeSet(list(ranges))


def sharded(
    row: Row,
    shape: Sequence[int],
    cores: ttnn.CoreRangeSet,
    layout: ttnn.Layout = ttnn.TILE_LAYOUT,
    *,
    rows: bool = False,
    random: bool = False,
) -> ttnn.Tensor:
    """Return a bfloat16 tensor in L1, split over cores.

    Args:
        row: The chips.
        shape: Shape on a chip.
        cores: Its cores.
        layout: Its layout.
        rows: Whether its rows are split; its columns otherwise.
        random: Whether it has random numbers, other ones on each chip; zeros otherwise.
    """
    height, width, count = int(np.prod(shape[:-1])), shape[-1], cores.num_cores()
    part = [height // count, width] if rows else [height, width // count]
    spec = ttnn.ShardSpec(cores, part, ttnn.ShardOrientation.ROW_MAJOR)
    split = ttnn.TensorMemoryLayout.HEIGHT_SHARDED if rows else ttnn.TensorMemoryLayout.WIDTH_SHARDED
    memory = ttnn.MemoryConfig(split, ttnn.BufferType.L1, spec)
    full = (row.chips * shape[0], *shape[1:])
    values = np.zeros(full, np.float32)
    if random:
        values = np.random.default_rng(11).standard_normal(full, dtype=np.float32)
    return ttnn.Tensor(
        values,
        ttnn.bfloat16,
        device=row.mesh,
        layout=layout,
        mem_config=memory,
        mesh_mapper=ttnn.ShardTensorToMesh(row.mesh, 0).unwrap(),
    )


def at(row: Row, core: ttnn.CoreCoord) -> list[int]:
    """Return a core's virtual coordinates."""
    virtual = row.mesh.worker_core_from_logical_core(core)
    return [virtual.x, virtual.y]


def coordinates(row: Row, cores: ttnn.CoreRangeSet, first: int = 0, count: int | None = None) -> list[int]:
    """Return virtual x of cores, then their y."""
    kept = ttnn.corerange_to_cores(cores, None, True)[first : None if count is None else first + count]
    virtual = [row.mesh.worker_core_from_logical_core(core) for core in kept]
    return [*(core.x for core in virtual), *(core.y for core in virtual)]


def directions(
    row: Row, program: ttnn.ProgramDescriptor, place: int, core: ttnn.CoreCoord, only: int | None = None
) -> list[int]:
    """Return the words of connections to neighbours, forward and backward.

    Args:
        row: The chips.
        program: The program of the chip.
        place: The chip.
        core: Its core.
        only: The one direction that it sends to; by default both.
    """
    words: list[int] = []
    for step in (1, -1):
        other = row.neighbour(place, step) if only in (None, step) else None
        words.append(int(other is not None))
        if other is not None:
            words += ttnn.setup_fabric_connection(row.node(place), row.node(other), 0, program, core)
    return words


def route(hops: int) -> list[int]:
    """Return the words of a multicast to so many chips."""
    return [1, hops, 0, 0, 0, 0]


def shared_cb(
    index: int,
    page: int,
    pages: int,
    cores: ttnn.CoreRangeSet,
    dtype: ttnn.DataType = ttnn.bfloat16,
) -> ttnn.CBDescriptor:
    """Return a circular buffer of several cores."""
    form = ttnn.CBFormatDescriptor(buffer_index=index, data_format=dtype, page_size=page)
    return ttnn.CBDescriptor(total_size=page * pages, core_ranges=cores, format_descriptors=[form])


def kernel_on(
    path: str, config: Any, fixed: Sequence[int], args: Mapping[ttnn.CoreCoord, Sequence[int]], **more: Any
) -> ttnn.KernelDescriptor:
    """Return a kernel of the wheel, on the cores that have arguments."""
    made = ttnn.KernelDescriptor(
        kernel_source=f"{KERNELS}/{path}",
        core_ranges=grid(*(ttnn.CoreRange(core, core) for core in args)),
        compile_time_args=list(map(int, fixed)),
        config=config,
        **more,
    )
    for core, words in args.items():
        made.runtime_args[core.x][core.y] = list(map(int, words))
    return made
