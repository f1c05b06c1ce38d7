"""Shards in any number of dimensions: positions, values, operators, refusals.

Positions are compared with a model that walks the shards.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import torch

import ttnn
from ttnn.base import nd_shards
from ttnn.base.exceptions import MemoryConfigError

ROW, COL = ttnn.ShardOrientation.ROW_MAJOR, ttnn.ShardOrientation.COL_MAJOR
ROUND_ROBIN = ttnn.ShardDistributionStrategy.ROUND_ROBIN_1D
CONTIGUOUS = ttnn.ShardDistributionStrategy.CONTIGUOUS_1D
GRID = ttnn.ShardDistributionStrategy.GRID_2D
TILE, ROW_MAJOR = ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT


def cores(x: int, y: int) -> ttnn.CoreRangeSet:
    return ttnn.CoreRangeSet([ttnn.CoreRange((1, 1), (x, y))])


def placed(shard: list[int], grid: ttnn.CoreRangeSet, *rest: Any, kind: Any = ttnn.BufferType.L1) -> ttnn.MemoryConfig:
    return ttnn.MemoryConfig(kind, ttnn.NdShardSpec(shard, grid, *rest))


# (shape, layout, shard, columns and rows of the grid)
CASES = [
    ([2, 3, 64, 96], TILE, [1, 2, 32, 64], (3, 2)),
    ([2, 3, 64, 96], TILE, [2, 1, 64, 32], (3, 2)),
    ([3, 2, 40, 50], TILE, [2, 64, 32], (2, 2)),
    ([128, 128], TILE, [32, 64], (2, 4)),
    ([5, 64, 64], TILE, [64, 64], (3, 3)),
    ([2, 3, 6, 8], ROW_MAJOR, [1, 2, 4, 4], (2, 2)),
    ([2, 3, 5, 10], ROW_MAJOR, [2, 2, 2, 4], (3, 2)),
    ([4, 6], ROW_MAJOR, [3], (2, 2)),
    ([7], ROW_MAJOR, [2], (2, 1)),
]


def expected_places(spec: ttnn.TensorSpec) -> dict[int, tuple[ttnn.CoreCoord, int]]:
    """Return every page's core and position, by walking shards and pages."""
    shards = spec.memory_config.nd_shard_spec
    assert shards is not None
    page = (*spec.page_shape,)[-len(shards.shard_shape) :]
    dims, shard = list(spec.padded_shape), list(shards.shard_shape)
    while len(dims) > len(shard):
        dims[:2] = [dims[0] * dims[1]]
    steps = [1] * (len(dims) - len(page)) + list(page)
    sizes = [size // step for size, step in zip(dims, steps, strict=True)]
    parts = [size // step for size, step in zip(shard, steps, strict=True)]
    numbers = {place: n for n, place in enumerate(itertools.product(*map(range, sizes)))}
    corners = list(itertools.product(*(range(0, size, part) for size, part in zip(sizes, parts, strict=True))))
    order = list(shards.grid.cores(row_wise=shards.orientation is ROW))
    if shards.shard_distribution_strategy is CONTIGUOUS:
        each = -(-len(corners) // min(len(order), len(corners)))
        owners = [(order[n // each], n % each) for n in range(len(corners))]
    else:
        used = order[: len(corners)]
        owners = [(used[n % len(used)], n // len(used)) for n in range(len(corners))]
    found = {}
    for corner, (core, earlier) in zip(corners, owners, strict=True):
        for inside, offset in enumerate(itertools.product(*map(range, parts))):
            place = tuple(a + b for a, b in zip(corner, offset, strict=True))
            if place in numbers:
                found[numbers[place]] = (core, earlier * int(np.prod(parts)) + inside)
    return found


@pytest.mark.parametrize("strategy", [ROUND_ROBIN, CONTIGUOUS])
@pytest.mark.parametrize("orientation", [ROW, COL])
@pytest.mark.parametrize(("shape", "layout", "shard", "grid"), CASES)
def test_every_page_has_the_place_of_the_model(
    shape: list[int], layout: ttnn.Layout, shard: list[int], grid: tuple[int, int], orientation: Any, strategy: Any
) -> None:
    config = placed(shard, cores(*grid), orientation, strategy)
    spec = ttnn.TensorSpec.of(shape, ttnn.bfloat16, layout, config)
    dealt = nd_shards.deal(spec)
    ours = {page: (dealt.cores[c], s) for page, (c, s) in enumerate(zip(dealt.core, dealt.slot, strict=True))}
    assert ours == expected_places(spec)
    assert len(set(ours.values())) == spec.num_pages
    assert dealt.slots > dealt.slot.max()


@pytest.mark.parametrize("kind", [ttnn.BufferType.L1, ttnn.BufferType.DRAM])
@pytest.mark.parametrize(("shape", "layout", "shard", "grid"), CASES)
def test_values_come_back(
    device: ttnn.MeshDevice, shape: list[int], layout: ttnn.Layout, shard: list[int], grid: tuple[int, int], kind: Any
) -> None:
    values = torch.arange(np.prod(shape), dtype=torch.float32).reshape(shape)
    banks = ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), (4, 0))]) if kind is ttnn.BufferType.DRAM else cores(*grid)
    config = placed(shard, banks, kind=kind)
    tensor = ttnn.from_torch(values, layout=layout, device=device, memory_config=config)
    assert tensor.memory_config() == config
    assert tensor.is_sharded()
    assert torch.equal(ttnn.to_torch(tensor), values)
    moved = ttnn.to_memory_config(tensor, ttnn.DRAM_MEMORY_CONFIG)
    assert torch.equal(ttnn.to_torch(moved), values)
    assert torch.equal(ttnn.to_torch(ttnn.to_memory_config(moved, config)), values)
    per_bank = nd_shards.deal(tensor.spec).slots * tensor.buffer_aligned_page_size()
    view = ttnn.get_memory_view(device, kind)
    assert view.total_bytes_allocated_per_bank >= per_bank


def test_one_shard_for_each_core_of_a_grid(device: ttnn.MeshDevice) -> None:
    values = torch.rand(64, 96)
    for orientation, grid in ((ROW, cores(3, 2)), (COL, cores(2, 3))):
        config = placed([32, 32], grid, orientation, GRID)
        tensor = ttnn.from_torch(values, layout=TILE, device=device, memory_config=config)
        dealt = nd_shards.deal(tensor.spec)
        places = [(dealt.cores[core].x, dealt.cores[core].y) for core in dealt.core]
        row_major = [(1 + j, 1 + i) for i in range(2) for j in range(3)]
        assert places == (row_major if orientation is ROW else [(y, x) for x, y in row_major])
        assert torch.equal(ttnn.to_torch(tensor), values)
    for grid in (cores(2, 2), ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), (7, 0)), ttnn.CoreRange((0, 1), (0, 7))])):
        with pytest.raises(MemoryConfigError, match="2 rows and 3 columns of shards, one for each core with GRID_2D"):
            ttnn.from_torch(values, layout=TILE, device=device, memory_config=placed([32, 32], grid, ROW, GRID))


def test_operators_read_and_write_them(device: ttnn.MeshDevice) -> None:
    values = torch.rand(2, 3, 64, 96)
    config = placed([1, 2, 32, 64], cores(3, 2))
    plain = ttnn.from_torch(values, dtype=ttnn.bfloat16, layout=TILE, device=device)
    sharded = ttnn.to_memory_config(plain, config)
    for call in (
        lambda x, **place: ttnn.exp(x, **place),
        lambda x, **place: ttnn.add(x, x, **place),
        lambda x, **place: ttnn.softmax(x, dim=-1, **place),
        lambda x, **place: ttnn.sum(x, dim=-1, keepdim=True, **place),
        lambda x, **place: ttnn.permute(x, (1, 0, 2, 3), **place),
    ):
        expected = ttnn.to_torch(call(plain))
        assert torch.equal(ttnn.to_torch(call(sharded, memory_config=ttnn.DRAM_MEMORY_CONFIG)), expected)
    written = ttnn.exp(plain, memory_config=config)
    assert written.memory_config() == config
    assert torch.equal(ttnn.to_torch(written), ttnn.to_torch(ttnn.exp(plain)))


def test_shards_of_chosen_cores_are_written(device: ttnn.MeshDevice) -> None:
    config = placed([1, 32, 32], cores(2, 1))
    tensor = ttnn.from_torch(torch.zeros(4, 32, 32), layout=TILE, device=device, memory_config=config)
    ones = ttnn.from_torch(torch.ones(4, 32, 32), layout=TILE, memory_config=config)
    ttnn.copy_host_to_device_tensor_partial(ones, tensor, ttnn.CoreRangeSet([ttnn.CoreRange((2, 1), (2, 1))]))
    assert ttnn.to_torch(tensor)[:, 0, 0].tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize("shape", [[0, 3, 64, 64], [2, 0, 64], [0]])
def test_empty_tensors_use_no_memory(device: ttnn.MeshDevice, shape: list[int]) -> None:
    config = placed([1], cores(2, 2)) if len(shape) == 1 else placed([1, 32, 32], cores(2, 2))
    layout = ROW_MAJOR if len(shape) == 1 else TILE
    tensor = ttnn.from_torch(torch.zeros(shape), layout=layout, device=device, memory_config=config)
    assert tuple(ttnn.to_torch(tensor).shape) == tuple(shape)


@pytest.mark.parametrize(
    ("shape", "layout", "shard", "message"),
    [
        ([64, 64], TILE, [1, 1, 32, 32], "needs cores, and shards of one to 2 dimensions that are not empty"),
        ([64, 64], TILE, [0, 32], "needs cores, and shards of one to 2 dimensions that are not empty"),
        ([64, 64], TILE, [], "needs cores, and shards of one to 2 dimensions that are not empty"),
        ([64, 64], TILE, [32, 31], r"Physical shard shape \(32, 31\) must be tile \{32, 32\} sized!"),
        ([64, 64], TILE, [32], r"Physical shard shape \(1, 32\) must be tile \{32, 32\} sized!"),
    ],
)
def test_shards_that_do_not_fit(shape: list[int], layout: ttnn.Layout, shard: list[int], message: str) -> None:
    with pytest.raises(MemoryConfigError, match=message):
        ttnn.from_torch(torch.zeros(shape), layout=layout, memory_config=placed(shard, cores(2, 2)))


def test_cores_that_the_device_does_not_have(device: ttnn.MeshDevice) -> None:
    values = torch.zeros(64, 64)
    far = ttnn.CoreRangeSet([ttnn.CoreRange((8, 0), (8, 0))])
    with pytest.raises(MemoryConfigError, match="core 8-0, outside the compute grid 8x8"):
        ttnn.from_torch(values, layout=TILE, device=device, memory_config=placed([32, 32], far))
    config = placed([32, 32], cores(2, 2), kind=ttnn.BufferType.DRAM)
    with pytest.raises(MemoryConfigError, match=r"shard core \(1, 1\) has no DRAM bank on this device, which has 12"):
        ttnn.from_torch(values, layout=TILE, device=device, memory_config=config)


def test_nd_shards_are_not_extracted(device: ttnn.MeshDevice) -> None:
    config = placed([32, 32], cores(2, 2))
    tensor = ttnn.from_torch(torch.zeros(64, 64), layout=TILE, device=device, memory_config=config)
    with pytest.raises(MemoryConfigError, match="has no shards of height and width"):
        tensor.extract_shard(0)
