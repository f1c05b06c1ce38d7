"""Shards along any dimensions: core and position of each page.

A tensor is split into shards of `NdShardSpec.shard_shape`; the shards are numbered row by row and assigned to the cores
of the grid by one of three rules. A core keeps its shards one after the other, each with room for the pages of a whole
shard, row by row. If a shard has fewer dimensions than the tensor, the first dimensions of the tensor count as one.

Source: TT-NN docs, "Tensor sharding": `NdShardSpec`, `ShardDistributionStrategy`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ttnn.base.core_range import NOC_GRID, CoreCoord
from ttnn.base.enums import ShardDistributionStrategy, ShardOrientation
from ttnn.base.exceptions import MemoryConfigError
from ttnn.base.memory_config import NdShardSpec
from ttnn.base.tensor_spec import TensorSpec


@dataclass(frozen=True, eq=False)
class Deal:
    """The location of a tensor's pages.

    Attributes:
        cores: Cores that hold shards.
        slots: Pages that each of them has room for.
        core: Index into `cores` of each page.
        slot: Place of each page on its core.
    """

    cores: tuple[CoreCoord, ...]
    slots: int
    core: NDArray[np.int64]
    slot: NDArray[np.int64]


@lru_cache(maxsize=64)
def deal(spec: TensorSpec) -> Deal:
    """Return where the pages of a tensor with n-dimensional shards are.

    Raises:
        MemoryConfigError: GRID_2D, and the grid is no rectangle or has too few rows or columns.
    """
    shards = spec.memory_config.nd_shard_spec
    assert shards is not None
    pages, shard = in_pages(spec, shards)
    counts = tuple(-(-size // part) for size, part in zip(pages, shard, strict=True))
    index = np.unravel_index(np.arange(math.prod(pages)), pages) if math.prod(pages) else [np.zeros(0, np.int64)]
    if math.prod(pages) == 0:
        return Deal(tuple(_cores(shards, math.prod(NOC_GRID))), 0, index[0], index[0])
    number = np.ravel_multi_index([i // part for i, part in zip(index, shard, strict=True)], counts)
    inside = np.ravel_multi_index([i % part for i, part in zip(index, shard, strict=True)], shard)
    cores, owner, place = _dealt(spec, shards, counts)
    slot = place[number] * math.prod(shard) + inside
    return Deal(tuple(cores), (int(place.max()) + 1) * math.prod(shard), owner[number], slot)


def in_pages(spec: TensorSpec, shards: NdShardSpec) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return sizes of tensor and shard in pages.

    In as many dimensions as the shard has.
    """
    dims, shard = list(spec.padded_shape), list(shards.shard_shape)
    folded = len(dims) - len(shard) + 1
    dims = [math.prod(dims[:folded]), *dims[folded:]]
    for sizes in (dims, shard):
        for axis, page in zip((-2, -1), spec.page_shape, strict=True):
            if -axis <= len(sizes):
                sizes[axis] //= page
    return tuple(dims), tuple(shard)


def _cores(shards: NdShardSpec, most: int) -> list[CoreCoord]:
    return list(islice(shards.grid.cores(row_wise=shards.orientation is ShardOrientation.ROW_MAJOR), most))


def _dealt(
    spec: TensorSpec, shards: NdShardSpec, counts: tuple[int, ...]
) -> tuple[list[CoreCoord], NDArray[Any], NDArray[Any]]:
    """Return the cores, and for each shard its core and position.

    They are the index of the core, and how many shards that core has before it.
    """
    total = math.prod(counts)
    number = np.arange(total)
    if shards.shard_distribution_strategy is ShardDistributionStrategy.GRID_2D:
        return [*_grid(spec, shards, math.prod(counts[:-1]), counts[-1])], number, np.zeros_like(number)
    cores = _cores(shards, total)
    if shards.shard_distribution_strategy is ShardDistributionStrategy.CONTIGUOUS_1D:
        each = -(-total // len(cores))
        return cores[: -(-total // each)], number // each, number % each
    return cores, number % len(cores), number // len(cores)


def _grid(spec: TensorSpec, shards: NdShardSpec, rows: int, columns: int) -> list[CoreCoord]:
    box = shards.grid.bounding_box()
    size, row_major = box.grid_size(), shards.orientation is ShardOrientation.ROW_MAJOR
    across, down = (size.x, size.y) if row_major else (size.y, size.x)
    if box.size() != shards.grid.num_cores() or rows > down or columns > across:
        raise MemoryConfigError(
            f"a tensor of {spec.shape} has {rows} rows and {columns} columns of shards, one for each core with "
            f"GRID_2D: the grid {shards.grid} must be a rectangle of at least as many rows and columns of cores"
        )
    places = [(row, column) for row in range(rows) for column in range(columns)]
    x, y = box.start.x, box.start.y
    return [CoreCoord(x + (j if row_major else i), y + (i if row_major else j)) for i, j in places]
