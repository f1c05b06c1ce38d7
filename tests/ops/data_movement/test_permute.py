"""Tile transposes and permutes: unchanged and packed bits."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import ttnn
from testkit.operands import make, raw_of, values_of
from ttnn import _engine

TILE = ttnn.TILE_LAYOUT
E8M6 = BFP8 = 6
EVERY_TYPE = [
    ttnn.bfloat16,
    ttnn.float32,
    ttnn.bfloat8_b,
    ttnn.bfloat4_b,
    ttnn.int32,
    ttnn.uint32,
    ttnn.uint16,
    ttnn.uint8,
]


@pytest.mark.parametrize("dtype", EVERY_TYPE, ids=lambda dtype: dtype.name)
@pytest.mark.parametrize(
    "shape",
    [
        (5,),
        (33, 70),
        (3, 33, 40),
        (34, 33, 35),
        (2, 3, 33, 40),
        (33, 2, 34, 1),
        (33, 34, 1, 2),
        (2, 34, 33, 64),
        (2, 1, 3, 40, 33),
        (1, 2, 2, 1, 31, 3),
    ],
)
def test_permute_of_every_order_of_dimensions(
    device: ttnn.MeshDevice, dtype: ttnn.DataType, shape: tuple[int, ...]
) -> None:
    x = make(shape, dtype, TILE, device)
    before = values_of(x)
    orders = list(itertools.permutations(range(len(shape))))
    for order in orders[:: max(1, len(orders) // 24)]:
        result = ttnn.permute(x, order)
        expected = before.transpose(order)
        assert tuple(result.shape) == expected.shape
        if dtype in (ttnn.bfloat8_b, ttnn.bfloat4_b):
            # Half a step of the largest magnitude that an element may share an exponent with.
            step = 2.0**-6 if dtype is ttnn.bfloat8_b else 2.0**-2
            assert np.max(np.abs(values_of(result) - expected)) <= step * np.max(np.abs(before))
        else:
            np.testing.assert_array_equal(values_of(result), expected)


@pytest.mark.parametrize("dtype", [ttnn.bfloat8_b, ttnn.bfloat4_b, ttnn.bfloat16], ids=lambda dtype: dtype.name)
def test_leading_dimensions_move_whole_tiles(device: ttnn.MeshDevice, dtype: ttnn.DataType) -> None:
    x = make((2, 3, 4, 40, 70), dtype, TILE, device)
    tiles = raw_of(x).reshape(2, 3, 4, -1)
    for order in ((1, 0, 2, 3, 4), (2, 0, 1, 3, 4), (2, 1, 0, 3, 4)):
        moved = raw_of(ttnn.permute(x, order))
        np.testing.assert_array_equal(moved, tiles.transpose(*order[:3], 3).reshape(-1))
    np.testing.assert_array_equal(raw_of(ttnn.transpose(x, 0, -4)), tiles.transpose(1, 0, 2, 3).reshape(-1))


def test_block_floats_are_packed_after_a_transpose(device: ttnn.MeshDevice) -> None:
    x = make((32, 32), ttnn.bfloat8_b, TILE, device)
    registers = np.ascontiguousarray(values_of(x).T.astype(np.float32)).view(np.uint32).reshape(1, 32, 32)
    packed = _engine.pack_tiles(registers, ("bf16", E8M6, BFP8))
    np.testing.assert_array_equal(raw_of(ttnn.transpose(x, 0, 1)), packed.reshape(-1))


def test_padding_shares_exponents_after_a_transpose(device: ttnn.MeshDevice) -> None:
    values = np.full((1, 32), 0.01, np.float32)
    x = ttnn.Tensor(values, ttnn.bfloat8_b, None, TILE)
    clean = values_of(ttnn.transpose(x.to(device), 0, 1))
    np.testing.assert_allclose(clean, 0.01, rtol=2.0**-6)
    dirty = np.full((32, 32), 100.0, np.float32)
    dirty[0] = 0.01
    raw = raw_of(ttnn.Tensor(dirty, ttnn.bfloat8_b, None, TILE))
    y = ttnn.Tensor._on_host(ttnn.TensorSpec((1, 32), ttnn.bfloat8_b, TILE), raw).to(device)
    assert np.all(values_of(ttnn.transpose(y, 0, 1)) == 0.0)


def test_transposes_flush_bfloat16(device: ttnn.MeshDevice) -> None:
    words = np.array([[0x0001, 0x8000, 0x7FC1, 0x3F80]], np.uint16)
    rows = ttnn.Tensor._on_host(ttnn.TensorSpec((1, 4), ttnn.bfloat16, ttnn.ROW_MAJOR_LAYOUT), words.view(np.uint8)[0])
    x = rows.to(TILE).to(device)
    moved = raw_of(ttnn.transpose(x, 0, 1).cpu().to(ttnn.ROW_MAJOR_LAYOUT)).view(np.uint16)
    np.testing.assert_array_equal(moved, [0, 0, 0x7F80, 0x3F80])


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.bfloat8_b], ids=lambda dtype: dtype.name)
def test_permute_moves_between_placements(device: ttnn.MeshDevice, dtype: ttnn.DataType) -> None:
    sharded = ttnn.create_sharded_memory_config((1, 2, 64, 64), ttnn.CoreGrid(y=2, x=1), ttnn.ShardStrategy.HEIGHT)
    x = make((1, 2, 64, 64), dtype, TILE, device)
    y = ttnn.to_memory_config(x, sharded)
    for order in ((1, 0, 2, 3), (0, 1, 3, 2), (0, 2, 1, 3), (0, 1, 2, 3)):
        expected = raw_of(ttnn.permute(x, order))
        for source in (x, y):
            result = ttnn.permute(source, order, memory_config=ttnn.L1_MEMORY_CONFIG)
            assert result.memory_config() == ttnn.L1_MEMORY_CONFIG
            np.testing.assert_array_equal(raw_of(result), expected)


@pytest.mark.parametrize("given", [None, ttnn.L1_HEIGHT_SHARDED_MEMORY_CONFIG])
@pytest.mark.parametrize(
    ("shape", "dims", "layout", "shards", "expected"),
    [
        # A matrix in shards of height becomes one in shards of width.
        ((1, 1, 128, 64), (-2, -1), "HEIGHT", (32, 64), ("WIDTH", (64, 32))),
        ((4, 1, 64, 96), (-2, -1), "HEIGHT", (64, 96), ("HEIGHT", (96, 64))),
        # Rows of a batch that are one in a tile: 32 of them become one.
        ((1, 4, 32, 64), (1, 2), "HEIGHT", (32, 64), ("HEIGHT", (256, 64))),
        ((2, 2, 64, 64), (0, 1), "HEIGHT", (64, 64), ("HEIGHT", (64, 64))),
    ],
)
def test_shards_follow_a_transpose(
    given: ttnn.MemoryConfig | None,
    shape: tuple[int, ...],
    dims: tuple[int, int],
    layout: str,
    shards: tuple[int, int],
    expected: tuple[str, tuple[int, int]],
    device: ttnn.MeshDevice,
) -> None:
    place = ttnn.create_sharded_memory_config(
        shards, ttnn.CoreGrid(y=4, x=1), ttnn.ShardStrategy[layout], use_height_and_width_as_shard_shape=True
    )
    source = make(shape, ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
    result = ttnn.transpose(ttnn.to_memory_config(source, place), *dims, memory_config=given)
    np.testing.assert_array_equal(values_of(result), values_of(source).swapaxes(*dims))
    config = result.memory_config()
    assert config.memory_layout is ttnn.TensorMemoryLayout[f"{expected[0]}_SHARDED"]
    assert tuple(config.shard_spec.shape) == expected[1]
    assert config.shard_spec.grid == place.shard_spec.grid


def test_a_named_place_of_a_transpose_counts(device: ttnn.MeshDevice) -> None:
    source = make((1, 1, 64, 64), ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
    place = ttnn.create_sharded_memory_config((1, 1, 64, 64), ttnn.CoreGrid(y=2, x=1), ttnn.ShardStrategy.HEIGHT)
    sharded = ttnn.to_memory_config(source, place)
    assert ttnn.transpose(sharded, -2, -1, memory_config=ttnn.DRAM_MEMORY_CONFIG).memory_config() == (
        ttnn.DRAM_MEMORY_CONFIG
    )
    assert ttnn.transpose(sharded, -2, -1, memory_config=place).memory_config() == place
    # The result of an interleaved tensor gets shards of its own.
    divided = ttnn.transpose(source, -2, -1, memory_config=ttnn.L1_HEIGHT_SHARDED_MEMORY_CONFIG)
    assert divided.memory_config().shard_spec.shape == [32, 64]
    np.testing.assert_array_equal(values_of(divided), values_of(source).swapaxes(-2, -1))
