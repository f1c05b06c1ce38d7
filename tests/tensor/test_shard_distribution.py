"""Tensor accessor arguments: minimal page shapes, and banks."""

from __future__ import annotations

import math
from itertools import product

import pytest
import torch

import ttnn
from ttnn.tensor.shard_distribution import (
    RUNTIME_PAGE_SIZE,
    RUNTIME_TENSOR_SHAPE,
    Distribution,
    accessor_words,
    squeeze,
)


@pytest.mark.parametrize(
    ("tensor", "shard", "expected"),
    [
        ((4, 6), (2, 3), ((4, 6), (2, 3))),
        ((4, 6), (2, 6), ((24,), (12,))),
        ((4, 6), (1, 3), ((24,), (3,))),
        ((4, 6), (1, 4), ((4, 6), (1, 4))),
        ((2, 3, 4), (2, 3, 4), ((24,), (24,))),
        ((2, 3, 4), (1, 3, 4), ((24,), (12,))),
        ((2, 3, 4), (2, 1, 4), ((2, 12), (2, 4))),
        ((2, 3, 4), (1, 1, 2), ((24,), (2,))),
        ((1, 4, 6), (1, 3, 4), ((4, 6), (3, 4))),
        ((5,), (2,), ((5,), (2,))),
    ],
)
def test_squeeze(tensor: tuple[int, ...], shard: tuple[int, ...], expected: object) -> None:
    assert squeeze(tensor, shard) == expected


def shard_of(page: int, tensor: tuple[int, ...], shard: tuple[int, ...]) -> tuple[int, int]:
    """Return a page's shard, and its position there."""
    place, number = page, []
    for size in reversed(tensor):
        place, index = divmod(place, size)
        number.append(index)
    number.reverse()
    found = spot = 0
    for index, size, cut in zip(number, tensor, shard, strict=True):
        found = found * -(-size // cut) + index // cut
        spot = spot * cut + index % cut
    return found, spot


@pytest.mark.parametrize("tensor", [(2, 3, 4), (3, 4), (4, 2, 1), (2, 2, 6)])
def test_squeezed_shapes_cut_alike(tensor: tuple[int, ...]) -> None:
    merged = 0
    for shard in product(*(range(1, size + 1) for size in tensor)):
        small, cut = squeeze(tensor, shard)
        merged += len(small) < len(tensor)
        for page in range(math.prod(tensor)):
            assert shard_of(page, small, cut) == shard_of(page, tensor, shard), (shard, small, cut, page)
    assert merged


def test_words() -> None:
    shards = Distribution((4, 6), (2, 3), ((18, 18), (19, 18), (20, 18)), contiguous=True)
    coordinates = [18 << 8 | 18 | (19 << 8 | 18) << 16, 20 << 8 | 18]
    assert accessor_words(False, 64, None) == [0, 64]
    assert accessor_words(True, 64, None, RUNTIME_PAGE_SIZE) == [2 | 128]
    assert accessor_words(False, 64, shards) == [1, 64, 2, 3 | 1 << 31, 4, 6, 2, 3, *coordinates]
    assert accessor_words(True, 64, shards, RUNTIME_TENSOR_SHAPE) == [3 | 16, 64, 2, 3 | 1 << 31, 2, 3, *coordinates]


def test_arguments_of_tensors(device: ttnn.MeshDevice) -> None:
    grid = ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(1, 1))])
    block = ttnn.MemoryConfig(
        ttnn.TensorMemoryLayout.BLOCK_SHARDED,
        ttnn.BufferType.L1,
        ttnn.ShardSpec(grid, (64, 32), ttnn.ShardOrientation.ROW_MAJOR),
    )
    nd = ttnn.MemoryConfig(
        ttnn.BufferType.DRAM, ttnn.NdShardSpec([1, 32, 32], ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), (2, 0))]))
    )
    words = {}
    for name, config in (("block", block), ("nd", nd)):
        tensor = ttnn.from_torch(
            torch.ones(2, 64, 64), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device, memory_config=config
        )
        words[name] = ttnn.TensorAccessorArgs(tensor).get_compile_time_args()
    cores = [device.worker_core_from_logical_core(core) for core in grid.cores()]
    packed = [core.x << 8 | core.y for core in cores]
    assert words["block"] == [1, 2048, 2, 4, 4, 2, 2, 1, packed[0] | packed[1] << 16, packed[2] | packed[3] << 16]
    assert words["nd"] == [3, 2048, 1, 3, 8, 1, 0 << 8 | (1 << 8) << 16, 2 << 8]


def test_the_best_cores_of_a_sharded_tensor(device: ttnn.MeshDevice) -> None:
    best = ttnn.get_optimal_worker_cores_for_sharded_tensor

    def of(scheme: str, buffer: ttnn.BufferType, end: tuple[int, int], shard: list[int], order: str) -> ttnn.Tensor:
        spec = ttnn.ShardSpec(
            ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), end)]), shard, ttnn.ShardOrientation[f"{order}_MAJOR"]
        )
        config = ttnn.MemoryConfig(ttnn.TensorMemoryLayout[f"{scheme}_SHARDED"], buffer, spec)
        return ttnn.zeros((96, 64), device=device, layout=ttnn.TILE_LAYOUT, memory_config=config)

    core = ttnn.CoreCoord
    # Of six cores three have shards.
    assert best(of("HEIGHT", ttnn.BufferType.L1, (1, 2), [32, 64], "ROW")) == [core(0, 0), core(1, 0), core(0, 1)]
    assert best(of("HEIGHT", ttnn.BufferType.L1, (1, 2), [32, 64], "COL")) == [core(0, 0), core(0, 1), core(0, 2)]
    blocks = best(of("BLOCK", ttnn.BufferType.L1, (3, 3), [64, 32], "COL"))
    assert blocks == [core(0, 0), core(0, 1), core(1, 0), core(1, 1)]
    banks = of("WIDTH", ttnn.BufferType.DRAM, (3, 0), [96, 32], "ROW")
    for noc in (ttnn.NOC.NOC_0, ttnn.NOC.NOC_1):
        assert best(banks, noc) == device.get_optimal_dram_bank_to_logical_worker_assignment(noc)[:2]
    assert best(banks) == best(banks, noc=ttnn.NOC.NOC_0)
    with pytest.raises(ttnn.StorageError, match="Tensor must be on device"):
        best(banks.cpu())
    with pytest.raises(ttnn.MemoryConfigError, match="Tensor must be sharded"):
        best(ttnn.to_memory_config(banks, ttnn.DRAM_MEMORY_CONFIG))
    with pytest.raises(ttnn.ArgumentError, match="expected a tensor"):
        best(3)
