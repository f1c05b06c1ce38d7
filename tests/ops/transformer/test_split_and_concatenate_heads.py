"""Heads of attention, split and joined."""

from __future__ import annotations

import numpy as np
import pytest

import ttnn
from testkit.operands import make, values_of

TILES = ttnn.TILE_LAYOUT


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.float32])
@pytest.mark.parametrize(("heads", "groups"), [(2, None), (4, 2)])
def test_split_returns_columns_of_the_projection(
    heads: int, groups: int | None, dtype: ttnn.DataType, device: ttnn.MeshDevice
) -> None:
    kv = groups or heads
    x = make((2, 40, (heads + 2 * kv) * 32), dtype, TILES, device)
    columns = values_of(x).reshape(2, 40, -1, 32).swapaxes(1, 2)
    split = ttnn.transformer.split_query_key_value_and_split_heads
    for transposed in (True, False):
        query, key, value = split(x, num_heads=heads, num_kv_heads=groups, transpose_key=transposed)
        np.testing.assert_array_equal(values_of(query), columns[:, :heads])
        keys = columns[:, heads : heads + kv]
        np.testing.assert_array_equal(values_of(key), keys.swapaxes(-1, -2) if transposed else keys)
        np.testing.assert_array_equal(values_of(value), columns[:, heads + kv :])
    joined = ttnn.transformer.concatenate_heads(query)
    np.testing.assert_array_equal(values_of(joined), values_of(x)[..., : heads * 32])


def test_split_accepts_a_separate_key_value_tensor(device: ttnn.MeshDevice) -> None:
    x, kv = (make((1, 32, width), ttnn.bfloat16, TILES, device) for width in (128, 64))
    split = ttnn.transformer.split_query_key_value_and_split_heads
    query, key, value = split(x, kv, num_heads=4, num_kv_heads=1, transpose_key=False)
    assert [tuple(part.shape) for part in (query, key, value)] == [(1, 4, 32, 32), (1, 1, 32, 32), (1, 1, 32, 32)]
    np.testing.assert_array_equal(values_of(value)[0, 0], values_of(kv)[0, :, 32:])


def test_head_sizes_that_are_no_full_tiles_raise_shape_error(device: ttnn.MeshDevice) -> None:
    split = ttnn.transformer.split_query_key_value_and_split_heads
    with pytest.raises(ttnn.ShapeError, match="Invalid head size: 16"):
        split(make((2, 32, 192), ttnn.bfloat16, TILES, device), num_heads=4)
    pair = [make((2, 32, width), ttnn.bfloat16, TILES, device) for width in (384, 256)]
    with pytest.raises(ttnn.ShapeError, match=r"KV head size \(32\) must be equal to query head size \(96\)"):
        split(*pair, num_heads=4)
    with pytest.raises(ttnn.ShapeError, match="found to be 20"):
        ttnn.transformer.concatenate_heads(make((2, 4, 32, 20), ttnn.bfloat16, TILES, device))


def test_nlp_heads_of_four_dimensions_round_trip(device: ttnn.MeshDevice) -> None:
    x = make((2, 1, 40, 256), ttnn.bfloat16, TILES, device)
    columns = values_of(x)[:, 0].reshape(2, 40, 4, 64).swapaxes(1, 2)
    create = ttnn.experimental.nlp_create_qkv_heads
    query, key, value = create(x, num_heads=2, num_kv_heads=1)
    np.testing.assert_array_equal(values_of(query), columns[:, :2])
    np.testing.assert_array_equal(values_of(key), columns[:, 2:3].swapaxes(-1, -2))
    np.testing.assert_array_equal(values_of(value), columns[:, 3:])
    joined = ttnn.experimental.nlp_concat_heads(query)
    assert tuple(joined.shape) == (2, 1, 40, 128)
    np.testing.assert_array_equal(values_of(joined), values_of(x)[..., :128])
    kv = make((2, 1, 40, 128), ttnn.bfloat16, TILES, device)
    _, keys, _ = create(x, kv, num_heads=4, num_kv_heads=1, transpose_k_heads=False)
    np.testing.assert_array_equal(values_of(keys)[:, 0], values_of(kv)[:, 0, :, :64])
    with pytest.raises(ttnn.ShapeError, match="does not divide into 9 heads"):
        create(x, num_heads=3)
    with pytest.raises(ttnn.UnsupportedError, match="kv_tied=True is not implemented"):
        create(x, num_heads=2, num_kv_heads=1, kv_tied=True)


def _blocks(shape: tuple[int, ...], cores: tuple[int, int], order: ttnn.ShardOrientation) -> ttnn.MemoryConfig:
    """Return blocks on a core grid, as the shape divides."""
    high, wide = cores
    x, y = (wide, high) if order is ttnn.ShardOrientation.ROW_MAJOR else (high, wide)
    return ttnn.create_sharded_memory_config(
        shape, core_grid=ttnn.CoreGrid(y=y, x=x), strategy=ttnn.ShardStrategy.BLOCK, orientation=order
    )


@pytest.mark.parametrize("order", [ttnn.ShardOrientation.ROW_MAJOR, ttnn.ShardOrientation.COL_MAJOR])
@pytest.mark.parametrize("groups", [4, 2])
def test_split_of_block_shards_reads_columns_as_groups(
    groups: int, order: ttnn.ShardOrientation, device: ttnn.MeshDevice
) -> None:
    batch, rows, heads, size = 2, 64, 4, 32
    shape = (batch, rows, (heads + 2 * groups) * size)
    there = make(shape, ttnn.bfloat16, TILES, device)
    x = ttnn.to_memory_config(there, _blocks(shape, (batch, 2), order))
    query, key, value = ttnn.transformer.split_query_key_value_and_split_heads(
        x, num_heads=heads, num_kv_heads=groups, memory_config=ttnn.L1_HEIGHT_SHARDED_MEMORY_CONFIG
    )
    each = heads // groups
    columns = values_of(there).reshape(batch, rows, groups, each + 2, size).transpose(0, 2, 3, 1, 4)
    np.testing.assert_array_equal(values_of(query), columns[:, :, :each].reshape(batch, heads, rows, size))
    np.testing.assert_array_equal(values_of(key), columns[:, :, each].swapaxes(-1, -2))
    np.testing.assert_array_equal(values_of(value), columns[:, :, each + 1])
    for part, height in ((query, heads * rows), (key, groups * size), (value, groups * rows)):
        config = part.memory_config()
        assert config.memory_layout is ttnn.TensorMemoryLayout.HEIGHT_SHARDED
        assert config.shard_spec.grid == x.memory_config().shard_spec.grid
        assert config.shard_spec.shape[0] == height // 2


def test_split_of_block_shards_keeps_padding(device: ttnn.MeshDevice) -> None:
    shape = (2, 40, 3 * 2 * 32)
    there = make(shape, ttnn.bfloat16, TILES, device)
    x = ttnn.to_memory_config(there, _blocks((2, 64, shape[2]), (2, 2), ttnn.ShardOrientation.ROW_MAJOR))
    split = ttnn.transformer.split_query_key_value_and_split_heads
    query, key, value = split(x, num_heads=2, memory_config=ttnn.L1_HEIGHT_SHARDED_MEMORY_CONFIG)
    columns = values_of(there).reshape(2, 40, 2, 3, 32).transpose(3, 0, 2, 1, 4)
    for part, expected in zip((query, key, value), columns, strict=True):
        np.testing.assert_array_equal(values_of(part), expected.swapaxes(-1, -2) if part is key else expected)
    joined = ttnn.transformer.concatenate_heads(query, memory_config=ttnn.L1_BLOCK_SHARDED_MEMORY_CONFIG)
    assert tuple(joined.shape) == (2, 40, 64)


def test_concatenate_keeps_heads_in_their_core(device: ttnn.MeshDevice) -> None:
    batch, heads, rows, size = 2, 4, 64, 32
    there = make((batch, heads, rows, size), ttnn.bfloat16, TILES, device)
    shards = ttnn.create_sharded_memory_config(
        (batch, heads, rows, size), core_grid=ttnn.CoreGrid(y=2, x=2), strategy=ttnn.ShardStrategy.HEIGHT
    )
    x = ttnn.to_memory_config(there, shards)
    expected = values_of(there).swapaxes(1, 2).reshape(batch, rows, heads * size)
    blocks = ttnn.L1_BLOCK_SHARDED_MEMORY_CONFIG
    for join, shape in (
        (ttnn.transformer.concatenate_heads, (batch, rows, heads * size)),
        (ttnn.experimental.nlp_concat_heads, (batch, 1, rows, heads * size)),
    ):
        joined = join(x, memory_config=blocks)
        np.testing.assert_array_equal(values_of(joined), expected.reshape(shape))
        config = joined.memory_config()
        assert config.memory_layout is ttnn.TensorMemoryLayout.BLOCK_SHARDED
        assert tuple(config.shard_spec.shape) == (rows, 2 * size)
        with pytest.raises(ttnn.MemoryConfigError, match="Output memory config layout must be INTERLEAVED"):
            join(there, memory_config=blocks)
        with pytest.raises(ttnn.MemoryConfigError, match="must not be HEIGHT_SHARDED"):
            join(x, memory_config=ttnn.L1_HEIGHT_SHARDED_MEMORY_CONFIG)


def test_concatenate_of_partial_head_shards_raises(device: ttnn.MeshDevice) -> None:
    there = make((1, 2, 64, 32), ttnn.bfloat16, TILES, device)
    halves = ttnn.create_sharded_memory_config(
        (1, 2, 64, 32), core_grid=ttnn.CoreGrid(y=1, x=4), strategy=ttnn.ShardStrategy.HEIGHT
    )
    with pytest.raises(ttnn.MemoryConfigError, match="shards of 32x32 are not whole heads of 64x32"):
        ttnn.transformer.concatenate_heads(
            ttnn.to_memory_config(there, halves), memory_config=ttnn.L1_BLOCK_SHARDED_MEMORY_CONFIG
        )


def test_split_of_block_shards_rejects_a_separate_key_value_tensor(device: ttnn.MeshDevice) -> None:
    shape = (2, 64, 8 * 32)
    x = ttnn.to_memory_config(
        make(shape, ttnn.bfloat16, TILES, device), _blocks(shape, (2, 2), ttnn.ShardOrientation.ROW_MAJOR)
    )
    split = ttnn.transformer.split_query_key_value_and_split_heads
    with pytest.raises(ttnn.MemoryConfigError, match="KV tensor should not be provided when the input"):
        split(x, x, num_heads=8, num_kv_heads=4, memory_config=ttnn.L1_HEIGHT_SHARDED_MEMORY_CONFIG)
    with pytest.raises(ttnn.ParameterError, match="must fit evenly into number of kv heads 3"):
        split(x, num_heads=2, num_kv_heads=3, memory_config=ttnn.L1_HEIGHT_SHARDED_MEMORY_CONFIG)
    with pytest.raises(ttnn.MemoryConfigError, match="Output memory config layout must be HEIGHT_SHARDED"):
        split(x, num_heads=4, num_kv_heads=2)


def test_falcon_backend_accepts_only_falcon_heads(device: ttnn.MeshDevice) -> None:
    split = ttnn.transformer.split_query_key_value_and_split_heads
    x = make((1, 64, 73 * 64), ttnn.bfloat16, TILES, device)
    options = {"num_heads": 71, "num_kv_heads": 1, "transpose_key": False}
    for part, plain in zip(split(x, use_falcon7b_backend=True, **options), split(x, **options), strict=True):
        np.testing.assert_array_equal(values_of(part), values_of(plain))
    with pytest.raises(ttnn.ParameterError, match="requires num_kv_heads to be set"):
        split(x, num_heads=71, use_falcon7b_backend=True)
    with pytest.raises(ttnn.ParameterError, match="Transpose is set to true"):
        split(x, num_heads=71, num_kv_heads=1, use_falcon7b_backend=True)
    with pytest.raises(ttnn.ShapeError, match="into 71 heads of queries and one of keys"):
        split(x, num_heads=69, num_kv_heads=2, transpose_key=False, use_falcon7b_backend=True)
