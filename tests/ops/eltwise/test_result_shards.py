"""Memory configs of sharded results.

An operand or the requested memory config is sharded.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ttnn
from testkit.operands import make, values_of

HEIGHT, WIDTH, BLOCK = ttnn.ShardStrategy.HEIGHT, ttnn.ShardStrategy.WIDTH, ttnn.ShardStrategy.BLOCK


def _shards(cut: tuple[int, int], y: int, x: int, strategy: ttnn.ShardStrategy) -> ttnn.MemoryConfig:
    return ttnn.create_sharded_memory_config(
        cut, ttnn.CoreGrid(y=y, x=x), strategy, use_height_and_width_as_shard_shape=True
    )


def _make(shape: tuple[int, ...], device: ttnn.MeshDevice, place: ttnn.MemoryConfig | None = None) -> ttnn.Tensor:
    options = {} if place is None else {"memory_config": place}
    return make(shape, ttnn.float32, ttnn.TILE_LAYOUT, device, sum(shape), **options)


def _cut(result: ttnn.Tensor) -> tuple[list[int], int]:
    shards = result.memory_config().shard_spec
    return list(shards.shape), shards.num_cores()


# Shape and shards of the first operand, shape of the second, shards of the result.
GROWN = [
    ((2, 1, 64, 32), _shards((64, 32), 2, 1, HEIGHT), (2, 7, 64, 32), [448, 32]),
    ((2, 7, 64, 1), _shards((128, 32), 7, 1, HEIGHT), (2, 1, 64, 128), [128, 128]),
    ((1, 64), _shards((32, 32), 1, 2, WIDTH), (96, 64), [96, 32]),
    ((64, 64), _shards((32, 32), 2, 2, BLOCK), (3, 64, 64), [96, 32]),
    ((64, 64), _shards((32, 32), 2, 2, BLOCK), (64, 64), [32, 32]),
]


@pytest.mark.parametrize(("shape", "place", "other", "cut"), GROWN)
def test_shards_grow_with_broadcasting(
    shape: tuple[int, ...], place: ttnn.MemoryConfig, other: tuple[int, ...], cut: list[int], device: ttnn.MeshDevice
) -> None:
    a, b = _make(shape, device, place), _make(other, device)
    for result in (ttnn.add(a, b), ttnn.add(b, a)):
        assert result.memory_config().memory_layout is place.memory_layout
        assert _cut(result)[0] == cut
        np.testing.assert_array_equal(values_of(result), np.float32(values_of(a)) + np.float32(values_of(b)))


def test_an_operand_in_l1_keeps_its_place(device: ttnn.MeshDevice) -> None:
    a = _make((64, 64), device, ttnn.L1_MEMORY_CONFIG)
    b = _make((64, 64), device, _shards((32, 64), 2, 1, HEIGHT))
    assert ttnn.add(a, b).memory_config() == ttnn.L1_MEMORY_CONFIG


@pytest.mark.parametrize(
    ("place", "cut", "cores"),
    [
        (ttnn.L1_HEIGHT_SHARDED_MEMORY_CONFIG, [32, 416], 13),
        (ttnn.L1_WIDTH_SHARDED_MEMORY_CONFIG, [416, 32], 13),
        (ttnn.L1_BLOCK_SHARDED_MEMORY_CONFIG, [64, 64], 49),
    ],
    ids=["height", "width", "block"],
)
def test_a_place_without_shards_takes_the_cores_it_fills(
    place: ttnn.MemoryConfig, cut: list[int], cores: int, device: ttnn.MeshDevice
) -> None:
    a, b = _make((1, 395), device), _make((395, 395), device)
    expected = values_of(ttnn.add(a, b))
    for result in (
        ttnn.add(a, b, memory_config=place),
        ttnn.multiply(ttnn.add(a, b), 1.0, memory_config=place),
        ttnn.where(ttnn.ones_like(b), ttnn.add(a, b), b, memory_config=place),
    ):
        assert result.memory_config().memory_layout is place.memory_layout
        assert _cut(result) == (cut, cores)
        np.testing.assert_array_equal(values_of(result), expected)


def test_a_place_without_shards_takes_those_of_an_operand(device: ttnn.MeshDevice) -> None:
    a, b = _make((96, 64), device), _make((1, 64), device, _shards((32, 32), 1, 2, WIDTH))
    result: Any = ttnn.add(a, b, memory_config=ttnn.L1_WIDTH_SHARDED_MEMORY_CONFIG)
    assert _cut(result) == ([96, 32], 2)
    result = ttnn.addcmul(a, b, b, memory_config=ttnn.L1_WIDTH_SHARDED_MEMORY_CONFIG)
    assert _cut(result) == ([96, 32], 2)


def test_of_three_operands_the_one_on_most_cores_decides(device: ttnn.MeshDevice) -> None:
    two, four = _shards((64, 64), 2, 1, HEIGHT), _shards((32, 64), 4, 1, HEIGHT)
    a, b, c = _make((128, 64), device, two), _make((128, 64), device, four), _make((128, 64), device)
    for result in (ttnn.addcmul(a, b, c), ttnn.where(a, c, b), ttnn.mac(c, b, a)):
        assert result.memory_config() == four


def test_beside_a_number_the_tensor_decides(device: ttnn.MeshDevice) -> None:
    value = _make((1, 64), device, _shards((32, 32), 1, 2, WIDTH))
    predicate = _make((2, 96, 64), device)
    for result in (ttnn.where(predicate, value, 0.5), ttnn.where(predicate, 0.5, value)):
        assert _cut(result) == ([192, 32], 2)
    assert ttnn.where(predicate, _make((1, 64), device), 0.5).memory_config() == ttnn.DRAM_MEMORY_CONFIG
