"""Decode heads and cache rows: element-wise checked copies."""

from __future__ import annotations

import numpy as np
import pytest

import ttnn
from testkit.operands import make, values_of
from ttnn.golden import transformer as golden

TILES = ttnn.TILE_LAYOUT


def rectangle(x: int, y: int, to_x: int, to_y: int) -> ttnn.CoreRangeSet:
    return ttnn.CoreRangeSet([ttnn.CoreRange((x, y), (to_x, to_y))])


def shards(cores: ttnn.CoreRangeSet, height: int, width: int, layout: str, buffer: str = "L1") -> ttnn.MemoryConfig:
    spec = ttnn.ShardSpec(cores, [height, width], ttnn.ShardOrientation.ROW_MAJOR)
    return ttnn.MemoryConfig(getattr(ttnn.TensorMemoryLayout, layout), getattr(ttnn.BufferType, buffer), spec)


@pytest.mark.parametrize("overlap", [True, False, None])
@pytest.mark.parametrize("sharded", [True, False])
def test_decode_heads_match_the_golden_function(sharded: bool, overlap: bool | None, device: ttnn.MeshDevice) -> None:
    place = shards(rectangle(0, 0, 7, 0), 32, 64, "WIDTH_SHARDED") if sharded else None
    x = make((1, 1, 5, 8 * 64), ttnn.bfloat16, TILES, device)
    x = x if place is None else ttnn.to_memory_config(x, place)
    options = {"num_heads": 4, "num_kv_heads": 2}
    parts = ttnn.experimental.nlp_create_qkv_heads_decode(x, overlap_qk_coregrid=overlap, **options)
    for part, expected in zip(parts, golden.nlp_create_qkv_heads_decode(values_of(x), **options), strict=True):
        np.testing.assert_array_equal(values_of(part), expected)
        assert part.memory_config().memory_layout is ttnn.TensorMemoryLayout.HEIGHT_SHARDED
        assert part.memory_config().shard_spec.num_cores() == 5
    query, key, value = (part.memory_config().shard_spec.grid for part in parts)
    assert query == value == rectangle(0, 0, 4, 0)
    # Only the program of sharded inputs has keys in cores of their own.
    assert (query == key) is not (sharded and overlap is False)
    joined = ttnn.experimental.nlp_concat_heads_decode(parts[0], num_heads=4)
    np.testing.assert_array_equal(values_of(joined)[:, :, :5], values_of(x)[..., :256])
    assert not values_of(joined)[:, :, 5:].any()
    offset = ttnn.Tensor([2], [1], ttnn.uint32, ttnn.ROW_MAJOR_LAYOUT, device)
    some = ttnn.experimental.nlp_create_qkv_heads_decode(x, batch_offset=offset, slice_size=3, **options)
    for part, whole in zip(some, parts, strict=True):
        np.testing.assert_array_equal(values_of(part), values_of(whole)[:, 2:])


ANY_PLACE = {
    "DRAM": ttnn.DRAM_MEMORY_CONFIG,
    "L1": ttnn.L1_MEMORY_CONFIG,
    "shards without cores": ttnn.L1_HEIGHT_SHARDED_MEMORY_CONFIG,
    "another sharding without cores": ttnn.L1_WIDTH_SHARDED_MEMORY_CONFIG,
}


@pytest.mark.parametrize("place", ANY_PLACE.values(), ids=ANY_PLACE)
def test_create_heads_decode_ignores_memory_config_without_cores(
    place: ttnn.MemoryConfig, device: ttnn.MeshDevice
) -> None:
    x = make((1, 1, 32, 1152), ttnn.bfloat16, TILES, device)
    options = {"num_heads": 16, "num_kv_heads": 1}
    parts = ttnn.experimental.nlp_create_qkv_heads_decode(x, memory_config=place, **options)
    for part, expected in zip(parts, golden.nlp_create_qkv_heads_decode(values_of(x), **options), strict=True):
        np.testing.assert_array_equal(values_of(part), expected)
        assert part.memory_config() == shards(rectangle(0, 0, 7, 3), 32, 64, "HEIGHT_SHARDED")


@pytest.mark.parametrize("layout", ["HEIGHT_SHARDED", "WIDTH_SHARDED", "BLOCK_SHARDED"])
def test_create_heads_decode_uses_the_cores_of_memory_config(layout: str, device: ttnn.MeshDevice) -> None:
    x = make((1, 1, 5, 512), ttnn.bfloat16, TILES, device)
    options = {"num_heads": 4, "num_kv_heads": 2}
    place = shards(rectangle(1, 2, 4, 4), 96, 32, layout, "L1" if layout == "BLOCK_SHARDED" else "DRAM")
    for part in ttnn.experimental.nlp_create_qkv_heads_decode(x, memory_config=place, **options):
        config = part.memory_config()
        assert (config.memory_layout.name, config.buffer_type.name) == ("HEIGHT_SHARDED", "L1")
        assert config.shard_spec.shape == [32, 64]
        assert config.shard_spec.grid == ttnn.CoreRangeSet(
            [ttnn.CoreRange((1, 2), (4, 2)), ttnn.CoreRange((1, 3), (1, 3))]
        )
    few = shards(rectangle(0, 0, 3, 0), 32, 64, "HEIGHT_SHARDED")
    with pytest.raises(ttnn.MemoryConfigError, match="5 users need a core each; the shards of memory_config have 4"):
        ttnn.experimental.nlp_create_qkv_heads_decode(x, memory_config=few, **options)


@pytest.mark.parametrize("place", ANY_PLACE.values(), ids=ANY_PLACE)
def test_concat_heads_decode_and_load_slice_ignore_memory_config(
    place: ttnn.MemoryConfig, device: ttnn.MeshDevice
) -> None:
    users = make((1, 5, 4, 64), ttnn.bfloat16, TILES, device)
    users = ttnn.to_memory_config(users, shards(rectangle(0, 0, 4, 0), 32, 64, "HEIGHT_SHARDED"))
    joined = ttnn.experimental.nlp_concat_heads_decode(users, num_heads=4, memory_config=place)
    assert joined.memory_config() == shards(rectangle(0, 0, 3, 0), 32, 64, "WIDTH_SHARDED")
    np.testing.assert_array_equal(values_of(joined)[0, 0, :5], values_of(users).reshape(5, 256))
    cache = make((2, 3, 128, 64), ttnn.bfloat16, TILES, device)
    part = ttnn.experimental.nlp_kv_cache_load_slice(cache, seq_len_start=32, seq_len_end=96, memory_config=place)
    assert part.memory_config() == shards(rectangle(0, 0, 5, 0), 64, 64, "HEIGHT_SHARDED")
    np.testing.assert_array_equal(values_of(part), values_of(cache)[:, :, 32:96])


def test_concat_heads_decode_starts_in_sub_core_grids_at_the_first_input_core(device: ttnn.MeshDevice) -> None:
    users = make((1, 2, 4, 64), ttnn.bfloat16, TILES, device)
    users = ttnn.to_memory_config(users, shards(rectangle(2, 1, 3, 1), 32, 64, "HEIGHT_SHARDED"))
    among = rectangle(1, 0, 3, 3)
    joined = ttnn.experimental.nlp_concat_heads_decode(users, num_heads=4, sub_core_grids=among)
    assert joined.memory_config().shard_spec.grid == ttnn.CoreRangeSet(
        [ttnn.CoreRange((2, 1), (3, 1)), ttnn.CoreRange((1, 2), (2, 2))]
    )
    np.testing.assert_array_equal(values_of(joined)[0, 0, :2], values_of(users).reshape(2, 256))
    with pytest.raises(ttnn.MemoryConfigError, match="sub_core_grids has 2 cores for 4 heads"):
        ttnn.experimental.nlp_concat_heads_decode(users, num_heads=4, sub_core_grids=rectangle(2, 1, 3, 1))


def test_load_slice_returns_cache_rows(device: ttnn.MeshDevice) -> None:
    cache = make((2, 3, 128, 64), ttnn.bfloat16, TILES, device)
    part = ttnn.experimental.nlp_kv_cache_load_slice(cache, seq_len_start=32, seq_len_end=96)
    np.testing.assert_array_equal(values_of(part), values_of(cache)[:, :, 32:96])
    assert part.memory_config().shard_spec.shape == [64, 64]
    with pytest.raises(ttnn.ParameterError, match="begin and end with tiles"):
        ttnn.experimental.nlp_kv_cache_load_slice(cache, seq_len_start=0, seq_len_end=40)
